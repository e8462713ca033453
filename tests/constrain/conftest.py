"""The engines of `tests.emit`, for constraints of dialects."""

from tests.emit.conftest import llama

__all__ = ["llama"]
