"""Raw outputs of the best-known dialects, to watch a parser at work and to measure it; written by hand.

Each is a text file beside this module, exactly as a model would write it: markers, stop marker and all. They
share one list of tools, `tools.json`. These are demonstrations: what a dialect must read is said by its own
examples and by the test-suite.
"""

from __future__ import annotations

from importlib.resources import files

import msgspec
from msgspec import Struct

from ..types import Tool

__all__ = ["Recording", "recordings", "tools"]


class Recording(Struct, frozen=True):
    """A raw output: its dialect, where its prompt left the model (``start``), and what it is about."""

    name: str
    dialect: str
    title: str
    start: str = "content"

    @property
    def text(self) -> str:
        """The output itself; reads the file each time."""
        return files(__name__).joinpath(f"{self.name}.txt").read_bytes().decode("utf-8")


_RECORDINGS = (
    Recording("generic", "generic", "a poem: two calls, one with its name last"),
    Recording("hermes", "hermes", "a journey: thoughts, a table, three calls"),
    Recording("qwen3_coder", "qwen3_coder", "a repair: code as an argument", start="reasoning"),
    Recording("harmony", "harmony", "a query: thoughts, a preamble, thoughts again, a call"),
    Recording("harmony_answer", "harmony", "its result: thoughts and a final answer"),
    Recording("deepseek_r1", "deepseek_r1", "a water tank: formulas, two calls in code fences"),
    Recording("deepseek_v31", "deepseek_v31", "a choir: three calls without a space between", start="reasoning"),
    Recording("kimi_k2", "kimi_k2", "a bakery: calls that bring their own ids"),
    Recording("llama3_json", "llama3_json", "a handover: nothing but calls"),
    Recording("llama3_json_answer", "llama3_json", "the same house: nothing but an answer"),
    Recording("mistral", "mistral", "a committee: four calls, each with its own marker"),
    Recording("mistral_pre_v11", "mistral_pre_v11", "a silent server: calls as one array"),
)


def recordings(*names: str) -> tuple[Recording, ...]:
    """The recordings of these dialects or of these names, in the order of the list; without a name, all."""
    return tuple(each for each in _RECORDINGS if not names or each.name in names or each.dialect in names)


def tools() -> tuple[Tool, ...]:
    """The tools that all recordings share."""
    listed = msgspec.json.decode(files(__name__).joinpath("tools.json").read_bytes(), type=list[dict[str, object]])
    return tuple(Tool.from_openai(tool) for tool in listed)
