"""The fields that say how tokens are chosen, the same in all endpoints: OpenAI's, and those of vLLM and SGLang."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ...types import JSON
from ..workers.order import Sampling
from .refusals import invalid, unreadable

__all__ = ["MOST_STOPS", "PASSED_ON", "SAMPLING", "check_sampling", "check_stops", "sampling_of"]

MOST_STOPS, MOST_STOP_CHARACTERS = 16, 1024
"""Stop strings of a request, and how long they are in all: each is looked for in each piece of an answer."""

MOST_BIASES = 4096
TOKEN_DIGITS = 10

PASSED_ON = frozenset(
    {"priority", "lora_path", "cache_salt", "session_params", "custom_params"}
    | {"truncate_prompt_tokens", "vllm_xargs", "typical_p"}
    | {"regex", "ebnf", "structured_outputs", "guided_json", "guided_regex", "guided_grammar", "guided_choice"}
    | {"grammar", "json_schema", "dry_multiplier", "dry_base", "mirostat", "mirostat_tau", "id_slot", "cache_prompt"}
)
"""Fields that a worker understands and the gateway does not: they go to it as they are."""


class _Fields(Struct, kw_only=True, frozen=True):
    min_tokens: int | None = None
    min_new_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None
    sampling_seed: int | None = None
    logit_bias: dict[str, float] | None = None
    ignore_eos: bool | None = None


SAMPLING = frozenset(_Fields.__struct_fields__) | PASSED_ON
"""The names of all of them in a request."""

_RANGES: tuple[tuple[str, float, float], ...] = (
    ("temperature", 0, 2),
    ("top_p", 0, 1),
    ("min_p", 0, 1),
    ("presence_penalty", -2, 2),
    ("frequency_penalty", -2, 2),
    ("repetition_penalty", 0, 2),
)


def sampling_of(raw: Mapping[str, Any], *, max_tokens: int | None, logprobs: int | None) -> Sampling:
    """How to choose tokens, by the fields of a request; raises `Refused`."""
    try:
        fields = msgspec.convert({key: raw[key] for key in raw if key in _Fields.__struct_fields__}, _Fields)
    except msgspec.ValidationError as error:
        raise unreadable(error) from None
    extra: dict[str, JSON] = {key: raw[key] for key in PASSED_ON if raw.get(key) is not None}
    return Sampling(
        max_tokens=max_tokens,
        min_tokens=fields.min_tokens if fields.min_tokens is not None else fields.min_new_tokens,
        temperature=fields.temperature,
        top_p=fields.top_p,
        top_k=fields.top_k,
        min_p=fields.min_p,
        presence_penalty=fields.presence_penalty,
        frequency_penalty=fields.frequency_penalty,
        repetition_penalty=fields.repetition_penalty,
        seed=fields.seed if fields.seed is not None else fields.sampling_seed,
        logit_bias=_bias(fields.logit_bias),
        ignore_eos=fields.ignore_eos,
        logprobs=logprobs,
        extra=extra,
    )


def _bias(given: Mapping[str, float] | None) -> dict[int, float] | None:
    if given is None:
        return None
    if len(given) > MOST_BIASES:
        raise invalid("logit_bias", f"'logit_bias' may hold up to {MOST_BIASES} tokens, found {len(given)}")
    bias = {}
    for token, value in given.items():
        if not token.isdecimal() or len(token) > TOKEN_DIGITS:
            raise invalid("logit_bias", f"'logit_bias' has token ids for keys, found {token[:20]!r}")
        if not -100 <= value <= 100:
            raise invalid(f"logit_bias.{token}", "a bias must be from -100 to 100")
        bias[int(token)] = value
    return bias


def check_stops(stops: Sequence[str], param: str) -> None:
    """Refuse stop strings that are too many, too long, or empty."""
    if len(stops) > MOST_STOPS:
        raise invalid(param, f"'{param}' may hold up to {MOST_STOPS} strings, found {len(stops)}")
    if not all(stops):
        raise invalid(param, f"'{param}' must not hold an empty string")
    if (size := sum(map(len, stops))) > MOST_STOP_CHARACTERS:
        raise invalid(param, f"'{param}' may have up to {MOST_STOP_CHARACTERS} characters in all, found {size}")


def check_sampling(sampling: Sampling) -> None:
    """Refuse numbers outside their ranges."""
    for name, low, high in _RANGES:
        value = getattr(sampling, name)
        if value is not None and not low <= value <= high:
            code = "decimal_above_max_value" if value > high else "decimal_below_min_value"
            raise invalid(name, f"'{name}' must be from {low} to {high}, found {value}", code)
    if sampling.top_k is not None and sampling.top_k < 1 and sampling.top_k not in (-1, 0):
        raise invalid("top_k", f"'top_k' must be at least 1, or -1 for all, found {sampling.top_k}")
    if sampling.min_tokens is not None and not 0 <= sampling.min_tokens <= (sampling.max_tokens or sampling.min_tokens):
        raise invalid("min_tokens", "'min_tokens' must be from 0 to 'max_tokens'")
