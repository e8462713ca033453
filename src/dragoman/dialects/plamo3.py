r"""PLaMo 3: calls as nested markers of several tokens each; PLaMo 3.

    <|plamo:begin_think:plamo|>Two cities.<|plamo:end_think:plamo|>Let me look.<|plamo:begin_tool_requests:plamo|>\
    <|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>get_weather<|plamo:end_tool_name:plamo|>\
    <|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{"city": "Paris", "days": 2}\
    <|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>\
    <|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>get_weather<|plamo:end_tool_name:plamo|>\
    <|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{"city": "Oslo"}\
    <|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>\
    <|plamo:end_tool_requests:plamo|><|plamo:tag|>

A marker is put together from tokens (``<|plamo:begin_``, ``think``, ``:plamo|>``), which arrive one by one. Newlines
may stand between markers; the section's own may be missing, and so may ``<|plamo:constrain|>json``, which the beta of
the hosted model leaves out. Prompts open the thought unless thinking is off: start="reasoning".
"""

from __future__ import annotations

from ..grammar import build as b
from ..idioms import Think, define, headed_json

NAMED, BODY, JSON = "<|plamo:end_tool_name:plamo|>", "<|plamo:begin_tool_arguments:plamo|>", "<|plamo:constrain|>json"

DIALECT = define(
    __doc__,
    name="plamo3",
    think=Think.tight("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
    calls=headed_json(
        "<|plamo:begin_tool_request:plamo|>",
        "<|plamo:msg|>",
        "<|plamo:end_tool_request:plamo|>",
        prefix="<|plamo:begin_tool_name:plamo|>",
        suffix="<|plamo:end_tool_arguments:plamo|>",
        sections=("<|plamo:begin_tool_requests:plamo|>",),
        section_ends=("<|plamo:end_tool_requests:plamo|>",),
        name=b.field_name(b.chars(r"^<\s", 1, 128)) + b.space() + NAMED + b.space() + BODY + b.optional(JSON),
        names=r"[^<\s]{1,128}",
        header=lambda call, index: f"{call.name}{NAMED}{BODY}{JSON}",
    ),
    stops=("<|plamo:tag|>",),
    prose=False,
    models=("pfnet/plamo-3-*",),
    signatures=(("<|plamo:begin_tool_request:plamo|>",),),
    source="vLLM, parser/plamo3.py; outputs of plamo-3.0-prime-beta. Template not verified",
)
