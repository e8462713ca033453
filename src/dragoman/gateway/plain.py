"""``POST /v1/completions`` and ``POST /generate``: outputs as they are, without a dialect, through the same stages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from ..errors import UnknownToken
from ..events import Problem
from ..stream.chat_chunks import TokenEntry
from ..stream.chat_deltas import ChatDelta, ChatDeltas, Content
from ..types import JSON
from .answers import Choice, blocks_of, whole
from .assembly import Assembly
from .chats import call_id, facts
from .door import Visit
from .pipeline import Executed, Prepared, Spoken, require_room, together
from .protocol.completions import CompletionRequest, GenerateRequest, read_completion, read_generate
from .protocol.refusals import invalid
from .reading import PlainReading
from .reply import send_body
from .served import ServedModel
from .workers.order import Prompt

__all__ = ["CompletionWork", "GenerateWork"]

LARGE = 1 << 16
"""Characters of a prompt from which it is encoded in a thread."""


async def _prompt(model: ServedModel, given: str | list[int], param: str, limit: int | None) -> Prompt:
    """A prompt that is given whole."""
    if isinstance(given, str):
        large = len(given) > LARGE
        prompt = await asyncio.to_thread(model.raw_prompt, given) if large else model.raw_prompt(given)
    else:
        try:
            prompt = model.id_prompt(given)
        except UnknownToken as error:
            raise invalid(param, str(error), "unknown_token") from None
    require_room(prompt, limit, param)
    return prompt


def _reading(model: ServedModel, cuts: Sequence[int], *, special: bool, logprobs: bool) -> PlainReading:
    ends = frozenset((*model.stop_ids, *cuts))
    return PlainReading(model.tokenizer, ends=ends, with_special=special, logprobs=logprobs)


def _text(deltas: Sequence[ChatDelta]) -> str:
    return "".join([delta.text for delta in deltas if isinstance(delta, Content)])


class CompletionWork:
    """Answers completions."""

    def __init__(self, parts: Assembly) -> None:
        self._parts = parts

    async def __call__(self, visit: Visit) -> None:
        request = read_completion(visit.body)
        visit.weigh(len(request.prompts) * (request.n or 1))
        visit.record.streamed = bool(request.stream)
        spoken = self._parts.pipeline.detect(request, visit.record)
        prepared = [await self._prepared(spoken, given) for given in request.prompts]
        executed = await self._executed(prepared, visit)
        try:
            await self._answer(executed, visit)
        finally:
            for one in executed:
                await one.close()

    async def _answer(self, executed: Sequence[Executed[CompletionRequest]], visit: Visit) -> None:
        request = executed[0].spoken.request
        choices = [choice for one in executed for choice in _completion_choices(one)]
        visit.headers += facts(executed[0])
        described, hall = executed[0].described, self._parts.hall
        echoes = [one.prepared.prompt.text or "" if request.echo else "" for one in executed for _ in one.opened]
        head: dict[str, JSON] = {
            "id": described.id,
            "object": "text_completion",
            "created": described.created,
            "model": described.model,
        }
        wanted = request.logprobs is not None
        if request.stream:
            usage = request.stream_options is not None and request.stream_options.include_usage
            writers = [_CompletionChunks(head, index, echo, wanted, usage) for index, echo in enumerate(echoes)]
            await hall.stream(visit, blocks_of(executed, choices, writers, hall.clock))
            return
        bodies = [_CompletionBody(index, echo, wanted) for index, echo in enumerate(echoes)]
        written, used = await whole(executed, choices, bodies, hall.clock)
        await send_body(visit.send, msgspec.json.encode({**head, "choices": written, "usage": used}), visit.headers)

    async def _prepared(self, spoken: Spoken[CompletionRequest], given: str | list[int]) -> Prepared[CompletionRequest]:
        prompt = await _prompt(spoken.model, given, "prompt", self._parts.settings.limits.prompt_tokens)
        cuts = tuple(spoken.request.stop_token_ids or ())
        return Prepared(spoken=spoken, prompt=prompt, cuts=cuts)

    async def _executed(
        self, prepared: Sequence[Prepared[CompletionRequest]], visit: Visit
    ) -> list[Executed[CompletionRequest]]:
        """All prompts at once; where one fails, none is answered."""
        run = self._parts.pipeline.run
        return await together([run(one, "cmpl-", visit.trace) for one in prepared])


def _completion_choices(executed: Executed[CompletionRequest]) -> list[Choice]:
    request, model, cuts = executed.spoken.request, executed.spoken.model, executed.prepared.cuts
    special, wanted = request.skip_special_tokens is False, request.logprobs is not None
    keep = bool(request.include_stop_str_in_output)
    return [
        Choice(
            opened,
            _reading(model, cuts, special=special, logprobs=wanted),
            ChatDeltas(call_id, stops=request.stops, keep_stop=keep),
        )
        for opened in executed.opened
    ]


class _Logprobs:
    """The log probabilities of a completion, as the older API lists them; `at` is where the next token's text is."""

    def __init__(self, at: int) -> None:
        self._at = at

    def of(self, tokens: Sequence[TokenEntry]) -> dict[str, JSON]:
        offsets: list[JSON] = []
        for token in tokens:
            offsets.append(self._at)
            self._at += len(token.token)
        tops: list[JSON] = [{one.token: one.logprob for one in token.top_logprobs or ()} for token in tokens]
        return {
            "tokens": [token.token for token in tokens],
            "token_logprobs": [token.logprob for token in tokens],
            "top_logprobs": tops,
            "text_offset": offsets,
        }


