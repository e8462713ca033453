"""How the regression tests read: in every chunking at once, with the promises that hold for any input checked along.

`read` gives the whole outcome of a parse as one value to compare with; its parts are shown as a reader of the
message sees them, the problems (those of a call and those of the stream) as kind and raw text, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from msgspec import Struct

from dragoman import Dialect, Parser, Policy, Tool, assemble, get_dialect
from dragoman.events import (
    ArgumentsDelta,
    CallEnd,
    ContentDelta,
    Event,
    Malformed,
    Markup,
    Problem,
    ReasoningDelta,
    Stop,
    merge,
)
from dragoman.types import Part, TextPart, ThinkingPart, ToolCall, UnparsedToolCall

__all__ = [
    "DIALECTS",
    "Read",
    "answered",
    "call",
    "called",
    "chunkings",
    "closer",
    "events_of",
    "read",
    "text",
    "think",
    "tool",
    "unread",
]

DIALECTS = (
    "deepseek_r1",
    "deepseek_v31",
    "generic",
    "harmony",
    "hermes",
    "kimi_k2",
    "llama3_json",
    "mistral",
    "qwen3_coder",
)

DEFAULT = Policy()


class Read(Struct, frozen=True):
    """What one output is: its ordered parts, what is wrong with it, and why it ended."""

    parts: tuple[Part, ...]
    problems: tuple[tuple[str, str], ...] = ()
    stop: str | None = "stop"


def text(text: str, channel: str | None = None) -> TextPart:
    return TextPart(text, channel)


def think(text: str) -> ThinkingPart:
    return ThinkingPart(text)


def call(name: str, arguments: str, id: str | None = None) -> ToolCall:  # noqa: A002
    return ToolCall(name, arguments, id)


def unread(raw: str, name: str | None = None) -> UnparsedToolCall:
    """A call that could not be read; its reason is told in words, which no test compares."""
    return UnparsedToolCall(raw, "", name)


def tool(name: str, *, required: Sequence[str] = (), **properties: object) -> Tool:
    """A tool whose arguments have these schemas; a string stands for the schema of that type."""
    schemas = {key: {"type": value} if isinstance(value, str) else value for key, value in properties.items()}
    return Tool(name, "", {"type": "object", "properties": schemas, "required": list(required)})  # type: ignore[dict-item]


def chunkings(whole: str) -> Iterator[list[str]]:
    """The whole, single characters with empty pieces between, pieces of three, and random cuts."""
    yield [whole]
    yield [piece for character in whole for piece in (character, "")]
    yield [whole[at : at + 3] for at in range(0, len(whole), 3)]
    chance = Random(whole)
    for most in (3, 12):
        cuts = sorted(chance.sample(range(len(whole) + 1), min(len(whole), chance.randint(1, most))))
        yield [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]


def events_of(
    dialect: str | Dialect,
    whole: str,
    *,
    tools: Sequence[Tool] | None = None,
    start: str = "content",
    reason: str | None = "stop",
    policy: Policy = DEFAULT,
) -> list[Event]:
    """The merged events, which must be the same in every chunking, as text and as bytes, and tile the input."""

    def parser() -> Parser:
        return Parser(dialect, tools, start=start, policy=policy)

    results = [_feed(parser(), pieces, reason) for pieces in chunkings(whole)]
    in_bytes = parser()
    encoded = whole.encode()
    pieces = [event for byte in range(len(encoded)) for event in in_bytes.feed_bytes(encoded[byte : byte + 1])]
    results.append(merge(pieces + in_bytes.finish(reason)))
    for result in results[1:]:
        assert result == results[0]
    _check_spans(results[0], whole)
    return results[0]


def _feed(parser: Parser, pieces: Iterable[str], reason: str | None) -> list[Event]:
    events: list[Event] = []
    bound = parser.hold_bound
    for piece in pieces:
        events += parser.feed(piece)
        assert parser.held <= bound
    return merge(events + parser.finish(reason))


def _check_spans(events: Sequence[Event], whole: str) -> None:
    """Every character belongs to one event, and events that show characters as they are show theirs."""
    at = 0
    for start, end in sorted((event.start, event.end) for event in events if event.end > event.start):
        assert start == at
        at = end
    assert at == len(whole)
    for event in events:
        match event:
            case ReasoningDelta() | ContentDelta() | Markup() | Malformed():
                assert event.text == whole[event.start : event.end]
            case Problem() if event.end > event.start:
                assert event.raw == whole[event.start : event.end]
            case _:
                pass


def read(
    dialect: str | Dialect,
    whole: str,
    *,
    tools: Sequence[Tool] | None = None,
    start: str = "content",
    reason: str | None = "stop",
    policy: Policy = DEFAULT,
) -> Read:
    """Read an output in every chunking; see the module's head."""
    events = events_of(dialect, whole, tools=tools, start=start, reason=reason, policy=policy)
    problems: list[tuple[str, str]] = []
    stops: list[str | None] = []
    streamed: dict[int, str] = {}
    for event in events:
        match event:
            case ArgumentsDelta():
                streamed[event.index] = streamed.get(event.index, "") + event.json
            case CallEnd():
                problems += [(problem.kind.value, problem.raw) for problem in event.problems]
            case Problem():
                problems.append((event.kind.value, event.raw))
            case Stop():
                stops.append(event.reason)
            case _:
                pass
    (stop,) = stops
    parts = assemble(events).parts
    for part in parts:
        assert not isinstance(part, ToolCall) or part.arguments in streamed.values()
    return Read(
        tuple(unread(part.raw, part.name) if isinstance(part, UnparsedToolCall) else part for part in parts),
        tuple(problems),
        stop,
    )


# The plainest things that can be said, in each dialect.


def answered(dialect: str, words: str) -> str:
    """An output that is nothing but this answer."""
    return f"<|channel|>final<|message|>{words}" if dialect == "harmony" else words


def called(dialect: str, name: str, arguments: str) -> str:
    """An output that is nothing but this call, whose arguments are JSON text; not for `qwen3_coder`."""
    match dialect:
        case "hermes" | "generic":
            return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'
        case "llama3_json":
            return f'{{"name": "{name}", "parameters": {arguments}}}'
        case "mistral":
            return f"[TOOL_CALLS]{name}[ARGS]{arguments}"
        case "kimi_k2":
            return (
                f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{name}:0"
                f"<|tool_call_argument_begin|>{arguments}<|tool_call_end|><|tool_calls_section_end|>"
            )
        case "deepseek_v31":
            return (
                f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}"
                "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
            )
        case "deepseek_r1":
            return (
                f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n"
                f"```json\n{arguments}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
            )
        case "harmony":
            return f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>"
        case _:
            raise AssertionError(dialect)


def closer(dialect: str) -> str:
    """The marker that closes a call in a dialect whose arguments are JSON."""
    return {
        "hermes": "</tool_call>",
        "generic": "</tool_call>",
        "llama3_json": "<|eom_id|>",
        "mistral": "</s>",
        "kimi_k2": "<|tool_call_end|>",
        "deepseek_v31": "<｜tool▁call▁end｜>",
        "deepseek_r1": "<｜tool▁call▁end｜>",
        "harmony": "<|call|>",
    }[dialect]


assert set(DIALECTS) == {get_dialect(name).name for name in DIALECTS}
