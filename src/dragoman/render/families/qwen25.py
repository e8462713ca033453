r"""Qwen 2.5: as Qwen 3, without thoughts, and with a system message that the template makes up if there is none.

    <|im_start|>system
    You are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>
    <|im_start|>user
    How is the weather?<|im_end|>
    <|im_start|>assistant
    Let me look.
    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris"}}
    </tool_call><|im_end|>
    <|im_start|>user
    <tool_response>
    {"degrees": 20}
    </tool_response><|im_end|>
    <|im_start|>assistant

Source: chat template of Qwen2.5-7B-Instruct, which Qwen2.5-Coder shares; the base models, those of a million tokens,
Math and VL have other system messages.

Deviations: arguments that are JSON text stay as they are, where the template quotes them once more; parts are written
in their order, where the template writes text and then calls; thoughts are left out, as there, and such a turn counts
as rewritten; a role that the template leaves out is refused.
"""

from __future__ import annotations

from ..family import Family
from ..page import Chat, Page
from .qwen3 import BEGIN, END, ENDS, prompt, write_system, write_thoughtless, write_turns

__all__ = ["FAMILIES"]

DEFAULT = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."


def write(chat: Chat, page: Page) -> None:
    """The whole conversation."""
    write_system(chat, page, DEFAULT)
    write_turns(chat, page, write_thoughtless)


QWEN25 = Family(
    name="qwen25",
    doc=__doc__,
    dialect="hermes",
    write=write,
    prompt=prompt,
    ends=ENDS,
    needs=(BEGIN, END),
    models=(
        "Qwen/Qwen2.5-[0-9]*-Instruct",
        "Qwen/Qwen2.5-[0-9]*-Instruct-AWQ",
        "Qwen/Qwen2.5-[0-9]*-Instruct-G*",
        "Qwen/Qwen2.5-Coder-[0-9]*-Instruct*",
    ),
    aliases=("qwen2_5",),
    templates=("55b2f4a26ac9ee71",),
    source="chat template of Qwen2.5-7B-Instruct",
)

FAMILIES = (QWEN25,)
