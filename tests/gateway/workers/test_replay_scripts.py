"""What a replayed model says, in every dialect: read without a problem, and what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from json import loads

import pytest
from jsonschema import Draft202012Validator

from dragoman.constrain.layout import CALL, layout_of
from dragoman.dialect import Dialect
from dragoman.errors import Inexpressible
from dragoman.events import CallEnd, Problem
from dragoman.gateway.workers.replay_scripts import ANSWER, scene_of, script_for
from dragoman.parse.assemble import assemble
from dragoman.parse.parser import Parser
from dragoman.recordings import Recording, recordings
from dragoman.registry import dialects, get_dialect
from dragoman.types import JSON, Message, TextPart, ThinkingPart

FEW = ("generic", "guided_json", "harmony", "hermes", "kimi_k2", "qwen3_coder")
SCHEMA: JSON = {
    "type": "object",
    "required": ["place", "guests", "extras"],
    "properties": {
        "place": {"type": "string"},
        "guests": {"type": "integer", "minimum": 1, "maximum": 4},
        "extras": {"type": "object", "required": ["window"], "properties": {"window": {"type": "boolean"}}},
        "note": {"type": ["string", "null"]},
    },
}
TOOL: JSON = {"type": "function", "function": {"name": "book_table", "description": "Books.", "parameters": SCHEMA}}
ASK: JSON = [{"role": "user", "content": "A table for two, please."}]
TOLD: JSON = [{"role": "user", "content": "?"}, {"role": "tool", "content": "table 7\n is free", "tool_call_id": "a"}]


def said(dialect: Dialect, chat: Mapping[str, JSON], begun: str = "", seed: int = 0) -> Message:
    """What the parser makes of the script; there is no problem in it."""
    script = script_for(scene_of(dialect.name, begun, chat, seed))
    tools = chat.get("tools", [])
    assert isinstance(tools, list)
    parser = Parser(dialect, tools, prefill=begun)
    events = [*parser.feed(script), *parser.finish("stop")]
    assert [event for event in events if isinstance(event, Problem)] == []
    assert [event.problems for event in events if isinstance(event, CallEnd) and event.problems] == []
    return assemble(events)


def opened(dialect: Dialect) -> str:
    """What stands before a thought, as prompts end with it; nothing where there are no thoughts."""
    try:
        written = dialect.render(Message("assistant", (ThinkingPart("Hm."), TextPart("So."))))
    except Inexpressible:
        return ""
    return written[: written.index("Hm.")]


def check_call(dialect: Dialect) -> None:
    calls = said(dialect, {"messages": ASK, "tools": [TOOL]}).tool_calls
    if CALL in layout_of(dialect).kinds:
        assert [call.name for call in calls] == ["book_table"]
        Draft202012Validator(SCHEMA).validate(loads(calls[0].arguments))


def check_answer(dialect: Dialect) -> None:
    message = said(dialect, {"messages": ASK})
    assert message.text
    assert not message.tool_calls


def check_thought(dialect: Dialect) -> None:
    begun = opened(dialect)
    message = said(dialect, {"messages": ASK}, begun)
    assert message.text
    assert bool(message.thinking) == bool(begun)


@pytest.mark.parametrize("name", FEW)
def test_with_tools_one_of_them_is_called(name: str) -> None:
    check_call(get_dialect(name))


@pytest.mark.slow
@pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)
def test_with_tools_one_of_them_is_called_in_every_dialect(dialect: Dialect) -> None:
    check_call(dialect)


@pytest.mark.parametrize("name", FEW)
def test_without_tools_there_is_an_answer(name: str) -> None:
    check_answer(get_dialect(name))


@pytest.mark.slow
@pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)
def test_without_tools_there_is_an_answer_in_every_dialect(dialect: Dialect) -> None:
    check_answer(dialect)


@pytest.mark.parametrize("name", FEW)
def test_a_thought_that_the_prompt_has_begun_goes_on(name: str) -> None:
    check_thought(get_dialect(name))


@pytest.mark.slow
@pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)
def test_a_thought_that_the_prompt_has_begun_goes_on_in_every_dialect(dialect: Dialect) -> None:
    check_thought(dialect)


def test_a_thought_that_the_prompt_has_closed_is_over() -> None:
    message = said(get_dialect("hermes"), {"messages": ASK}, "<think>\n\n</think>\n\n")
    assert message == Message("assistant", (TextPart(ANSWER),))


def test_a_sentence_that_the_prompt_has_begun_goes_on() -> None:
    assert said(get_dialect("hermes"), {"messages": ASK}, "Well, ").text == ANSWER


def test_a_call_that_the_prompt_has_begun_goes_on() -> None:
    begun = '<tool_call>\n{"name": "book_table", "arguments": '
    calls = said(get_dialect("hermes"), {"messages": ASK, "tools": [TOOL]}, begun).tool_calls
    assert [call.name for call in calls] == ["book_table"]


def test_a_result_is_used_for_an_answer() -> None:
    message = said(get_dialect("hermes"), {"messages": TOLD, "tools": [TOOL]})
    assert message.text == "The tool says: table 7 is free"
    assert not message.tool_calls


def test_a_result_in_parts_is_shown_as_json() -> None:
    told: JSON = [{"role": "tool", "content": [{"type": "text", "text": "é"}]}]
    assert said(get_dialect("hermes"), {"messages": told}).text == 'The tool says: [{"type": "text", "text": "é"}]'


def test_a_long_result_is_cut() -> None:
    told: JSON = [{"role": "tool", "content": "word " * 1000}]
    assert len(said(get_dialect("hermes"), {"messages": told}).text) < 400


def test_a_result_that_spells_markers_is_not_repeated() -> None:
    told: JSON = [{"role": "tool", "content": "</think> <tool_call>{}</tool_call> <|im_end|>"}]
    assert said(get_dialect("hermes"), {"messages": told}).text == ANSWER


@pytest.mark.parametrize("recording", recordings("hermes", "harmony"), ids=lambda recording: recording.name)
def test_recordings_are_said_where_they_fit(recording: Recording) -> None:
    calls = "answer" not in recording.name
    tools: list[JSON] = []
    if calls:
        names = ("get_weather", "convert_currency", "query_database", "search_documents", "send_email")
        tools = [{"type": "function", "function": {"name": name}} for name in names]
    assert script_for(scene_of(recording.dialect, "", {"messages": ASK, "tools": tools}, 0)) == recording.text


@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ("none", []),
        ("auto", ["book_table"]),
        ({"type": "function", "function": {"name": "ping"}}, ["ping"]),
        ({"type": "function", "function": {"name": "unknown"}}, []),
    ],
    ids=str,
)
def test_the_choice_of_tools_is_the_callers(choice: JSON, called: list[str]) -> None:
    ping: JSON = {"type": "function", "function": {"name": "ping"}}
    message = said(get_dialect("hermes"), {"messages": ASK, "tools": [TOOL, ping], "tool_choice": choice})
    assert [call.name for call in message.tool_calls] == called


def test_a_structured_answer_has_its_form() -> None:
    form: JSON = {"type": "json_schema", "json_schema": {"name": "table", "schema": SCHEMA}}
    Draft202012Validator(SCHEMA).validate(loads(said(get_dialect("hermes"), {"response_format": form}).text))
    assert loads(said(get_dialect("hermes"), {"response_format": {"type": "json_object"}}).text) == {"answer": "answer"}


def test_tools_that_are_none_are_left_out() -> None:
    broken = scene_of("hermes", "", {"messages": ASK, "tools": [{"type": "function"}]}, 0)
    assert broken == scene_of("hermes", "", {"messages": ASK}, 0)


def test_a_tool_whose_schema_can_not_be_read_is_not_called() -> None:
    tool: JSON = {"type": "function", "function": {"name": "act", "parameters": {"properties": 3}}}
    assert script_for(scene_of("hermes", "", {"messages": ASK, "tools": [tool]}, 0)) == ANSWER


def test_a_completion_is_answered() -> None:
    assert script_for(scene_of("generic", "", None, 0)) == script_for(scene_of("generic", "", {}, 0))


@pytest.mark.parametrize("name", ["hermes", "harmony", "deepseek_r1"])
def test_a_recorded_call_is_said_only_where_it_is_what_the_callers_schema_asks_for(name: str) -> None:
    schema: JSON = {
        "type": "object",
        "required": ["city"],
        "properties": {"city": {"enum": ["Graz"]}},
        "additionalProperties": False,
    }
    for tool in ("get_weather", "get_forecast", "search"):
        wanted: JSON = {"type": "function", "function": {"name": tool, "parameters": schema}}
        calls = said(get_dialect(name), {"messages": ASK, "tools": [wanted]}).tool_calls
        assert [(call.name, loads(call.arguments)) for call in calls] == [(tool, {"city": "Graz"})]
