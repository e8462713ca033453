r"""Qwen 3: turns between <|im_start|> and <|im_end|>, tools as JSON lines in the system message.

    <|im_start|>system
    You help.<|im_end|>
    <|im_start|>user
    How is the weather?<|im_end|>
    <|im_start|>assistant
    <think>
    I should look.
    </think>

    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris"}}
    </tool_call><|im_end|>
    <|im_start|>user
    <tool_response>
    {"degrees": 20}
    </tool_response><|im_end|>
    <|im_start|>assistant

Thoughts stay in the prompt only behind the last query of the user; the last turn has a block of thoughts even if it is
empty. Without thinking (``enable_thinking=False``), the prompt ends in the empty block. Results that follow each other
share one turn. ``qwen3_instruct`` (the 2507 models) writes no thoughts at all, ``qwen3_thinking`` has opened them.

Deviations: text of the assistant that spells ``</think>`` stays text, where the template takes it for thoughts; parts
are written in their order, where the template writes thoughts, text and calls; several texts are joined as they are.
"""

from __future__ import annotations

from ...segments import Kind
from ...types import Message, ThinkingPart
from ..family import Family
from ..page import Chat, Options, Page
from ..values import tojson

__all__ = ["FAMILIES"]

BEGIN, END = "<|im_start|>", "<|im_end|>"
EMPTY = "<think>\n\n</think>\n\n"

TOOLS = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>"
)
HOW_TO_CALL = (
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n<tool_call>\n"
    '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
)


class Thinking(Options, frozen=True):
    """Whether the model is to think."""

    enable_thinking: bool = True


def prompt(chat: Chat, index: int) -> str:
    """The assistant's header, and the empty thought where there is to be none."""
    return f"{BEGIN}assistant\n{'' if getattr(chat.options, 'enable_thinking', True) else EMPTY}"


def write(chat: Chat, page: Page) -> None:
    """The whole conversation."""
    write_system(chat, page)
    query = last_query(chat)
    for k, message in enumerate(chat.messages):
        match message.role:
            case "assistant":
                write_assistant(chat, page, k, thinks=k > query)
            case "tool":
                write_result(chat, page, k)
            case "user" | "system" if k or message.role == "user":
                page.at(k)
                page.mark(f"{BEGIN}{message.role}\n")
                page.say_parts(message)
                page.mark(f"{END}\n")
            case _:
                pass


def write_system(chat: Chat, page: Page) -> None:
    """The first system message, with the tools in it."""
    first = chat.messages[0] if chat.role(0) == "system" else None
    if first is None and not chat.tools:
        return
    page.at(0 if first is not None else -1)
    page.mark(f"{BEGIN}system\n")
    if first is not None:
        page.say_parts(first)
    if chat.tools:
        page.mark(("\n\n" if first is not None else "") + TOOLS)
        for tool in chat.tools:
            page.mark("\n")
            page.say(tojson(tool.value), kind=Kind.TOOLS)
        page.mark(HOW_TO_CALL)
    page.mark(f"{END}\n")


def last_query(chat: Chat) -> int:
    """The index of the last message of the user that is no tool's answer; the last index if there is none."""
    for k in range(len(chat.messages) - 1, -1, -1):
        text = chat.messages[k].text
        answered = text.startswith("<tool_response>") and text.endswith("</tool_response>")
        if chat.messages[k].role == "user" and not answered:
            return k
    return len(chat.messages) - 1


def write_assistant(chat: Chat, page: Page, k: int, *, thinks: bool) -> None:
    """A turn of the model, with its thoughts or without."""
    message = chat.messages[k]
    thoughts = any(isinstance(part, ThinkingPart) for part in message.parts)
    page.begin(k, prompt(chat, k), rewritten=thoughts and not thinks)
    page.mark(f"{BEGIN}assistant\n")
    if thinks and not thoughts and k == len(chat.messages) - 1:
        page.mark(EMPTY)
    page.spell(message if thinks or not thoughts else without_thoughts(message))
    page.stop(END)
    page.mark("\n")


def without_thoughts(message: Message) -> Message:
    """What is left of a message in history."""
    parts = tuple(part for part in message.parts if not isinstance(part, ThinkingPart))
    return Message(message.role, parts, message.name, message.call_id)


def write_result(chat: Chat, page: Page, k: int) -> None:
    """What a tool answered, in one turn of the user with its neighbours."""
    page.at(k)
    page.mark(f"{'' if chat.role(k - 1) == 'tool' else f'{BEGIN}user'}\n<tool_response>\n")
    page.say_parts(chat.messages[k])
    page.mark("\n</tool_response>" + ("" if chat.role(k + 1) == "tool" else f"{END}\n"))


QWEN3 = Family(
    name="qwen3",
    doc=__doc__,
    dialect="hermes",
    write=write,
    prompt=prompt,
    options=Thinking,
    ends=(END, "<|endoftext|>"),
    needs=(BEGIN, END),
    models=("Qwen/Qwen3-*",),
    source="chat template of Qwen3-0.6B",
)

FAMILIES = (QWEN3,)
