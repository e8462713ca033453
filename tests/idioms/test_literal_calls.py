"""Calls in notations of their own: what is written, what is refused, and what only looks like a call."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Message, parse
from dragoman.errors import Inexpressible
from dragoman.idioms import call_dict, single_quoted
from dragoman.registry import get_dialect
from dragoman.types import Part, TextPart, ToolCall

NAMES = ("lfm2", "olmo3", "llama_pythonic", "gemma4", "functiongemma")

keys = st.text("abç_$.-1", min_size=1, max_size=9)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def written(dialect: str, arguments: str, name: str = "f") -> str:
    return get_dialect(dialect).render(Message("assistant", (ToolCall(name, arguments),)))


@pytest.mark.parametrize(
    ("dialect", "arguments", "text"),
    [
        ("lfm2", """{"a": "it's", "b": "\\"q\\" \\\\ \\/ \\u00e9"}""", """[f(a='it\\'s', b='"q" \\\\ / \\u00e9')]"""),
        ("lfm2", '{"a": [null, true, {"k": "v"}]}', "[f(a=[None, True, {'k': 'v'}])]"),
        ("olmo3", '{"a": "it\'s \\"q\\"", "b": null}', 'f(a="it\'s \\"q\\"", b=None)'),
        ("llama_pythonic", '{"a": 1.50, "b": "null"}', '[f(a=1.50, b="null")]'),
        ("gemma4", '{"a": "x\\ny", "b c": null}', 'call:f{a:<|"|>x\ny<|"|>,<|"|>b c<|"|>:None}'),
        ("gemma4", '{"a": {"k": "null", "": [1, null]}}', 'call:f{a:{k: <|"|>null<|"|>, <|"|><|"|>: [1, None]}}'),
        ("functiongemma", '{"a": "<", "b": false}', "call:f{a:<escape><<escape>,b:false}"),
    ],
)
def test_literals_are_written_as_the_notation_has_them(dialect: str, arguments: str, text: str) -> None:
    assert text in written(dialect, arguments)


def test_a_string_in_single_quotes_keeps_its_escapes() -> None:
    assert single_quoted(r'"a\"b\\\"c\\n\n/\/ \ud83d"') == r"""'a"b\\"c\\n\n// \ud83d'"""


@pytest.mark.parametrize("dialect", NAMES)
@given(st.dictionaries(keys, values, max_size=3))
def test_what_is_written_is_read_back(dialect: str, members: dict[str, object]) -> None:
    arguments = json.dumps(members, ensure_ascii=False)
    try:
        text = written(dialect, arguments)
    except Inexpressible:
        return
    (call,) = parse(text, dialect, reason="stop").tool_calls
    assert json.loads(call.arguments) == members


@pytest.mark.parametrize(
    ("dialect", "arguments", "reason"),
    [
        ("lfm2", '{"two words": 1}', "no argument can have the name 'two words'"),
        ("olmo3", '{"": 1}', "no argument can have the name ''"),
        ("llama_pythonic", '{"a=b": 1}', "no argument can have the name 'a=b'"),
        ("gemma4", '{"a": ["x<|\\"|>"]}', "there is no way to write 'x<|\"|>' here"),
        ("gemma4", '{"a<b": 1}', "there is no way to write 'a<b' here"),
        ("functiongemma", '{"a": {"<escape>": 1}}', "there is no way to write '<escape>' here"),
    ],
)
def test_what_would_not_be_read_back_is_refused(dialect: str, arguments: str, reason: str) -> None:
    with pytest.raises(Inexpressible) as caught:
        written(dialect, arguments)
    assert (caught.value.part, caught.value.reason) == (0, reason)


@pytest.mark.parametrize("name", ["1f", "two words", "f(", ""])
@pytest.mark.parametrize("dialect", ["lfm2", "llama_pythonic", "olmo3"])
def test_a_name_that_no_expression_has_is_refused(dialect: str, name: str) -> None:
    with pytest.raises(Inexpressible):
        written(dialect, "{}", name)


@pytest.mark.parametrize("text", ["[f(a=1)]", "See:\n [f()]", "x\n\n[ f ( a ="])
def test_text_that_would_be_read_as_a_list_of_calls_is_refused(text: str) -> None:
    with pytest.raises(Inexpressible):
        get_dialect("llama_pythonic").render(Message("assistant", (TextPart(text),)))


@pytest.mark.parametrize(
    "text",
    [
        "[1] see [2]",
        "[f](https://example.org)",
        "[f()](https://example.org) is a link",
        "[sin(x), cos(x)]",
        "[f(1)]",
        "[f( ]",
        "[2f(a=1)]",
        "- [f(a=1)]",
        "call [f(a=1)]",
    ],
)
def test_what_only_looks_like_a_list_of_calls_is_text(text: str) -> None:
    assert parse(text, "llama_pythonic", reason="stop").parts == (TextPart(text),)


F, G = ToolCall("f", '{"a": 1}'), ToolCall("g", "{}")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[f(a=1), g()]", (F, G)),
        ("[f(a=1)]\n\n[g()]", (F, G)),
        ("\n [f(a=1)]\nand\n[g()]", (F, TextPart("and"), G)),
        ("[f(a=1)", (F,)),
        ("[f(a=1), nothing]", (F, TextPart(", nothing]"))),
    ],
)
def test_a_list_without_tags_counts_at_the_beginning_of_a_line(text: str, parts: tuple[Part, ...]) -> None:
    assert parse(text, "llama_pythonic").parts == parts


def test_words_that_stand_for_nothing_are_the_familys_own() -> None:
    assert call_dict("<c>", "</c>", "<q>").one(ToolCall("f", '{"a": null}'), 0) == "<c>call:f{a:null}</c>"
