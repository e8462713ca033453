"""Completions of gpt-oss, read from token ids as openai-harmony reads them, and where it raises or loses text."""

from __future__ import annotations

import json
from itertools import chain

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dragoman import Parser
from dragoman.events import Event, merge
from dragoman.parse.assemble import assemble
from dragoman.parse.tokens import Label
from dragoman.tokenizers import get_tokenizer
from dragoman.types import Message, Part, TextPart, ThinkingPart, ToolCall

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
    events = [event for k in range(len(bounds) - 1) for event in parser.feed_tokens(ids[bounds[k] : bounds[k + 1]])]
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
@settings(max_examples=2500, deadline=None, suppress_health_check=list(HealthCheck))
@given(COMPLETIONS, CUTS)
def test_what_is_read_is_what_openai_harmony_reads_of_thousands(ids: list[int], cuts: list[int]) -> None:
    check(ids, cuts)
