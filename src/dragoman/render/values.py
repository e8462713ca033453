"""JSON as chat templates write it, and the tools as they get them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from msgspec import Struct

from ..types import JSON, Tool

__all__ = ["Declaration", "declarations", "tojson"]


class Declaration(Struct, frozen=True):
    """A tool, and the object that declares it in OpenAI's shape, exactly as the caller gave it."""

    tool: Tool
    value: Mapping[str, JSON]

    @property
    def function(self) -> Mapping[str, JSON]:
        """The inner object: name, description, parameters."""
        inner = self.value.get("function", self.value)
        assert isinstance(inner, Mapping)
        return inner


def declarations(tools: Iterable[Tool | Mapping[str, JSON]] | None) -> tuple[Declaration, ...]:
    """Tools as given by the caller, typed or in OpenAI's shape; raises `InvalidTool`."""
    return tuple(_declaration(tool) for tool in tools or ())


def _declaration(tool: Tool | Mapping[str, JSON]) -> Declaration:
    if not isinstance(tool, Tool):
        return Declaration(Tool.from_openai(tool), tool)
    function: dict[str, JSON] = {"name": tool.name, "description": tool.description}
    if tool.parameters is not None:
        function["parameters"] = tool.parameters
    return Declaration(tool, {"type": "function", "function": function})


def tojson(
    value: JSON, *, indent: int | None = None, sort_keys: bool = False, separators: tuple[str, str] | None = None
) -> str:
    """JSON as the filter of that name writes it in Hugging Face's templates: every character as it is."""
    return json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=sort_keys, separators=separators)
