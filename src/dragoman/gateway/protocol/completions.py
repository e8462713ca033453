"""The bodies of ``POST /v1/completions``, OpenAI's, and ``POST /generate``, SGLang's: prompts that are given whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, structs

from ..workers.order import Sampling
from .chat import MOST_CHOICES, StreamOptions
from .refusals import decoded, invalid, unreadable
from .sampling import check_sampling, check_stops, sampling_of

__all__ = ["CompletionRequest", "GenerateRequest", "read_completion", "read_generate"]

MOST_PROMPTS = 64
MOST_LOGPROBS = 20

DEFAULT_TOKENS = 16
"""Tokens of a completion that asks for no number, as in OpenAI's API."""


class CompletionFields(Struct, kw_only=True, frozen=True):
    """The fields that are read, but for those of `sampling`."""

    prompt: str | list[Any]
    model: str = ""
    n: int | None = None
    best_of: int | None = None
    echo: bool = False
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    logprobs: int | None = None
    max_tokens: int | None = None
    stop: str | list[str] | None = None
    stop_token_ids: list[int] | None = None
    include_stop_str_in_output: bool | None = None
    skip_special_tokens: bool | None = None
    suffix: str | None = None
    user: str | None = None


class CompletionRequest(CompletionFields, kw_only=True, frozen=True):
    """A completion: one prompt or several, each a text, in which control tokens are spelled, or ids."""

    sampling: Sampling = Sampling()

    @property
    def session(self) -> str | None:
        """What the caller calls itself."""
        return self.user

    @property
    def stops(self) -> tuple[str, ...]:
        """The caller's own stop strings."""
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())

    @property
    def prompts(self) -> list[str | list[int]]:
        """The prompts, one by one; raises `Refused`."""
        if isinstance(self.prompt, str):
            return [self.prompt]
        given = self.prompt
        if given and all(type(one) is int for one in given):
            return [list(given)]
        for index, one in enumerate(given):
            ids = isinstance(one, list) and one and all(type(token) is int for token in one)
            if not (isinstance(one, str) or ids):
                raise invalid(f"prompt[{index}]", "a prompt must be a string, or token ids", "invalid_type")
        return list(given)


_FIELDS = frozenset(CompletionFields.__struct_fields__)


def read_completion(body: bytes) -> CompletionRequest:
    """The request in a body; raises `Refused`."""
    raw = decoded(body, dict[str, Any])
    try:
        fields = msgspec.convert({key: raw[key] for key in _FIELDS & raw.keys()}, CompletionFields)
    except msgspec.ValidationError as error:
        raise unreadable(error) from None
    if fields.max_tokens is not None and fields.max_tokens < 1:
        raise invalid("max_tokens", f"'max_tokens' must be at least 1, found {fields.max_tokens}")
    most = fields.max_tokens if fields.max_tokens is not None else DEFAULT_TOKENS
    sampling = sampling_of(raw, max_tokens=most, logprobs=fields.logprobs)
    check_sampling(sampling)
    request = CompletionRequest(**structs.asdict(fields), sampling=sampling)
    _check(request)
    return request


def _check(request: CompletionRequest) -> None:
    count = len(request.prompts)
    if not 1 <= count <= MOST_PROMPTS:
        raise invalid("prompt", f"'prompt' must hold from 1 to {MOST_PROMPTS} prompts, found {count}")
    if request.n is not None and not 1 <= request.n <= MOST_CHOICES // count:
        most = f"{MOST_CHOICES // count} for {count} prompts" if count > 1 else str(MOST_CHOICES)
        raise invalid("n", f"'n' must be from 1 to {most}, found {request.n}")
    if request.best_of is not None and request.best_of != (request.n or 1):
        raise invalid(
            "best_of", "'best_of' other than 'n' is not supported: all outputs are given", "unsupported_value"
        )
    if request.suffix:
        raise invalid("suffix", "'suffix' is not supported: write the model's own marks for a middle into the prompt")
    if request.logprobs is not None and not 0 <= request.logprobs <= MOST_LOGPROBS:
        raise invalid("logprobs", f"'logprobs' must be from 0 to {MOST_LOGPROBS}")
    if request.echo and request.logprobs is not None:
        raise invalid("echo", "'echo' with 'logprobs' is not supported: the prompt's own are not known here")
    check_stops(request.stops, "stop")
    if request.stream_options is not None and not request.stream:
        raise invalid("stream_options", "'stream_options' needs 'stream' to be true")


class GenerateFields(Struct, kw_only=True, frozen=True):
    """The fields that are read, but for those of `sampling`."""

    model: str = ""
    text: str | None = None
    input_ids: list[int] | None = None
    stream: bool = False
    return_logprob: bool = False
    top_logprobs_num: int = 0
    rid: str | None = None
    session_id: str | None = None
    sampling_params: dict[str, Any] = {}


class _Chosen(Struct, frozen=True):
    """What `sampling_params` hold beside that which all endpoints have."""

    n: int | None = None
    max_new_tokens: int | None = None
    min_new_tokens: int | None = None
    stop: str | list[str] | None = None
    stop_token_ids: list[int] | None = None
    skip_special_tokens: bool | None = None
    no_stop_trim: bool | None = None


class GenerateRequest(GenerateFields, kw_only=True, frozen=True):
    """A prompt in ids or text, and an output in ids and text."""

    sampling: Sampling = Sampling()
    chosen: _Chosen = _Chosen()

    @property
    def n(self) -> int | None:
        """How many outputs."""
        return self.chosen.n

    @property
    def session(self) -> str | None:
        """What the caller calls the conversation."""
        return self.session_id

    @property
    def stops(self) -> tuple[str, ...]:
        """The caller's own stop strings."""
        stop = self.chosen.stop
        return (stop,) if isinstance(stop, str) else tuple(stop or ())

    @property
    def stop_token_ids(self) -> tuple[int, ...]:
        """The caller's own stop tokens."""
        return tuple(self.chosen.stop_token_ids or ())


def read_generate(body: bytes) -> GenerateRequest:
    """The request in a body; raises `Refused`."""
    raw = decoded(body, dict[str, Any])
    names = frozenset(GenerateFields.__struct_fields__)
    try:
        given = msgspec.convert({key: raw[key] for key in names & raw.keys()}, GenerateFields)
        chosen = msgspec.convert(given.sampling_params, _Chosen)
    except msgspec.ValidationError as error:
        raise unreadable(error) from None
    request = GenerateRequest(**structs.asdict(given), chosen=chosen)
    if (request.text is None) is (request.input_ids is None):
        raise invalid("input_ids", "exactly one of 'text' and 'input_ids' is needed")
    if request.input_ids is not None and not request.input_ids:
        raise invalid("input_ids", "'input_ids' must hold at least one token", "empty_array")
    fields: Mapping[str, Any] = request.sampling_params
    most = chosen.max_new_tokens
    if most is not None and most < 1:
        raise invalid("sampling_params.max_new_tokens", "'max_new_tokens' must be an integer of at least 1")
    if request.n is not None and not 1 <= request.n <= MOST_CHOICES:
        raise invalid("sampling_params.n", f"'n' must be from 1 to {MOST_CHOICES}")
    check_stops(request.stops, "sampling_params.stop")
    top = request.top_logprobs_num if request.return_logprob else None
    if top is not None and not 0 <= top <= MOST_LOGPROBS:
        raise invalid("top_logprobs_num", f"'top_logprobs_num' must be from 0 to {MOST_LOGPROBS}")
    sampling = sampling_of(fields, max_tokens=most, logprobs=top)
    check_sampling(sampling)
    return structs.replace(request, sampling=sampling)
