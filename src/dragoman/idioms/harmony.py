"""Harmony's messages, on channels and to recipients; its relatives differ in how they write a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..errors import Inexpressible
from ..grammar import build as b
from ..grammar.nodes import Grammar, Node
from ..segments import Segment
from ..types import Message, ToolCall
from .channels import Row
from .writing import Speller

__all__ = ["HARMONY", "harmony_grammar", "harmony_speller"]

CHANNEL, MESSAGE, CONSTRAIN = "<|channel|>", "<|message|>", "<|constrain|>"

HARMONY = Row(
    begin="<|start|>assistant",
    start="<|start|>",
    end="<|end|>",
    stops=("<|return|>", "<|call|>"),
    heads=(CHANNEL,),
    parts=(MESSAGE, CONSTRAIN),
    words=("assistant", "to="),
)
"""Its markers."""


def harmony_grammar(*calls: tuple[dict[str, str], Node], namespace: str = "") -> Grammar:
    """Messages of which those with a recipient are `calls`, by what their header's fields are like.

    The fields are ``name`` (the recipient, without the `namespace`), ``channel`` and ``type``. The turn may also begin
    behind the header of a thought (``reasoning``) or of the answer (``final``). A header that names only the model
    itself or the user is no call's, but Muse's.
    """
    final, reasoning = HARMONY.text(b.content), HARMONY.text(b.reasoning)
    message = HARMONY.header(
        MESSAGE,
        {
            "channel": r"<\|channel\|>\s*([A-Za-z_][\w-]*)",
            "name": rf"\bto=(?!(?:self|user)\s*$)(?:{namespace})?([^\s<]+)",
            "type": r"(?:<\|constrain\|>\s*|\s)([\w./+-]+)\s*$",
        },
        *calls,
        ({"channel": "analysis"}, reasoning),
        ({"channel": "commentary"}, HARMONY.text(lambda text: b.content(text, channel="commentary"))),
        ({"channel": "final"}, final),
        ({}, HARMONY.unknown()),
    )
    return HARMONY.grammar(message, (f"{CHANNEL}analysis", b.reasoning), reasoning=reasoning, final=final)


def harmony_speller(dialect: str, write_call: Callable[[ToolCall], str]) -> Speller:
    """Writes messages; `write_call` writes a call behind the beginning of its header, and may raise `Inexpressible`."""

    def calls(group: Sequence[ToolCall], after_text: bool, more: bool) -> list[str]:
        if len(group) > 1 or more:
            raise Inexpressible(dialect, 0, "a call ends the output, so there can be only one, at the end")
        return [HARMONY.begin + write_call(group[0])]

    def speller(message: Message, strict: bool) -> list[Segment]:
        return HARMONY.spell(
            dialect,
            message,
            strict,
            thinking=f"{CHANNEL}analysis{MESSAGE}",
            text=lambda channel: f"{CHANNEL}{channel or 'final'}{MESSAGE}",
            calls=calls,
            names=r"[^\s<]{1,200}",
        )

    return speller
