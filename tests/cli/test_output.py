"""Ink and tables, on a terminal that is a string."""

from __future__ import annotations

import io

from rich.console import Console
from rich.text import Text

from dragoman.cli.output import Ink, open_console, table, visible


def screen() -> tuple[io.StringIO, Console]:
    page = io.StringIO()
    return page, Console(file=page, force_terminal=True, color_system="truecolor", width=40)


def test_a_terminal_gets_colour() -> None:
    page, console = screen()
    Ink(console).write("thought", "italic")
    assert page.getvalue() == "\x1b[3mthought\x1b[0m"


def test_a_terminal_never_gets_the_models_own_escapes() -> None:
    page, console = screen()
    Ink(console).write("\x1b]0;owned\x07 \x9b31m \x7f", "")
    assert page.getvalue() == "␛]0;owned␇ \ufffd31m ␡"


def test_a_pipe_gets_every_character_as_it_is() -> None:
    page = io.StringIO()
    Ink(open_console(page)).write("\x1b[31m\ttab\r\n", "bold red")
    assert page.getvalue() == "\x1b[31m\ttab\r\n"


def test_a_long_line_is_not_wrapped() -> None:
    page, console = screen()
    Ink(console).write("x" * 100)
    assert page.getvalue() == "x" * 100


def test_a_line_begins_at_the_start_of_a_line() -> None:
    page = io.StringIO()
    ink = Ink(open_console(page))
    ink.write("a")
    ink.line("b")
    ink.line("c")
    assert page.getvalue() == "a\nb\nc\n"


def test_a_piped_table_lines_up_wide_characters() -> None:
    page = io.StringIO()
    table(open_console(page), ("name", "text"), [("山", "x"), ("ab", Text("y\nz", style="red"))])
    assert page.getvalue() == "name  text\n山    x\nab    y z\n"


def test_a_table_in_a_terminal_keeps_its_cells() -> None:
    page, console = screen()
    table(console, ("name",), [(Text("ok", style="green"),), ("\x1b",)])
    assert "\x1b[32mok" in page.getvalue()
    assert "␛" in page.getvalue()


def test_a_narrow_terminal_folds_cells_and_drops_nothing() -> None:
    page, console = screen()
    table(console, ("name", "models"), [("x" * 30, "y" * 30)])
    assert page.getvalue().count("x") == 30
    assert page.getvalue().count("y") == 30


def test_characters_that_a_stream_cannot_encode_are_escaped() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Ink(open_console(stream)).write("é")
    assert raw.getvalue() == b"\\xe9"


def test_printable_text_is_left_alone() -> None:
    assert visible("naïve 山 🥖") == "naïve 山 🥖"
