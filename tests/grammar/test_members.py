"""Arguments as keys and raw values whose types the markup tells."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import GrammarError
from dragoman.grammar import build as b
from dragoman.testing import PROMISES, Trial
from dragoman.types import Tool
from tests.grammar.markups import dsml, kimi, own
from tests.regressions.reading import Read, call, read, tool, unread

DSML, KIMI = dsml(), kimi()


def invoke(*parameters: str) -> str:
    return '<invoke name="f">' + "".join(f"\n<parameter {one}</parameter>" for one in parameters) + "\n</invoke>"


def argument(kind: str, value: str, key: str = "k") -> str:
    inside = f'<|open|>argument key="{key}" type="{kind}"<|sep|>{value}<|close|>argument<|sep|>'
    return f'<|open|>call tool="f" index="1"<|sep|>{inside}<|close|>call<|sep|>'


# Types that the markup tells


@pytest.mark.parametrize(
    ("attribute", "value", "json"),
    [
        (' string="true"', '{"a": 1}', '"{\\"a\\": 1}"'),
        (' string="true"', "12", '"12"'),
        (' string="false"', "12", "12"),
        (' string="false"', ' {"a": [1.0]}\n', '{"a": [1.0]}'),
        (' string="false"', '"a\\n<b>"', '"a\\n<b>"'),
        (' string="false"', "true", "true"),
        ("", "1.5", "1.5"),
        ("", '["a"]', '["a"]'),
        ("", '"a"', '"a"'),
        ("", '"a" and "b"', '"\\"a\\" and \\"b\\""'),
        ("", "plain text", '"plain text"'),
        ("", "{plain} text", '"{plain} text"'),
    ],
)
def test_the_markup_says_of_which_type_a_value_is(attribute: str, value: str, json: str) -> None:
    expected = Read((call("f", f'{{"k": {json}}}'),), (), "tool_calls")
    assert read(DSML, invoke(f'name="k"{attribute}>{value}')) == expected


@pytest.mark.parametrize(
    ("kind", "value", "json"),
    [
        ("string", "null", '"null"'),
        ("number", "-1e3", "-1e3"),
        ("boolean", "true", "true"),
        ("null", "null", "null"),
        ("object", '{"a": "<b>"}', '{"a": "<b>"}'),
        ("array", "[1, [2]]", "[1, [2]]"),
    ],
)
def test_the_markup_names_a_type(kind: str, value: str, json: str) -> None:
    assert read(KIMI, argument(kind, value)) == Read((call("f", f'{{"k": {json}}}', "1"),), (), "tool_calls")


@pytest.mark.parametrize(
    ("kind", "value", "json"),
    [
        ("number", "12 apples", '"12 apples"'),
        ("number", '"12"', '"\\"12\\""'),
        ("boolean", "0", '"0"'),
        ("object", "", '""'),
    ],
)
def test_a_value_that_is_not_what_the_markup_says_is_a_string_and_noted(kind: str, value: str, json: str) -> None:
    expected = Read((call("f", f'{{"k": {json}}}', "1"),), (("wrong_type", "k"),), "tool_calls")
    assert read(KIMI, argument(kind, value)) == expected
    assert read(KIMI, argument(kind, value), tools=[tool("f", k="object")]) == expected


def test_a_value_that_is_published_as_json_and_breaks_makes_the_call_malformed() -> None:
    whole = argument("object", '{"a": 1,,}')
    assert read(KIMI, whole) == Read((unread(whole, "f"),), (("malformed", whole),))


@pytest.mark.parametrize(
    ("kind", "value", "problems"),
    [("string", "5", ("wrong_type",)), ("number", "5", ()), ("number", "0.5", ("wrong_type",)), ("null", "null", ())],
)
def test_what_the_markup_says_is_compared_with_the_schema(kind: str, value: str, problems: tuple[str, ...]) -> None:
    found = read(KIMI, argument(kind, value), tools=[tool("f", k={"type": ["integer", "null"]})])
    assert found.problems == tuple((problem, "k") for problem in problems)


def test_an_argument_that_is_not_declared_is_noted_beside_its_wrong_type() -> None:
    found = read(KIMI, argument("number", "x"), tools=[tool("f", other="string")])
    assert found.problems == (("wrong_type", "k"), ("unknown_argument", "k"))


@pytest.mark.parametrize("kinds", [(), ("text",), ("string", "json")])
def test_a_kind_that_is_none_is_refused(kinds: tuple[str, ...]) -> None:
    with pytest.raises(GrammarError, match="not JSON types"):
        b.value("x", kinds=kinds)


# Names and keys with entities


def test_names_ids_and_keys_in_attributes_are_decoded_and_values_are_not() -> None:
    whole = argument("string", "&amp;", "a&quot;&#38;b").replace('"f"', '"f&lt;"').replace('"1"', '"&apos;1"')
    tools = [tool("f<", required=['a"&b'], **{'a"&b': "string"})]
    assert read(KIMI, whole, tools=tools) == Read((call("f<", '{"a\\"&b": "&amp;"}', "'1"),), (), "tool_calls")


def test_a_key_is_known_however_it_is_written() -> None:
    json = '<invoke name="f">{"k\\u0065y": 1, "key": 2}</invoke>'
    found = read(DSML, json, tools=[tool("f", required=["key"], key="integer")])
    assert found.problems == (("repeated_argument", "key"),)


# JSON directly in the call


@pytest.mark.parametrize("layout", ["", "\n", "  "])
def test_a_json_body_may_stand_where_members_do(layout: str) -> None:
    whole = f'<invoke name="f">{layout}{{"a": "</invoke>"}}{layout}</invoke>'
    assert read(DSML, whole) == Read((call("f", '{"a": "</invoke>"}'),), (), "tool_calls")
    assert read(DSML, '<invoke name="f"></invoke>') == Read((call("f", "{}"),), (), "tool_calls")


def test_text_that_is_neither_breaks_the_call() -> None:
    whole = '<invoke name="f">[1]</invoke>'
    assert read(DSML, whole) == Read((unread(whole, "f"),), (("malformed", whole),))


# Choices around values


def test_a_value_that_is_read_again_in_another_way_keeps_its_key() -> None:
    two = b.choice(b.value("!", "?", kinds=("string",)) + "!", b.value("?", kinds=("string",)) + "?")
    members = b.argument_members(b.key(b.chars("^=")) + "=" + two)
    again = own("again", b.call("@", b.name("f"), members, close=";"), "@")
    assert again.program().report.hold_bound is None  # the price of such a choice
    machine = again.machine()
    events = machine.feed('@fa"=1?;') + machine.finish("stop")
    assert "".join(event.json for event in events if hasattr(event, "json")) == '{"a\\"": "1"}'
    assert events[-1].problems == ()


# Any text

SCRAPS = [
    '<invoke name="f">',
    "</invoke>",
    '<parameter name="k" string="true">',
    '<parameter name="n" string="false">',
    '<parameter name="arguments">',
    "</parameter>",
    "\n",
    "{",
    '{"a": 1}',
    "}",
    '"',
    "12",
    "text",
]
TEXTS = st.lists(st.sampled_from(SCRAPS), max_size=12).map("".join)
TOOLS = st.sampled_from([(), (tool("f", k="string", n="integer"),), (Tool("f"),)])


@given(TEXTS, TOOLS, st.integers())
def test_any_text_keeps_every_promise(text: str, tools: tuple[Tool, ...], seed: int) -> None:
    trial = Trial(DSML, '<invoke name="f">' + text, tools)
    for promise in PROMISES.values():
        promise(trial, Random(seed))
