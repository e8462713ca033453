r"""MiniCPM 5: calls as <function name=""> tags anywhere in the text, values in CDATA where they need it.

    <think>
    Two cities.
    </think>

    Let me look.<function name="get_weather"><param name="city">Paris</param><param name="days">2</param></function>\
    <function name="get_weather"><param name="city">Oslo</param></function><|im_end|>

A string that holds ``<``, ``&`` or a newline stands in ``<![CDATA[`` … ``]]>``, without any escape. Names stand in
double or single quotes. Prompts end in ``<think>`` and a newline, or in an empty thought.
"""

from __future__ import annotations

from ..idioms import Sign, Tag, Think, define, tagged_values

DIALECT = define(
    __doc__,
    name="minicpm5",
    think=Think.tags(),
    calls=tagged_values(
        (),
        Tag(
            '<function name="',
            (Sign('">'),),
            "</function>",
            lead="",
            after="",
            spelled=(("<function name='", (Sign("'>"),)),),
        ),
        Tag(
            '<param name="',
            (Sign('">'),),
            "</param>",
            lead="",
            tail="",
            after="",
            spelled=(("<param name='", (Sign("'>"),)),),
            cdata=True,
        ),
        lead="",
    ),
    stops=("<|im_end|>",),
    turns=("<|im_start|>assistant\n",),
    models=("openbmb/MiniCPM5-*",),
    aliases=("minicpm5xml",),
    signatures=(("<function name=", "<param name="),),
    templates=("256bd81697ae445b",),
    source="chat template of MiniCPM5-1B; SGLang, minicpm5_detector.py",
)
