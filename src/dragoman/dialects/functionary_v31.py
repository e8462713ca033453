r"""Functionary 3.1: JSON in a tag with the tool's name; functionary-small and -medium v3.1.

    Let me look.<function=get_weather>{"city": "Paris", "days": 2}</function>\
    <function=get_weather>{"city": "Oslo"}</function><|eom_id|>

The tags are ordinary text and count where a brace follows. Code for ``python`` stands behind ``<|python_tag|>`` as it
is, up to the stop marker; it is read as a call with raw arguments. Answers in plain text end in ``<|eot_id|>``. The
models have no thoughts. Llama 3.1 writes the same where its prompt asks for it.
"""

from __future__ import annotations

from ..idioms import also, code_calls, define, headed_json

DIALECT = define(
    __doc__,
    name="functionary_v31",
    calls=also(
        headed_json("<function=", ">", "</function>", plain=True),
        code_calls("<|python_tag|>", "python"),
    ),
    stops=("<|eom_id|>", "<|eot_id|>", "<|end_of_text|>"),
    turns=("<|start_header_id|>assistant<|end_header_id|>\n\n",),
    models=("meetkai/functionary-*-v3.1*",),
    signatures=(("<function=", "<|python_tag|>"),),
    lacks=("<parameter=",),
    templates=("2fc9dbfaea552f86", "b2b7d1a2ff834425"),
    source="chat template of functionary-medium-v3.1",
)
