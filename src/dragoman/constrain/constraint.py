"""Constraints: what a dialect lets a model write, given tools and a request, as rules that any engine can be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from json import dumps

from msgspec import Struct

from ..dialect import Dialect
from ..emit.book import Book, closed
from ..emit.guarantees import Guarantees
from ..emit.rules import Expr, Rules, choice
from ..emit.schema import Lowering
from ..errors import InvalidRequest, InvalidStart, InvalidTool
from ..kept import keep
from ..types import JSON, Tool
from .calls import CallBody, Calls, parameters_of
from .layout import CALL, TEXT, Layout, layout_of
from .request import Constraints, LeadIn, Reasoning, Scope, ToolChoice
from .triggers import openers
from .turn import Turn

__all__ = ["Constraint", "constrain"]


class Constraint(Struct, frozen=True):
    """What a model may write.

    `tools` are those that may be called. `rules` are the whole of what was asked for, without triggers; `lazy` are the
    rules from a trigger on, ``None`` where there are no calls or nothing announces them. `calls` are the calls that
    there may be, for engines that take them one by one, out of `parts`. `guarantees` hold for the rules; what an engine
    can't be told comes on top.
    """

    layout: Layout
    asked: Constraints
    tools: tuple[Tool, ...]
    rules: Rules
    lazy: Rules | None
    calls: tuple[CallBody, ...]
    guarantees: Guarantees
    parts: Mapping[str, Expr] = {}

    def parameters(self, tool: Tool) -> Mapping[str, JSON]:
        """The schema that the arguments of a call have to satisfy."""
        return parameters_of(tool, strict=self.asked.strict)

    def behind(self, call: CallBody) -> Rules:
        """What comes behind the fixed beginning of a call."""
        return closed(self.parts, call.rest)


def constrain(
    dialect: Dialect,
    tools: Sequence[Tool] = (),
    *,
    tool_choice: object = "auto",
    parallel: bool = True,
    reasoning: Reasoning = "auto",
    scope: Scope = "output",
    lead_in: LeadIn = "reasoning",
    answer: Mapping[str, JSON] | None = None,
    strict: bool = True,
    any_order: bool = True,
    start: str = "content",
    control: Mapping[str, int] | None = None,
) -> Constraint:
    """What a model of this dialect may write, given these tools; see `Constraints` for what can be asked.

    `tool_choice` is a `ToolChoice` or what OpenAI's API takes. `answer` is the JSON Schema of a structured answer.
    What was asked for before is not built again. Raises `InvalidRequest` for what can't be asked, `InvalidTool` for a
    schema that can't be read, and `Inexpressible` for a tool that the dialect can't name.
    """
    asked = Constraints(
        choice=tool_choice if isinstance(tool_choice, ToolChoice) else ToolChoice.of(tool_choice),
        parallel=parallel,
        reasoning=reasoning,
        scope=scope,
        lead_in=lead_in,
        answer=answer,
        strict=strict,
        any_order=any_order,
        start=start,
        control=dict(control or {}),
    )
    tools = tuple(tools)
    for tool in tools:
        _require_shallow(tool.parameters, "parameters", tool.name)
    _require_shallow(answer, "answer")
    key = (id(dialect), dumps([[tool.name, tool.parameters] for tool in tools]), dumps(_plain(asked)))
    known = _known.get(key)
    return known if known is not None else keep(_known, key, _build(dialect, tools, asked), KEPT)


DEEPEST = 100
"""Values within values of a schema: more could not be gone through, and no call that is meant has them."""


def _require_shallow(schema: JSON, where: str, tool: str | None = None) -> None:
    """Refuse a schema that is nested too deeply."""
    level: list[JSON] = [schema]
    for _ in range(DEEPEST):
        level = [
            inner
            for value in level
            if isinstance(value, Mapping | list)
            for inner in (value.values() if isinstance(value, Mapping) else value)
        ]
        if not level:
            return
    raise InvalidTool(where, f"a schema nested at most {DEEPEST} deep; name parts of it in $defs", "a deeper one", tool)


_known: dict[tuple[int, str, str], Constraint] = {}
KEPT = 128
"""Constraints that are kept; each keeps its dialect."""


def _plain(asked: Constraints) -> list[object]:
    return [getattr(asked, field) for field in asked.__struct_fields__[1:]] + [asked.choice.mode, asked.choice.names]


def _build(dialect: Dialect, tools: tuple[Tool, ...], asked: Constraints) -> Constraint:
    chosen = asked.choice.among(tools)
    names = [tool.name for tool in chosen]
    for tool in chosen:
        if names.count(tool.name) > 1:
            raise InvalidTool("name", "a name of its own", tool.name, tool=tool.name)
    if asked.start not in dialect.starts:
        raise InvalidStart(dialect.name, asked.start, dialect.starts)
    layout = layout_of(dialect)
    book = Book()
    if asked.choice.mode == "required" and not chosen:
        raise InvalidRequest("tools", "at least one tool where a call is required", [])
    if chosen and CALL not in layout.kinds:
        raise InvalidRequest("tools", f"none, as {dialect.name} has no calls", names)
    if asked.answer is not None and TEXT not in layout.kinds:
        raise InvalidRequest("answer", f"none, as {dialect.name} has no text", asked.answer)
    if asked.scope == "arguments":
        return _arguments_alone(layout, asked, chosen, book)
    calls = Calls(layout, book, any_order=asked.any_order, strict=asked.strict) if chosen else None
    bodies = tuple(calls.body(tool) for tool in chosen) if calls is not None else ()
    call = (
        book.rule("calls", choice(*(book.rule(f"{one.tool.name}-call", one.whole) for one in bodies)))
        if bodies
        else None
    )
    answer = _answer(layout, asked, book)
    turn = Turn(layout, asked, book, call, answer)
    rules = book.close(turn.root())
    lazy = book.close(turn.lazy(openers(layout))) if call is not None and openers(layout) else None
    return Constraint(layout, asked, chosen, rules, lazy, bodies, _guarantees(book), book.rules)


def _answer(layout: Layout, asked: Constraints, book: Book) -> Expr | None:
    """The answer in its form; its strings can't begin a marker."""
    if asked.answer is None:
        return None
    lowering = Lowering(book, asked.answer, "answer", any_order=asked.any_order, closers=layout.marks)
    return lowering.value(asked.answer)


def _arguments_alone(layout: Layout, asked: Constraints, tools: tuple[Tool, ...], book: Book) -> Constraint:
    """The arguments of one tool, as JSON."""
    if len(tools) != 1:
        raise InvalidRequest(
            "scope", "one tool whose arguments are meant, by tool_choice", [tool.name for tool in tools]
        )
    schema = parameters_of(tools[0], strict=asked.strict)
    lowering = Lowering(book, schema, tools[0].name, any_order=asked.any_order)
    rules = book.close(lowering.value(schema))
    return Constraint(layout, asked, tools, rules, None, (), _guarantees(book))


def _guarantees(book: Book) -> Guarantees:
    return Guarantees().less(book.notes)
