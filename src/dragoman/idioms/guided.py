"""Output whose form the engine has forced: JSON in place of the answer, behind the thoughts that a dialect has.

Under ``tool_choice`` with a tool's name, the JSON is the arguments of that tool; under ``required``, it is a call or an
array of calls, each with its name; under ``response_format``, it is the answer. The model's own markup has no meaning
there.
"""

from __future__ import annotations

from collections.abc import Callable
from json import dumps

from ..dialect import Dialect, Example
from ..errors import Inexpressible, InvalidDialect
from ..events import ProblemKind
from ..grammar import build as b
from ..grammar.nodes import Grammar, Node
from ..segments import text_of
from ..types import Message, ThinkingPart, ToolCall
from .json_calls import json_members
from .turns import stops
from .writing import spell

__all__ = ["guided", "guided_answer"]


def guided(
    dialect: Dialect | None = None,
    tool: str | None = None,
    *,
    name: str = "guided_json",
    doc: str = "Calls that the engine has forced.",
    examples: tuple[Example, ...] = (),
) -> Dialect:
    """The dialect of forced calls: all of the JSON are the arguments of `tool`, or it holds calls with their names.

    Thoughts before it are those of `dialect`, and so are its stop markers. Raises `InvalidDialect` where its thoughts
    are messages, as each of them has a header of its own.
    """
    stopping = dialect.stops if dialect is not None else ()
    body = _named(tool, stopping) if tool is not None else _required(stopping)
    return _guided(dialect, body, _calls_writer(name, tool), name, doc, examples)


def guided_answer(dialect: Dialect, *, name: str = "guided_answer") -> Dialect:
    """The dialect of a forced answer: all that follows the thoughts of `dialect` is text, whatever it looks like."""
    doc = "An answer that the engine has forced."
    return _guided(
        dialect, _text(dialect.stops), lambda message: text_of(spell(name, message, marks=dialect.stops)), name, doc, ()
    )


def _guided(
    dialect: Dialect | None,
    body: Node,
    writer: Callable[[Message], str],
    name: str,
    doc: str,
    examples: tuple[Example, ...],
) -> Dialect:
    thoughts = dialect.thoughts if dialect is not None else None
    stopping = dialect.stops if dialect is not None else ()
    if dialect is not None and thoughts is None and "reasoning" in dialect.starts:
        raise InvalidDialect(dialect.name, "a dialect whose thoughts stand before its answer", "one of messages")
    stop = [stops(*stopping)] if stopping else []
    stray = b.report(ProblemKind.TRAILING_INPUT, detail="text behind what was forced")
    trailing = b.peek(b.any()) + b.commit() + stray + b.malformed(b.until(*stopping, low=1))
    rest = b.choice(body, _text(stopping)) + b.zero_or_more(b.choice(*stop, trailing))
    opened, begun = thoughts if thoughts is not None else (None, None)

    def write_thoughts(message: Message) -> str:
        parts = message.parts
        if dialect is None or thoughts is None or not parts or not isinstance(parts[0], ThinkingPart):
            return writer(message)
        return dialect.render(Message(message.role, parts[:1])) + writer(Message(message.role, parts[1:]))

    return Dialect(
        name=name,
        doc=doc,
        grammar=Grammar(
            (b.optional(b.space(), opened) + rest) if opened is not None else rest,
            (("reasoning", begun + rest),) if begun is not None else (),
        ),
        writer=write_thoughts,
        models=(),
        kind="bare JSON",
        marks=(),
        stops=stopping,
        source="vLLM vllm/parser/abstract_parser.py; SGLang function_call/json_array_parser.py",
        turns=dialect.turns if dialect is not None else (),
        others=dialect.others if dialect is not None else (),
        thoughts=thoughts,
        examples=examples,
    )


def _text(stopping: tuple[str, ...]) -> Node:
    return (b.peek(b.any()) + b.commit() + b.content(b.until(*stopping))) | b.end()


def _named(tool: str, stopping: tuple[str, ...]) -> Node:
    body = b.space() + b.peek("{") + b.commit() + b.begin(name=tool) + b.arguments(b.json())
    return b.call(body, resume=stopping) + b.space()


def _required(stopping: tuple[str, ...]) -> Node:
    """A call, or an array of calls, each an object with its name and arguments."""
    inside = "{" + b.commit() + json_members()
    one = b.call(inside, resume=stopping)
    more = b.zero_or_more(b.space(), b.optional(",", b.space()), one)
    array = b.space() + "[" + b.peek(b.space(), b.one("{\\]")) + b.commit() + b.space()
    listed = array + b.optional(one, more) + b.optional(b.space(), "]")
    return (listed | (b.call(b.space() + inside, resume=stopping) + more)) + b.space()


def _calls_writer(name: str, tool: str | None) -> Callable[[Message], str]:
    def one(call: ToolCall) -> str:
        return f'{{"name": {dumps(call.name)}, "parameters": {call.arguments}}}'

    def writer(message: Message) -> str:
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        if len(calls) < len(message.parts) or (tool is not None and [call.name for call in calls] != [tool]):
            raise Inexpressible(name, 0, f"there is only {'one call of ' + repr(tool) if tool else 'calls'}")
        if tool is not None:
            return text_of(spell(name, message, marks=(), calls=lambda group, *_: [group[0].arguments]))
        listed = spell(name, message, marks=(), calls=lambda group, *_: [f"[{', '.join(map(one, group))}]"])
        return text_of(listed) or "[]"

    return writer
