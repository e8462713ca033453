"""Values of other notations become JSON, the same however the text is cut, and nothing that is out is taken back."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from dragoman.grammar.json import DEPTH_LIMIT, NUMBER_LIMIT
from dragoman.grammar.notation import BARE_LIMIT, GAP_LIMIT, PYTHON, Notation, bare_dict
from dragoman.grammar.transcode import Transcoder
from tests.streams import cut, cuts, hard

DICT = bare_dict('<|"|>')
ESCAPE = bare_dict("<escape>")


class Read(Struct, frozen=True):
    """What became of a text: its JSON and how far it was read, or what was wrong there."""

    json: str
    end: int
    error: str = ""
    done: bool = True


def read(notation: Notation, pieces: Iterable[str]) -> Read:
    transcoder = Transcoder(notation, watch=True)
    out, text, at = "", "", 0
    for piece, final in [*((piece, False) for piece in pieces), ("", True)]:
        text += piece
        json, end = transcoder.read(text, 0, final)
        out, text, at = out + json, text[end:], at + end
        assert len(text) <= notation.hold or transcoder.done or transcoder.failed
        if transcoder.done or transcoder.failed:
            break
        transcoder = transcoder.copy()
    return Read(out, at, transcoder.error, transcoder.done)


def in_every_way(notation: Notation, text: str) -> Read:
    found = read(notation, [text])
    assert read(notation, text) == found
    assert read(notation, [text[at : at + 3] for at in range(0, len(text), 3)]) == found
    return found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
LAYOUTS = st.sampled_from([{}, {"separators": (",", ":")}, {"indent": 2}, {"indent": "\t"}, {"ensure_ascii": False}])


@hard
@given(JSON, LAYOUTS, cuts())
def test_json_is_read_as_it_is_written(value: object, layout: dict[str, object], places: list[int]) -> None:
    text = json.dumps(value, **layout)  # type: ignore[arg-type]
    assert read(PYTHON, cut(text, places)) == read(PYTHON, text) == Read(text, len(text))


@pytest.mark.parametrize(
    "text", [r'"\/\b\f\ud83d\ude42"', "-0", "1E+05", '"\x7f\u2028"', '{"a" \t: 1\r\n}', '"' + "'''"]
)
def test_the_corners_of_json_are_too(text: str) -> None:
    text += '"' * (text.count('"') % 2)
    assert in_every_way(PYTHON, text) == Read(text, len(text))


def test_so_is_json_with_more_whitespace_than_a_quote_waits_for() -> None:
    text = '{"a"' + " " * 200 + ': ["b"' + "\n" * 200 + "," + " " * 200 + "1]}"
    assert in_every_way(PYTHON, text) == Read(text, len(text))


KEYS = st.text(max_size=5)
LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.tuples(inner)
        | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


@hard
@given(LITERALS, cuts())
def test_what_python_prints_is_the_value(value: object, places: list[int]) -> None:
    text = repr(value)
    found = read(PYTHON, cut(text, places))
    assert found == read(PYTHON, text)
    assert json.loads(found.json) == json.loads(json.dumps(value))


SCRAPS = [
    "'",
    '"',
    "'''",
    '"""',
    "\\",
    "\\x",
    "4",
    "1",
    "0",
    "_",
    ".",
    "e",
    "-",
    "+",
    "T",
    "rue",
    "None",
    "nul",
    "null",
]
SCRAPS += [
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ", ",
    ",",
    ": ",
    ":",
    " ",
    "\n",
    "a",
    "é",
    "u00e9",
    "U0001F642",
    "\x00",
    " " * 63,
]
SCRAPS += ['<|"|>', "<|", '"|>', "<escape>", "<esc", "key:", "true"]
SOUP = st.lists(st.sampled_from(SCRAPS), max_size=12).map("".join)


@hard
@given(st.sampled_from([PYTHON, DICT, ESCAPE]), st.sampled_from(["", "[", "{", "{'a': ", '["', "['"]), SOUP, cuts())
def test_any_text_is_read_the_same_however_it_is_cut(
    notation: Notation, opening: str, text: str, places: list[int]
) -> None:
    text = opening + text
    expected = read(notation, [text])
    assert read(notation, cut(text, places)) == read(notation, text) == expected
    if expected.done:
        json.loads(expected.json)


