"""Calls as pairs of a key and a raw value: markers, layout, types, and what can't be written."""

from __future__ import annotations

import pytest

from dragoman import Dialect, Message, parse
from dragoman.errors import Inexpressible, InvalidDialect
from dragoman.idioms import PairLayout, PairMarks, define, paired_values
from dragoman.registry import get_dialect
from dragoman.types import TextPart, Tool, ToolCall

TOOL = Tool("f", "", {"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "integer"}}})
SMALL = PairMarks(call=("<c>", "</c>"), key=("<k>", "</k>"), value=("<v>", "</v>"))
TIGHT = PairLayout()


def own(marks: PairMarks = SMALL, layout: PairLayout = TIGHT) -> Dialect:
    return define("Own.", name="own", source="made up", calls=paired_values(marks, layout), stops=("<stop>",))


def message(arguments: str, name: str = "f") -> Message:
    return Message("assistant", (ToolCall(name, arguments),))


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (PairLayout(), "<c>f<k>text</k><v>a</v><k>n</k><v>1</v></c>"),
        (PairLayout.lines(), "<c>f\n<k>text</k>\n<v>a</v>\n<k>n</k>\n<v>1</v>\n</c>"),
        (PairLayout(named="\n", closing="\n"), "<c>f\n<k>text</k><v>a</v><k>n</k><v>1</v>\n</c>"),
        (PairLayout(keyed="\n", end="\n"), "<c>f<k>text</k>\n<v>a</v><k>n</k>\n<v>1</v></c>\n"),
    ],
)
def test_the_layout_says_which_newlines_are_written_and_all_are_read(layout: PairLayout, text: str) -> None:
    said = message('{"text": "a", "n": 1}')
    assert own(layout=layout).render(said) == text
    for other in (PairLayout(), PairLayout.lines(), layout):
        assert parse(text.rstrip("\n"), own(layout=other), (TOOL,)).tool_calls == said.tool_calls


def test_a_section_and_a_separator_are_written_and_may_be_missing() -> None:
    marks = PairMarks(("<c>", "</c>"), ("<k>", "</k>"), ("<v>", "</v>"), ("<all>", "</all>"), separator="<sep>")
    dialect = own(marks, PairLayout(between="\n"))
    said = Message("assistant", (ToolCall("f", '{"n": 1}'), ToolCall("f", "{}")))
    text = "<all>\n<c>f<sep><k>n</k><v>1</v></c>\n<c>f<sep></c>\n</all>"
    assert dialect.render(said) == text
    assert parse(text, dialect, (TOOL,)) == said
    assert parse("<c>f<k>n</k><v>1</v></c><c>f</c>", dialect, (TOOL,)) == said


def test_a_suffix_stands_before_the_bracket_of_every_marker() -> None:
    marks = PairMarks(section=("<s>", "</s>"), kind=("<t>", "</t>"), separator="<sep>").suffixed(":x")
    assert all(mark.endswith(":x>") for mark in marks.all)
    assert SMALL.suffixed("") == SMALL


@pytest.mark.parametrize(
    ("kind", "text", "json"),
    [
        ("string", "12", '"12"'),
        ("integer", "12", "12"),
        ("array[string]", '["a"]', '["a"]'),
        ("any", "12", '"12"'),
        ("null", "null", "null"),
    ],
)
def test_a_type_before_a_value_decides(kind: str, text: str, json: str) -> None:
    dialect = own(PairMarks(("<c>", "</c>"), ("<k>", "</k>"), ("<v>", "</v>"), kind=("<t>", "</t>")))
    found = parse(f"<c>f<k>other</k><t>{kind}</t><v>{text}</v></c>", dialect, (TOOL,))
    assert found.tool_calls == (ToolCall("f", f'{{"other": {json}}}'),)


@pytest.mark.parametrize("text", ["ends </v> here", "</c>", "<v>", " \n", "</v", "<c>f</c>"])
def test_a_value_may_hold_markers_where_nothing_legal_follows(text: str) -> None:
    said = message(f'{{"text": "{text}"}}'.replace("\n", "\\n"))
    assert parse(own().render(said), own(), (TOOL,)) == said


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ('{"text": "a</v><k>n</k><v>1"}', "holds </v> with another marker behind it"),
        ('{"text": "a</v> </c>"}', "holds </v> with another marker behind it"),
        ('{"a<b": 1}', "no argument can have the name 'a<b'"),
        ('{"": 1}', "no argument can have the name ''"),
    ],
)
def test_what_would_not_be_read_back_is_refused(arguments: str, reason: str) -> None:
    with pytest.raises(Inexpressible) as caught:
        own().render(message(arguments))
    assert reason in str(caught.value)


@pytest.mark.parametrize("name", ["a b", "a<b", "f(", "{", ""])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(Inexpressible):
        own().render(message("{}", name))


@pytest.mark.parametrize("text", ["the <c> tag", "the <c> tag (which <c> opens) {", "<c>some words</c", "<c> f and g"])
def test_an_opener_without_a_call_is_text(text: str) -> None:
    assert parse(text, own(), (TOOL,)).parts == (TextPart(text),)
    assert parse(text + "<stop>", own(), (TOOL,)).parts == (TextPart(text),)


@pytest.mark.parametrize("name", ["hy3:abc", "HY-V3:abc"])
def test_a_variant_has_the_suffix_in_all_its_markers(name: str) -> None:
    dialect = get_dialect(name)
    assert dialect.name == "hy3:abc"
    assert dialect.stops == ("<｜hy_eos:abc｜>", "<eos:6124c78e>")
    assert parse("<tool_call:abc>f<tool_sep:abc></tool_call:abc>", dialect).tool_calls == (ToolCall("f", "{}"),)
    assert not parse("<tool_call:opensource>f</tool_call:opensource>", dialect).tool_calls


def test_the_empty_variant_has_no_suffix() -> None:
    assert "<think>" in get_dialect("hy3:").marks
    assert get_dialect("hy3:opensource").name == get_dialect("hy3").name == "hy3"


def test_a_suffix_that_can_not_be_one_is_refused() -> None:
    with pytest.raises(InvalidDialect, match="a suffix of letters"):
        get_dialect("hy3:a>b")
