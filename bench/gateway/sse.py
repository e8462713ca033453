"""The fake worker's answers over HTTP, made before anybody asks: one piece of a chunked body for each token.

``/generate`` answers as SGLang does with ``--incremental-streaming-output``: new ids and text in each event, counts
since the beginning. ``/v1/chat/completions`` answers as a server does that parses itself, a delta for each token.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from .script import PROMPT_TOKENS, Script

__all__ = ["HEAD", "chat_pieces", "generate_pieces"]

HEAD = (
    b"HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
END = b"0\r\n\r\n"


def generate_pieces(script: Script) -> list[bytes]:
    """The body of ``/generate``: a piece a token, then that of the end."""
    pieces = []
    for at, (token, text) in enumerate(zip(script.ids, script.shown, strict=True), 1):
        last = at == len(script.ids)
        meta = {
            "id": "5f0e3c1b9a7d4e628b1c0d9e8f7a6b5c",
            "finish_reason": {"type": "stop", "matched": script.stop} if last else None,
            "prompt_tokens": PROMPT_TOKENS, "weight_version": "default", "num_retractions": 0,
            "completion_tokens": at, "cached_tokens": 0, "e2e_latency": at / 100,
        }  # fmt: skip
        pieces.append(_piece({"text": text, "output_ids": [token], "meta_info": meta}))
    return [*pieces, _chunk(b"data: [DONE]\n\n") + END]


def chat_pieces(script: Script) -> list[bytes]:
    """The body of ``/v1/chat/completions``: a piece a token, then that of the end."""
    pieces = [_piece(_chat(script, delta, None)) for delta in _deltas(script)]
    pieces[-1] = _piece(_chat(script, {}, "stop"))
    return [*pieces, _chunk(b"data: [DONE]\n\n") + END]


def _deltas(script: Script) -> Iterator[dict[str, str]]:
    """A delta for each token: none for those of markers, and the two texts from their beginnings to their ends."""
    left = {"reasoning_content": script.reasoning, "content": script.content}
    field = "reasoning_content"
    for text in script.shown:
        if not left[field]:
            field = "content"
        if text and left[field].startswith(text):
            left[field] = left[field][len(text) :]
            yield {field: text}
        else:
            yield {"content": ""}
    if any(left.values()):
        raise ValueError("the tokens do not spell the texts")


def _chat(script: Script, delta: dict[str, str], finish: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    head = {"id": "5f0e3c1b9a7d4e628b1c0d9e8f7a6b5c", "object": "chat.completion.chunk", "created": 1_790_000_000}
    return {**head, "model": script.model, "choices": [choice], "usage": None}


def _piece(value: object) -> bytes:
    return _chunk(b"data: " + msgspec.json.encode(value) + b"\n\n")


def _chunk(content: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(content), content)
