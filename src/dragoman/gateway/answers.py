"""The last stage: what workers have begun becomes an answer, streamed or whole, from the same deltas.

A choice reads one output and says it; a stream of choices is blocks of bytes, each of which is all that one read from
the worker held. What an endpoint's chunks look like is its writers' business (`chats`, `plain`). Whatever is left open
on the way out, the work of the worker above all, is ended by whoever has the `Executed`s.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, Protocol

from ..errors import DragomanError, Refused, UnknownToken, WorkerFailed
from ..events import Problem
from ..stream.chat_chunks import DONE, TokenEntry
from ..stream.chat_deltas import ChatDelta, ChatDeltas
from ..types import JSON
from .pipeline import Executed, Opened
from .protocol.refusals import BROKEN, error_body, refusal_of
from .reading import Reading
from .record import Record
from .workers.order import Piece, Usage

__all__ = ["BodyWriter", "Choice", "ChunkWriter", "blocks_of", "used", "whole"]

BEYOND = 2
"""Reads that a worker may send behind the end of the model's turn, before its work is ended: usage comes there."""

WAITING = 8
"""Reads of several choices that wait until the client takes them."""

_log = logging.getLogger("dragoman.gateway")


class ChunkWriter(Protocol):
    """Writes one choice of a stream; everything it gives is whole server-sent events."""

    def write(self, deltas: Sequence[ChatDelta], tokens: Sequence[TokenEntry] = ()) -> bytes: ...

    def finish(self, reason: str | None, problems: Sequence[Problem] = ()) -> bytes: ...

    def usage(self, usage: dict[str, JSON]) -> bytes:
        """The last event of all choices, if there is one."""
        ...


class BodyWriter(Protocol):
    """Collects one choice of a whole answer."""

    def write(self, deltas: Sequence[ChatDelta], tokens: Sequence[TokenEntry] = ()) -> None: ...

    def finish(self, reason: str | None, problems: Sequence[Problem] = ()) -> dict[str, JSON]: ...


class Choice:
    """One output on its way to be said."""

    __slots__ = ("_beyond", "_finished", "deltas", "opened", "reading")

    def __init__(self, opened: Opened, reading: Reading, deltas: ChatDeltas) -> None:
        self.opened, self.reading, self.deltas = opened, reading, deltas
        self._beyond = 0
        self._finished = False

    def take(self, pieces: Sequence[Piece]) -> list[ChatDelta]:
        """What these pieces say; raises `WorkerFailed` for tokens that the model does not have."""
        try:
            events = self.reading.feed(pieces)
        except UnknownToken as error:
            raise WorkerFailed(self.opened.worker, f"it sent what is no token of the model: {error}") from None
        return self.deltas.feed(events) if events else []

    def is_over(self) -> bool:
        """Whether nothing more is wanted of the worker."""
        if self.deltas.matched is not None:
            return True
        if self.reading.ended:
            self._beyond += 1
        return self._beyond > BEYOND

    def tokens(self) -> Sequence[TokenEntry]:
        """The tokens of visible text since the last time."""
        tokens = self.reading.tokens
        if tokens:
            self.reading.tokens = []
        return tokens

    def finish(self) -> list[ChatDelta]:
        """The rest of what it says; nothing the second time."""
        if self._finished:
            return []
        self._finished = True
        return [*self.deltas.feed(self.reading.finish()), *self.deltas.finish()]

    @property
    def finish_reason(self) -> str:
        """Why it ended; a stream that came to its end without a reason has simply ended."""
        return self.deltas.finish_reason(self.reading.reason) or "stop"

    def close_record(self, record: Record) -> None:
        """Note how it went."""
        record.note(self.deltas.problems)
        record.finish.append(self.deltas.finish_reason(self.reading.reason) or "unknown")
        record.residue += self.reading.residue


def used(choices: Sequence[Choice], executed: Sequence[Executed[Any]], record: Record) -> dict[str, JSON]:
    """What an answer says that was used; noted in the record as well."""
    prompt, cached, completion, thoughts = 0, 0, 0, 0
    at = 0
    for one in executed:
        own = choices[at : at + len(one.opened)]
        at += len(own)
        said = [choice.reading.usage or Usage() for choice in own]
        prompt += max((usage.prompt or 0 for usage in said), default=0) or len(one.prepared.prompt.ids or ())
        cached += max((usage.cached or 0 for usage in said), default=0)
        for total, inside in (choice.reading.counts() for choice in own):
            completion += total
            thoughts += inside
    record.prompt_tokens, record.cached_tokens = prompt, cached
    record.completion_tokens, record.reasoning_tokens = completion, thoughts
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": thoughts},
    }


