"""What a replayed model says: raw output of its dialect that fits the request, recorded or written for it.

Every script is read by the dialect's own parser before it is used, from where the prompt leaves the model: one that
would not be read as meant is never said. Who speaks it, and how fast, is `replay`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from json import dumps, loads
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from ...constrain import ToolChoice
from ...constrain.layout import native_call
from ...dialect import Dialect
from ...errors import DragomanError, Inexpressible
from ...events import CallEnd, Problem, ReasoningDelta
from ...parse.assemble import assemble
from ...parse.parser import Parser
from ...recordings import recordings
from ...registry import get_dialect
from ...types import JSON, Message, Part, TextPart, ThinkingPart, Tool
from .replay_arguments import arguments_for, satisfies, value_for

__all__ = ["Scene", "scene_of", "script_for"]

KEPT = 256
"""Scripts that are kept."""

SHOWN = 300
"""Characters of a tool's result that an answer repeats."""

THOUGHT = (
    "Nothing is computed here: this is a recorded answer. I say what fits the request best, and I say it in order."
)
LEAD_IN = "Let me look that up."
ANSWER = (
    "Hello! No model is loaded, so this is dragoman's own voice: a raw output in the dialect that you asked for, "
    "streamed as a model would write it, and read by the same parser.\n\n"
    "Give me tools and I will call one of them; answer the call and I will use the result. "
    "To talk to a real model, register a worker."
)


Kind: TypeAlias = Literal["calls", "answer"]


class Scene(Struct, frozen=True):
    """What a request asks of the one who answers: hashable, and all that a script depends on.

    `tools` are those that may be called, as JSON; `schema` is that of a structured answer. `result` is what a tool has
    answered last.
    """

    dialect: str
    begun: str = ""
    tools: bytes = b"[]"
    result: str | None = None
    schema: bytes | None = None
    seed: int = 0


def scene_of(dialect: str, begun: str, chat: Mapping[str, JSON] | None, seed: int) -> Scene:
    """The scene of a request; what is wrong with its tools is not seen to here: such tools are left out."""
    chat = chat or {}
    result = _result(chat.get("messages"))
    tools = _tools(chat) if result is None else ()
    return Scene(dialect, begun, msgspec.json.encode(tools), result, _schema(chat.get("response_format")), seed)


def _tools(chat: Mapping[str, JSON]) -> tuple[Tool, ...]:
    listed = chat.get("tools")
    try:
        given = listed if isinstance(listed, list) else []
        tools = tuple(Tool.from_openai(tool) for tool in given if isinstance(tool, Mapping))
        return ToolChoice.of(chat.get("tool_choice")).among(tools)
    except DragomanError:
        return ()


def _result(messages: JSON) -> str | None:
    """What the last message says, if a tool says it."""
    last = messages[-1] if isinstance(messages, list) and messages else None
    if not isinstance(last, Mapping) or last.get("role") not in ("tool", "function"):
        return None
    content = last.get("content")
    return content if isinstance(content, str) else dumps(content, ensure_ascii=False)


def _schema(form: JSON) -> bytes | None:
    match form:
        case {"type": "json_schema", "json_schema": {"schema": Mapping() as schema}}:
            return msgspec.json.encode(schema)
        case {"type": "json_object"}:
            return b'{"type":"object","properties":{"answer":{"type":"string"}}}'
    return None


@lru_cache(KEPT)
def script_for(scene: Scene) -> str:
    """What is said: calls where there are tools and the dialect has calls, else an answer."""
    dialect = get_dialect(scene.dialect)
    tools = [Tool.from_openai(tool) for tool in msgspec.json.decode(scene.tools)]
    kinds: tuple[Kind, ...] = ("calls", "answer") if tools else ("answer",)
    for kind in kinds:
        for script in _scripts(scene, dialect, tools, kind):
            if _is_read_as_meant(script, scene, dialect, tools):
                return script.text
    return ANSWER


class _Script(Struct, frozen=True):
    """A text, and what has to come of it."""

    text: str
    message: Message | None = None
    calls: bool = False


