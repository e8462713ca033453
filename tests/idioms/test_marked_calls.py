"""Calls between control tokens, and raw values in tags: what the builders' own parameters change."""

from __future__ import annotations

import pytest

from dragoman import Dialect, Message, Tool, parse
from dragoman.errors import Inexpressible
from dragoman.grammar.notation import PYTHON
from dragoman.idioms import (
    JSON_VALUE,
    Calls,
    Shell,
    Sign,
    Tag,
    Think,
    define,
    headed_json,
    marked_json,
    python_text,
    tagged_values,
)
from dragoman.testing import check_dialect
from dragoman.types import Part, TextPart, ThinkingPart, ToolCall, UnparsedToolCall

F, G = ToolCall("f", "{}"), ToolCall("g", '{"x": "1"}')


def own(calls: Calls, *, prose: bool = False) -> Dialect:
    think = Think.tight("<plan>", "</plan>")
    return define("An own one.", name="own", source="made up", think=think, calls=calls, stops=("<.>",), prose=prose)


def tags(*, lead: str = "\n", shell: Shell | None = None, several: bool = False) -> Dialect:
    inner = Tag.named("in", lead="", tail="")
    return own(tagged_values((("<use>", "</use>"),), Tag.named("do"), inner, lead=lead, shell=shell, several=several))


HEADED = own(headed_json("<call>", "<with>", "</call>", sections=("<calls>",), section_ends=("</calls>",)))
FENCED = own(headed_json("<call>", "", "</call>", fenced=True))
PLAIN = own(headed_json("<call=", ">", "</call>", plain=True), prose=True)
MARKED = own(marked_json("<call>", "<id>", "<with>"))
ARRAY = own(marked_json("<call>", "<id>", "<with>", array=True))
LINES = tags()
TIGHT = tags(lead="")
SHELL = tags(lead="", shell=Shell("<call>", "tool", "<is>", "</call>"), several=True)
CDATA = own(
    tagged_values(
        (),
        Tag.named("do", lead="", after=""),
        Tag.named("in", cdata=True, notation=PYTHON),
        lead="",
        text_of=python_text,
    )
)

EVERY = {
    "headed": HEADED,
    "fenced": FENCED,
    "plain": PLAIN,
    "marked": MARKED,
    "array": ARRAY,
    "lines": LINES,
    "tight": TIGHT,
    "shell": SHELL,
    "cdata": CDATA,
}


def told(text: str, dialect: Dialect, reason: str = "stop") -> tuple[Part, ...]:
    return parse(text, dialect, reason=reason).parts


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_it_keeps_every_promise(name: str) -> None:
    report = check_dialect(EVERY[name], max_examples=6)
    assert report.ok, [result for result in report.results if result.status != "passed"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("headed", 'A<calls><call>f<with>{}</call><call>g<with>{"x": "1"}</call></calls>B'),
        ("fenced", 'A<call>f\n```json\n{}\n```</call><call>g\n```json\n{"x": "1"}\n```</call>B'),
        ("plain", 'A<call=f>{}</call><call=g>{"x": "1"}</call>B'),
        ("marked", 'A<call>f<with>{}<call>g<with>{"x": "1"}B'),
        ("array", 'A<call>[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"x": "1"}}]B'),
        (
            "lines",
            'A\n<use>\n<do name="f">\n</do>\n</use>\n<use>\n<do name="g">\n<in name="x">1</in>\n</do>\n</use>\nB',
        ),
        ("tight", 'A<use>\n<do name="f">\n</do>\n</use><use>\n<do name="g">\n<in name="x">1</in>\n</do>\n</use>B'),
        (
            "shell",
            'A<use>\n<call>tool<is><do name="f">\n</do></call>\n'
            '<call>tool<is><do name="g">\n<in name="x">1</in>\n</do></call>\n</use>B',
        ),
        ("cdata", 'A<do name="f"></do><do name="g"><in name="x">\n1\n</in>\n</do>B'),
    ],
)
def test_this_is_how_a_group_between_texts_is_written(name: str, text: str) -> None:
    written = EVERY[name].render(Message("assistant", (TextPart("A"), F, G, TextPart("B"))))
    assert written == text


# A name counts with what divides it from the body


@pytest.mark.parametrize("text", ["<call>f", "<call>some", "<call>f<wi", "<call>"])
def test_a_name_that_the_end_cuts_off_is_none(text: str) -> None:
    (part,) = told(text, HEADED, "length")
    assert isinstance(part, UnparsedToolCall)
    assert part.name is None


@pytest.mark.parametrize(("text", "dialect"), [("<call>f<with>", HEADED), ("<call>f\n```json\n{", FENCED)])
def test_one_that_the_body_would_follow_is_known(text: str, dialect: Dialect) -> None:
    (part,) = told(text, dialect, "length")
    assert isinstance(part, UnparsedToolCall)
    assert part.name == "f"


