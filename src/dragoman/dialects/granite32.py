r"""Granite 3.2: Granite's calls, and thoughts in plain words; Granite 3.2, 2B and 8B.

    Here is my thought process:
    Two cities.
    Here is my response:
    Let me look.<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}, \
    {"name": "get_weather", "arguments": {"city": "Oslo"}}]<|end_of_text|>

The two sentences are ordinary words, so they count only where the first begins the turn; anywhere else they are text.
Quantised models write ``Here's`` for ``Here is``. Calls are those of granite.
"""

from __future__ import annotations

from ..idioms import Think, bare_array, define, json_array

OPENERS = ("Here is my thought process:", "Here's my thought process:")
CLOSERS = ("Here is my response:", "Here's my response:")

DIALECT = define(
    __doc__,
    name="granite32",
    think=Think(OPENERS, CLOSERS, after="\n", words=(*OPENERS, *CLOSERS)),
    calls=json_array("<|tool_call|>", "", openers=("<tool_call>",), bare=bare_array),
    stops=("<|end_of_text|>",),
    turns=("<|start_of_role|>assistant<|end_of_role|>", "<|start_of_role|>assistant_tool_call<|end_of_role|>"),
    models=("ibm-granite/granite-3.2-*",),
    tokens=("<|tool_call|>", "<|start_of_role|>"),
    signatures=(("<|tool_call|>", "<|start_of_role|>", "Here is my thought process:"),),
    source="vLLM, granite_reasoning_parser.py and granite_tool_parser.py; chat template of granite-3.2-8b-instruct",
)
