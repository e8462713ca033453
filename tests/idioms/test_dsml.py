"""Tags that begin with a control token and tell their kinds: how a block is named, divided and left out."""

from __future__ import annotations

import pytest

from dragoman import Dialect, Message, parse
from dragoman.idioms import Think, define, dsml
from dragoman.testing import check_dialect
from dragoman.types import Part, TextPart, ThinkingPart, ToolCall

F, G = ToolCall("f", "{}"), ToolCall("g", '{"x": "1", "y": 1}')


def own(blank: str = "", *, led: bool = True) -> Dialect:
    calls = dsml("uses", token="#", blank=blank, led=led)
    think = Think.tight("<plan>", "</plan>")
    return define("An own one.", name="own", source="made up", think=think, calls=calls, stops=("<.>",), prose=False)


PLAIN, BLANK, TIGHT = own(), own(" "), own(led=False)


def told(text: str, dialect: Dialect = PLAIN) -> tuple[Part, ...]:
    return parse(text, dialect).parts


def written(dialect: Dialect, *parts: Part) -> str:
    return dialect.render(Message("assistant", parts))


@pytest.mark.slow
@pytest.mark.parametrize("dialect", [PLAIN, BLANK, TIGHT], ids=["plain", "blank", "tight"])
def test_it_keeps_every_promise(dialect: Dialect) -> None:
    report = check_dialect(dialect, max_examples=6)
    assert report.ok, [result for result in report.results if result.status != "passed"]


def test_a_led_block_stands_behind_an_empty_line_even_if_it_is_first() -> None:
    block = '\n\n<#uses>\n<#invoke name="f">\n\n</#invoke>\n</#uses>'
    assert written(PLAIN, F) == block
    assert written(PLAIN, ThinkingPart("A"), F) == f"<plan>A</plan>{block}"
    assert written(PLAIN, TextPart("A"), F) == f"A{block}"


def test_another_one_does_so_behind_text_alone() -> None:
    block = '<#uses>\n<#invoke name="f">\n</#invoke>\n</#uses>'
    assert written(TIGHT, F) == block
    assert written(TIGHT, ThinkingPart("A"), F) == f"<plan>A</plan>{block}"
    assert written(TIGHT, TextPart("A"), F) == f"A\n\n{block}"


def test_a_blank_stands_behind_each_token() -> None:
    assert written(BLANK, G) == (
        '\n\n<# uses>\n<# invoke name="g">\n<# parameter name="x" string="true">1</# parameter>\n'
        '<# parameter name="y" string="false">1</# parameter>\n</# invoke>\n</# uses>'
    )


@pytest.mark.parametrize("opener", ["<#uses>", "<# uses>", "<#tool_calls>", "<# calls>", "<#toolcalls>", ""])
@pytest.mark.parametrize("closer", ["</#uses>", "</#function_calls>", ""])
def test_a_block_may_have_another_name_or_none(opener: str, closer: str) -> None:
    assert told(f'{opener}<#invoke name="f"></#invoke>{closer}') == (F,)


@pytest.mark.parametrize(
    "text",
    [
        '<#uses><#invoke name="f"/></#uses>',
        '<#invoke name="f"/>',
        '<#uses>\n<#invoke name="f"/>\n</#uses><.>',
        '<#uses><#invoke name="f"/>',
    ],
)
def test_a_tag_that_closes_itself_is_a_call_without_arguments(text: str) -> None:
    assert told(text) == (F,)


def test_an_opener_is_text_where_no_call_follows() -> None:
    assert told('<#uses> and <#invoke name="f" /> are tags') == (TextPart('<#uses> and <#invoke name="f" /> are tags'),)
