r"""Gemma 4: a dict with bare keys behind call:name, strings between tokens; gemma-4-E2B to 31B.

    <|channel>thought
    Two cities.
    <channel|>Let me look.\
    <|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:2}<tool_call|>\
    <|tool_call>call:get_weather{city:<|"|>Oslo<|"|>}<tool_call|><turn|>

Arguments keep their order (the template sorts them). Nothing is written ``None``, as in the template; ``null`` is
read, too. Models also write quoted or bare strings, namespaces (``call:a:b:f{``), ``call:f(a=1)``, and no comma
between arguments: all that is read. Thinking off is an empty thought in the prompt. A thought's label, ``thought``
and a newline, is layout, as is a newline before its closer.
"""

from __future__ import annotations

from ..idioms import Think, call_dict, define

DIALECT = define(
    __doc__,
    name="gemma4",
    think=Think(("<|channel>",), ("<channel|>",), lead="thought\n", tail="\n", after=""),
    calls=call_dict("<|tool_call>", "<tool_call|>", '<|"|>', null="None"),
    stops=("<turn|>", "<|tool_response>", "<eos>"),
    prose=False,
    turns=("<|turn>model\n", "<tool_response|>"),
    models=("google/gemma-4-*", "google/diffusiongemma-*"),
    tokens=("<|tool_call>", "<tool_call|>", "<|channel>"),
    signatures=(("<|tool_call>", "<tool_call|>"),),
    templates=(
        "d4ae9e49415311a0",
        "1d35a24a2a63cc60",
        "8e1391a7d6881ced",
        "aa1d1a6ccb60a86a",
        "6a1015c47ccfcfa6",
        "603a42db292c2527",
        "84af2a627a6e7489",
    ),
    source="chat template of gemma-4-31B-it; vLLM, gemma4_tool_parser.py; SGLang, gemma4_detector.py",
)
