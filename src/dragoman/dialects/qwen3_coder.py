"""Qwen3-Coder: calls as XML-like tags with raw text inside; also Qwen 3.5 and later, Nemotron 3, Step 3.5.

    I will write the file.
    <tool_call>
    <function=write_file>
    <parameter=path>
    notes.md
    </parameter>
    <parameter=lines>
    12
    </parameter>
    </function>
    </tool_call><|im_end|>

A value is raw text, never escaped; exactly one newline behind its opener and one before its closer are layout.
The tool's schema says what it is: a string is kept as written, all else is JSON (or Python's True, False, None,
which the template of Qwen3-Coder prints). A value that holds ``</parameter>`` ends at the one that something legal
follows. Models also leave out ``<tool_call>``, or put several functions into one, or stop without
``</function>``. Prompts of Qwen 3.5 end in ``<think>``: start="reasoning".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from json import loads

from ..dialect import Dialect, Example
from ..errors import Inexpressible
from ..grammar import build as b
from ..idioms import conversation, members_of, write
from ..types import Message, TextPart, ThinkingPart, Tool, ToolCall

THINK, THOUGHT, CALL, CALLED = "<think>", "</think>", "<tool_call>", "</tool_call>"
FUNCTION, FUNCTION_END, PARAMETER, PARAMETER_END = "<function=", "</function>", "<parameter=", "</parameter>"
NAMES = r"[^<>\n]{1,128}"
STOPS = ("<|im_end|>", "<|endoftext|>")
AFTER = (FUNCTION_END, CALLED, CALL, *STOPS)

_value = b.value(*b.framed(PARAMETER_END), then=(PARAMETER, *AFTER)) + b.choice(*b.framed(PARAMETER_END))
_parameter = PARAMETER + b.key(b.chars("^>\n", 1, 128)) + ">" + b.commit() + b.optional("\n") + _value
_cut = b.optional("<", b.chars("a-z/", 0, 10)) + b.end(stopped=True)
_members = b.argument_members(b.zero_or_more(b.space(), _parameter), b.peek(b.space(), b.choice(*AFTER, _cut)))
_function = FUNCTION + b.name(b.chars("^>\n<", 1, 128)) + ">" + b.commit() + _members
_close = b.space() + FUNCTION_END
_closers, _resume = (FUNCTION_END, CALLED), (CALL, FUNCTION, CALLED, THINK, *STOPS)
_opening = (b.choice(*b.framed(CALL)) + b.space() + _function) | _function
_first = b.call(_opening, close=_close, closers=_closers, resume=_resume)
_next = b.call(_function, close=_close, closers=_closers, resume=_resume)
_calls = _first + b.zero_or_more(b.space(), _next) + b.optional(b.space(), CALLED) + b.chars("\n", 0, 1)
_grammar = conversation(
    (THINK, THOUGHT),
    _calls,
    breaks=(*b.framed(CALL), FUNCTION),
    orphans=(CALLED, FUNCTION_END, PARAMETER_END),
    stopping=STOPS,
)


def _write_call(call: ToolCall) -> str:
    values = []
    for key, json in members_of(call.arguments):
        value = loads(json) if json.startswith('"') else json
        if not re.fullmatch(r"[^>\n]{1,128}", key):
            raise Inexpressible("qwen3_coder", 0, f"no parameter can have the name {key!r}")
        if PARAMETER_END in value:
            raise Inexpressible("qwen3_coder", 0, f"the value of {key!r} holds {PARAMETER_END}")
        values.append(f"{PARAMETER}{key}>\n{value}\n{PARAMETER_END}\n")
    return f"{CALL}\n{FUNCTION}{call.name}>\n{''.join(values)}{FUNCTION_END}\n{CALLED}"


def _write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> str:
    return ("\n" if after_text else "") + "\n".join(map(_write_call, calls)) + ("\n" if more else "")


def _write(message: Message) -> str:
    return write(
        "qwen3_coder",
        message,
        marks=(THINK, THOUGHT, CALL, CALLED, FUNCTION, FUNCTION_END, PARAMETER_END, *STOPS),
        thinking=lambda text: f"{THINK}\n{text}\n{THOUGHT}\n\n",
        calls=_write_calls,
        names=NAMES,
    )


DIALECT = Dialect(
    name="qwen3_coder",
    title="calls as <function=name> tags with raw parameters, typed by the tool's schema",
    grammar=_grammar,
    writer=_write,
    models=("Qwen/Qwen3-Coder-*", "Qwen/Qwen3.5-*", "Qwen/Qwen3.6-*", "nvidia/*Nemotron-3-*", "stepfun-ai/Step-3.5-*"),
    marks=(FUNCTION, PARAMETER),
    stops=STOPS,
    turns=("<|im_start|>assistant\n",),
    aliases=("qwen3_xml", "mimo", "step3p5", "nanbeige"),
    source="chat templates of Qwen3-Coder-30B-A3B-Instruct and Qwen3.5-4B",
    examples=(
        Example(
            "a sentence and a call with a string and a number",
            "I will write it.\n<tool_call>\n<function=write_file>\n<parameter=path>\nnotes.md\n</parameter>\n"
            "<parameter=lines>\n12\n</parameter>\n</function>\n</tool_call><|im_end|>",
            Message(
                "assistant",
                (TextPart("I will write it."), ToolCall("write_file", '{"path": "notes.md", "lines": 12}')),
            ),
            (Tool("write_file", "", {"type": "object", "properties": {"lines": {"type": "integer"}}}),),
        ),
        Example(
            "a thought that the prompt has opened",
            "Nothing to do.\n</think>\n\nDone.<|im_end|>",
            Message("assistant", (ThinkingPart("Nothing to do."), TextPart("Done."))),
            start="reasoning",
        ),
    ),
)
