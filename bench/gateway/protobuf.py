"""The few messages of SGLang's gRPC scheduler that the fake worker writes, as in ``sglang_scheduler.proto``."""

from __future__ import annotations

from .script import PROMPT_TOKENS, Script

__all__ = ["model_info", "request_id", "response", "server_info", "token_messages"]


def varint(value: int) -> bytes:
    """The number, seven bits a byte."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def number(field: int, value: int) -> bytes:
    """A field that holds a number."""
    return varint(field << 3) + varint(value)


def text(field: int, value: bytes) -> bytes:
    """A field that holds text, bytes or a message."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def token_messages(script: Script) -> list[bytes]:
    """A chunk for each token, then what completes them, without the id of their request."""
    chunks = []
    for at, token in enumerate(script.ids, 1):
        chunk = text(1, varint(token)) + number(2, PROMPT_TOKENS) + number(3, at)
        chunks.append(text(2, chunk))
    ids = text(1, b"".join(map(varint, script.ids)))
    counts = number(3, PROMPT_TOKENS) + number(4, len(script.ids))
    complete = ids + text(2, b"stop") + counts + number(8, script.stop)
    return [*chunks, text(3, complete)]


def response(request: bytes, message: bytes) -> bytes:
    """One answer to the request of that id."""
    return text(1, request) + message


def request_id(message: bytes) -> bytes:
    """The id of a ``GenerateRequest``, its first field and shorter than 128 bytes."""
    if message[0] != 0x0A or message[1] > 0x7F:
        raise ValueError("a request without a short id")
    return message[2 : 2 + message[1]]


def model_info(script: Script, folder: str) -> bytes:
    """``GetModelInfoResponse``."""
    kind, architecture = (
        (b"gpt_oss", b"GptOssForCausalLM") if script.name == "harmony" else (b"qwen3", b"Qwen3ForCausalLM")
    )
    return b"".join((
        text(1, folder.encode()), text(2, folder.encode()), number(3, 1), text(6, script.model.encode()),
        number(7, 131_072), number(8, 201_088), text(10, kind), text(11, varint(script.stop)), number(14, 131_000),
        text(15, architecture),
    ))  # fmt: skip


def server_info() -> bytes:
    """``GetServerInfoResponse``."""
    return text(7, b"0.5.23") + text(8, b"grpc") + number(10, 1_000_000)
