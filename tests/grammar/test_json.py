"""The scanner and the string decoder against the standard library, however the text is cut."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from dragoman.grammar.json import LEARNED_LIMIT, Scanner, State, StringDecoder
from tests.streams import cut, cuts, hard


class Scanned(Struct, frozen=True):
    """How far a text is a JSON value, and of which type; `members` are those of a watched object."""

    end: int
    done: bool
    failed: bool
    kind: str
    members: tuple[tuple[str, str], ...] = ()


def scanned(chunks: Iterable[str], *, watch: bool = False) -> Scanned:
    scanner, at = Scanner(watch=watch), 0
    for chunk in chunks:
        end = scanner.scan(chunk, 0)
        at += end
        if end < len(chunk):
            break
    done = scanner.finish()
    return Scanned(at, done, scanner.failed, scanner.kind, tuple(scanner.members))


def refuse(constant: str) -> None:
    raise ValueError(constant)


decode = json.JSONDecoder(parse_constant=refuse).raw_decode

ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(), max_size=8),
)
VALUES = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner))
BOXES = st.lists(VALUES, max_size=4) | st.dictionaries(st.text(max_size=4), VALUES, max_size=4)
LAYOUTS = st.sampled_from((None, 0, 1, "\t"))
TEXTS = st.builds(
    lambda value, plain, layout: json.dumps(value, ensure_ascii=plain, indent=layout), BOXES, st.booleans(), LAYOUTS
)
ODD = st.sampled_from(["", *'{}[]",:\\ue0-.', "1", "true", "nul", "\n", "\x01", "\\u12", "\\ud83d", " ", "é"])


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A JSON text of which a piece is lost, or in which something else stands."""
    text = draw(TEXTS)
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(ODD) + text[at + draw(st.integers(0, 2)) :] + draw(ODD)


@hard
@given(TEXTS | mutated())
def test_a_value_is_complete_where_the_standard_library_says_so(text: str) -> None:
    start = len(text) - len(text.lstrip(" \t\n\r"))
    if text[start : start + 1] not in ("{", "[", '"'):
        return
    try:
        _, end = decode(text, start)
    except ValueError:
        assert not scanned([text]).done
    else:
        assert (scanned([text]).end, scanned([text]).done) == (end, True)


@hard
@given(TEXTS | mutated(), cuts(), st.booleans())
def test_the_verdict_does_not_depend_on_the_chunks(text: str, places: list[int], watch: bool) -> None:
    expected = scanned([text], watch=watch)
    assert scanned(text, watch=watch) == expected
    assert scanned(cut(text, places), watch=watch) == expected


@given(TEXTS, st.integers(0))
def test_no_beginning_of_a_json_text_is_refused(text: str, length: int) -> None:
    assert not scanned([text[: length % (len(text) + 1)]]).failed


@given(st.lists(st.tuples(st.text(max_size=4), VALUES), max_size=4), st.booleans(), cuts())
def test_the_members_of_an_object_are_its_keys_as_written_and_the_types_of_their_values(
    pairs: list[tuple[str, object]], plain: bool, places: list[int]
) -> None:
    written = [(json.dumps(key, ensure_ascii=plain), json.dumps(value), value) for key, value in pairs]
    text = "{" + ", ".join(f"{key}: {value}" for key, value, _ in written) + "}"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    expected = tuple((key[1:-1], names.get(type(value), "null")) for key, _, value in written)
    assert scanned(cut(text, places), watch=True) == Scanned(len(text), True, False, "object", expected)


@pytest.mark.parametrize(
    ("text", "end", "kind"),
    [
        (' \n"a" ', 5, "string"),
        ("true,", 4, "boolean"),
        ("null", 4, "null"),
        ("-0.5e+10]", 8, "integer"),
        ("012", 1, "integer"),
        ("[1]]", 3, "array"),
    ],
)
def test_a_value_of_any_type_may_stand_alone(text: str, end: int, kind: str) -> None:
    assert scanned([text]) == scanned(text) == Scanned(end, True, False, kind)


@pytest.mark.parametrize(
    ("text", "end", "error"),
    [
        ("]", 0, "expected a value"),
        ("[1,]", 3, "expected a value"),
        ("[1 2]", 3, "expected ',' or the end of the array"),
        ('{"a": 1]', 7, "expected ',' or the end of the object"),
        ("{1", 1, "expected '\"'"),
        ('{"a": 1,}', 8, "expected '\"'"),
        ('{"a" 1}', 5, "expected ':'"),
        ("[trup]", 4, "expected 'e'"),
        ("[1.]", 3, "not a number"),
        ("-x", 1, "not a number"),
        ('["a\nb"]', 3, "a control character in a string"),
        (r'["\x"]', 3, r"no such escape: \x"),
        (r'["\u12x4"]', 6, "expected four hexadecimal digits"),
    ],
)
def test_text_that_is_no_json_is_refused_at_the_very_character(text: str, end: int, error: str) -> None:
    for chunks in ([text], list(text)):
        scanner, at = Scanner(), 0
        for chunk in chunks:
            at += scanner.scan(chunk, 0)
        assert (scanner.failed, at, scanner.error) == (True, end, error)


