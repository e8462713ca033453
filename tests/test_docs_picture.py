"""Pictures of outputs: every character in its cell, in the colour of what it became, and readable."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from docs.picture import CELL, COLUMNS, FEED, GOES_ON, GROUND, MARGIN, picture, placed
from dragoman import get_dialect
from dragoman.cli.looks import LOOKS
from dragoman.cli.spans import Span, example_spans

SVG = "{http://www.w3.org/2000/svg}"


def columns(text: str, *spans: Span) -> list[list[tuple[str, int]]]:
    return [[(glyph.text, glyph.column) for glyph in line] for line in placed(text, spans or [Span(0, len(text), "a")])]


def test_characters_stand_in_cells_and_full_width_ones_fill_two() -> None:
    assert columns("a｜b") == [[("a", 0), ("｜", 1), ("b", 3)]]


def test_a_tab_reaches_to_its_stop() -> None:
    assert columns("ab\tc\td") == [[("a", 0), ("b", 1), ("\t", 2), ("c", 8), ("\t", 9), ("d", 16)]]


def test_a_line_feed_ends_its_line_and_belongs_to_its_span() -> None:
    lines = list(placed("a\n\nb", [Span(0, 2, "markup"), Span(2, 4, "content")]))
    assert [[(glyph.text, glyph.kind) for glyph in line] for line in lines] == [
        [("a", "markup"), ("\n", "markup")],
        [("\n", "content")],
        [("b", "content")],
    ]


def test_a_long_line_goes_on_in_the_next_one() -> None:
    first, second = columns("x" * (COLUMNS + 2))
    assert first[-1] == (GOES_ON, COLUMNS)
    assert second == [("x", 0), ("x", 1)]


def test_a_long_line_is_rather_broken_where_a_span_begins() -> None:
    first, second = columns("x" * 200, Span(0, COLUMNS - 5, "content"), Span(COLUMNS - 5, 200, "markup"))
    assert first[-1] == (GOES_ON, COLUMNS - 5)
    assert second[0] == ("x", 0)
    assert len(second) == 200 - COLUMNS + 5


def test_the_picture_holds_the_text_to_select() -> None:
    dialect = get_dialect("kimi_vl")
    text = dialect.examples[0].text
    root = ElementTree.fromstring(picture(text, example_spans(dialect, dialect.examples[0]), "a <title>"))
    lines = ["".join(line.itertext()) for line in root.iter(f"{SVG}text")]
    assert "".join(lines[-text.count("\n") - 1 :]).replace(FEED, "\n") == text
    assert root.findtext(f"{SVG}title") == "a <title>"


def test_every_character_has_its_place() -> None:
    drawn = ElementTree.fromstring(picture("a｜𝄞b", [Span(0, 4, "content")], ""))
    (span,) = [span for span in drawn.iter(f"{SVG}tspan") if span.text == "a｜𝄞b"]
    places = [MARGIN + CELL * cell for cell in (0, 1, 3, 3, 4)]
    assert span.get("x") == " ".join(map(str, places))


def test_nothing_is_loaded_from_elsewhere() -> None:
    drawn = picture("a", [Span(0, 1, "content")], "")
    assert re.findall(r"\w+://[^\"]+", drawn) == ["http://www.w3.org/2000/svg"]
    assert "@" not in drawn


def test_a_text_that_looks_like_markup_stays_text() -> None:
    drawn = ElementTree.fromstring(picture("<a href='x'>&amp;]]>", [Span(0, 20, "content")], ""))
    assert "<a href='x'>&amp;]]>" in "".join(drawn.itertext())


@pytest.mark.parametrize("kind", LOOKS)
def test_colours_can_be_read_on_their_ground(kind: str) -> None:
    look = LOOKS[kind]
    light, dark = sorted((luminance(look.colour), luminance(look.ground or GROUND)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def luminance(colour: str) -> float:
    """The relative luminance of the WCAG."""
    shares = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return sum(share * part for share, part in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))
