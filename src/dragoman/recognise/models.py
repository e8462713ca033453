"""By the id of a model: the most specific of the dialects' globs, or that of a model of which this is a copy.

Globs are compared without regard to case. Of two that fit, the one with more literal characters is the more specific.
Copies by others keep the name but not the owner (``unsloth/Qwen3-8B-GGUF``, a folder ``Qwen3-8B-AWQ``): then the name
alone is compared, also without what tells how it was packed, and the answer is weak.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from ..dialect import Dialect
from ..registry import dialects
from .answer import Answer, Certainty, settled

__all__ = ["by_model", "model_answers"]

TRIED = "model id"

LEAST_LITERAL = 3
"""Literal characters that the name in a glob has at least, to tell anything without its owner."""

_packed = re.compile(
    r"[-_.](?:gguf|awq|gptq|mlx|exl[23]|fp(?:4|8|16)|nvfp4|mxfp[48]|bf16|f16|w\d+a\d+|int[48]|[48]-?bit|bnb|unsloth"
    r"|(?:ud-)?i?q\d(?:_[a-z0-9]+)*|dynamic|hf|imatrix|i1|base64)$"
)


def by_model(model: str) -> Answer:
    """The dialect that a model speaks, by its id or the path of its folder.

    Raises `AmbiguousDialect` if the globs of several dialects are equally specific, `Unrecognised` if none fits.
    """
    return settled(model, model_answers(model), (TRIED,))


def model_answers(model: str) -> tuple[Answer, ...]:
    """The dialects whose globs fit best; several if they are equally specific."""
    owner, name = _parts(model)
    if not name:
        return ()
    with_owner = _best(_fits((f"{owner}/{name}", *_unpacked(f"{owner}/{name}")), whole=True)) if owner else ()
    found = with_owner or _best(_fits((name, *_unpacked(name)), whole=False))
    return tuple(
        Answer(dialect, _evidence(glob, bool(with_owner)), _sure(glob, bool(with_owner))) for dialect, glob in found
    )


def _parts(model: str) -> tuple[str, str]:
    """Owner and name, from an id, an address, a path, or a folder of a download cache; without tag and revision."""
    parts = [part for part in re.split(r"[/\\]", model.strip().lower()) if part not in ("", ".", "..")]
    for part in parts:
        if part.startswith("models--") and part.count("--") == 2:
            _, owner, name = part.split("--")
            return owner, name
    if not parts:
        return "", ""
    name = re.split(r"[@:]", parts[-1])[0]
    return parts[-2] if len(parts) > 1 else "", name.removesuffix(".gguf")


def _unpacked(name: str) -> Iterator[str]:
    """The name without one after the other of the endings that say how a model was packed."""
    while (found := _packed.search(name)) is not None:
        name = name[: found.start()]
        yield name


def _fits(names: Iterable[str], *, whole: bool) -> Iterator[tuple[Dialect, str]]:
    names = tuple(names)
    for dialect in dialects():
        for glob in dialect.models:
            lowered = glob.lower()
            pattern = lowered if whole else lowered.rpartition("/")[2]
            if not whole and _literal(pattern) < LEAST_LITERAL:
                continue
            if any(fnmatchcase(name, pattern) for name in names):
                yield dialect, glob


def _best(fits: Iterable[tuple[Dialect, str]]) -> tuple[tuple[Dialect, str], ...]:
    found = sorted(fits, key=lambda fit: _literal(fit[1].rpartition("/")[2]), reverse=True)
    return tuple(
        fit for fit in found if _literal(fit[1].rpartition("/")[2]) == _literal(found[0][1].rpartition("/")[2])
    )


def _literal(glob: str) -> int:
    """How many characters of a glob are literal."""
    return len(re.sub(r"\[[^]]*\]|[*?]", "", glob))


def _evidence(glob: str, owned: bool) -> str:
    return f"the model id fits {glob!r}" if owned else f"the name, but not the owner, of the model fits {glob!r}"


def _sure(glob: str, owned: bool) -> Certainty:
    if not owned:
        return Certainty.WEAK
    return Certainty.STRONG if re.search(r"[*?\[]", glob) else Certainty.EXACT
