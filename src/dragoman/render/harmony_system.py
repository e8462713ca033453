"""The system message of gpt-oss: who the model is, how much it is to think, which tools and channels there are.

Sections, defaults and order are those of openai-harmony 0.0.8, whose `SystemContent` has the same fields.
"""

from __future__ import annotations

from typing import Literal

from .harmony_tools import BUILTIN, section
from .page import Options

__all__ = ["Harmony", "system_text"]

CALLS_GO = "\nCalls to these tools must go to the commentary channel: 'functions'."


class Harmony(Options, frozen=True):
    """What the system message says, as `SystemContent` of openai-harmony names it; ``None`` leaves a line out.

    Without `with_system` there is none. With `keep_analysis`, no thoughts are dropped from history. The date is written
    as it is given, and no date if none is.
    """

    reasoning_effort: Literal["low", "medium", "high"] | None = "medium"
    model_identity: str | None = "You are ChatGPT, a large language model trained by OpenAI."
    knowledge_cutoff: str | None = "2024-06"
    conversation_start_date: str | None = None
    builtin_tools: tuple[Literal["browser", "python"], ...] = ()
    valid_channels: tuple[str, ...] = ("analysis", "commentary", "final")
    channel_required: bool = True
    keep_analysis: bool = False
    with_system: bool = True


def system_text(options: Harmony, *, calls: bool) -> str:
    """What the message says; `calls` if there are functions to be called."""
    lines = (
        ("", options.model_identity),
        ("Knowledge cutoff: ", options.knowledge_cutoff),
        ("Current date: ", options.conversation_start_date),
    )
    first = [f"{name}{value}" for name, value in lines if value is not None]
    sections = ["\n".join(first)] if first else []
    if options.reasoning_effort is not None:
        sections.append(f"Reasoning: {options.reasoning_effort}")
    if options.builtin_tools:
        sections.append(section(BUILTIN[name] for name in set(options.builtin_tools)))
    if options.valid_channels:
        required = " Channel must be included for every message." if options.channel_required else ""
        sections.append(f"# Valid channels: {', '.join(options.valid_channels)}.{required}{CALLS_GO if calls else ''}")
    return "\n\n".join(sections)
