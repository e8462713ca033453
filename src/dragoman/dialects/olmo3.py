r"""Olmo 3: Python's call expressions, one on each line, in <function_calls>; Olmo 3 and 3.1.

    <think>
    Two cities.
    </think>

    Let me look.\
    <function_calls>get_weather(city="Paris", days=2)
    get_weather(city="Oslo")</function_calls><|im_end|>

Tags are ordinary text: a block counts if a call stands in it. A list, commas between calls, and JSON's words are read
too. Prompts of the Think models end in ``<think>``: start="reasoning". That a thought has lines of its own is not
verified.
"""

from __future__ import annotations

from ..idioms import Think, call_expressions, define

DIALECT = define(
    __doc__,
    name="olmo3",
    think=Think.tags(),
    calls=call_expressions(("<function_calls>",), "</function_calls>", listed=False),
    stops=("<|im_end|>", "<|endoftext|>"),
    turns=("<|im_start|>assistant\n",),
    models=("allenai/Olmo-3-*", "allenai/Olmo-3.1-*", "allenai/Olmo-Hybrid-*"),
    signatures=(("<function_calls>", "<functions>"),),
    lacks=("invoke name=",),
    source="chat templates of Olmo-3-7B-Instruct and Olmo-3-32B-Think; vLLM, olmo3_tool_parser.py",
)
