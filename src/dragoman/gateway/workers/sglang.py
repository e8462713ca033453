"""SGLang's own ``POST /generate``: token ids in, token ids out.

Facts from SGLang 0.5 (`srt/managers/io_struct.py`, `tokenizer_manager.py`, `srt/entrypoints/http_server.py`):

- ``output_ids`` and ``text`` hold the whole output each time, or with ``--incremental-streaming-output`` what is new.
  ``completion_tokens`` counts the whole in both cases, which tells them apart.
- ``max_new_tokens`` is 128 unless it is said; ``null`` is the room that is left, which the server knows best.
- ``no_stop_trim`` and ``skip_special_tokens`` concern ``text`` only; the ids have the stop token in any case.
- A text prompt gets what the server's tokenizer puts before it: there is no field against that.
- Closing the connection ends the work.

A request has no ``rid``: SGLang refuses one that is still known, which a second attempt's would be.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from ...constrain import Engine
from ...constrain.requests import sglang_generate
from ...errors import Refused, WorkerFailed
from ...types import JSON
from ..transport import Client
from .complaints import complaint
from .constraints import eager_fields
from .order import Alternative, Order, TokenLogprob, Usage
from .pages import models_of, page, text_of
from .reading import ErrorBody, EventReader, Gathered
from .worker import Capabilities, Dispatch, Reader, Speech

__all__ = ["Sglang", "ask"]

SAMPLED = frozenset(
    {
        "custom_params",
        "ebnf",
        "json_schema",
        "regex",
        "spaces_between_special_tokens",
        "stop_regex",
        "stream_interval",
        "structural_tag",
    }
)
"""What of a caller's own fields belongs among the sampling parameters; the others stand beside them."""

UNKNOWN = -9999.0
"""The log probability of what has none: as OpenAI says it."""


class Sglang:
    """How SGLang is spoken to; `engine` is the notation in which it is told constraints."""

    kind = "sglang"

    def __init__(self, engine: Engine = Engine.STRUCTURAL_TAG) -> None:
        self._engine = engine

    def build(self, order: Order, capabilities: Capabilities) -> Dispatch:
        asked = order.sampling
        body: dict[str, JSON] = {name: value for name, value in asked.extra.items() if name not in SAMPLED}
        body.pop("sampling_params", None)
        if order.prompt.ids is not None:
            body["input_ids"] = list(order.prompt.ids)
        elif order.prompt.text is not None:
            body["text"] = order.prompt.text
        else:
            raise Refused(400, "no_prompt", "this worker takes prompts, and there is none for this conversation")
        body["stream"] = True
        body["sampling_params"] = _sampling(order) | eager_fields(order, self._engine, sglang_generate)
        if asked.logprobs is not None:
            body |= {"return_logprob": True, "logprob_start_len": -1, "top_logprobs_num": asked.logprobs}
        return Dispatch("POST", "/generate", msgspec.json.encode(body), order.headers)

    def reader(self, order: Order, capabilities: Capabilities) -> Reader:
        return EventReader(self.kind, Gathered(self.kind, _Events(order, capabilities).read))


async def ask(url: str, client: Client, key: str | None = None) -> Capabilities | None:
    """What the server at this URL can do; ``None`` if it is no SGLang. Raises `WorkerFailed`."""
    models = await models_of(url, client, key)
    if not models or models[0].owned_by != Sglang.kind:
        return None
    server = await page(url, "/server_info", client, key) or await page(url, "/get_server_info", client, key) or {}
    model = await page(url, "/model_info", client, key) or await page(url, "/get_model_info", client, key)
    told, room = text_of(server, "chat_template") or "", server.get("context_length")
    return Capabilities(
        kind=Sglang.kind,
        version=text_of(server, "version") or "",
        speech=(Speech.TOKENS,) if server.get("skip_tokenizer_init") is True else (Speech.TOKENS, Speech.TEXT),
        models=tuple(each.id for each in models),
        incremental=server.get("incremental_streaming_output", server.get("stream_output")) is True,
        context=models[0].max_model_len or (room if isinstance(room, int) else None),
        path=text_of(model, "tokenizer_path", "model_path"),
        template=told if "{" in told else None,  # else it is a file's name or a template's
    )


def _sampling(order: Order) -> dict[str, JSON]:
    asked = order.sampling
    said: dict[str, JSON] = {
        "temperature": asked.temperature,
        "top_p": asked.top_p,
        "top_k": asked.top_k,
        "min_p": asked.min_p,
        "presence_penalty": asked.presence_penalty,
        "frequency_penalty": asked.frequency_penalty,
        "repetition_penalty": asked.repetition_penalty,
        "min_new_tokens": asked.min_tokens,
        "sampling_seed": asked.seed,
        "ignore_eos": asked.ignore_eos,
        "stop_token_ids": list(order.stop_ids) or None,
        "stop": (list(order.stop_texts) or None) if order.prompt.ids is None or not order.stop_ids else None,
        "logit_bias": {str(token): bias for token, bias in asked.logit_bias.items()} if asked.logit_bias else None,
    }
    fields: dict[str, JSON] = {name: value for name, value in asked.extra.items() if name in SAMPLED}
    fields |= {name: value for name, value in said.items() if value is not None}
    return fields | {
        "n": 1,
        "max_new_tokens": asked.max_tokens,
        "skip_special_tokens": False,
        "no_stop_trim": True,
    }


_Scored = tuple[float | None, int, str | None]


_NONE = Raw(b"[]")