def _scripts(
    scene: Scene, dialect: Dialect, tools: Sequence[Tool], kind: Literal["calls", "answer"]
) -> Iterator[_Script]:
    """The scripts that might do, the best first: recorded ones, then such as are written for this very request."""
    ends = _ends(dialect, calls=kind == "calls")
    if scene.schema is None and scene.result is None:
        known = [recording.text for recording in recordings(dialect.name)]
        known += [example.text for example in dialect.examples] if kind == "calls" else []
        yield from (_Script(text, calls=kind == "calls") for text in known)
    for message in _messages(scene, dialect, tools, kind):
        try:
            written = dialect.render(message)
        except Inexpressible:
            continue
        for text in _from(written, scene.begun, message):
            yield from (_Script(text + end, message) for end in ends)
    if kind == "answer":
        yield _Script(_answer(scene))


def _ends(dialect: Dialect, *, calls: bool) -> tuple[str, ...]:
    """The stop markers, the one first with which such a turn ends in the dialect's examples."""
    shown = [one for one in dialect.examples if bool(one.message.tool_calls) == calls]
    usual = (stop for one in shown for stop in dialect.stops if one.text.endswith(stop))
    return tuple(dict.fromkeys((*usual, *dialect.stops, "")))


def _from(written: str, begun: str, message: Message) -> Iterator[str]:
    """What of the written text may come behind the part that has begun."""
    if begun and begun in written:
        yield written[written.index(begun) + len(begun) :]
    if begun:
        texts = [part.text for part in message.parts if isinstance(part, ThinkingPart | TextPart)]
        yield from (written[written.index(text) :] for text in texts if text in written)
    yield written


def _messages(scene: Scene, dialect: Dialect, tools: Sequence[Tool], kind: Kind) -> Iterator[Message]:
    """Messages with and without thoughts; with them first, unless the prompt has closed one."""
    thoughts: list[tuple[Part, ...]] = [(ThinkingPart(THOUGHT),), ()]
    if scene.begun.strip() and not _thinks(scene, dialect):
        thoughts.reverse()
    if kind == "answer":
        yield from (Message("assistant", (*thought, TextPart(_answer(scene)))) for thought in thoughts)
        return
    for tool in tools:
        try:
            call = native_call(dialect, tool.name, arguments_for(tool, scene.seed))
        except DragomanError:
            continue
        for text in ((TextPart(LEAD_IN),), ()):
            yield from (Message("assistant", (*thought, *text, call)) for thought in thoughts)


def _thinks(scene: Scene, dialect: Dialect) -> bool:
    """Whether the prompt leaves the model within a thought."""
    parser = Parser(dialect, prefill=scene.begun)
    events = [*parser.feed("x"), *parser.finish()]
    return any(isinstance(event, ReasoningDelta) for event in events)


def _answer(scene: Scene) -> str:
    if scene.schema is not None:
        return dumps(value_for(msgspec.json.decode(scene.schema), scene.seed), ensure_ascii=False)
    if scene.result is not None:
        said = " ".join(scene.result.split())
        return f"The tool says: {said[:SHOWN]}{'...' if len(said) > SHOWN else ''}"
    return ANSWER


def _is_read_as_meant(script: _Script, scene: Scene, dialect: Dialect, tools: Sequence[Tool]) -> bool:
    """Whether the parser finds no problem in it, and either the message or calls of these tools by their schemas."""
    try:
        parser = Parser(dialect, tools, prefill=scene.begun)
        events = [*parser.feed(script.text), *parser.finish("stop")]
    except DragomanError:
        return False
    if any(isinstance(event, Problem) or (isinstance(event, CallEnd) and event.problems) for event in events):
        return False
    message = assemble(events)
    known = {tool.name: tool for tool in tools}
    if not all(call.name in known and satisfies(known[call.name], call.arguments) for call in message.tool_calls):
        return False
    if script.message is None:
        return bool(message.tool_calls) == script.calls and bool(script.calls or message.text)
    wanted = script.message
    return (
        message.text.strip() == wanted.text.strip()
        and message.thinking.strip() == wanted.thinking.strip()
        and [(call.name, loads(call.arguments)) for call in message.tool_calls]
        == [(call.name, loads(call.arguments)) for call in wanted.tool_calls]
    )
