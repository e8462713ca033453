"""A double of vLLM: ``/v1/completions`` and, with `scale_out`, ``/inference/v1/generate``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from .double import Call, Double
from .script import Fault, Script

__all__ = ["VllmDouble"]

Whole = dict[str, Any]
Id = Annotated[int, Meta(ge=0)]


class Structured(Struct, forbid_unknown_fields=True):
    """At most one constraint."""

    json: str | dict[str, Any] | None = None
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None
    json_object: bool | None = None
    structural_tag: str | None = None


class StreamOptions(Struct, forbid_unknown_fields=True):
    include_usage: bool = False
    continuous_usage_stats: bool = False


class Common(Struct, forbid_unknown_fields=True, kw_only=True):
    """The sampling parameters that both calls have."""

    n: int = 1
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None
    min_tokens: int = 0
    max_tokens: int | None = 16
    ignore_eos: bool = False
    stop: str | list[str] = []
    stop_token_ids: list[int] | None = []
    include_stop_str_in_output: bool = False
    skip_special_tokens: bool = True
    spaces_between_special_tokens: bool = True
    logprobs: int | None = None
    logit_bias: dict[str, float] | None = None
    allowed_token_ids: list[int] | None = None
    bad_words: list[str] = []
    structured_outputs: Structured | None = None


class Completion(Common):
    """What there is in a request for a completion, with its types."""

    prompt: list[Id] | str
    model: str | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None
    return_token_ids: bool | None = None
    return_tokens_as_token_ids: bool | None = None
    add_special_tokens: bool = True
    echo: bool = False
    suffix: str | None = None
    user: str | None = None
    priority: int = 0
    cache_salt: str | None = None
    kv_transfer_params: Whole | None = None
    vllm_xargs: Whole | None = None
    response_format: Whole | None = None


class Sampling(Common):
    """vLLM's own `SamplingParams`."""

    detokenize: bool = True
    prompt_logprobs: int | None = None
    extra_args: Whole | None = None

    def __post_init__(self) -> None:
        if self.stop and not self.detokenize:
            raise ValueError("stop strings are only supported when detokenize is True.")


class Generate(Struct, forbid_unknown_fields=True):
    """What there is in a request for tokens, with its types."""

    token_ids: Annotated[list[Id], Meta(min_length=1)]
    sampling_params: Sampling
    request_id: str = "generate-1"
    model: str | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None
    output_mode: str = "tokens"
    return_token_ids: bool | None = None
    cache_salt: str | None = None
    priority: int = 0
    kv_transfer_params: Whole | None = None


class VllmDouble(Double):
    """``async with VllmDouble(Script(ids=(5, 6, 7)), scale_out=True) as server``."""

    def __init__(
        self,
        script: Script | Callable[[Whole], Script] | None = None,
        *,
        scale_out: bool = False,
        key: str | None = None,
        context: int = 4096,
    ) -> None:
        model = {"id": "model", "object": "model", "owned_by": "vllm", "root": "some/model", "max_model_len": context}
        calls = {"/v1/completions": Call(Completion, _completion)}
        if scale_out:
            calls["/inference/v1/generate"] = Call(Generate, _generate)
        pages = {"/v1/models": {"object": "list", "data": [model]}, "/version": {"version": "0.33.0"}}
        super().__init__(script, pages=pages, calls=calls, key=key)


def _completion(request: Completion, script: Script) -> Iterator[bytes]:
    for begin, end in script.spans():
        ids, texts = script.ids[begin:end], script.spelled[begin:end]
        choice: Whole = {
            "index": 0,
            "text": "".join(texts),
            "logprobs": None,
            "finish_reason": _finish(script) if end == len(script.ids) else None,
            "stop_reason": script.matched if end == len(script.ids) else None,
            "token_ids": ids if request.return_token_ids else None,
            "prompt_token_ids": request.prompt if request.return_token_ids and not begin else None,
        }
        if request.logprobs is not None:
            shown = dict(zip(ids, texts, strict=True))
            choice["logprobs"] = _told(request, shown)
        yield _chunk({"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "model", "choices": [choice]})
    if request.stream_options is not None and request.stream_options.include_usage:
        prompt = request.prompt if isinstance(request.prompt, list) else [0] * 7
        yield _chunk({"id": "cmpl-1", "object": "text_completion", "choices": [], "usage": _usage(prompt, script)})
    yield b"[DONE]"


def _told(request: Completion, shown: dict[int, str]) -> Whole:
    """Log probabilities as OpenAI has them; the chosen token is one more among the likeliest."""

    def name(token: int) -> str:
        return f"token_id:{token}" if request.return_tokens_as_token_ids else shown.get(token, f"<{token}>")

    return {
        "text_offset": [0] * len(shown),
        "tokens": [name(token) for token in shown],
        "token_logprobs": [-token / 8 for token in shown],
        "top_logprobs": [
            {name(token + rank): -(token + rank) / 8 for rank in range(max(request.logprobs or 0, 1))}
            for token in shown
        ],
    }


def _generate(request: Generate, script: Script) -> Iterator[bytes]:
    asked = request.sampling_params.logprobs
    for begin, end in script.spans():
        ids = script.ids[begin:end]
        told = None
        if asked is not None:
            told = {"content": [{**_at(token), "top_logprobs": _tops(token, asked)} for token in ids]}
        choice = {
            "index": 0,
            "token_ids": ids,
            "logprobs": told,
            "finish_reason": _finish(script) if end == len(script.ids) else None,
            "stop_reason": script.matched if end == len(script.ids) else None,
        }
        yield _chunk({"request_id": request.request_id, "output_mode": "tokens", "choices": [choice], "usage": None})
    if request.stream_options is not None and request.stream_options.include_usage:
        yield _chunk({"request_id": request.request_id, "choices": [], "usage": _usage(request.token_ids, script)})
    yield b"[DONE]"


def _at(token: int) -> Whole:
    return {"token_id": token, "logprob": -token / 8, "rank": 1}


def _tops(token: int, asked: int) -> list[Whole]:
    return [_at(token + rank) for rank in range(max(asked, 1))]


def _usage(prompt: list[int], script: Script) -> Whole:
    count = len(script.ids)
    details = None if script.cached is None else {"cached_tokens": script.cached}
    return {
        "prompt_tokens": len(prompt),
        "completion_tokens": count,
        "total_tokens": len(prompt) + count,
        "prompt_tokens_details": details,
    }


def _finish(script: Script) -> str:
    return "abort" if script.fault is Fault.ABORT else script.finish


def _chunk(value: Whole) -> bytes:
    return msgspec.json.encode(value)
