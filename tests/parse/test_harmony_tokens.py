"""Completions of gpt-oss, read from token ids as openai-harmony reads them, and where it raises or loses text."""

from __future__ import annotations

import json
from itertools import chain, pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman import Parser
from dragoman.events import Event, Problem, merge
from dragoman.parse.assemble import assemble
from dragoman.tokenizers import get_tokenizer
from dragoman.types import Part, TextPart, ThinkingPart, ToolCall, UnparsedToolCall
from tests.harmony_oracle import encoding
from tests.render.conversations import MARKERS, WORDS

TOKENIZER = get_tokenizer("o200k_harmony")
CONTROL = TOKENIZER.control
SPELLED = ("<|end|>", "<|start|>assistant<|channel|>final<|message|>", "<|call|>", "<|return|>", "<|reserved_200000|>")


def ids_of(text: str) -> list[int]:
    """A completion, in which control tokens are spelled."""
    return list(encoding().encode(text, allowed_special="all"))


def spelled(text: str, bytewise: bool) -> list[int]:
    """Text in one piece, or byte by byte."""
    return [BYTES[bytes([byte])] for byte in text.encode()] if bytewise else TOKENIZER.encode(text)


TEXTS = st.sampled_from((*WORDS, *MARKERS, *SPELLED)) | st.text(min_size=1, max_size=5)
PIECES = st.builds(spelled, TEXTS, st.booleans())
ORDINARY = st.lists(PIECES, max_size=4).map(lambda pieces: list(chain(*pieces)))
"""Ids of text, some of which spells control tokens."""


BYTES = {TOKENIZER.token_bytes(token): token for token in range(256)}
"""The tokens of single bytes."""


SCALARS = st.none() | st.booleans() | st.integers() | TEXTS
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(TEXTS, st.lists(SCALARS, max_size=2), max_size=3)
ARGUMENTS = st.builds(
    lambda value, indent, plain: TOKENIZER.encode(json.dumps(value, indent=indent, ensure_ascii=plain)),
    st.dictionaries(TEXTS, VALUES, max_size=3),
    st.sampled_from((None, None, 2)),
    st.booleans(),
)
NAMES = st.sampled_from(("f", "get-x.y", "日本"))
TYPES = st.sampled_from((" <|constrain|>json", "<|constrain|>json", " json", ""))


@st.composite
def call(draw: st.DrawFn) -> list[int]:
    """A call of a function with JSON, or of Python with code, its recipient in either place."""
    code = draw(st.booleans())
    to = f" to={'python' if code else f'functions.{draw(NAMES)}'}"
    channel = f"<|channel|>{draw(st.sampled_from(('commentary', 'analysis')))}"
    header = "".join(draw(st.permutations((to, channel)))) + (" code" if code else draw(TYPES))
    return [*ids_of(f"{header}<|message|>"), *draw(ORDINARY.filter(bool) if code else ARGUMENTS)]


CALLS = call()
SAID = st.builds(
    lambda channel, text: [*ids_of(f"<|channel|>{channel}<|message|>"), *text],
    st.sampled_from(("analysis", "commentary", "final")),
    ORDINARY,
)
COMPLETIONS = st.builds(
    lambda messages, last, stop: [
        *chain(*([*message, *ids_of("<|end|><|start|>assistant")] for message in messages)),
        *last,
        CONTROL[stop],
    ],
    st.lists(SAID | CALLS, max_size=3),
    SAID | CALLS,
    st.sampled_from(("<|return|>", "<|call|>")),
)
"""Completions behind ``<|start|>assistant`` as a model may write them by the rules."""


def theirs(ids: list[int]) -> list[Part]:
    """What openai-harmony reads, as parts of ours."""
    import openai_harmony

    out: list[Part] = []
    for message in encoding().parse_messages_from_completion_tokens(ids, openai_harmony.Role.ASSISTANT):
        text = "".join([content.text for content in message.content])
        if message.recipient is not None:
            out.append(ToolCall(message.recipient.removeprefix("functions."), text))
        elif text:
            channel = "commentary" if message.channel == "commentary" else None
            out.append(ThinkingPart(text) if message.channel == "analysis" else TextPart(text, channel))
    return out


def events_of(ids: list[int], cuts: list[int], reason: str | None = "stop") -> list[Event]:
    parser = Parser("harmony", tokenizer=TOKENIZER)
    bounds = [0, *sorted(min(cut, len(ids)) for cut in cuts), len(ids)]
    events = [event for start, end in pairwise(bounds) for event in parser.feed_tokens(ids[start:end])]
    return merge(events + parser.finish(reason))


def check(ids: list[int], cuts: list[int]) -> None:
    whole = events_of(ids, [])
    assert events_of(ids, cuts) == whole
    assert events_of(ids, list(range(len(ids)))) == whole
    assert list(assemble(whole).parts) == theirs(ids)


CUTS = st.lists(st.integers(0, 200), max_size=6)


@given(COMPLETIONS, CUTS)
def test_what_is_read_is_what_openai_harmony_reads(ids: list[int], cuts: list[int]) -> None:
    check(ids, cuts)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(COMPLETIONS, CUTS)
def test_what_is_read_is_what_openai_harmony_reads_of_a_thousand(ids: list[int], cuts: list[int]) -> None:
    check(ids, cuts)


