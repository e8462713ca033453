r"""Laguna: calls as pairs of key and raw value, a marker a line; Poolside Laguna XS.2, XS-2.1.

    <think>
    Two cities.
    </think>
    Let me look.
    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Paris</arg_value>
    <arg_key>days</arg_key>
    <arg_value>2</arg_value>
    </tool_call>
    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Oslo</arg_value>
    </tool_call>
    </assistant>

As glm45 in all else. What Laguna S writes without newlines is read too; see laguna_s. An answer's last newline, which
the template writes, stays in the text. Prompts end in ``<think>`` when thinking is on, start="reasoning", else in
``</think>``. Of Laguna M.1 no template was seen.
"""

from __future__ import annotations

from ..idioms import PairLayout, Think, define, paired_values

DIALECT = define(
    __doc__,
    name="laguna",
    think=Think(("<think>",), ("</think>",), after="\n"),
    calls=paired_values(layout=PairLayout.lines(lead="\n", end="\n")),
    stops=("</assistant>",),
    turns=("<assistant>\n", "<assistant>"),
    models=("poolside/Laguna-XS*", "poolside/Laguna-M*"),
    aliases=("poolside_v1",),
    signatures=(("<tool_call>", "</tool_call>", "arguments", "<arg_key>", "<arg_value>", "</assistant>"),),
    templates=("c64086c5feaef448", "dadad29ff28c3806"),
    source="chat templates of Laguna-XS.2 and Laguna-XS-2.1 (llama.cpp, models/templates)",
)
