"""Rendering conversations to token ids, beside whoever else is installed.

The floor is what nobody can do without: the same text, without its control tokens, encoded by tiktoken in one call. A
conversation is new in every round, and each who is measured is the first to see it in turn. The time is the
processor's, in the whole process: a rendering is long enough to be interrupted on a busy machine. Each counts with its
fastest round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import process_time_ns
from typing import Any

from msgspec import Struct

from dragoman.render import Renderer
from dragoman.tokenizers import control_pattern

from .chats import KINDS, as_dicts, conversation
from .clock import quiet
from .peers import RENDERERS, Chat, installed, why
from .vocabularies import FAMILIES, tokenizer

__all__ = ["Rendered", "renderings"]


class Rendered(Struct, frozen=True):
    """Microseconds per token of one renderer on one kind of conversation, or why there are none."""

    family: str
    kind: str
    name: str
    us_per_token: float = 0.0
    ratio: float = 0.0
    tokens: int = 0
    same: bool = False
    note: str = ""


Run = Callable[[], object]


class Contestant(Struct):
    """Someone who renders; `best` is nanoseconds per token."""

    name: str
    prepare: Callable[[Chat], Run]
    ids: Callable[[Any], Sequence[int]]
    best: float = float("inf")
    tokens: int = 0
    same: bool = True
    note: str = ""


def renderings(rounds: int, families: Sequence[str] = FAMILIES) -> Iterator[Rendered]:
    """Everybody on every kind of conversation."""
    for family in families:
        try:
            renderer = Renderer(family, tokenizer(family))
        except Exception as error:  # a vocabulary, or the package that reads it, is missing
            yield Rendered(family, "", "", note=why(error))
            continue
        for kind in KINDS:
            yield from _kind(family, kind, renderer, rounds)


def _kind(family: str, kind: str, renderer: Renderer, rounds: int) -> Iterator[Rendered]:
    everybody = [*_ours(renderer), *_peers(family)]
    floor = everybody[0]
    for number in range(rounds + 1):
        chat = conversation(kind, number)
        expected = renderer.build_generation_prompt(chat).ids if number == 0 else []
        for at in range(len(everybody)):
            _round(everybody[(at + number) % len(everybody)], chat, expected)
    for each in everybody:
        us, ratio = each.best / 1000, each.best / floor.best
        if each.note:
            us = ratio = 0.0
        yield Rendered(family, kind, each.name, us, ratio, each.tokens, each.same, each.note)


def _round(who: Contestant, chat: Chat, expected: Sequence[int]) -> None:
    """One rendering; the first, of which the ids are `expected`, is not timed."""
    if who.note:
        return
    try:
        run = who.prepare(chat)
        with quiet():
            began = process_time_ns()
            answer = run()
            took = process_time_ns() - began
        ids = who.ids(answer)
    except Exception as error:  # whatever foreign code raises
        who.note = why(error)
        return
    if expected:
        who.tokens, who.same = len(ids), list(ids) == list(expected)
    else:
        who.best = min(who.best, took / len(ids))


def _ours(renderer: Renderer) -> Iterator[Contestant]:
    """The floor, and ours: of messages, and of dicts."""
    markers, encode = control_pattern(renderer.tokenizer), renderer.tokenizer.encode

    def floor(chat: Chat) -> Run:
        text = markers.sub("", renderer.build_generation_prompt(chat).text)
        return partial(encode, text)

    def dicts(chat: Chat) -> Run:
        return partial(renderer.build_generation_prompt, as_dicts(chat))

    yield Contestant("the floor: encode_ordinary of its text", floor, lambda ids: ids)
    yield Contestant("dragoman", lambda chat: partial(renderer.build_generation_prompt, chat), lambda it: it.ids)
    yield Contestant("dragoman, of dicts", dicts, lambda it: it.ids)


def _peers(family: str) -> Iterator[Contestant]:
    for package, make in RENDERERS.items():
        version = installed(package)
        if not version:
            yield Contestant(package, _nothing, lambda ids: ids, note="not installed")
            continue
        try:
            prepare, ids = make(family)
        except NotImplementedError:
            continue
        except Exception as error:  # whatever foreign code raises
            yield Contestant(package, _nothing, lambda ids: ids, note=why(error))
            continue
        yield Contestant(f"{package} {version}", prepare, ids)


def _nothing(chat: Chat) -> Run:
    raise AssertionError("nobody renders")
