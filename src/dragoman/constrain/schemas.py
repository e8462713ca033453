"""A constraint as one JSON Schema, for engines that take nothing else: JSON is then all that the model may write."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import InvalidRequest
from ..types import JSON
from .constraint import Constraint

__all__ = ["whole_schema"]


def whole_schema(constraint: Constraint) -> Mapping[str, JSON]:
    """The schema of an answer, of one tool's arguments, or of calls as `dragoman.idioms.guided` reads them.

    Raises `InvalidRequest` where free text may be written, which no schema can say.
    """
    asked = constraint.asked
    if asked.scope == "arguments":
        return constraint.parameters(constraint.tools[0])
    if asked.answer is not None and not constraint.tools:
        return asked.answer
    if asked.choice.mode != "required":
        raise InvalidRequest("engine", "one that takes grammars, where free text may be written", "json_schema")
    calls: list[JSON] = [_call(tool.name, constraint.parameters(tool)) for tool in constraint.tools]
    listed: dict[str, JSON] = {"type": "array", "minItems": 1, "items": {"anyOf": calls}}
    return listed if asked.parallel else {**listed, "maxItems": 1}


def _call(name: str, parameters: Mapping[str, JSON]) -> JSON:
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "parameters": parameters},
        "required": ["name", "parameters"],
        "additionalProperties": False,
    }
