r"""Role and colon: plain words instead of control tokens; for base models, and those that have no format of their own.

    System: You help.

    User: How is the weather?

    Assistant: Fine.

    User:

What ends the assistant's turn is the text that begins the user's, two newlines and ``User:``, which the model is
trained to write; so the turn's stop sequence is a string. Behind each colon stands a space, which is the model's own in
its turns and no part of what it says. ``bos_token`` is what the whole begins with: the control token for it, if the
tokenizer has one. Tools, calls and thoughts are refused.

There is nothing that keeps text from posing as a turn but this: text that has such a beginning is refused. It is the
format of tinker-cookbook's renderer of that name, with one difference: no further newlines end the last message.
"""

from __future__ import annotations

import re

from ...errors import InvalidConversation
from ..family import Family
from ..page import Chat, Options, Page
from ..plain import plain_dialect, require_plain

__all__ = ["FAMILIES"]

STOP = "\n\nUser:"
TURN = re.compile(r"\n\n(?:System|User|Assistant):")
ENDS = ("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "<|eot_id|>", "<|im_end|>", "<｜end▁of▁sentence｜>")


class Begin(Options, frozen=True):
    """The control token that begins every text, as the tokenizer spells it."""

    bos_token: str = ""


def prompt(chat: Chat, index: int) -> str:
    """The name of the assistant; raises `InvalidConversation` where its last turn has not been answered."""
    if chat.role(index - 1) == "assistant":
        raise InvalidConversation(index - 1, "a message of the user behind the assistant's", "none")
    return f"{divider(index)}Assistant:"


def divider(index: int) -> str:
    """What stands before a role's name."""
    return "\n\n" if index else ""


def write(chat: Chat, page: Page) -> None:
    """The whole conversation."""
    require_plain(chat, "system", "user", "assistant")
    page.mark(getattr(chat.options, "bos_token", ""))
    for k, message in enumerate(chat.messages):
        found = TURN.search(message.text)
        if found is not None:
            raise InvalidConversation(k, "text without the beginning of a turn", repr(found.group()))
        if message.role == "assistant":
            header = prompt(chat, k)
            page.begin(k, header)
            page.mark(f"{header} ")
            page.spell(message)
            page.stop(STOP)
            continue
        page.at(k)
        begun = chat.role(k - 1) == "assistant"
        if begun and message.role != "user":
            raise InvalidConversation(k, "a message of the user behind the assistant's", f"one of {message.role}")
        if not begun:
            page.mark(f"{divider(k)}{message.role.capitalize()}:")
        page.mark(" ", apart=begun)
        page.say_parts(message)


ROLE_COLON = Family(
    name="role_colon",
    doc=__doc__,
    dialect="role_colon",
    spoken=plain_dialect("role_colon", (STOP,), ("Assistant:",), "tinker-cookbook, renderers/role_colon.py"),
    write=write,
    prompt=prompt,
    options=Begin,
    ends=ENDS,
    stop_texts=(STOP,),
    lead=" ",
    source="tinker-cookbook, renderers/role_colon.py",
)

FAMILIES = (ROLE_COLON,)
