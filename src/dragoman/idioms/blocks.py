"""A turn in which everything stands in a block of its own: thoughts, answers and calls, each behind what opens it.

A block begins with a marker that tells its kind. The prompt has written the turn's beginning, so only the later blocks
have it before that. The closer of a block also ends the turn, if no further block follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

from msgspec import Struct

from ..dialect import Dialect, Facts
from ..errors import Inexpressible
from ..events import ProblemKind
from ..grammar import build as b
from ..grammar.nodes import Grammar, Node
from ..types import Message, TextPart, ToolCall
from .calls import Calls
from .define import drawn, sample
from .turns import Think, stops, thought
from .writing import write

__all__ = ["Blocks", "define_blocks"]


class Blocks(Struct, frozen=True):
    """The markers of a turn in blocks: its beginning, what opens a thought and an answer, what closes a block."""

    begin: str
    think: str
    text: str
    end: str


def define_blocks(
    doc: str,
    *,
    name: str,
    source: str,
    blocks: Blocks,
    calls: Calls,
    stops: tuple[str, ...],
    turns: tuple[str, ...] = (),
    native_id: Callable[[str, int], str] | None = None,
    **facts: Unpack[Facts],
) -> Dialect:
    """The dialect of a turn in blocks; see `define`. Calls come last, up to one of the `stops`."""
    marks = (blocks.begin, blocks.think, blocks.text, blocks.end, *calls.marks, *stops)
    return Dialect(
        name=name,
        doc=doc,
        grammar=_grammar(blocks, calls, stops),
        writer=_writer(name, blocks, calls, marks),
        turns=turns,
        kind=calls.kind,
        marks=tuple(dict.fromkeys(marks)),
        stops=(*stops, blocks.end),
        source=source,
        native_id=native_id,
        examples=drawn(doc, sample(True, calls.most, native_id)),
        **facts,
    )


def _grammar(blocks: Blocks, calls: Calls, stopping: tuple[str, ...]) -> Grammar:
    marks = tuple(dict.fromkeys((blocks.begin, blocks.think, blocks.text, *calls.openers, *stopping)))
    think = Think.tight(blocks.think, blocks.end)

    def thinking(opening: Node) -> Node:
        return thought(opening, think, inside=None, breaks=(), stopping=marks)

    cut = b.report(ProblemKind.IMPLICIT_CLOSE, detail="another marker stands where the block should be closed")
    closed = b.choice(b.peek(b.choice(*marks)) + cut, b.peek(blocks.end), b.end())
    strays = tuple(marker for marker in calls.closers if marker not in marks)
    orphan = b.report(ProblemKind.ORPHAN_MARKER, b.choice(*strays), detail="a marker outside a call")
    alone = b.report(ProblemKind.ORPHAN_MARKER, b.choice(*calls.openers), detail="a marker with no call behind it")
    ends = (blocks.end, *marks, *strays)
    text = b.zero_or_more(b.content(b.until(*ends, low=1)) | orphan, b.commit())
    stray = b.report(ProblemKind.MALFORMED_HEADER, detail="text outside a block")
    body = b.zero_or_more(
        b.choice(
            thinking(b.literal(blocks.think)),
            blocks.text + b.commit() + text + closed,
            b.markup(b.choice(blocks.end + b.space() + blocks.begin, blocks.begin)),
            calls.reader((blocks.end, *marks)),
            stops(blocks.end, *stopping),
            orphan,
            alone,
            b.markup(b.chars(" \\t\\r\\n", 1, 64)) + b.peek(b.choice(*ends) | b.end()),
            b.peek(b.any()) + b.commit() + stray + b.content(b.until(*ends, low=1)),
        )
    )
    return Grammar(body, (("reasoning", thinking(b.optional(blocks.think)) + body),))


def _writer(name: str, blocks: Blocks, calls: Calls, marks: tuple[str, ...]) -> Callable[[Message], str]:
    def group(group: Sequence[ToolCall], after_text: bool, more: bool) -> str:
        if more:
            raise Inexpressible(name, len(group), "nothing can stand behind a call")
        return f"{blocks.begin}{calls.write(group, after_text, more)}"

    def writer(message: Message) -> str:
        text = write(
            name,
            message,
            marks=marks,
            calls=group,
            thinking=lambda text: f"{blocks.begin}{blocks.think}{text}{blocks.end}",
            text=lambda text: f"{blocks.begin}{blocks.text}{text}{blocks.end}",
            names=calls.names,
        ).removeprefix(blocks.begin)
        # Behind an answer, the closer is the stop marker.
        return text.removesuffix(blocks.end) if message.parts and isinstance(message.parts[-1], TextPart) else text

    return writer
