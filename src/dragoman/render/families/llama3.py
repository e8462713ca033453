r"""Llama 3: turns of a header and <|eot_id|>; from 3.1 on with a date, and tools in the user's first message.

    <|begin_of_text|><|start_header_id|>system<|end_header_id|>

    Environment: ipython
    Cutting Knowledge Date: December 2023
    Today Date: 26 Jul 2024

    You help.<|eot_id|><|start_header_id|>user<|end_header_id|>

    Given the following functions, please respond with a JSON for a function call with its proper arguments ...
    How is the weather?<|eot_id|><|start_header_id|>assistant<|end_header_id|>

    {"name": "get_weather", "parameters": {"city": "Paris"}}<|eot_id|><|start_header_id|>ipython<|end_header_id|>

    "{\"degrees\": 20}"<|eot_id|>

White space at the ends of messages goes. What a tool answered is a JSON string. ``tools_in_user_message=False`` puts
the tools into the system message; ``date_string`` is the date, which the template of 3.2 takes from the clock where it
can. ``llama3``, the first one, has neither date nor tools. A turn has one call at most.

Deviations: text beside a call is written on the lines before it, where the templates drop it; arguments are written as
they are, where a template would quote those that are given as text; an empty list of tools is none; tools for a first
message that is not the user's are refused, and so are roles that these models were not trained on. The built-in tools
of 3.1, which are called as Python, are left out.
"""

from __future__ import annotations

from ...errors import InvalidConversation
from ...segments import Kind
from ...types import Message, TextPart
from ..family import Family
from ..page import Chat, Options, Page
from ..plain import plain_dialect, require_plain, require_roles, trimmed
from ..values import tojson

__all__ = ["FAMILIES"]

BOS, EOT, EOM, EOS = "<|begin_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"
PROMPT = "<|start_header_id|>assistant<|end_header_id|>\n\n"

FORM = (
    'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.'
    "Do not use variables.\n\n"
)
IN_USER = (
    "Given the following functions, please respond with a JSON for a function call "
    f"with its proper arguments that best answers the given prompt.\n\n{FORM}"
)
IN_SYSTEM = (
    "You have access to the following functions. To call a function, please respond with JSON for a function call."
    f"{FORM}"
)


class Dated(Options, frozen=True):
    """The date of the conversation, and where the tools stand."""

    date_string: str = "26 Jul 2024"
    tools_in_user_message: bool = True


def prompt(chat: Chat, index: int) -> str:
    """The assistant's header."""
    return PROMPT


def header(role: str) -> str:
    """What begins a turn."""
    return f"<|start_header_id|>{role}<|end_header_id|>\n\n"


def write_plain(chat: Chat, page: Page) -> None:
    """The whole conversation, for the first Llama 3."""
    require_plain(chat, "system", "user", "assistant")
    page.mark(BOS if chat.messages else "")
    for k, message in enumerate(chat.messages):
        if message.role == "assistant":
            write_assistant(page, k, message)
        else:
            write_turn(page, k, message)


def write(chat: Chat, page: Page) -> None:
    """The whole conversation."""
    require_roles(chat, "system", "user", "assistant", "tool", "ipython")
    first = 1 if chat.role(0) == "system" else 0
    in_user = bool(chat.tools) and getattr(chat.options, "tools_in_user_message", True)
    if in_user and chat.role(first) != "user":
        found = chat.role(first) or "none"
        raise InvalidConversation(first, "a message of the user, which the tools are put into", found)
    page.mark(BOS)
    write_system(chat, page, tools=bool(chat.tools) and not in_user)
    for k, message in enumerate(chat.messages[first:], first):
        match message.role:
            case "assistant":
                write_assistant(page, k, message)
            case "tool" | "ipython":
                write_result(page, k, message)
            case _:
                write_turn(page, k, message, chat if in_user and k == first else None)


def write_system(chat: Chat, page: Page, *, tools: bool) -> None:
    """The system message, which is always there."""
    has_text = chat.role(0) == "system"
    page.at(0 if has_text else -1)
    page.mark(header("system"))
    page.mark("Environment: ipython\n" if chat.tools else "")
    page.mark("Cutting Knowledge Date: December 2023\nToday Date: ")
    page.say(getattr(chat.options, "date_string", ""), kind=Kind.TOOLS)
    page.mark("\n\n")
    if tools:
        page.mark(IN_SYSTEM)
        write_tools(chat, page)
    if has_text:
        page.say_parts(trimmed(chat.messages[0]))
    page.mark(EOT)


def write_tools(chat: Chat, page: Page) -> None:
    """The declarations."""
    for k, tool in enumerate(chat.tools):
        page.say(tojson(tool.value, indent=4), k, Kind.TOOLS)
        page.mark("\n\n")


def write_turn(page: Page, k: int, message: Message, declaring: Chat | None = None) -> None:
    """A turn of the system or the user, with the tools in it if it is `declaring` them."""
    page.at(k)
    page.mark(header(message.role))
    if declaring is not None:
        page.mark(IN_USER)
        write_tools(declaring, page)
    page.say_parts(trimmed(message))
    page.mark(EOT)


def write_assistant(page: Page, k: int, message: Message) -> None:
    """A turn of the model."""
    if len(message.tool_calls) > 1:
        raise InvalidConversation(k, "one call at most in a turn", f"{len(message.tool_calls)}")
    page.begin(k, PROMPT)
    page.mark(PROMPT)
    page.spell(trimmed(message))
    page.stop(EOT)


def write_result(page: Page, k: int, message: Message) -> None:
    """What a tool answered."""
    page.at(k)
    page.mark(header("ipython"))
    for number, part in enumerate(message.parts):
        if not isinstance(part, TextPart):
            raise InvalidConversation(k, "text", type(part).__name__, number)
    page.say(tojson(message.text), kind=Kind.RESULT)
    page.mark(EOT)


LLAMA3 = Family(
    name="llama3",
    doc=__doc__,
    dialect="llama3",
    spoken=plain_dialect("llama3", (EOT, EOS), (PROMPT,), "chat template of Meta-Llama-3-8B-Instruct"),
    write=write_plain,
    prompt=prompt,
    ends=(EOT, EOS),
    needs=(BOS, EOT, "<|start_header_id|>", "<|end_header_id|>"),
    models=("meta-llama/Meta-Llama-3-*-Instruct",),
    source="chat template of Meta-Llama-3-8B-Instruct",
)

LLAMA31 = Family(
    name="llama3_1",
    doc=__doc__,
    dialect="llama3_json",
    write=write,
    prompt=prompt,
    options=Dated,
    ends=(EOT, EOM, EOS),
    calling=(EOM,),
    needs=(BOS, EOT, EOM, "<|start_header_id|>", "<|end_header_id|>"),
    models=(
        "meta-llama/Llama-3.1-*",
        "meta-llama/Meta-Llama-3.1-*",
        "meta-llama/Llama-3.2-*",
        "meta-llama/Llama-3.3-*",
    ),
    aliases=("llama3_2", "llama3_3"),
    source="chat templates of Llama-3.1-8B-Instruct, Llama-3.2-3B-Instruct and Llama-3.3-70B-Instruct",
)

FAMILIES = (LLAMA3, LLAMA31)
