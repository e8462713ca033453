"""Token ids to events: control tokens are matched by id, the same characters in ordinary tokens are text.

Ids become text in which control tokens are raised (`dragoman.grammar.raised`), which the dialect's own machine reads,
its markers raised likewise; so there is one parser for text and for ids. A marker that the tokenizer has no token for
is matched as text, and so is one that the dialect says models also spell out (`Dialect.spelled`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import accumulate, groupby
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from ..dialect import Dialect
from ..events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    ContentDelta,
    Event,
    Malformed,
    Markup,
    Problem,
    ReasoningDelta,
    Stop,
)
from ..grammar.raised import has_raised, literals, lowered, raised, raised_grammar
from ..kept import keep
from ..tokenizers import Tokenizer, control_pattern, one_of
from .decode import Utf8

__all__ = ["TONGUES", "Label", "Tongue", "labels_of", "lowered_events", "tongue_of"]


class Label(StrEnum):
    """What a sampled token is."""

    REASONING = "reasoning"
    CONTENT = "content"
    NAME = "name"
    """The head of a call: its name and what leads to it."""
    ARGUMENTS = "arguments"
    MARKUP = "markup"
    STOP = "stop"
    MALFORMED = "malformed"
    """Of a region that could not be read."""


class Tongue:
    """A dialect as it is spoken in the tokens of one tokenizer."""

    def __init__(self, dialect: Dialect, tokenizer: Tokenizer) -> None:
        spelled = (*dialect.marks, *dialect.stops, *dialect.turns, *dialect.others, *literals(dialect.grammar))
        everything = control_pattern(tokenizer)
        named = {token for text in spelled for token in everything.findall(text)}
        tokens = tuple(sorted(named.difference(dialect.spelled)))
        self._control = one_of(tokens)
        self.table = _Table(tokenizer, {tokenizer.control[token]: raised(token) for token in tokens})
        self.dialect = replace(
            dialect,
            grammar=raised_grammar(dialect.grammar, tokens, self._control),
            thoughts=None,
            **{field: tuple(map(self.raise_text, getattr(dialect, field))) for field in ("stops", "turns", "others")},
        )

    def raise_text(self, text: str) -> str:
        """A rendered text, in which control tokens are spelled, with them raised."""
        return self._control.sub(lambda found: raised(found.group()), text)

    def raise_ids(self, ids: Sequence[int]) -> str:
        """The text of whole ids, with control tokens raised."""
        pieces = self.text(ids, utf8 := Utf8()) + utf8.finish()
        return "".join([piece for piece in pieces if isinstance(piece, str)])

    def text(self, ids: Sequence[int], utf8: Utf8, *, cut: bool = False) -> list[str | bytes]:
        """The text of ids, `cut` if `utf8` holds a part of a character; bytes stand behind each U+FFFD put in for one.

        Raises `UnknownToken`. Linear.
        """
        table = self.table
        if not cut:
            try:
                return ["".join([table[token] for token in ids])]  # type: ignore[misc]
            except TypeError:
                pass  # there are bytes among them
        out: list[str | bytes] = []
        for token in ids:
            piece = table[token]
            if isinstance(piece, bytes):
                out += utf8.feed(piece)
                cut = utf8.holds
            elif cut:
                out += [*utf8.finish(), piece]
                cut = False
            else:
                out.append(piece)
        return _joined(out)

    def ends(self, ids: Iterable[int]) -> list[int]:
        """Where in the text each token ends, in whole characters."""
        table = self.table
        pieces = [table[token] for token in ids]
        lengths = list(map(len, pieces))
        utf8, cut = Utf8(), False
        for at, piece in enumerate(pieces):  # those that are bytes, and the one behind them
            if isinstance(piece, bytes):
                lengths[at] = sum(len(one) for one in utf8.feed(piece) if isinstance(one, str))
                cut = utf8.holds
            elif cut:
                lengths[at] += sum(len(one) for one in utf8.finish() if isinstance(one, str))
                cut = False
        return list(accumulate(lengths))


def _joined(pieces: list[str | bytes]) -> list[str | bytes]:
    """The same, with neighbouring texts as one; linear."""
    if len(pieces) < 2:
        return pieces
    joined: list[str | bytes] = []
    for is_text, same in groupby(pieces, lambda piece: isinstance(piece, str)):
        if is_text:
            joined.append("".join(same))  # type: ignore[arg-type]
        else:
            joined.extend(same)
    return joined


class _Table(dict[int, "str | bytes"]):
    """What each token is fed as, its bytes where they are no whole characters; found when it is first met.

    The `plain` ones are ordinary text: whole characters, none of them raised.
    """

    def __init__(self, tokenizer: Tokenizer, raised_ids: dict[int, str]) -> None:
        super().__init__(raised_ids)
        self._bytes = tokenizer.token_bytes
        self.plain: dict[int, str] = {}

    def __missing__(self, token: int) -> str | bytes:
        written = self._bytes(token)
        try:
            known = self[token] = self.plain[token] = written.decode("utf-8")
        except UnicodeDecodeError:
            self[token] = written
            return written
        return known


TONGUES = 256
"""Dialects that are kept prepared for a tokenizer: forced calls make a dialect of their own each."""

_tongues: WeakKeyDictionary[Tokenizer, dict[int, tuple[Dialect, Tongue]]] = WeakKeyDictionary()


def tongue_of(dialect: Dialect, tokenizer: Tokenizer) -> Tongue:
    """The dialect in the tokens of a tokenizer; made once for each."""
    known = _tongues.setdefault(tokenizer, {})
    found = known.get(id(dialect))
    if found is None:
        found = keep(known, id(dialect), (dialect, Tongue(dialect, tokenizer)), TONGUES)
    return found[1]


def lowered_events(events: list[Event]) -> list[Event]:
    """The events with control tokens spelled out again."""
    return [_lowered(event) for event in events]


def _lowered(event: Event) -> Event:
    match event:
        case Markup(text=text) | ContentDelta(text=text) | ReasoningDelta(text=text) | Malformed(text=text):
            return replace(event, text=lowered(text)) if _is_up(text) else event
        case Stop(marker=str() as marker):
            return replace(event, marker=lowered(marker)) if _is_up(marker) else event
        case ArgumentsDelta(json=json):
            return replace(event, json=lowered(json)) if _is_up(json) else event
        case Problem():
            return replace(event, raw=lowered(event.raw), detail=lowered(event.detail))
        case CallEnd(problems=problems, id=id):
            found = tuple(replace(one, raw=lowered(one.raw), detail=lowered(one.detail)) for one in problems)
            return replace(event, problems=found, id=lowered(id) if id else id)
        case CallBegin(name=name, id=id):
            return replace(event, name=lowered(name), id=lowered(id) if id else id)
        case _:
            return event


def _is_up(text: str) -> bool:
    return not text.isascii() and has_raised(text) is not None


_LABELS: dict[type, Label] = {
    ReasoningDelta: Label.REASONING,
    ContentDelta: Label.CONTENT,
    CallBegin: Label.NAME,
    ArgumentsDelta: Label.ARGUMENTS,
    Stop: Label.STOP,
    Malformed: Label.MALFORMED,
}


def labels_of(events: Iterable[Event], ends: Sequence[int]) -> list[Label]:
    """What each token is, given where it ends in the text; as far as events tell.

    A token with characters of several kinds is the first of them that is no markup; one whose bytes are only a part of
    a character is what that character is. Linear.
    """
    kinds = [(event.end, _LABELS.get(type(event), Label.MARKUP)) for event in events if event.end > event.start]
    out: list[Label] = []
    at, k = 0, 0
    for end in ends:
        while k < len(kinds) and kinds[k][0] <= at:
            k += 1
        if k == len(kinds):
            break
        label, here = kinds[k][1], k
        while label is Label.MARKUP and kinds[here][0] < end and here + 1 < len(kinds):
            here += 1
            label = kinds[here][1]
        out.append(label)
        at = end
    return out
