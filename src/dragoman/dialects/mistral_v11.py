r"""Mistral v11: calls behind [TOOL_CALLS], each with name and id; Mistral Small 3.2, Magistral 2506.

    <think>
    Two cities.
    </think>

    Let me look.\
    [TOOL_CALLS]get_weather[CALL_ID]a1b2c3d40[ARGS]{"city": "Paris", "days": 2}\
    [TOOL_CALLS]get_weather[CALL_ID]a1b2c3d41[ARGS]{"city": "Oslo"}</s>

Ids are nine letters and digits. All calls that `mistral` reads are read. Mistral Small has no thoughts; Magistral 2506
writes them in ``<think>``, which its tokenizer has no tokens for. ``[THINK]`` is read too.
"""

from __future__ import annotations

from ..idioms import Think, define, marked_json

DIALECT = define(
    __doc__,
    name="mistral_v11",
    think=Think(("<think>", "[THINK]"), ("</think>", "[/THINK]")),
    calls=marked_json("[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"),
    stops=("</s>",),
    prose=False,
    turns=("[/INST]", "[/TOOL_RESULTS]"),
    native_id=lambda name, index: f"a1b2c3d4{index}",
    ids="[a-zA-Z0-9]{9}",
    models=("mistralai/Mistral-Small-3.2-*", "mistralai/Magistral-*-2506"),
    tokens=("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"),
    signatures=(("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"),),
    templates=("d990bccdaaa20611",),
    source="mistral-common, tokens/tokenizers/instruct.py; chat template of Mistral-Small-3.2; card of Magistral-2506",
)
