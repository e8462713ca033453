r"""InternLM: JSON behind two control tokens; InternLM 2 and 2.5, Intern-S1.

    <think>Two cities.</think>Let me look.<|action_start|><|plugin|>
    {"name": "get_weather", "parameters": {"city": "Paris", "days": 2}}<|action_end|><|action_start|><|plugin|>
    {"name": "get_weather", "parameters": {"city": "Oslo"}}<|action_end|><|im_end|>

The newline behind ``<|plugin|>`` may be missing, and a space may stand before it. The chat format knows one action a
turn, Intern-S1 writes several. ``<|interpreter|>`` in the place of ``<|plugin|>`` is followed by Python code, fenced or
not: a call of ``interpreter``, with the code as it is. Only Intern-S1 thinks, and its prompts may end in ``<think>``:
start="reasoning".
"""

from __future__ import annotations

from ..idioms import Think, also, code_calls, define, opened_json

DIALECT = define(
    __doc__,
    name="internlm",
    think=Think.tight(),
    calls=also(
        opened_json(("<|action_start|>", "<|plugin|>"), closer="<|action_end|>", lead="\n", arguments="parameters"),
        code_calls("<|interpreter|>", "interpreter", opener="<|action_start|>", closer="<|action_end|>"),
    ),
    stops=("<|im_end|>",),
    prose=False,
    turns=("<|im_start|>assistant\n",),
    models=("internlm/internlm2*-chat*", "internlm/Intern-S1*"),
    aliases=("internlm2", "interns1", "intern_s1"),
    tokens=("<|action_start|>", "<|plugin|>", "<|action_end|>"),
    signatures=(("<|action_start|>", "<|plugin|>"),),
    templates=("e00f16381b76d36b",),
    source="InternLM, chat/chat_format.md; SGLang, internlm_detector.py (Intern-S1)",
)
