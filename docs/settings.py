"""The reference page of the gateway's settings, from the tree that describes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import NODEFAULT, Struct

from dragoman.gateway.config import ModelEntry, Settings, WorkerEntry
from dragoman.gateway.leaves import Leaf, fields, is_table
from dragoman.gateway.toml import toml_value

from .markdown import code, filled, rows

INTRODUCTION = (
    "Each setting is a key of the file that `--config` or `DRAGOMAN_CONFIG` names, a variable and a flag. Flags go "
    "before variables, variables before the file, the file before the defaults; a list replaces the list of a weaker "
    "source. `dragoman serve --print-config` writes what all of them come to. A name that there is not, and a value "
    "that can't be, end the command with code 2 and one line that says where it is and what it should be."
)

LISTS = (
    "A file has a table for each, `[[models]]` and `[[workers]]`, or a list of words. A flag is given once for each: "
    '`--worker http://127.0.0.1:30000`, or `--worker \'{url = "http://127.0.0.1:30000", key = "env:WORKER_KEY"}\'`. A '
    "variable has words with commas between, or the list as it would be in a file."
)

KEYS = (
    "A key is given in words, or as `env:NAME` (a variable) or `file:PATH` (a file with the key as its only line). It "
    "is never printed, nor logged; a flag can be seen by every user of the machine, so there it should be said by "
    "`env:` or `file:`."
)


def page() -> str:
    """The whole page."""
    tables = [leaf for leaf in fields(Settings) if is_table(leaf.kind)]
    whole = [
        "<!-- Written by `make docs` from src/dragoman/gateway/config.py: change that. -->",
        "# Settings",
        filled(INTRODUCTION),
        "## models and workers",
        filled(LISTS),
        *_entries("models", ModelEntry),
        *_entries("workers", WorkerEntry),
    ]
    for section in tables:
        assert isinstance(section.kind, type)
        whole += [f"## {section.key}", _first_line(section.kind)]
        if section.key == "keys":
            whole.append(filled(KEYS))
        leaves = fields(section.kind)
        whole.append(rows(("key", "flag", "default", "what it is", "what it should be"), _lines(section, leaves)))
    whole.append(
        "The variable of a key is its name in capitals with two underscores between: `limits.queue` is "
        "`DRAGOMAN_LIMITS__QUEUE`."
    )
    return "\n\n".join(whole) + "\n"


def _entries(name: str, table: type[Struct]) -> list[str]:
    lines = [(code(leaf.key), _default(leaf), leaf.about, leaf.expected) for leaf in fields(table)]
    headings = ("field", "default", "what it is", "what it should be")
    return [f"### {name}", _first_line(table), rows(headings, lines)]


def _lines(section: Leaf, leaves: Iterable[Leaf]) -> Iterator[tuple[str, ...]]:
    for leaf in leaves:
        flag = "--" + "-".join([*section.words, *leaf.words]).replace("_", "-")
        yield code(f"{section.key}.{leaf.key}"), code(flag), _default(leaf), leaf.about, leaf.expected


def _default(leaf: Leaf) -> str:
    if leaf.default is NODEFAULT:
        return "(needed)"
    return "" if leaf.default in (None, (), {}) else code(toml_value(leaf.default))


def _first_line(table: type) -> str:
    return (table.__doc__ or "").split("\n", 1)[0]
