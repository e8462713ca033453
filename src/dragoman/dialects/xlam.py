r"""xLAM: a bare array of JSON calls; xLAM-1B-fc-r, xLAM-2, Llama-xLAM-2, Qwen-xLAM.

    <think>
    Two cities.
    </think>

    Let me look.[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}, \
    {"name": "get_weather", "arguments": {"city": "Oslo"}}]<|eot_id|>

Where nothing but a thought stands before it, the array is bare. There it is calls only if its beginning is whole,
bracket, brace, name and the arguments' key; other JSON is text. Behind text, an array counts in a fence (``json`` or
none) if its beginning is whole, and behind ``[TOOL_CALLS]`` or in ``<tool_call>`` tags, where one object may stand too.
"""

from __future__ import annotations

from ..idioms import Think, array_calls, define

DIALECT = define(
    __doc__,
    name="xlam",
    think=Think.tags(),
    calls=array_calls(("[TOOL_CALLS]",), (("<tool_call>", "</tool_call>"),)),
    stops=("<|eot_id|>", "<|im_end|>"),
    prose=False,
    turns=("<|start_header_id|>assistant<|end_header_id|>\n\n", "<|im_start|>assistant\n"),
    models=("Salesforce/xLAM-*", "Salesforce/Llama-xLAM-*", "Salesforce/Qwen-xLAM-*"),
    signatures=(("tool_call_name", "JSON array"),),
    templates=("38b2ae0be5990365", "256298b8907335c9"),
    source="vLLM, examples/tool_chat_template_xlam_llama.jinja, .._xlam_qwen.jinja, xlam_tool_parser.py",
)
