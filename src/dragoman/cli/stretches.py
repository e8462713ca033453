"""A rendered conversation in stretches, each of one owner, and the tables of them and of the tokens.

Stretches are the renderer's spans, cut around every control token. They count tokens, or characters where there is
no tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import asdict
from rich.console import Console
from rich.text import Text

from ..render import Rendered, Span
from ..segments import NOBODY, Kind
from ..tokenizers import TokenDecoder, Tokenizer, decode
from .looks import LOOKS
from .output import table
from .spans import quoted

__all__ = ["CONTROL", "STYLES", "Page", "Stretch", "stretch_table", "token_table"]

CONTROL = "control"
"""What a control token is called that is no stop marker."""

STYLES: dict[str, str] = {
    CONTROL: LOOKS["markup"].style,
    Kind.STOP: LOOKS["stop"].style,
    Kind.MARKUP: "blue",
    Kind.TEXT: "",
    Kind.THINKING: LOOKS["reasoning"].style,
    Kind.CALL: LOOKS["arguments"].style,
    Kind.RESULT: "cyan",
    Kind.TOOLS: "yellow",
}
"""How each kind is dressed in a terminal, in the order of legends."""


class Stretch(Struct, frozen=True):
    """Neighbouring tokens of one owner; ``weight`` is what they train with, if that was asked."""

    start: int
    end: int
    kind: str
    control: bool
    message: int
    part: int
    sampled: bool
    weight: float | None
    text: str

    @property
    def marked(self) -> bool:
        """Whether it is trained on; where nothing is, whether the model would sample it."""
        return self.sampled if self.weight is None else self.weight != 0

    @property
    def word(self) -> str:
        """What it is called in a table and in a legend."""
        return CONTROL if self.control and self.kind == Kind.MARKUP else self.kind


class Page(Struct, frozen=True):
    """A rendered conversation with what it is shown by: the weights, if asked for, and where a prompt begins.

    `counts` says whether it has a tokenizer of its own, so that tokens can be counted and ids shown.
    """

    rendered: Rendered
    tokenizer: Tokenizer
    counts: bool
    weights: Sequence[float] | None = None
    prompt_at: int | None = None

    def stretches(self) -> list[Stretch]:
        """All of it, in order."""
        control = frozenset(self.tokenizer.control.values())
        decoder, ids = TokenDecoder(self.tokenizer), self.rendered.ids
        found: list[Stretch] = []
        at = 0
        for span, start, end in _cut(self.rendered.spans, [token in control for token in ids]):
            text = decoder.feed(ids[start:end]) + (decoder.finish() if end == len(ids) else "")
            begins, ends = (start, end) if self.counts else (at, at + len(text))
            at += len(text)
            found.append(
                Stretch(
                    start=begins,
                    end=ends,
                    kind=span.kind.value,
                    control=ids[start] in control,
                    message=span.message,
                    part=span.part,
                    sampled=span.sampled,
                    weight=None if self.weights is None else self.weights[start],
                    text=text,
                )
            )
        return found

    def written(self) -> list[dict[str, object]]:
        """The stretches as JSON has them: nobody is null, and there is no weight where none was asked for."""
        found = []
        for each in self.stretches():
            fields = asdict(each)
            for name in ("message", "part"):
                fields[name] = None if fields[name] == NOBODY else fields[name]
            if each.weight is None:
                del fields["weight"]
            found.append(fields)
        return found

    def role(self, message: int) -> str:
        """The role of a message, empty for what is nobody's."""
        return self.rendered.messages[message].role if message != NOBODY else ""


def _cut(spans: Sequence[Span], control: Sequence[bool]) -> Iterator[tuple[Span, int, int]]:
    """The spans, each control token apart."""
    for span in spans:
        for _, group in groupby(range(span.start, span.end), lambda k: k if control[k] else NOBODY):
            own = list(group)
            yield span, own[0], own[-1] + 1


def stretch_table(console: Console, page: Page) -> None:
    """The stretches one a line: where they are, whose they are, what they are, what is written."""
    trains = page.weights is not None
    rows = [
        (
            str(each.start),
            str(each.end),
            _numbered(each.message, page.role(each.message)),
            _numbered(each.part),
            _dressed(each.word),
            _told(each),
            Text(quoted(each.text), style=STYLES[each.word]),
        )
        for each in page.stretches()
    ]
    table(console, ("start", "end", "message", "part", "kind", "weight" if trains else "sampled", "text"), rows)


def token_table(console: Console, page: Page) -> None:
    """The tokens one a line."""
    rows = []
    for stretch in page.stretches():
        for k in range(stretch.start, stretch.end):
            token = page.rendered.ids[k]
            text = Text(quoted(decode(page.tokenizer, [token])), style=STYLES[stretch.word])
            whose = _numbered(stretch.message, page.role(stretch.message))
            rows.append((str(k), str(token), _told(stretch), whose, _dressed(stretch.word), text))
    trains = page.weights is not None
    table(console, ("token", "id", "weight" if trains else "sampled", "message", "kind", "text"), rows)


def _numbered(index: int, word: str = "") -> str:
    return f"{index} {word}".rstrip() if index != NOBODY else "-"


def _dressed(word: str) -> Text:
    return Text(word, style=STYLES[word])


def _told(stretch: Stretch) -> Text:
    told = "yes" if stretch.sampled else "-"
    if stretch.weight is not None:
        told = f"{stretch.weight:g}"
    return Text(told, style="bold green" if stretch.marked else "dim")
