"""Makes inputs: a soup of markers, halves of markers, JSON, text and rubbish; and examples with something broken."""

from __future__ import annotations

import re
from functools import cache
from random import Random

from dragoman import Policy, get_dialect
from dragoman.grammar.nodes import Call, Header, Literal, Until
from dragoman.recordings import recordings

from .case import Case, toolset

__all__ = ["LIMIT", "case_of", "markers", "piece", "rubbish"]

LIMIT = 600
"""Characters of an input, but for the few that try a bound."""

JSON = (
    '{"name": "f", "arguments": {"s": "x"}}', '{"name": "f", "arguments": {', '{"arguments": {}, "name": "f"}',
    '{"name": "f", "parameters": "{\\"a\\": 1}"}', '{"name":', '"f"', '"id": "c1"', ', "id": 7', "{}", "[]", "{", "}",
    "[", "]", ":", ",", '"', '"s": ', '"a": [1, 2]', "1", "-", "-0.5e+3", "01", "1e", "tru", "true", "null", "nul",
    "NaN", "\\", '\\"', "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\\u12", "\\x", '"\\', '{"i": 12', '{"i": 1, "i": 2}',
    '"{\\"x\\": 1}"', '"{\\"x\\": \\"', '\\\\\\"', '""', '" "', '"type": "function", ', "[{", "}]", "}}",
    '{"a": {"b": [', '"arguments": "{', '", "arguments": {', '"name": "f", "arguments": ',
)  # fmt: skip
"""Pieces of JSON, whole and not."""

TEXT = (
    "a", "f", "Hello", " world", "x < y", "<", ">", "<b>", "</", "<|", "|>", "functions.", "functions.f:0", ":0", "to=",
    "assistant", "json", "code", "final", "analysis", "commentary", "s", "i", "f>", "=", "get_weather", "12", "true",
    "None", "`", "``", "```", "````", "```json\n", "'", "&lt;", "#", "-", "...", "3 / 4", "é", "語", "; ",
)  # fmt: skip
"""Pieces of text; many of them are what a dialect expects at some place."""

BOUNDS = (64, 128, 200, 256, 256, 512, 1024)
"""About where bounds are: of layout, names, headers, depth, numbers."""

STRAIN = (
    ("[", "]"), ("[", "]"), ('{"a":', "}"), ("[[", "]]"), ("[{}, ", "]"), ("9", ""), ("1", ".0e1"), (" ", ""),
    ("\n", ""), ("a", ""), ("\\", ""), ("\\u0041", ""), ("`", ""), ("<", ""), ('"', ""), ("0.", ""), ("-", ""),
    ("\t ", ""), (", ", ""),
)  # fmt: skip
"""What is repeated up to a bound, and what as often behind it."""

LAYOUT = ("\n", "\n", " ", "  ", "\n\n", "\t", "\r\n", "\r", "\u00a0", "\n \n", "    ")
RUBBISH = (
    "\ud800", "\udfff", "\ud83d", "\u2028", "\u2029", "\x00", "\x1b[31m", "\x7f", "\x85", "\ufeff", "\u200b",
    "\U0001f600", "\U0010ffff", "\x0b", "\x0c", "e\u0301", "\u202e", "\ufffd", "\x1f",
)  # fmt: skip
"""What text should not hold but may."""


@cache
def markers(name: str) -> tuple[str, ...]:
    """Everything that a dialect's grammar looks for, literally."""
    dialect = get_dialect(name)
    found = {*dialect.marks, *dialect.stops}
    for node in dialect.grammar.walk():
        match node:
            case Literal():
                found.add(node.text)
            case Until():
                found.update(node.delimiters, node.then)
            case Call():
                found.update(node.closers, node.resume)
            case Header():
                found.update((node.stop,), node.start, node.abort)
            case _:
                pass
    return tuple(sorted(found - {""}))


