"""The workloads: outputs of models of a wanted number of chunks, each with what it must be read as."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import islice
from json import dumps

from msgspec import Struct

from dragoman.grammar.nodes import Until
from dragoman.registry import get_dialect
from dragoman.types import Message, Part, TextPart, ThinkingPart, Tool, ToolCall

from .text import cut, prose, records

__all__ = ["WORKLOADS", "Output", "Workload", "workload"]

TOOL = Tool(
    "write_file",
    "Write a file.",
    {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}},
)
IN_JSON = '"\\'
IN_MARKUP = '<\n"\\'
"""Characters that a chunk of a JSON string, or of a raw parameter, is not passed on with unseen."""


class Output(Struct, frozen=True):
    """An output in chunks, and the message that it is."""

    chunks: tuple[str, ...]
    message: Message

    @property
    def text(self) -> str:
        """The chunks together."""
        return "".join(self.chunks)


class Workload(Struct, frozen=True):
    """A kind of output; `limit` is how many floors a chunk of it may cost."""

    name: str
    title: str
    dialect: str
    limit: float
    write: Callable[[int], Output]
    marks: str = ""
    tools: tuple[Tool, ...] = ()

    @property
    def marked(self) -> str:
        """The characters for which a chunk gets a second look: given, or those that begin a marker in text."""
        return self.marks or _beginnings(self.dialect)


@cache
def _beginnings(dialect: str) -> str:
    found = {
        mark[0] for node in get_dialect(dialect).grammar.walk() if isinstance(node, Until) for mark in node.delimiters
    }
    return "".join(sorted(found))


def _output(before: tuple[str, ...], text: tuple[str, ...], after: tuple[str, ...], *parts: Part) -> Output:
    return Output(before + text + after, Message("assistant", parts))


def _content(chunks: int) -> Output:
    text = prose(chunks - 1)
    return _output((), text, ("<|im_end|>",), TextPart("".join(text)))


def _thinking(chunks: int) -> Output:
    thought, answer = prose(chunks // 2, 1), prose(chunks - chunks // 2 - 6, 2)
    chunks_of = ("<think>", "\n", *thought, "\n", "</think>", "\n\n", *answer, "<|im_end|>")
    parts = ThinkingPart("".join(thought)), TextPart("".join(answer))
    return Output(chunks_of, Message("assistant", parts))


def _string_call(
    before: str, markers: tuple[str, ...], after: tuple[str, ...], call_id: str | None = None
) -> Callable[[int], Output]:
    """Writes a call of `write_file` whose content is one long JSON string."""

    def write(chunks: int) -> Output:
        head = cut(before + '{"path": "notes.md", "content": "', markers)
        tail = ('"}', *after)
        written: list[str] = []
        for piece in prose(chunks, 3):
            written += cut(dumps(piece)[1:-1])
        text = tuple(written[: chunks - len(head) - len(tail)])
        arguments = '{"path": "notes.md", "content": "' + "".join(text) + '"}'
        return _output(tuple(head), text, tail, ToolCall("write_file", arguments, call_id))

    return write


def _records(chunks: int) -> Output:
    """A call whose argument is a list of small records."""
    head = cut('<tool_call>\n{"name": "insert", "arguments": {"rows": [', ("<tool_call>",))
    tail = ("]}", "}", "\n", "</tool_call>", "<|im_end|>")
    rows = ", ".join(islice(records(), chunks // 20 + 4))
    text = tuple(cut(rows)[: chunks - len(head) - len(tail)])
    while text[-1] != "},":  # whole rows only
        text = text[:-1]
    text = (*text[:-1], "}")
    arguments = '{"rows": [' + "".join(text) + "]}"
    return _output(tuple(head), text, tail, ToolCall("insert", arguments))


def _parameter(chunks: int) -> Output:
    """A file that is written as a raw parameter."""
    markers = ("<tool_call>", "<function=", "<parameter=", "</parameter>", "</function>", "</tool_call>", "<|im_end|>")
    before = "<tool_call>\n<function=write_file>\n<parameter=path>\nnotes.md\n</parameter>\n<parameter=content>\n"
    head, tail = cut(before, markers), cut("\n</parameter>\n</function>\n</tool_call><|im_end|>", markers)
    text = prose(chunks - len(head) - len(tail), 4)
    arguments = '{"path": "notes.md", "content": ' + dumps("".join(text)) + "}"
    return _output(tuple(head), text, tuple(tail), ToolCall("write_file", arguments))


def _harmony(chunks: int) -> Output:
    """A thought, an answer, a call; a tenth of it is the call."""
    markers = ("<|channel|>", "<|message|>", "<|end|>", "<|start|>", "<|constrain|>", "<|call|>")
    thought, answer = prose(chunks // 2, 5), prose(max(1, chunks * 2 // 5 - 60), 6)
    written = prose(chunks // 10, 7)
    arguments = dumps({"path": "notes.md", "content": "".join(written)})
    text = (
        f"<|channel|>analysis<|message|>{''.join(thought)}<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{''.join(answer)}<|end|>"
        "<|start|>assistant<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>"
        f"{arguments}<|call|>"
    )
    parts = ThinkingPart("".join(thought)), TextPart("".join(answer)), ToolCall("write_file", arguments)
    return Output(tuple(cut(text, markers)), Message("assistant", parts))


_KIMI = ("<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<|tool_call_argument_begin|>")
_KIMI_END = ("<|tool_call_end|>", "<|tool_calls_section_end|>", "<|im_end|>")
_SEEK = ("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>")
_SEEK_END = ("<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>")

_hermes_call = _string_call(
    '<tool_call>\n{"name": "write_file", "arguments": ', ("<tool_call>",), ("}", "\n", "</tool_call>", "<|im_end|>")
)
_kimi_call = _string_call(
    f"{_KIMI[0]}{_KIMI[1]}functions.write_file:0{_KIMI[2]}", _KIMI, _KIMI_END, "functions.write_file:0"
)
_seek_call = _string_call(f"{_SEEK[0]}{_SEEK[1]}write_file{_SEEK[2]}", _SEEK, _SEEK_END)

WORKLOADS = (
    Workload("content", "content", "hermes", 4, _content),
    Workload("think", "a thought, then content", "hermes", 4, _thinking),
    Workload("string", "JSON arguments, one long string", "hermes", 6, _hermes_call, IN_JSON),
    Workload("records", "JSON arguments, small records", "hermes", 9, _records, IN_JSON),
    Workload("parameter", "a file as a raw parameter", "qwen3_coder", 6, _parameter, IN_MARKUP, (TOOL,)),
    Workload("kimi", "Kimi, one long string", "kimi_k2", 6, _kimi_call, IN_JSON),
    Workload("deepseek", "DeepSeek, one long string", "deepseek_v31", 6, _seek_call, IN_JSON),
    Workload("harmony", "Harmony: thought, answer, call", "harmony", 5, _harmony),
)


def workload(name: str) -> Workload:
    """The workload of that name; raises `KeyError`."""
    return {each.name: each for each in WORKLOADS}[name]
