"""The constraint of an order as fields of a request, or the reason why this kind of worker can't be told it."""

from __future__ import annotations

from collections.abc import Callable

from ...constrain import Emission, Engine, emit
from ...errors import InvalidRequest, Refused
from ...types import JSON
from .order import Order

__all__ = ["eager_fields"]


def eager_fields(order: Order, engine: Engine, write: Callable[[Emission], dict[str, JSON]]) -> dict[str, JSON]:
    """The fields for workers that constrain from the first token on, or not at all.

    A constraint that may wait for a call is left out. Raises `Refused` for one that the engine can't be told.
    """
    if order.constraint is None or not order.eager:
        return {}
    try:
        return write(emit(order.constraint, engine, control=order.control or None))
    except InvalidRequest as error:
        raise Refused(400, "unsupported_constraint", f"this can't be enforced: {error}") from error
