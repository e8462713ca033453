"""Errors in OpenAI's shape."""

from __future__ import annotations

import msgspec
import pytest

from dragoman.errors import DragomanError, InvalidConversation, InvalidTool, Refused, WorkerFailed
from dragoman.gateway.protocol.refusals import error_body, error_type, refusal_of


def test_an_error_has_openais_fields() -> None:
    refused = Refused(400, "invalid_value", "no", param="n")
    assert msgspec.json.decode(error_body(refused)) == {
        "error": {"message": "no", "type": "invalid_request_error", "param": "n", "code": "invalid_value"}
    }


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "authentication_error"), (404, "invalid_request_error"), (429, "rate_limit_error"), (502, "server_error")],
)
def test_a_status_has_a_type(status: int, kind: str) -> None:
    assert error_type(status) == kind


@pytest.mark.parametrize(
    ("error", "status", "param"),
    [
        (InvalidConversation(2, "a role", "none"), 400, "messages[2]"),
        (InvalidConversation(-1, "a message", "none"), 400, "messages"),
        (InvalidTool("name", "a string", 1), 400, "tools"),
        (WorkerFailed("w", "it broke off"), 502, None),
        (WorkerFailed("w", "no", 500), 502, None),
        (WorkerFailed("w", "no", 401), 502, None),
        (WorkerFailed("w", "too long", 400), 400, None),
        (WorkerFailed("w", "later", 429), 429, None),
        (WorkerFailed("w", "later", 503), 503, None),
    ],
)
def test_every_error_has_a_status(error: DragomanError, status: int, param: str | None) -> None:
    refused = refusal_of(error)
    assert (refused.status, refused.param) == (status, param)


def test_who_comes_too_early_is_told_when_to_come_again() -> None:
    assert refusal_of(WorkerFailed("w", "later", 503)).retry_after == 1


@pytest.mark.parametrize(
    "said",
    [
        "request (3019 tokens) exceeds the available context size (2048 tokens), try increasing it",
        "This model's maximum context length is 2048 tokens. However, your request has 3019 input tokens.",
        "The input (3019 tokens) is longer than the model's context length (2048 tokens).",
    ],
)
def test_a_prompt_that_is_too_long_has_openais_code_whoever_says_so(said: str) -> None:
    assert refusal_of(WorkerFailed("w", said, 400)).code == "context_length_exceeded"


def test_an_error_that_quotes_the_request_is_no_longer_than_it_need_be() -> None:
    body = error_body(Refused(400, "invalid_value", "x" * 100_000, param="y" * 100_000))
    assert len(body) < 2500
