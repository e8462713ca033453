"""What is asked of a constraint: which calls there may be, what may stand around them, and how strict it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from ..errors import InvalidRequest
from ..types import JSON, Tool

__all__ = ["Constraints", "LeadIn", "Reasoning", "Scope", "ToolChoice"]

Mode: TypeAlias = Literal["none", "auto", "required"]
Reasoning: TypeAlias = Literal["auto", "required", "none"]
"""May the model think first: as it likes, in any case, not at all."""

Scope: TypeAlias = Literal["output", "answer", "arguments"]
"""What is constrained: the whole output, what comes behind the thoughts, or a single tool's arguments alone."""

LeadIn: TypeAlias = Literal["none", "reasoning"] | int
"""What may come before a call that is required: nothing, thoughts, or so many characters of text (and thoughts)."""


class ToolChoice(Struct, frozen=True):
    """Whether there may be or must be calls, and to which tools; ``None`` is all."""

    mode: Mode = "auto"
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, value: object) -> ToolChoice:
        """Read the ``tool_choice`` of an OpenAI request, of chats or Responses; raises `InvalidRequest`.

        That is a word, a named tool, or a list of allowed tools.
        """
        match value:
            case None | "auto":
                return cls()
            case "none":
                return cls("none")
            case "required":
                return cls("required")
            case {"type": "function", "function": {"name": str(name)}} | {"type": "function", "name": str(name)}:
                return cls("required", (name,))
            case {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": list(tools)}}:
                return cls._allowed(mode, tools)
            case {"type": "allowed_tools", "mode": mode, "tools": list(tools)}:
                return cls._allowed(mode, tools)
        raise InvalidRequest("tool_choice", '"none", "auto", "required", a function or allowed_tools', value)

    @classmethod
    def _allowed(cls, mode: object, tools: list[object]) -> ToolChoice:
        names = []
        for tool in tools:
            match tool:
                case {"function": {"name": str(name)}} | {"name": str(name)}:
                    names.append(name)
                case _:
                    raise InvalidRequest("tool_choice", "allowed tools with a name each", tool)
        match mode:
            case "auto":
                return cls("auto", tuple(names))
            case "required":
                return cls("required", tuple(names))
        raise InvalidRequest("tool_choice", 'allowed_tools whose mode is "auto" or "required"', mode)

    def among(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """The tools that may be called; raises `InvalidRequest` for the name of one that is not there."""
        if self.mode == "none":
            return ()
        if self.names is None:
            return tools
        known = {tool.name: tool for tool in tools}
        for name in self.names:
            if name not in known:
                raise InvalidRequest("tool_choice", f"one of the tools: {', '.join(known) or 'there are none'}", name)
        return tuple(known[name] for name in dict.fromkeys(self.names))


class Constraints(Struct, frozen=True, kw_only=True):
    """A request, as far as it says what output there may be.

    `parallel`: may there be more than one call. `answer` is the JSON Schema of the answer, instead of free text. Where
    it is not `strict`, arguments are any JSON object. With `any_order`, arguments stand in any order where the engine
    can be told so, else in the order of the schema. `start` is the state in which the prompt leaves the model:
    ``content`` or, where it ends inside a thought, ``reasoning``. `control` are the control tokens of the model's
    vocabulary, for output that is read token by token, by a parser with its tokenizer: it takes a marker that is one
    for a marker in Markdown code too, and its characters in other tokens for text.
    """

    choice: ToolChoice = ToolChoice()
    parallel: bool = True
    reasoning: Reasoning = "auto"
    scope: Scope = "output"
    lead_in: LeadIn = "reasoning"
    answer: Mapping[str, JSON] | None = None
    strict: bool = True
    any_order: bool = True
    start: str = "content"
    control: Mapping[str, int] = {}
