"""A stretch of one channel is read as if the model were in that channel."""

from __future__ import annotations

import pytest

from dragoman import Policy, get_dialect
from dragoman.events import CallBegin, ContentDelta, Event, Markup, ReasoningDelta, merge
from dragoman.grammar.schema import NO_TOOLS
from dragoman.stream.residue import Residue
from dragoman.stream.stretch import Channel, Source, Stretch


def stretch(dialect: str, channel: Channel, policy: Policy | None = None) -> Stretch:
    source = Source.of(get_dialect(dialect), NO_TOOLS, policy or Policy())
    return source.stretch(channel, 10, 2, Residue(()), within=channel)


def read(one: Stretch, text: str) -> list[Event]:
    return merge(one.feed(text) + one.finish("stop"))


@pytest.mark.parametrize(
    ("dialect", "leads"),
    [
        ("hermes", ("", "<think>\n")),
        ("harmony", ("<|channel|>final<|message|>", "<|channel|>analysis<|message|>")),
        ("functionary_v32", ("all\n", None)),
        ("guided_json", ("", None)),
    ],
)
def test_the_leads_are_what_the_dialect_writes(dialect: str, leads: tuple[str, str | None]) -> None:
    assert Source.of(get_dialect(dialect), NO_TOOLS, Policy()).leads == leads


@pytest.mark.parametrize("dialect", ["hermes", "harmony", "functionary_v32", "llama3_json"])
def test_plain_text_is_of_its_channel(dialect: str) -> None:
    assert read(stretch(dialect, Channel.TEXT), "a b") == [ContentDelta("a b", 10, 13)]
    assert read(stretch(dialect, Channel.REASONING), "a b") == [ReasoningDelta("a b", 10, 13)]
    assert read(stretch(dialect, Channel.REFUSAL), "a <") == [ContentDelta("a <", 10, 13, "refusal")]


def test_a_closer_in_the_thoughts_ends_them() -> None:
    assert read(stretch("hermes", Channel.REASONING), "a</think>b") == [
        ReasoningDelta("a", 10, 11),
        Markup("</think>", 11, 19),
        ContentDelta("b", 19, 20),
    ]


def test_a_stop_marker_is_markup_and_remembered() -> None:
    one = stretch("hermes", Channel.TEXT)
    assert read(one, "a<|im_end|>") == [ContentDelta("a", 10, 11), Markup("<|im_end|>", 11, 21)]
    assert one.marker == "<|im_end|>"


def test_calls_go_on_from_the_number_that_there_is() -> None:
    one = stretch("hermes", Channel.TEXT)
    events = read(one, '<tool_call>{"name": "f", "arguments": {}}</tool_call>')
    assert [event.index for event in events if isinstance(event, CallBegin)] == [2]
    assert (one.calls, one.completed) == (3, 1)


def test_where_a_dialect_has_no_thoughts_a_policy_may_keep_calls_out_of_them() -> None:
    text = '{"name": "f", "parameters": {}}'
    policy = Policy(calls_in_reasoning=False)
    end = 10 + len(text)
    assert read(stretch("llama3_json", Channel.REASONING, policy), text) == [ReasoningDelta(text, 10, end)]
    assert any(isinstance(event, CallBegin) for event in read(stretch("llama3_json", Channel.REASONING), text))


def test_what_is_held_is_told() -> None:
    one = stretch("hermes", Channel.TEXT)
    one.feed("a <tool")
    assert one.held == len("<tool")
