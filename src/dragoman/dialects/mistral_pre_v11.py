r"""Mistral before v11: an array of calls behind [TOOL_CALLS]; Mistral 7B v0.3, Nemo, Mixtral, Large 2407.

    [THINK]Two cities.[/THINK]Let me look.\
    [TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}, "id": "a1b2c3d40"}, \
    {"name": "get_weather", "arguments": {"city": "Oslo"}, "id": "a1b2c3d41"}]</s>

Ids are nine letters and digits. All that `mistral` reads is read.
"""

from __future__ import annotations

from ..idioms import Think, define, marked_json

DIALECT = define(
    __doc__,
    name="mistral_pre_v11",
    think=Think.tight("[THINK]", "[/THINK]"),
    calls=marked_json("[TOOL_CALLS]", "[CALL_ID]", "[ARGS]", array=True),
    stops=("</s>",),
    prose=False,
    turns=("[/INST]", "[/TOOL_RESULTS]"),
    models=("mistralai/Mistral-7B-Instruct-v0.3", "mistralai/Mistral-Nemo-*", "mistralai/Mixtral-*-v0.*"),
    native_id=lambda name, index: f"a1b2c3d4{index}",
    source="mistral-common, tokens/tokenizers/instruct.py; chat template of Mistral-Nemo-Instruct-2407",
)
