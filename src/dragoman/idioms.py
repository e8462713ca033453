"""Phrases that many dialects share: thoughts, JSON calls, stops, and the turn that holds them.

A family differs from the next in its markers, not in its logic; so the logic stands here once, and a dialect's
file gives the markers. Nothing here knows a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from json import JSONDecoder, dumps

from .errors import Inexpressible
from .events import ProblemKind
from .grammar import build as b
from .grammar.analyze import FIELD_LIMIT
from .grammar.json import Scanner
from .grammar.nodes import Grammar, Node
from .types import Message, Part, TextPart, ThinkingPart, ToolCall

__all__ = [
    "arguments_json",
    "conversation",
    "fenced_json",
    "json_calls",
    "json_members",
    "members_of",
    "mentioned",
    "stops",
    "tagged_json",
    "thought",
    "token_calls",
    "turn",
    "write",
]

QUOTES = "`'\\\""
"""What stands behind a marker that is only being mentioned."""


MENTIONING = " `'\".,;:!?)]"
"""What stands behind an opener that is only being talked about."""


def stops(*markers: str) -> Node:
    """A stop marker and whatever comes after it: other stop markers are layout, all else is out of place."""
    layout = b.markup(b.choice(*(b.special(marker) for marker in markers)))
    after = b.zero_or_more(layout | b.markup(b.chars(" \t\r\n", 1, 64)), b.commit())
    rest = b.optional(b.peek(b.any()), b.commit(), b.report(ProblemKind.TEXT_AFTER_STOP), b.malformed(b.until()))
    return b.stop(*markers) + b.commit() + after + rest


def thought(
    opening: Node, close: str, *, inside: Node, breaks: tuple[str, ...], stopping: tuple[str, ...], frame: int = 1
) -> Node:
    """Reasoning up to its closing marker; `inside` are the calls that may interrupt it, beginning with `breaks`.

    It also ends, reported, before a stop marker and with the input. Where the template writes newlines around it
    (`frame`), one behind the opener, one before the closer and two behind that are layout.
    """
    ends = b.framed(close) if frame else (close,)
    text = b.reasoning(b.until(*ends, *breaks, *stopping, low=1))
    body = b.zero_or_more(b.gate("calls_in_reasoning", inside) | text | b.reasoning(b.choice(*breaks)))
    closed = b.markup(b.choice(*ends))
    if frame:
        opening, closed = opening + b.commit() + b.optional("\n"), closed + b.chars("\n", 0, 2)
    unclosed = b.report(ProblemKind.UNCLOSED_REASONING, detail="the input ended inside reasoning") + b.end()
    cut = b.report(ProblemKind.IMPLICIT_CLOSE, detail="a stop marker inside reasoning")
    stopped = [b.peek(b.choice(*stopping)) + cut] if stopping else []
    return opening + b.commit() + body + b.choice(closed, *stopped, unclosed)


def turn(*blocks: Node, delimiters: tuple[str, ...], orphans: tuple[str, ...], prose: bool = True) -> Node:
    """Visible text with blocks in it, until the input ends; in `prose`, Markdown code quotes markers.

    `delimiters` are the markers at which a block may begin: where none does, they are text. `orphans` are closing
    markers: with nothing to close they are taken out and reported, unless they are only mentioned in quotes.
    """
    orphan = b.report(
        ProblemKind.ORPHAN_MARKER,
        b.choice(*orphans) + b.negate(b.one(QUOTES)),
        detail="a closing marker with nothing open",
    )
    marks = tuple(dict.fromkeys((*delimiters, *orphans)))
    text = b.content(b.prose(*marks) if prose else b.until(*marks, low=1))
    literal = b.content(b.choice(*marks))
    return b.zero_or_more(b.choice(*blocks, *([orphan] if orphans else []), text, literal))


def arguments_json() -> Node:
    """Arguments as JSON, or as a JSON string that holds them."""
    return (b.peek('"') + b.commit() + b.arguments(b.quoted_json())) | b.arguments(b.json())


def json_members(*, arguments: Sequence[str] = ("arguments", "parameters")) -> Node:
    """The members of a call's JSON object and its closing brace, in any order; others are passed over.

    The arguments may be a JSON string that holds the object. An id may stand anywhere.
    """

    def member(key: str, value: Node) -> Node:
        return dumps(key) + b.commit() + b.space() + ":" + b.space() + value

    known = [member("name", b.name(b.json_string(), decode=b.Decoding.JSON))]
    known += [member(key, arguments_json()) for key in arguments]
    known += [member("id", b.call_id(b.json_string(), decode=b.Decoding.JSON) | b.json())]
    one = b.choice(*known, b.json_string() + b.space() + ":" + b.space() + b.json())
    more = b.zero_or_more(b.space(), ",", b.commit(), b.space(), one)
    return b.space() + b.optional(one, more) + b.space() + "}"


def json_calls(opening: Node, closers: tuple[str, ...], resume: tuple[str, ...]) -> Node:
    """Calls as JSON objects behind one opener: one, several, or an array of them, up to one of the `closers`.

    The opener counts only with the brace behind it.
    """
    ends = b.peek(b.space() + b.choice(*closers, "{", ",", "]"))
    rest = "{" + b.commit() + json_members()
    first = b.call(opening + b.space() + b.optional("[", b.space()) + rest, close=ends, closers=closers, resume=resume)
    further = b.call(rest, close=ends, closers=closers, resume=resume)
    closer = b.optional(b.space(), b.optional("]", b.space()), b.choice(*closers))
    return first + b.zero_or_more(b.optional(b.space(), ","), b.space(), b.negate(b.choice(*closers)), further) + closer


def token_calls(
    sections: tuple[str, ...],
    head: str,
    name: Node,
    body: Node,
    closer: str,
    section_ends: tuple[str, ...],
    stopping: tuple[str, ...],
) -> Node:
    """Calls with a name between control tokens and a JSON body, in a section that may be missing."""
    resume = (head, *sections, *section_ends, *stopping)
    one = b.call(
        head + b.commit() + name + body,
        close=b.space() + closer,
        closers=(closer,),
        resume=resume,
    )
    opening = b.optional(b.choice(*sections), b.space())
    return opening + one + b.zero_or_more(b.space(), one) + b.optional(b.space(), b.choice(*section_ends))


def fenced_json() -> Node:
    """Arguments as JSON, in a Markdown fence or without one."""
    return b.space() + b.optional("```json", b.space()) + arguments_json() + b.optional(b.space(), "```")


def mentioned(opener: str) -> Node:
    """Fails where an opener in running text is only talked about: a quote, a space or punctuation follows it."""
    return b.peek(opener, b.negate(b.one(re.escape(MENTIONING))))


def conversation(
    think: tuple[str, str],
    calls: Node,
    *,
    breaks: tuple[str, ...],
    orphans: tuple[str, ...],
    stopping: tuple[str, ...],
    frame: int = 1,
    prose: bool = True,
) -> Grammar:
    """A turn of text, thoughts between two markers, and calls that begin with one of `breaks`; also entered inside a
    thought.

    Where markers are `prose`, spelled in ordinary tokens, Markdown code quotes them. Where the prompt has opened the
    thought, its opener may come once more.
    """
    opener, closer = think

    def thinking(opening: Node) -> Node:
        return thought(opening, closer, inside=calls, breaks=breaks, stopping=stopping, frame=frame)

    body = turn(
        mentioned(opener) + thinking(b.literal(opener)),
        calls,
        *([stops(*stopping)] if stopping else []),
        delimiters=(opener, *breaks, *stopping),
        orphans=(closer, *orphans),
        prose=prose,
    )
    first = b.optional(b.space(), thinking(b.literal(opener)))
    return Grammar(first + body, (("reasoning", thinking(b.optional(opener)) + body),))


def tagged_json(think: tuple[str, str], call: tuple[str, str], stopping: tuple[str, ...]) -> Grammar:
    """The most common family: thoughts between two tags, JSON calls between two others."""
    begin, finish = call
    openers = b.framed(begin)
    calls = json_calls(b.choice(*openers), (finish,), (begin, think[0], *stopping)) + b.chars("\n", 0, 1)
    return conversation(think, calls, breaks=openers, orphans=(finish,), stopping=stopping)


def write(
    dialect: str,
    message: Message,
    *,
    marks: tuple[str, ...],
    calls: Callable[[Sequence[ToolCall], bool, bool], str],
    thinking: Callable[[str], str] | None = None,
    text: Callable[[TextPart], str] | None = None,
    opener: str = "",
    names: str = r"[\s\S]+",
) -> str:
    """Write a message part by part, neighbouring calls together.

    `calls` is told whether text stood before and whether anything comes after. Without `text`, text is written as
    it is. Raises `Inexpressible` for text that holds one of the `marks`, arguments that are no JSON object, calls that
    could not be parsed or whose name is none of `names` (a pattern), thoughts or channels where there is no way to
    write them, and a thought within the turn that would look as if its `opener` were only mentioned.
    """
    out: list[str] = []
    parts = message.parts
    k = 0
    while k < len(parts):
        match parts[k]:
            case TextPart() as part:
                _require_plain(dialect, k, part.text, marks)
                if text is None and (part.channel or (isinstance(parts[k - 1 if k else 0], TextPart) and k)):
                    raise Inexpressible(dialect, k, "text has no channel, and two texts would become one")
                if text is None and k == 0 and len(parts) > 1 and not part.text.strip(" \t\r\n"):
                    raise Inexpressible(dialect, k, "blank text before the first block would be read as layout")
                out.append(text(part) if text is not None else part.text)
            case ThinkingPart(text=thoughts) if thinking is not None:
                _require_plain(dialect, k, thoughts, marks)
                if k and opener and thoughts[0] in MENTIONING:
                    raise Inexpressible(dialect, k, f"behind {opener}, {thoughts[0]!r} would make it a mention")
                out.append(thinking(thoughts))
            case ToolCall():
                group = _calls_from(dialect, parts, k, names)
                after_text = k > 0 and isinstance(parts[k - 1], TextPart)
                k += len(group) - 1
                out.append(calls(group, after_text, k + 1 < len(parts)))
            case part:
                raise Inexpressible(dialect, k, f"there is no way to write a {type(part).__name__}")
        k += 1
    return "".join(out)


def _calls_from(dialect: str, parts: Sequence[Part], k: int, names: str) -> list[ToolCall]:
    group: list[ToolCall] = []
    for part in parts[k:]:
        if not isinstance(part, ToolCall):
            break
        if not re.fullmatch(names, part.name) or len(dumps(part.name)) > FIELD_LIMIT:
            raise Inexpressible(dialect, k + len(group), f"no call can have the name {part.name!r}")
        _require_object(dialect, k + len(group), part.arguments)
        group.append(part)
    return group


def _require_plain(dialect: str, part: int, text: str, marks: tuple[str, ...]) -> None:
    for mark in marks:
        if mark in text:
            raise Inexpressible(dialect, part, f"its text holds the marker {mark!r}")
    if not text:
        raise Inexpressible(dialect, part, "its text is empty")


def _require_object(dialect: str, part: int, arguments: str) -> None:
    scanner = Scanner()
    if arguments[:1] != "{" or scanner.scan(arguments, 0) != len(arguments) or not scanner.done:
        reason = scanner.error or "not one object, without anything around it"
        raise Inexpressible(dialect, part, f"its arguments are no JSON object that can be read back: {reason}")


_decode = JSONDecoder().raw_decode
_layout = re.compile(r"[ \t\r\n,]*+").match


def members_of(arguments: str) -> list[tuple[str, str]]:
    """The members of a JSON object: each key decoded, each value as the JSON text that it is."""
    found: list[tuple[str, str]] = []
    at = _past(arguments, arguments.index("{") + 1)
    while arguments[at] != "}":
        key, at = _decode(arguments, at)
        at = _past(arguments, arguments.index(":", at) + 1)
        _, end = _decode(arguments, at)
        found.append((str(key), arguments[at:end]))
        at = _past(arguments, end)
    return found


def _past(text: str, at: int) -> int:
    """The index of what comes after layout and commas."""
    layout = _layout(text, at)
    return layout.end() if layout is not None else at
