"""Llama 3: a call is a bare JSON object; Llama 3.1, 3.2 and 3.3, Llama 4 with the JSON template.

    {"name": "get_weather", "parameters": {"city": "Paris"}}; {"name": "get_time", "parameters": {}}<|eom_id|>

or an answer in plain text, ended by ``<|eot_id|>``. There is no opening marker but an optional ``<|python_tag|>``,
so an object counts as a call only where its beginning is whole: at the start of the output or of a line, a brace,
the name, and ``parameters`` (or ``arguments``). All other JSON is text. The models have no thoughts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from json import dumps

from ..dialect import Dialect, Example
from ..errors import Inexpressible
from ..grammar import build as b
from ..grammar.nodes import Grammar
from ..idioms import json_members, stops, turn, write
from ..types import Message, TextPart, ToolCall

TAG = "<|python_tag|>"
STOPS = ("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>")
LIKE_A_CALL = re.compile(r'(?m)^\s*\{\s*"(?:name|type)"')

_type = b.optional('"type"', b.space(), ":", b.space(), '"function"', b.space(), ",", b.space())
_name = '"name"' + b.space() + ":" + b.space() + b.name(b.json_string(), decode=b.Decoding.JSON)
_key = b.choice('"parameters"', '"arguments"')
_start = "{" + b.space() + _type + b.peek(_name, b.space(), ",", b.space(), _key, b.space(), ":") + b.commit()
_resume = (TAG, *STOPS)
_bare = b.call(_start + json_members(), resume=_resume)
_tagged = b.call(TAG + b.space() + "{" + b.commit() + json_members(), resume=_resume)
_more = b.zero_or_more(b.space(), b.optional(";", b.space()), _bare)
_calls = (_tagged | _bare) + _more + b.optional(b.space(), ";", b.peek(b.space(), b.choice(*STOPS) | b.end()))
_turn = turn(
    _tagged + _more,
    "\n" + _bare + _more,
    stops(*STOPS),
    delimiters=(TAG, "\n{", *STOPS),
    orphans=(TAG,),
    prose=True,
)


def _write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> str:
    blocks = (f'{{"name": {dumps(c.name)}, "parameters": {c.arguments}}}' for c in calls)
    return ("\n" if after_text else "") + "; ".join(blocks)


def _write(message: Message) -> str:
    for k, part in enumerate(message.parts):
        if isinstance(part, TextPart) and LIKE_A_CALL.search(part.text):
            raise Inexpressible("llama3_json", k, "its text has a line that begins as a call does")
        if isinstance(part, TextPart) and k:
            raise Inexpressible("llama3_json", k, "text behind a call")
    return write("llama3_json", message, marks=(TAG, *STOPS), calls=_write_calls)


DIALECT = Dialect(
    name="llama3_json",
    title="calls as bare JSON objects",
    grammar=Grammar(b.optional(b.space(), _calls) + _turn),
    writer=_write,
    models=("meta-llama/Llama-3.1-*", "meta-llama/Llama-3.2-*", "meta-llama/Llama-3.3-*"),
    marks=(TAG, '"parameters"'),
    stops=STOPS,
    aliases=("llama3", "llama4_json"),
    source="chat template of Llama-3.1-8B-Instruct; Meta's prompt format documentation for Llama 3.1",
    examples=(
        Example(
            "two calls",
            '{"name": "get_weather", "parameters": {"city": "Paris"}}; {"name": "now", "parameters": {}}<|eom_id|>',
            Message("assistant", (ToolCall("get_weather", '{"city": "Paris"}'), ToolCall("now", "{}"))),
        ),
        Example(
            "an answer with JSON in it",
            'The reply was {"name": "Ada", "age": 36}.<|eot_id|>',
            Message("assistant", (TextPart('The reply was {"name": "Ada", "age": 36}.'),)),
        ),
    ),
)
