"""Sampled ids as messages: what is a part, in which order, and how the output ended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from dragoman.parse.tokens import Label
from dragoman.registry import get_dialect
from dragoman.render.responses import Termination, read_response, spans_of
from dragoman.segments import NOBODY, Kind
from dragoman.tokenizers import control_pattern
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.types import Message, TextPart, ThinkingPart, ToolCall, UnparsedToolCall

STOP, END, CALL = Termination.STOP_SEQUENCE, Termination.END_OF_TEXT, Termination.CALL
TRUNCATED, MALFORMED = Termination.TRUNCATED, Termination.MALFORMED


class Speaker(Struct, frozen=True):
    """A dialect in a vocabulary of bytes, whose markers are control tokens."""

    dialect: str
    ends: tuple[str, ...]
    more: tuple[str, ...] = ()

    def read(self, text: str, prompt: str | None = None) -> tuple[Message, Termination]:
        """The message of a text in which every marker is a token."""
        dialect = get_dialect(self.dialect)
        tokenizer = ByteTokenizer((*dialect.marks, *self.ends, *self.more))
        find = control_pattern(tokenizer)
        ids: list[int] = []
        at = 0
        for found in find.finditer(text):
            ids += [*tokenizer.encode(text[at : found.start()]), tokenizer.control[found.group()]]
            at = found.end()
        return read_response(dialect, tokenizer, self.ends, [*ids, *tokenizer.encode(text[at:])], None, prompt)


QWEN = Speaker("hermes", ("<|im_end|>", "<|endoftext|>"), ("<|im_start|>",))
DEEPSEEK = Speaker("deepseek_v31", ("<｜end▁of▁sentence｜>",), ("<｜User｜>", "<｜Assistant｜>"))
HARMONY = Speaker("harmony", ("<|return|>", "<|call|>"), ("<|constrain|>", "<|end|>", "<|start|>"))
F = ToolCall("f", "{}")
QWEN_F = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
DEEPSEEK_F = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"


@pytest.mark.parametrize(
    ("text", "content", "ended"),
    [
        ("Hello.<|im_end|>", "Hello.", STOP),
        ("", "", TRUNCATED),
        ("<|im_end|>", "", STOP),
        ("Hello.<|endoftext|>", "Hello.", END),
        ("<think>\n\n</think>\n\nHello.<|im_end|>", "Hello.", STOP),
        ("<think>\na\n</think>\n\nb<|im_end|>", (ThinkingPart("a"), TextPart("b")), STOP),
        (
            "<think>a</think>b<think>c</think>d<|im_end|>",
            (ThinkingPart("a"), TextPart("b"), ThinkingPart("c"), TextPart("d")),
            STOP,
        ),
        (f"a\n{QWEN_F}\nb\n{QWEN_F}<|im_end|>", (TextPart("a"), F, TextPart("b"), F), CALL),
        (f"{QWEN_F}\nb<|im_end|>", (F, TextPart("b")), STOP),
        (f"<think>\na\n</think>\n\n{QWEN_F}\n{QWEN_F}<|im_end|>", (ThinkingPart("a"), F, F), CALL),
        ("<think>\na", (ThinkingPart("a"),), TRUNCATED),
        ("<think>\na<|im_end|>", (ThinkingPart("a"),), MALFORMED),
        (f"<think>a</think>b\n{QWEN_F[:30]}", None, TRUNCATED),
        ("a\n<tool_call>\n{oops}\n</tool_call><|im_end|>", None, MALFORMED),
        ("Hello.<|im_end|>\n<|im_start|>user<|im_end|>", "Hello.", STOP),
    ],
)
def test_qwen(text: str, content: object, ended: Termination) -> None:
    message, termination = QWEN.read(text)
    assert termination is ended
    assert content is None or message.content == content


@pytest.mark.parametrize(
    ("text", "content", "ended"),
    [
        ("<think>a</think>b<｜end▁of▁sentence｜>", (ThinkingPart("a"), TextPart("b")), STOP),
        ("b<｜end▁of▁sentence｜>", "b", STOP),
        ("<think></think>b<｜end▁of▁sentence｜>", "b", STOP),
        (f"<think>a</think>{DEEPSEEK_F}<｜end▁of▁sentence｜>", (ThinkingPart("a"), F), CALL),
        (f"a{DEEPSEEK_F.replace('f<', 'get-it.now<')}", (TextPart("a"), ToolCall("get-it.now", "{}")), TRUNCATED),
    ],
)
def test_deepseek(text: str, content: object, ended: Termination) -> None:
    message, termination = DEEPSEEK.read(text)
    assert (message.content, termination) == (content, ended)


def test_a_thought_that_the_prompt_has_opened_is_one() -> None:
    assert DEEPSEEK.read("a</think>b<｜end▁of▁sentence｜>", "<｜User｜>x<｜Assistant｜><think>") == (
        Message("assistant", (ThinkingPart("a"), TextPart("b"))),
        STOP,
    )
    assert DEEPSEEK.read("a", "<｜User｜>x<｜Assistant｜><think>")[0].parts == (ThinkingPart("a"),)
    opened, ended = QWEN.read("a\n</think>\n\nb<|im_end|>", "<|im_start|>assistant\n<think>\n")
    assert (opened.parts, ended) == ((ThinkingPart("a"), TextPart("b")), STOP)


ANALYSIS, FINAL = "<|channel|>analysis<|message|>", "<|channel|>final<|message|>"
COMMENTARY, START = "<|channel|>commentary<|message|>", "<|end|><|start|>assistant"
TO_F = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>"


@pytest.mark.parametrize(
    ("text", "content", "ended"),
    [
        (f"{FINAL}a<|return|>", "a", STOP),
        (f"{ANALYSIS}a{START}{FINAL}b<|return|>", (ThinkingPart("a"), TextPart("b")), STOP),
        (
            f"{ANALYSIS}a{START}{ANALYSIS}b{START}{FINAL}c<|return|>",
            (ThinkingPart("a"), ThinkingPart("b"), TextPart("c")),
            STOP,
        ),
        (
            f"{ANALYSIS}a{START}{COMMENTARY}b{START}{TO_F}{{}}<|call|>",
            (ThinkingPart("a"), TextPart("b", "commentary"), F),
            CALL,
        ),
        (f"{TO_F}{{}}<|call|>", (F,), CALL),
        (f"{FINAL}a{START}{FINAL}b<|return|>", (TextPart("a"), TextPart("b")), STOP),
        (f"{ANALYSIS}a", (ThinkingPart("a"),), TRUNCATED),
        (f"{ANALYSIS}{START}{FINAL}b<|return|>", "b", STOP),
        ("<|return|>", "", STOP),
    ],
)
def test_harmony(text: str, content: object, ended: Termination) -> None:
    message, termination = HARMONY.read(text)
    assert (message.content, termination) == (content, ended)


def test_a_call_that_cannot_be_read_keeps_its_text_and_the_reason() -> None:
    message, _ = QWEN.read("a\n<tool_call>\n{oops}\n</tool_call>b<|im_end|>")
    text, call, *_ = message.parts
    assert text == TextPart("a")
    assert isinstance(call, UnparsedToolCall)
    assert "<tool_call>\n{oops}" in call.raw
    assert call.error


def test_what_is_clean_says_so() -> None:
    assert [each for each in Termination if not each.is_clean] == [TRUNCATED, MALFORMED]


@given(st.lists(st.integers(0, 262), max_size=40))
def test_whatever_is_sampled_is_a_message(ids: list[int]) -> None:
    tokenizer = ByteTokenizer((*get_dialect("hermes").marks, "<|im_end|>", "<|endoftext|>", "<|im_start|>"))
    message, termination = read_response(get_dialect("hermes"), tokenizer, QWEN.ends, [i % tokenizer.size for i in ids])
    assert message.role == "assistant"
    assert termination in Termination


def test_spans_of_sampled_tokens_are_its_parts() -> None:
    labels = [Label.MARKUP, Label.REASONING, Label.REASONING, Label.MARKUP, Label.CONTENT, Label.NAME, Label.ARGUMENTS]
    spans = [(span.start, span.end, span.kind, span.part) for span in spans_of([*labels, Label.STOP], 10, 3)]
    assert spans == [
        (10, 11, Kind.MARKUP, NOBODY),
        (11, 13, Kind.THINKING, 0),
        (13, 14, Kind.MARKUP, 0),
        (14, 15, Kind.TEXT, 1),
        (15, 17, Kind.CALL, 2),
        (17, 18, Kind.STOP, NOBODY),
    ]
