"""vLLM's ``POST /v1/completions``: token ids or text in, token ids and text out; on by default on every vLLM.

Facts from vLLM 0.33 (`vllm/entrypoints/openai/completion/protocol.py`, `serving.py`):

- ``return_token_ids`` gives each chunk its new ids, the stop token included.
- ``max_tokens`` is 16 unless it is said; ``null`` is the room that is left, or what the server's own settings allow.
- ``return_tokens_as_token_ids`` spells the tokens of log probabilities ``token_id:5``, so that they are ids, too. Those
  with most probability come with the chosen one among them, even where it is one more than was asked for.
- ``include_stop_str_in_output`` keeps the text of stop tokens, not only that of stop strings.
- Closing the connection ends the work.

A request has no ``request_id``, so that a second attempt is not taken for the first one.
"""

from __future__ import annotations

import re
from heapq import nlargest

import msgspec
from msgspec import Struct

from ...constrain import Engine
from ...constrain.requests import vllm
from ...errors import Refused, WorkerFailed
from ...types import JSON
from ..transport import Client
from .constraints import eager_fields
from .order import Alternative, Order, TokenLogprob, Usage
from .pages import has_call, models_of, page, text_of
from .reading import ErrorBody, EventReader, Gathered
from .worker import Capabilities, Dispatch, Reader, Speech

__all__ = ["Counted", "Vllm", "ask", "asked_for", "failure_of", "finish_of", "likeliest", "sampling_of"]

UNKNOWN = -9999.0
"""The log probability of what has none: as vLLM and OpenAI say it."""

PREFIX = "token_id:"


class Vllm:
    """How vLLM is asked for completions; `engine` is the notation in which it is told constraints."""

    kind = "vllm"

    def __init__(self, engine: Engine = Engine.STRUCTURAL_TAG) -> None:
        self._engine = engine

    def build(self, order: Order, capabilities: Capabilities) -> Dispatch:
        prompt: JSON = list(order.prompt.ids) if order.prompt.ids is not None else order.prompt.text
        if prompt is None:
            raise Refused(400, "no_prompt", "this worker takes prompts, and there is none for this conversation")
        body: dict[str, JSON] = {**order.sampling.extra}
        body |= {
            "model": order.model,
            "prompt": prompt,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_token_ids": True,
            "add_special_tokens": False,
            "max_tokens": order.sampling.max_tokens,
        }
        body |= sampling_of(order)
        if order.sampling.logprobs is not None:
            body["return_tokens_as_token_ids"] = True
        body |= eager_fields(order, self._engine, vllm)
        return Dispatch("POST", "/v1/completions", msgspec.json.encode(body), order.headers)

    def reader(self, order: Order, capabilities: Capabilities) -> Reader:
        return EventReader(self.kind, Gathered(self.kind, _Events(order).read))


IDS_SINCE = (0, 10, 2)
"""The version from which on ids come with completions."""


async def ask(url: str, client: Client, key: str | None = None) -> Capabilities | None:
    """What the server at this URL can do; ``None`` if it is no vLLM, or makes no text. Raises `WorkerFailed`."""
    return await asked_for(Vllm.kind, "/v1/completions", url, client, key)


async def asked_for(kind: str, path: str, url: str, client: Client, key: str | None) -> Capabilities | None:
    """What a vLLM can do that has this call; ``None`` for any other server."""
    models = await models_of(url, client, key)
    if not models or models[0].owned_by != "vllm" or not await has_call(url, path, client, key):
        return None
    version = text_of(await page(url, "/version", client, key), "version") or ""
    both = (Speech.TOKENS, Speech.TEXT) if _tells_ids(version) else (Speech.TEXT,)
    return Capabilities(
        kind=kind,
        version=version,
        speech=both if kind == Vllm.kind else (Speech.TOKENS,),
        models=tuple(each.id for each in models),
        context=models[0].max_model_len,
        path=models[0].root,
    )


def _tells_ids(version: str) -> bool:
    """Whether it is new enough; one that was built from a branch is called 0.1.dev, and is."""
    numbers = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    return numbers is None or "dev" in version or tuple(int(part or 0) for part in numbers.groups()) >= IDS_SINCE


