"""Our messages as Harmony's: one of ours may be several of its own, each with an author, a recipient and a channel.

A thought is a message on ``analysis``, text one on ``final`` or on the channel that it names, a call one to its tool.
What the system has to say goes into ``developer`` messages; ``system`` is the model's own, and not written here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ..errors import InvalidConversation
from ..segments import Kind
from ..types import Message, TextPart, ThinkingPart, ToolCall
from .page import Page

__all__ = ["Entry", "Said", "entries", "kept", "write_entry", "write_header"]

START, CHANNEL, MESSAGE, CONSTRAIN = "<|start|>", "<|channel|>", "<|message|>", "<|constrain|>"
END, RETURN, CALL = "<|end|>", "<|return|>", "<|call|>"

PROMPT = f"{START}assistant"
"""The beginning of a header, of which the model writes the rest."""

NAMED = re.compile(r"[^\s<]+")
"""What a header can name: it is read word by word, up to a marker."""

NAMESPACE = "functions."


class Said(Struct, frozen=True):
    """A text of a message, and the part that it came from."""

    text: str
    kind: Kind
    part: int = 0


class Entry(Struct, frozen=True):
    """One message of Harmony; `message` is the index of ours, and an empty field is not written.

    A tool is called by its name alone, everybody else by role and name.
    """

    role: str
    name: str | None
    message: int
    content: tuple[Said, ...]
    recipient: str = ""
    channel: str = ""
    content_type: str = ""

    @property
    def calls(self) -> bool:
        """Whether the model calls a tool with it, and so ends its turn."""
        return self.role == "assistant" and bool(self.recipient)


class Way(Struct, frozen=True):
    """How a tool is called: by which name, on which channel, with what type of content."""

    recipient: str
    channel: str
    content_type: str


def entries(messages: Sequence[Message], functions: frozenset[str] = frozenset()) -> list[Entry]:
    """The messages of a conversation; `functions` are the declared ones, which built-in tools can't be.

    Raises `InvalidConversation` for what no header can say: a name with a blank or ``<`` in it, the answer of a tool
    that is not named and whose call is not there, an unknown role, a call that could not be parsed.
    """
    out: list[Entry] = []
    called: dict[str, str] = {}  # names by the ids of calls
    for index, message in enumerate(messages):
        name = _named(message.name, index, None) if message.name else None
        match message.role:
            case "assistant":
                out += _assistant(message, name, index, functions)
                called |= {part.id: part.name for part in message.tool_calls if part.id is not None}
            case "tool":
                out.append(_result(message, name or called.get(message.call_id or ""), index, functions))
            case "system" | "developer":
                out.append(Entry("developer", name, index, _said(message, index)))
            case "user":
                out.append(Entry("user", name, index, _said(message, index)))
            case role:
                raise InvalidConversation(index, "a system, developer, user, assistant or tool message", repr(role))
    return out


def kept(written: Sequence[Entry]) -> list[Entry]:
    """What openai-harmony's `auto_drop_analysis` leaves of a conversation.

    If the last that the assistant said is ``final``, everything on ``analysis`` before the first ``final`` goes.
    """
    said = [entry for entry in written if entry.role == "assistant"]
    if not said or said[-1].channel != "final":
        return list(written)
    first = next(k for k, entry in enumerate(written) if entry.channel == "final")
    return [entry for k, entry in enumerate(written) if k > first or entry.channel != "analysis"]


def _assistant(message: Message, name: str | None, index: int, functions: frozenset[str]) -> Iterator[Entry]:
    for k, part in enumerate(message.parts):
        match part:
            case ThinkingPart(text=text):
                yield Entry("assistant", name, index, (Said(text, Kind.THINKING, k),), channel="analysis")
            case TextPart(channel="analysis"):
                raise InvalidConversation(index, "text for the user", "text on analysis, which thoughts are on", k)
            case TextPart(text=text, channel=channel):
                named = _named(channel, index, k) if channel else "final"
                yield Entry("assistant", name, index, (Said(text, Kind.TEXT, k),), channel=named)
            case ToolCall(name=tool, arguments=arguments):
                way = _way(_named(tool, index, k), index, k, functions)
                said = (Said(arguments, Kind.CALL, k),)
                yield Entry("assistant", name, index, said, way.recipient, way.channel, way.content_type)
            case other:
                raise InvalidConversation(index, "thoughts, text and calls", f"an {type(other).__name__}", k)
    if not message.parts:
        yield Entry("assistant", name, index, (), channel="final")


def _way(tool: str, index: int, part: int | None, functions: frozenset[str]) -> Way:
    if (tool == "python" or tool.startswith("browser.")) and tool not in functions:
        return Way(tool, "analysis", "code")
    if tool.startswith(NAMESPACE):
        raise InvalidConversation(index, f"a tool's name without the namespace {NAMESPACE!r}", repr(tool), part)
    return Way(f"{NAMESPACE}{tool}", "commentary", f"{CONSTRAIN}json")


def _result(message: Message, tool: str | None, index: int, functions: frozenset[str]) -> Entry:
    """What a tool answered: on the channel on which it was called."""
    if tool is None:
        raise InvalidConversation(index, "the name of the tool, or the id of a call before", "neither")
    way = _way(_named(tool, index, None), index, None, functions)
    return Entry("tool", way.recipient, index, _said(message, index), "assistant", way.channel)


def _said(message: Message, index: int) -> tuple[Said, ...]:
    kind = Kind.RESULT if message.role == "tool" else Kind.TEXT
    for k, part in enumerate(message.parts):
        if not isinstance(part, TextPart):
            raise InvalidConversation(index, "text", type(part).__name__, k)
    return tuple(Said(part.text, kind, k) for k, part in enumerate(message.parts) if isinstance(part, TextPart))


def _named(name: str, index: int, part: int | None) -> str:
    if NAMED.fullmatch(name) is None:
        raise InvalidConversation(index, "a name without blanks and '<'", repr(name), part)
    return name


def write_entry(page: Page, entry: Entry) -> None:
    """A message without its end; the pieces of its header, and its texts, are encoded each by itself."""
    write_header(page, entry)
    for said in entry.content:
        page.say(said.text, said.part, said.kind, apart=True)


def write_header(page: Page, entry: Entry) -> None:
    """Who says it to whom, on which channel, and in what form."""
    page.mark(START)
    if entry.role == "tool":
        page.mark(entry.name or "")
    else:
        page.mark(entry.role)
        page.mark(f":{entry.name}" if entry.name else "", apart=True)
    if entry.calls:
        page.mark(" to=", apart=True)
        page.say(entry.recipient, entry.content[0].part, Kind.CALL)
    elif entry.recipient:
        page.mark(f" to={entry.recipient}", apart=True)
    if entry.channel:
        page.mark(f"{CHANNEL}{entry.channel}")
    if entry.content_type:
        page.mark(" ", apart=True)
        page.mark(entry.content_type)
    page.mark(MESSAGE)
