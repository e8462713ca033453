"""Bytes to text: as Python decodes them, however they are cut, and with every byte that is no UTF-8 named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Parser
from dragoman.events import ContentDelta, Problem, ProblemKind, Stop, merge
from dragoman.parse.decode import Utf8
from tests.streams import cut, cuts, hard


def decoded(*chunks: bytes) -> list[str | bytes]:
    """The pieces, neighbouring texts joined."""
    decoder = Utf8()
    pieces: list[str | bytes] = []
    for piece in [*(piece for chunk in chunks for piece in decoder.feed(chunk)), *decoder.finish()]:
        if isinstance(piece, str) and pieces and isinstance(last := pieces[-1], str):
            pieces[-1] = last + piece
        else:
            pieces.append(piece)
    return pieces


TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("é€🙂"), max_size=12)
SCRAPS = st.lists(
    st.binary(max_size=3) | TEXTS.map(str.encode) | st.sampled_from([b"\xe2\x82", b"\xf0\x9f", b"\xed\xa0"])
)


@given(TEXTS)
def test_utf8_is_decoded_whole_and_at_every_cut(text: str) -> None:
    whole = text.encode()
    expected = [text] if text else []
    for at in range(len(whole) + 1):
        assert decoded(whole[:at], whole[at:]) == expected


@hard
@given(SCRAPS.map(b"".join), cuts())
def test_any_bytes_are_decoded_the_same_however_they_are_cut(whole: bytes, places: list[int]) -> None:
    expected = decoded(whole)
    assert decoded(*(whole[at : at + 1] for at in range(len(whole)))) == expected
    assert decoded(*cut(whole, places)) == expected


@hard
@given(SCRAPS.map(b"".join))
def test_no_byte_is_lost(whole: bytes) -> None:
    pieces = decoded(whole)
    kept = [piece if isinstance(piece, bytes) else piece.replace("\ufffd", "").encode() for piece in pieces]
    assert b"".join(kept) == whole.replace("\ufffd".encode(), b"")


@pytest.mark.parametrize(
    ("whole", "pieces"),
    [
        (b"a\xffb", ["a\ufffd", b"\xff", "b"]),
        (b"\xff\xfe", ["\ufffd", b"\xff", "\ufffd", b"\xfe"]),
        (b"\xe2\x82", ["\ufffd", b"\xe2", "\ufffd", b"\x82"]),
        (b"\xe2\x82x", ["\ufffd", b"\xe2", "\ufffd", b"\x82", "x"]),
        (b"\xc0\x80", ["\ufffd", b"\xc0", "\ufffd", b"\x80"]),
        (b"\xed\xa0\x80", ["\ufffd", b"\xed", "\ufffd", b"\xa0", "\ufffd", b"\x80"]),
        ("\ufffd".encode(), ["\ufffd"]),
    ],
)
def test_each_byte_that_is_no_character_is_replaced_and_named(whole: bytes, pieces: list[str | bytes]) -> None:
    assert decoded(whole) == pieces


def test_a_copy_has_its_own_half_of_a_character() -> None:
    decoder = Utf8()
    assert decoder.feed("é".encode()[:1]) == []
    other = decoder.copy()
    assert decoder.feed("é".encode()[1:]) == ["é"]
    assert other.finish() == ["\ufffd", b"\xc3"]


def test_a_parser_reports_each_byte_in_hexadecimal_where_it_stands() -> None:
    parser = Parser("hermes")
    events = parser.feed_bytes(b"a\xff") + parser.feed_bytes(b"\xe2\x82") + parser.finish("stop")
    detail = "not UTF-8: read as U+FFFD"
    assert merge(events) == [
        ContentDelta("a\ufffd", 0, 2),
        Problem(ProblemKind.INVALID_UTF8, "ff", detail, 2, 2),
        ContentDelta("\ufffd", 2, 3),
        Problem(ProblemKind.INVALID_UTF8, "e2", detail, 3, 3),
        ContentDelta("\ufffd", 3, 4),
        Problem(ProblemKind.INVALID_UTF8, "82", detail, 4, 4),
        Stop("stop", None, 4, 4),
    ]


@hard
@given(SCRAPS.map(b"<tool_call>".join), cuts())
def test_a_parsers_events_do_not_depend_on_how_any_bytes_are_cut(whole: bytes, places: list[int]) -> None:
    results = []
    for pieces in ([whole], [whole[at : at + 1] for at in range(len(whole))], cut(whole, places)):
        parser = Parser("hermes")
        results.append(merge([event for piece in pieces for event in parser.feed_bytes(piece)] + parser.finish()))
    assert results[0] == results[1] == results[2]
