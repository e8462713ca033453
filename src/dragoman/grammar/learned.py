"""What chunks do to a transcoder, learned once and then looked up: models write from a finite vocabulary.

As in `json`, a configuration is all of a transcoder's state that a short text can depend on: where it is, and the
innermost brackets. What depends on more has no effect here, and is read by the steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..events import ContentDelta, Event
from .json import LEARNED_DEPTH, LEARNED_LIMIT, NUMBER_LIMIT, SHORT, State
from .labels import Make, Rest, rest_in_string
from .notation import Marks
from .transcode import Transcoder

if TYPE_CHECKING:
    from .machine import Machine

__all__ = ["NotatedRest", "recall"]

TAIL = 3
"""Brackets that a configuration knows: more than a short chunk closes."""

_IN_SCALAR = frozenset([State.STRING, State.KEY, State.NUMBER])


class Effect:
    """What one text does in one configuration: the JSON of what is `taken`, and what is `left` waiting.

    `tail` replaces the innermost brackets, ``None`` keeps them. `clean` are the chunks that the string which is then
    open takes as they are. A `plain` one changes no more than the state and the kind of string.
    """

    __slots__ = (
        "clean",
        "effects",
        "in_key",
        "json",
        "left",
        "marks",
        "plain",
        "size",
        "state",
        "sub",
        "tail",
        "taken",
    )

    def __init__(self, after: Transcoder, text: str, json: str, end: int, tail: str | None) -> None:
        self.taken, self.left, self.json, self.tail = text[:end], text[end:], json, tail
        self.state, self.marks, self.in_key = after.state, after.marks, after.in_key
        self.sub, self.size = after.sub, after.size
        self.plain = tail is None and after.state != State.NUMBER
        self.effects = _effects_of(after) if tail is None else _NOTHING
        self.clean = _clean_in(after)


_Effects = dict[str, "Effect | None"]
_NOTHING: _Effects = {}
_effects: dict[tuple[object, ...], _Effects] = {}
_UNCLEAN: set[str] = set()


def _effects_of(transcoder: Transcoder) -> _Effects:
    """What is known of the present configuration."""
    state, stack = transcoder.state, transcoder.stack
    if (not stack and state != State.STRING) or transcoder.size > NUMBER_LIMIT // 2 or len(stack) > LEARNED_DEPTH:
        return _NOTHING
    scalar = (transcoder.marks, transcoder.in_key) if state in _IN_SCALAR else ()
    sub = transcoder.sub if state == State.NUMBER else ""
    return _effects.setdefault((transcoder.lexicon, state, sub, stack[-TAIL:], *scalar), {})


def _clean_in(transcoder: Transcoder) -> set[str]:
    return rest_in_string(ContentDelta, transcoder.marks.until).clean if transcoder.in_string else _UNCLEAN


def recall(transcoder: Transcoder, piece: str) -> str | None:
    """The JSON of a short piece that was fed in this configuration before, as if it were fed again.

    ``None``, with nothing done, where that is not known. The transcoder must not watch keys.
    """
    effects, text = _effects_of(transcoder), transcoder.tail + piece
    effect = effects.get(text) or _learned(transcoder, effects, text)
    if effect is None:
        return None
    _apply(effect, transcoder)
    transcoder.tail = effect.left
    return effect.json


def _apply(effect: Effect, transcoder: Transcoder) -> None:
    goes_on = transcoder.state == State.NUMBER and effect.size == len(effect.taken)
    transcoder.size = transcoder.size + effect.size if goes_on else effect.size
    transcoder.state, transcoder.sub = effect.state, effect.sub
    transcoder.marks, transcoder.in_key = effect.marks, effect.in_key
    if effect.tail is not None:
        transcoder.stack = transcoder.stack[:-TAIL] + effect.tail


def _learned(transcoder: Transcoder, effects: _Effects, text: str) -> Effect | None:
    """Work out what a text does here by reading it with the innermost brackets alone."""
    if effects is _NOTHING or len(text) > SHORT or text in effects:
        return None
    if len(effects) >= LEARNED_LIMIT:
        effects.clear()
    trial = transcoder.copy()
    tail = trial.stack = trial.stack[-TAIL:]
    trial.size = 0
    json, end = trial.read(text, 0)
    effect = None
    if trial.state < State.DONE and not trial.passed:
        effect = Effect(trial, text, json, end, None if trial.stack == tail else trial.stack)
    effects[text] = effect
    return effect


class NotatedRest(Rest):
    """How to publish chunks while a machine rests inside a value whose keys nobody asks for."""

    __slots__ = ("_effects", "_strings", "_transcoder")

    def __init__(self, transcoder: Transcoder, make: Make) -> None:
        super().__init__("", make, make, transcoder.marks.until)
        self._transcoder = transcoder
        self._strings: dict[Marks, Rest] = {}
        self.settle()

    def settle(self) -> None:
        """The transcoder may be anywhere now."""
        self._effects = _effects_of(self._transcoder)
        self.clean = _clean_in(self._transcoder)

    def read(self, machine: Machine, chunk: str) -> list[Event]:
        text = machine.text + chunk if machine.text else chunk
        effect = self._effects.get(text)
        if effect is None:
            effect = self._learn(text)
            if effect is None:
                return self._read_on(machine, chunk, text)
        transcoder = self._transcoder
        if effect.plain:
            transcoder.state, transcoder.marks, transcoder.in_key = effect.state, effect.marks, effect.in_key
            transcoder.size, self._effects, self.clean = 0, effect.effects, effect.clean
        else:
            _apply(effect, transcoder)
            self._effects, self.clean = effect.effects, effect.clean
            if effect.tail is not None or transcoder.size > NUMBER_LIMIT // 2:
                self._effects = _effects_of(transcoder)
        machine.text = effect.left
        if not effect.json and not effect.taken:
            return []
        start = machine.base
        machine.base = machine.kept_to = end = start + len(effect.taken)
        machine.kept.append(effect.taken)
        return [self.make(effect.json, start, end)]

    def _learn(self, text: str) -> Effect | None:
        if self._transcoder.in_string and self._string(self._transcoder.marks).is_clean(text):
            return None
        return _learned(self._transcoder, self._effects, text)

    def _read_on(self, machine: Machine, chunk: str, text: str) -> list[Event]:
        """A chunk of which nothing is known."""
        if self._transcoder.state == State.STRING:
            return self._string(self._transcoder.marks).read(machine, chunk)
        machine.text = text
        return machine.resume()

    def _string(self, marks: Marks) -> Rest:
        rest = self._strings.get(marks)
        if rest is None:
            rest = self._strings[marks] = rest_in_string(self.make, marks.until)
        return rest
