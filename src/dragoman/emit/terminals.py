"""Terminals in llguidance's Lark: regular expressions by name, with `&` (both) and `~` (not).

The notation is described in llguidance's ``docs/syntax.md``; inside slashes stands a Rust regular expression.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from .heads import inside
from .rules import Chars, Choice, Expr, Lexeme, Ref, Repeat, Sequence, Text
from .stretches import Stretch, unread

__all__ = ["Terminals", "count", "quoted"]

INLINE = 40
"""Characters of an expression that is written where it is used."""

ANY = "(?s:.)"


class Terminals:
    """Names terminals and collects their definitions; `plain` are the rules they refer to."""

    def __init__(self, plain: Mapping[str, Expr]) -> None:
        self.plain = plain
        self.lines: dict[str, str] = {}
        self._names: dict[Expr, str] = {}

    def use(self, item: Expr, hint: str) -> str:
        """How a terminal is written in a rule."""
        if isinstance(item, Text):
            return quoted(item.text)
        if isinstance(item, Lexeme) and not isinstance(item.item, Text):
            return self.use(item.item, hint)
        regex = self._regex(item)
        if regex is not None and len(regex) <= INLINE:
            return f"/{regex}/"
        return self._name(item, item.name if isinstance(item, Ref) else hint)

    def _name(self, item: Expr, hint: str) -> str:
        known = self._names.get(item)
        if known is None:
            known = self._fresh(hint)
            self._names[item] = known
            self.lines[known] = ""  # keeps its place before those it is made of
            self.lines[known] = self._written(self.plain[item.name] if isinstance(item, Ref) else item, hint, 0)
        return known

    def _fresh(self, hint: str) -> str:
        name, number = hint.upper(), 1
        while name in self.lines:
            name, number = f"{hint.upper()}_{number}", number + 1
        return name

    def _regex(self, item: Expr) -> str | None:
        """The expression as one between slashes, if it needs no names."""
        match item:
            case Text(text=text):
                return "".join(map(_char, map(ord, text)))
            case Chars():
                return _class(item)
            case Lexeme():
                return self._regex(item.item)
            case Repeat(item=inner, low=low, high=high):
                regex = self._regex(inner)
                single = isinstance(inner, Chars) or (isinstance(inner, Text) and len(inner.text) == 1)
                return None if regex is None else f"{regex if single else f'({regex})'}{count(low, high)}"
            case Sequence(items=items) | Choice(items=items):
                parts = [self._regex(part) for part in items]
                if None in parts:
                    return None
                if isinstance(item, Choice):
                    return f"({'|'.join(map(str, parts))})"
                return "".join(map(str, parts))
        return None

    def _written(self, item: Expr, hint: str, depth: int) -> str:
        """The expression in Lark's own terms: what has no name between slashes, the rest around it."""
        regex = self._regex(item)
        if regex is not None:
            return f"/{regex}/" if regex else '""'
        match item:
            case Sequence(items=items):
                return self._sequence(items, hint)
            case Choice(items=items):
                found = " | ".join(self._written(part, hint, 1) for part in items)
                return f"({found})" if depth else found
            case Repeat(item=inner, low=low, high=high):
                return f"({self._written(inner, hint, 0)}){count(low, high)}"
            case Ref(name=name):
                return self._name(item, name)
            case Stretch() if depth:
                return self._name(item, f"{hint}_TEXT")
            case Stretch():
                return self._stretch(item)
        return self._written(inside(item, self.plain)[0], hint, depth)

    def _sequence(self, items: tuple[Expr, ...], hint: str) -> str:
        found: list[str] = []
        run = ""
        for item in items:
            regex = self._regex(item)
            if regex is not None:
                run += regex
                continue
            found += [f"/{run}/"] if run else []
            run = ""
            found.append(self._written(item, hint, 1))
        return " ".join([*found, f"/{run}/"] if run else found)

    # Stretches of text: what ends in a word, less what has one before its end.

    def _stretch(self, stretch: Stretch) -> str:
        if stretch.runs is None:
            return _piece(stretch, ANY, stretch.ends)
        last = self._define("PROSE", _piece(stretch, "[^`]", stretch.ends))
        if not stretch.runs:
            return last
        # Text and code take turns. Behind code stands no backtick, which would make its last run longer, and behind a
        # span that its line ends, the end of that line.
        plain = self._define("PROSE", _piece(stretch, "[^`]", ()))
        more = self._define("PROSE_MORE", f"{plain} & /{ANY}+/")
        line = self._define("PROSE_LINE", f"{plain} & /\\n{ANY}*/")
        closed = self._define("CODE", " | ".join(self._closed(size) for size in range(1, stretch.runs + 1)))
        broken = self._define("CODE_LINE", _alternatives(_broken(size) for size in range(1, stretch.runs + 1)))
        turns = f"{plain} ({closed} {more} | {broken} {line})*"
        if not stretch.ends:
            open_ = self._define("CODE_OPEN", " | ".join(self._unclosed(size) for size in range(1, stretch.runs + 1)))
            return f"{turns} ({closed} | {open_})?"
        last_line = self._define("PROSE_LINE", f"{last} & /\\n{ANY}*/")
        return f"{last} | {turns} ({closed} {last} | {broken} {last_line})"

    def _define(self, name: str, written: str) -> str:
        """The name of a terminal so written, one for all that are."""
        known = next((each for each, line in self.lines.items() if line == written), None)
        if known is None:
            known = self._fresh(name)
            self.lines[known] = written
        return known

    @staticmethod
    def _closed(size: int) -> str:
        """Code that a run of backticks closes: on the line of the one that opened it, or at the beginning of one."""
        span = f"/`{{{size}}}[^`\\n]+({_other_run(size)}[^`\\n]+)*`{{{size}}}/"
        if size < FENCE:
            return span
        lines = f"(/\\n{ANY}*/ & /{ANY}*\\n`{{{size}}}/ & ~/{ANY}*\\n`{{{size}}}{ANY}+/)"
        return f"{span} | /`{{{size}}}[^`\\n]*/ {lines} /`*/"

    @staticmethod
    def _unclosed(size: int) -> str:
        span = f"/`{{{size}}}([^`\\n]+{_other_run(size)})*[^`\\n]*/"
        if size < FENCE:
            return span
        lines = f"(/\\n{ANY}*/ & ~/{ANY}*\\n`{{{size}}}{ANY}*/)"
        return f"{span} | /`{{{size}}}[^`\\n]*/ {lines}"


