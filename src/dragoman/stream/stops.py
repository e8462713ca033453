"""Stop strings: where the visible text of an answer ends because the caller said so.

Concerns what a caller gave as ``stop``, after parsing; the markers with which a model ends its own turn belong to its
dialect. The leftmost stop counts; of several that begin at one place, the shortest, which is there first.
"""

from __future__ import annotations

__all__ = ["StopScanner"]


class StopScanner:
    """Cuts a stream of text at the first stop, and takes the stop away unless it is to `keep` it.

    Holds back only what may still become a stop: fewer characters than the longest has. Linear in the text for each
    stop, however it is cut. Empty stops are none.
    """

    __slots__ = ("_held", "_keep", "_prefixes", "_stops", "matched")

    matched: str | None
    """The stop that was met; what is fed from then on is not part of the answer."""

    def __init__(self, stops: tuple[str, ...], *, keep: bool = False) -> None:
        self._stops = tuple(sorted(filter(None, set(stops)), key=len))
        self._keep = keep
        self._held = ""
        self.matched = None
        # By their last character, since few texts end in one that a stop has; the longest come first.
        self._prefixes: dict[str, list[tuple[int, str]]] = {}
        for stop in self._stops:
            for size in range(1, len(stop)):
                self._prefixes.setdefault(stop[size - 1], []).append((size, stop))
        for prefixes in self._prefixes.values():
            prefixes.sort(key=lambda prefix: -prefix[0])

    def feed(self, text: str) -> str:
        """What is certainly visible now."""
        if self.matched is not None or not text:
            return ""
        text = self._held + text
        return self._upto(text, self._begun(text))

    def finish(self) -> str:
        """What was held, up to the stop that may be in it."""
        text, self._held = self._held, ""
        return self._upto(text, len(text))

    @property
    def held(self) -> int:
        """Characters that may still become a stop."""
        return len(self._held)

    def _begun(self, text: str) -> int:
        """Where the longest beginning of a stop stands that ends the text."""
        for size, stop in self._prefixes.get(text[-1], ()):
            if text.endswith(stop[:size]):
                return len(text) - size
        return len(text)

    def _upto(self, text: str, begun: int) -> str:
        """The text before the first stop, or before the one that begins earlier and is not all there yet."""
        first = begun + 1
        for stop in self._stops:
            at = text.find(stop, 0, first - 1 + len(stop))
            if at >= 0:
                first, self.matched = at, stop
        if self.matched is None:
            self._held = text[begun:]
            return text[:begun]
        self._held = ""
        return text[: first + len(self.matched)] if self._keep else text[:first]
