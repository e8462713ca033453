"""Think only: thoughts in <think> tags and no calls; for models that have no tools, such as the distilled R1.

    <think>
    Two cities.
    </think>

    Let me look.<｜end▁of▁sentence｜>

Markup of calls is text. Most prompts end in ``<think>`` and a newline, start="reasoning"; where a model leaves its own
``<think>`` out without that, only the closing tag is seen, and reported. The stop marker is the base model's. No model
is known by its id to be of this kind: what most are built on can write calls.
"""

from __future__ import annotations

from ..idioms import Think, define

DIALECT = define(
    __doc__,
    name="think_only",
    think=Think.tags(),
    stops=("<｜end▁of▁sentence｜>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>"),
    turns=("<｜Assistant｜>", "<|im_start|>assistant\n"),
    aliases=("basic",),
    signatures=(("</think>",),),
    lacks=("tools", "tool_call", "<function", "◁think▷"),
    templates=("cbc1d50f777ec029", "e70723034f092809"),
    source="chat template of DeepSeek-R1-Distill-Qwen-32B; vLLM, reasoning/holo2_reasoning_parser.py",
)
