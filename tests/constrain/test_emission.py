"""Emissions: what is kept, what an engine can't be told, and schemas and tags that say what was asked for."""

from __future__ import annotations

import pytest

from dragoman.constrain import constraint as constraints
from dragoman.constrain import emission as emissions
from dragoman.constrain.constraint import constrain
from dragoman.constrain.emission import Engine, emit
from dragoman.errors import InvalidRequest, InvalidStart, InvalidTool
from dragoman.registry import get_dialect
from dragoman.types import JSON, Tool

from .wanted import PING, WEATHER

HERMES = get_dialect("hermes")
ANSWER: dict[str, JSON] = {"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}}


def test_what_was_asked_for_before_is_not_built_again() -> None:
    first = constrain(HERMES, [WEATHER])
    assert constrain(HERMES, [WEATHER], tool_choice="auto") is first
    assert constrain(HERMES, [WEATHER], parallel=False) is not first
    assert emit(first, "gbnf").text is emit(first, Engine.GBNF).text


def test_answers_are_told_apart_by_the_order_of_their_members() -> None:
    turned: dict[str, JSON] = {"type": "object", "properties": {"b": {"type": "null"}, "a": {"type": "null"}}}
    one, other = (constrain(HERMES, answer=schema, any_order=False) for schema in (ANSWER, turned))
    assert one is not other


def test_no_more_is_kept_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (constraints, emissions):
        monkeypatch.setattr(module, "KEPT", 2)
        monkeypatch.setattr(module, "_known", {})
    for days in range(4):
        emit(constrain(HERMES, scope="answer", answer={"const": days}), "gbnf")
    assert (len(constraints._known), len(emissions._known)) == (2, 2)


@pytest.mark.parametrize("engine", ["structural_tag", "json_schema"])
def test_tags_and_schemas_are_never_lazy(engine: str) -> None:
    with pytest.raises(InvalidRequest, match=f"lazy should be false: {engine} takes no triggers"):
        emit(constrain(HERMES, [WEATHER]), engine, lazy=True)


@pytest.mark.parametrize("choice", ["none", "required"])
def test_only_a_call_that_may_come_is_waited_for(choice: str) -> None:
    with pytest.raises(InvalidRequest, match=f'lazy should be false where tool_choice is "{choice}"'):
        emit(constrain(HERMES, [WEATHER], tool_choice=choice), "gbnf", lazy=True)


def test_calls_that_nothing_announces_are_not_waited_for() -> None:
    with pytest.raises(InvalidRequest, match="lazy should be false, as nothing fixed"):
        emit(constrain(HERMES), "gbnf", lazy=True)


def test_a_prompt_that_ends_in_a_trigger_is_a_mistake() -> None:
    with pytest.raises(InvalidRequest, match="prompt should be one that holds no trigger"):
        emit(constrain(HERMES, [WEATHER]), "gbnf", lazy=True, prompt='such as <tool_call>\n{"name": "')


def test_an_engine_that_is_not_known_is_a_mistake() -> None:
    with pytest.raises(InvalidRequest, match="engine should be one of gbnf, xgrammar"):
        emit(constrain(HERMES), "outlines")


def test_llguidance_is_told_each_control_token_of_the_layout() -> None:
    control = {"<|channel|>": 5, "<|message|>": 8, "<|end|>": 7, "<|start|>": 6}
    text = emit(constrain(get_dialect("harmony"), [PING], tool_choice="required"), "lark", control=control).text
    assert "<[5]>" in text
    assert "<[8]>" in text


def test_schemas_say_what_is_forced() -> None:
    forced = constrain(HERMES, [WEATHER, PING], tool_choice="required", parallel=False)
    value = emit(forced, "json_schema").value
    assert value is not None
    assert (value["type"], value["minItems"], value["maxItems"]) == ("array", 1, 1)
    assert "maxItems" not in (emit(constrain(HERMES, [PING], tool_choice="required"), "json_schema").value or {})
    assert emit(constrain(HERMES, [WEATHER], scope="arguments"), "json_schema").value == WEATHER.parameters
    assert emit(constrain(HERMES, answer=ANSWER), "json_schema").value == ANSWER
    with pytest.raises(InvalidRequest, match="engine should be one that takes grammars"):
        emit(constrain(HERMES, [WEATHER]), "json_schema")


@pytest.mark.parametrize("engine", ["structural_tag", "json_schema"])
def test_schemas_do_not_count_where_arguments_are_any_json(engine: str) -> None:
    loose = emit(constrain(HERMES, [WEATHER], tool_choice="required", strict=False), engine)
    assert "city" not in loose.text
    assert "city" in emit(constrain(HERMES, [WEATHER], tool_choice="required"), engine).text


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("hermes", {"tool_choice": "required"}),
        ("hermes", {"tool_choice": "required", "lead_in": "none"}),
        ("hermes", {"scope": "answer"}),
        ("hermes", {"start": "reasoning"}),
        ("hermes", {"reasoning": "required"}),
        ("hermes", {"reasoning": "none"}),
        ("hermes", {"reasoning": "none", "start": "reasoning"}),
        ("kimi_k2", {}),
        ("kimi_k2", {"tool_choice": "required"}),
        ("deepseek_v31", {"parallel": False}),
        ("llama3_json", {}),
        ("hermes", {"answer": ANSWER}),
    ],
)
def test_every_request_has_a_tag(name: str, asked: dict[str, object]) -> None:
    value = emit(constrain(get_dialect(name), [PING], **asked), "structural_tag").value  # type: ignore[arg-type]
    assert value is not None
    assert value["type"] == "structural_tag"


@pytest.mark.parametrize(
    ("name", "asked", "where"),
    [
        ("hermes", {"tool_choice": "required", "tools": []}, "tools"),
        ("think_only", {"tools": [PING]}, "tools"),
        ("guided_json", {"answer": ANSWER}, "answer"),
        ("hermes", {"scope": "arguments", "tools": [PING, WEATHER]}, "scope"),
        (
            "hermes",
            {"tools": [PING], "tool_choice": "required", "reasoning": "required", "lead_in": "none"},
            "reasoning",
        ),
    ],
)
def test_what_cant_be_asked_is_a_mistake(name: str, asked: dict[str, object], where: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        constrain(get_dialect(name), **asked)  # type: ignore[arg-type]
    assert raised.value.where == where


def test_tools_have_names_and_prompts_have_states_of_their_own() -> None:
    with pytest.raises(InvalidTool):
        constrain(HERMES, [PING, PING])
    with pytest.raises(InvalidStart):
        constrain(HERMES, [PING], start="nowhere")


@pytest.mark.parametrize("word", ["properties", "items", "anyOf"])
@pytest.mark.parametrize(
    "name", ["hermes", *(pytest.param(name, marks=pytest.mark.slow) for name in ("qwen3_coder", "gemma4"))]
)
def test_a_schema_nested_too_deeply_is_refused_and_others_are_not(name: str, word: str) -> None:
    def nested(depth: int) -> Tool:
        schema: JSON = {"type": "integer"}
        for _ in range(depth):
            wrapped: dict[str, JSON] = {"properties": {"a": schema}, "items": schema, "anyOf": [schema, {"const": 1}]}
            schema = {word: wrapped[word]}
        return Tool("f", "", {"type": "object", "properties": {"x": schema}})

    for engine in ("gbnf", "xgrammar", "lark", "structural_tag"):
        assert emit(constrain(get_dialect(name), [nested(40)]), engine).text
    for depth in (100, 100_000):
        with pytest.raises(InvalidTool, match="nested at most"):
            constrain(get_dialect(name), [nested(depth)])
