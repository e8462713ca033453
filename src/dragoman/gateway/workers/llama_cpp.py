"""llama.cpp's server: its ``/completion``, which takes ids or text and constrains by GBNF.

The stream that comes back is read by `llama_cpp_reader`; what a server can do is asked by `llama_cpp_props`; llama.cpp
in this process is `in_process`. Prompts of text are parsed for control tokens by the server, so that no user text may
spell one: that is seen to before they come here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from ...constrain import emit
from ...constrain.emission import Emission
from ...constrain.requests import llama_cpp
from ...errors import InvalidRequest, Refused
from ...types import JSON
from .llama_cpp_reader import LlamaCppEvents
from .order import Order, Prompt, Sampling
from .reading import EventReader
from .worker import Capabilities, Dispatch, Reader

__all__ = ["LlamaCpp"]

NUMBERED = re.compile(r"\d+\W*")
"""The end of a token's name that only reserves a place: ``<|reserved_special_token_7|>``, ``<unused12>``."""

SEED_MASK = 0xFFFF_FFFF
"""llama.cpp's seeds have 32 bits."""


class LlamaCpp:
    """How a server of llama.cpp is spoken to.

    A constraint that is not eager is told as a lazy grammar where something announces calls, else not at all. The
    stop texts that are no single tokens are left to the server, which then holds back what begins like one; if the
    limit falls there, that is lost (in this server, not here).
    """

    kind = "llama.cpp"

    def build(self, order: Order, capabilities: Capabilities) -> Dispatch:
        """The request for an order; raises `Refused` for a minimum of tokens, which llama.cpp does not have."""
        if order.sampling.min_tokens:
            raise Refused(400, "unsupported_parameter", "llama.cpp has no min_tokens", param="min_tokens")
        control = _control(order, capabilities)
        emission = _emission(order, control)
        markers = emission.markers if emission is not None else ()
        spoken = (token for token in control if not NUMBERED.search(token[-4:]))
        fields: dict[str, JSON] = {
            "cache_prompt": True,
            **_sampling(order.sampling),
            **order.sampling.extra,
            **(llama_cpp(emission) if emission is not None else {}),
            "preserved_tokens": list(dict.fromkeys((*spoken, *markers))),
            "prompt": _prompt(order.prompt, control),
            "return_tokens": True,
            "stream": True,
            "model": order.model,
        }
        stops: list[JSON] = [text for text in order.stop_texts if text not in control]
        if stops:
            fields["stop"] = stops
        return Dispatch("POST", "/completion", msgspec.json.encode(fields), order.headers)

    def reader(self, order: Order, capabilities: Capabilities) -> Reader:
        """Who reads the answer: ids for a prompt of ids, text for one of text."""
        control = _control(order, capabilities)
        events = LlamaCppEvents(order, control, told_ids=order.prompt.ids is not None)
        return EventReader(self.kind, events)


def _control(order: Order, capabilities: Capabilities) -> Mapping[str, int]:
    return order.control or capabilities.control


def _prompt(prompt: Prompt, control: Mapping[str, int]) -> JSON:
    """The prompt; one of text that begins with a token begins with its id, since no BOS is then put before it."""
    if prompt.ids is not None:
        return list(prompt.ids)
    if prompt.text is None:
        raise Refused(400, "no_prompt", "this worker takes prompts, and there is none for this conversation")
    text = prompt.text
    begins = max((token for token in control if text.startswith(token)), key=len, default=None)
    return text if begins is None else [control[begins], text[len(begins) :]]


def _emission(order: Order, control: Mapping[str, int]) -> Emission | None:
    if order.constraint is None:
        return None
    known = control or None
    if order.eager:
        return emit(order.constraint, "gbnf", control=known)
    try:
        return emit(order.constraint, "gbnf", lazy=True, control=known, prompt=order.prompt.begun)
    except InvalidRequest:  # nothing announces a call, or it has begun
        return None


def _sampling(sampling: Sampling) -> dict[str, JSON]:
    """What was asked for, in llama.cpp's words."""
    seed, bias = sampling.seed, sampling.logit_bias
    named: dict[str, JSON] = {
        "n_predict": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
        "repeat_penalty": sampling.repetition_penalty,
        "seed": seed & SEED_MASK if seed is not None else None,
        "logit_bias": [[token, weight] for token, weight in bias.items()] if bias else None,
        "ignore_eos": sampling.ignore_eos,
        "n_probs": max(1, sampling.logprobs) if sampling.logprobs is not None else None,
    }
    return {name: value for name, value in named.items() if value is not None}
