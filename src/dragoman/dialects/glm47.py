r"""GLM-4.7: calls as a name and pairs of key and raw value, without layout; GLM-4.7, GLM-5 and later.

    <think>Two cities.</think>Let me look.\
    <tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value>\
    <arg_key>days</arg_key><arg_value>2</arg_value></tool_call>\
    <tool_call>get_weather<arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call><|observation|>

As glm45, whose layout between the markers is read too: all whitespace of a value is data. Under load these models
leave out ``<arg_value>`` or double the key's markers. Prompts end in ``<think>`` when thinking is on,
start="reasoning", else in ``</think>``.
"""

from __future__ import annotations

from ..idioms import Think, define, paired_values

DIALECT = define(
    __doc__,
    name="glm47",
    think=Think.tight(),
    calls=paired_values(),
    stops=("<|observation|>", "<|user|>", "<|endoftext|>"),
    turns=("<|assistant|>",),
    models=("zai-org/GLM-4.7*", "zai-org/GLM-5*"),
    aliases=("glm47_moe", "glm5"),
    tokens=("<tool_call>", "</tool_call>", "<arg_key>", "<arg_value>"),
    signatures=(("<tool_call>", "</tool_call>", "arguments", "<arg_key>", "<arg_value>", "</arg_key><arg_value>"),),
    templates=(
        "d63ad536c3c81880",
        "9bbf62473eb6c2e9",
        "a7e85db118575233",
        "03b1bbff20331e54",
        "dedbb4dae748fa22",
    ),
    shared=("poolside_v1", "spark25"),
    source="chat template of GLM-4.7-Flash (llama.cpp, models/templates); vLLM issue 49248, pull request 54971",
)
