"""The next prompt of a conversation, without encoding again what was sampled.

Tokens in, tokens out: a model goes on from the very ids that it wrote, which another encoding of their text need not
give back. What a format appends to a turn is added behind them. That is only right where the format leaves in place
what is there; where it rewrites history, as those do that take thoughts out of it, `CannotExtend` tells what becomes
of what, and the conversation has to be rendered anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..errors import CannotExtend
from ..segments import Kind, Segment, text_of
from ..types import Message, Part, ToolCall, UnparsedToolCall
from .encode import Span
from .rendered import Rendered

if TYPE_CHECKING:
    from .renderer import Renderer

__all__ = ["extended", "rewritten"]

SHOWN, BEFORE = 60, 12
"""Characters that an error shows of a text, so many of them from before what differs."""


def extended(renderer: Renderer, so_far: Rendered, sampled: Sequence[int], added: tuple[Message, ...]) -> Rendered:
    """The ids so far, those sampled behind them, and what the format writes for the messages that were added.

    A turn that was cut is closed with ids that nobody sampled; a stop token other than the one that history has is
    replaced by that. Linear in the whole conversation. Raises `CannotExtend`.
    """
    said, _ = renderer.parse_response(sampled, so_far.tools_as_given, prompt=so_far)
    turn = Message("assistant", _named(said, added))
    index = len(so_far.messages)
    if any(message.role == "assistant" for message in added):
        raise CannotExtend("a message of the assistant's is added", "messages of others", "the model's own")
    stops = frozenset(renderer.stop_ids)
    at = next((k for k, token in enumerate(sampled) if token in stops), len(sampled))
    written = renderer.text(sampled[:at])
    stopped = _stopped(renderer.family.stop_texts, written)
    then, alone, conversation = rewritten(renderer, so_far, turn, added, written.removesuffix(stopped))
    ids = [*so_far.ids, *sampled[:at]]
    stop = next(k for k, segment in enumerate(then) if segment.message == index and segment.kind is Kind.STOP)
    closing = _closing(alone, index) if at == len(sampled) and not stopped else []
    rest = then[stop + 1 :] if stopped else then[stop:]
    tail, spans = renderer.encode([*closing, *rest])
    shift = len(ids)
    own = renderer.spans_of(sampled[:at], so_far, index)
    moved = [
        Span(
            span.start + shift, span.end + shift, span.kind, span.message, span.part, span.sampled and at < len(sampled)
        )
        for span in spans
    ]
    segments = (*so_far.segments, Segment(written, message=index), *closing, *rest)
    return Rendered([*ids, *tail], [*so_far.spans, *own, *moved], segments, conversation, so_far.tools)


def _stopped(stop_texts: Sequence[str], written: str) -> str:
    """The stop text at the end of what was sampled, empty if there is none; raises `CannotExtend` if more follows."""
    for stop in stop_texts:
        if written.endswith(stop) and written.index(stop) == len(written) - len(stop):
            return stop
        if stop in written:
            raise CannotExtend("the model went on behind its stop text", stop, written[written.index(stop) :][:SHOWN])
    return ""


def _named(said: Message, added: tuple[Message, ...]) -> tuple[Part, ...]:
    """The parts that can be written again, with the ids by which calls are answered where the model writes none."""
    ids = iter([message.call_id for message in added if message.role == "tool"])
    return tuple(
        replace(part, id=next(ids, None)) if isinstance(part, ToolCall) and part.id is None else part
        for part in said.parts
        if not isinstance(part, UnparsedToolCall)
    )


def rewritten(
    renderer: Renderer, so_far: Rendered, turn: Message, added: tuple[Message, ...], written: str | None = None
) -> tuple[list[Segment], list[Segment], tuple[Message, ...]]:
    """The prompt with a turn and what was added behind it, and the conversation up to the turn, both in segments.

    The turn is kept if it stays as it is at the end of a conversation, or is there just as it was `written`.

    Raises `CannotExtend` where the prompt does not go on as the conversation so far does.
    """
    index = len(so_far.messages)
    conversation = (*so_far.messages, turn, *added)
    alone = renderer.written((*so_far.messages, turn), so_far.tools)
    then = renderer.prompted(conversation, so_far.tools)
    before, whole = so_far.text, text_of(then)
    _require(whole, before, "what stands before the turn is rewritten once more follows")
    if written is not None and whole.startswith(before + written):
        return then, alone, conversation
    upto = _until_stop(alone, index)
    _require(upto, before, "the turn does not begin as its prompt does")
    _require(whole, upto, "the turn is rewritten once more follows")
    return then, alone, conversation


def _require(whole: str, prefix: str, reason: str) -> None:
    if whole.startswith(prefix):
        return
    at = next(k for k, char in enumerate(prefix) if whole[k : k + 1] != char)
    at = max(0, at - BEFORE)
    raise CannotExtend(reason, prefix[at : at + SHOWN], whole[at : at + SHOWN])


def _until_stop(segments: Sequence[Segment], index: int) -> str:
    """The text up to the stop marker of a message."""
    out: list[str] = []
    for segment in segments:
        if segment.message == index and segment.kind is Kind.STOP:
            break
        out.append(segment.text)
    return "".join(out)


def _closing(segments: Sequence[Segment], index: int) -> list[Segment]:
    """What stands in a turn between its last part's text and its stop marker."""
    own = [segment for segment in segments if segment.message == index]
    stop = next(k for k, segment in enumerate(own) if segment.kind is Kind.STOP)
    said = [k for k, segment in enumerate(own[:stop]) if segment.kind is not Kind.MARKUP]
    return own[said[-1] + 1 : stop] if said else []
