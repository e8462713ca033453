"""vLLM's ``POST /inference/v1/generate``: token ids in, token ids out, and no text made on the way.

Facts from vLLM 0.33 (`vllm/entrypoints/scale_out/token_in_token_out/protocol.py`, `serving.py`):

- It is there with ``--enable-scale-out`` or ``--tokens-only``; up to 0.29 always.
- ``max_tokens`` that is not said is the room that is left, so it is left out; on the first versions it was 16.
- ``detokenize: false`` spares the server the text; stop strings would need it, and are not sent.
- Log probabilities come with ids; up to 0.29 they were spelled ``token_id:5``.
- Closing the connection ends the work.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ...constrain import Engine
from ...constrain.requests import vllm
from ...errors import Refused
from ...types import JSON
from ..transport import Client
from .constraints import eager_fields
from .order import Alternative, Order, TokenLogprob
from .reading import ErrorBody, EventReader, Gathered
from .vllm import PREFIX, UNKNOWN, Counted, asked_for, failure_of, finish_of, likeliest, sampling_of
from .worker import Capabilities, Dispatch, Reader

__all__ = ["VllmGenerate", "ask"]

PATH = "/inference/v1/generate"

BESIDE = frozenset(
    {
        "cache_salt",
        "content_parts",
        "ec_transfer_params",
        "features",
        "kv_transfer_params",
        "priority",
        "reasoning_ended",
        "reasoning_parser_kwargs",
    }
)
"""What of a caller's own fields stands beside the sampling parameters; the others are among them."""


class VllmGenerate:
    """How vLLM is asked for tokens; `engine` is the notation in which it is told constraints."""

    kind = "vllm-generate"

    def __init__(self, engine: Engine = Engine.STRUCTURAL_TAG) -> None:
        self._engine = engine

    def build(self, order: Order, capabilities: Capabilities) -> Dispatch:
        asked = order.sampling
        if order.prompt.ids is None:
            raise Refused(400, "no_token_ids", "this worker takes token ids, and there is no tokenizer for its model")
        sampling: dict[str, JSON] = {name: value for name, value in asked.extra.items() if name not in BESIDE}
        sampling |= sampling_of(order) | {"detokenize": False}
        sampling.pop("stop", None)
        room = None if capabilities.context is None else capabilities.context - len(order.prompt.ids)
        if asked.max_tokens is not None:
            sampling["max_tokens"] = asked.max_tokens
        elif room is not None and room > 0:
            sampling["max_tokens"] = room  # versions differ in what they take silence for
        sampling |= eager_fields(order, self._engine, vllm)
        body: dict[str, JSON] = {name: value for name, value in asked.extra.items() if name in BESIDE}
        body |= {
            "model": order.model,
            "token_ids": list(order.prompt.ids),
            "sampling_params": sampling,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        return Dispatch("POST", PATH, msgspec.json.encode(body), order.headers)

    def reader(self, order: Order, capabilities: Capabilities) -> Reader:
        return EventReader(self.kind, Gathered(self.kind, _Events(order).read))


async def ask(url: str, client: Client, key: str | None = None) -> Capabilities | None:
    """What the server at this URL can do; ``None`` if it is no vLLM with this call. Raises `WorkerFailed`."""
    return await asked_for(VllmGenerate.kind, PATH, url, client, key)


class _Scored(Struct, frozen=True):
    logprob: float | None = None
    token_id: int | None = None
    token: str | None = None

    @property
    def named(self) -> int | str:
        if self.token_id is not None:
            return self.token_id
        spelled = self.token or ""
        number = spelled.removeprefix(PREFIX)
        return int(number) if number.isdecimal() and number != spelled else spelled

    @property
    def known(self) -> float:
        return UNKNOWN if self.logprob is None else self.logprob


class _Position(_Scored, frozen=True):
    top_logprobs: list[_Scored] = []


class _Logprobs(Struct, frozen=True):
    content: list[_Position] | None = None


class _Choice(Struct, frozen=True):
    token_ids: list[int] | None = None
    logprobs: _Logprobs | None = None
    finish_reason: str | None = None
    stop_reason: int | str | None = None


class _Chunk(Struct, frozen=True):
    choices: list[_Choice] = []
    usage: Counted | None = None
    error: ErrorBody | str | None = None
    message: str | None = None


_decode = msgspec.json.Decoder(_Chunk).decode


class _Events:
    """Reads the chunks of one answer."""

    __slots__ = ("_wanted",)

    def __init__(self, order: Order) -> None:
        self._wanted = order.sampling.logprobs or 0

    def read(self, data: bytes, into: Gathered) -> None:
        chunk = _decode(data)
        failure = failure_of(VllmGenerate.kind, chunk.error, chunk.message)
        if failure is not None:
            raise failure
        if chunk.usage is not None:
            into.usage = chunk.usage.usage()
        if into.finish is not None or not chunk.choices:
            return
        choice = chunk.choices[0]
        into.ids += choice.token_ids or ()
        if choice.logprobs is not None:
            into.logprobs += [self._score(each) for each in choice.logprobs.content or ()]
        if choice.finish_reason is not None:
            into.finish, into.matched = finish_of(VllmGenerate.kind, choice.finish_reason), choice.stop_reason

    def _score(self, at: _Position) -> TokenLogprob:
        top = [Alternative(each.named, each.known) for each in at.top_logprobs]
        return TokenLogprob(at.named, at.known, likeliest(top, self._wanted))
