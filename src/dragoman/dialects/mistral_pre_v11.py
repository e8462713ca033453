r"""Mistral before v11: an array of calls behind [TOOL_CALLS]; v2 to v7 tokenizers, from 7B v0.3 to Small 3.1.

    Let me look.\
    [TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}, "id": "a1b2c3d40"}, \
    {"name": "get_weather", "arguments": {"city": "Oslo"}, "id": "a1b2c3d41"}]</s>

Ids are nine letters and digits; v2 tokenizers write none. Before v7, templates give a message text or calls, not both;
a space stands behind the marker where the tokenizer is SentencePiece. The models have no thoughts. All calls that
`mistral` reads are read.
"""

from __future__ import annotations

from ..idioms import define, marked_json

DIALECT = define(
    __doc__,
    name="mistral_pre_v11",
    calls=marked_json("[TOOL_CALLS]", "[CALL_ID]", "[ARGS]", array=True),
    stops=("</s>",),
    prose=False,
    turns=("[/INST]", "[/TOOL_RESULTS]"),
    native_id=lambda name, index: f"a1b2c3d4{index}",
    ids="[a-zA-Z0-9]{9}",
    models=(
        "mistralai/Mistral-7B-Instruct-v0.3",
        "mistralai/Mixtral-8x22B-Instruct-*",
        "mistralai/Mistral-Nemo-*",
        "mistralai/Mistral-Large-Instruct-*",
        "mistralai/Mistral-Small-Instruct-*",
        "mistralai/Mistral-Small-24B-*",
        "mistralai/Mistral-Small-3.1-*",
        "mistralai/Ministral-8B-*",
        "mistralai/Pixtral-*",
        "mistralai/Devstral-Small-2505",
    ),
    tokens=("[TOOL_CALLS]",),
    signatures=(("[TOOL_CALLS]",),),
    templates=("9e84ffe9e56406eb", "c7f09ec50cad59de", "a57cd141e4d49cd9", "e7deee034838db2b"),
    source="mistral-common, tokens/tokenizers/instruct.py; chat template of Mistral-Nemo-Instruct-2407",
)
