r"""FunctionGemma: a dict with bare keys behind call:name, strings between <escape> tokens.

    Let me look.\
    <start_function_call>call:get_weather{city:<escape>Paris<escape>,days:2}<end_function_call>\
    <start_function_call>call:get_weather{city:<escape>Oslo<escape>}<end_function_call><start_function_response>

What stands between two ``<escape>`` is typed by the tool's schema, as models (and vLLM's template) put numbers there,
too. The engine has to stop at ``<start_function_response>``. The models have no thoughts.
"""

from __future__ import annotations

from ..idioms import call_dict, define

DIALECT = define(
    __doc__,
    name="functiongemma",
    calls=call_dict("<start_function_call>", "<end_function_call>", "<escape>", typed=True),
    stops=("<start_function_response>", "<end_of_turn>", "<eos>"),
    prose=False,
    turns=("<start_of_turn>model\n",),
    models=("google/functiongemma-*",),
    aliases=("function_gemma",),
    tokens=("<start_function_call>", "<end_function_call>", "<escape>"),
    signatures=(("<start_function_call>", "<escape>"),),
    templates=("014143c10561f24a",),
    source="Google's FunctionGemma formatting and best practices; vLLM, functiongemma_tool_parser.py",
)
