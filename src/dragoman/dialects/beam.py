r"""Beam: Harmony's messages, with arguments in tags; the checkpoints of BeamForCausalLM.

    <|channel|>analysis<|message|>Two cities.<|end|>\
    <|start|>assistant<|channel|>final<|message|>Let me look.<|end|>\
    <|start|>assistant to=get_weather<|channel|>analysis <|constrain|>xml<|message|>\
    <rfl:parameter name="city">
    Paris
    </rfl:parameter><rfl:parameter name="days">
    2
    </rfl:parameter><|call|>

The recipient is the tool's name. A value is raw text between two newlines, typed by the tool's schema. A JSON object in
place of the tags is read too, and so is a call that ``<|end|>`` ends. All else is as in `harmony`: channels, what
models write beside them, and the states in which a turn may start.
"""

from __future__ import annotations

from ..dialect import Dialect
from ..idioms import (
    HARMONY,
    Sign,
    Tag,
    drawn,
    harmony_grammar,
    harmony_speller,
    sample,
    tagged_arguments,
    write_arguments,
    written_by,
)
from ..types import ToolCall

PARAMETER = Tag('<rfl:parameter name="', (Sign('">'),), "</rfl:parameter>", after="")


def _write_call(call: ToolCall) -> str:
    header = f"to={call.name}<|channel|>analysis <|constrain|>xml<|message|>"
    return f" {header}{write_arguments(PARAMETER, call, 0)}"


_speller = harmony_speller("beam", _write_call)

DIALECT = Dialect(
    name="beam",
    kind="messages with headers",
    doc=__doc__,
    grammar=harmony_grammar(({"name": ".+"}, HARMONY.addressed(tagged_arguments(PARAMETER, HARMONY.ends)))),
    writer=written_by(_speller),
    speller=_speller,
    models=(),
    marks=("<|channel|>", "<rfl:parameter"),
    stops=HARMONY.stops,
    turns=(HARMONY.begin,),
    others=(HARMONY.start,),
    signatures=(("<|channel|>", "<|message|>", "<|call|>", "<rfl:parameter"),),
    source="the response template in SGLang's parser/beam.py and vLLM's parser/beam.py; no chat template is public",
    examples=drawn(__doc__, sample(most=1)),
)