async def pieces_of(choices: Sequence[Choice]) -> AsyncGenerator[tuple[int, Sequence[Piece] | None]]:
    """The pieces of all choices as they come, each with its index; ``None`` when one is over.

    Raises `WorkerFailed`. What a choice does not want any more is ended.
    """
    if len(choices) == 1:
        choice = choices[0]
        yield 0, choice.opened.first
        if not choice.is_over():
            async for pieces in choice.opened.rest:
                yield 0, pieces
                if choice.is_over():
                    break
        yield 0, None  # what is left of the work ends with the answer, at once
        return
    async for item in _interleaved(choices):
        yield item


async def _interleaved(choices: Sequence[Choice]) -> AsyncGenerator[tuple[int, Sequence[Piece] | None]]:
    queue: asyncio.Queue[tuple[int, Sequence[Piece] | None] | Exception] = asyncio.Queue(WAITING)

    async def pump(index: int, choice: Choice) -> None:
        try:
            await queue.put((index, choice.opened.first))
            if not choice.is_over():
                async for pieces in choice.opened.rest:
                    await queue.put((index, pieces))
                    if choice.is_over():
                        break
            await choice.opened.close()
            await queue.put((index, None))
        except Exception as error:  # whoever reads would wait for ever
            await queue.put(error)

    tasks = [asyncio.ensure_future(pump(index, choice)) for index, choice in enumerate(choices)]
    try:
        left = len(choices)
        while left:
            item = await queue.get()
            if isinstance(item, Exception):
                raise item
            left -= item[1] is None
            yield item
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def blocks_of(
    executed: Sequence[Executed[Any]],
    choices: Sequence[Choice],
    writers: Sequence[ChunkWriter],
    clock: Callable[[], float],
) -> AsyncGenerator[bytes]:
    """An answer as blocks of whole server-sent events, one for each read from a worker; ends all work at its end."""
    record = executed[0].spoken.record
    block = b""
    try:
        async with aclosing(pieces_of(choices)) as incoming:
            async for index, pieces in incoming:
                choice, writer = choices[index], writers[index]
                if pieces is None:
                    block = _last(choice, writer)
                    if len(choices) > 1:
                        yield block
                        block = b""
                    continue
                deltas = choice.take(pieces)
                tokens = choice.tokens()
                if deltas or tokens:
                    if record.first is None:
                        record.first = clock()
                    yield writer.write(deltas, tokens)
        usage = used(choices, executed, record)
        _settle(executed, None)
        yield b"".join((block, writers[0].usage(usage), DONE))
    except DragomanError as error:
        _settle(executed, error)
        used(choices, executed, record)
        rests = [(writer, choice.finish()) for choice, writer in zip(choices, writers, strict=True)]
        held = [writer.write(rest) for writer, rest in rests if rest]
        yield _broken(refusal_of(error), record, held)
    except Exception:
        _log.exception("request %s failed", record.id)
        yield _broken(BROKEN, record)
    finally:
        for choice in choices:
            choice.close_record(record)
        await _close(executed)


async def whole(
    executed: Sequence[Executed[Any]],
    choices: Sequence[Choice],
    writers: Sequence[BodyWriter],
    clock: Callable[[], float],
) -> tuple[list[dict[str, JSON]], dict[str, JSON]]:
    """All choices of an answer, and what was used; raises `WorkerFailed` where one does not come to its end."""
    record = executed[0].spoken.record
    try:
        async with aclosing(pieces_of(choices)) as incoming:
            async for index, pieces in incoming:
                if pieces is not None:
                    if record.first is None:
                        record.first = clock()
                    choice = choices[index]
                    writers[index].write(choice.take(pieces), choice.tokens())
        written = []
        for choice, writer in zip(choices, writers, strict=True):
            writer.write(choice.finish(), choice.tokens())
            written.append(writer.finish(choice.finish_reason, choice.deltas.problems))
        _settle(executed, None)
        return written, used(choices, executed, record)
    except DragomanError as error:
        _settle(executed, error)
        raise
    finally:
        for choice in choices:
            choice.close_record(record)
        await _close(executed)


def _broken(refused: Refused, record: Record, held: Sequence[bytes] = ()) -> bytes:
    """The end of a stream that has failed."""
    record.code = refused.code
    return b"".join((*held, b"data: ", error_body(refused), b"\n\n", DONE))


def _last(choice: Choice, writer: ChunkWriter) -> bytes:
    """The end of a choice."""
    deltas = choice.finish()
    tokens = choice.tokens()
    rest = writer.write(deltas, tokens) if deltas or tokens else b""
    return rest + writer.finish(choice.finish_reason, choice.deltas.problems)


def _settle(executed: Sequence[Executed[Any]], error: DragomanError | None) -> None:
    """Tell of the workers how they did."""
    for one in executed:
        lease = one.selected.lease
        if error is None:
            lease.succeeded()
        elif isinstance(error, WorkerFailed) and error.worker == lease.worker.name:
            lease.failed(error)


async def _close(executed: Sequence[Executed[Any]]) -> None:
    for one in executed:
        await one.close()
