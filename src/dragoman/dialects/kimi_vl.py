"""Kimi-VL: thoughts between white triangles and no calls; Kimi-VL-A3B-Thinking, Kimi-Dev.

    ◁think▷Two cities.◁/think▷Let me look.<|im_end|>

Each of the triangles' markers is several ordinary tokens. No newlines are layout: those that a model writes behind its
thought belong to the answer. A thought that the prompt has opened: start="reasoning".
"""

from __future__ import annotations

from ..idioms import Think, define

DIALECT = define(
    __doc__,
    name="kimi_vl",
    think=Think.tight("◁think▷", "◁/think▷"),
    stops=("<|im_end|>", "[EOS]"),
    turns=("<|im_assistant|>assistant<|im_middle|>",),
    models=("moonshotai/Kimi-VL-A3B-Thinking*", "moonshotai/Kimi-Dev-*"),
    aliases=("kimi_vl_thinking",),
    shared=("kimi",),
    signatures=(("◁think▷",),),
    source="SGLang, parser/reasoning_parser.py (KimiDetector); outputs of Kimi-VL-A3B-Thinking. Template not verified",
)