def sampling_of(order: Order) -> dict[str, JSON]:
    """The sampling parameters that have the same names in both calls; ``max_tokens`` has another meaning in each."""
    asked = order.sampling
    said: dict[str, JSON] = {
        "temperature": asked.temperature,
        "top_p": asked.top_p,
        "top_k": asked.top_k,
        "min_p": asked.min_p,
        "presence_penalty": asked.presence_penalty,
        "frequency_penalty": asked.frequency_penalty,
        "repetition_penalty": asked.repetition_penalty,
        "min_tokens": asked.min_tokens,
        "seed": asked.seed,
        "ignore_eos": asked.ignore_eos,
        "logprobs": asked.logprobs,
        "stop_token_ids": list(order.stop_ids) or None,
        "stop": (list(order.stop_texts) or None) if order.prompt.ids is None or not order.stop_ids else None,
        "logit_bias": {str(token): bias for token, bias in asked.logit_bias.items()} if asked.logit_bias else None,
    }
    fields: dict[str, JSON] = {name: value for name, value in said.items() if value is not None}
    return fields | {"n": 1, "skip_special_tokens": False, "include_stop_str_in_output": True}


class _Cached(Struct, frozen=True, gc=False):
    cached_tokens: int | None = None


class Counted(Struct, frozen=True):
    """vLLM's ``usage``."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Cached | None = None

    def usage(self) -> Usage:
        details = self.prompt_tokens_details
        return Usage(self.prompt_tokens, self.completion_tokens, details.cached_tokens if details else None)


def failure_of(kind: str, error: ErrorBody | str | None, message: str | None) -> WorkerFailed | None:
    """The failure that a chunk tells of, if it does: of today's shape, or of that before 0.10, without ``error``."""
    if error is None and message is None:
        return None
    return (error if isinstance(error, ErrorBody) else ErrorBody(error or message or "")).failure(kind)


def finish_of(kind: str, reason: str) -> str:
    """A reason in OpenAI's words; raises `WorkerFailed` for an end that is none."""
    match reason:
        case "abort":
            raise WorkerFailed(kind, "it aborted the request")
        case "error":
            raise WorkerFailed(kind, "it met an error within the answer")
        case "repetition":  # it saw the model go round in circles, as it was asked to
            return "stop"
        case _:
            return reason


def likeliest(found: list[Alternative], wanted: int) -> tuple[Alternative, ...]:
    """So many of them, the likeliest first."""
    return tuple(nlargest(wanted, found, key=lambda each: each.logprob))


class _Logprobs(Struct, frozen=True):
    tokens: list[str] = []
    token_logprobs: list[float | None] = []
    top_logprobs: list[dict[str, float | None] | None] | None = None


class _Choice(Struct, frozen=True):
    text: str = ""
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

    __slots__ = ("_listed", "_text", "_wanted")

    def __init__(self, order: Order) -> None:
        self._text = order.prompt.ids is None  # who has sent text has no tokenizer to read ids with
        self._wanted = order.sampling.logprobs or 0
        self._listed = False

    def read(self, data: bytes, into: Gathered) -> None:
        chunk = _decode(data)
        failure = failure_of(Vllm.kind, chunk.error, chunk.message)
        if failure is not None:
            raise failure
        if chunk.usage is not None:
            into.usage = chunk.usage.usage()
        if into.finish is not None or not chunk.choices:
            return
        choice = chunk.choices[0]
        if choice.token_ids:
            self._listed = True
            into.ids += choice.token_ids
        if choice.text and (self._text or not self._listed):
            into.texts.append(choice.text)
        if choice.logprobs is not None:
            into.logprobs += self._scores(choice.logprobs)
        if choice.finish_reason is not None:
            into.finish, into.matched = finish_of(Vllm.kind, choice.finish_reason), choice.stop_reason

    def _scores(self, said: _Logprobs) -> list[TokenLogprob]:
        tops = said.top_logprobs or [None] * len(said.tokens)
        if not len(said.tokens) == len(said.token_logprobs) == len(tops):
            raise WorkerFailed(Vllm.kind, "it sent log probabilities that are not one for each token")
        return [
            TokenLogprob(_token(token), _known(logprob), self._top(top))
            for token, logprob, top in zip(said.tokens, said.token_logprobs, tops, strict=True)
        ]

    def _top(self, said: dict[str, float | None] | None) -> tuple[Alternative, ...]:
        return likeliest(
            [Alternative(_token(token), _known(score)) for token, score in (said or {}).items()], self._wanted
        )


def _token(spelled: str) -> int | str:
    number = spelled.removeprefix(PREFIX)
    return int(number) if number != spelled and number.isdecimal() else spelled


def _known(logprob: float | None) -> float:
    return UNKNOWN if logprob is None else logprob
