"""A turn in which everything stands in a block of its own: thoughts, answers and calls, each behind what opens it.

A block begins with a marker that tells its kind. The prompt has written the turn's beginning, so only the later blocks
have it before that. The closer of a block also ends the turn, if no further block follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

from msgspec import Struct
from msgspec.structs import replace

from ..dialect import Dialect, Facts
from ..errors import Inexpressible
from ..events import ProblemKind
from ..grammar import build as b
from ..grammar.nodes import Grammar, Node
from ..segments import Segment
from ..types import Message, TextPart, ToolCall
from .calls import Calls
from .define import drawn, sample
from .turns import Think, stops, thought
from .writing import Speller, spell, written_by

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
    speller = _speller(name, blocks, calls, marks)
    return Dialect(
        name=name,
        doc=doc,
        grammar=_grammar(blocks, calls, stops),
        writer=written_by(speller),
        speller=speller,
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


def _speller(name: str, blocks: Blocks, calls: Calls, marks: tuple[str, ...]) -> Speller:
    def group(group: Sequence[ToolCall], after_text: bool, more: bool) -> list[str]:
        if more:
            raise Inexpressible(name, len(group), "nothing can stand behind a call")
        first, *others = calls.write(group, after_text, more)
        return [f"{blocks.begin}{first}", *others]

    def speller(message: Message, strict: bool) -> list[Segment]:
        written = spell(
            name,
            message,
            marks=marks,
            calls=group,
            thinking=lambda text: f"{blocks.begin}{blocks.think}{text}{blocks.end}",
            text=lambda text: f"{blocks.begin}{blocks.text}{text}{blocks.end}",
            names=calls.names,
            strict=strict,
        )
        if written:
            written[0] = replace(written[0], text=written[0].text.removeprefix(blocks.begin))
        # Behind an answer, the closer is the stop marker.
        if message.parts and isinstance(message.parts[-1], TextPart):
            written[-1] = replace(written[-1], text=written[-1].text.removesuffix(blocks.end))
        return written

    return speller
