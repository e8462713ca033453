"""A double of SGLang: ``/generate`` with ids in and out, as the whole so far or as what is new."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from .double import Call, Double
from .script import Fault, Script

__all__ = ["SglangDouble"]

Whole = dict[str, Any]


class Sampling(Struct, forbid_unknown_fields=True):
    """What there is among the sampling parameters, with their types."""

    max_new_tokens: int | None = 128
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = -1
    min_p: float = 0.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    repetition_penalty: float = 1.0
    min_new_tokens: int = 0
    n: int = 1
    stop: str | list[str] | None = None
    stop_token_ids: list[int] | None = None
    stop_regex: str | list[str] | None = None
    json_schema: str | None = None
    regex: str | None = None
    ebnf: str | None = None
    structural_tag: str | None = None
    ignore_eos: bool = False
    skip_special_tokens: bool = True
    spaces_between_special_tokens: bool = True
    no_stop_trim: bool = False
    stream_interval: int | None = None
    logit_bias: dict[str, float] | None = None
    sampling_seed: int | None = None
    custom_params: dict[str, Any] | None = None


class Generate(Struct, forbid_unknown_fields=True):
    """What there is in a request, with its types."""

    sampling_params: Sampling
    text: str | UnsetType = UNSET
    input_ids: list[int] | UnsetType = UNSET
    rid: str | None = None
    stream: bool = False
    return_logprob: bool = False
    logprob_start_len: int = -1
    top_logprobs_num: int = 0
    return_text_in_logprobs: bool = False
    lora_path: str | None = None
    priority: int | None = None
    cache_salt: str | None = None
    extra_key: str | None = None
    require_reasoning: bool = False
    bootstrap_host: str | None = None
    bootstrap_port: int | None = None
    bootstrap_room: int | None = None

    def __post_init__(self) -> None:
        if (self.text is UNSET) == (self.input_ids is UNSET):
            raise ValueError("Either text, input_ids or input_embeds should be provided.")
        asked = self.sampling_params
        if sum(each is not None for each in (asked.json_schema, asked.regex, asked.ebnf, asked.structural_tag)) > 1:
            raise ValueError("Only one of regex, json_schema, ebnf or structural_tag can be set.")


class SglangDouble(Double):
    """``async with SglangDouble(Script(ids=(5, 6, 7), incremental=True)) as server``."""

    def __init__(
        self, script: Script | Callable[[Whole], Script] | None = None, *, key: str | None = None, context: int = 4096
    ) -> None:
        model = {"id": "model", "object": "model", "owned_by": "sglang", "root": "model", "max_model_len": context}
        super().__init__(
            script,
            pages={
                "/v1/models": {"object": "list", "data": [model]},
                "/model_info": {"model_path": "some/model", "tokenizer_path": "some/tokenizer", "is_generation": True},
                "/server_info": {
                    "version": "0.5.23",
                    "incremental_streaming_output": isinstance(script, Script) and script.incremental,
                    "skip_tokenizer_init": False,
                    "chat_template": None,
                },
            },
            calls={"/generate": Call(Generate, _events)},
            key=key,
        )


def _events(request: Generate, script: Script) -> Iterator[bytes]:
    tops = request.top_logprobs_num
    for begin, end in script.spans():
        last = end == len(script.ids)
        since = begin if script.incremental else 0
        shown = script.ids[since:end]
        meta: Whole = {
            "id": request.rid or "0123456789abcdef",
            "finish_reason": _finish(script) if last else None,
            "prompt_tokens": len(request.input_ids) if request.input_ids is not UNSET else 7,
            "completion_tokens": end,
            "cached_tokens": script.cached or 0,
            "weight_version": "default",
        }
        if request.return_logprob:
            meta["output_token_logprobs"] = [[-token / 8, token, None] for token in shown]
            meta["output_token_logprobs_length"] = end
            if tops:
                meta["output_top_logprobs"] = [
                    [[-(token + rank) / 8, token + rank, None] for rank in range(tops)] for token in shown
                ]
        event = {"text": "".join(script.spelled[since:end]), "output_ids": shown, "meta_info": meta}
        yield msgspec.json.encode(event)
    yield b"[DONE]"


def _finish(script: Script) -> Whole:
    if script.fault is Fault.ABORT:
        return {"type": "abort", "message": script.message, "status_code": 500, "err_type": "InternalServerError"}
    if script.finish == "length":
        return {"type": "length", "length": len(script.ids)}
    matched = script.matched if script.matched is not None else script.ids[-1] if script.ids else None
    return {"type": script.finish, "matched": matched}
