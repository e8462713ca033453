r"""Qwen 3.5 and later: turns as in Qwen 3, tools as JSON lines, calls as tags with raw values.

    <|im_start|>system
    # Tools

    You have access to the following functions:

    <tools>
    {"type": "function", "function": {"name": "get_weather", ...}}
    </tools>

    If you choose to call a function ONLY reply in the following format ...

    You help.<|im_end|>
    <|im_start|>user
    How is the weather?<|im_end|>
    <|im_start|>assistant
    <think>
    I should look.
    </think>

    <tool_call>
    <function=get_weather>
    <parameter=city>
    Paris
    </parameter>
    </function>
    </tool_call><|im_end|>
    <|im_start|>user
    <tool_response>
    {"degrees": 20}
    </tool_response><|im_end|>
    <|im_start|>assistant
    <think>

Blanks around all text and thoughts are taken off. Behind the last query of the user, every turn has a block of
thoughts; before it, none has, unless with ``preserve_thinking``. The prompt opens the block, or holds an empty one
without ``enable_thinking``. Four families, each after the chat template of that name:

- ``qwen35`` (Qwen3.5-4B and larger) thinks, ``qwen35_small`` (Qwen3.5-2B and smaller) does not unless asked to; both
  print a value of a call that is true, false or null as Python does
- ``qwen36`` (Qwen3.6-27B) has ``preserve_thinking``, off
- ``qwen38`` (Qwen3.8-27B) has it on, and a ``reasoning_effort`` (xhigh, medium, low) that the system message tells

Deviations: an assistant's text that spells ``</think>`` stays text, where all templates but the last take what is
before it for thoughts; parts are written in their order, where they write thoughts, text and calls; a value that holds
``</parameter>`` is refused; a result that begins the conversation has a header, too. Refused as there: no query of the
user, a message of the system behind the first, other roles.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from msgspec.structs import replace

from ...errors import InvalidConversation
from ...idioms import Speller, raw_text
from ...segments import NOBODY
from ...types import ThinkingPart
from ..family import Family
from ..page import Chat, Page
from ..trim import stripped, without_thoughts
from .qwen3 import BEGIN, EMPTY, END, ENDS, HEADER, OPENED, Thinking, write_result, write_said, write_tools
from .qwen3_coder import HOW_TO_CALL, speller

__all__ = ["FAMILIES"]

EFFORTS = {
    "xhigh": "Reasoning effort is set to xhigh. Please think carefully through the task, validate key assumptions, "
    "consider plausible alternatives, and prioritize correctness, consistency, and clarity in the final answer.",
    "medium": "",
    "low": "Reasoning effort is set to low. Keep your thinking brief and focused, moving directly to the conclusion "
    "without unnecessary elaboration.",
}
PRINTED = {"true": "True", "false": "False", "null": "None"}


class ThinkingIfAsked(Thinking, frozen=True):
    """Whether the model is to think: not by itself."""

    enable_thinking: bool = False


class Preserving(Thinking, frozen=True):
    """Whether the model is to think, and thoughts stay in history."""

    preserve_thinking: bool = False


class Trying(Preserving, frozen=True):
    """Whether the model is to think, how hard, and whether thoughts stay in history."""

    preserve_thinking: bool = True
    reasoning_effort: Literal["xhigh", "medium", "low"] = "xhigh"


def prompt(chat: Chat, index: int) -> str:
    """The assistant's header, and the opener of its thoughts or an empty block of them."""
    thinks = isinstance(chat.options, Thinking) and chat.options.enable_thinking
    return HEADER + (OPENED if thinks else EMPTY)


def write(chat: Chat, page: Page, spelled: Speller | None = None) -> None:
    """The whole conversation, in which another speller than the dialect's may write the model's turns."""
    query = last_query(chat)
    preserves = isinstance(chat.options, Preserving) and chat.options.preserve_thinking
    write_system(chat, page)
    for k, message in enumerate(chat.messages):
        match message.role:
            case "assistant":
                write_assistant(chat, page, k, spelled, shown=preserves or k > query)
            case "tool":
                write_result(chat, page, k, stripped(message))
            case "user":
                write_said(page, k, stripped(message))
            case "system" if not k:
                pass
            case role:
                known = "user, assistant or tool" if k else "system, user, assistant or tool"
                raise InvalidConversation(k, f"a role of {known}", repr(role))