@cache
def texts(name: str) -> tuple[str, ...]:
    """Good outputs of a dialect: its examples, and the recordings cut down to the places around their markers."""
    dialect = get_dialect(name)
    found = [example.text for example in dialect.examples]
    for recording in recordings(name):
        text = recording.text
        spots = [match.start() for match in _marks(name).finditer(text)]
        found += [text[max(0, spot - 40) : spot + 260] for spot in spots[:: max(1, len(spots) // 8)]]
    return tuple(found)


@cache
def _marks(name: str) -> re.Pattern[str]:
    longest_first = sorted((mark for mark in markers(name) if len(mark) > 2), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)))


def rubbish(random: Random) -> str:
    """What text should not hold, or more of something than a bound allows."""
    if random.random() < 0.85:
        return random.choice(RUBBISH)
    unit = random.choice(("[", "{", '{"a":', "]", "}", " ", "\n", "\\", "`", "a", "9", "<", '"'))
    return unit * random.choice((3, 20, 65, 130, 260, 1030))


def piece(random: Random, name: str) -> str:
    """One piece of soup."""
    kind = random.random()
    if kind < 0.4:
        return random.choice(markers(name))
    if kind < 0.5:
        mark = random.choice(markers(name))
        return mark[: random.randrange(1, len(mark) + 1)] if kind < 0.47 else mark[random.randrange(len(mark)) :]
    if kind < 0.7:
        return random.choice(JSON)
    if kind < 0.84:
        return random.choice(TEXT)
    return random.choice(LAYOUT) if kind < 0.94 else rubbish(random)


def _soup(random: Random, name: str) -> str:
    return "".join(piece(random, name) for _ in range(random.choice((2, 4, 8, 16, 32))))


def _broken(random: Random, name: str) -> str:
    """A good output, or the halves of two, with some damage."""
    text = random.choice(texts(name))
    if random.random() < 0.3:
        other = random.choice(texts(name))
        text = text[: random.randrange(len(text) + 1)] + other[random.randrange(len(other) + 1) :]
    for _ in range(random.choice((0, 1, 1, 2, 3, 5))):
        text = _damage(random, name, text)
    return text


def _strained(random: Random, name: str) -> str:
    """A good output with something in it that is about as long or as deep as a bound allows."""
    text = random.choice(texts(name))
    spots = [match.end() for match in re.finditer(r'[:\[,"\n>`]', text)] or [0]
    at = random.choice(spots) if random.random() < 0.7 else random.randrange(len(text) + 1)
    many = random.choice(BOUNDS) + random.randrange(-3, 4)
    opening, closing = random.choice(STRAIN)
    middle = random.choice(("", "1", '"x"', "null"))
    return text[:at] + opening * many + middle + closing * (many if random.random() < 0.8 else 0) + text[at:]


def _damage(random: Random, name: str, text: str) -> str:
    spots = [match.span() for match in _marks(name).finditer(text)]
    at = random.randrange(len(text) + 1)
    kind = random.randrange(7)
    if spots and kind < 4:
        start, end = random.choice(spots)
        mark, rest = text[start:end], text[:start] + text[end:]
        at = min(at, len(rest))
        match kind:
            case 0:
                return rest
            case 1:
                return text[:at] + mark + text[at:]
            case 2:
                return rest[:at] + mark + rest[at:]
            case _:
                return text[:start] + random.choice(markers(name)) + text[end:]
    if kind == 4:
        return text[:at]
    if kind == 5:
        return text[:at] + text[at + random.choice((1, 1, 2, 8)) :]
    return text[:at] + piece(random, name) + text[at:]


def case_of(seed: int, number: int, name: str) -> Case:
    """The case of this number."""
    random = Random(f"{seed}/{name}/{number}")
    kind = random.random()
    if kind < 0.1:
        text = _strained(random, name)
    else:
        text = (_soup if kind < 0.55 else _broken)(random, name)[: LIMIT if random.random() < 0.9 else None]
    policy = Policy(random.random() < 0.1, random.random() >= 0.1)
    start = random.choice(get_dialect(name).starts) if random.random() < 0.5 else "content"
    tools = bool(toolset(name)) and random.random() < 0.5
    reason = random.choice((None, "stop", "length", "tool_calls"))
    return Case(name, text, start, tools, policy, reason)
