r"""Llama: a bare list of Python's call expressions; Llama 3.2 and 4 with pythonic templates, ToolACE.

    Let me look.
    [get_weather(city="Paris", days=2), get_weather(city="Oslo")]<|eot|>

A list counts where the output or a line begins with it, and only if its beginning is whole: ``[name(key=``, or
``[name()`` with a comma or bracket behind it that begins no link. All other brackets are text, as is a list within a
line. Between ``<|python_start|>`` and ``<|python_end|>`` a list may be incomplete, or a JSON object as in
llama3_json. The models have no thoughts.
"""

from __future__ import annotations

from ..idioms import call_expressions, define

DIALECT = define(
    __doc__,
    name="llama_pythonic",
    calls=call_expressions(("<|python_start|>",), "<|python_end|>", bare=True, control=True, lead="\n"),
    stops=("<|eot|>", "<|eom|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"),
    turns=("<|header_start|>assistant<|header_end|>\n\n", "<|start_header_id|>assistant<|end_header_id|>\n\n"),
    models=("meta-llama/Llama-4-*", "Team-ACE/ToolACE-*", "fixie-ai/ultravox-*-ToolACE-*"),
    aliases=("pythonic", "llama4_pythonic"),
    signatures=(("[func_name1(", "tool_calls"),),
    templates=("a58c27bec3b2fb64", "fb76136a36a84229", "bafec371666d0269", "33cb0d7dee4f30db", "bda30fef5bf7ef66"),
    source="Meta's prompt formats of Llama 3.2 and Llama 4; vLLM, llama4_pythonic_tool_parser.py and its templates",
)
