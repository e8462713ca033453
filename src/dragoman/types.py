"""Messages, their parts, and tools: what goes into a dialect and what comes out of it.

All values are frozen. A message is a role and an *ordered* list of parts; `Message.content`, `.text`,
`.thinking` and `.tool_calls` are views of it. Arguments of calls are JSON text, exactly as the model wrote
them where it wrote JSON; nothing here parses or re-serialises them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from .errors import InvalidTool

__all__ = ["JSON", "Message", "Part", "TextPart", "ThinkingPart", "Tool", "ToolCall", "UnparsedToolCall"]

JSON: TypeAlias = "Mapping[str, JSON] | list[JSON] | tuple[JSON, ...] | str | int | float | bool | None"
"""A decoded JSON value."""


class TextPart(Struct, frozen=True, tag="text"):
    """Visible text; ``channel`` names a channel other than the answer's own (Harmony's ``commentary``)."""

    text: str
    channel: str | None = None


class ThinkingPart(Struct, frozen=True, tag="thinking"):
    """The model's thoughts."""

    text: str


class ToolCall(Struct, frozen=True, tag="tool_call"):
    """A complete call; ``arguments`` is JSON text, ``id`` the model's own or ``None``."""

    name: str
    arguments: str
    id: str | None = None


class UnparsedToolCall(Struct, frozen=True, tag="unparsed_tool_call"):
    """A call that did not close or broke its grammar: ``raw`` is what the model wrote, ``error`` the reason."""

    raw: str
    error: str
    name: str | None = None


Part: TypeAlias = TextPart | ThinkingPart | ToolCall | UnparsedToolCall


class Message(Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True):
    """A role and the ordered parts of what it said.

    `name` is who of that role speaks, for a tool's message the tool; `call_id` is the id of the call that it answers.
    """

    role: str
    parts: tuple[Part, ...]
    name: str | None = None
    call_id: str | None = None

    @property
    def content(self) -> str | tuple[Part, ...]:
        """The text alone when there is nothing but text of one channel, else all parts in order."""
        match self.parts:
            case ():
                return ""
            case (TextPart(text=text, channel=None),):
                return text
            case parts:
                return parts

    @property
    def text(self) -> str:
        """All visible text, joined without a separator."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def thinking(self) -> str:
        """All thoughts, joined without a separator."""
        return "".join(part.text for part in self.parts if isinstance(part, ThinkingPart))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The complete calls in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


class Tool(Struct, frozen=True):
    """A function that the model may call; ``parameters`` is a JSON Schema of type object, or ``None``."""

    name: str
    description: str = ""
    parameters: Mapping[str, JSON] | None = None

    @classmethod
    def from_openai(cls, value: Mapping[str, object]) -> Tool:
        """Read ``{"type": "function", "function": {...}}``, or the inner object alone.

        Raises `InvalidTool` when a name is missing or a field has the wrong type.
        """
        inner = value.get("function", value)
        if not isinstance(inner, Mapping):
            raise InvalidTool("function", "an object", inner)
        name = inner.get("name")
        if not isinstance(name, str) or not name:
            raise InvalidTool("name", "a non-empty string", name)
        description = inner.get("description") or ""
        if not isinstance(description, str):
            raise InvalidTool("description", "a string", description, tool=name)
        parameters = inner.get("parameters")
        if parameters is not None and not isinstance(parameters, Mapping):
            raise InvalidTool("parameters", "a JSON Schema object", parameters, tool=name)
        return cls(name, description, parameters)
