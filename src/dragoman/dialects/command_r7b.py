r"""Command A: everything between control tokens, the text too; Command R7B, Command A, A Reasoning, A+.

    <|START_THINKING|>Two cities.<|END_THINKING|><|START_RESPONSE|>Let me look.<|END_RESPONSE|><|START_ACTION|>[
        {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris", "days": 2}},
        {"tool_call_id": "1", "tool_name": "get_weather", "parameters": {"city": "Oslo"}}
    ]<|END_ACTION|><|END_OF_TURN_TOKEN|>

Each call has an id, a number that counts through the conversation. A+ writes ``<|START_TEXT|>`` and ``<|END_TEXT|>``
around its text, R7B calls a thought that leads to calls its plan; both are read alike, and text without markers too.
Citations (``<co>`` … ``</co: 0:[1]>``) stay in the text. Prompts of A Reasoning and A+ end in ``<|START_THINKING|>``,
start="reasoning", or in an empty thought.
"""

from __future__ import annotations

from ..idioms import Answer, Think, define, json_array

DIALECT = define(
    __doc__,
    name="command_r7b",
    think=Think.tight("<|START_THINKING|>", "<|END_THINKING|>"),
    calls=json_array(
        "<|START_ACTION|>",
        "<|END_ACTION|>",
        name="tool_name",
        arguments="parameters",
        call_id="tool_call_id",
        inner="\n    ",
    ),
    answer=Answer(("<|START_RESPONSE|>", "<|START_TEXT|>"), ("<|END_RESPONSE|>", "<|END_TEXT|>")),
    stops=("<|END_OF_TURN_TOKEN|>",),
    prose=False,
    turns=("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",),
    native_id=lambda name, index: str(index),
    models=(
        "Cohere*/c4ai-command-r7b-*",
        "Cohere*/c4ai-command-a-*",
        "Cohere*/command-a-*",
        "CohereLabs/North-Mini-Code*",
    ),
    aliases=("command_a", "cohere", "cohere_command3", "cohere_command4", "cohere_cmd3"),
    tokens=("<|START_ACTION|>", "<|END_ACTION|>", "<|START_THINKING|>"),
    signatures=(("<|START_ACTION|>", "<|END_ACTION|>"),),
    templates=("cc60b553279347d8", "d8366efb9f07c571", "0c3f266d86f93a1f"),
    source="chat templates of c4ai-command-r7b-12-2024 and of Command A+; SGLang, cohere_command4_detector.py",
)
