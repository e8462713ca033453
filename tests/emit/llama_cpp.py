"""llama.cpp under test: its server in this process, and its grammar matcher on its own.

The server is asked over HTTP as any client would; `matches` calls the C functions of llama.cpp that the server itself
samples with (`llama_sampler_init_grammar` and on), with one candidate at a time.
"""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from http.client import HTTPConnection
from math import log
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from .tiny_model import END, PIECES, START, UNKNOWN, Kind, write_model


class Completion(NamedTuple):
    """What was generated, control tokens spelled out, and why it ended: ``eos``, ``limit`` or ``word``."""

    text: str
    finish: str
    tokens: list[int]


class RefusedError(Exception):
    """The server's answer where it refuses a request."""


class LlamaCpp:
    """A tiny model with these markers as control tokens, and these pieces beside single characters."""

    def __init__(self, folder: Path, markers: Sequence[str], pieces: Sequence[str] = PIECES) -> None:
        xllamacpp = pytest.importorskip("xllamacpp")
        pytest.importorskip("gguf")
        path = folder / "model.gguf"
        self.markers = tuple(markers)
        self.tokens = write_model(path, markers, pieces)
        self.ids = {token.content: number for number, token in enumerate(self.tokens) if token.content}
        self.pieces = re.compile(b"|".join(map(re.escape, sorted(self.ids, key=len, reverse=True))), re.DOTALL)
        self.single = re.compile(b".", re.DOTALL)
        other = [number for number, token in enumerate(self.tokens) if token.kind == Kind.BYTE]
        self.not_ascii = [number for number in other if self.tokens[number].content not in (b"\n", b"\t")]
        self.api = _Api(xllamacpp.xllamacpp.__file__, path)
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx, params.n_parallel, params.n_gpu_layers = 8192, 1, 0
        params.warmup = params.fit_params = False
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.verbosity = -1
        self.server = xllamacpp.Server(params)
        self.address = urlsplit(self.server.listening_address).netloc

    def complete(
        self,
        prompt: str = "a",
        grammar: str = "",
        *,
        temperature: float = 5.0,
        seed: int = 0,
        n_predict: int = 400,
        favour: Mapping[str, float] | None = None,
        ending: float = 10.0,
        **fields: object,
    ) -> Completion:
        """Sample from all of the vocabulary but bytes that are no ASCII; `favour` makes tokens so much likelier, and
        `ending` the end.

        Further fields are those of ``/completion``. Raises `RefusedError` with the server's own message.
        """
        bias: list[object] = [[number, False] for number in self.not_ascii]
        likelier = {self.ids[text.encode()]: factor for text, factor in (favour or {}).items()} | {END: ending}
        bias += [[number, temperature * log(factor)] for number, factor in likelier.items()]
        body = {
            "prompt": prompt,
            "grammar": grammar,
            "temperature": temperature,
            "seed": seed,
            "n_predict": n_predict,
            "logit_bias": bias,
            "preserved_tokens": list(self.markers),
            "top_k": 0,
            "top_p": 1.0,
            "min_p": 0.0,
            "return_tokens": True,
        }
        answer = self.ask("/completion", body | fields)
        return Completion(answer["content"], answer["stop_type"], answer["tokens"])

    def ask(self, path: str, body: Mapping[str, object]) -> dict:
        """What the server answers."""
        connection = HTTPConnection(self.address)
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        if "error" in answer:
            raise RefusedError(answer["error"]["message"])
        return answer

    def encode(self, text: str, *, marks: bool = True) -> list[int]:
        """The longest pieces first, markers as control tokens; else one token a byte, markers spelled out."""
        pieces = self.pieces if marks else self.single
        return [self.ids[piece] for piece in pieces.findall(text.encode())]

    def matches(self, grammar: str, texts: Iterable[str], *, marks: bool = True) -> list[bool]:
        """Which of the texts are a whole output under the grammar; raises `ValueError` if it can't be loaded."""
        return [self.api.matches(grammar, [*self.encode(text, marks=marks), END]) for text in texts]

    def close(self) -> None:
        """End the server."""
        del self.server
        self.api.close()


class _Params(ctypes.Structure):
    """Room for a structure that is only handed on; longer than any of them."""

    _fields_ = (("room", ctypes.c_char * 1024),)


class _Candidate(ctypes.Structure):
    _fields_ = (("id", ctypes.c_int32), ("logit", ctypes.c_float), ("p", ctypes.c_float))


class _Candidates(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.POINTER(_Candidate)),
        ("size", ctypes.c_size_t),
        ("selected", ctypes.c_int64),
        ("sorted", ctypes.c_bool),
    )


class _Api:
    """The few C functions of llama.cpp that match a grammar."""

    def __init__(self, library: str, model: Path) -> None:
        lib = ctypes.CDLL(library)
        pointer = ctypes.c_void_p
        lib.llama_model_default_params.restype = _Params
        lib.llama_model_load_from_file.argtypes = [ctypes.c_char_p, _Params]
        lib.llama_model_load_from_file.restype = pointer
        lib.llama_model_get_vocab.argtypes = [pointer]
        lib.llama_model_get_vocab.restype = pointer
        lib.llama_model_free.argtypes = [pointer]
        lib.llama_sampler_init_grammar.argtypes = [pointer, ctypes.c_char_p, ctypes.c_char_p]
        lib.llama_sampler_init_grammar.restype = pointer
        lib.llama_sampler_apply.argtypes = [pointer, ctypes.POINTER(_Candidates)]
        lib.llama_sampler_accept.argtypes = [pointer, ctypes.c_int32]
        lib.llama_sampler_free.argtypes = [pointer]
        self.lib = lib
        self.model = lib.llama_model_load_from_file(str(model).encode(), lib.llama_model_default_params())
        self.vocabulary = lib.llama_model_get_vocab(self.model)

    def matches(self, grammar: str, ids: Sequence[int]) -> bool:
        sampler = self.lib.llama_sampler_init_grammar(self.vocabulary, grammar.encode(), b"root")
        if not sampler:
            raise ValueError(f"llama.cpp can't read the grammar:\n{grammar}")
        try:
            for number in ids:
                candidate = _Candidate(number, 0.0, 0.0)
                one = _Candidates(ctypes.pointer(candidate), 1, -1, False)
                self.lib.llama_sampler_apply(sampler, ctypes.byref(one))
                if candidate.logit < -1e30:
                    return False
                if number != END:
                    self.lib.llama_sampler_accept(sampler, number)
            return True
        finally:
            self.lib.llama_sampler_free(sampler)

    def close(self) -> None:
        self.lib.llama_model_free(self.model)


__all__ = ["END", "PIECES", "START", "UNKNOWN", "Completion", "LlamaCpp", "RefusedError"]
