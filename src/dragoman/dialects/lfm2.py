r"""LFM2: a list of Python's call expressions between control tokens; LFM2 and LFM2.5.

    <think>Two cities.</think>Let me look.\
    <|tool_call_start|>[get_weather(city='Paris', days=2), get_weather(city='Oslo')]<|tool_call_end|><|im_end|>

The template writes strings in single quotes without escapes; where one is needed, Python's is written. Read too: a
JSON list of objects, a missing list or bracket, JSON's words, reserved words as names of arguments (``from=1``), raw
newlines and inner quotes in strings. A list that comes once more behind the closer, without an opener, is text.
"""

from __future__ import annotations

from ..idioms import Think, call_expressions, define, single_quoted

DIALECT = define(
    __doc__,
    name="lfm2",
    think=Think.tight(),
    calls=call_expressions(("<|tool_call_start|>",), "<|tool_call_end|>", string=single_quoted, control=True),
    stops=("<|im_end|>", "<|endoftext|>"),
    prose=False,
    turns=("<|im_start|>assistant\n",),
    models=("LiquidAI/LFM2-*", "LiquidAI/LFM2.5-*"),
    tokens=("<|tool_call_start|>", "<|tool_call_end|>"),
    signatures=(
        ("<|tool_list_start|>",),
        ("<|tool_call_start|>", "<|tool_call_end|>"),
        ("List of tools: ", "<|im_start|>"),
    ),
    templates=("2294f49b51a0b9a1", "6d65c8804847ad74", "f05bf4b967dc993b"),
    source="chat templates of LFM2-8B-A1B and LFM2.5-8B-A1B; vLLM, lfm2_tool_parser.py; SGLang, lfm2_detector.py",
)
