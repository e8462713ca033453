r"""DeepSeek V3.1: one token closes or opens the thought behind the assistant's marker, calls are divided by another.

    <｜begin▁of▁sentence｜>You help.<｜User｜>How is the weather?<｜Assistant｜></think>Let me look.\
    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}<｜tool▁call▁end｜>\
    <｜tool▁calls▁end｜><｜end▁of▁sentence｜>\
    <｜tool▁output▁begin｜>{"degrees": 20}<｜tool▁output▁end｜>It is warm.<｜end▁of▁sentence｜>

Source: the chat template of DeepSeek-V3.1. Prompts end in ``</think>``, with ``thinking`` in ``<think>``; behind
results nothing says that the assistant goes on. System messages come first, wherever they stand. The template writes no
tools: with ``declare_tools`` they are declared as the model card says, behind the system messages, without it not at
all. The card says that calls are meant for turns without thoughts.

Deviations: with ``thinking``, the last message of a conversation is written as the model wrote it behind its prompt,
with its thoughts or an empty one, where the template writes ``</think>`` as in history. Declarations are JSON in which
every character is itself, where the card's ``json.dumps`` would escape some. Text of the assistant that spells
``</think>`` stays text, where the template cuts off what is before it; parts are written in their order.
"""

from __future__ import annotations

from ...errors import InvalidConversation
from ...segments import Kind
from ...types import ThinkingPart
from ..family import Family
from ..page import Chat, Page
from ..values import tojson
from .deepseek_v3 import (
    ASSISTANT,
    BOS,
    EOS,
    RESULT,
    RESULT_END,
    USER,
    Declaring,
    before,
    without_thoughts,
    write_system,
)

__all__ = ["FAMILIES"]

OPEN, CLOSED = "<think>", "</think>"

TOOLS = "## Tools\nYou have access to the following tools:\n\n"
HOW_TO_CALL = (
    "IMPORTANT: ALWAYS adhere to this exact format for tool use:\n"
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tool_call_name<｜tool▁sep｜>tool_call_arguments<｜tool▁call▁end｜>"
    "{additional_tool_calls}<｜tool▁calls▁end｜>\n\nWhere:\n"
    "- `tool_call_name` must be an exact match to one of the available tools\n"
    "- `tool_call_arguments` must be valid JSON that strictly follows the tool's Parameters Schema\n"
    "- For multiple tool calls, chain them directly without separators or spaces"
)


class Thinking(Declaring, frozen=True):
    """Whether the model is to think."""

    thinking: bool = False


def prompt(chat: Chat, index: int) -> str:
    """The assistant's marker and the thought, open or closed; nothing behind results."""
    if before(chat, index) != "user":
        return ""
    return ASSISTANT + (OPEN if getattr(chat.options, "thinking", False) else CLOSED)


def write(chat: Chat, page: Page) -> None:
    """The whole conversation."""
    write_system(chat, page)
    if chat.tools and getattr(chat.options, "declare_tools", True):
        write_tools(chat, page)
    for k, message in enumerate(chat.messages):
        page.at(k)
        match message.role:
            case "user":
                page.mark(USER)
                page.say_parts(message)
            case "assistant":
                write_assistant(chat, page, k)
            case "tool":
                page.mark(RESULT)
                page.say_parts(message)
                page.mark(RESULT_END)
            case "system":
                pass
            case role:
                raise InvalidConversation(k, "one of the roles system, user, assistant and tool", repr(role))


def write_tools(chat: Chat, page: Page) -> None:
    """The tools, behind the system messages."""
    said = any(message.role == "system" and message.text for message in chat.messages)
    page.mark(("\n\n" if said else "") + TOOLS)
    for tool in chat.tools:
        page.mark("### ")
        page.say(tool.tool.name, kind=Kind.TOOLS)
        page.mark("\nDescription: ")
        page.say(tool.tool.description, kind=Kind.TOOLS)
        page.mark("\n\nParameters: ")
        page.say(tojson(tool.function.get("parameters") or {}), kind=Kind.TOOLS)
        page.mark("\n\n")
    page.mark(HOW_TO_CALL)


def write_assistant(chat: Chat, page: Page, k: int) -> None:
    """A turn of the model; its thought is closed at once, but for that of a last message that was to think."""
    message, follows = chat.messages[k], before(chat, k)
    keeps = getattr(chat.options, "thinking", False) and k + 1 == len(chat.messages)
    thoughts = any(isinstance(part, ThinkingPart) for part in message.parts)
    continues = follows not in ("user", "tool")
    page.begin(k, prompt(chat, k), rewritten=continues or (thoughts and not keeps))
    if follows == "user":
        page.mark(ASSISTANT)
        page.mark("" if keeps and thoughts else OPEN + CLOSED if keeps else CLOSED)
    page.spell(message if keeps else without_thoughts(message))
    page.stop(EOS)


DEEPSEEK_V31 = Family(
    name="deepseek_v31",
    doc=__doc__,
    dialect="deepseek_v31",
    write=write,
    prompt=prompt,
    options=Thinking,
    ends=(EOS,),
    needs=(BOS, EOS, USER, ASSISTANT, OPEN, CLOSED),
    models=("deepseek-ai/DeepSeek-V3.1", "deepseek-ai/DeepSeek-V3.1-Terminus"),
    templates=("45690185067ea25c",),
    source="chat template and model card of DeepSeek-V3.1",
)

FAMILIES = (DEEPSEEK_V31,)