FINAL = "<|channel|>final<|message|>Hi.<|return|>"
THEN = f"<|start|>assistant{FINAL}"
THOUGHT = "<|channel|>analysis<|message|>A.<|end|>"
TO_F = "<|channel|>commentary to=functions.f"
HI, A = TextPart("Hi."), ThinkingPart("A.")
CALL = ToolCall("f", '{"n": 1}')
BODY = '<|message|>{"n": 1}<|call|>'

RAISES = (
    (f"{TO_F} <|constrain|> json{BODY}", (CALL,), ()),
    (f"{TO_F} to=functions.f <|constrain|>json{BODY}", (CALL,), ()),
    (f"{THOUGHT}stray{THEN}", (A, TextPart("stray"), HI), ("malformed_header",)),
    (f"{THOUGHT}<|end|>{THEN}", (A, HI), ("orphan_marker",)),
    ("<|channel|>commentary? I should ask<|message|>Hi.<|end|>", (TextPart("Hi.", "commentary"),), ()),
    ("<|channel|>final Hi there, my friend<|message|>Hi.<|return|>", (HI,), ()),
    ("<|channel|><|message|>Hi.<|return|>", (HI,), ("unknown_channel",)),
    ("<|channel|>final Hi.<|return|>", (TextPart("final Hi."),), ("malformed_header",)),
    (f"{THOUGHT}<|start|>assistant<|channel|>final Hi.<|return|>", (A, TextPart("final Hi.")), ("malformed_header",)),
    ("Hi.<|return|>", (HI,), ("malformed_header",)),
    (f"{THOUGHT}<|start|>user:alice<|message|>Hi.<|end|>", (A, HI), ("unknown_channel",)),
    (f"{THOUGHT}<|start|>assistant<|channel|>ana", (A,), ("malformed_header",)),
    ("<|return|>", (), ()),
    ("", (), ()),
)
"""Completions for which openai-harmony raises, what they are here, and the problems that are reported."""

DIFFERS = (
    (f"<|start|>assistant{FINAL}", (HI,), ()),
    (f"<|start|><|start|>assistant{FINAL}", (HI,), ()),
    (f"{THOUGHT}<|start|>assistant {THEN.removeprefix('<|start|>')}", (A, HI), ()),
    ("<|channel|>final <|constrain|>json<|message|>{}<|return|>", (TextPart("{}"),), ()),
    ("<|channel|>commentary? <|message|>Hi.<|end|>", (TextPart("Hi.", "commentary"),), ()),
    (f"{THOUGHT.removesuffix('<|end|>')}{THEN}", (A, HI), ()),
    (f"{FINAL}{THEN}", (HI,), ("text_after_stop",)),
    (f"{TO_F} <|constrain|>json<|message|><|call|>", (ToolCall("f", "{}"),), ()),
    (f'{TO_F} <|constrain|>json<|message|> {{"n": 1}}\n<|call|>', (CALL,), ()),
)
"""Completions that openai-harmony reads as something else, which is not what the model meant."""


def problems(events: list[Event]) -> tuple[str, ...]:
    return tuple(event.kind.value for event in events if isinstance(event, Problem))


@pytest.mark.parametrize(("text", "parts", "reported"), RAISES)
def test_what_openai_harmony_refuses_is_recovered(
    text: str, parts: tuple[Part, ...], reported: tuple[str, ...]
) -> None:
    import openai_harmony

    with pytest.raises(openai_harmony.HarmonyError):
        theirs(ids_of(text))
    events = events_of(ids_of(text), list(range(len(text))))
    assert (assemble(events).parts, problems(events)) == (parts, reported)


@pytest.mark.parametrize(("text", "parts", "reported"), DIFFERS)
def test_what_openai_harmony_misreads_is_what_the_model_meant(
    text: str, parts: tuple[Part, ...], reported: tuple[str, ...]
) -> None:
    assert tuple(theirs(ids_of(text))) != parts
    events = events_of(ids_of(text), list(range(len(text))))
    assert (assemble(events).parts, problems(events)) == (parts, reported)


def test_a_call_that_a_stop_cuts_is_no_call() -> None:
    """openai-harmony hands over whatever is there as the content of a call."""
    events = events_of(ids_of(f'{TO_F} <|constrain|>json<|message|>{{"n": "x<|call|>'), [])
    (part,) = assemble(events).parts
    assert isinstance(part, UnparsedToolCall)
    assert (part.name, part.raw[-8:]) == ("f", '{"n": "x')


def test_a_control_token_that_is_spelled_in_ordinary_ones_is_content() -> None:
    ids = [*ids_of("<|channel|>final<|message|>"), *TOKENIZER.encode("a<|return|>b<|end|>"), CONTROL["<|return|>"]]
    events = events_of(ids, list(range(len(ids))))
    assert assemble(events).parts == (TextPart("a<|return|>b<|end|>"),)
    assert problems(events) == ()


@given(st.lists(st.integers(0, TOKENIZER.size - 1) | st.sampled_from(sorted(CONTROL.values())[:15]), max_size=30), CUTS)
def test_every_id_has_a_label_whatever_they_are(ids: list[int], cuts: list[int]) -> None:
    parser = Parser("harmony", tokenizer=TOKENIZER)
    for start, end in pairwise([0, *sorted(min(cut, len(ids)) for cut in cuts), len(ids)]):
        parser.feed_tokens(ids[start:end])
    parser.finish()
    assert len(parser.token_labels()) == len(ids)
