"""``POST /v1/chat/completions``: a chat in, through the pipeline, an answer out, streamed or whole."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from ..stream.chat_chunks import ChatBody, ChatChunks
from ..stream.chat_deltas import ChatDeltas
from .answers import Choice, blocks_of, whole
from .assembly import Assembly
from .door import Visit
from .pipeline import Executed
from .protocol.chat import ChatRequest, read_chat
from .reading import ChatReading, ParsedReading, Reading
from .reply import send_body
from .workers.worker import Speech

__all__ = ["ChatWork", "call_id", "facts"]


def call_id() -> str:
    """The id of a call that the model gave none."""
    return f"call_{os.urandom(12).hex()}"


class ChatWork:
    """Answers chats."""

    def __init__(self, parts: Assembly) -> None:
        self._parts = parts

    async def __call__(self, visit: Visit) -> None:
        request = read_chat(visit.body)
        visit.weigh(request.n or 1)
        visit.record.streamed = bool(request.stream)
        executed = await self._parts.pipeline.chat(request, visit.record, len(visit.body), visit.trace)
        try:
            visit.headers += facts(executed, request.ignored)
            if request.stream:
                await self._stream(visit, executed)
            else:
                await self._whole(visit, executed)
        finally:
            await executed.close()

    async def _stream(self, visit: Visit, executed: Executed[ChatRequest]) -> None:
        described, options = executed.described, executed.spoken.request.stream_options
        choices = choices_of(executed)
        writers = [
            ChatChunks(
                described.id,
                described.model,
                described.created,
                index=index,
                reasoning=executed.spoken.model.reasoning,
                with_usage=options is not None and options.include_usage,
            )
            for index in range(len(choices))
        ]
        hall = self._parts.hall
        await hall.stream(visit, blocks_of([executed], choices, writers, hall.clock))

    async def _whole(self, visit: Visit, executed: Executed[ChatRequest]) -> None:
        described, request = executed.described, executed.spoken.request
        choices = choices_of(executed)
        writers = [
            ChatBody(index=index, reasoning=executed.spoken.model.reasoning, with_tokens=bool(request.logprobs))
            for index in range(len(choices))
        ]
        written, usage = await whole([executed], choices, writers, self._parts.hall.clock)
        answer = {
            "id": described.id,
            "object": "chat.completion",
            "created": described.created,
            "model": described.model,
            "choices": written,
            "usage": usage,
        }
        await send_body(visit.send, msgspec.json.encode(answer), visit.headers)


def choices_of(executed: Executed[ChatRequest]) -> list[Choice]:
    """A choice for each output that has begun."""
    prepared = executed.prepared
    request, model = prepared.spoken.request, prepared.spoken.model
    speech = executed.described.built.acquired.speech
    is_chat = speech is Speech.CHAT
    tokenizer = model.tokenizer if speech is Speech.TOKENS else None
    by_spelling = tokenizer is not None and prepared.constraint is not None and prepared.eager
    lead = model.lead if not is_chat and not prepared.prompt.begun else ""

    def reading() -> Reading:
        if is_chat:
            return ChatReading(model.dialect, prepared.tools)
        return ParsedReading(
            model.dialect,
            prepared.tools,
            prepared.prompt,
            tokenizer,
            cuts=frozenset(prepared.cuts),
            logprobs=bool(request.logprobs),
            by_spelling=by_spelling,
        )

    def deltas() -> ChatDeltas:
        keep, parallel = bool(request.include_stop_str_in_output), request.parallel_tool_calls is not False
        shown = request.include_reasoning is not False
        return ChatDeltas(call_id, stops=request.stops, keep_stop=keep, lead=lead, parallel=parallel, thoughts=shown)

    return [Choice(opened, reading(), deltas()) for opened in executed.opened]


def facts(executed: Executed[Any], ignored: tuple[str, ...] = ()) -> list[tuple[bytes, bytes]]:
    """What an answer's headers tell: who has done it, and what of the request meant nothing."""
    headers = [(b"x-dragoman-worker", executed.selected.lease.worker.name.encode("ascii", "replace"))]
    if ignored:
        listed = ", ".join(name for name in ignored if name.isascii() and name.isprintable())[:1024]
        headers.append((b"x-dragoman-ignored", listed.encode()))
    return headers