def last_query(chat: Chat) -> int:
    """The index of the last message of the user that is no tool's answer."""
    for k in range(len(chat.messages) - 1, -1, -1):
        text = chat.messages[k].text.strip()
        answered = text.startswith("<tool_response>") and text.endswith("</tool_response>")
        if chat.messages[k].role == "user" and not answered:
            return k
    raise InvalidConversation(NOBODY, "a query of the user", "none")


def write_system(chat: Chat, page: Page) -> None:
    """How hard to think, the tools, and the first system message."""
    first = stripped(chat.messages[0]) if chat.role(0) == "system" else None
    effort = effort_of(chat)
    alone = first is not None and (first.text or not isinstance(chat.options, Trying))
    if not (chat.tools or effort or alone):
        return
    page.at(0 if first is not None else NOBODY)
    page.mark(f"{BEGIN}system\n{effort}")
    if effort and (chat.tools or (first is not None and first.text)):
        page.mark("\n\n")
    if chat.tools:
        page.mark("# Tools\n\nYou have access to the following functions:\n\n<tools>")
        write_tools(chat, page)
        page.mark(f"\n</tools>{HOW_TO_CALL}")
    if first is not None:
        page.mark("\n\n" if chat.tools and first.text else "")
        page.say_parts(first)
    page.mark(f"{END}\n")


def effort_of(chat: Chat) -> str:
    """What the system says of how hard to think; empty where it says nothing."""
    options = chat.options
    return EFFORTS[options.reasoning_effort] if isinstance(options, Trying) and options.enable_thinking else ""


def write_assistant(chat: Chat, page: Page, k: int, spelled: Speller | None, *, shown: bool) -> None:
    """A turn of the model, with its thoughts shown or not."""
    message = stripped(stripped(chat.messages[k], ThinkingPart))
    page.begin(k, prompt(chat, k), rewritten=bool(message.thinking) and not shown)
    page.mark(HEADER)
    page.mark(EMPTY if shown and not message.thinking else "")
    page.spell(message if shown else without_thoughts(message), spelled)
    page.stop(END)
    page.mark("\n")


PRINTING = speller(lambda json: PRINTED.get(json) or raw_text(json))


QWEN35 = Family(
    name="qwen35",
    doc=__doc__,
    dialect="qwen3_coder",
    write=partial(write, spelled=PRINTING),
    prompt=prompt,
    options=Thinking,
    ends=ENDS,
    needs=(BEGIN, END),
    models=("Qwen/Qwen3.5-*",),
    aliases=("qwen3_5",),
    templates=("a4aee8afcf2e0711",),
    source="chat template of Qwen3.5-4B",
)

FAMILIES = (
    QWEN35,
    replace(
        QWEN35,
        name="qwen35_small",
        options=ThinkingIfAsked,
        models=("Qwen/Qwen3.5-0.8B*", "Qwen/Qwen3.5-2B*"),
        aliases=("qwen3_5_small",),
        templates=("273d8e0e683b8850",),
        source="chat template of Qwen3.5-2B",
    ),
    replace(
        QWEN35,
        name="qwen36",
        write=write,
        options=Preserving,
        models=("Qwen/Qwen3.6-*",),
        aliases=("qwen3_6",),
        templates=("e84f32a23fdda276",),
        source="chat template of Qwen3.6-27B",
    ),
    replace(
        QWEN35,
        name="qwen38",
        write=write,
        options=Trying,
        models=("Qwen/Qwen3.8-*",),
        aliases=("qwen3_8",),
        templates=("c3cf9e34abf4f9e3",),
        source="chat template of Qwen3.8-27B",
    ),
)
