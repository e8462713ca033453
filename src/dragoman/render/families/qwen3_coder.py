r"""Qwen3-Coder: turns as in Qwen 3, tools as elements, calls as tags with raw values.

    <|im_start|>system
    You code.

    You have access to the following functions:

    <tools>
    <function>
    <name>get_weather</name>
    <description>The weather of a city.</description>
    <parameters>
    <parameter>
    <name>city</name>
    <type>string</type>
    </parameter>
    <required>['city']</required>
    </parameters>
    </function>
    </tools>

    If you choose to call a function ONLY reply in the following format ...<|im_end|>
    <|im_start|>user
    How is the weather?<|im_end|>
    <|im_start|>assistant
    Let me look.

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
    </tool_response>
    <|im_end|>
    <|im_start|>assistant

Source: the first published chat template of Qwen3-Coder-30B-A3B-Instruct, which prints lists and truth as Python does;
later ones write lists as JSON, and say "tools" for functions.

Deviations: parts are written in their order, where the template writes text and then calls; a value that holds
``</parameter>`` is refused; so is a role that is none of the usual four, which the template would write as it is; a
result that begins the conversation has a header, too. Thoughts are left out, as there, and such a turn counts as
rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...errors import InvalidConversation
from ...idioms import Speller, Think, function_tags, python_text, speller_of
from ...segments import Kind
from ...types import JSON
from ..family import Family
from ..page import Chat, Page
from ..trim import stripped, without_thoughts
from ..values import tojson
from .qwen3 import BEGIN, END, ENDS, HEADER, prompt, write_said

__all__ = ["FAMILIES"]

DEFAULT = "You are Qwen, a helpful AI assistant that can interact with a computer to solve tasks."
HOW_TO_CALL = (
    "\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n<tool_call>\n"
    "<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n"
    "<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\nmultiple lines\n"
    "</parameter>\n</function>\n</tool_call>\n\n<IMPORTANT>\nReminder:\n"
    "- Function calls MUST follow the specified format: an inner <function=...></function> block must be nested within "
    "<tool_call></tool_call> XML tags\n- Required parameters MUST be specified\n"
    "- You may provide optional reasoning for your function call in natural language BEFORE the function call, but NOT "
    "after\n- If there is no function call available, answer the question like normal with your current knowledge and "
    "do not tell the user about function calls\n</IMPORTANT>"
)


def value_text(json: str) -> str:
    """A value of a call: a string itself, an object as JSON, all else as Python prints it."""
    return json if json.startswith("{") else python_text(json)


def speller(text_of: Callable[[str], str]) -> Speller:
    """Writes messages as the dialect does, but with values written by a function of their JSON."""
    return speller_of("qwen3_coder", Think.tags(), function_tags(text_of), None, (), prose=True)


SPELLER = speller(value_text)


def write(chat: Chat, page: Page) -> None:
    """The whole conversation."""
    write_system(chat, page)
    for k, message in enumerate(chat.messages):
        match message.role:
            case "assistant":
                write_assistant(chat, page, k)
            case "tool":
                page.at(k)
                page.mark("" if chat.role(k - 1) == "tool" else f"{BEGIN}user\n")
                page.mark("<tool_response>\n")
                page.say_parts(message)
                page.mark("\n</tool_response>\n" + ("" if chat.role(k + 1) == "tool" else f"{END}\n"))
            case "user" | "system":
                if k or message.role == "user":
                    write_said(page, k, message)
            case role:
                raise InvalidConversation(k, "a role of system, user, assistant or tool", repr(role))


def write_system(chat: Chat, page: Page) -> None:
    """The first system message, or one that the template makes up for the tools, and those."""
    first = chat.messages[0] if chat.role(0) == "system" else None
    if first is None and not chat.tools:
        return
    page.at(0 if first is not None else -1)
    page.mark(f"{BEGIN}system\n")
    if first is not None:
        page.say_parts(first)
    else:
        page.mark(DEFAULT)
    if chat.tools:
        page.mark("\n\nYou have access to the following functions:\n\n<tools>")
        for tool in chat.tools:
            write_tool(page, tool.function)
        page.mark(f"\n</tools>{HOW_TO_CALL}")
    page.mark(f"{END}\n")


def write_tool(page: Page, tool: Mapping[str, JSON]) -> None:
    """The declaration of a tool, as elements."""
    parameters = tool.get("parameters")
    page.mark("\n<function>")
    write_element(page, "name", tool["name"])
    write_description(page, tool)
    page.mark("\n<parameters>")
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        page.mark("\n<parameter>")
        write_element(page, "name", name)
        if isinstance(schema, Mapping):
            if "type" in schema:
                write_element(page, "type", schema["type"])
            write_description(page, schema)
        write_others(page, schema, ("name", "type", "description"))
        page.mark("\n</parameter>")
    write_others(page, parameters, ("type", "properties"))
    page.mark("\n</parameters>")
    write_others(page, tool, ("type", "name", "description", "parameters"))
    page.mark("\n</function>")


def write_description(page: Page, declared: Mapping[str, JSON]) -> None:
    """What is said about a tool or a parameter."""
    if "description" in declared:
        write_element(page, "description", str(declared["description"]).strip())


def write_element(page: Page, name: str, value: JSON) -> None:
    """A value as the template prints it, in an element."""
    page.mark(f"\n<{name}>")
    page.say(str(value), kind=Kind.TOOLS)
    page.mark(f"</{name}>")


def write_others(page: Page, declared: JSON, known: Iterable[str]) -> None:
    """The keys of an object that have no place of their own, as elements: an object as JSON, all else as printed."""
    for key, value in declared.items() if isinstance(declared, Mapping) else ():
        if key not in known:
            shown = tojson(value) if isinstance(value, Mapping) else str(value)
            page.mark("\n<")
            page.say(f"{key}>{shown}</{key}", kind=Kind.TOOLS)
            page.mark(">")


def write_assistant(chat: Chat, page: Page, k: int) -> None:
    """A turn of the model."""
    message = chat.messages[k]
    page.begin(k, HEADER, rewritten=bool(message.thinking))
    page.mark(HEADER)
    said = without_thoughts(message)
    page.spell(stripped(said) if message.tool_calls else said, SPELLER)
    page.stop(END)
    page.mark("\n")


CODER = Family(
    name="qwen3_coder",
    doc=__doc__,
    dialect="qwen3_coder",
    write=write,
    prompt=prompt,
    ends=ENDS,
    needs=(BEGIN, END),
    models=("Qwen/Qwen3-Coder-[0-9]*",),
    templates=("2902a6768a1bc134",),
    source="first published chat template of Qwen3-Coder-30B-A3B-Instruct",
)

FAMILIES = (CODER,)
