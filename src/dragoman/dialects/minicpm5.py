r"""MiniCPM 5: calls as <function name=""> tags anywhere in the text, values in CDATA where they need it.

    <think>
    Two cities.
    </think>

    Let me look.<function name="get_weather"><param name="city">Paris</param><param name="days">2</param></function>\
    <function name="get_weather"><param name="city">Oslo</param></function><|im_end|>

A string that holds ``<``, ``&`` or a newline stands in ``<![CDATA[`` … ``]]>``, without any escape; a string is kept as
written, all else is what Python's ``str()`` gives, or JSON. Names may stand in single quotes or in none. Calls stand
where the text has them; the template writes those that the text has no place for at its end, without newlines. (It
then writes all of them once more, with newlines between, since a variable of its own is never set.) Prompts end in
``<think>`` and a newline, in an empty thought, or in neither.
"""

from __future__ import annotations

from ..grammar.notation import PYTHON
from ..idioms import Tag, Think, define, python_text, tagged_values

DIALECT = define(
    __doc__,
    name="minicpm5",
    think=Think.tags(),
    calls=tagged_values(
        (),
        Tag.named("function", lead="", after=""),
        Tag.named("param", lead="", tail="", after="", cdata=True, notation=PYTHON),
        lead="",
        text_of=python_text,
    ),
    stops=("<|im_end|>",),
    turns=("<|im_start|>assistant\n",),
    models=("openbmb/MiniCPM5-*",),
    aliases=("minicpm5xml",),
    signatures=(("<function name=", "<param name="),),
    templates=("256bd81697ae445b",),
    source="chat template of MiniCPM5-1B; SGLang, minicpm5_detector.py",
)
