"""The phrases that dialects share: writing a message part by part, and the turn that reads one."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Dialect, Message, parse
from dragoman.dialects.generic import generic
from dragoman.errors import Inexpressible
from dragoman.events import ContentDelta, Event, Malformed, Markup, Problem, ProblemKind, Stop
from dragoman.grammar.nodes import Grammar, Node
from dragoman.idioms import Think, conversation, members_of, mentioned, spell, stops
from dragoman.registry import get_dialect
from dragoman.segments import text_of
from dragoman.testing import Trial, read
from dragoman.types import Part, TextPart, ThinkingPart, ToolCall, UnparsedToolCall

# Writing


def calls(group: Sequence[ToolCall], after_text: bool, more: bool) -> list[str]:
    shown = [f"{call.name}{call.arguments}" for call in group]
    shown[0] = f"[{'text before' if after_text else ''}|{shown[0]}"
    return [*shown[:-1], f"{shown[-1]}|{'more' if more else ''}]"]


def written(*parts: Part, text: bool = False) -> str:
    segments = spell(
        "own",
        Message("assistant", parts),
        marks=("<", ">"),
        calls=calls,
        thinking=lambda thoughts: f"<{thoughts}>",
        channels=(lambda part: f"({part.channel}: {part.text})") if text else None,
        opener="<",
    )
    return text_of(segments)


F, G = ToolCall("f", "{}"), ToolCall("g", '{"x": 1}')


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((), ""),
        ((TextPart("a"),), "a"),
        ((ThinkingPart("a"), TextPart("b"), ThinkingPart("c")), "<a>b<c>"),
        ((ThinkingPart("a"), ThinkingPart("b")), "<a><b>"),
        ((F, G), '[|f{}g{"x": 1}|]'),
        ((TextPart("a"), F, G, ThinkingPart("b"), F), 'a[text before|f{}g{"x": 1}|more]<b>[|f{}|]'),
        ((F, TextPart("a")), "[|f{}|more]a"),
    ],
)
def test_a_message_is_written_part_by_part_with_neighbouring_calls_together(parts: tuple[Part, ...], text: str) -> None:
    assert written(*parts) == text


def test_texts_have_channels_where_there_is_a_way_to_write_them() -> None:
    assert written(TextPart("a", "x"), TextPart("b"), text=True) == "(x: a)(None: b)"


@pytest.mark.parametrize(
    ("parts", "part", "reason"),
    [
        ((TextPart("a<b"),), 0, "its text holds the marker '<'"),
        ((TextPart("a"), ThinkingPart("b>")), 1, "its text holds the marker '>'"),
        ((TextPart(""),), 0, "its text is empty"),
        ((F, ThinkingPart("")), 1, "its text is empty"),
        ((TextPart("a", "x"),), 0, "text has no channel"),
        ((TextPart("a"), TextPart("b")), 1, "two texts would become one"),
        ((TextPart("a"), ThinkingPart(", b")), 1, "behind <, ',' would make it a mention"),
        (
            (F, ToolCall("g", "x")),
            1,
            "its arguments are no JSON object that can be read back: not one object, without anything around it",
        ),
        (
            (F, ToolCall("g", "[]")),
            1,
            "its arguments are no JSON object that can be read back: not one object, without anything around it",
        ),
        ((TextPart("a"), UnparsedToolCall("b", "c")), 1, "there is no way to write a UnparsedToolCall"),
    ],
)
def test_what_cannot_be_written_is_refused_with_its_place(parts: tuple[Part, ...], part: int, reason: str) -> None:
    with pytest.raises(Inexpressible) as caught:
        written(*parts)
    assert (caught.value.dialect, caught.value.part, caught.value.reason) == ("own", part, reason)


def test_a_thought_cannot_be_written_where_there_is_no_way_to() -> None:
    with pytest.raises(
        Inexpressible, match="can't write part 0 of the message: there is no way to write a ThinkingPart"
    ):
        spell("own", Message("assistant", (ThinkingPart("a"),)), marks=(), calls=calls)


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("", "{}"),
        ToolCall("f", '{"x": NaN}'),
        ToolCall("f", '{"x": -Infinity}'),
        ToolCall("f", '{"x": ' + "[" * 300 + "]" * 300 + "}"),
        ToolCall("f", '{"x": ' + "1" * 2000 + "}"),
        ToolCall("f", ' {"x": 1} '),
    ],
)
def test_a_call_that_would_not_be_read_back_is_not_written(call: ToolCall) -> None:
    """No dialect can read these: no name, no JSON, beyond a bound, or with layout that is not the arguments' own."""
    with pytest.raises(Inexpressible):
        written(call)


