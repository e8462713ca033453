"""What there is to say of a dialect, once for the terminal and for the pages: facts, paragraphs, recoveries.

Nothing here is written for one dialect: it comes from the dialect's own file, and from its cases in the conformance
suite.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

from msgspec import Struct, structs

from ..conformance import SCENARIOS, Case, Suite, folder, read_suite
from ..conformance.notation import write_part
from ..dialect import START, Dialect
from ..idioms.define import layout
from ..types import Part, Tool, UnparsedToolCall

__all__ = [
    "Fact",
    "Paragraph",
    "Recovery",
    "by_kind",
    "facts",
    "matching",
    "on_line",
    "paragraphs",
    "recoveries",
    "signature",
    "suite_beside",
]

_TOLD = frozenset({"whitespace", "malformed_then_valid", "truncated_call"})
"""Scenarios that are told of even where nothing is wrong."""

_WRITTEN, _BECOME = 180, 120
"""Characters that are shown of a case, and of each part that it becomes."""

_OTHERS = "others"
"""The kind of dialects whose file says none."""


class Paragraph(Struct, frozen=True):
    """A piece of a dialect's own words; a literal one is shown as it stands."""

    text: str
    literal: bool


class Fact(Struct, frozen=True):
    """A line of the table of facts; `words` are prose, `names` are code."""

    title: str
    names: tuple[str, ...] = ()
    words: str = ""


class Recovery(Struct, frozen=True):
    """What becomes of an output that is not as the layout says."""

    scenario: str
    title: str
    start: str
    written: str
    becomes: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def heading(self) -> str:
        """What it is about."""
        told = f"{self.scenario}: {self.title}" if self.title else self.scenario
        return told if self.start == START else f"{told} (start: {self.start})"


def paragraphs(dialect: Dialect) -> list[Paragraph]:
    """The dialect's own words behind its title, without the layout if the first example is just that."""
    pieces = re.split(r"\n{2,}", inspect.cleandoc(dialect.doc))[1:]
    found = []
    for literal, group in groupby(pieces, lambda piece: piece.startswith("    ")):
        if literal:
            found.append(Paragraph(inspect.cleandoc("\n\n".join(group)), literal=True))
        else:
            found += [Paragraph(" ".join(piece.split("\n")), literal=False) for piece in group]
    drawn = next((piece for piece in found if piece.literal), None)
    if drawn is not None and dialect.examples and layout(dialect.doc) == dialect.examples[0].text:
        found.remove(drawn)
    return found


def facts(dialect: Dialect) -> list[Fact]:
    """What it is known by and how it behaves; facts that a dialect does not have are left out."""
    own = dialect.native_id is not None
    known = (
        Fact("calls are", words=dialect.kind),
        Fact("models", dialect.models),
        Fact("other names", dialect.aliases),
        Fact("names that others share", dialect.shared),
        Fact("its tokenizers have", dialect.tokens),
        Fact("its chat templates have", words=" or ".join(map(_coded, dialect.signatures))),
        Fact("and never", dialect.lacks),
        Fact("start states", dialect.starts),
        Fact("prompts end with", tuple(turn.replace("\n", "\\n") for turn in dialect.turns)),
        Fact("stop markers", dialect.stops),
        Fact("ids of calls", words="the model's own" if own else "none: the caller gives them"),
        Fact("holds back at most", words=f"{dialect.hold_bound} characters"),
        Fact("specified in", words=dialect.source),
    )
    return [fact for fact in known if fact.names or fact.words]


def _coded(signature: Sequence[str]) -> str:
    return ", ".join(f"``{piece}``" for piece in signature)


def by_kind(known: Iterable[Dialect]) -> dict[str, list[Dialect]]:
    """Dialects by what their calls look like, the kind that most have first and unknown kinds last."""
    groups: dict[str, list[Dialect]] = {}
    for dialect in known:
        groups.setdefault(dialect.kind or _OTHERS, []).append(dialect)
    return dict(sorted(groups.items(), key=lambda item: (item[0] == _OTHERS, -len(item[1]), item[0])))


def matching(word: str, known: Iterable[Dialect]) -> list[Dialect]:
    """The dialects that a word is part of: of the name, of another name, of a model; or whose models it is one of."""
    wanted = word.casefold()

    def fits(dialect: Dialect) -> bool:
        models = [model.casefold() for model in dialect.models]
        return any(wanted in name for name in (dialect.name, *dialect.aliases, *dialect.shared, *models)) or any(
            fnmatchcase(wanted, model) for model in models
        )

    return [dialect for dialect in known if fits(dialect)]


def suite_beside(dialect: Dialect, file: Path | None = None) -> Suite | None:
    """The cases of a built-in dialect, or those beside a user's own file; ``None`` if there are none."""
    place = file.with_suffix(".toml") if file is not None else folder() / f"{dialect.name}.toml"
    return read_suite(place, dialect) if place.is_file() else None


def recoveries(suite: Suite) -> list[Recovery]:
    """What becomes of outputs with a problem or in another layout, in the order of the scenarios."""
    told = (case for scenario in SCENARIOS for case in suite.of(scenario))
    return [_recovery(case) for case in told if not case.fails and (case.problems or case.scenario in _TOLD)]


def _recovery(case: Case) -> Recovery:
    return Recovery(
        scenario=case.scenario.replace("_", " "),
        title=case.title,
        start=case.start,
        written=on_line(case.text, _WRITTEN),
        becomes=tuple(on_line(write_part(_told(part)), _BECOME).rstrip() for part in case.expect),
        problems=tuple(problem.replace("_", " ") for problem in case.problems),
    )


def _told(part: Part) -> Part:
    """A part as it is told; what was written of a broken call stands beside it already."""
    return structs.replace(part, raw="") if isinstance(part, UnparsedToolCall) else part


def on_line(text: str, limit: int) -> str:
    """A text on one line, with arrows for line feeds and tabs, and without the middle if it is long."""
    half = limit // 2
    shown = text if len(text) <= limit else f"{text[:half]} … {text[-half:]}"
    return shown.replace("\n", "↵").replace("\t", "⇥")


def signature(tool: Tool) -> str:
    """A tool on one line: ``name(key: type, maybe?: type)``."""
    return f"{tool.name}({', '.join(_arguments(tool))})"


def _arguments(tool: Tool) -> Iterator[str]:
    schema = tool.parameters or {}
    properties, required = schema.get("properties"), schema.get("required")
    for key, kind in properties.items() if isinstance(properties, dict) else ():
        told = kind.get("type") if isinstance(kind, dict) else None
        mark = "" if isinstance(required, list) and key in required else "?"
        yield f"{key}{mark}: {told}" if isinstance(told, str) else f"{key}{mark}"