class _CompletionChunks:
    """Writes the chunks of one choice of a completion."""

    def __init__(self, head: dict[str, JSON], index: int, echo: str, wanted: bool, with_usage: bool) -> None:
        self._head, self._index, self._echo = head, index, echo
        self._logprobs = _Logprobs(len(echo)) if wanted else None
        self._with_usage = with_usage

    def write(self, deltas: Sequence[ChatDelta], tokens: Sequence[TokenEntry] = ()) -> bytes:
        text, self._echo = self._echo + _text(deltas), ""
        return self._chunk(text, self._logprobs.of(tokens) if self._logprobs is not None else None, None)

    def finish(self, reason: str | None, problems: Sequence[Problem] = ()) -> bytes:
        text, self._echo = self._echo, ""
        return self._chunk(text, None, reason)

    def usage(self, usage: dict[str, JSON]) -> bytes:
        return self._event({**self._head, "choices": [], "usage": usage}) if self._with_usage else b""

    def _chunk(self, text: str, logprobs: JSON, reason: str | None) -> bytes:
        choice: JSON = {"index": self._index, "text": text, "logprobs": logprobs, "finish_reason": reason}
        chunk: dict[str, JSON] = {**self._head, "choices": [choice]}
        if self._with_usage:
            chunk["usage"] = None
        return self._event(chunk)

    def _event(self, value: dict[str, JSON]) -> bytes:
        return b"data: " + msgspec.json.encode(value) + b"\n\n"


class _CompletionBody:
    """Collects one choice of a completion."""

    def __init__(self, index: int, echo: str, wanted: bool) -> None:
        self._index, self._pieces = index, [echo]
        self._logprobs = _Logprobs(len(echo)) if wanted else None
        self._tokens: list[TokenEntry] = []

    def write(self, deltas: Sequence[ChatDelta], tokens: Sequence[TokenEntry] = ()) -> None:
        self._pieces.append(_text(deltas))
        self._tokens += tokens

    def finish(self, reason: str | None, problems: Sequence[Problem] = ()) -> dict[str, JSON]:
        logprobs = self._logprobs.of(self._tokens) if self._logprobs is not None else None
        return {"index": self._index, "text": "".join(self._pieces), "logprobs": logprobs, "finish_reason": reason}


