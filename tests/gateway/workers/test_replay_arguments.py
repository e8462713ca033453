"""Arguments that satisfy a schema and look as if somebody had meant them."""

from __future__ import annotations

from json import loads

import pytest
from jsonschema import Draft202012Validator

from dragoman.gateway.workers.replay_arguments import arguments_for, value_for
from dragoman.recordings import tools
from dragoman.types import JSON, Tool


def tool(**properties: JSON) -> Tool:
    return Tool("act", "", {"type": "object", "properties": properties, "required": list(properties)})


def test_names_tell_what_is_meant() -> None:
    asked = tool(city={"type": "string"}, days={"type": "integer"}, note={"type": "string"})
    assert arguments_for(asked) == '{"city": "Paris", "days": 3, "note": "note"}'
    assert arguments_for(asked, seed=1) == '{"city": "Oslo", "days": 4, "note": "note"}'


def test_a_tool_without_parameters_is_given_none() -> None:
    assert arguments_for(Tool("ping")) == "{}"
    assert arguments_for(Tool("ping", "", {"type": "object", "properties": {}})) == "{}"


def test_what_is_not_required_is_left_out_unless_nothing_is() -> None:
    either: JSON = {"a": {"type": "boolean"}, "b": {"type": "boolean"}}
    assert arguments_for(Tool("act", "", {"type": "object", "properties": either, "required": ["b"]})) == '{"b": true}'
    assert arguments_for(Tool("act", "", {"type": "object", "properties": either})) == '{"a": true, "b": true}'


SCHEMAS: dict[str, JSON] = {
    "const": {"const": 7},
    "enum": {"enum": ["a", "b", None]},
    "bounds": {"type": "integer", "minimum": 10, "maximum": 12},
    "a bound that is left out": {"type": "number", "exclusiveMinimum": 3, "exclusiveMaximum": 3.75},
    "below": {"type": "integer", "exclusiveMaximum": 2},
    "multiple": {"type": "integer", "multipleOf": 7},
    "length": {"type": "string", "minLength": 12, "maxLength": 14},
    "short": {"type": "string", "maxLength": 2},
    "format": {"type": "string", "format": "date-time"},
    "pattern": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{2}$"},
    "either": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"x": {"type": "integer"}}}]},
    "null": {"type": ["null", "number"]},
    "nothing": {"type": "null"},
    "example": {"type": "string", "examples": ["like this"]},
    "list": {"type": "array", "items": {"type": "string", "format": "email"}, "minItems": 2, "maxItems": 3},
    "tuple": {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": "boolean"}],
        "minItems": 2,
        "items": False,
    },
    "all": {"allOf": [{"type": "object", "required": ["a"], "properties": {"a": {"const": 1}}}, {"type": "object"}]},
    "all of a number": {"allOf": [{"type": "integer"}, {"minimum": 9}]},
    "object": {"properties": {"inner": {"type": "string"}}, "required": ["inner"]},
    "anything": {},
    "true": True,
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_arguments_satisfy_their_schema(name: str) -> None:
    asked = tool(value=SCHEMAS[name])
    for seed in range(3):
        Draft202012Validator(asked.parameters).validate(loads(arguments_for(asked, seed)))


@pytest.mark.parametrize("asked", tools(), ids=lambda tool: tool.name)
def test_arguments_satisfy_the_schemas_of_the_recordings(asked: Tool) -> None:
    Draft202012Validator(asked.parameters).validate(loads(arguments_for(asked)))


def test_references_are_followed() -> None:
    place: JSON = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    schema: JSON = {
        "type": "object",
        "properties": {"from": {"$ref": "#/$defs/place"}},
        "required": ["from"],
        "$defs": {"place": place},
    }
    assert value_for(schema) == {"from": {"city": "Paris"}}


def test_a_schema_that_never_ends_is_brought_to_an_end() -> None:
    assert value_for({"$ref": "#"}) is None


def test_the_same_seed_says_the_same() -> None:
    asked = tool(code=SCHEMAS["pattern"])
    assert arguments_for(asked, 5) == arguments_for(asked, 5) != arguments_for(asked, 6)