FENCE = 3
"""Backticks that open a fence, unless their line has others."""


def _broken(size: int) -> str:
    """A code span that nothing closes on its line; without other backticks, a fence is none."""
    return f"`{{{size}}}([^`\\n]+{_other_run(size)}){'*' if size < FENCE else '+'}[^`\\n]*"


def _other_run(size: int) -> str:
    return "``+" if size == 1 else f"(`{{1,{size - 1}}}|`{{{size + 1},}})"


def _alternatives(regexes: Iterable[str]) -> str:
    return f"/{'|'.join(regexes)}/"


def _piece(stretch: Stretch, char: str, ends: tuple[str, ...]) -> str:
    """Text of such characters in which the first word is one of the ends, at its end; or that has none."""
    words = _words(stretch.words)
    if not ends or stretch.cut:
        barred = unread(stretch, ends[0]) if ends else ()
        text = f"/{char}*/"
        if stretch.words:
            text += f" & ~/{ANY}*{words}{ANY}*/"
        return f"{text} & ~/{ANY}*{_words(barred)}/" if barred else text
    ways: dict[tuple[str, ...], list[str]] = {}
    for end in ends:
        longer = tuple(word for word in stretch.words if word.endswith(end) and word != end)
        ways.setdefault(longer, []).append(end)
    found = [
        f"/{char}*{_words(same)}/" + (f" & ~/{ANY}*{_words(longer)}/" if longer else "")
        for longer, same in ways.items()
    ]
    text = found[0] if len(found) == 1 else f"({' | '.join(found)})"
    return f"{text} & ~/{ANY}*{words}{ANY}+/"


def _words(words: Iterable[str]) -> str:
    written = ["".join(map(_char, map(ord, word))) for word in words]
    return written[0] if len(written) == 1 else f"({'|'.join(written)})"


NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
PLAIN = frozenset(" !\"#%',-:;<=>@_`")
"""Punctuation that means itself in an expression, also in a class but for the hyphen."""


def _char(code: int) -> str:
    char = chr(code)
    if char in NAMED:
        return NAMED[char]
    if char in PLAIN or (char.isascii() and char.isalnum()):
        return char
    return rf"\x{{{code:x}}}" if not 0x20 <= code < 0x7F else f"\\{char}"


def _class(item: Chars) -> str:
    parts = []
    for low, high in item.ranges:
        low, high = low if not _surrogate(low) else 0xE000, high if not _surrogate(high) else 0xD7FF
        if low <= high:
            parts.append(_in_class(low) + (f"-{_in_class(high)}" if high > low else ""))
    if not parts:
        return ANY if item.negated else r"[^\x{0}-\x{10ffff}]"
    return f"[{'^' if item.negated else ''}{''.join(parts)}]"


def _in_class(code: int) -> str:
    return r"\-" if code == 0x2D else _char(code)


def _surrogate(code: int) -> bool:
    return 0xD800 <= code <= 0xDFFF


def quoted(text: str) -> str:
    """A string literal, escaped as in JSON."""
    return json.dumps(text, ensure_ascii=False)


def count(low: int, high: int | None) -> str:
    """How often, behind what is repeated."""
    match low, high:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
    return f"{{{low},{'' if high is None else high}}}" if low != high else f"{{{low}}}"
