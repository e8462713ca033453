"""Goldens of Kimi K2, whose chat templates no package brings along: conversations, and what the templates make of them.

    python -m tests.render.families.goldens FOLDER

makes `kimi_k2.json` beside this file. FOLDER has `Kimi-K2-Instruct.jinja` and `Kimi-K2-Thinking.jinja` as llama.cpp
has them in `models/templates`. Its edits are taken back, to what the template of Kimi-K2.5 has as it was published:
JSON has no blanks, the search for the last answer ends where it is found, and ids are the caller's. Tools have their
keys sorted, as `tokenization_kimi.py` does it.

Of most texts there is only the beginning of their SHA-256: without the generation prompt, and with it.
"""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from tests.render.conversations import TOOLS, conversations, hf_text

__all__ = ["GOLDENS", "digest", "goldens"]

GOLDENS = Path(__file__).with_name("kimi_k2.json")

TEMPLATES = {"kimi_k2": "Kimi-K2-Instruct.jinja", "kimi_k2_thinking": "Kimi-K2-Thinking.jinja"}
FOUND = "{%- set ns.last_non_tool_call_assistant_msg = idx -%}"
EDITS = {
    "tools | tojson": "tools | tojson(separators=(',', ':'))",
    FOUND: FOUND + "{%- break -%}",
    "'functions.' + tool_call['function']['name'] + ':' + (tool_call_counter.value | string)": "tool_call['id']",
    "{%- set _ = tool_response_queue.ids.append(formatted_id) -%}": "",
    "{%- if tool_response_queue.ids -%}": "{%- if true -%}",
    "tool_response_queue.ids.pop(0)": "message.tool_call_id",
}

EXAMPLES, WHOLE = 45, 2
"""Conversations of each family, and of how many of them the text is there as it is."""


def goldens() -> dict[str, list[dict[str, Any]]]:
    """The stored goldens by family."""
    stored: dict[str, list[dict[str, Any]]] = json.loads(GOLDENS.read_text(encoding="utf-8"))
    return stored


def digest(text: str) -> str:
    """The beginning of the SHA-256 of a text."""
    return sha256(text.encode()).hexdigest()[:16]


def made(template: str, *, thinks: bool) -> list[dict[str, Any]]:
    """Goldens of a template, always the same."""
    for edited, published in EDITS.items():
        template = template.replace(edited, published)
    found: list[dict[str, Any]] = []
    some = st.sampled_from(["object", "text"])
    shapes = some.flatmap(lambda kind: conversations(arguments_as=kind, markers=kind == "object", edges=True))

    @seed(20250811)
    @settings(max_examples=400, deadline=None, database=None, phases=[Phase.generate])
    @given(messages=shapes, declared=st.integers(0, 2))
    def make(messages: list[dict[str, Any]], declared: int) -> None:
        if thinks and messages[-1]["role"] == "assistant" and "tool_calls" not in messages[-1]:
            return  # there our text is another
        if len(messages) < 3 or len(found) == EXAMPLES or len(json.dumps(messages)) > 1000:
            return
        messages = native(messages)
        tools = json.loads(json.dumps(TOOLS[:declared], sort_keys=True)) or None
        text, prompt = (
            hf_text(template, messages, tools, add_generation_prompt=prompting) for prompting in (False, True)
        )
        shown = {"text": text} if len(found) < WHOLE else {}
        found.append({"messages": messages, "tools": declared, "sha256": [digest(text), digest(prompt)], **shown})

    make()
    return found


def native(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with the ids that the model would write."""
    text, number = json.dumps(messages), 0
    while (given := f'"call{number:05d}"') in text:
        text, number = text.replace(given, f'"functions.get_weather:{number}"'), number + 1
    renamed: list[dict[str, Any]] = json.loads(text)
    return renamed


def main(folder: Path) -> None:
    """Write the file."""
    families = {
        name: made((folder / file).read_text(encoding="utf-8"), thinks=name.endswith("thinking"))
        for name, file in TEMPLATES.items()
    }
    rows = [
        f'"{name}": [\n'
        + ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
        + "\n]"
        for name, rows in families.items()
    ]
    GOLDENS.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
