"""Writes the pages of `docs/dialects/` from the dialects themselves, so that they can't say anything else.

`make docs` writes them, the gateway's settings and parameters, and the number of families into the README; ``python -m
docs.build --check`` writes nothing and exits with 1 if something is stale.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dragoman import Dialect, dialects
from dragoman.cli.sheet import by_kind
from dragoman.cli.spans import example_spans

from . import parameters, settings
from .markdown import code, filled, listed, prose, rows
from .page import page
from .picture import picture

FOLDER = Path(__file__).parent / "dialects"
README = Path(__file__).parents[1] / "README.md"
SETTINGS = Path(__file__).parent / "gateway" / "settings.md"
PARAMETERS = SETTINGS.parent / "parameters.md"
FAMILIES = re.compile(r"\b\d+(?= families)")
SHOWN = 6
"""Models that the index shows of a dialect; its page has them all."""


def index(known: Sequence[Dialect]) -> str:
    """The page that lists them all, by what their calls look like."""
    whole = [
        "<!-- Written by `make docs` from the dialects: change those. -->",
        "# Dialects",
        filled(
            f"{len(known)} families, by what their calls look like. *Other names* are mostly what vLLM and SGLang "
            "call their parsers; one that stands at several dialects does not tell them apart. Each page shows the "
            "layout in colours, what becomes of each character, what is read besides, and the grammar; `dragoman "
            "dialects NAME` prints the same. Which one a model speaks, [recognition](../recognition.md) tells."
        ),
    ]
    for kind, group in by_kind(known).items():
        whole += [
            f"## {kind[:1].upper()}{kind[1:]}",
            rows(("dialect", "what it is", "models", "other names"), lines(group)),
        ]
    whole.append("Yours is missing? [It is one file.](../add-a-dialect.md)")
    return "\n\n".join(whole) + "\n"


def lines(group: Iterable[Dialect]) -> Iterator[tuple[str, ...]]:
    for dialect in group:
        more = len(dialect.models) - SHOWN
        models = listed(dialect.models[:SHOWN]) + (f" and {more} more" if more > 0 else "")
        yield (
            f"[{code(dialect.name)}]({dialect.name}.md)",
            prose(dialect.title),
            models,
            listed((*dialect.aliases, *dialect.shared)),
        )


def files(known: Iterable[Dialect]) -> dict[str, str]:
    """The page and the picture of each dialect, by file name."""
    found = {}
    for dialect in known:
        example = dialect.examples[0]
        title = f"{dialect.name}: {example.title}"
        found[f"{dialect.name}.md"] = page(dialect)
        found[f"{dialect.name}.svg"] = picture(example.text, example_spans(dialect, example), title)
    return found


def readme(known: Sequence[Dialect]) -> str:
    """The README with the number of families that there are."""
    return FAMILIES.sub(str(len(known)), README.read_text(encoding="utf-8"))


def expected(folder: Path = FOLDER) -> dict[Path, str]:
    """Every generated file by its place."""
    known = dialects()
    whole = {"README.md": index(known)} | files(known)
    return {folder / name: text for name, text in whole.items()}


def stale(wanted: dict[Path, str], folder: Path = FOLDER) -> list[Path]:
    """The files that are missing, that say something else, or that no dialect stands behind."""
    there = {path: path.read_text(encoding="utf-8") for path in [*folder.glob("*.md"), *folder.glob("*.svg")]}
    return sorted(path for path in there.keys() | wanted if there.get(path) != wanted.get(path))


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> int:
    """Write the files, or only look at them; the exit code is 1 if some are stale."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    args = parser.parse_args(arguments)
    wanted = expected(folder)
    changed = stale(wanted, folder)
    if folder == FOLDER:
        others = {README: readme(dialects()), SETTINGS: settings.page(), PARAMETERS: parameters.page()}
        for path, text in others.items():
            if not path.exists() or text != path.read_text(encoding="utf-8"):
                wanted[path] = text
                changed.append(path)
    for path in changed:
        print(f"{'stale' if args.check else 'written' if path in wanted else 'removed'}: {path.name}")
        if not args.check:
            write(path, wanted.get(path))
    if args.check and changed:
        print("run `make docs`", file=sys.stderr)
    return int(args.check and bool(changed))


def write(path: Path, text: str | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if text is None:
        path.unlink()
    else:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
