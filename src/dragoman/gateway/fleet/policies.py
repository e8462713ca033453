"""Which of the usable workers gets a request: one class for each way to choose.

A policy sees seats that may all be given the request, and is told when a worker has left; chance is passed in. Whether
a seat is usable is `seat`'s and `fleet`'s business. When to use which is told in docs/gateway/policies.md.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import ceil
from random import Random
from typing import Protocol

from msgspec import Struct

from ...errors import InvalidConfig
from .radix import RadixTree
from .ring import Ring
from .seat import Seat

__all__ = [
    "THRESHOLDS",
    "Ask",
    "AtRandom",
    "ConsistentHash",
    "LeastLoad",
    "Policy",
    "PowerOfTwo",
    "PrefixAware",
    "RoundRobin",
    "Thresholds",
    "policy_named",
]


class Ask(Struct, frozen=True, kw_only=True):
    """What is known of a request when its worker is chosen.

    `model` is the gateway's name. `ids` or `text` are the prompt, where it is known. `session` is what the caller says
    belongs together: a key, or the user. `tokens` is what the request weighs while it runs. `without` are the names of
    the workers that were tried already; they are asked again only if there is no other. `unfit` are those that can't be
    given the request in any form.
    """

    model: str
    ids: Sequence[int] | None = None
    text: str | None = None
    session: str | None = None
    tokens: int = 0
    without: frozenset[str] = frozenset()
    unfit: frozenset[str] = frozenset()


class Thresholds(Struct, frozen=True, kw_only=True):
    """The numbers by which policies decide.

    `share` is how much of a prompt must have been given to a worker before, for it to get the rest too. It does not if
    its queue exceeds the shortest by more than `absolute` requests and is more than `relative` times as long.
    `remembered` is how many tokens of prompts of one model are kept in mind. `bound` is how many times the mean load a
    session's own worker may have.
    """

    share: float = 0.5
    absolute: int = 8
    relative: float = 1.5
    remembered: int = 4 * 2**20
    bound: float = 1.25

    def __post_init__(self) -> None:
        if self.bound < 1:
            raise InvalidConfig("policy.bound", "at least 1", str(self.bound))


THRESHOLDS = Thresholds()
"""Those of a policy that nobody sets."""


class Policy(Protocol):
    """A way to choose."""

    def choose(self, seats: Sequence[Seat], ask: Ask) -> Seat:
        """The seat that gets the request, of at least one; what is chosen is dispatched."""
        ...

    def forget(self, name: str) -> None:
        """A worker has left."""
        ...


class AtRandom:
    """Any of them."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def choose(self, seats: Sequence[Seat], ask: Ask) -> Seat:
        """Each is as likely."""
        return self._random.choice(seats)

    def forget(self, name: str) -> None:
        """Nothing was kept."""


class RoundRobin:
    """Whose turn is longest ago, whatever models there are and whoever comes and goes."""

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}
        self._turn = 0

    def choose(self, seats: Sequence[Seat], ask: Ask) -> Seat:
        """One that never had a turn is first. Linear in the seats."""
        seat = min(seats, key=lambda seat: self._turns.get(seat.name, 0))
        self._turn += 1
        self._turns[seat.name] = self._turn
        return seat

    def forget(self, name: str) -> None:
        """A worker of the same name begins anew."""
        self._turns.pop(name, None)


class LeastLoad:
    """Who has the least to do: requests, among equals tokens, among equals anyone."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def choose(self, seats: Sequence[Seat], ask: Ask) -> Seat:
        """Linear in the seats."""
        return min(seats, key=lambda seat: (seat.load, self._random.random()))

    def forget(self, name: str) -> None:
        """Nothing was kept."""


class PowerOfTwo:
    """Who has less to do, of two that are drawn: nearly as even as looking at all of them, and no herd."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def choose(self, seats: Sequence[Seat], ask: Ask) -> Seat:
        """In constant time."""
        return min(self._random.sample(seats, min(2, len(seats))), key=lambda seat: seat.load)

    def forget(self, name: str) -> None:
        """Nothing was kept."""


