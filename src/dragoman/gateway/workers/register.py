"""Finds out what a worker is: asks the server at a URL, kind by kind, until one knows it.

A kind is an entry in `KINDS`: a wire, and a function that asks. The kinds that give most come first, any server that
speaks OpenAI's chat last.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct

from ...errors import InvalidConfig, WorkerFailed
from ..transport import Client
from . import llama_cpp_props, openai_chat, sglang, vllm, vllm_generate
from .llama_cpp import LlamaCpp
from .openai_chat import OpenAIChat
from .pages import base_of, models_of
from .sglang import Sglang
from .vllm import Vllm
from .vllm_generate import VllmGenerate
from .worker import Capabilities, Speech, Wire

__all__ = ["KINDS", "Kind", "discover"]


class Kind(Struct, frozen=True):
    """A kind of server: how it is spoken to, how it is asked, and what is believed of one that does not answer that."""

    wire: Callable[[], Wire]
    ask: Callable[[str, Client, str | None], Awaitable[Capabilities | None]]
    speech: tuple[Speech, ...]


KINDS: Mapping[str, Kind] = {
    "sglang": Kind(Sglang, sglang.ask, (Speech.TOKENS, Speech.TEXT)),
    "vllm": Kind(Vllm, vllm.ask, (Speech.TOKENS, Speech.TEXT)),
    # Behind completions, as those take text too and are there by default; it is all that a vLLM for tokens only has.
    "vllm-generate": Kind(VllmGenerate, vllm_generate.ask, (Speech.TOKENS,)),
    "llama.cpp": Kind(LlamaCpp, llama_cpp_props.ask, (Speech.TOKENS, Speech.TEXT)),
    "openai": Kind(OpenAIChat, openai_chat.ask, (Speech.CHAT,)),
}
"""The kinds that there are, in the order in which they are tried."""


async def discover(
    url: str, client: Client, *, kind: str | None = None, key: str | None = None
) -> tuple[Wire, Capabilities]:
    """How the server at this URL is spoken to, and what it can do.

    A `kind` that is named is believed, also where the server calls itself otherwise, as one behind a proxy may.
    Raises `WorkerFailed` where nobody answers, or nothing that is known; `InvalidConfig` for a kind that there is not.
    """
    url = base_of(url)
    if kind is None:
        for each in KINDS.values():
            found = await each.ask(url, client, key)
            if found is not None:
                return each.wire(), found
        raise WorkerFailed(url, "it is no server that is known, and lists no models at /v1/models; name its kind")
    chosen = KINDS.get(kind)
    if chosen is None:
        raise InvalidConfig("kind", f"one of {', '.join(KINDS)}", repr(kind))
    found = await chosen.ask(url, client, key)
    return chosen.wire(), found or await _believed(kind, chosen, url, client, key)


async def _believed(kind: str, chosen: Kind, url: str, client: Client, key: str | None) -> Capabilities:
    """What can be known of a server that does not say what it is."""
    models = await models_of(url, client, key)
    context = models[0].max_model_len if models else None
    return Capabilities(kind=kind, speech=chosen.speech, models=tuple(each.id for each in models), context=context)
