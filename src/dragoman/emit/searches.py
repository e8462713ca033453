"""Text up to a delimiter that is left to what follows it, as a `Scan` that reads it and goes on behind it.

The reader's `until` leaves its delimiter; an engine that is told "text without the delimiter, then the delimiter" takes
the wrong one wherever the text ends like its beginning. So each `until` becomes a scan with what is left of its
continuation behind the delimiter, once all rules are known. Where text must not be empty, or has been begun by what
stands before it, its first characters are written out as rules.
"""

from __future__ import annotations

from msgspec import Struct, structs

from .book import Book
from .classes import ANY, ranges_of
from .residue import Residues, Unknown
from .rules import EMPTY, Chars, Choice, Expr, Ref, Repeat, Scan, choice, sequence

__all__ = ["Searches"]


class _Search(Struct, frozen=True):
    """An `until`, what follows, and where it stands; `code` may hide its delimiters; `some` text must be there."""

    delimiters: tuple[str, ...]
    then: Expr
    some: bool
    code: bool
    where: str


class _Begun(Struct, frozen=True):
    """A search behind these characters, with which a delimiter begins; one that begins where a `fresh` text does is
    barred."""

    search: _Search
    read: str
    fresh: bool


class _Ahead(Struct, frozen=True):
    """One of these words is what follows begins with."""

    words: tuple[str, ...]
    then: Expr
    where: str


class Searches:
    """The rules for text and for what is looked at ahead, under names that are given out before they are known."""

    def __init__(self, book: Book, marks: frozenset[str]) -> None:
        self._book, self._marks = book, marks
        self._known: dict[str, _Search | _Ahead | _Begun] = {}
        self._names: dict[_Search | _Ahead | _Begun, Ref] = {}
        self._residues = Residues(self._rule, self._behind)

    def until(self, delimiters: tuple[str, ...], then: Expr, where: str, *, some: bool, code: bool) -> Ref:
        """Text up to a delimiter or the end, and what follows."""
        return self._name("text", _Search(delimiters, then, some, code, where))

    def ahead(self, words: tuple[str, ...], then: Expr, where: str) -> Ref:
        """What follows, if it begins with one of these words."""
        return self._name("ahead", _Ahead(words, then, where))

    def settle(self) -> None:
        """Write the rules, when all others are known."""
        done: set[str] = set()
        while names := self._known.keys() - done:
            for name in sorted(names):
                done.add(name)
                self._book.define(name, self._written(name, self._known[name]))

    def _name(self, hint: str, part: _Search | _Ahead | _Begun) -> Ref:
        if part not in self._names:
            self._names[part] = Ref(self._book.name(hint))
            self._known[self._names[part].name] = part
        return self._names[part]

    # What is asked about them

    def _rule(self, name: str) -> Expr:
        """A rule, or what is empty if that rule is."""
        part = self._known.get(name)
        if isinstance(part, _Search) and not part.some:
            return part.then
        return self._book.rules[name] if part is None else ANY

    def _behind(self, name: str, read: str) -> list[Expr] | None:
        """What may follow these characters, which the text begins with."""
        part = self._known.get(name)
        if isinstance(part, _Ahead):
            return [each for word in part.words for each in self._behind_word(part.then, word, read)]
        return self._behind_text(part, read) if isinstance(part, _Search) else None

    def _behind_text(self, part: _Search, read: str) -> list[Expr]:
        for k in range(len(read)):
            word = _ended(part.delimiters, read[: k + 1])
            if word:
                barred = part.some and len(word) == k + 1
                return [] if barred else self._residues.behind(part.then, read[k + 1 - len(word) :])
        return [self._goes_on(part, read, fresh=part.some)]

    def _behind_word(self, then: Expr, word: str, read: str) -> list[Expr]:
        if not word.startswith(read):
            return self._residues.behind(then, read) if read.startswith(word) else []
        return [sequence(word[len(read) :], each) for each in self._residues.behind(then, word)]

    # Their rules

    def _written(self, name: str, part: _Search | _Ahead | _Begun) -> Expr:
        search = part.search if isinstance(part, _Begun) else part
        try:
            if isinstance(search, _Ahead):
                return choice(*(each for word in search.words for each in self._behind_word(search.then, word, "")))
            return (
                self._begun(search, part.read, part.fresh) if isinstance(part, _Begun) else self._search(name, search)
            )
        except Unknown:
            self._book.relaxed("lookahead", search.where, "what follows is not known inside a recursive rule")
            if isinstance(search, _Ahead):
                return search.then
            never = tuple((word, None) for word in search.delimiters)
            return sequence(Scan(never, open=True, code=search.code) if never else Repeat(ANY), search.then)

    def _search(self, name: str, part: _Search) -> Expr:
        words, is_open = self._words(part)
        if part.some and not self._is_turn_of(name, part.then):
            if not part.code:
                return self._begun(part, "", fresh=True)
            self._book.relaxed("some text", part.where, "text in which code counts may be empty here")
        if not words:
            return Repeat(ANY) if is_open else Choice(())
        return Scan(tuple(words.items()), is_open, part.code, self._marks.intersection(words))

    def _is_turn_of(self, name: str, then: Expr) -> bool:
        """Whether it is an item of the very repetition that goes on behind it, so that it need not be there."""
        loop = self._book.rules.get(then.name) if isinstance(then, Ref) else None
        return isinstance(loop, Choice) and Ref(name) in loop.items

    def _words(self, part: _Search) -> tuple[dict[str, Expr | None], bool]:
        """What goes on from each delimiter, and whether the text may end before any."""
        behind = ((word, self._residues.behind(part.then, word)) for word in part.delimiters)
        words = {word: choice(*found) if found else None for word, found in behind}
        return words, self._residues.empty(part.then)

    def _goes_on(self, part: _Search, read: str, fresh: bool) -> Ref:
        """The text behind what has been read; `fresh` if that began it, and it must not begin with a delimiter."""
        if not fresh or not any(word.startswith(read) for word in part.delimiters):
            fresh, read = False, _kept(part.delimiters, read)
        if read and part.code:
            self._book.narrowed("first occurrence", part.where, f"a delimiter that {read!r} has begun is not seen")
        if read and not part.code:
            return self._name("text", _Begun(part, read, fresh))
        return self._name("text", structs.replace(part, some=False))

    def _begun(self, part: _Search, read: str, fresh: bool) -> Expr:
        """Where each character leads with which a delimiter begins or goes on, and all others."""
        words, is_open = self._words(part)
        telling = sorted(set("".join(words)))
        items: list[Expr] = []
        for char in telling:
            ended = _ended(part.delimiters, read + char)
            goes_on = words[ended] if ended else self._goes_on(part, read + char, fresh)
            if goes_on is not None and not (fresh and ended == read + char):
                items.append(sequence(char, goes_on))
        items.append(sequence(_but(telling), self._goes_on(part, "", fresh=False)))
        return choice(*items, *([EMPTY] if is_open and read else []))


def _ended(words: tuple[str, ...], read: str) -> str:
    """The longest word that ends here; none is the empty one."""
    return max((word for word in words if read.endswith(word)), key=len, default="")


def _kept(words: tuple[str, ...], read: str) -> str:
    """The longest end of a text with which a word begins."""
    ends = (read[k:] for k in range(len(read)))
    return next((end for end in ends if any(word.startswith(end) for word in words)), "")


def _but(others: list[str]) -> Chars:
    return Chars(ranges_of("".join(others)), negated=True)