@hard
@given(st.sampled_from([PYTHON, DICT]), SOUP, SOUP)
def test_what_is_out_for_a_beginning_is_a_beginning_of_what_comes(notation: Notation, text: str, more: str) -> None:
    first, whole = Transcoder(notation), Transcoder(notation)
    assert whole.read(text + more, 0)[0].startswith(first.read(text, 0)[0])


# Numbers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("007", "7"),
        ("000", "0"),
        ("0", "0"),
        ("-0", "-0"),
        ("-007", "-7"),
        ("0_7", "7"),
        ("1_000", "1000"),
        ("1_0.2_5e1_0", "10.25e10"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("5.", "5.0"),
        ("00.50", "0.50"),
        ("5.e3", "5.0e3"),
        ("0e1", "0e1"),
        ("1E-7", "1E-7"),
        ("+5", "5"),
        ("12345678901234567890.12345678901234567890", "12345678901234567890.12345678901234567890"),
    ],
)
def test_a_number_is_copied_digit_by_digit_as_json_writes_it(text: str, number: str) -> None:
    assert in_every_way(PYTHON, text) == Read(number, len(text))
    assert in_every_way(PYTHON, f"[{text}]") == Read(f"[{number}]", len(text) + 2)
    assert in_every_way(PYTHON, f"{{{text} : 1}}") == Read(f'{{"{number}" : 1}}', len(text) + 6)


@pytest.mark.parametrize(
    ("text", "end", "out"),
    [
        ("[0x1F]", 2, "[0"),
        ("[0o7]", 2, "[0"),
        ("[3j]", 2, "[3"),
        ("[1__0]", 3, "[1"),
        ("[1_]", 3, "[1"),
        ("[-inf]", 2, "[-"),
        ("[inf]", 1, "["),
        ("[nan]", 2, "["),
        ("[.]", 2, "[0"),
        ("[1e]", 3, "[1e"),
        ("[--1]", 2, "[-"),
        ("[1.2.3]", 4, "[1.2"),
    ],
)
def test_other_numbers_are_refused_at_the_character_that_shows_it(text: str, end: int, out: str) -> None:
    found = in_every_way(PYTHON, text)
    assert (found.json, found.end, found.done, bool(found.error)) == (out, end, False, True)


def test_the_length_of_a_number_is_bounded_exactly() -> None:
    longest = "7" * NUMBER_LIMIT
    assert in_every_way(PYTHON, f"[{longest}]").done
    assert in_every_way(PYTHON, f"[{longest}1]") == Read("[" + longest, NUMBER_LIMIT + 1, "a number is too long", False)


# Strings


@pytest.mark.parametrize(
    ("text", "string"),
    [
        ("''", ""),
        ('""', ""),
        ("''''''", ""),
        ("'a\"b'", 'a"b'),
        ('"a\'b"', "a'b"),
        ("'''a'b''c'''", "a'b''c"),
        ('"""a"b\n"""', 'a"b\n'),
        (r"'\n\t\r\\\'\"\b\f'", "\n\t\r\\'\"\b\f"),
        (r"'\a\v\0\7\101\1018'", "\a\v\0\aAA8"),
        (r"'\x41\u00e9\U0001F642'", "Aé\U0001f642"),
        ("'a\\\nb'", "ab"),
        (r"'\d\x4\u12\U00110000\U0011'", r"\d\x4\u12\U00110000\U0011"),
        (r"'\/'", r"\/"),
        (r'"\/"', "/"),
        (r"'\ud83d\ude42'", "\U0001f642"),
        (r"'\U0000d83d'", "\ud83d"),
        ("'a\nb\tc\x00'", "a\nb\tc\x00"),
        ("'it's'", "it's"),
        ('"say "hi" to her"', 'say "hi" to her'),
        ("'a' 'b'", "a' 'b"),
        ("'''a''''", "a'"),
    ],
)
def test_a_string_has_pythons_escapes(text: str, string: str) -> None:
    assert json.loads(in_every_way(PYTHON, text).json) == string
    assert json.loads(in_every_way(PYTHON, f"{{{text}:({text},)}}").json) == {string: [string]}


