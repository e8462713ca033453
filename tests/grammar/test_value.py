"""Raw text becomes the JSON that the schema asks for, however the text is cut."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from dragoman.grammar.schema import KINDS
from dragoman.grammar.value import Sink, sink_for
from tests.streams import cut, cuts, hard


class Sunk(Struct, frozen=True):
    """What became of a text: its JSON and the type of that, or where it broke."""

    json: str
    kind: str
    broken: int | None = None
    complete: bool = True


def sunk(kinds: str | Iterable[str], pieces: Iterable[str]) -> Sunk:
    sink, at = Sink(frozenset(kinds.split() if isinstance(kinds, str) else kinds)), 0
    json = sink.open()
    for piece in pieces:
        json += sink.feed(piece)
        if sink.broken >= 0:
            return Sunk(json, sink.kind, at + sink.broken, False)
        at += len(piece)
    closing = sink.close()
    return Sunk(json + (closing or ""), sink.kind, None, closing is not None)


@pytest.mark.parametrize(
    ("kinds", "text", "json", "kind"),
    [
        # A string stays the string that was written.
        ("string", 'a\n"b"\\é\x01', '"a\\n\\"b\\"\\\\é\\u0001"', "string"),
        ("string", " true ", '" true "', "string"),
        ("string", "123", '"123"', "string"),
        ("string", "null", '"null"', "string"),
        ("string", '{"a": 1}', '"{\\"a\\": 1}"', "string"),
        ("string", "", '""', "string"),
        # Numbers are copied digit by digit.
        ("integer", "9007199254740993", "9007199254740993", "integer"),
        ("integer", " -7\n", "-7", "integer"),
        ("integer", "1.0", "1.0", "integer"),
        ("integer", "1.5", "1.5", "number"),
        ("number", "0.10", "0.10", "number"),
        ("number", "1e-7", "1e-7", "number"),
        ("number", "1.0", "1.0", "integer"),
        ("number", "3", "3", "integer"),
        ("number string", "0.10", "0.10", "number"),
        ("integer string", "3", "3", "integer"),
        ("integer string", "3.5", '"3.5"', "string"),
        ("integer", "012", '"012"', "string"),
        ("integer", "1_000", '"1_000"', "string"),
        ("number", "NaN", '"NaN"', "string"),
        ("number", "", '""', "string"),
        # Words, as JSON and as Python write them.
        ("boolean", "true", "true", "boolean"),
        ("boolean", "False", "false", "boolean"),
        ("boolean string", "True", "true", "boolean"),
        ("null string", "null", "null", "null"),
        ("null string", "None", "null", "null"),
        ("null integer", "none", '"none"', "string"),
        ("boolean", "TRUE", '"TRUE"', "string"),
        ("integer", "true", '"true"', "string"),
        ("boolean", "1", '"1"', "string"),
        ("boolean", "\n  true\n", "true", "boolean"),
        ("null", "   None   ", "null", "null"),
        # Objects and arrays, as they are written.
        ("object", '{"a": 1.0, "b": [null]}', '{"a": 1.0, "b": [null]}', "object"),
        ("array", "[1, 2]", "[1, 2]", "array"),
        ("array object", "[{}]", "[{}]", "array"),
        ("object string", '{"a": 1} ', '{"a": 1}', "object"),
        ("object string", "{a}", '"{a}"', "string"),
        ("object string", "{} {}", '"{} {}"', "string"),
        ("object string", '{"a": ', '"{\\"a\\": "', "string"),
        ("array string", '{"a": 1}', '"{\\"a\\": 1}"', "string"),
        ("object", "seven", '"seven"', "string"),
        ("object null", "null", "null", "null"),
        ("object", '"a"', '"\\"a\\""', "string"),
    ],
)
def test_a_text_becomes_the_json_that_its_types_ask_for(kinds: str, text: str, json: str, kind: str) -> None:
    assert sunk(kinds, [text]) == sunk(kinds, text) == Sunk(json, kind)


@pytest.mark.parametrize("layout", ["", " ", "\n    ", "\r\n\t"])
def test_layout_around_an_object_belongs_to_no_value(layout: str) -> None:
    assert json.loads(sunk("object", [layout + '{"a": " "}' + layout]).json) == {"a": " "}
    assert json.loads(sunk("object string", [layout + '{"a": " "}' + layout]).json) == {"a": " "}


@pytest.mark.parametrize(
    ("kinds", "text", "json", "broken"),
    [
        ("object", "{a}", "{", 1),
        ("object", '  {"a": 1,,}', '{"a": 1,', 10),
        ("object", '{"a": 1} b', '{"a": 1}', 9),
        ("array", "[1, 2]]", "[1, 2]", 6),
        ("array object", "[1}", "[1", 2),
        ("array", "[-  x]", "[-", 2),
    ],
)
def test_a_value_that_is_no_json_breaks_at_the_very_character(kinds: str, text: str, json: str, broken: int) -> None:
    expected = Sunk(json, "object" if "{" in text else "array", broken, False)
    assert sunk(kinds, [text]) == sunk(kinds, text) == expected


def test_an_object_that_does_not_close_is_not_complete() -> None:
    assert sunk("object", ['{"a": 1']) == Sunk('{"a": 1', "object", None, False)


def test_an_object_is_published_as_it_comes() -> None:
    sink = sink_for(frozenset(["object"]))
    assert [sink.feed(piece) for piece in ("\n", '{"a"', ": ", "1}", "\n")] == ["", '{"a"', ": ", "1}", ""]
    assert (sink.close(), sink.held) == ("", 0)


def test_a_value_of_two_types_waits_until_it_is_clear_which_it_has() -> None:
    sink = sink_for(frozenset(["integer", "string"]))
    assert (sink.feed("12"), sink.held) == ("", 2)
    other = sink.copy()
    assert (sink.close(), sink.kind) == ("12", "integer")
    assert (other.feed(" apples" + "!" * 1024), other.held) == ('"12 apples' + "!" * 1024, 0)
    assert (other.feed('"'), other.close(), other.kind) == ('\\"', '"', "string")


def test_a_copy_reads_its_own_object() -> None:
    sink = sink_for(frozenset(["object", "string"]))
    sink.feed('{"a": ')
    other = sink.copy()
    assert (sink.feed("1}"), sink.close(), sink.kind) == ("", '{"a": 1}', "object")
    assert (other.feed("x"), other.close(), other.kind) == ('"{\\"a\\": x', '"', "string")


def test_a_value_without_a_type_is_a_string() -> None:
    for kinds in (None, frozenset[str]()):
        sink = sink_for(kinds)
        assert [sink.open(), sink.feed("12"), sink.close()] == ['"', "12", '"']


@pytest.mark.parametrize("after", ["", " x", ", 1"])
def test_a_long_value_of_two_types_does_not_depend_on_the_chunks(after: str) -> None:
    text = '["' + "z" * 5000 + '"]' + after
    expected = sunk("array string", [text])
    for size in (1, 100, 4095, 4097):
        assert sunk("array string", [text[at : at + size] for at in range(0, len(text), size)]) == expected


ANY = [kinds for size in range(1, 4) for kinds in combinations(sorted(KINDS), size)]
SCRAPS = [
    "true",
    "None",
    "nul",
    "1",
    "-",
    ".5",
    "e3",
    '{"a": ',
    "[",
    "]",
    "}",
    '"',
    ", ",
    " ",
    "\n",
    "x",
    "\\",
    "é\x00",
]
RAW = st.lists(st.sampled_from(SCRAPS), max_size=6).map("".join) | st.text(max_size=12)


@hard
@given(st.sampled_from(ANY), RAW, cuts())
def test_the_json_does_not_depend_on_the_chunks(kinds: tuple[str, ...], text: str, places: list[int]) -> None:
    assert sunk(kinds, text) == sunk(kinds, cut(text, places)) == sunk(kinds, [text])


@hard
@given(st.sampled_from(ANY), RAW)
def test_what_is_complete_is_json_of_its_kind_and_a_string_only_as_it_was_written(
    kinds: tuple[str, ...], text: str
) -> None:
    found = sunk(kinds, [text])
    if not found.complete:
        return
    value = json.loads(found.json)
    if found.kind == "string":
        assert value == text
    else:
        assert found.kind in kinds or {found.kind, *kinds} >= {"integer", "number"}
        types = {"integer": (int, float), "number": float, "boolean": bool, "null": type(None), "object": dict}
        assert isinstance(value, types.get(found.kind, list))
