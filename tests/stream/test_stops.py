"""Stop strings: the answer ends before the first of them, however it arrives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.stream.stops import StopScanner
from tests.streams import cut, cuts, hard

STOPS = st.lists(st.text("ab<", max_size=4), max_size=4).map(tuple)
TEXTS = st.text("ab<", max_size=24)


def scanned(stops: tuple[str, ...], *chunks: str, keep: bool = False) -> tuple[str, str | None]:
    """The visible text and the stop that ended it."""
    scanner = StopScanner(stops, keep=keep)
    text = "".join([*(scanner.feed(chunk) for chunk in chunks), scanner.finish()])
    return text, scanner.matched


def literal(stops: tuple[str, ...], text: str, keep: bool) -> tuple[str, str | None]:
    """The same, place by place."""
    for at in range(len(text)):
        for stop in sorted(filter(None, stops), key=len):
            if text.startswith(stop, at):
                return text[: at + len(stop) * keep], stop
    return text, None


@pytest.mark.parametrize(
    ("stops", "text", "expected"),
    [
        ((), "Four.", ("Four.", None)),
        (("END",), "Four. END Five.", ("Four. ", "END")),
        (("END",), "Four. EN", ("Four. EN", None)),
        (("b", "a"), "xab", ("x", "a")),
        (("ab", "abc"), "xabc", ("x", "ab")),
        (("bc", "abcd"), "xabcd", ("x", "abcd")),
        (("bc", "abcd"), "xabce", ("xa", "bc")),
        (("bc", "abcd"), "xabc", ("xa", "bc")),
        (("", "é"), "née", ("n", "é")),
    ],
)
def test_the_leftmost_stop_cuts_and_at_one_place_the_shortest(
    stops: tuple[str, ...], text: str, expected: tuple[str, str | None]
) -> None:
    assert scanned(stops, text) == scanned(stops, *text) == expected


def test_a_stop_may_be_kept() -> None:
    assert scanned(("END",), "Four. E", "ND Five.", keep=True) == ("Four. END", "END")


def test_only_what_may_become_a_stop_is_held() -> None:
    scanner = StopScanner(("<end>",))
    assert [scanner.feed(chunk) for chunk in ("a <", "e", "f <<en", "ds>")] == ["a ", "", "<ef <", "<ends>"]
    assert (scanner.held, scanner.matched) == (0, None)


def test_nothing_comes_out_behind_a_stop() -> None:
    scanner = StopScanner(("x",))
    assert [scanner.feed("ax"), scanner.feed("b"), scanner.finish()] == ["a", "", ""]


@hard
@given(STOPS, TEXTS, cuts(), st.booleans())
def test_the_cut_is_the_same_however_the_text_arrives(
    stops: tuple[str, ...], text: str, places: list[int], keep: bool
) -> None:
    expected = literal(stops, text, keep)
    assert scanned(stops, text, keep=keep) == expected
    assert scanned(stops, *text, keep=keep) == expected
    assert scanned(stops, *cut(text, places), keep=keep) == expected


@hard
@given(STOPS, TEXTS)
def test_less_is_held_than_the_longest_stop_has(stops: tuple[str, ...], text: str) -> None:
    scanner = StopScanner(stops)
    for char in text:
        scanner.feed(char)
        assert scanner.held <= max(map(len, stops), default=1) - 1 or scanner.held == 0


def test_a_long_stop_is_no_trouble() -> None:
    stop = "ab" * 5000
    assert scanned((stop,), "x" + stop[:-1], "c") == ("x" + stop[:-1] + "c", None)
    assert scanned((stop,), "x" + stop[:-1], "b") == ("x", stop)
