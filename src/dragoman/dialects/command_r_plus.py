r"""Command R: calls in a fenced JSON array behind the word Action; Command R and R+ of 2024.

    Let me look.
    Action:
    ```json
    [
        {
            "tool_name": "get_weather",
            "parameters": {"city": "Paris", "days": 2}
        },
        {
            "tool_name": "get_weather",
            "parameters": {"city": "Oslo"}
        }
    ]```<|END_OF_TURN_TOKEN|>

The template indents the parameters too. Models also write ``Action: `` and the fence on one line, and a newline before
the closing fence. Without the array the word and the fence are text. To answer without a tool, the models call one of
the name ``directly-answer``. What they write with documents (``Relevant Documents:``, ``Grounded answer:``) is text.
"""

from __future__ import annotations

from ..idioms import define, json_array

DIALECT = define(
    __doc__,
    name="command_r_plus",
    calls=json_array(
        "Action:",
        "```",
        fence="```json",
        name="tool_name",
        arguments="parameters",
        lead="\n",
        inner="\n    ",
        member="\n        ",
    ),
    stops=("<|END_OF_TURN_TOKEN|>",),
    turns=("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",),
    models=("Cohere*/c4ai-command-r-v01", "Cohere*/c4ai-command-r-plus*", "Cohere*/c4ai-command-r-08-2024"),
    aliases=("command_r",),
    signatures=(("Action:", '"tool_name"', '"parameters"'),),
    lacks=("<|START_ACTION|>",),
    templates=("77ea9486e28546ce",),
    source="chat template (tool_use) of c4ai-command-r-plus",
)
