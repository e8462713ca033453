"""From markers to a dialect: thoughts, calls and answers put together, with the example that its layout is."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Unpack

from ..dialect import Dialect, Example, Facts
from ..grammar import build as b
from ..grammar.nodes import Node
from ..types import Message, Part, TextPart, ThinkingPart, Tool, ToolCall
from .calls import Calls
from .turns import Answer, Think, conversation, thought
from .writing import speller_of, written_by

__all__ = ["SAMPLE", "SAMPLE_TOOLS", "define", "drawn", "layout", "sample"]

THOUGHTS_ONLY = "thoughts only"
"""The kind of dialects without calls."""

SAMPLE = Message(
    "assistant",
    (
        ThinkingPart("Two cities."),
        TextPart("Let me look."),
        ToolCall("get_weather", '{"city": "Paris", "days": 2}'),
        ToolCall("get_weather", '{"city": "Oslo"}'),
    ),
)
"""What the layout at the head of every dialect's file says, as far as the dialect can say it."""

SAMPLE_TOOLS = (
    Tool(
        "get_weather",
        "The weather of the next days.",
        {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    ),
)


def define(
    doc: str,
    *,
    name: str,
    source: str,
    think: Think | None = None,
    calls: Calls | None = None,
    answer: Answer | None = None,
    stops: tuple[str, ...] = (),
    prose: bool = True,
    turns: tuple[str, ...] = (),
    native_id: Callable[[str, int], str] | None = None,
    ids: str = "",
    examples: tuple[Example, ...] = (),
    variant: Callable[[str], Dialect] | None = None,
    **facts: Unpack[Facts],
) -> Dialect:
    """The dialect of a conversation of thoughts, answers and calls; see `Dialect` and `conversation`.

    `doc` is the docstring of its file. Its first indented block is the layout of `SAMPLE`, which becomes the first
    example: there, a backslash at the end of a line joins it to the next.
    """
    marks = (
        *((*think.openers, *think.closers, *think.inner) if think is not None else ()),
        *(calls.marks if calls is not None else ()),
        *((*answer.openers, *answer.closers) if answer is not None else ()),
    )
    most = calls.most if calls is not None else 0
    speller = speller_of(name, think, calls, answer, (*marks, *stops), prose)
    return Dialect(
        name=name,
        doc=doc,
        grammar=conversation(think, calls, stopping=stops, answer=answer, prose=prose),
        writer=written_by(speller),
        speller=speller,
        turns=turns,
        kind=calls.kind if calls is not None else THOUGHTS_ONLY,
        marks=marks,
        stops=stops,
        source=source,
        native_id=native_id,
        ids=ids,
        variant=variant,
        thoughts=_thoughts(think, stops) if think is not None else None,
        examples=(*drawn(doc, sample(think is not None, most, native_id)), *examples),
        **facts,
    )


def _thoughts(think: Think, stops: tuple[str, ...]) -> tuple[Node, Node]:
    opened, begun = (
        thought(opening, think, inside=None, breaks=(), stopping=stops)
        for opening in (b.choice(*think.openers), b.sequence())
    )
    return opened, begun


def drawn(doc: str, said: Message) -> tuple[Example, ...]:
    """The layout in a docstring as the example that it is of this message; none if there is no layout."""
    text = layout(doc)
    return (Example("a thought, a sentence and calls", text, said, SAMPLE_TOOLS),) if text else ()


def layout(doc: str) -> str:
    """The first indented block of a docstring, as the literal text that it is; empty if there is none."""
    lines = doc.splitlines()
    starts = next((k for k, line in enumerate(lines) if line.startswith("    ")), len(lines))
    ends = next((k for k in range(starts, len(lines)) if lines[k] and not lines[k].startswith(" ")), len(lines))
    return textwrap.dedent("\n".join(lines[starts:ends])).strip("\n").replace("\\\n", "")


def sample(thinks: bool = True, most: int | None = None, native_id: Callable[[str, int], str] | None = None) -> Message:
    """`SAMPLE` without what a dialect can't say, with at most so many calls and the ids that its models write."""
    parts: list[Part] = []
    written = 0
    for part in SAMPLE.parts:
        if isinstance(part, ThinkingPart) and not thinks:
            continue
        if isinstance(part, ToolCall):
            if most is not None and written >= most:
                continue
            part = ToolCall(part.name, part.arguments, native_id(part.name, written) if native_id else None)
            written += 1
        parts.append(part)
    return Message("assistant", tuple(parts))
