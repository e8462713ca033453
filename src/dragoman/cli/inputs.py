"""What the commands read: a model's output piece by piece, a list of tools, a dialect by name or by file.

Whatever the caller got wrong here is a `Unreadable` or a `dragoman.errors.DragomanError`, which `main` prints as
one line; whatever the model got wrong is the parser's business.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from ..dialect import Dialect, load_dialect
from ..errors import DragomanError
from ..parse.decode import Utf8
from ..parse.parser import Parser
from ..recognise import recognise
from ..types import Tool

__all__ = ["Decoded", "Source", "Unreadable", "add_source", "arriving", "dialect_named", "positive", "read_tools"]

_READ = 1 << 16
"""Bytes asked for at once; a pipe gives what it has."""


class Unreadable(DragomanError):
    """A file that can't be read, or that is not what it should be."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class Source(Struct, frozen=True):
    """A model's output and how it is to be read, as the command line says it."""

    path: str
    dialect: Dialect
    tools: tuple[Tool, ...] | None
    start: str
    reason: str | None
    chunk: int | None
    prefill: str
    prompt: str | None

    @classmethod
    def of(cls, args: argparse.Namespace) -> Source:
        """Take the arguments that `add_source` declares; raises when a dialect or a file is wrong."""
        tools = read_tools(args.tools) if args.tools else None
        prompt = _read_text(args.prompt) if args.prompt else None
        dialect = dialect_named(args.dialect)
        return cls(args.file, dialect, tools, args.start, args.reason, args.chunk, args.prefill, prompt)

    def parser(self) -> Parser:
        """A fresh parser; raises `InvalidStart`, `InvalidPrompt` and `InvalidTool`."""
        return Parser(self.dialect, self.tools, start=self.start, prefill=self.prefill, prompt=self.prompt)

    def pieces(self) -> Iterator[bytes]:
        """The output as it arrives, cut into chunks if asked for; nothing that has arrived is waited with."""
        size = self.chunk
        for piece in arriving(self.path):
            if size is None:
                yield piece
            else:
                yield from (piece[at : at + size] for at in range(0, len(piece), size))


class Decoded:
    """The text of bytes, character for character as the parser counts them."""

    def __init__(self) -> None:
        self._utf8 = Utf8()

    def feed(self, chunk: bytes) -> str:
        """The characters that are complete."""
        return _characters(self._utf8.feed(chunk))

    def finish(self) -> str:
        """What is left of a character that never became one."""
        return _characters(self._utf8.finish())


def add_source(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of a command that reads a model's output."""
    add = parser.add_argument
    add("file", nargs="?", default="-", metavar="FILE", help="raw output; - (default) is the standard input")
    add("-d", "--dialect", required=True, metavar="NAME", help="a dialect or its file, a model id, or auto")
    add("--tools", metavar="FILE", help="JSON with the tools that the model was given, as the API takes them")
    add("--start", default="content", metavar="STATE", help="where the prompt left the model: content (default), ...")
    add("--prefill", default="", metavar="TEXT", help="the beginning of the model's turn that the prompt held")
    add("--prompt", metavar="FILE", help="the rendered prompt, whose end says where the model began")
    add("--reason", metavar="WORD", help="why the engine stopped, if known: stop, length, ...")
    add("--chunk", type=positive, metavar="N", help="feed N bytes at a time")


def positive(text: str) -> int:
    """A whole number from 1 up, as argparse wants it."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def dialect_named(name: str) -> Dialect:
    """A user's own dialect by the path of its file, which is then run, or a built-in one by whatever tells it.

    That is a name, ``auto``, or anything that `recognise` takes: a model's id, a tokenizer's folder, a chat template.
    """
    return load_dialect(Path(name)) if name.endswith(".py") else recognise(name).dialect


def read_tools(path: str) -> tuple[Tool, ...]:
    """The tools in a JSON file: an array, or an object with an array ``tools``, as in a request."""
    try:
        value = msgspec.json.decode(Path(path).read_bytes())
    except OSError as error:
        raise Unreadable(path, error.strerror or "can't be read") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(path, f"not JSON: {error}") from error
    tools = value.get("tools") if isinstance(value, Mapping) else value
    if not isinstance(tools, list) or not all(isinstance(tool, Mapping) for tool in tools):
        raise Unreadable(path, 'expected an array of tools, or an object with an array "tools"')
    return tuple(Tool.from_openai(tool) for tool in tools)


def _read_text(path: str) -> str:
    try:
        return Path(path).read_bytes().decode()
    except OSError as error:
        raise Unreadable(path, error.strerror or "can't be read") from error
    except UnicodeDecodeError as error:
        raise Unreadable(path, f"not UTF-8: {error.reason} at byte {error.start}") from error


def _characters(pieces: Iterable[str | bytes]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


def arriving(path: str) -> Iterator[bytes]:
    """The bytes of a file, or of the standard input for ``-``, as they arrive; raises `Unreadable`."""
    name = "standard input" if path == "-" else path
    try:
        descriptor = sys.stdin.fileno() if path == "-" else os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            while piece := os.read(descriptor, _READ):
                yield piece
        finally:
            if path != "-":
                os.close(descriptor)
    except OSError as error:
        raise Unreadable(name, error.strerror or "can't be read") from error
    except (AttributeError, ValueError) as error:  # a closed standard input is None, or a closed file
        raise Unreadable(name, "is closed") from error
