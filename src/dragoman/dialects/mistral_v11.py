r"""Mistral v11: calls behind [TOOL_CALLS], each with name and id; Mistral Small 3.1 and 3.2, Devstral Small.

    [THINK]Two cities.[/THINK]Let me look.\
    [TOOL_CALLS]get_weather[CALL_ID]a1b2c3d40[ARGS]{"city": "Paris", "days": 2}\
    [TOOL_CALLS]get_weather[CALL_ID]a1b2c3d41[ARGS]{"city": "Oslo"}</s>

Ids are nine letters and digits. All that `mistral` reads is read.
"""

from __future__ import annotations

from ..idioms import Think, define, marked_json

DIALECT = define(
    __doc__,
    name="mistral_v11",
    think=Think.tight("[THINK]", "[/THINK]"),
    calls=marked_json("[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"),
    stops=("</s>",),
    prose=False,
    turns=("[/INST]", "[/TOOL_RESULTS]"),
    native_id=lambda name, index: f"a1b2c3d4{index}",
    models=("mistralai/Mistral-Small-3.2-*", "mistralai/Magistral-*-2506"),
    tokens=("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"),
    signatures=(("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"),),
    templates=("d990bccdaaa20611",),
    source="mistral-common, tokens/tokenizers/instruct.py; chat template of Mistral-Small-3.2",
)
