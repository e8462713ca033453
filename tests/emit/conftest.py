"""Engines that are started once for all tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from .llama_cpp import LlamaCpp


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., LlamaCpp]]:
    """llama.cpp with a tiny model that has the given markers as control tokens."""
    known: dict[tuple[str, ...], LlamaCpp] = {}

    def with_markers(*markers: str) -> LlamaCpp:
        if markers not in known:
            known[markers] = LlamaCpp(tmp_path_factory.mktemp("model"), markers)
        return known[markers]

    yield with_markers
    for engine in known.values():
        engine.close()
