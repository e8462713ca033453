"""Namespaces of tools as Harmony declares them, and the two that gpt-oss was trained with.

The texts of `BUILTIN` are facts of the format: what openai-harmony 0.0.8 writes for `ToolNamespaceConfig.browser()` and
`.python()` (Apache-2.0), character by character.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from ..types import JSON
from .typescript import declared, lines

__all__ = ["BUILTIN", "Function", "Namespace", "section"]


class Function(Struct, frozen=True):
    """A function as it is declared; `parameters` is a JSON Schema, ``None`` if it takes none."""

    name: str
    description: str
    parameters: JSON = None


class Namespace(Struct, frozen=True):
    """Functions under one name; one without functions is a tool by itself."""

    name: str
    description: str = ""
    functions: tuple[Function, ...] = ()

    @property
    def text(self) -> str:
        """Its declaration."""
        quote = "// " if self.functions else ""
        out = [f"## {self.name}\n", *(f"{quote}{line}" for line in lines(self.description))]
        if self.functions:
            out.append(f"namespace {self.name} {{\n")
            for each in self.functions:
                out += declared(each.name, each.description, each.parameters)
            out.append(f"}} // namespace {self.name}")
        return "\n".join(out)


def section(namespaces: Iterable[Namespace]) -> str:
    """The section that declares them, in the order of their names."""
    return "\n\n".join(["# Tools", *(each.text for each in sorted(namespaces, key=lambda each: each.name))])


def _takes(required: Sequence[str] = (), **properties: JSON) -> JSON:
    return {"type": "object", "properties": properties, "required": tuple(required)}


TEXT: JSON = {"type": "string"}
HERE: JSON = {"type": "number", "default": -1}

BROWSER = Namespace(
    "browser",
    "Tool for browsing.\n"
    "The `cursor` appears in brackets before each browsing display: `[{cursor}]`.\n"
    "Cite information from the tool using the following format:\n"
    "`【{cursor}†L{line_start}(-L{line_end})?】`, for example: `【6†L9-L11】` or `【8†L3】`.\n"
    "Do not quote more than 10 words directly from the tool output.\n"
    "sources=web (default: web)",
    (
        Function(
            "search",
            "Searches for information related to `query` and displays `topn` results.",
            _takes(["query"], query=TEXT, topn={"type": "number", "default": 10}, source=TEXT),
        ),
        Function(
            "open",
            "Opens the link `id` from the page indicated by `cursor` starting at line number `loc`, showing "
            "`num_lines` lines.\n"
            "Valid link ids are displayed with the formatting: `【{id}†.*】`.\n"
            "If `cursor` is not provided, the most recent page is implied.\n"
            "If `id` is a string, it is treated as a fully qualified URL associated with `source`.\n"
            "If `loc` is not provided, the viewport will be positioned at the beginning of the document or centered "
            "on the most relevant passage, if available.\n"
            "Use this function without `id` to scroll to a new location of an opened page.",
            _takes(
                id={"type": ["number", "string"], "default": -1},
                cursor=HERE,
                loc=HERE,
                num_lines=HERE,
                view_source={"type": "boolean", "default": False},
                source=TEXT,
            ),
        ),
        Function(
            "find",
            "Finds exact matches of `pattern` in the current page, or the page given by `cursor`.",
            _takes(["pattern"], pattern=TEXT, cursor=HERE),
        ),
    ),
)

PYTHON = Namespace(
    "python",
    "Use this tool to execute Python code in your chain of thought. The code will not be shown to the user. This tool "
    "should be used for internal reasoning, but not for code that is intended to be visible to the user (e.g. when "
    "creating plots, tables, or files).\n\n"
    "When you send a message containing Python code to python, it will be executed in a stateful Jupyter notebook "
    "environment. python will respond with the output of the execution or time out after 120.0 seconds. The drive at "
    "'/mnt/data' can be used to save and persist user files. Internet access for this session is UNKNOWN. Depends on "
    "the cluster.",
)

BUILTIN: Mapping[str, Namespace] = MappingProxyType({each.name: each for each in (BROWSER, PYTHON)})