@pytest.mark.parametrize("follower", [", 1]", "]", " \n ]", " " * GAP_LIMIT + "]", " " * 200 + "]"])
def test_a_quote_closes_a_string_where_something_legal_follows(follower: str) -> None:
    found = in_every_way(PYTHON, "['a'" + follower)
    assert (found.json, found.done) == ('["a"' + follower, True)


def test_a_quote_that_nothing_legal_follows_is_told() -> None:
    transcoder = Transcoder(PYTHON)
    assert transcoder.read("['it's a'", 0) == ("[\"it's a", 8)
    assert transcoder.passed == [4]
    assert transcoder.read("' ]", 0) == ('" ]', 3)
    assert transcoder.passed == []


@pytest.mark.parametrize("gap", [0, 1, GAP_LIMIT - 1, GAP_LIMIT, GAP_LIMIT + 1])
def test_a_quote_waits_for_a_bounded_gap(gap: int) -> None:
    transcoder = Transcoder(PYTHON)
    text = "'a'" + " " * gap
    _, end = transcoder.read(text, 0)
    assert (transcoder.done, len(text) - end) == ((False, gap + 1) if gap <= GAP_LIMIT else (True, gap))


# Words, boxes


@pytest.mark.parametrize(
    ("text", "json"),
    [
        ("True", "true"),
        ("[False, None, true, false, null]", "[false, null, true, false, null]"),
        ("()", "[]"),
        ("(1)", "[1]"),
        ("(1, [2, (3,)],)", "[1, [2, [3]]]"),
        ("[1, \n]", "[1 \n]"),
        ("{'a': 1, }", '{"a": 1 }'),
        ("{}", "{}"),
        ("{True: 1, None: 2, null: 3, -1.: 4}", '{"true": 1, "null": 2, "null": 3, "-1.0": 4}'),
    ],
)
def test_words_and_boxes_become_jsons(text: str, json: str) -> None:
    assert in_every_way(PYTHON, text) == Read(json, len(text))


@pytest.mark.parametrize(
    ("text", "end", "error"),
    [
        ("Trux", 3, "expected a value"),
        ("x", 0, "expected a value"),
        ("{a: 1}", 1, "expected a key"),
        ("{1, 2}", 2, "expected ':'"),
        ("{[]: 1}", 1, "expected a key"),
        ("[1,,]", 3, "expected a value"),
        ("[,]", 1, "expected a value"),
        ("[1)", 2, "expected ',' or ']'"),
        ("[)", 1, "expected ',' or ']'"),
        ("{'a': 1]", 7, "expected ',' or '}'"),
        ("[1 2]", 3, "expected ',' or ']'"),
        ("[1," + " " * 70 + "]", 73, "expected a value"),
        ("[" * DEPTH_LIMIT + "[", DEPTH_LIMIT, "nested too deeply"),
    ],
)
def test_what_is_no_literal_is_refused_at_the_very_character(text: str, end: int, error: str) -> None:
    found = in_every_way(PYTHON, text)
    assert (found.end, found.error) == (end, error)


@pytest.mark.parametrize("text", ["", "'a", "'''a''", "'a\\", "Tru", "[1, ", "[1", "{'a': 1", "(", "-", "['a'"])
def test_what_the_end_cuts_is_not_done(text: str) -> None:
    found = in_every_way(PYTHON, text)
    assert (found.done, bool(found.error)) == (False, text == "-")


# Dicts with bare keys


UNMARKED = st.text("a\"'\\\n<|>,:{}[] é", max_size=8).filter(lambda text: DICT.quotes[0].mark not in text)


def written(value: object, mark: str) -> str:
    match value:
        case dict():
            return "{" + ",".join(f"{key}:{written(item, mark)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ",".join(written(item, mark) for item in value) + "]"
        case str():
            return mark + value + mark
    return json.dumps(value)


@hard
@given(
    st.dictionaries(
        st.from_regex(r"[a-z_][a-z0-9_.-]{0,5}", fullmatch=True),
        st.recursive(
            st.none() | st.booleans() | st.integers() | UNMARKED,
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            max_leaves=8,
        ),
        max_size=4,
    ),
    st.sampled_from([DICT, ESCAPE]),
    cuts(),
)
def test_what_is_written_with_marks_is_the_value(value: object, notation: Notation, places: list[int]) -> None:
    mark = notation.quotes[0].mark
    text = written(value, mark)
    found = read(notation, cut(text, places))
    assert found == read(notation, text)
    assert json.loads(found.json) == value


