"""Realistic text, and a tokenizer's way of cutting it: the same every time, without a vocabulary.

The prose is about programs, so that it holds what makes life hard for a parser: code, comparisons, HTML tags,
quotes, backticks and newlines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import cycle, islice
from random import Random

__all__ = ["cut", "prose", "records"]

SENTENCES = (
    "The first version of the cache kept every entry until the process ended, which nobody noticed for a year.",
    "If the queue holds fewer than eight items, the worker sleeps for a moment and looks again.",
    'She called it "good enough for now", and for once that was true.',
    "Note that a < b does not imply f(a) < f(b): the rounding is not monotone near zero.",
    "Measure before you change anything, since the slow part is rarely where one expects it.",
    "The parser returns a list, not a generator; callers rely on its length.",
    'A page that says <p class="note">don\'t panic</p> is still a page, and must be kept as it is.',
    "Between 3:10 and 3:50 there were eighty lines with the same timestamp, all from one machine.",
    "You could also use `sorted(items, key=len)`, which is shorter and just as fast.",
    "In that case the response is 404 and the body is empty; the client retries twice and gives up.",
    "That leaves the question of locking: one writer and many readers need no lock at all here.",
    "It's the caller's job to close the file, even when an exception is raised half-way.",
    "With n = 2,048 the difference is about 12 %, with n = 32,768 it is a factor of nine.",
    "Nothing is lost when the connection breaks; the journal is replayed at the next start.",
)
"""What paragraphs are made of; about one in three holds a marker's first character."""

CODE = (
    "```python\ndef area(width: float, height: float) -> float:\n    if width < 0 or height < 0:\n"
    '        raise ValueError("negative size")\n    return width * height\n```\n',
    "```bash\ngrep -c 'status=500' access.log | sort -n | tail -n 3\n```\n",
    '```html\n<ul>\n  <li><a href="/one">One</a></li>\n  <li>Two &lt; three</li>\n</ul>\n```\n',
    "- check the index\n- rebuild it if the count is < 100\n- tell the others\n",
)
"""What stands between paragraphs now and then."""

PASSAGE = 900
"""Chunks before the text begins anew; the shortest output has it twice."""

NAMES = ("alpha", "beta", "gamma", "delta", "window", "sensor", "kitchen", "harbour", "engine", "library")

_piece = re.compile(
    r"""
      \ ?[A-Za-z]{6}(?=[a-z]{3})  # a long word in pieces
    | \ ?[A-Za-z]+                # a word, or what is left of it
    | \ ?\d{1,3}                  # figures
    | \\.                         # a JSON escape
    | \n+\ *                      # lines and what they are indented by
    | \ ?[^\w\s]{1,2}             # punctuation
    | [\ \t]+ | .
    """,
    re.VERBOSE | re.DOTALL,
).match


def paragraphs(seed: int) -> Iterator[str]:
    """Text without end: paragraphs of some sentences, and code after every third or so."""
    random = Random(seed)
    while True:
        yield " ".join(random.sample(SENTENCES, random.randrange(2, 6))) + "\n\n"
        if random.random() < 0.3:
            yield random.choice(CODE) + "\n"


@cache
def _passage(seed: int) -> tuple[str, ...]:
    found: list[str] = []
    for paragraph in paragraphs(seed):
        found += cut(paragraph)
        if len(found) >= PASSAGE:
            return tuple(found)
    raise AssertionError("text never ends")


def prose(chunks: int, seed: int = 0) -> tuple[str, ...]:
    """So many chunks of text: a passage again and again, so that long and short texts are of the same kind."""
    return tuple(islice(cycle(_passage(seed)), chunks))


def records(seed: int = 0) -> Iterator[str]:
    """Small JSON objects without end, as a model lists rows; like prose they come again."""
    return cycle(list(_records(seed)))


def _records(seed: int) -> Iterator[str]:
    random = Random(seed)
    for _ in range(PASSAGE // 30):
        name, number = random.choice(NAMES), random.randrange(1000)
        flag, score = random.choice(("true", "false", "null")), random.randrange(1, 1000) / 10
        tags = ", ".join(f'"{tag}"' for tag in random.sample(NAMES, 2))
        yield f'{{"id": {number}, "name": "{name}", "ok": {flag}, "score": {score}, "tags": [{tags}]}}'


def cut(text: str, markers: tuple[str, ...] = ()) -> list[str]:
    """The text in chunks: a space and a piece of a word, figures, punctuation, layout, and each marker whole."""
    marks = re.compile("|".join(map(re.escape, sorted(markers, key=len, reverse=True))) or "(?!)")
    found: list[str] = []
    at = 0
    while at < len(text):
        match = marks.match(text, at) or _piece(text, at)
        assert match is not None
        found.append(match.group())
        at = match.end()
    return found
