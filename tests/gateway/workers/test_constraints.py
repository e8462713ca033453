"""The constraint of an order as fields, where it has to hold at once."""

from __future__ import annotations

import pytest

from dragoman.constrain import Engine, constrain
from dragoman.constrain.requests import vllm
from dragoman.errors import Refused
from dragoman.gateway.workers.constraints import eager_fields
from dragoman.gateway.workers.order import Order, Prompt
from dragoman.registry import get_dialect
from dragoman.types import Tool

CONSTRAINT = constrain(get_dialect("hermes"), [Tool("f", {"type": "object"})], tool_choice="required")
ORDER = Order(id="a", model="m", prompt=Prompt(ids=(1,)), constraint=CONSTRAINT)


def test_it_is_written_as_the_worker_takes_it() -> None:
    assert list(eager_fields(ORDER, Engine.STRUCTURAL_TAG, vllm)) == ["structured_outputs"]


def test_one_that_may_wait_is_left_out() -> None:
    order = Order(id="a", model="m", prompt=Prompt(ids=(1,)), constraint=CONSTRAINT, eager=False)
    assert eager_fields(order, Engine.STRUCTURAL_TAG, vllm) == {}


def test_no_constraint_is_no_field() -> None:
    assert eager_fields(Order(id="a", model="m", prompt=Prompt()), Engine.STRUCTURAL_TAG, vllm) == {}


def test_one_that_can_not_be_told_is_refused() -> None:
    with pytest.raises(Refused, match="can't be enforced: engine should be one of"):
        eager_fields(ORDER, Engine.GBNF, vllm)
