"""Sampled token ids as the message that they are, and how the model came to an end.

The rules are those of `dragoman.parse`: parts in the order in which they were written, whatever it is; each thought a
part of its own, and an empty one none; calls apart from text, and those that can't be read kept with their raw text
and the reason. Added here is where the output ends, which only the ids tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import groupby

from msgspec.structs import replace

from ..dialect import Dialect
from ..events import CallEnd, CallStatus, Event, Problem, ProblemKind, Stop
from ..parse.assemble import assemble
from ..parse.parser import Parser
from ..parse.tokens import Label
from ..segments import NOBODY, Kind
from ..tokenizers import Tokenizer, decode
from ..types import JSON, Message, TextPart, Tool, ToolCall
from .encode import Span

__all__ = ["Termination", "read_response", "spans_of"]


class Termination(StrEnum):
    """How sampled ids ended; everything but `TRUNCATED` and `MALFORMED` is clean."""

    STOP_SEQUENCE = "stop_sequence"
    """The token that ends the model's turn."""
    END_OF_TEXT = "end_of_text"
    """The token that ends all text, in place of the turn's own."""
    CALL = "call"
    """The model stopped for its calls to be answered."""
    TRUNCATED = "truncated"
    """There is no stop token: the limit of tokens came first."""
    MALFORMED = "malformed"
    """The model stopped, but left something that can't be read, or is not closed."""

    @property
    def is_clean(self) -> bool:
        """Whether the model ended its turn, and all of it can be read."""
        return self not in (Termination.TRUNCATED, Termination.MALFORMED)


BROKEN = frozenset(
    [
        ProblemKind.MALFORMED,
        ProblemKind.INCOMPLETE,
        ProblemKind.UNCLOSED_REASONING,
        ProblemKind.IMPLICIT_CLOSE,
        ProblemKind.MALFORMED_HEADER,
    ]
)
"""Problems that leave something unread, or open: a thought that the stop marker ends. Those of calls are the calls'."""


TURN_LENGTH = 32
"""Tokens of a prompt's end in which the beginning of a turn is looked for."""


def read_response(
    dialect: Dialect,
    tokenizer: Tokenizer,
    ends: Sequence[str],
    ids: Sequence[int],
    tools: Sequence[Tool | Mapping[str, JSON]] | None = None,
    prompt: str | Sequence[int] | None = None,
    *,
    lead: str = "",
) -> tuple[Message, Termination]:
    """The message of sampled ids, up to the first token of `ends`, behind a rendered prompt, as ids or text.

    The first of `ends` is the turn's own, and those that the dialect does not know end all text. `lead` is no part of a
    text that begins the turn. Linear; never raises for what the model wrote, but `UnknownToken` for an id
    that the vocabulary does not have.
    """
    stops = {tokenizer.control[end]: end for end in ends if end in tokenizer.control}
    at = next((k for k, token in enumerate(ids) if token in stops), len(ids))
    stop = stops[ids[at]] if at < len(ids) else None
    parser = Parser(dialect, tools, prompt=prompt, tokenizer=tokenizer)
    known = stop is None or stop in dialect.stops
    events = parser.feed_tokens(ids[: at + known]) + parser.finish("length" if stop is None else "stop")
    message = assemble(events)
    given = prompt if isinstance(prompt, str | None) else decode(tokenizer, prompt[-TURN_LENGTH:])
    if lead and (given is None or given.endswith(dialect.turns)):
        message = _without(lead, message)
    markers = [event.marker for event in events if isinstance(event, Stop) and event.marker is not None]
    others = [end for end in ends if end != ends[0] or end not in dialect.stops]
    return message, _termination(events, message, markers[0] if markers else stop, others)


def _without(lead: str, message: Message) -> Message:
    """The message without what stands before its first text."""
    match message.parts:
        case (TextPart(text=text) as first, *rest) if text.startswith(lead):
            left = (replace(first, text=text[len(lead) :]),) if text != lead else ()
            return replace(message, parts=(*left, *rest))
        case _:
            return message


def _termination(events: Sequence[Event], message: Message, stop: str | None, others: Sequence[str]) -> Termination:
    """How it ended, by the first stop; `others` than the turn's own end all text."""
    if stop is None:
        return Termination.TRUNCATED
    if any(_breaks(event) for event in events):
        return Termination.MALFORMED
    if message.parts and isinstance(message.parts[-1], ToolCall):
        return Termination.CALL
    return Termination.END_OF_TEXT if stop in others else Termination.STOP_SEQUENCE


KINDS = {
    Label.REASONING: Kind.THINKING,
    Label.CONTENT: Kind.TEXT,
    Label.NAME: Kind.CALL,
    Label.ARGUMENTS: Kind.CALL,
    Label.STOP: Kind.STOP,
}


def spans_of(labels: Sequence[Label], start: int, message: int) -> list[Span]:
    """The spans of sampled tokens, the first of which is the `start`-th of all, by what they are.

    A thought, a text and a call, from its name to its last argument, are a part each, counted in order.
    """
    spans: list[Span] = []
    part, at = NOBODY, start
    for label, same in groupby(labels):
        end = at + len(list(same))
        kind = KINDS.get(label, Kind.MARKUP)
        if label in (Label.REASONING, Label.CONTENT, Label.NAME):
            part += 1
        if label is Label.ARGUMENTS and len(spans) > 1 and spans[-1].kind is Kind.MARKUP:
            at = spans.pop().start
        own = NOBODY if kind is Kind.STOP else part
        if spans and (spans[-1].kind, spans[-1].part) == (kind, own):
            at = spans.pop().start
        spans.append(Span(at, end, kind, message, own, sampled=True))
        at = end
    return spans


def _breaks(event: Event) -> bool:
    match event:
        case Problem(kind=kind):
            return kind in BROKEN
        case CallEnd(status=status):
            return status is not CallStatus.COMPLETE
        case _:
            return False
