"""The message in an error body, whatever its shape."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.gateway.workers.complaints import COMPLAINT, complaint
from tests.streams import hard


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "too long", "code": 400}}', "too long"),
        (b'{"object": "error", "message": "too long"}', "too long"),
        (b'{"error": "too long"}', "too long"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b'{"detail": [{"loc": ["body", "x"], "msg": "Field required"}]}', "Field required"),
        (b'{"success": false}', '{"success": false}'),
        (b"502 Bad\n\nGateway ", "502 Bad Gateway"),
        (b"\xff", "\ufffd"),
        (b"", ""),
        (b"null", "null"),
    ],
)
def test_the_message_is_found(body: bytes, message: str) -> None:
    assert complaint(body) == message


def test_a_long_message_is_cut() -> None:
    assert complaint(b"x" * 10_000) == "x" * (COMPLAINT - 3) + "..."


@hard
@given(st.binary())
def test_anything_is_a_message(body: bytes) -> None:
    assert len(complaint(body)) <= COMPLAINT
