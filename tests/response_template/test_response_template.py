"""Declared dialects: what they read and write, and that they keep every promise."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from dragoman import Message, Parser, parse
from dragoman.conformance import SCENARIOS, Case, check_case, read_suite
from dragoman.errors import Inexpressible, InvalidDialect, InvalidTemplate
from dragoman.events import CallEnd, Problem, TagDelta
from dragoman.response_template import response_template
from dragoman.testing import check_dialect
from dragoman.types import Part, TextPart, ThinkingPart, Tool, ToolCall, UnparsedToolCall
from tests.response_template.declarations import ALL, COHERE, GEMMA, GPT, HERMES, NAMED, QWEN, TAGS, UNCLOSED

SUITE = read_suite(Path(__file__).with_name("hf_template.toml"), response_template(HERMES))
WEATHER = Tool("f", "", {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}})


def read(declaration: dict[str, Any], text: str, start: str = "content") -> tuple[tuple[Part, ...], list[str]]:
    """The parts of the message, and the kinds of all problems."""
    parser = Parser(response_template(declaration), start=start, tools=[WEATHER])
    events = parser.feed(text) + parser.finish("stop")
    problems = [event.kind.value for event in events if isinstance(event, Problem)]
    inside = [problem.kind.value for event in events if isinstance(event, CallEnd) for problem in event.problems]
    return parse(text, response_template(declaration), start=start, tools=[WEATHER]).parts, problems + inside


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_a_declared_dialect_keeps_every_promise(name: str) -> None:
    report = check_dialect(response_template(ALL[name], name=name), max_examples=6, seed=1)
    assert report.ok, [result for result in report.results if result.status != "passed"]


@pytest.mark.parametrize(
    ("declaration", "text", "parts"),
    [
        (
            HERMES,
            'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call><|im_end|>',
            (TextPart("Hi."), ToolCall("f", '{"a": 1}')),
        ),
        (
            QWEN,
            "<think>\nHm.\n</think>\n\n<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n"
            "<parameter=b>\n1\n</parameter>\n</function>\n</tool_call><|im_end|>",
            (ThinkingPart("Hm."), ToolCall("f", '{"a": 1, "b": "1"}')),
        ),
        (
            GEMMA,
            '<|tool_call>call:f{a:1,b:<|"|>x "y"<|"|>}<tool_call|>Done.<turn|>',
            (ToolCall("f", '{"a":1,"b":"x \\"y\\""}'), TextPart("Done.")),
        ),
        (
            COHERE,
            '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}},\n'
            ' {"tool_name": "f", "parameters": {}}]<|END_ACTION|>',
            (ToolCall("f", '{"a": 1}', "0"), ToolCall("f", "{}")),
        ),
        (
            GPT,
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
            '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>',
            (ThinkingPart("Hm."), ToolCall("f", '{"a": 1}')),
        ),
        (GPT, "<|channel|>commentary to=functions.f code<|message|>a = 1<|call|>", (ToolCall("f", "a = 1"),)),
        (
            TAGS,
            ' to=self<|message|>Hm.<|eom|><|start|>assistant<calls><invoke x="y" name="f">'
            '<parameter name="a">1</parameter></invoke>',
            (ThinkingPart("Hm."), ToolCall("f", '{"a": 1}')),
        ),
        (UNCLOSED, 'Hi.[TOOL_CALLS][{"name": "f", "arguments": {}}]</s>', (TextPart("Hi."), ToolCall("f", "{}"))),
    ],
)
def test_a_declaration_is_read_as_it_says(declaration: dict[str, Any], text: str, parts: tuple[Part, ...]) -> None:
    found, problems = read(declaration, text)
    assert found == parts
    assert [kind for kind in problems if kind != "raw_arguments"] == []


@pytest.mark.parametrize("case", SUITE.cases, ids=lambda case: case.where)
def test_a_case_of_a_declared_dialect_is_read_as_it_says(case: Case) -> None:
    check_case(response_template(HERMES), case)


def test_every_scenario_has_a_case() -> None:
    assert {case.scenario for case in SUITE.cases} == set(SCENARIOS)


def test_a_field_of_ones_own_comes_as_a_tag() -> None:
    parser = Parser(response_template(TAGS))
    events = parser.feed("<mood> glad\n</mood>to=user<|message|>Hi.<|eot|>") + parser.finish()
    assert [(event.tag, event.text) for event in events if isinstance(event, TagDelta)] == [("mood", " glad\n")]


def test_the_turn_may_begin_inside_a_thought() -> None:
    assert read(HERMES, "Hm.\n</think>\n\nHi.", "reasoning") == ((ThinkingPart("Hm."), TextPart("Hi.")), [])


def test_the_anchor_and_what_closes_the_rest_are_known_of_the_dialect() -> None:
    dialect = response_template(HERMES)
    assert (dialect.turns, set(dialect.stops)) == (("<|im_start|>assistant\n",), {"<|im_end|>", "<|endoftext|>"})
    assert Parser(dialect, prompt="<|im_start|>assistant\n<think>\n").feed("Hm.")
    assert response_template(HERMES, stops=("<.>",)).stops == ("<.>",)


# Bad output


def test_a_closer_within_a_string_closes_nothing() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"b": "</tool_call>"}}</tool_call>'
    assert read(HERMES, text) == ((ToolCall("f", '{"b": "</tool_call>"}'),), [])


def test_a_call_that_breaks_is_kept_and_reading_goes_on() -> None:
    call = "<tool_call><function=f><parameter a>1</parameter></tool_call>"
    (broken, answer), problems = read(QWEN, call + "Hi.")
    assert isinstance(broken, UnparsedToolCall)
    assert (broken.name, broken.raw, answer, problems) == ("f", call, TextPart("Hi."), ["malformed"])


def test_text_outside_of_all_fields_is_kept_and_reported() -> None:
    assert read(GPT, "Hi.") == ((TextPart("Hi."),), ["malformed_header"])


def test_a_closer_with_nothing_open_is_taken_out_and_reported() -> None:
    assert read(HERMES, "Hi.</think>") == ((TextPart("Hi."),), ["orphan_marker"])


def test_a_thought_that_is_not_closed_is_reported() -> None:
    assert read(QWEN, "<think>Hm. <b>") == ((ThinkingPart("Hm. <b>"),), ["unclosed_reasoning"])


# Writing


def test_a_message_is_written_as_the_patterns_have_it() -> None:
    message = Message("assistant", (ThinkingPart("Hm."), ToolCall("f", '{"a": 1}')))
    written = '<|channel|>analysis<|message|>Hm.<|end|><|channel|>commentary to=functions.f<|message|>{"a": 1}<|call|>'
    assert response_template(GPT).render(message) == written


@pytest.mark.parametrize(
    ("declaration", "part"),
    [
        (GEMMA, ToolCall("f", "{}")),
        (GPT, ToolCall("two words", "{}")),
        (HERMES, TextPart("Hi.\n")),
        (HERMES, TextPart("<think>")),
        (QWEN, ToolCall("f", '{"two words": 1}')),
        (QWEN, ToolCall("f", '{"a": " 1"}')),
        (TAGS, ToolCall("f", '{"a": "1"}')),
        (TAGS, ToolCall("f", '{"a": "1</parameter>"}')),
    ],
)
def test_what_the_declaration_cannot_say_is_not_written(declaration: dict[str, Any], part: Part) -> None:
    with pytest.raises(Inexpressible):
        response_template(declaration).render(Message("assistant", (part,)))


def test_without_a_closer_only_one_call_is_written() -> None:
    with pytest.raises(Inexpressible, match="nothing closes a call"):
        response_template(UNCLOSED).render(Message("assistant", (ToolCall("f", "{}"), ToolCall("f", "{}"))))


def test_without_a_field_for_content_no_text_is_written() -> None:
    calls = {"start_anchor": "A", "fields": {"tool_calls": HERMES["fields"]["tool_calls"]}}
    with pytest.raises(Inexpressible, match="no content"):
        response_template(calls).render(Message("assistant", (TextPart("Hi."),)))


# Declarations that are refused


def changed(declaration: dict[str, Any], field: str, **keys: Any) -> dict[str, Any]:
    other = deepcopy(declaration)
    other["fields"][field] |= keys
    return other


TOOLS = HERMES["fields"]["tool_calls"]


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ([], "response_template: expected an object, found []"),
        (HERMES | {"version": 2}, "version: expected 1, found 2"),
        (HERMES | {"extra": 1}, "response_template: expected some of defaults, fields, "),
        (HERMES | {"fields": {}}, "fields: expected at least one field, found none"),
        ({"fields": HERMES["fields"]}, "expected start_anchor or start_anchor_pattern, found neither; say what begins"),
        (HERMES | {"start_anchor_pattern": "a"}, "expected start_anchor or start_anchor_pattern, found both"),
        (HERMES | {"start_anchor": ""}, "start_anchor: expected a string or a list of strings, none of them empty"),
        (HERMES | {"defaults": 1}, "defaults: expected an object, found 1"),
        (changed(HERMES, "thinking", open=None), "one field without open at most, found thinking and content"),
        (changed(HERMES, "thinking", shape=1), "fields.thinking: expected some of close, close_pattern, "),
        (changed(HERMES, "thinking", content="yaml"), "thinking.content: expected one of text, int, "),
        (changed(HERMES, "thinking", content="json"), "thinking.content: expected text, found json"),
        (changed(HERMES, "thinking", repeats=1), "thinking.repeats: expected true or false, found 1"),
        (changed(HERMES, "thinking", join="\n"), "thinking.join: expected a string, in a field that repeats"),
        (changed(HERMES, "thinking", content_args={"x": 1}), "content_args: expected some of strip, found x"),
        (changed(HERMES, "thinking", transform_each=True), "transform_each: expected content json and a transform"),
        (
            changed(HERMES, "thinking", close=None, close_pattern=r"\w+"),
            "expected a pattern that begins with a literal",
        ),
        (
            changed(HERMES, "thinking", open=None, open_pattern=1),
            "open_pattern: expected a regular expression, found 1",
        ),
        (changed(HERMES, "thinking", open=None, open_pattern="("), "open_pattern: expected a regular expression"),
        (
            changed(HERMES, "thinking", open=None, open_pattern="(?P<n>a)"),
            "groups with a name only where a transform uses them, found n",
        ),
        (changed(HERMES, "thinking", open=None, open_pattern=r"\w+"), "expected a pattern that begins with a literal"),
        (changed(HERMES, "thinking", open=None, open_pattern="(?<=a)b"), "expected groups (..), (?:..), "),
        (changed(HERMES, "thinking", open=None, open_pattern=r"(a)\1"), r"found '\1' at 3"),
        (changed(HERMES, "thinking", open=None, open_pattern="^a"), "found '^' at 0"),
        (changed(HERMES, "thinking", open=None, open_pattern="a.*b"), "expected a repetition that the next character"),
        (changed(HERMES, "thinking", open=None, open_pattern="a.*?"), "expected a repetition that the next character"),
        (changed(HERMES, "tool_calls", content="kv-lines"), "tool_calls.content: expected json or xml-inline"),
        (
            changed(HERMES, "tool_calls", close=None, close_pattern="</t.>"),
            "close_pattern: expected a few literals for such",
        ),
        (changed(HERMES, "tool_calls", transform=[]), "tool_calls.transform: expected an object"),
        (changed(HERMES, "tool_calls", transform={"function": 1}), "expected a function with a name and arguments"),
        (
            changed(HERMES, "tool_calls", transform=NAMED),
            "transform.name: expected a group of open_pattern, or content",
        ),
        (
            changed(HERMES, "tool_calls", transform={"name": "f", "arguments": "{content}"}),
            "transform.name: expected one placeholder such as {name} or {content.name}, found f",
        ),
        (
            changed(HERMES, "tool_calls", transform={"name": "{content}", "arguments": "{content}"}),
            "expected a name from a group or a member, and arguments from the content",
        ),
        (
            changed(HERMES, "tool_calls", transform={"name": "{content.name}", "arguments": "{content}"}),
            "expected name and arguments both as members, or a group and all of the content",
        ),
        (
            changed(HERMES, "tool_calls", content_args={"unquoted_keys": True}),
            "content_args: expected JSON where the call's name is in it, found another notation",
        ),
        (
            changed(GEMMA, "tool_calls", content_args={"string_delims": [["<", ">"]]}),
            "string_delims: expected one pair of equal marks",
        ),
        (changed(QWEN, "tool_calls", content_args={}), "tag_pattern: expected a regular expression, found None"),
        (
            changed(QWEN, "tool_calls", content_args={"tag_pattern": "<(?P<key>a)", "merge_duplicates": True}),
            "merge_duplicates: expected false, found True; an argument that is given twice",
        ),
        (changed(QWEN, "tool_calls", content_args={"tag_pattern": "("}), "tag_pattern: expected a regular expression"),
        (changed(QWEN, "tool_calls", content_args={"tag_pattern": "<a>"}), "tag_pattern: expected text, a group 'key'"),
        (
            changed(QWEN, "tool_calls", content_args={"tag_pattern": "<(?P<key>a)>(?P<value>.*)"}),
            "tag_pattern: expected a literal behind the value",
        ),
        (
            changed(QWEN, "tool_calls", content_args={"tag_pattern": r"\w(?P<key>a)>(?P<value>.*?)<"}),
            "tag_pattern: expected a pattern that begins with a literal",
        ),
        (
            changed(QWEN, "tool_calls", content_args={"tag_pattern": "<(?P<key>a)>(?P<value>.*?)<", "value_parser": 1}),
            "value_parser: expected a name, one of text, json, int, float, bool, and args, found 1",
        ),
    ],
)
def test_what_cannot_be_honoured_is_refused_with_its_place(declaration: Any, message: str) -> None:
    with pytest.raises(InvalidTemplate) as caught:
        response_template(declaration)
    assert isinstance(caught.value, InvalidDialect)
    assert message in str(caught.value)
