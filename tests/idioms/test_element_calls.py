"""Trees of elements and typed arguments, as far as the cases of Kimi K3 and MiniMax M3 do not show them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dragoman import Dialect, Message, Tool, parse
from dragoman.errors import Inexpressible
from dragoman.idioms import Calls, define, element_tree, typed_arguments
from dragoman.testing import check_dialect
from dragoman.types import Part, TextPart, ToolCall, UnparsedToolCall


def own(calls: Calls, native_id: Callable[[str, int], str] | None = None) -> Dialect:
    return define(
        "An own one.",
        name="own",
        source="made up",
        calls=calls,
        stops=("<.>",),
        prose=False,
        native_id=native_id,
    )


TREE = own(element_tree("#", "uses", item="one"))
TYPED = own(typed_arguments("<+", "<-", ">"), lambda name, index: str(index + 1))
F = ToolCall("f", "{}")


def told(text: str, dialect: Dialect, *tools: Tool) -> tuple[Part, ...]:
    return parse(text, dialect, list(tools) or None).parts


def written(dialect: Dialect, arguments: str, name: str = "f") -> str:
    return dialect.render(Message("assistant", (ToolCall(name, arguments),)))


@pytest.mark.slow
@pytest.mark.parametrize("dialect", [TREE, TYPED], ids=["tree", "typed"])
def test_it_keeps_every_promise(dialect: Dialect) -> None:
    report = check_dialect(dialect, max_examples=6)
    assert report.ok, [result for result in report.results if result.status != "passed"]


# Trees


def test_a_tree_is_written_element_by_element() -> None:
    arguments = '{"a": "x", "b": {"c": [1.50, true]}, "d": "<d>"}'
    inside = "#<a>x#</a>#<b>#<c>#<one>1.50#</one>#<one>true#</one>#</c>#</b>#<d><d>#</d>"
    assert written(TREE, arguments) == f'#<uses>\n#<invoke name="f">{inside}#</invoke>\n#</uses>'


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a": null}',
        '{"a": []}',
        '{"a": {}}',
        '{"a": {"one": 1}}',
        '{"a": "#"}',
        '{"a>": 1}',
        '{"/a": 1}',
        '{"": 1}',
        '{"invoke": 1}',
        '{"a": {"uses": 1}}',
        '{"invoke name=x": 1}',
    ],
)
def test_what_no_tree_can_say_is_refused(arguments: str) -> None:
    with pytest.raises(Inexpressible):
        written(TREE, arguments)


@pytest.mark.parametrize("quote", ['"', "'", ""])
def test_the_name_of_a_call_stands_in_quotes_or_in_none(quote: str) -> None:
    assert told(f"#<uses>#<invoke name={quote}f{quote}>#</invoke>#</uses>", TREE) == (F,)


def test_elements_of_the_name_for_items_are_a_list() -> None:
    text = '#<invoke name="f">#<a>#<one>x#</one>#<two>y#</two>#</a>#<b>#<two>y#</two>#</b>#</invoke>'
    assert told(text, TREE) == (ToolCall("f", '{"a": ["x", "y"], "b": {"two": "y"}}'),)


def test_whitespace_may_stand_behind_the_prefix() -> None:
    assert told('#<invoke name="f"># <a>#\n<b>x# </b>\n#\t</a>#</invoke>', TREE) == (
        ToolCall("f", '{"a": {"b": "x"}}'),
    )


@pytest.mark.parametrize("text", ["#<a>x#</invoke>", "#<a>#<b>x#</b>#</invoke>", "#<a>x#</uses>", "#<a>x#<b>y#</b>"])
def test_the_closer_of_the_call_does_not_close_an_element(text: str) -> None:
    broken, *rest = told(f'#<uses>#<invoke name="f">{text}#<invoke name="f">#</invoke>#</uses>.', TREE)
    assert isinstance(broken, UnparsedToolCall)
    assert rest == [F, TextPart(".")]


def test_a_call_without_its_closer_ends_at_the_next() -> None:
    text = '#<uses>#<invoke name="f">#<a>x#</a>\n#<invoke name="f">#</invoke>#</uses>'
    assert told(text, TREE) == (ToolCall("f", '{"a": "x"}'), F)


# Types in attributes


def test_types_and_numbers_are_written_in_attributes() -> None:
    members = (
        '<+argument key="a &quot;b&quot; &amp; c" type="string">x & "y"<-argument>'
        '<+argument key="n" type="number">1.50<-argument><+argument key="o" type="object">{"k": null}<-argument>'
    )
    expected = f'<+tools><+call tool="f" index="1">{members}<-call><-tools>'
    assert written(TYPED, '{"a \\"b\\" & c": "x & \\"y\\"", "n": 1.50, "o": {"k": null}}') == expected


@pytest.mark.parametrize("arguments", ['{"a": "<-argument>"}', '{"a<": 1}', '{"": 1}', '{"a\\nb": 1}'])
def test_what_no_attribute_or_value_can_hold_is_refused(arguments: str) -> None:
    with pytest.raises(Inexpressible):
        written(TYPED, arguments)


@pytest.mark.parametrize("head", ['tool="f" index="7"', 'index="7" tool="f"'])
@pytest.mark.parametrize("tag", ['key="a" type="string"', 'type="string" key="a"', 'key="a"'])
def test_attributes_stand_in_any_order(head: str, tag: str) -> None:
    text = f"<+tools><+call {head}><+argument {tag}>1<-argument><-call><-tools>"
    assert told(text, TYPED) == (ToolCall("f", '{"a": "1"}', "7"),)


def test_a_call_need_not_have_a_number() -> None:
    assert told('<+tools><+call tool="f"><-call><-tools>', TYPED) == (F,)


@pytest.mark.parametrize("tag", ["json", 'json type="object"'])
def test_arguments_stand_in_one_tag_as_json(tag: str) -> None:
    text = f'<+call tool="f" index="1"><+{tag}>{{"a": "<-json>"}}<-json><-call>'
    assert told(text, TYPED) == (ToolCall("f", '{"a": "<-json>"}', "1"),)


def test_without_a_type_the_schema_tells_it() -> None:
    tool = Tool("f", "", {"properties": {"n": {"type": "integer"}}})
    text = '<+call tool="f"><+argument key="n">1<-argument><+argument key="s">1<-argument><-call>'
    assert told(text, TYPED, tool) == (ToolCall("f", '{"n": 1, "s": "1"}'),)
