r"""Gemma: turns between <start_of_turn> and <end_of_turn>, the assistant's called model; Gemma 1 to 3.

    <bos><start_of_turn>user
    You help.

    How is the weather?<end_of_turn>
    <start_of_turn>model
    Fine.<end_of_turn>

There is no system turn: Gemma 3 (`gemma3`) puts the system message in front of the user's first, as it is; Gemma 1 and
2 (`gemma`) refuse one. White space at the ends of messages goes. User and model take turns; there are no tools.

Deviations: several texts of a system message are joined, where the template takes the first; a conversation that is
nothing but a system message is refused, where the template drops it; so is a role that is none of these three.
"""

from __future__ import annotations

from functools import partial

from ...errors import InvalidConversation
from ...types import Message, TextPart
from ..family import Family
from ..page import Chat, Page
from ..plain import plain_dialect, require_plain, trimmed

__all__ = ["FAMILIES"]

BEGIN, END = "<start_of_turn>", "<end_of_turn>"
PROMPT = f"{BEGIN}model\n"

DIALECT = plain_dialect("gemma", (END, "<eos>"), (PROMPT,), "chat templates of gemma-2-2b-it and gemma-3-4b-it")


def prompt(chat: Chat, index: int) -> str:
    """The model's header."""
    return PROMPT


def write(has_system: bool, chat: Chat, page: Page) -> None:
    """The whole conversation."""
    first = require_turns(has_system, chat)
    page.mark("<bos>")
    for k, message in enumerate(chat.messages[first:], first):
        if message.role == "assistant":
            page.begin(k, PROMPT)
            page.mark(PROMPT)
            page.spell(trimmed(message))
            page.stop(END)
            page.mark("\n")
            continue
        page.at(k)
        page.mark(f"{BEGIN}user\n")
        if first and k == first:
            page.at(0)
            page.say_parts(chat.messages[0])
            page.mark("\n\n")
            page.at(k)
        page.say_parts(trimmed(message) if len(message.parts) < 2 else each_trimmed(message))
        page.mark(f"{END}\n")


def require_turns(has_system: bool, chat: Chat) -> int:
    """The index of the first turn; raises `InvalidConversation` where they don't alternate, the user's first."""
    require_plain(chat, *(("system",) if has_system else ()), "user", "assistant")
    first = 1 if chat.role(0) == "system" else 0
    if first and len(chat.messages) == 1:
        raise InvalidConversation(0, "a message of the user behind the system's", "none")
    for k in range(first, len(chat.messages)):
        turn = "assistant" if (k - first) % 2 else "user"
        if chat.role(k) != turn:
            raise InvalidConversation(k, f"a message of the {turn}, since they alternate", f"one of {chat.role(k)}")
    return first


def each_trimmed(message: Message) -> Message:
    """Each text of several without white space at its ends, as the template has it."""
    return Message(message.role, tuple(TextPart(p.text.strip()) for p in message.parts if isinstance(p, TextPart)))


GEMMA = Family(
    name="gemma",
    doc=__doc__,
    dialect=DIALECT.name,
    spoken=DIALECT,
    write=partial(write, False),
    prompt=prompt,
    ends=(END, "<eos>"),
    needs=("<bos>", BEGIN, END),
    models=("google/gemma-2b-it", "google/gemma-7b-it", "google/gemma-1.1-*-it", "google/gemma-2-*-it"),
    aliases=("gemma2",),
    source="chat template of gemma-2-2b-it",
)

GEMMA3 = Family(
    name="gemma3",
    doc=__doc__,
    dialect=DIALECT.name,
    spoken=DIALECT,
    write=partial(write, True),
    prompt=prompt,
    ends=(END, "<eos>"),
    needs=("<bos>", BEGIN, END),
    models=("google/gemma-3-*-it", "google/gemma-3n-*-it", "google/medgemma-*-it"),
    aliases=("gemma3n",),
    source="chat template of gemma-3-4b-it",
)

FAMILIES = (GEMMA, GEMMA3)
