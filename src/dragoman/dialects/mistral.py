r"""Mistral: calls behind [TOOL_CALLS], each with its name; v13 tokenizers: Magistral, Devstral 2, Ministral 3.

    [THINK]Two cities.[/THINK]Let me look.\
    [TOOL_CALLS]get_weather[ARGS]{"city": "Paris", "days": 2}[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}</s>

What older tokenizers write is read too: an id behind the name (v11, see mistral_v11), an array (see mistral_pre_v11).
``[ARGS]`` may be missing before the brace. A call that has an id is written with it.
"""

from __future__ import annotations

from ..idioms import Think, define, marked_json

DIALECT = define(
    __doc__,
    name="mistral",
    think=Think.tight("[THINK]", "[/THINK]"),
    calls=marked_json("[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"),
    stops=("</s>",),
    prose=False,
    turns=("[/INST]", "[/TOOL_RESULTS]"),
    models=(
        "mistralai/Ministral-3-*",
        "mistralai/Magistral-*-2507",
        "mistralai/Magistral-*-2509",
        "mistralai/Devstral-Small-2507",
        "mistralai/Devstral-Medium-2507",
        "mistralai/Devstral-2-*",
        "mistralai/Devstral-Small-2-*",
        "mistralai/Mistral-Large-3-*",
        "mistralai/Mistral-Medium-3*",
        "mistralai/Mistral-Small-4-*",
        "mistralai/Leanstral-*",
        "mistralai/Voxtral-*-2507",
    ),
    aliases=("mistral_v13",),
    tokens=("[TOOL_CALLS]", "[ARGS]"),
    signatures=(("[TOOL_CALLS]", "[ARGS]"),),
    templates=("b896b317ebe436a1", "e4ea8d3f5960e2d1"),
    source="mistral-common, tokens/tokenizers/instruct.py; chat templates of Ministral-3 and Mistral-Small-3.2",
)
