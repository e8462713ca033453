r"""DeepSeek V3 and R1: no markers but those of who speaks next, calls in Markdown fences, results in one section.

    <｜begin▁of▁sentence｜>You help.<｜User｜>How is the weather?<｜Assistant｜>Let me look.\
    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather
    ```json
    {"city": "Paris"}
    ```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>\
    <｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>{"degrees": 20}<｜tool▁output▁end｜><｜tool▁outputs▁end｜>\
    It is warm.<｜end▁of▁sentence｜>

Sources: the chat templates of DeepSeek-V3-0324 (for V3 too), of DeepSeek-R1 (for its distilled models too), which opens
the thought in its prompt with ``<think>`` and a newline, and of DeepSeek-R1-0528, which lets the model open it. System
messages come first, wherever they stand. Behind results nothing says that the assistant goes on. The templates of V3
and R1 write no tools: with ``declare_tools`` they are declared in the words of R1-0528's, without it not at all.

Deviations: no template writes thoughts; here the last message of a conversation keeps them in R1 and R1-0528, since it
is what the model wrote, and where R1 has none of them its thought is empty, since its prompt opens one. A section of
results is closed before the user speaks too, and a second round of calls of R1 is written as the first, but without
``<｜Assistant｜>``: R1's template forgets the section's beginning there and the end of the results. Text of the
assistant that spells ``</think>`` stays text, where R1's templates cut it off; parts are written in their order.
"""

from __future__ import annotations

from enum import Enum
from functools import partial

from ...errors import InvalidConversation
from ...segments import NOBODY, Kind
from ...types import Message, ThinkingPart
from ..family import Family
from ..page import Chat, Options, Page
from ..values import tojson

__all__ = ["FAMILIES"]

BOS, EOS = "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"
USER, ASSISTANT = "<｜User｜>", "<｜Assistant｜>"
RESULTS, RESULTS_END = "<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>"
RESULT, RESULT_END = "<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"
OPENED, EMPTY = "<think>\n", "<think>\n\n</think>\n\n"

TOOLS = (
    "You are a helpful assistant with tool calling capabilities. "
    "When a tool call is needed, you MUST use the following format to issue the call:\n"
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>FUNCTION_NAME\n"
    '```json\n{"param1": "value1", "param2": "value2"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>\n\n'
    "Make sure the JSON is valid.## Tools\n\n### Function\n\nYou have the following functions available:\n\n"
)


class Revision(Enum):
    """The chat templates that this file follows."""

    V3 = "V3-0324"
    R1 = "R1"
    R1_0528 = "R1-0528"


class Declaring(Options, frozen=True):
    """Whether tools are declared, which the chat template leaves to the caller."""

    declare_tools: bool = True


def prompt(chat: Chat, index: int, revision: Revision) -> str:
    """The assistant's marker, unless it stands there already or follows results; R1's thought is open behind it."""
    match before(chat, index):
        case "tool":
            return ""
        case "user" if revision is Revision.V3:
            return ""
        case _:
            return ASSISTANT + (OPENED if revision is Revision.R1 else "")


def before(chat: Chat, index: int) -> str:
    """The role that spoke last before a message, empty if none did."""
    return chat.role(chat.last("user", "assistant", "tool", before=index))


def write(chat: Chat, page: Page, revision: Revision) -> None:
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
                if revision is Revision.V3 or (revision is Revision.R1_0528 and k + 1 < len(chat.messages)):
                    page.at(k + 1 if chat.role(k + 1) == "assistant" else k)
                    page.mark(ASSISTANT)
            case "assistant":
                write_assistant(chat, page, k, revision)
            case "tool":
                again = "" if revision is Revision.R1 else "\n"
                page.mark((again if chat.role(k - 1) == "tool" else RESULTS) + RESULT)
                page.say_parts(message)
                page.mark(RESULT_END + ("" if chat.role(k + 1) == "tool" else RESULTS_END))
            case "system":
                pass
            case role:
                raise InvalidConversation(k, "one of the roles system, user, assistant and tool", repr(role))


def write_system(chat: Chat, page: Page) -> None:
    """All system messages, ahead of everything else."""
    page.mark(BOS)
    said = False
    for k, message in enumerate(chat.messages):
        if message.role == "system":
            page.at(k)
            page.mark("\n\n" if said else "")
            page.say_parts(message)
            said = True
    page.at(NOBODY)


def write_tools(chat: Chat, page: Page) -> None:
    """The tools, behind the system messages."""
    page.mark(("\n\n" if any(message.role == "system" and message.text for message in chat.messages) else "") + TOOLS)
    for tool in chat.tools:
        page.mark("\n```json\n")
        page.say(tojson(tool.value), kind=Kind.TOOLS)
        page.mark("\n```\n")


def write_assistant(chat: Chat, page: Page, k: int, revision: Revision) -> None:
    """A turn of the model, with its thoughts if it is R1's and the last message."""
    message, follows = chat.messages[k], before(chat, k)
    keeps = revision is not Revision.V3 and k + 1 == len(chat.messages)
    thoughts = any(isinstance(part, ThinkingPart) for part in message.parts)
    marked = revision is Revision.R1 and follows != "tool"
    continues = not marked and follows not in ("user", "tool")
    page.begin(k, prompt(chat, k, revision) if marked else "", rewritten=continues or (thoughts and not keeps))
    page.mark(ASSISTANT if marked else "")
    page.mark(EMPTY if marked and keeps and not thoughts else "")
    page.spell(message if keeps else without_thoughts(message))
    page.stop(EOS)


def without_thoughts(message: Message) -> Message:
    """What is left of a message in history."""
    parts = tuple(part for part in message.parts if not isinstance(part, ThinkingPart))
    return Message(message.role, parts, message.name, message.call_id)


def family(name: str, revision: Revision, models: tuple[str, ...], template: str, options: type[Options]) -> Family:
    return Family(
        name=name,
        doc=__doc__,
        dialect="deepseek_r1",
        write=partial(write, revision=revision),
        prompt=partial(prompt, revision=revision),
        options=options,
        ends=(EOS,),
        needs=(BOS, EOS, USER, ASSISTANT),
        models=models,
        templates=(template,),
        source=f"chat template of DeepSeek-{revision.value}",
    )


V3_MODELS = ("deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V3-0324", "deepseek-ai/DeepSeek-Prover-V2-*")
R1_MODELS = ("deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-R1-Distill-*")

FAMILIES = (
    family("deepseek_v3", Revision.V3, V3_MODELS, "22e97ba043dacf9d", Declaring),
    family("deepseek_r1", Revision.R1, R1_MODELS, "563b1ce7d61d50a9", Declaring),
    family("deepseek_r1_0528", Revision.R1_0528, ("deepseek-ai/DeepSeek-R1-0528",), "197ecb0f6315af91", Options),
)
