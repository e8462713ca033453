r"""Kimi K3: everything between tags of control tokens; arguments tell their types, calls their index.

    <|open|>think<|sep|>Two cities.<|close|>think<|sep|><|open|>response<|sep|>Let me look.<|close|>response<|sep|>\
    <|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|>\
    <|open|>argument key="city" type="string"<|sep|>Paris<|close|>argument<|sep|>\
    <|open|>argument key="days" type="number"<|sep|>2<|close|>argument<|sep|><|close|>call<|sep|>\
    <|open|>call tool="get_weather" index="2"<|sep|>\
    <|open|>argument key="city" type="string"<|sep|>Oslo<|close|>argument<|sep|><|close|>call<|sep|>\
    <|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>

A string is raw text, all else JSON; quotes and ampersands in names are escaped as in HTML. The arguments may also be
JSON in ``<|open|>json type="object"<|sep|>``. A call's index is its id. Prompts end in the opener of a thought,
start="reasoning", or of the response.
"""

from __future__ import annotations

from ..idioms import Answer, Think, define, typed_arguments

DIALECT = define(
    __doc__,
    name="kimi_k3",
    think=Think.tight("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    answer=Answer(("<|open|>response<|sep|>",), ("<|close|>response<|sep|>",)),
    calls=typed_arguments(),
    stops=("<|close|>message<|sep|>", "<|end_of_msg|>"),
    prose=False,
    turns=('<|open|>message role="assistant"<|sep|>',),
    native_id=lambda name, index: str(index + 1),
    models=("moonshotai/Kimi-K3*",),
    aliases=("kimik3",),
    tokens=("<|open|>", "<|close|>", "<|sep|>"),
    signatures=(("<|open|>", "<|close|>", "<|sep|>"),),
    templates=("f0c33f4b63ef8403",),
    source="chat template of Kimi-K3; SGLang, kimik3_detector.py",
)
