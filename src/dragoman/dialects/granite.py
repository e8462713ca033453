r"""Granite 3: an array of JSON calls behind <|tool_call|>; Granite 3.0, 3.1 and 3.3.

    <think>Two cities.</think>Let me look.\
    <|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}, \
    {"name": "get_weather", "arguments": {"city": "Oslo"}}]<|end_of_text|>

Nothing closes the array but its bracket. Granite 3.1 writes ``<tool_call>``, and all of them at times no marker at all:
then an array is calls where it begins the turn (or follows a thought) and its beginning is whole. Answers of 3.3 may
stand in ``<response>`` tags, which are read and not written. Thoughts in the plain words of 3.2 are granite32's.
"""

from __future__ import annotations

from ..idioms import Answer, Think, bare_array, define, json_array

DIALECT = define(
    __doc__,
    name="granite",
    think=Think.tight(),
    answer=Answer(("<response>",), ("</response>",), "\n", "\n", written=False),
    calls=json_array("<|tool_call|>", "", openers=("<tool_call>",), bare=bare_array),
    stops=("<|end_of_text|>",),
    turns=("<|start_of_role|>assistant<|end_of_role|>", "<|start_of_role|>assistant_tool_call<|end_of_role|>"),
    models=("ibm-granite/granite-3.0-*", "ibm-granite/granite-3.1-*", "ibm-granite/granite-3.3-*"),
    aliases=("granite3",),
    tokens=("<|tool_call|>", "<|start_of_role|>"),
    signatures=(("<|tool_call|>", "<|start_of_role|>"),),
    templates=("62d273430a319d8c", "d0657ba05651bd21", "ea41f6798ad19c00"),
    source="llama.cpp, models/templates/ibm-granite-granite-3.3-2B-Instruct.jinja; vLLM, granite_tool_parser.py",
)
