"""Events to what a chat says of them, whatever the cutting."""

from __future__ import annotations

from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Dialect, Parser, dialects
from dragoman.stream.chat_deltas import ChatDelta, ChatDeltas, Content, Reasoning, ToolArguments, ToolName


def minted() -> ChatDeltas:
    numbers = count()
    return ChatDeltas(lambda: f"call_{next(numbers)}")


def said(text: str, dialect: str, deltas: ChatDeltas | None = None, *, reason: str = "stop") -> list[ChatDelta]:
    deltas = deltas or minted()
    parser = Parser(dialect)
    return [*deltas.feed(parser.feed(text) + parser.finish(reason)), *deltas.finish()]


def test_text_thoughts_and_calls_come_in_order() -> None:
    text = '<think>\nHm.\n</think>\n\nSo:\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    assert said(text, "hermes") == [
        Reasoning("Hm."),
        Content("So:"),
        ToolName(0, "call_0", "f"),
        ToolArguments(0, '{"a": 1}'),
    ]


def test_a_call_without_arguments_has_an_empty_object() -> None:
    assert said('<tool_call>\n{"name": "now"}\n</tool_call>', "hermes")[1:] == [ToolArguments(0, "{}")]


def test_a_models_own_id_is_kept() -> None:
    text = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}"
        "<|tool_call_end|><|tool_calls_section_end|>"
    )
    assert said(text, "kimi_k2")[0] == ToolName(0, "functions.f:0", "f")


def test_texts_that_the_model_kept_apart_are_kept_apart() -> None:
    first = "<|channel|>commentary<|message|>First.<|end|><|start|>assistant"
    assert said(f"{first}<|channel|>final<|message|>Second.<|return|>", "harmony") == [Content("First.\n\nSecond.")]


def test_a_closing_marker_with_nothing_open_keeps_nothing_apart() -> None:
    assert said("one</think>two", "hermes") == [Content("onetwo")]


def test_text_ends_before_a_stop_and_nothing_comes_behind_it() -> None:
    deltas = ChatDeltas(lambda: "", stops=("END",))
    assert said('so EN, END <tool_call>{"name": "f"}</tool_call>', "hermes", deltas) == [Content("so EN, ")]
    assert (deltas.matched, deltas.finish_reason("length")) == ("END", "stop")


def test_a_stop_in_thoughts_ends_nothing() -> None:
    deltas = ChatDeltas(lambda: "", stops=("END",))
    assert said("<think>END</think>fine", "hermes", deltas) == [Reasoning("END"), Content("fine")]


@pytest.mark.parametrize("behind", ["<think>so</think>", '<tool_call>{"name": "f"}</tool_call>', "</tool_call> on"])
def test_a_stop_that_was_held_as_the_beginning_of_another_ends_all_the_same(behind: str) -> None:
    deltas = ChatDeltas(lambda: "", stops=("abcd", "bc"))
    assert said(f"x abc{behind}more", "hermes", deltas)[:1] == [Content("x a")]
    assert len(said(f"x abc{behind}more", "hermes", ChatDeltas(lambda: "", stops=("abcd", "bc")))) == 1
    assert deltas.matched == "bc"


def test_the_lead_of_a_family_is_no_part_of_the_text() -> None:
    assert said(" Hello", "hermes", ChatDeltas(lambda: "", lead=" ")) == [Content("Hello")]


def test_only_the_first_call_is_given_where_they_are_not_to_be_parallel() -> None:
    call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    deltas = ChatDeltas(lambda: "c", parallel=False)
    assert said(call * 2, "hermes", deltas) == [ToolName(0, "c", "f"), ToolArguments(0, "{}")]


def test_thoughts_that_nobody_wants_are_left_out() -> None:
    deltas = ChatDeltas(lambda: "", thoughts=False)
    assert said("<think>Hm.</think>So.", "hermes", deltas) == [Content("So.")]


@pytest.mark.parametrize(
    ("text", "engine", "reason"),
    [
        ("fine", "stop", "stop"),
        ("fine", None, None),
        ("fine<|im_end|>", None, "stop"),
        ("fine", "length", "length"),
        ("fine", "content_filter", "content_filter"),
        ("fine", "tool_calls", "stop"),
        ('<tool_call>{"name": "f"}</tool_call>', "stop", "tool_calls"),
        ('<tool_call>{"name": "f"}</tool_call>', "length", "length"),
        ('<tool_call>{"name": "f", "arguments": {"a', "stop", "stop"),
    ],
)
def test_the_reason_of_the_end_is_the_engines_corrected_by_what_was_read(
    text: str, engine: str | None, reason: str | None
) -> None:
    deltas = minted()
    said(text, "hermes", deltas, reason=engine or "")
    assert deltas.finish_reason(engine) == reason


@pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)
@given(data=st.data())
def test_the_deltas_do_not_depend_on_the_chunks(dialect: Dialect, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(dialect.examples)).text
    cuts = [0, *sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8))), len(text)]
    stops = data.draw(st.sampled_from([(), ("e ", "look")]))
    made = []
    for pieces in ([text], [text[start:end] for start, end in pairwise(cuts)]):
        parser, deltas = Parser(dialect), ChatDeltas(lambda: "id", stops=stops)
        out = [delta for piece in pieces for delta in deltas.feed(parser.feed(piece))]
        out += [*deltas.feed(parser.finish("stop")), *deltas.finish()]
        made.append((_merged(out), deltas.finish_reason("stop"), deltas.matched))
    assert made[0] == made[1]


def _merged(deltas: list[ChatDelta]) -> list[tuple[object, ...]]:
    """With neighbours joined."""
    out: list[list[object]] = []
    for delta in deltas:
        match delta:
            case Content(text=text) | Reasoning(text=text):
                key: tuple[object, ...] = (type(delta).__name__,)
            case ToolArguments(index=index, json=text):
                key = ("arguments", index)
            case ToolName(index=index, id=given, name=name):
                key, text = ("name", index, given), name
        if out and out[-1][0] == key:
            out[-1][1] = f"{out[-1][1]}{text}"
        else:
            out.append([key, text])
    return [tuple(one) for one in out]
