"""The automaton that reads text up to and including the first of several words, as states with edges.

It is the one of Aho and Corasick (1975), made deterministic: unlike "anything but the word, then the word", it is exact
for words that begin as they end, and for text that stops inside of one. In `code` it also follows Markdown code, in
which words are text, by the rules of `dragoman.grammar.prose`; that one counts the backticks that open code, a grammar
can't, so more than `TICKS_LIMIT` of them open none here: there is no edge for the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

__all__ = ["TICKS_LIMIT", "State", "Target", "Word", "automaton"]

TICKS_LIMIT = 4


class Word(Struct, frozen=True):
    """The end of the text: this word is complete."""

    text: str


Target: TypeAlias = str | Word | None
"""The name of a state, a word that is complete, or nowhere."""


class State(Struct, frozen=True):
    """Where one of the characters `on` leads, and where any other does."""

    on: Mapping[str, Target]
    other: str


def automaton(words: tuple[str, ...], code: bool = False) -> Mapping[str, State]:
    """The states by name, each within reach of the first; of words that end at once, the longest counts.

    Raises `ValueError` for a word that is empty or, in `code`, holds a backtick.
    """
    if "" in words or (code and any("`" in word for word in words)):
        raise ValueError(f"text can't end at one of {words}: an empty word, or a backtick where code is read")
    text = _text(words)
    start = text["0"]
    states = dict(text)
    if code:
        for name, state in text.items():
            states[name] = State({**state.on, "`": "opening-1"}, state.other)
        states.update(_code(start))
    reached = dict.fromkeys(["0"])
    pending = ["0"]
    while pending:
        state = states[pending.pop()]
        fresh = [to for to in (*state.on.values(), state.other) if isinstance(to, str) and to not in reached]
        reached.update(dict.fromkeys(fresh))
        pending.extend(reversed(fresh))
    return {name: states[name] for name in states if name in reached}


def _text(words: tuple[str, ...]) -> dict[str, State]:
    """A state for every beginning of a word: how much of one has just been read."""
    beginnings = sorted(dict.fromkeys(["", *(word[:k] for word in words for k in range(len(word) + 1))]), key=len)
    follows: dict[str, dict[str, str]] = {beginning: {} for beginning in beginnings}
    for beginning in beginnings[1:]:
        follows[beginning[:-1]][beginning[-1]] = beginning
    fallback = dict.fromkeys(beginnings, "")
    longest: dict[str, Word | None] = {}
    for beginning in beginnings:  # shorter ones first: what they fall back to is complete
        behind = follows[fallback[beginning]] if beginning else {}
        for last, longer in follows[beginning].items():
            fallback[longer] = behind.get(last, "")
        follows[beginning] = behind | follows[beginning]
        longest[beginning] = Word(beginning) if beginning in words else longest.get(fallback[beginning])
    names = {beginning: str(number) for number, beginning in enumerate(beginnings)}
    return {
        names[beginning]: State({c: longest[to] or names[to] for c, to in follows[beginning].items()}, "0")
        for beginning in beginnings
    }


def _code(start: State) -> dict[str, State]:
    """The states in code that some number of backticks opened; `start` is the one of text."""
    states: dict[str, State] = {}
    for size in range(1, TICKS_LIMIT + 1):
        span, line, fenced = f"span-{size}", f"line-{size}", size >= 3
        in_span: dict[str, Target] = {"\n": start.on.get("\n", "0")}  # a span ends with its line
        states[span] = State({**in_span, "`": f"closing-{size}-1"}, span)
        for run in range(1, size + 2):  # the last stands for more than there should be
            more = f"closing-{size}-{min(run + 1, size + 1)}"
            behind = State({**start.on, "`": more}, "0") if run == size else State({**in_span, "`": more}, span)
            states[f"closing-{size}-{run}"] = behind
        opened = State({"\n": f"{line}-0", "`": f"closing-{size}-1"}, f"info-{size}") if fenced else states[span]
        longer = f"opening-{size + 1}" if size < TICKS_LIMIT else None
        states[f"opening-{size}"] = State({**opened.on, "`": longer}, opened.other)
        if fenced:
            states[f"info-{size}"] = opened
            states[f"fence-{size}"] = State({"\n": f"{line}-0"}, f"fence-{size}")
            for run in range(size):
                states[f"{line}-{run}"] = State({"\n": f"{line}-0", "`": f"{line}-{run + 1}"}, f"fence-{size}")
            states[f"{line}-{size}"] = State({**start.on, "`": f"{line}-{size}"}, "0")
    return states
