"""Judges `Parser.feed_bytes`: any bytes, cut anywhere, are read as the text they decode to."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from zlib import crc32

from dragoman.events import Event, Problem, ProblemKind, merge

from .case import Broken, Case, feed_all
from .promises import judged

__all__ = ["bytes_of", "judge_bytes"]


def bytes_of(text: str, random: Random) -> bytes:
    """A text in UTF-8, with bytes of anything else in it."""
    raw = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(random.choice((0, 1, 2, 5, 20))):
        at = random.randrange(len(raw) + 1)
        match random.randrange(3):
            case 0:
                raw[at:at] = random.randbytes(random.choice((1, 1, 2, 4)))
            case 1:
                del raw[at : at + random.choice((1, 2, 3))]
            case _:
                raw[at:at] = random.choice(("é", "語", "😀", "\u2028")).encode()[: random.randrange(1, 5)]
    return bytes(raw)


def judge_bytes(case: Case, raw: bytes) -> Broken | None:
    """The first promise that these bytes break."""
    return judged(lambda: next(_failures(case, raw), None))


def _failures(case: Case, raw: bytes) -> Iterator[Broken]:
    random = Random(crc32(raw))
    text = "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in raw.decode("utf-8", "surrogateescape"))
    ends = sorted(random.choices(range(len(raw) + 1), k=8))
    byte_by_byte = _feed(case, [raw[k : k + 1] for k in range(len(raw))])
    for what, pieces in (("whole", [raw]), (f"cut at {ends}", _cut(raw, ends))):
        if _feed(case, pieces) != byte_by_byte:
            yield Broken("chunk-invariant", "bytes", f"{what} / byte by byte")
    shown = [event for event in byte_by_byte if not _is_bad_byte(event)]
    if merge(shown) != merge(feed_all(case.parser(), [text], case.reason)):
        yield Broken("bytes as text", "events", f"other events than for the text {text!r}")
    bad = b"".join(bytes.fromhex(e.raw) for e in byte_by_byte if isinstance(e, Problem) and _is_bad_byte(e))
    if bad != bytes(ord(c) - 0xDC00 for c in raw.decode("utf-8", "surrogateescape") if "\udc80" <= c <= "\udcff"):
        yield Broken("lossless", "bad bytes", f"reported {bad!r}")


def _feed(case: Case, pieces: list[bytes]) -> list[Event]:
    parser = case.parser()
    events = [event for piece in pieces for event in parser.feed_bytes(piece)]
    return merge(events + parser.finish(case.reason))


def _cut(raw: bytes, ends: list[int]) -> list[bytes]:
    return [raw[a:b] for a, b in zip((0, *ends), (*ends, len(raw)), strict=True)]


def _is_bad_byte(event: Event) -> bool:
    return isinstance(event, Problem) and event.kind is ProblemKind.INVALID_UTF8
