"""Who may use the gateway: keys are kept as digests only, compared in constant time, and never shown.

It knows no accounts and no quotas. The keys by which the gateway itself is known to its workers are theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from hmac import compare_digest

from msgspec import Struct

from ...errors import InvalidConfig

__all__ = ["Access", "Keys"]


class Keys:
    """The SHA-256 digests of some keys; the keys themselves are not kept."""

    __slots__ = ("_digests",)

    def __init__(self, digests: frozenset[bytes]) -> None:
        self._digests = digests

    @classmethod
    def of(cls, keys: Iterable[str]) -> Keys:
        """Raises `InvalidConfig` for a key that no header can carry, without showing it."""
        digests = set()
        for key in keys:
            if not key or not key.isascii() or not key.isprintable() or " " in key:
                raise InvalidConfig("keys", "words of ASCII characters", "one that is empty or is not")
            digests.add(_digest(key))
        return cls(frozenset(digests))

    def allows(self, header: str | None) -> bool:
        """Whether an ``Authorization: Bearer`` header has one of them; every key is compared, whichever it is."""
        scheme, _, key = (header or "").partition(" ")
        return scheme.lower() == "bearer" and self.knows(key.strip())

    def knows(self, key: str) -> bool:
        """Whether a bare key is one of them, as ``x-api-key`` has it."""
        digest = _digest(key)
        return sum(compare_digest(digest, known) for known in self._digests) > 0

    def __len__(self) -> int:
        return len(self._digests)

    def __repr__(self) -> str:
        return f"<Keys: {len(self)}>"


class Access(Struct, frozen=True):
    """Who may ask, and who may administer: a key of the one kind is none of the other.

    Without keys for callers anyone may ask; without keys for administrators nobody may administer.
    """

    callers: Keys
    admins: Keys

    def may_ask(self, header: str | None) -> bool:
        """Whether requests with this ``Authorization`` are answered."""
        return not len(self.callers) or self.callers.allows(header)

    def may_administer(self, header: str | None) -> bool:
        """Whether this ``Authorization`` may change the gateway."""
        return self.admins.allows(header)


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogatepass")).digest()