class _Finish(Struct, frozen=True):
    type: str
    matched: int | str | None = None
    message: str | None = None
    status_code: int | None = None


class _Meta(Struct, frozen=True):
    finish_reason: _Finish | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    output_token_logprobs: list[_Scored] | None = None
    output_top_logprobs: list[list[_Scored] | None] | None = None


class _Event(Struct, frozen=True):
    output_ids: Raw = _NONE
    text: str | None = None
    meta_info: _Meta = _Meta()
    error: ErrorBody | str | None = None


class _Step(Struct, frozen=True):
    """An event of a stream whose events hold what is new, which has neither text to be read nor log probabilities."""

    output_ids: list[int]
    meta_info: _Meta = _Meta()
    error: ErrorBody | str | None = None


_decode = msgspec.json.Decoder(_Event).decode
_decode_step = msgspec.json.Decoder(_Step).decode
_ids = msgspec.json.Decoder(list[int]).decode


class _Events:
    """Reads the events of one answer."""

    __slots__ = ("_chars", "_incremental", "_scored", "_seen", "_spelled", "_text", "_whole")

    def __init__(self, order: Order, capabilities: Capabilities) -> None:
        self._text = order.prompt.ids is None  # who has sent text has no tokenizer to read ids with
        self._scored = order.sampling.logprobs is not None
        self._incremental = capabilities.incremental
        self._whole: bool | None = None  # whether each event holds the whole output, once that is known
        self._seen = 0  # ids of the output so far
        self._spelled = b"["  # those ids in JSON, where events hold them all
        self._chars = 0  # characters of the output, where texts hold all of it

    def read(self, data: bytes, into: Gathered) -> None:
        if self._whole is False and not self._text and not self._scored and into.finish is None:
            self._read_step(data, into)
        else:
            self._read_event(data, into)

    def _read_step(self, data: bytes, into: Gathered) -> None:
        """The event that nearly all are, decoded in one go."""
        try:
            step = _decode_step(data)
        except msgspec.ValidationError:
            self._read_event(data, into)  # one without ids, which is an error's
            return
        if step.error is not None:
            raise _failure(step.error)
        self._seen += len(step.output_ids)
        into.ids += step.output_ids
        if step.meta_info.finish_reason is not None:
            self._end(step.meta_info, step.meta_info.finish_reason, into)

    def _end(self, meta: _Meta, reason: _Finish, into: Gathered) -> None:
        into.usage = Usage(meta.prompt_tokens, meta.completion_tokens, meta.cached_tokens)
        into.finish, into.matched = _finish(reason), reason.matched

    def _read_event(self, data: bytes, into: Gathered) -> None:
        event = _decode(data)
        if event.error is not None:
            raise _failure(event.error)
        if into.finish is not None:
            return
        meta = event.meta_info
        new = self._new(event.output_ids, meta.completion_tokens)
        into.ids += new
        if event.text and (self._text or not self._seen):
            # Without ids it is an old server's, whose kind is only known from what it said of itself.
            whole = self._whole if self._seen else not self._incremental
            into.texts.append(event.text if whole is False else event.text[self._chars :])
            self._chars = len(event.text)
        if meta.output_token_logprobs and new:
            into.logprobs += _scores(meta, len(new))
        if meta.finish_reason is not None:
            self._end(meta, meta.finish_reason, into)

    def _new(self, told: Raw, total: int | None) -> list[int]:
        """The ids that were not there before.

        What events repeat is compared and not read again: a long output would be read thousands of times.
        """
        if self._whole is False:
            ids = _ids(told)
            self._seen += len(ids)
            return ids
        spelled = bytes(told)
        rest = spelled[len(self._spelled) :] if self._whole and spelled.startswith(self._spelled) else b""
        if rest.startswith(b","):
            new = _ids(b"[" + rest[1:])
        elif rest == b"]":
            return []
        else:
            ids = _ids(told)
            if self._whole is None and self._seen:
                self._whole = self._is_whole(len(ids), total)
            new = ids if self._whole is False else ids[self._seen :]
        self._seen += len(new)
        self._spelled = spelled[:-1]
        return new

    def _is_whole(self, length: int, total: int | None) -> bool:
        """Whether a second event with so many ids holds the whole output.

        The server's own count tells, and the nearer reading is right: counts and ids may differ by what stands behind
        a stop token.
        """
        if total is None:
            return length > self._seen and not self._incremental
        return abs(total - length) <= abs(total - length - self._seen)


def _failure(error: ErrorBody | str) -> WorkerFailed:
    return (error if isinstance(error, ErrorBody) else ErrorBody(error)).failure(Sglang.kind)


def _finish(reason: _Finish) -> str:
    if reason.type == "abort":
        said = complaint((reason.message or "").encode()) or "it aborted the request"
        raise WorkerFailed(Sglang.kind, said, reason.status_code)
    return reason.type


def _scores(meta: _Meta, count: int) -> list[TokenLogprob]:
    """The last so many: lists are as long as the ids, or go on from the beginning where those do not."""
    scored = (meta.output_token_logprobs or [])[-count:]
    tops: list[list[_Scored] | None] = [None] * count
    tops = (tops + (meta.output_top_logprobs or []))[-len(scored) :]
    return [
        TokenLogprob(token, _known(logprob), tuple(Alternative(each, _known(score)) for score, each, _ in top or ()))
        for (logprob, token, _), top in zip(scored, tops, strict=True)
    ]


def _known(logprob: float | None) -> float:
    return UNKNOWN if logprob is None else logprob