@pytest.mark.parametrize(
    ("text", "json"),
    [
        ('{a:<|"|>x\\n"\n<|"|>}', '{"a":"x\\\\n\\"\\n"}'),
        ('{ a : "x\\n" , <|"|>b c<|"|> : 1 , "d\\"": None}', '{ "a" : "x\\n" , "b c" : 1 , "d\\"": null}'),
        (
            "{a:some text,b:http://x.y?a=b,c:-1.50,d:007,e:True}",
            '{"a":"some text","b":"http://x.y?a=b","c":-1.50,"d":"007","e":true}',
        ),
        ("{a:[],b:[{}, x y ,]}", '{"a":[],"b":[{}, "x y" ]}'),
        ("{1:2}", '{"1":2}'),
    ],
)
def test_bare_text_is_what_it_looks_like(text: str, json: str) -> None:
    assert in_every_way(DICT, text) == Read(json, len(text))


@pytest.mark.parametrize(
    ("text", "end", "error"),
    [
        ("{a:}", 3, "expected a value"),
        ("{a}", 2, "expected ':'"),
        ("{:1}", 1, "expected a key"),
        ('{a:b<|"|>c<|"|>}', 4, "expected a value"),
        ("{a:" + "b" * (BARE_LIMIT + 1) + "}", BARE_LIMIT + 3, "bare text is too long"),
        ("{" + "b" * (BARE_LIMIT + 1) + ":1}", BARE_LIMIT + 1, "bare text is too long"),
    ],
)
def test_bare_text_that_is_nothing_is_refused(text: str, end: int, error: str) -> None:
    found = in_every_way(DICT, text)
    assert (found.end, found.error) == (end, error)


def test_bare_text_may_be_as_long_as_its_bound() -> None:
    text = "b" * BARE_LIMIT
    assert in_every_way(DICT, f"{{{text}:{text}}}").json == f'{{"{text}":"{text}"}}'


@pytest.mark.parametrize(
    ("text", "json", "end", "error"),
    [
        ("1</c>", "1", 1, ""),
        ("some <text> )", '"some <text>"', 11, ""),
        ("{a:1</c>", '{"a":', 4, "expected a value"),
        ("{a:[x)]}", '{"a":[', 5, "expected a value"),
        ("{a</c>:1}", '{"a"', 2, "expected ':'"),
        ("{a:<q></c>)<q>}", '{"a":"</c>)"}', 15, ""),
    ],
)
def test_bare_text_ends_before_what_is_around_it(text: str, json: str, end: int, error: str) -> None:
    found = in_every_way(bare_dict("<q>", "</c>", ")"), text)
    assert found == Read(json, end, error, not error)


def test_bare_dicts_have_strings_in_single_quotes() -> None:
    assert in_every_way(DICT, r"{a:'x, {y}',b:'it\'s','c':'it's'}").json == """{"a":"x, {y}","b":"it's","c":"it's"}"""


# What a call wants to know


def test_the_members_of_an_object_are_noted_as_json_writes_them() -> None:
    transcoder = Transcoder(PYTHON, watch=True)
    for char in "{'a\"': 'x', 'b': 5., 3: (), 'n': {'inner': 1}, 't': True, 'i': -1, None: None}":
        transcoder.feed(char)
    assert transcoder.kind == "object"
    members = [('a\\"', "string"), ("b", "number"), ("3", "array"), ("n", "object")]
    assert transcoder.members == [*members, ("t", "boolean"), ("i", "integer"), ("null", "null")]


def test_a_copy_goes_its_own_way() -> None:
    transcoder = Transcoder(PYTHON, watch=True)
    transcoder.feed("{'a': 1, 'b")
    other = transcoder.copy()
    assert (transcoder.feed("c': Tr"), transcoder.held) == (('c": ', 6), 2)
    assert (other.feed("': [1]}"), other.held) == (('": [1]}', 7), 0)
    assert (other.done, other.members) == (True, [("a", "integer"), ("b", "array")])
    assert (transcoder.feed("ue}"), transcoder.members) == (("true}", 3), [("a", "integer"), ("bc", "boolean")])
