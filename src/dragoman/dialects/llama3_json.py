r"""Llama 3: a call is a bare JSON object; Llama 3.1, 3.2 and 3.3, Llama 4 with the JSON template.

    Let me look.
    {"name": "get_weather", "parameters": {"city": "Paris", "days": 2}}; \
    {"name": "get_weather", "parameters": {"city": "Oslo"}}<|eom_id|>

An answer in plain text is ended by ``<|eot_id|>``. There is no opening marker but an optional ``<|python_tag|>``, so an
object counts as a call only where its beginning is whole: at the start of the output or of a line, a brace, the name,
and ``parameters`` (or ``arguments``). All other JSON is text. The models have no thoughts.
"""

from __future__ import annotations

from ..idioms import bare_json, define

DIALECT = define(
    __doc__,
    name="llama3_json",
    calls=bare_json("<|python_tag|>", ("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>")),
    stops=("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"),
    turns=("<|start_header_id|>assistant<|end_header_id|>\n\n",),
    models=(
        "meta-llama/Llama-3.1-*",
        "meta-llama/Meta-Llama-3.1-*",
        "meta-llama/Llama-3.2-*",
        "meta-llama/Meta-Llama-3.2-*",
        "meta-llama/Llama-3.3-*",
    ),
    aliases=("llama3", "llama4_json"),
    tokens=("<|python_tag|>", "<|eom_id|>", "<|eot_id|>"),
    signatures=(('"parameters": ', "ipython"),),
    lacks=("<tool_call>",),
    templates=(
        "7cde5c44cbbfb696",
        "191026db315deae9",
        "321aca592bf5ed51",
        "93c0e9aa3629bbd7",
        "d82792f95932f1c9",
        "59b5edfe57e670f7",
    ),
    source="chat template of Llama-3.1-8B-Instruct; Meta's prompt format documentation for Llama 3.1",
)