@pytest.mark.parametrize("text", ["NaN", "[NaN]", "[-Infinity]", "[" + " " * 64 + "NaN]"])
def test_what_only_python_takes_for_json_is_refused(text: str) -> None:
    assert scanned([text]).failed
    assert scanned(text).failed


# Bounds


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 17, 1000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_nesting_is_bounded_exactly(opening: str, closing: str, size: int) -> None:
    deep = len(opening.replace('"a":', ""))
    times = 256 // deep
    text = opening * times + "1" + closing * times
    found = scanned(chunked(text, size))
    assert (found.end, found.done) == (len(text), True)
    text = opening * times + "[1]" + closing * times
    found = scanned(chunked(text, size))
    assert (found.end, found.done, found.failed) == (len(opening) * times, False, True)


@pytest.mark.parametrize("size", [1, 16, 64, 5000])
@pytest.mark.parametrize(("before", "after"), [("", ""), ("[", "]"), ('{"a": ', "}"), ("[[0, ", ", 0]]")])
@pytest.mark.parametrize("number", ["7" * 1024, "-0." + "1" * 1021, "1" * 1000 + "e+" + "9" * 22])
def test_the_length_of_a_number_is_bounded_exactly(number: str, before: str, after: str, size: int) -> None:
    text = before + number + after
    assert scanned(chunked(text, size)).done
    found = scanned(chunked(before + number + "1" + after, size))
    assert (found.end, found.failed) == (len(before) + 1024, True)


def chunked(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


# What has been learned


BRACKETS = ["[", "]", "[[", "]]", "{", "}", '{"', '":', '"', '":[', "]}", '": {"', '"}, {"', '["a", 1, {"b": "\\n"}]']
SHREDS = [
    "a",
    "\\",
    '\\"',
    "\\u00",
    "e9",
    "12",
    "7",
    ".5",
    "e",
    "-",
    "0",
    "tr",
    "ue",
    "null",
    ",",
    ", ",
    " ",
    "x",
    '"a"',
]
TOKENS = st.sampled_from(BRACKETS + SHREDS)
OPENINGS = st.sampled_from(["", "[", '{"a":', '{"a": [', '[[["', '{"a": {"b": "', "[[[[{", "[" * 238, "[" * 251])


@hard
@given(OPENINGS, st.lists(TOKENS, max_size=12), st.booleans())
def test_what_was_learned_from_a_chunk_is_what_reading_it_gives(opening: str, tokens: list[str], watch: bool) -> None:
    for _ in range(2):
        learning, reading = Scanner(watch=watch), Scanner(watch=watch)
        for token in (opening, *tokens):
            # A chunk that does not begin at index 0 is read, not looked up.
            assert learning.scan(token, 0) == reading.scan("·" + token, 1) - 1
            assert (learning.state, learning.error, learning.kind) == (reading.state, reading.error, reading.kind)
            assert learning.members == reading.members
            if learning.state >= State.DONE:
                break
        assert learning.copy().finish() == reading.copy().finish()


def test_what_was_learned_is_forgotten_before_it_is_too_much() -> None:
    scanner = Scanner()
    scanner.scan('["', 0)
    for k in range(2 * LEARNED_LIMIT):
        assert scanner.scan(f"\\n{k}", 0) == len(str(k)) + 2
        assert len(scanner.effects) <= LEARNED_LIMIT
    assert (scanner.scan('"]', 0), scanner.done) == (2, True)


def test_a_copy_goes_its_own_way() -> None:
    scanner = Scanner(watch=True)
    scanner.scan('{"a": 1, "b', 0)
    other = scanner.copy()
    other.scan('c": 2}', 0)
    scanner.scan('": [', 0)
    assert (other.done, other.members) == (True, [("a", "integer"), ("bc", "integer")])
    assert (scanner.done, scanner.members) == (False, [("a", "integer"), ("b", "array")])


# Strings inside strings

UNITS = st.sampled_from(
    ["a", "é", "\U0001f642", r"\n", r"\"", r"\\", r"\u00e9", r"\ud83d", r"\ude42", r"\uD83D\uDE42", r"\\ud83d", "ude42"]
)


@hard
@given(st.lists(UNITS, max_size=8).map("".join), cuts())
def test_a_string_is_decoded_as_the_standard_library_does_however_it_is_cut(text: str, places: list[int]) -> None:
    expected = json.loads(f'"{text}"')
    for pieces in (list(text), cut(text, places)):
        decoder = StringDecoder()
        decoded = []
        for piece in pieces:
            decoded.append(decoder.feed(piece))
            assert len(decoder.held) < 12
        assert "".join(decoded) + decoder.finish() == expected


def test_a_high_surrogate_waits_for_its_other_half() -> None:
    decoder = StringDecoder()
    assert decoder.feed(r"a\ud83d") == "a"
    other = decoder.copy()
    assert decoder.feed(r"\ude42") == "\U0001f642"
    assert other.feed("b") == "\ud83db"


@pytest.mark.parametrize("cut_escape", ["\\", r"\u", r"\u00", r"\ud83d\u"])
def test_an_escape_that_the_end_cuts_stays_as_it_is_written(cut_escape: str) -> None:
    decoder = StringDecoder()
    assert decoder.feed("a" + cut_escape) == "a"
    assert decoder.finish() == cut_escape.replace(r"\ud83d", "\ud83d")
