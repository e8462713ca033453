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

Thoughts stay only behind the last query of the user; the last turn has a block of thoughts even if it is empty.
Results that follow each other share one turn. Three families:

- ``qwen3``: thoughts are the model's to open; without thinking (``enable_thinking=False``) the prompt ends in the empty
  block, and a turn with thoughts can't follow it. Chat template of Qwen3-0.6B.
- ``qwen3_instruct``: no thoughts at all; those given to it are left out. Chat template of Qwen3-4B-Instruct-2507.
- ``qwen3_thinking``: the prompt has opened the thoughts. Chat template of Qwen3-30B-A3B-Thinking-2507.

Deviations: an assistant's text that spells ``</think>`` stays text, where the template takes what is before it for
thoughts; parts are written in their order, where the template writes thoughts, text and calls; several texts of a
message are joined, where the template leaves them out; a text of newlines alone, behind thoughts, is none; a role that
the template leaves out is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...errors import InvalidConversation
from ...segments import Kind
from ...types import Message, ThinkingPart
from ..family import Family
from ..page import Chat, Options, Page
from ..trim import lstripped, stripped, without_thoughts
from ..values import tojson

__all__ = ["FAMILIES"]

BEGIN, END = "<|im_start|>", "<|im_end|>"
HEADER = f"{BEGIN}assistant\n"
OPENED, EMPTY = "<think>\n", "<think>\n\n</think>\n\n"
ENDS = (END, "<|endoftext|>")

TOOLS = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>"
)
HOW_TO_CALL = (
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n<tool_call>\n"
    '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
)


Asked = Callable[[Chat, int], str]


class Thinking(Options, frozen=True):
    """Whether the model is to think."""

    enable_thinking: bool = True


def prompt(chat: Chat, index: int) -> str:
    """The assistant's header, and the empty thought where there is to be none."""
    thinks = not isinstance(chat.options, Thinking) or chat.options.enable_thinking
    return HEADER if thinks else HEADER + EMPTY


def prompt_opened(chat: Chat, index: int) -> str:
    """The assistant's header, and the opener of its thoughts."""
    return HEADER + OPENED


def write(chat: Chat, page: Page, asked: Asked = prompt) -> None:
    """A conversation with thoughts, in which the model was asked by these prompts."""
    query = last_query(chat)
    write_system(chat, page)
    write_turns(chat, page, lambda chat, page, k: write_thinking(chat, page, k, asked, k > query))


def write_plain(chat: Chat, page: Page) -> None:
    """A conversation without thoughts."""
    write_system(chat, page)
    write_turns(chat, page, write_thoughtless)


def write_thinking(chat: Chat, page: Page, k: int, asked: Asked, shown: bool) -> None:
    """A turn of a model that thinks, where its thoughts are shown or not."""
    message = chat.messages[k]
    thought = bool(message.thinking)
    shown = shown and (thought or k == len(chat.messages) - 1)
    page.begin(k, asked(chat, k), rewritten=thought and not shown)
    page.mark(HEADER)
    if shown:
        message = lstripped(stripped(message, ThinkingPart, "\n"), chars="\n")
        page.mark("" if message.thinking else EMPTY)
    page.spell(message if shown else without_thoughts(message))
    page.stop(END)
    page.mark("\n")


def last_query(chat: Chat) -> int:
    """The index of the last message of the user that is no tool's answer; the last index if there is none."""
    for k in range(len(chat.messages) - 1, -1, -1):
        text = chat.messages[k].text
        answered = text.startswith("<tool_response>") and text.endswith("</tool_response>")
        if chat.messages[k].role == "user" and not answered:
            return k
    return len(chat.messages) - 1


def write_system(chat: Chat, page: Page, default: str = "") -> None:
    """The first system message, with the tools in it; without one, what the template says by `default`."""
    first = chat.messages[0] if chat.role(0) == "system" else None
    if first is None and not chat.tools and not default:
        return
    page.at(0 if first is not None else -1)
    page.mark(f"{BEGIN}system\n")
    if first is not None:
        page.say_parts(first)
    else:
        page.mark(default)
    if chat.tools:
        page.mark(("\n\n" if first is not None or default else "") + TOOLS)
        write_tools(chat, page)
        page.mark(HOW_TO_CALL)
    page.mark(f"{END}\n")


def write_tools(chat: Chat, page: Page) -> None:
    """The tools, each a line of JSON."""
    for tool in chat.tools:
        page.mark("\n")
        page.say(tojson(tool.value), kind=Kind.TOOLS)


def write_turns(chat: Chat, page: Page, write_assistant: Callable[[Chat, Page, int], None]) -> None:
    """All messages but a first one of the system."""
    for k, message in enumerate(chat.messages):
        match message.role:
            case "assistant":
                write_assistant(chat, page, k)
            case "tool":
                write_result(chat, page, k, message)
            case "user" | "system":
                if k or message.role == "user":
                    write_said(page, k, message)
            case role:
                raise InvalidConversation(k, "a role of system, user, assistant or tool", repr(role))


def write_said(page: Page, k: int, message: Message) -> None:
    """A turn of the user, or of the system."""
    page.at(k)
    page.mark(f"{BEGIN}{message.role}\n")
    page.say_parts(message)
    page.mark(f"{END}\n")


def write_thoughtless(chat: Chat, page: Page, k: int) -> None:
    """A turn of a model that has no thoughts."""
    message = chat.messages[k]
    page.begin(k, HEADER, rewritten=bool(message.thinking))
    page.mark(HEADER)
    page.spell(without_thoughts(message))
    page.stop(END)
    page.mark("\n")


def write_result(chat: Chat, page: Page, k: int, message: Message) -> None:
    """What a tool answered, in one turn of the user with its neighbours."""
    page.at(k)
    page.mark(f"{'' if chat.role(k - 1) == 'tool' else f'{BEGIN}user'}\n<tool_response>\n")
    page.say_parts(message)
    page.mark("\n</tool_response>" + ("" if chat.role(k + 1) == "tool" else f"{END}\n"))


QWEN3 = Family(
    name="qwen3",
    doc=__doc__,
    dialect="hermes",
    write=write,
    prompt=prompt,
    options=Thinking,
    ends=ENDS,
    needs=(BEGIN, END),
    models=("Qwen/Qwen3-[0-9]*",),
    templates=("a55ee1b1660128b7", "87a2728cb8dc9fe4"),
    source="chat template of Qwen3-0.6B",
)

INSTRUCT = Family(
    name="qwen3_instruct",
    doc=__doc__,
    dialect="hermes",
    write=write_plain,
    prompt=prompt,
    ends=ENDS,
    needs=(BEGIN, END),
    models=("Qwen/Qwen3-[0-9]*-Instruct-2507*",),
    aliases=("qwen3_instruct_2507",),
    templates=("64f85b198065d0fb",),
    source="chat template of Qwen3-4B-Instruct-2507",
)

THINKING = Family(
    name="qwen3_thinking",
    doc=__doc__,
    dialect="hermes",
    write=partial(write, asked=prompt_opened),
    prompt=prompt_opened,
    ends=ENDS,
    needs=(BEGIN, END),
    models=("Qwen/Qwen3-[0-9]*-Thinking-2507*",),
    aliases=("qwen3_thinking_2507",),
    templates=("3802169b2a02b81e",),
    source="chat template of Qwen3-30B-A3B-Thinking-2507",
)

FAMILIES = (QWEN3, INSTRUCT, THINKING)
