r"""Step 3: <steptml:invoke> tags with raw parameters, between control tokens.

    <think>
    Two cities.
    </think>

    Let me look.<｜tool_calls_begin｜>
    <｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather">
    <steptml:parameter name="city">Paris</steptml:parameter>
    <steptml:parameter name="days">2</steptml:parameter>
    </steptml:invoke><｜tool_call_end｜>
    <｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather">
    <steptml:parameter name="city">Oslo</steptml:parameter>
    </steptml:invoke><｜tool_call_end｜>
    <｜tool_calls_end｜><|EOT|>

A value stands right between its tags, raw, typed by the tool's schema. Any of the control tokens, and the word between
them, may be missing; ``<｜tool_sep｜>`` may also divide calls. Prompts end in ``<think>`` and a newline:
start="reasoning". The template was not seen: newlines within blocks and behind thoughts are not verified.
"""

from __future__ import annotations

from ..idioms import Shell, Tag, Think, define, tagged_values

DIALECT = define(
    __doc__,
    name="step3",
    think=Think.tags(),
    calls=tagged_values(
        (("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"),),
        Tag.named("steptml:invoke"),
        Tag.named("steptml:parameter", lead="", tail=""),
        shell=Shell("<｜tool_call_begin｜>", "function", "<｜tool_sep｜>", "<｜tool_call_end｜>"),
        several=True,
        lead="",
    ),
    stops=("<|EOT|>",),
    prose=False,
    turns=("<｜BOT｜>assistant\n",),
    models=("stepfun-ai/step3*",),
    tokens=("<｜tool_calls_begin｜>", "<｜tool_call_begin｜>", "<｜tool_sep｜>"),
    signatures=(("<steptml:invoke",),),
    source="SGLang, step3_detector.py; vLLM, step3_tool_parser.py and its example prompts of step3-fp8",
)