class GenerateWork:
    """Answers ``/generate``; in a stream, each event has what is new since the last one."""

    def __init__(self, parts: Assembly) -> None:
        self._parts = parts

    async def __call__(self, visit: Visit) -> None:
        request = read_generate(visit.body)
        visit.weigh(request.n or 1)
        visit.record.streamed = request.stream
        spoken = self._parts.pipeline.detect(request, visit.record)
        given = request.input_ids if request.input_ids is not None else request.text or ""
        param, limit = "input_ids" if request.input_ids else "text", self._parts.settings.limits.prompt_tokens
        prompt = await _prompt(spoken.model, given, param, limit)
        prepared = Prepared(spoken=spoken, prompt=prompt, cuts=request.stop_token_ids)
        executed = await self._parts.pipeline.run(prepared, "gen-", visit.trace)
        try:
            await self._answer(executed, visit)
        finally:
            await executed.close()

    async def _answer(self, executed: Executed[GenerateRequest], visit: Visit) -> None:
        request = executed.spoken.request
        visit.headers += facts(executed)
        choices, hall = _generate_choices(executed), self._parts.hall
        several = len(choices) > 1
        writers = [
            _GenerateWriter(choice, _facts_of(executed, choice, request), index if several else None)
            for index, choice in enumerate(choices)
        ]
        if request.stream:
            await hall.stream(visit, blocks_of([executed], choices, writers, hall.clock))
            return
        bodies = [_GenerateBody(writer) for writer in writers]
        written, _ = await whole([executed], choices, bodies, hall.clock)
        await send_body(visit.send, msgspec.json.encode(written if several else written[0]), visit.headers)


def _generate_choices(executed: Executed[GenerateRequest]) -> list[Choice]:
    request, model, cuts = executed.spoken.request, executed.spoken.model, executed.prepared.cuts
    special = request.chosen.skip_special_tokens is False
    keep = bool(request.chosen.no_stop_trim)
    return [
        Choice(
            opened,
            _reading(model, cuts, special=special, logprobs=request.return_logprob),
            ChatDeltas(call_id, stops=request.stops, keep_stop=keep),
        )
        for opened in executed.opened
    ]


def _facts_of(
    executed: Executed[GenerateRequest], choice: Choice, request: GenerateRequest
) -> Callable[[str | None, bool], dict[str, JSON]]:
    """What ``meta_info`` says, as far as it is known when it is asked."""
    prompt = len(executed.prepared.prompt.ids or ())
    name = request.rid or executed.described.id

    def meta(reason: str | None, over: bool) -> dict[str, JSON]:
        reading = choice.reading
        said = reading.usage
        finish: JSON = None
        if over:
            finish = {"type": reason or "stop"}
            matched = choice.deltas.matched if choice.deltas.matched is not None else reading.matched
            if matched is not None and reason == "stop":
                finish = {"type": "stop", "matched": matched}
        return {
            "id": name,
            "finish_reason": finish,
            "prompt_tokens": (said.prompt if said is not None else None) or prompt,
            "completion_tokens": reading.counts()[0],
            "cached_tokens": (said.cached if said is not None else None) or 0,
        }

    return meta


class _GenerateWriter:
    """Writes the events of one output."""

    def __init__(self, choice: Choice, meta: Callable[[str | None, bool], dict[str, JSON]], index: int | None) -> None:
        assert isinstance(choice.reading, PlainReading)
        self._reading, self._meta, self._index = choice.reading, meta, index

    def value(self, text: str, tokens: Sequence[TokenEntry], reason: str | None, *, over: bool) -> dict[str, JSON]:
        """What is new, and what is known."""
        ids: list[JSON] = [*self._reading.ids]
        self._reading.ids = []
        meta = self._meta(reason, over)
        if tokens:
            meta["output_token_logprobs"] = [[one.logprob, None, one.token] for one in tokens]
        value: dict[str, JSON] = {"text": text, "output_ids": ids, "meta_info": meta}
        return value if self._index is None else {**value, "index": self._index}

    def write(self, deltas: Sequence[ChatDelta], tokens: Sequence[TokenEntry] = ()) -> bytes:
        return b"data: " + msgspec.json.encode(self.value(_text(deltas), tokens, None, over=False)) + b"\n\n"

    def finish(self, reason: str | None, problems: Sequence[Problem] = ()) -> bytes:
        return b"data: " + msgspec.json.encode(self.value("", (), reason, over=True)) + b"\n\n"

    def usage(self, usage: dict[str, JSON]) -> bytes:
        return b""


class _GenerateBody:
    """Collects one output."""

    def __init__(self, writer: _GenerateWriter) -> None:
        self._writer = writer
        self._pieces: list[str] = []
        self._tokens: list[TokenEntry] = []

    def write(self, deltas: Sequence[ChatDelta], tokens: Sequence[TokenEntry] = ()) -> None:
        self._pieces.append(_text(deltas))
        self._tokens += tokens

    def finish(self, reason: str | None, problems: Sequence[Problem] = ()) -> dict[str, JSON]:
        return self._writer.value("".join(self._pieces), self._tokens, reason, over=True)
