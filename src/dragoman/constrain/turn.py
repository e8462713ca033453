"""A whole turn as rules: thoughts, text and calls in the order that the dialect writes them, as far as asked for.

Each part goes on with what may follow it, so the rules are right-recursive: a text is everything up to the first
marker, and the marker says what comes next. A marker that must not come there is one that no text can hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..emit.book import Book
from ..emit.rules import EMPTY, Chars, Expr, Ref, Repeat, Scan, Sequence, choice, sequence
from ..errors import InvalidRequest
from ..idioms.turns import MENTIONING
from .calls import layout_text
from .layout import CALL, END, START, TEXT, THOUGHT, Layout
from .request import Constraints
from .triggers import GAP, pieces

__all__ = ["Turn", "bare"]

_SPACE = " \t\r\n"


class Turn:
    """Makes the rules of a turn; `call` is any of the calls, `answer` stands for a text where its form is given."""

    def __init__(self, layout: Layout, asked: Constraints, book: Book, call: Expr | None, answer: Expr | None) -> None:
        self.layout, self.asked, self.book = layout, asked, book
        self.call, self.answer = call, answer
        self.required = asked.choice.mode == "required"
        self._names: dict[tuple[str, bool, str], str] = {}
        self._ways: dict[tuple[str, bool], list[tuple[str, str]]] = {}
        self.bare = bare(layout)
        for word in layout.barred if answer is None else ():
            book.narrowed("text", "", f"no text holds {word!r}, at which its reader would look for a call")

    def root(self) -> Expr:
        """What the model may write from where the prompt leaves it."""
        if self.asked.start == "reasoning":
            return self._closed() if self.asked.scope == "answer" else self._part(THOUGHT, False)
        if self.asked.scope == "answer":
            if self.asked.reasoning == "required" and THOUGHT in self.layout.kinds:
                return self._closed()
            begins = [then for then, _ in self._next(START, False) if then != THOUGHT]
            direct = self._after(START, False, begins)
            return choice(direct, self._closed()) if THOUGHT in self.layout.kinds else direct
        return self._after(START, False)

    def lazy(self, openers: Iterable[str]) -> Expr:
        """A call from its opener on, and what may follow it."""
        called = self._part(CALL, True)
        return choice(*(sequence(*self._loosely(opener), called) for opener in openers))

    def _loosely(self, opener: str) -> list[Expr]:
        """An opener with any layout in it, as its trigger's pattern has it."""
        gap = self.book.rule("gap", Repeat(_one_of(_SPACE), 0, GAP))
        first, *rest = pieces(opener)
        return [layout_text(first), *(part for piece in rest for part in (gap, layout_text(piece)))]

    def _closed(self) -> Expr:
        """What follows the marker that closes a thought."""
        ways = [(self._split(THOUGHT, text), then) for then, text in self._next(THOUGHT, False) if text]
        after = [sequence(layout_text(rest), self._enter(THOUGHT, then, False)) for (_, rest), then in ways]
        if not after:
            raise InvalidRequest("scope", "an answer that is possible behind thoughts", self.asked.scope)
        return choice(*after)

    def _next(self, kind: str, called: bool) -> list[tuple[str, str]]:
        """What may come after a part, with the text before it."""
        known = self._ways.get((kind, called))
        if known is None:
            known = [(then, text) for then, text in self.layout.after(kind) if self._may(kind, then, called)]
            self._ways[kind, called] = known
        return known

    def _may(self, kind: str, then: str, called: bool) -> bool:
        asked = self.asked
        called = called or kind == CALL
        if asked.reasoning == "required" and kind == START and then not in (THOUGHT, END):
            return False
        if then == CALL:
            return self.call is not None and (asked.parallel or not called)
        if then == END:
            return self._ends(kind, called)
        if then == THOUGHT:
            allowed = asked.reasoning != "none" and (not self.required or (kind == START and asked.lead_in != "none"))
            return allowed and (self.answer is None or kind == START)
        if self.answer is not None:
            return then == TEXT and kind in (START, THOUGHT)
        return not self.required or (not called and isinstance(asked.lead_in, int) and kind in (START, THOUGHT))

    def _ends(self, kind: str, called: bool) -> bool:
        """May the output end behind such a part."""
        if self.required:
            return called
        if self.answer is not None:
            return kind in (CALL, TEXT)
        return kind != START or self.asked.reasoning != "required"

    def _after(self, kind: str, called: bool, kinds: Iterable[str] | None = None) -> Expr:
        """What may come after a part that says itself where it ends."""
        ways = [
            sequence(layout_text(text), self._enter(kind, then, called))
            for then, text in self._next(kind, called)
            if kinds is None or then in kinds
        ]
        if not ways and kind == START and self.asked.reasoning == "required":
            raise InvalidRequest("reasoning", "one that the dialect can write, and that may stand there", "required")
        if not ways:
            raise InvalidRequest("tool_choice", "something that the dialect can write", self.asked.choice.mode)
        return choice(*ways)

    def _enter(self, kind: str, then: str, called: bool) -> Expr:
        """A part with all that follows it."""
        called = called or kind == CALL
        if then == END:
            return EMPTY
        if then == THOUGHT and kind != START and self.layout.mentions:
            reason = "one within the turn does not begin as a marker or a mention of thoughts does"
            self.book.narrowed("thought", "", reason)
            return self._part(then, called, MENTIONING)
        if then == TEXT and self.bare and self.answer is None and not self._limited(then):
            reason = f"no line of text begins with {' or '.join(self.bare)}, which begins a call"
            self.book.narrowed("text", "", reason)
            return self._part(then, called, _SPACE + "".join(self.bare))
        return self._part(then, called)

    def _part(self, kind: str, called: bool, never: str = "") -> Ref:
        """The rule of a part with all that follows it; none of the characters `never` begins it."""
        known = self._names.get((kind, called, never))
        if known is None:
            hint = f"{kind}-after-call" if called else kind
            known = self._names[kind, called, never] = self.book.name(f"{hint}-apart" if never else hint)
            rule = self._beginning(kind, called, never) if never else self._rule(kind, called)
            self.book.define(known, rule)
        return Ref(known)

    def _rule(self, kind: str, called: bool) -> Expr:
        if kind == CALL:
            assert self.call is not None
            return sequence(self.call, self._after(CALL, called))
        if kind != THOUGHT and self.answer is not None:
            return sequence(self.answer, self._after(kind, called))
        if self._limited(kind):
            return sequence(self._short(), self._after(kind, called))
        return self._scan(kind, called)

    def _limited(self, kind: str) -> bool:
        return self.required and kind != THOUGHT and kind != CALL

    def _short(self) -> Expr:
        """Text of a bounded length before a call that has to come."""
        assert isinstance(self.asked.lead_in, int)
        firsts = {mark[0] for mark in self.layout.marks} | ({"`"} if self.layout.prose else set()) | set(self.bare)
        shown = "".join(sorted(firsts))
        self.book.narrowed("lead_in", "", f"text before the call holds none of {shown}")
        return Repeat(_none_of(firsts), 0, self.asked.lead_in)

    def _scan(self, kind: str, called: bool) -> Scan:
        """Free text up to a marker, and what that marker begins."""
        marks = self.layout.thought_marks if kind == THOUGHT else self.layout.marks
        ways: dict[str, list[Expr]] = {mark: [] for mark in marks}
        ends = False
        for then, text in self._next(kind, called):
            if then == END and not text.strip(_SPACE):
                ends = True
                continue
            word, rest = self._split(kind, text)
            ways.setdefault(word, []).append(sequence(layout_text(rest), self._enter(kind, then, called)))
        for bare in self.bare if kind != THOUGHT else ():
            ways.setdefault(f"\n{bare}", [])
        words = tuple((word, choice(*after) if after else None) for word, after in _prefix_free(ways))
        code = kind != THOUGHT and self.layout.prose and not self._are_control(words)
        return Scan(words, open=ends, code=code, marks=frozenset(word for word, _ in words))

    def _are_control(self, words: Iterable[tuple[str, Expr | None]]) -> bool:
        """Whether all that may end a text are control tokens, which no code quotes.

        Where only some are, none stands in code: that is less than a parser reads, and nothing that it reads otherwise.
        """
        ends = [word for word, then in words if then is not None]
        alone = self.asked.control.keys() - set(self.layout.dialect.spelled)
        return bool(ends) and alone.issuperset(ends)

    def _split(self, kind: str, text: str) -> tuple[str, str]:
        """The marker that ends a text, and what stands behind it; whitespace before it is the text's own."""
        found = [(text.index(mark) + len(mark), mark) for mark in self.layout.marks if mark in text]
        if found:
            end, word = min(found)
            return word, text[end:]
        if not text.strip(_SPACE):
            raise InvalidRequest("dialect", "a marker behind every text that is not the last", kind)
        head = text.lstrip(_SPACE)
        letters = len(head) - len(head.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        if letters:
            return head[: letters + 1], head[letters + 1 :]
        return f"\n{head[0]}", head[1:]

    def _beginning(self, kind: str, called: bool, never: str) -> Expr:
        """A text that none of these characters begins; or a marker at once, or the end."""
        rule = self._scan(kind, called)
        ways: list[Expr] = [sequence(layout_text(word), then) for word, then in rule.words if then is not None]
        firsts = {word[0] for word, _ in rule.words}
        begun = Sequence((_none_of(firsts.union(never)), self._part(kind, called)))
        return choice(*([EMPTY] if rule.open else []), *ways, begun)


def _one_of(chars: Iterable[str]) -> Chars:
    return Chars(tuple((code, code) for code in sorted({ord(char) for char in chars})))


def _none_of(chars: Iterable[str]) -> Chars:
    return Chars(tuple((code, code) for code in sorted({ord(char) for char in chars})), negated=True)


def bare(layout: Layout) -> tuple[str, ...]:
    """The brackets with which calls begin that no marker announces."""
    text = layout.between.get((START, CALL), "")
    head = text.lstrip(_SPACE)
    marked = any(mark in text for mark in layout.marks) or not head or head[0].isalpha()
    return () if marked else (head[0],)


def _prefix_free(ways: dict[str, list[Expr]]) -> Iterator[tuple[str, list[Expr]]]:
    """The words without those that another one's end would always come before."""
    for word, after in ways.items():
        if not any(other != word and other in word[:-1] for other in ways):
            yield word, after
