"""dragoman: the interpreter between programs and open language models.

One definition per dialect reads a model's raw output, streamed or whole, into ordered events, and writes
messages in the same form. Start with `parse` or `Parser`; `dragoman.events` and `dragoman.types` say what comes
out, `dragoman.grammar` is for those who write a dialect of their own.
"""

from __future__ import annotations

from .dialect import Dialect, Example, Policy, load_dialect
from .events import Event, merge
from .parse.assemble import Assembler, assemble
from .parse.fences import Fences
from .parse.parser import Parser, aparse, parse, parse_events
from .parse.prefill import generation_prefill, prefill_in
from .registry import dialects, get_dialect
from .types import Message, TextPart, ThinkingPart, Tool, ToolCall, UnparsedToolCall

__all__ = [
    "Assembler",
    "Dialect",
    "Event",
    "Example",
    "Fences",
    "Message",
    "Parser",
    "Policy",
    "TextPart",
    "ThinkingPart",
    "Tool",
    "ToolCall",
    "UnparsedToolCall",
    "aparse",
    "assemble",
    "dialects",
    "generation_prefill",
    "get_dialect",
    "load_dialect",
    "merge",
    "parse",
    "parse_events",
    "prefill_in",
]

__version__ = "0.1.0"
