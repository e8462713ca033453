"""The turn of a model: visible text with thoughts, calls and stop markers in it, and what may go wrong between them.

A family differs from the next in its markers, not in its logic; so the logic stands here once. Nothing here knows a
model.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ..events import ProblemKind
from ..grammar import build as b
from ..grammar.nodes import Grammar, Node
from .calls import Calls

__all__ = ["MENTIONING", "Answer", "Think", "conversation", "mentioned", "stops", "thought", "turn"]

QUOTES = "`'\\\""
"""What stands behind a marker that is only being mentioned."""


MENTIONING = " `'\".,;:!?)]"
"""What stands behind an opener that is only being talked about."""


class Think(Struct, frozen=True):
    """How thoughts are marked: the spellings of the opener and of the closer, those that are written first.

    `lead`, `tail` and `after` are the newlines that templates write behind the opener, before the closer and behind it;
    they are layout, not text, and may be missing where a model forgets them. `inner` are markers within a thought.
    Markers that are `words` of plain language open a thought only where they begin the turn; as closers alone they are
    text. Where it is `skipped`, a closer that begins the turn says that there is no thought.
    """

    openers: tuple[str, ...]
    closers: tuple[str, ...]
    lead: str = "\n"
    tail: str = "\n"
    after: str = "\n\n"
    words: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()
    skipped: bool = False

    @classmethod
    def tags(cls, opener: str = "<think>", closer: str = "</think>") -> Think:
        """Between two markers, each on a line of its own."""
        return cls((opener,), (closer,))

    @classmethod
    def tight(cls, opener: str = "<think>", closer: str = "</think>") -> Think:
        """Between two markers, without newlines."""
        return cls((opener,), (closer,), "", "", "")

    def anywhere(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The openers and the closers that mean something wherever they stand."""
        openers = tuple(marker for marker in self.openers if marker not in self.words)
        return openers, tuple(marker for marker in self.closers if marker not in self.words)

    def write(self, text: str) -> str:
        """The thought between its markers."""
        return f"{self.openers[0]}{self.lead}{text}{self.tail}{self.closers[0]}{self.after}"


class Answer(Struct, frozen=True):
    """How visible text is marked, where a dialect marks it; models leave these markers out at times.

    Where they are not `written`, they are only read; then there may be closers alone.
    """

    openers: tuple[str, ...]
    closers: tuple[str, ...]
    lead: str = ""
    tail: str = ""
    after: str = ""
    written: bool = True

    def write(self, text: str) -> str:
        """The text between its markers."""
        if not self.written:
            return text
        return f"{self.openers[0]}{self.lead}{text}{self.tail}{self.closers[0]}{self.after}"


def stops(*markers: str) -> Node:
    """A stop marker and whatever comes after it: other stop markers are layout, all else is out of place."""
    layout = b.markup(b.choice(*(b.special(marker) for marker in markers)))
    after = b.zero_or_more(layout | b.markup(b.chars(" \t\r\n", 1, 64)), b.commit())
    rest = b.optional(b.peek(b.any()), b.commit(), b.report(ProblemKind.TEXT_AFTER_STOP), b.malformed(b.until()))
    return b.stop(*markers) + b.commit() + after + rest


def thought(
    opening: Node, think: Think, *, inside: Node | None, breaks: tuple[str, ...], stopping: tuple[str, ...]
) -> Node:
    """Reasoning up to its closing marker; `inside` are the calls that may interrupt it, beginning with `breaks`.

    It also ends, reported, before one of the `stopping` markers and with the input. An opener that comes once more
    is layout: models repeat the one that the prompt has written.
    """
    ends = _with(think.tail, think.closers)
    text = b.reasoning(b.until(*ends, *think.inner, *breaks, *stopping, low=1))
    inner = [b.markup(b.choice(*think.inner))] if think.inner else []
    calls = [b.gate("calls_in_reasoning", inside)] if inside is not None else []
    literal = [b.reasoning(b.choice(*breaks))] if breaks else []
    body = b.zero_or_more(b.choice(*calls, *inner, text, *literal))
    closed = b.markup(b.choice(*ends)) + _newlines(think.after)
    unclosed = b.report(ProblemKind.UNCLOSED_REASONING, detail="the input ended inside reasoning") + b.end()
    cut = b.report(ProblemKind.IMPLICIT_CLOSE, detail="another marker stands where the thought should be closed")
    stopped = [b.peek(b.choice(*stopping)) + cut] if stopping else []
    lead = b.optional(think.lead) if think.lead else b.sequence()
    opening = opening + b.commit() + lead + b.optional(b.choice(*think.openers), lead)
    return opening + b.commit() + body + b.choice(closed, *stopped, unclosed)