# Members of an object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@given(st.lists(st.tuples(st.text(max_size=4), VALUES), max_size=3), st.sampled_from(["", " ", "\n\t"]))
def test_the_members_of_an_object_are_its_keys_and_their_very_text(
    pairs: list[tuple[str, object]], layout: str
) -> None:
    members = [(key, json.dumps(value)) for key, value in pairs]
    inside = f"{layout},{layout}".join(f"{json.dumps(key)}{layout}:{layout}{text}" for key, text in members)
    assert members_of(f"{layout}{{{layout}{inside}{layout}}}{layout}") == members


# Reading


def own(grammar: Grammar | Node) -> Dialect:
    return Dialect(
        name="own",
        doc="",
        grammar=grammar if isinstance(grammar, Grammar) else Grammar(grammar),
        writer=str,
        models=(),
        marks=(),
        stops=(),
        source="",
        examples=(),
    )


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("<1>", [Stop("stop", "<1>", 0, 3)]),
        ("<1>\n<2> <1>", [Stop("stop", "<1>", 0, 3), Markup("\n<2> <1>", 3, 11)]),
        (
            "<2> x<1>",
            [
                Stop("stop", "<2>", 0, 3),
                Markup(" ", 3, 4),
                Problem(ProblemKind.TEXT_AFTER_STOP, "", "", 4, 4),
                Malformed("x<1>", 4, 8),
            ],
        ),
    ],
)
def test_behind_a_stop_marker_only_others_are_in_place(text: str, events: list[Event]) -> None:
    for chunks in ([text], list(text)):
        assert read(Trial(own(stops("<1>", "<2>")), text), chunks) == events


@pytest.mark.parametrize("behind", [*" `'\".,;:!?)]"])
def test_an_opener_that_is_only_talked_about_opens_nothing(behind: str) -> None:
    text = f"Say <think>{behind} and so on"
    assert parse(text, generic()) == Message("assistant", (TextPart(text),))
    grammar = mentioned("<x>") + "<x>y"
    assert [event for event in read(Trial(own(grammar), "<x>y"), ["<x>y"]) if isinstance(event, Problem)] == []


def test_a_conversation_without_stops_orphans_and_prose_is_the_plainest() -> None:
    plain = conversation(Think.tags("<t>", "</t>"), prose=False)
    message = parse("<t>\na\n</t>\n\nb `<t>c</t>`", own(plain))
    parts = (ThinkingPart("a"), TextPart("b `"), ThinkingPart("c"), TextPart("`"))
    assert message == Message("assistant", parts)


def test_the_markers_of_the_generic_dialect_are_ones_own() -> None:
    found = read(Trial(generic(call=("«", "»")), "a <tool_call> b"), ["a <tool_call> b"])
    assert found == [ContentDelta("a <tool_call> b", 0, 15), Stop(None, None, 15, 15)]


@pytest.mark.parametrize("dialect", ["deepseek_v31", "hermes", "llama3_json"])
def test_blank_text_before_the_first_block_is_refused_since_it_reads_as_layout(dialect: str) -> None:
    block = ToolCall("f", "{}") if dialect == "llama3_json" else ThinkingPart("Hm.")
    with pytest.raises(Inexpressible, match="layout"):
        get_dialect(dialect).render(Message("assistant", (TextPart("\t"), block)))
