"""Phrases that many dialects share: thoughts, JSON calls, quoted code, stops, and the turn that holds them.

A family differs from the next in its markers, not in its logic; so the logic stands here once, and a dialect's
file gives the markers. Nothing here knows a model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from json import dumps, loads

from .errors import Inexpressible
from .events import ProblemKind
from .grammar import build as b
from .grammar.nodes import Node
from .types import Message, TextPart, ThinkingPart, ToolCall

__all__ = ["Writer", "code", "json_call", "json_member_calls", "stops", "thought", "turn", "write"]

QUOTES = "`'\\\""
"""What stands behind a marker that is only being mentioned."""


def stops(*markers: str) -> Node:
    """A stop marker and whatever comes after it: other stop markers are layout, all else is out of place."""
    layout = b.markup(b.choice(*(b.special(marker) for marker in markers)))
    after = b.zero_or_more(layout | b.markup(b.chars(" \t\r\n", 1, 64)), b.commit())
    rest = b.optional(b.peek(b.any()), b.commit(), b.report(ProblemKind.TEXT_AFTER_STOP), b.malformed(b.until()))
    return b.stop(*markers) + b.commit() + after + rest


def code() -> Node:
    """Markdown code: what it quotes is text. A fence ends at its own fence or with the input, a span with its line."""
    fences = [_fence("`" * size, "`") for size in (5, 4, 3)]
    span = b.content("`" + b.commit() + b.until("`", "\n") + b.optional("`"))
    return b.gate("code", b.choice(*fences, span))


def _fence(fence: str, mark: str) -> Node:
    info = b.chars("^`\n", 0, 128) + b.peek("\n")
    return b.content(fence + b.negate(mark) + info + b.commit() + b.until("\n" + fence) + b.optional("\n" + fence))


def thought(opening: Node, close: str, *, inside: Node, breaks: tuple[str, ...], stopping: tuple[str, ...]) -> Node:
    """Reasoning up to its closing marker; `inside` are the calls that may interrupt it, beginning with `breaks`.

    It also ends, reported, before a stop marker and with the input. Framing newlines are layout: one behind the
    opener, one before the closer, two behind that.
    """
    ends = b.framed(close)
    text = b.reasoning(b.until(*ends, *breaks, *stopping, low=1))
    body = b.zero_or_more(b.gate("calls_in_reasoning", inside) | text | b.reasoning(b.choice(*breaks)))
    closed = b.markup(b.choice(*ends)) + b.chars("\n", 0, 2)
    cut = b.peek(b.choice(*stopping)) + b.report(ProblemKind.IMPLICIT_CLOSE, detail="a stop marker inside reasoning")
    unclosed = b.report(ProblemKind.UNCLOSED_REASONING, detail="the input ended inside reasoning") + b.end()
    return opening + b.commit() + b.chars("\n", 0, 1) + body + (closed | cut | unclosed)


def turn(*blocks: Node, delimiters: tuple[str, ...], orphans: tuple[str, ...]) -> Node:
    """Visible text with blocks in it, until the input ends.

    `delimiters` are the markers at which a block may begin: where none does, they are text. `orphans` are closing
    markers: with nothing to close they are taken out and reported, unless they are only mentioned in quotes.
    """
    orphan = b.report(
        ProblemKind.ORPHAN_MARKER,
        b.choice(*orphans) + b.negate(b.one(QUOTES)),
        detail="a closing marker with nothing open",
    )
    marks = tuple(dict.fromkeys((*delimiters, *orphans)))
    text = b.content(b.until(*marks, low=1))
    literal = b.content(b.choice(*marks))
    return b.zero_or_more(b.choice(*blocks, *([orphan] if orphans else []), text, literal))


def json_member_calls(*, names: Sequence[str] = ("name",), arguments: Sequence[str] = ("arguments", "parameters")) -> Node:
    """The members of a call's JSON object and its closing brace, in any order; others are passed over."""

    def member(keys: Sequence[str], value: Node) -> list[Node]:
        return [b.literal(dumps(key)) + b.commit() + b.space() + ":" + b.space() + value for key in keys]

    text = b.arguments(b.quoted_json()) if arguments else b.json()
    value = (b.peek('"') + b.commit() + text) | b.arguments(b.json())
    member_call_id = b.call_id(b.json_string(), decode=True) | b.json()
    other = b.json_string() + b.space() + ":" + b.space() + b.json()
    fields = [*member(names, b.name(b.json_string(), decode=True)), *member(arguments, value), *member(("id",), member_call_id)]
    one = b.choice(*fields, other)
    more = b.zero_or_more(b.space(), ",", b.commit(), b.space(), one)
    return b.space() + b.optional(one, more) + b.space() + "}"


def json_call(opening: Node | str, closers: tuple[str, ...], ends: Node, resume: tuple[str, ...]) -> Node:
    """A call as a JSON object; `ends` is what must follow for it to be closed."""
    return b.call(
        b.sequence(opening) + "{" + b.commit() + json_member_calls(),
        close=b.peek(b.space() + ends),
        closers=closers,
        resume=resume,
    )


Writer = Callable[[str], str]


def write(
    dialect: str,
    message: Message,
    *,
    marks: tuple[str, ...],
    text: Callable[[TextPart, bool], str],
    thinking: Writer | None,
    calls: Callable[[Sequence[ToolCall], bool, bool], str],
) -> str:
    """Write a message part by part, neighbouring calls together.

    `text` is told whether a call comes next, `calls` whether text stood before and whether anything comes after.
    Raises `Inexpressible` for text that holds one of the `marks`, arguments that are no JSON object, calls that
    could not be parsed, and thoughts where there is no way to write them.
    """
    out: list[str] = []
    group: list[ToolCall] = []
    parts = message.parts
    for k, part in enumerate(parts):
        following = parts[k + 1] if k + 1 < len(parts) else None
        match part:
            case TextPart():
                _require_plain(dialect, k, part.text, marks)
                out.append(text(part, isinstance(following, ToolCall)))
            case ThinkingPart() if thinking is not None:
                _require_plain(dialect, k, part.text, marks)
                out.append(thinking(part.text))
            case ToolCall():
                _require_object(dialect, k, part.arguments)
                group.append(part)
                if not isinstance(following, ToolCall):
                    before = k - len(group)
                    after_text = before >= 0 and isinstance(parts[before], TextPart)
                    out.append(calls(group, after_text, following is not None))
                    group = []
            case _:
                raise Inexpressible(dialect, k, f"there is no way to write a {type(part).__name__}")
    return "".join(out)


def _require_plain(dialect: str, part: int, text: str, marks: tuple[str, ...]) -> None:
    for mark in marks:
        if mark in text:
            raise Inexpressible(dialect, part, f"its text holds the marker {mark!r}")
    if not text:
        raise Inexpressible(dialect, part, "its text is empty")


def _require_object(dialect: str, part: int, arguments: str) -> None:
    try:
        value = loads(arguments)
    except ValueError as error:
        raise Inexpressible(dialect, part, f"its arguments are not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Inexpressible(dialect, part, "its arguments are not a JSON object")