class ConsistentHash:
    """A session stays with its worker, unless that has too much to do; a request without one goes where least is.

    The next worker on the ring takes over where one has left, or has more than `bound` times the mean load; so a worker
    that comes or goes moves no session but its own.
    """

    def __init__(self, random: Random, bound: float = THRESHOLDS.bound) -> None:
        self._ring, self._bound, self._least = Ring(), bound, LeastLoad(random)

    def choose(self, seats: Sequence[Seat], ask: Ask) -> Seat:
        """Linear in the seats."""
        if ask.session is None:
            return self._least.choose(seats, ask)
        for seat in seats:
            self._ring.join(seat.name)
        limit = ceil(self._bound * (sum(seat.requests for seat in seats) + 1) / len(seats))
        free = {seat.name: seat for seat in seats if seat.requests < limit}  # never empty: not all exceed the mean
        return next(free[name] for name in self._ring.walk(ask.session) if name in free)

    def forget(self, name: str) -> None:
        """Takes it off the ring."""
        self._ring.leave(name)


class PrefixAware:
    """Who was given the longest beginning of the prompt before has it in its cache, and gets the rest too.

    Where too little of it was given to anyone, or who has it has too much to do, the shortest queue is taken. What was
    dispatched is remembered by model, the ids and the texts of a model each within the threshold's tokens.
    """

    def __init__(self, random: Random, thresholds: Thresholds = THRESHOLDS) -> None:
        self._least, self._thresholds = LeastLoad(random), thresholds
        self._trees: dict[tuple[str, int], RadixTree] = {}

    def choose(self, seats: Sequence[Seat], ask: Ask) -> Seat:
        """Linear in the prompt and the seats."""
        prompt = _packed(ask)
        if prompt is None:
            return self._least.choose(seats, ask)
        tree = self._trees.get((ask.model, prompt.unit))
        if tree is None:
            tree = RadixTree(prompt.unit, self._thresholds.remembered * _TOKEN)
            self._trees[ask.model, prompt.unit] = tree
        seat = self._least.choose(self._holders(tree, seats, prompt), ask)
        tree.insert(prompt.key, seat.name)
        return seat

    def forget(self, name: str) -> None:
        """Takes its marks out of all trees."""
        for key, tree in list(self._trees.items()):
            tree.forget(name)
            if not len(tree):
                del self._trees[key]

    def _holders(self, tree: RadixTree, seats: Sequence[Seat], prompt: _Packed) -> Sequence[Seat]:
        """The seats that have enough of the prompt; all, if none has, or those that have it have too much to do."""
        limits, match = self._thresholds, tree.find(prompt.key, frozenset(seat.name for seat in seats))
        if match.length * prompt.unit <= limits.share * len(prompt.key):
            return seats
        holders = [seat for seat in seats if seat.name in match.names]
        least, queue = (min(seat.requests for seat in some) for some in (seats, holders))
        if queue - least > limits.absolute and queue > limits.relative * least:
            return seats
        return holders


_TOKEN = 4
"""Bytes of a token id as it is packed; a token of text has about as many."""


class _Packed(Struct, frozen=True):
    key: bytes
    unit: int


def _packed(ask: Ask) -> _Packed | None:
    """A prompt as bytes, ids before text; ``None`` where there is none."""
    if ask.ids is not None:
        try:
            return _Packed(array("I", ask.ids).tobytes(), _TOKEN)
        except OverflowError:  # ids that no tokenizer has: the worker will say so
            return None
    return _Packed(ask.text.encode("utf-8", "surrogatepass"), 1) if ask.text is not None else None


def policy_named(name: str, random: Random, thresholds: Thresholds = THRESHOLDS) -> Policy:
    """The policy of a name; raises `InvalidConfig` for one that there is not."""
    match name:
        case "random":
            return AtRandom(random)
        case "round_robin":
            return RoundRobin()
        case "power_of_two":
            return PowerOfTwo(random)
        case "least_load":
            return LeastLoad(random)
        case "consistent_hash":
            return ConsistentHash(random, thresholds.bound)
        case "prefix_aware":
            return PrefixAware(random, thresholds)
    known = "random, round_robin, power_of_two, least_load, consistent_hash or prefix_aware"
    raise InvalidConfig("policy", known, repr(name))
