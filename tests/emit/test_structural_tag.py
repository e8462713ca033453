"""Structural tags as JSON, and what is refused because xgrammar would read it otherwise."""

from __future__ import annotations

import pytest

from dragoman.emit.expand import expand
from dragoman.emit.gbnf import gbnf
from dragoman.emit.guarantees import Effect, Note
from dragoman.emit.rules import EMPTY, Repeat, Rules, Scan, Text, chars, choice
from dragoman.emit.structural_tag import (
    Format,
    FreeText,
    Json,
    Maybe,
    Separated,
    Series,
    Tag,
    Triggered,
    format_notes,
    structural_tag,
)
from dragoman.errors import DelimiterError
from dragoman.types import JSON

CITY: dict[str, JSON] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def made(given: Format) -> JSON:
    return structural_tag(given)["format"]


def test_calls_in_free_text_become_triggered_tags() -> None:
    weather = Tag('<tool_call>{"name": "weather", "arguments": ', Json(CITY, "weather"), "}</tool_call>")
    clock = Tag("<tool_call>clock", Rules({"root": Text("now")}))
    given = Triggered(("<tool_call>",), (weather, clock), one_only=True, excludes=("<think>",))
    assert structural_tag(given) == {
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": ["<tool_call>"],
            "tags": [
                {
                    "type": "tag",
                    "begin": '<tool_call>{"name": "weather", "arguments": ',
                    "content": {"type": "json_schema", "json_schema": CITY},
                    "end": "}</tool_call>",
                },
                {
                    "type": "tag",
                    "begin": "<tool_call>clock",
                    "content": {"type": "grammar", "grammar": 'root ::= "now"\n'},
                    "end": "",
                },
            ],
            "at_least_one": False,
            "stop_after_first": True,
            "excludes": ["<think>"],
        },
    }


def test_thoughts_before_calls_become_a_sequence() -> None:
    thoughts = Maybe(Tag("<think>", FreeText(("<think>",)), "</think>"))
    calls = Separated((Tag("[", Json(True, any_order=True, whitespace=2), "]"),), ",", at_least_one=True)
    value = {"type": "json_schema", "json_schema": True, "any_order": True, "max_whitespace_cnt": 2}
    assert made(Series((thoughts, "\n\n", calls))) == {
        "type": "sequence",
        "elements": [
            {
                "type": "optional",
                "content": {
                    "type": "tag",
                    "begin": "<think>",
                    "content": {"type": "any_text", "excludes": ["<think>"]},
                    "end": "</think>",
                },
            },
            {"type": "const_string", "value": "\n\n"},
            {
                "type": "tags_with_separator",
                "tags": [{"type": "tag", "begin": "[", "content": value, "end": "]"}],
                "separator": ",",
                "at_least_one": True,
                "stop_after_first": False,
            },
        ],
    }


def test_rules_alone_are_a_grammar() -> None:
    assert made(Rules({"root": Text("yes")})) == {"type": "grammar", "grammar": 'root ::= "yes"\n'}


CALL = Tag("<a>", FreeText(), "</a>")
BORDERED = "\n</a>\n"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (Tag("<a>", FreeText(), BORDERED), "free text could go on into a second end"),
        (Tag("<a>", Triggered(("<a>",), (CALL,)), BORDERED), "free text could go on into a second end"),
        (Tag("<a>", Maybe(FreeText()), BORDERED), "free text could go on into a second end"),
        (Tag("<a>", Series((CALL, FreeText())), BORDERED), "free text could go on into a second end"),
        (Triggered(("<a>", "<b>"), (CALL,), excludes=("<a>x",)), "'<a>' is a prefix of '<a>x'"),
        (Triggered(("<a>",), (CALL,), excludes=("x<a>y",)), "'x<a>y' contains '<a>', and not only at its end"),
        (Triggered(("<a>",), (CALL,), excludes=("a>",)), "'a>' ends the trigger '<a>'"),
        (Triggered(("",), (CALL,)), "a delimiter is empty"),
        (Triggered(("<b>",), (CALL,)), "0 triggers begin it"),
    ],
)
def test_what_xgrammar_would_read_otherwise_is_refused(given: Format, problem: str) -> None:
    with pytest.raises(DelimiterError) as caught:
        structural_tag(given)
    assert caught.value.problem == problem


@pytest.mark.parametrize("content", [Rules({"root": Text("x")}), Json(True), Series((FreeText(), CALL)), Series(())])
def test_an_end_may_overlap_itself_behind_what_ends_by_itself(content: Format) -> None:
    structural_tag(Tag("<a>", content, BORDERED))


def test_notes_of_all_parts_are_collected_once() -> None:
    pair: JSON = {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False}
    assert isinstance(pair, dict)
    tag = Tag("<a>", Json(pair, "pair"), "</a>")
    calls = Series((Maybe(CALL), "x", Triggered(("<a>",), (tag,), at_least_one=True), Separated((tag,))))
    assert format_notes(calls) == (
        Note(Effect.NARROWED, "text", "", "nothing can stand before the first call"),
        Note(Effect.NARROWED, "order", "pair", "xgrammar takes members in the order of the schema"),
    )
    assert format_notes(Rules({"root": Text("yes")})) == ()


def test_what_is_lost_in_rules_is_noted_too() -> None:
    bounded = Repeat(choice(chars("<", negated=True), "<<"), 0, 9)
    assert [note.what for note in format_notes(Tag("<a>", Rules({"root": bounded})))] == ["count"]


def test_rules_can_be_printed_for_older_servers() -> None:
    given = Rules({"root": Scan((("</a>", EMPTY),))})
    assert structural_tag(given)["format"] == {
        "type": "grammar",
        "grammar": 'root ::= to-a\nto-a[lazy] ::= [^]* "</a>"\n',
    }
    assert "lazy" not in str(structural_tag(given, lambda rules: gbnf(expand(rules)[0])))
