"""A turn as a row of messages, each behind a header that says what it is: a thought, text on a channel, a call.

The prompt has written the beginning of the first header. What may go wrong between messages is read alike for all
such families; what the headers look like, and what their messages hold, is the dialect's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ..errors import Inexpressible
from ..events import ProblemKind
from ..grammar import build as b
from ..grammar.nodes import Grammar, Node
from ..segments import Segment
from ..types import Message, TextPart, ToolCall
from .calls import Calls
from .turns import stops
from .writing import spell

__all__ = ["Row"]

Label = Callable[[Node], Node]


class Row(Struct, frozen=True, kw_only=True):
    """The markers of a row of messages.

    `begin` is what begins a message, and `start` the marker in it; `end` ends one that another follows, the `stops` end
    the last, which with `ended_too` has its own end before. `heads` are the markers with which the first header begins,
    `words` what else a header may begin with; `parts` stand within headers. `breaks` are those that also end a text
    which they stand in.
    """

    begin: str
    start: str
    end: str
    stops: tuple[str, ...]
    heads: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    ended_too: bool = False

    @property
    def ends(self) -> tuple[str, ...]:
        """What ends the text of a message."""
        return (self.end, self.start, *self.stops, *self.breaks)

    @property
    def marks(self) -> tuple[str, ...]:
        """What no text can hold."""
        return tuple(dict.fromkeys((*self.ends, *self.heads, *self.parts)))

    def header(self, mark: str, fields: dict[str, str], *cases: tuple[dict[str, str], Node]) -> Node:
        """A header up to its `mark`, with fields in any order, and the message that follows where they are so."""
        return b.header(
            mark,
            *(b.case(then, **wanted) for wanted, then in cases),
            start=(self.start, *self.heads, *self.parts, *self.words),
            abort=(self.end, *self.stops),
            fields=fields,
        )

    def text(self, label: Label) -> Node:
        """A message of text; a header right behind a header takes its place, as models repeat the prompt's."""
        inside = label(b.until(*self.ends))
        return b.commit() + (b.peek(b.choice(*self.heads)) | inside if self.heads else inside)

    def unknown(self) -> Node:
        """A message on a channel that there is not: content, and reported."""
        return b.commit() + b.report(ProblemKind.UNKNOWN_CHANNEL) + b.content(b.until(*self.ends))

    def call(self, body: Node) -> Node:
        """A message that is a call."""
        ended = b.peek(b.space(), b.choice(*self.ends))
        return b.call(body, close=ended, resume=self.ends, stops=not self.ended_too) + b.space()

    def addressed(self, body: Node) -> Node:
        """A message that is a call, whose header has named it."""
        return self.call(b.commit() + b.begin() + body)

    def calls(self, calls: Calls, *, expected: bool = True) -> Node:
        """A message that holds calls; where they are `expected` and it begins otherwise, that is reported."""
        begins, closes = b.choice(*calls.openers), b.choice(*calls.closers)
        layout = b.markup(b.chars(" \\t\\r\\n", 1, 64)) + b.peek(begins | closes | b.choice(*self.marks))
        orphan = b.report(ProblemKind.ORPHAN_MARKER, closes, detail="a closing marker with nothing open")
        text = b.content(b.until(*calls.openers, *calls.closers, *self.marks, low=1))
        inside = b.choice(calls.reader(self.marks), orphan, layout, text, b.content(begins))
        unknown = b.report(ProblemKind.UNKNOWN_CHANNEL, detail="a message to a tool that holds no call")
        begun = b.choice(b.peek(b.space(), begins | b.choice(*self.marks)), b.end(), unknown)
        return b.commit() + (begun if expected else b.sequence()) + b.zero_or_more(inside)

    def ended(self, text: Node) -> Node:
        """A message and its end, which may be the beginning of the next one."""
        return text + b.choice(self.end, b.peek(b.choice(*self.marks)), b.end())

    def grammar(self, message: Node, *headless: tuple[str, Label], **entries: Node) -> Grammar:
        """The turn, which may also begin inside one of the `entries`.

        `headless` are the beginnings of headers that tell what the text is even if the header's own end is missing.
        """
        broken = b.commit() + b.report(ProblemKind.MALFORMED_HEADER, detail="a header that does not end")
        stray = b.report(ProblemKind.MALFORMED_HEADER, detail="text outside a message")
        orphan = b.report(ProblemKind.ORPHAN_MARKER, self.end, detail="the end of a message that did not begin")
        beginning = b.choice(*dict.fromkeys((self.begin, self.start, *self.heads, *self.parts)))
        within = b.zero_or_more(b.choice(*self.heads, *self.parts)) + b.content(b.until(*self.marks))
        unheaded = b.choice(
            *(self.ended(head + broken + label(b.until(*self.ends))) for head, label in headless),
            self.ended(beginning + broken + within),
            orphan,
            b.markup(b.chars(" \\t\\r\\n", 1, 64)) + b.peek(b.choice(*self.ends, *self.heads)),
            b.peek(b.any()) + b.commit() + stray + b.content(b.until(*self.marks, low=1)),
        )
        rest = b.zero_or_more(stops(*self.stops) | self.ended(message) | unheaded)
        return Grammar(rest, tuple((name, self.ended(text) + rest) for name, text in entries.items()))

    def spell(
        self,
        dialect: str,
        message: Message,
        strict: bool,
        *,
        thinking: str,
        text: Callable[[str | None], str],
        calls: Callable[[Sequence[ToolCall], bool, bool], list[str]],
        names: str,
    ) -> list[Segment]:
        """The messages behind the headers of `thinking`, of `text` on a channel (empty: there is none), and of `calls`.

        Leaves out the beginning that the prompt has, and the end that a stop marker will be.
        """
        for k, part in enumerate(message.parts):
            if isinstance(part, TextPart) and not text(part.channel):
                raise Inexpressible(dialect, k, f"there is no channel {part.channel!r}")
        written = spell(
            dialect,
            message,
            marks=self.marks,
            channels=lambda part: f"{self.begin}{text(part.channel)}{part.text}{self.end}",
            thinking=lambda thought: f"{self.begin}{thinking}{thought}{self.end}",
            calls=calls,
            names=names,
            strict=strict,
        )
        if written:
            written[0] = replace(written[0], text=written[0].text.removeprefix(self.begin))
        if written and not self.ended_too:
            written[-1] = replace(written[-1], text=written[-1].text.removesuffix(self.end))
        return written
