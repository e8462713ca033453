r"""Kimi K2: turns between <|im_...|> tokens, calls and their answers joined by ids that name the function.

    <|im_system|>tool_declare<|im_middle|>[{"function":{...},"type":"function"}]<|im_end|>\
    <|im_system|>system<|im_middle|>You help.<|im_end|><|im_user|>user<|im_middle|>How is the weather?<|im_end|>\
    <|im_assistant|>assistant<|im_middle|>Let me look.<|tool_calls_section_begin|>\
    <|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>\
    <|tool_calls_section_end|><|im_end|><|im_system|>get_weather<|im_middle|>## Return of functions.get_weather:0
    {"degrees": 20}<|im_end|><|im_assistant|>assistant<|im_middle|>

Sources: the chat templates of Kimi-K2-Instruct (of August 2025 and later; K2-0905 too) and Kimi-K2-Thinking, as
llama.cpp has them but for what it has edited (ids, JSON's separators, a loop's end: here as in the template of K2.5),
and ``tokenization_kimi.py``, which sorts the keys of tools. Without a system message there is one that says who Kimi
is, in K2-Instruct with a newline behind it. A turn's header has the speaker's name if there is one. K2-Thinking writes
the model's turns with ``<think>``, and keeps the thoughts of those behind the last one that calls nothing.

Deviations: a call whose id does not name it, or that has none, gets the id that the model would write, which counts the
conversation's calls; a result whose id no call has, or that has none, answers the first call without an answer.
K2-Thinking's last message keeps its thoughts, and so do the calls that led to it, since it is what the model wrote,
where the template empties them once the answer is there. Parts are written in their order.
"""

from __future__ import annotations

import re
from functools import partial

from msgspec.structs import replace

from ...errors import InvalidConversation
from ...segments import NOBODY, Kind
from ...types import Message, Part, ThinkingPart, ToolCall
from ..family import Family
from ..page import Chat, Page
from ..values import tojson
from .deepseek_v3 import without_thoughts

__all__ = ["FAMILIES"]

SYSTEM, USER, ASSISTANT = "<|im_system|>", "<|im_user|>", "<|im_assistant|>"
MIDDLE, END = "<|im_middle|>", "<|im_end|>"
KIMI = f"{SYSTEM}system{MIDDLE}You are Kimi, an AI assistant created by Moonshot AI.{END}"
EMPTY = "<think></think>"
OPENERS = {"user": USER, "assistant": ASSISTANT, "system": SYSTEM, "tool": SYSTEM}


def prompt(chat: Chat, index: int) -> str:
    """The assistant's header."""
    return f"{ASSISTANT}assistant{MIDDLE}"


def write(chat: Chat, page: Page, *, thinks: bool) -> None:
    """The whole conversation."""
    if chat.tools:
        page.mark(f"{SYSTEM}tool_declare{MIDDLE}")
        declared = tuple(tool.value for tool in chat.tools)
        page.say(tojson(declared, sort_keys=True, separators=(",", ":")), kind=Kind.TOOLS)
        page.mark(END)
    if chat.role(0) != "system":
        page.mark(KIMI if thinks else f"{KIMI}\n")
    ids = Ids()
    history = end_of_history(chat)
    for k, message in enumerate(chat.messages):
        page.at(k)
        if message.role == "assistant":
            write_assistant(chat, page, k, ids.named(message), thinks=thinks, keeps=thinks and k > history)
            continue
        write_header(page, message)
        if message.role == "tool":
            page.mark("## Return of ")
            page.say(ids.answered(message, k), kind=Kind.MARKUP)
            page.mark("\n")
        page.say_parts(message)
        page.mark(END)


def write_header(page: Page, message: Message) -> None:
    """Who speaks: by name, or else by role."""
    page.mark(OPENERS.get(message.role, SYSTEM))
    if message.name or message.role not in OPENERS:
        page.say(message.name or message.role, kind=Kind.MARKUP)
    else:
        page.mark(message.role)
    page.mark(MIDDLE)


def end_of_history(chat: Chat) -> int:
    """The last message of the model, before the conversation's last, that called nothing; thoughts end there."""
    for k in range(len(chat.messages) - 2, -1, -1):
        if chat.role(k) == "assistant" and not chat.messages[k].tool_calls:
            return k
    return NOBODY


def write_assistant(chat: Chat, page: Page, k: int, message: Message, *, thinks: bool, keeps: bool) -> None:
    """A turn of the model, with its thoughts where it `keeps` them, else an empty one where it `thinks`."""
    thoughts = any(isinstance(part, ThinkingPart) for part in message.parts)
    page.begin(k, prompt(chat, k), rewritten=thoughts and not keeps)
    write_header(page, message)
    if thinks and not (thoughts and keeps):
        page.mark(EMPTY)
    page.spell(message if keeps else without_thoughts(message))
    page.stop(END)


class Ids:
    """The ids of a conversation's calls as they are written, and those that have no answer yet."""

    def __init__(self) -> None:
        self._count = 0
        self._written: dict[str, str] = {}
        self._open: list[str] = []

    def named(self, message: Message) -> Message:
        """The message with an id for each call that says whom it calls."""
        self._open = self._open if not message.tool_calls else []
        return replace(message, parts=tuple(self._named(part) for part in message.parts))

    def _named(self, part: Part) -> Part:
        if not isinstance(part, ToolCall):
            return part
        own = given = part.id or ""
        if not re.fullmatch(rf"(functions\.)?{re.escape(part.name)}(:\d+)?", given):
            own = f"functions.{part.name}:{self._count}"
        self._written[given or own] = own
        self._open.append(own)
        self._count += 1
        return replace(part, id=own)

    def answered(self, message: Message, index: int) -> str:
        """The id of the call that a result answers; raises `InvalidConversation` where there is none."""
        given = message.call_id or ""
        own = self._written.get(given) or next(iter(self._open), given)
        if not own:
            raise InvalidConversation(index, "the id of the call that it answers", "none, and no open call")
        if own in self._open:
            self._open.remove(own)
        return own


def family(name: str, model: str, *, thinks: bool) -> Family:
    return Family(
        name=name,
        doc=__doc__,
        dialect="kimi_k2",
        write=partial(write, thinks=thinks),
        prompt=prompt,
        ends=(END, "[EOS]"),
        needs=(SYSTEM, USER, ASSISTANT, MIDDLE, END),
        models=(f"moonshotai/{model}*",),
        source=f"chat template and tokenization_kimi.py of {model}",
    )


FAMILIES = (
    family("kimi_k2", "Kimi-K2-Instruct", thinks=False),
    family("kimi_k2_thinking", "Kimi-K2-Thinking", thinks=True),
)