def turn(
    *blocks: Node,
    delimiters: tuple[str, ...],
    orphans: tuple[str, ...],
    stopping: tuple[str, ...] = (),
    prose: bool = True,
) -> Node:
    """Visible text with blocks in it, until the input ends; in `prose`, Markdown code quotes markers.

    `delimiters` are the markers at which a block may begin: where none does, they are text. So are those `stopping` the
    turn, which at the very end of the output no code quotes. `orphans` are closing markers: with nothing to close they
    are taken out and reported, unless they are only mentioned in quotes.
    """
    orphan = b.report(
        ProblemKind.ORPHAN_MARKER,
        b.choice(*orphans) + b.negate(b.one(QUOTES)),
        detail="a closing marker with nothing open",
    )
    marks = tuple(dict.fromkeys((*delimiters, *orphans, *stopping)))
    others = tuple(mark for mark in marks if mark not in stopping)
    text = b.content(b.prose(*others, finals=stopping) if prose else b.until(*marks, low=1))
    literal = [b.content(b.choice(*marks))] if marks else []
    return b.zero_or_more(b.choice(*blocks, *([orphan] if orphans else []), text, *literal))


def mentioned(*openers: str) -> Node:
    """Fails where an opener in running text is only talked about: a quote, a space or punctuation follows it."""
    return b.peek(b.choice(*openers), b.negate(b.one(re.escape(MENTIONING))))


def conversation(
    think: Think | None = None,
    calls: Calls | None = None,
    *,
    stopping: tuple[str, ...] = (),
    answer: Answer | None = None,
    prose: bool = True,
) -> Grammar:
    """A turn of text, thoughts and calls; where there are thoughts, also entered inside one.

    Where markers are `prose`, spelled in ordinary tokens, Markdown code quotes them, and the `answer`'s markers count
    only at the edges of a block; control tokens count wherever they are. Where the prompt has opened the thought, its
    opener may come once more.
    """
    openers, closers = think.anywhere() if think is not None else ((), ())
    inside = calls.reader((*openers, *stopping)) if calls is not None else None
    bare = calls.bare((*openers, *stopping)) if calls is not None and calls.bare is not None else None
    breaks = calls.openers if calls is not None else ()
    orphans = (*closers, *(calls.closers if calls is not None else ()))
    framing, at_edges = _answer(answer, (*breaks, *openers, *stopping, *orphans), prose)
    behind = b.optional(b.space(), bare) if bare is not None else b.sequence()

    def thinking(opening: Node) -> Node:
        assert think is not None
        marked = (*answer.openers, *answer.closers) if answer is not None and not prose else ()
        ends = (*stopping, *marked)
        return thought(opening, think, inside=inside, breaks=breaks, stopping=ends) + at_edges + behind

    first: list[Node] = [thinking(b.choice(*think.openers))] if think is not None else []
    first += [b.choice(*think.closers) + _newlines(think.after)] if think is not None and think.skipped else []
    blocks = [mentioned(*openers) + thinking(b.choice(*openers))] if openers else []
    blocks += [inside + at_edges] if inside is not None else []
    body = turn(
        *blocks,
        *framing,
        *([stops(*stopping)] if stopping else []),
        delimiters=(*openers, *breaks, *_delimiters(answer)),
        stopping=stopping,
        orphans=orphans,
        prose=prose,
    )
    first += [bare] if bare is not None else []
    first += [_opened(answer)] if answer is not None and answer.openers and prose else []
    alone = [marker for marker in breaks if marker not in stopping]
    first += [b.peek(b.choice(*alone))] if alone else []
    start = b.optional(b.space(), b.choice(*first)) + body if first else body
    entries = (("reasoning", thinking(b.sequence()) + body),) if think is not None else ()
    return Grammar(start, entries)


def _answer(answer: Answer | None, following: tuple[str, ...], prose: bool) -> tuple[list[Node], Node]:
    """The blocks that are an answer's markers, and what may stand right behind another block."""
    if answer is None:
        return [], b.sequence()
    opened = [_opened(answer)] if answer.openers else []
    closed = b.choice(*_with(answer.tail, answer.closers))
    if not prose:
        return [*opened, closed + _newlines(answer.after)], b.sequence()
    ending = b.end() | b.choice(*following) if following else b.end()
    return [closed + b.space() + b.peek(ending)], b.optional(b.space(), *opened) if opened else b.sequence()


def _opened(answer: Answer) -> Node:
    """The opener of an answer, or two: models repeat it, and templates put a label behind it."""
    return b.repeat(b.choice(*answer.openers) + _newlines(answer.lead), 1, 2)


def _delimiters(answer: Answer | None) -> tuple[str, ...]:
    return (*answer.openers, *_with(answer.tail, answer.closers)) if answer is not None else ()


def _with(newline: str, markers: tuple[str, ...]) -> tuple[str, ...]:
    return b.framed(*markers) if newline else markers


def _newlines(layout: str) -> Node:
    """The newlines that a template writes here, or fewer."""
    return b.chars("\n", 0, len(layout)) if layout else b.sequence()
