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

A value is raw text on one line with its tags, typed by the tool's schema. Prompts end in ``<think>``:
start="reasoning". The layout of thoughts is not verified against the template.
"""

from __future__ import annotations

from ..idioms import Sign, Tag, Think, define, tagged_values

DIALECT = define(
    __doc__,
    name="step3",
    think=Think.tags(),
    calls=tagged_values(
        (("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"),),
        Tag(
            '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="',
            (Sign('">'),),
            "</steptml:invoke><｜tool_call_end｜>",
            spelled=(('<steptml:invoke name="', (Sign('">'),)),),
        ),
        Tag('<steptml:parameter name="', (Sign('">'),), "</steptml:parameter>", lead="", tail=""),
        several=True,
        lead="",
    ),
    stops=("<|EOT|>",),
    prose=False,
    turns=("<｜BOT｜>assistant\n",),
    models=("stepfun-ai/step3*",),
    tokens=("<｜tool_calls_begin｜>", "<｜tool_call_begin｜>", "<｜tool_sep｜>"),
    signatures=(("<steptml:invoke",),),
    source="SGLang, step3_detector.py; vLLM, step3_tool_parser.py",
)