def test_a_body_without_its_divider_is_no_part_of_the_name() -> None:
    broken, call = told('<call>f{"x": 1}</call><call>f<with>{}</call>', HEADED)
    assert isinstance(broken, UnparsedToolCall)
    assert (broken.name, call) == (None, F)


def test_plain_markers_without_a_body_are_text() -> None:
    assert told("<call=f> no", PLAIN) == (TextPart("<call=f> no"),)


# A marker, a name, perhaps an id


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("<call>f{}", F),
        ("<call> f <with> {}", F),
        ("<call>f<id>a1<with>{}", ToolCall("f", "{}", "a1")),
        ("<call> f <id> a1 {}", ToolCall("f", "{}", "a1")),
        ('<call>[{"name": "f", "arguments": {}, "id": "a1"}]', ToolCall("f", "{}", "a1")),
    ],
)
def test_every_way_is_read_whichever_is_written(text: str, call: ToolCall) -> None:
    assert told(text, MARKED) == told(text, ARRAY) == (call,)


def test_a_marker_that_nothing_like_a_call_follows_is_no_call() -> None:
    assert told("A<call>", MARKED) == (TextPart("A"),)
    assert told("A<call>for you", MARKED) == (TextPart("Afor you"),)


def test_a_name_alone_is_the_beginning_of_a_call_if_the_output_ends_there() -> None:
    (part,) = told("<call>some", MARKED, "length")
    assert isinstance(part, UnparsedToolCall)


# Tags


@pytest.mark.parametrize("quote", ['"', "'", ""])
def test_a_name_stands_in_any_quotes(quote: str) -> None:
    text = f"<use><do name={quote}g{quote}><in name={quote}x{quote}>1</in></do></use>"
    assert told(text, LINES) == (G,)


def test_a_section_may_open_twice() -> None:
    assert told('<use>\n<use>\n<do name="f">\n</do>\n</use>', LINES) == (F,)


@pytest.mark.parametrize("before", ["", "<call>", "<call>tool", "<call>tool<is>", "<call><is>", "<use>", "<use><call>"])
@pytest.mark.parametrize("behind", ["", "</call>", "</call></use>", "</use>"])
def test_any_token_around_a_call_may_be_missing(before: str, behind: str) -> None:
    assert told(f'A{before}<do name="f"></do>{behind}', SHELL) == (TextPart("A"), F)


def test_a_divider_may_stand_between_two_calls() -> None:
    assert told('<call><do name="f"></do></call><is><call><do name="f"></do></call>', SHELL) == (F, F)


def test_behind_a_shell_all_is_a_call() -> None:
    broken, call = told('<call>plan<is>Hm.</call><call>tool<is><do name="f"></do></call>', SHELL)
    assert isinstance(broken, UnparsedToolCall)
    assert (broken.name, call) == (None, F)


def test_a_value_in_cdata_holds_its_own_tags() -> None:
    assert told('<do name="g"><in name="x"><![CDATA[a</in></do>\n]]></in></do>', CDATA) == (
        ToolCall("g", '{"x": "a</in></do>\\n"}'),
    )


def test_cdata_is_written_where_a_string_needs_it_and_values_as_python_prints_them() -> None:
    tool = Tool("g", "", {"properties": {"x": {"type": "string"}, "y": {"type": "object"}}})
    call = ToolCall("g", '{"x": "a & b", "y": {"z": [true, "<"]}}')
    text = CDATA.render(Message("assistant", (call,)))
    assert '<in name="x">\n<![CDATA[a & b]]>\n</in>' in text
    assert "<in name=\"y\">\n{'z': [True, '<']}\n</in>" in text
    assert parse(text, CDATA, [tool]).tool_calls == (call,)


@pytest.mark.parametrize(
    "call", [ToolCall("g", '{"x": "a</in>"}'), ToolCall("g", '{"a\\"b": 1}'), ToolCall("it's", "{}")]
)
def test_what_would_end_its_tag_is_not_written(call: ToolCall) -> None:
    with pytest.raises(Inexpressible):
        LINES.render(Message("assistant", (call,)))


def test_the_sign_behind_a_name_may_tell_the_type() -> None:
    typed = Tag("<in ", (Sign("=", ("string",)), Sign(":", JSON_VALUE)), "</in>", "", "", "")
    dialect = own(tagged_values((), Tag.named("do", lead="", after=""), typed, lead=""))
    call = ToolCall("g", '{"x": "1", "y": 1}')
    assert dialect.render(Message("assistant", (call,))) == '<do name="g"><in x=1</in><in y:1</in></do>'
    assert told('<do name="g"><in x=1</in><in y:1</in></do>', dialect) == (call,)


def test_a_thought_between_calls_is_one() -> None:
    assert told('<plan>A</plan><do name="f"></do>', SHELL) == (ThinkingPart("A"), F)
