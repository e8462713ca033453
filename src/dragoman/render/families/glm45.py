r"""GLM-4.5 and 4.6: roles as control tokens, each of which ends the turn before it, tools in a system message.

    [gMASK]<sop><|system|>
    # Tools

    You may call one or more functions to assist with the user query.

    You are provided with function signatures within <tools></tools> XML tags:
    <tools>
    {"type": "function", "function": {"name": "get_weather", ...}}
    </tools>

    For each function call, output the function name and arguments within the following XML format:
    ...<|system|>
    You help.<|user|>
    How is the weather?<|assistant|>
    <think>I should look.</think>
    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Paris</arg_value>
    </tool_call><|observation|>
    <tool_response>
    {"degrees": 20}
    </tool_response><|assistant|>

Thoughts stay only behind the last message of the user; every turn has a block of them. Without ``enable_thinking``,
messages of the user end in ``/nothink``, and the prompt in the empty block. What the user or the tool says next begins
with the token with which the model ended its turn. Source: chat templates of GLM-4.5 and GLM-4.6, which write the same;
that of the vision models does not.

Deviations: a last turn of the model has its stop, ``<|observation|>`` behind calls and else ``<|user|>``, unless a
generation prompt follows: the template leaves it out, but it is what the model says; a turn behind which the system or
the model itself speaks has none, and counts as rewritten; an assistant's text that spells ``</think>`` stays text,
where the template takes what is before it for thoughts; parts are written in their order, where it writes thoughts,
text and calls; several texts of a tool are one result; a value that looks like its own closing marker with another
behind it is refused, and so is a role that the template leaves out.
"""

from __future__ import annotations

from ...errors import InvalidConversation
from ...segments import Kind
from ...types import Message, ThinkingPart
from ..family import Family
from ..page import Chat, Page
from ..trim import stripped, without_thoughts
from ..values import tojson
from .qwen3 import Thinking

__all__ = ["FAMILIES"]

SYSTEM, USER, ASSISTANT, TOOL = "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"
ENDING = {"user": USER, "tool": TOOL}
EMPTY = "\n<think></think>"
SILENT = "/nothink"

TOOLS = (
    "\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n"
)
HOW_TO_CALL = (
    "</tools>\n\nFor each function call, output the function name and arguments within the following XML format:\n"
    "<tool_call>{function-name}\n<arg_key>{arg-key-1}</arg_key>\n<arg_value>{arg-value-1}</arg_value>\n"
    "<arg_key>{arg-key-2}</arg_key>\n<arg_value>{arg-value-2}</arg_value>\n...\n</tool_call>"
)


def thinks(chat: Chat) -> bool:
    """Whether the model is to think."""
    return isinstance(chat.options, Thinking) and chat.options.enable_thinking


def prompt(chat: Chat, index: int) -> str:
    """The assistant's token, and the empty thought where there is to be none."""
    return ASSISTANT if thinks(chat) else ASSISTANT + EMPTY


def write(chat: Chat, page: Page) -> None:
    """The whole conversation."""
    page.mark("[gMASK]<sop>")
    if chat.tools:
        page.mark(SYSTEM + TOOLS)
        for tool in chat.tools:
            page.say(tojson(tool.value), kind=Kind.TOOLS)
            page.mark("\n")
        page.mark(HOW_TO_CALL)
    query = chat.last("user")
    for k, message in enumerate(chat.messages):
        page.at(k)
        begun = chat.role(k - 1) == "assistant"  # the model's stop is what this begins with
        match message.role:
            case "assistant":
                write_assistant(chat, page, k, shown=k > query)
            case "user":
                page.mark(f"{'' if begun else USER}\n")
                page.say_parts(message)
                page.mark("" if thinks(chat) or message.text.endswith(SILENT) else SILENT)
            case "tool":
                page.mark(f"{'' if begun or chat.role(k - 1) == 'tool' else TOOL}\n<tool_response>\n")
                page.say_parts(message)
                page.mark("\n</tool_response>")
            case "system":
                page.mark(f"{SYSTEM}\n")
                page.say_parts(message)
            case role:
                raise InvalidConversation(k, "a role of system, user, assistant or tool", repr(role))


def write_assistant(chat: Chat, page: Page, k: int, *, shown: bool) -> None:
    """A turn of the model, with its thoughts shown or not."""
    message = stripped(stripped(chat.messages[k], ThinkingPart))
    last = k == len(chat.messages) - 1
    stop = (TOOL if message.tool_calls else USER) if last else ENDING.get(chat.role(k + 1))
    page.begin(k, prompt(chat, k), rewritten=stop is None or (bool(message.thinking) and not shown))
    page.mark(ASSISTANT)
    message = message if shown else without_thoughts(message)
    if message.text or message.tool_calls:
        page.mark("\n" if message.thinking else f"{EMPTY}\n")
        page.spell(message)
    else:
        write_thoughts(page, message)
    if stop is None or (last and chat.asked):
        page.end()
    else:
        page.stop(stop)


def write_thoughts(page: Page, message: Message) -> None:
    """Thoughts with nothing behind them, not even the newline that the dialect writes there; or the empty one."""
    page.mark("\n<think>")
    for number, part in enumerate(message.parts):
        if isinstance(part, ThinkingPart):
            page.say(part.text, number, Kind.THINKING)
    page.mark("</think>")


GLM45 = Family(
    name="glm45",
    doc=__doc__,
    dialect="glm45",
    write=write,
    prompt=prompt,
    options=Thinking,
    ends=(USER, TOOL, "<|endoftext|>"),
    calling=(TOOL,),
    needs=("[gMASK]", "<sop>", SYSTEM, USER, ASSISTANT, TOOL),
    models=("zai-org/GLM-4.5", "zai-org/GLM-4.5-*", "zai-org/GLM-4.6", "zai-org/GLM-4.6-*"),
    aliases=("glm46", "glm4_moe"),
    templates=("44f815868bf02fa4", "e6e2ddfb13f8aef5"),
    source="chat templates of GLM-4.5 and GLM-4.6",
)

FAMILIES = (GLM45,)
