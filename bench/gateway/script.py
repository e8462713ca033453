"""What the fake worker says, token by token, and what a client must have read in the end.

All is written with o200k's ranks, since they are what is shipped: as gpt-oss writes (`harmony`), and as a model whose
thoughts are between ``<think>`` and ``</think>`` (`qwen`), with control tokens of its own behind the ranks.
Among the words are characters that take several tokens, so that a token is not always text.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from msgspec import Struct

from dragoman.tokenizers.vocabularies import shipped

from ..text import paragraphs

__all__ = ["QWEN_CONTROL", "SCRIPTS", "Script", "control_of", "script"]

SCRIPTS = {"harmony": "gpt-oss-20b", "qwen": "qwen3-8b"}
"""The scripts, and the models that gateways are told they come from."""

QWEN_CONTROL: Mapping[str, int] = {
    spelling: 199_998 + at
    for at, spelling in enumerate(
        ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>")
    )
}


def control_of(name: str) -> Mapping[str, int]:
    """The control tokens of a script."""
    return shipped("o200k_harmony").control if name == "harmony" else QWEN_CONTROL


MANY_TOKENS = "Then 🦄🪿 said: 鬱蒼とした𓀀 — naïve, isn't it? "

PROMPT_TOKENS = 64
"""What the worker says that the prompt had, whatever it was."""


class Script(Struct, frozen=True):
    """An answer in tokens; `shown` is the text that each makes whole."""

    name: str
    model: str
    ids: tuple[int, ...]
    shown: tuple[str, ...]
    reasoning: str
    content: str
    stop: int


def script(name: str, tokens: int) -> Script:
    """The script of that name with about so many tokens, a third of them thoughts."""
    thought, answer = _text(1, tokens // 3), _text(2, tokens - tokens // 3)
    control = control_of(name)
    if name == "harmony":
        parts = ("<|channel|>", "analysis", "<|message|>", thought, "<|end|>", "<|start|>", "assistant")
        parts += ("<|channel|>", "final", "<|message|>", answer, "<|return|>")
    else:
        parts = ("<think>", "\n", thought, "\n", "</think>", "\n\n", answer, "<|im_end|>")
    ids: list[int] = []
    for part in parts:
        ids += [control[part]] if part in control else shipped("o200k_base").encode(part)
    return Script(name, SCRIPTS[name], tuple(ids), tuple(_shown(ids, control)), thought, answer, ids[-1])


def _text(seed: int, tokens: int) -> str:
    """Text of about so many tokens, without white space at its ends."""
    tokenizer = shipped("o200k_base")
    whole = MANY_TOKENS + "".join(islice(paragraphs(seed), tokens // 16 + 2))
    ids = tokenizer.encode(whole)[:tokens]
    return b"".join(map(tokenizer.token_bytes, ids)).decode(errors="ignore").strip()


def _shown(ids: list[int], control: Mapping[str, int]) -> list[str]:
    """What an engine shows for each token: nothing until a character is whole, nothing for a control token."""
    tokenizer, hidden, held, found = shipped("o200k_base"), set(control.values()), b"", []
    for token in ids:
        held += b"" if token in hidden else tokenizer.token_bytes(token)
        try:
            text, held = held.decode(), b""
        except UnicodeDecodeError:
            text = ""
        found.append(text)
    return found
