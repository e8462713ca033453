"""``dragoman emit``: the constraint of a dialect and its tools for an engine, and what it guarantees."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import TypeAlias

import msgspec
from rich.cells import cell_len
from rich.text import Text

from ..constrain.constraint import Constraint, constrain
from ..constrain.emission import Emission, Engine, emit
from ..constrain.request import LeadIn, ToolChoice
from ..constrain.requests import llama_cpp, sglang_chat, sglang_generate, vllm
from ..emit.generate import Generator
from ..emit.guarantees import Guarantees
from ..emit.matcher import Fault, Matcher
from ..errors import InvalidRequest
from ..parse.decode import Utf8
from ..tokenizers import get_tokenizer
from ..types import JSON
from .inputs import Unreadable, arriving, dialect_named, positive, read_tools
from .output import Ink, lines, open_console, table

__all__ = ["register"]

_EXAMPLE = """\
example:
  dragoman emit -d qwen3 --tools tools.json                          GBNF, for llama.cpp
  dragoman emit -d qwen3 --tools tools.json --lazy --request llama.cpp
  dragoman emit -d kimi_k2 --tools tools.json --tool-choice get_weather --scope answer --request vllm
  dragoman emit -d glm45 --tools tools.json --engine lark --tool-choice required
  dragoman emit -d hermes --tools tools.json --guarantees            what is certain, and what is left to check
  dragoman emit -d hermes --tools tools.json --check output.txt      does an output satisfy it? where does it fail?
  dragoman emit -d hermes --tools tools.json --sample 3              outputs that satisfy it

exit codes: 0 fine, 1 a checked output does not satisfy the constraint, 2 a mistake in the call of this command
"""

_Fields: TypeAlias = Callable[[Emission], dict[str, JSON]]

_SERVERS: Mapping[str, tuple[_Fields, Engine]] = {
    "llama.cpp": (llama_cpp, Engine.GBNF),
    "vllm": (vllm, Engine.STRUCTURAL_TAG),
    "sglang": (sglang_generate, Engine.STRUCTURAL_TAG),
    "sglang-chat": (sglang_chat, Engine.STRUCTURAL_TAG),
}
"""What writes the fields of a request to each server, and the engine that it has unless another is named."""

_MEANINGS = {
    "names": "every call names one of the tools",
    "required": "no required argument is missing",
    "unique": "no argument is there twice",
    "types": "arguments satisfy their schemas",
    "order": "arguments may stand in any order",
    "first_occurrence": "a value ends at the first marker that could end it",
}


_RULE = re.compile(r"[\w.-]+(?= ?(::=|:) )")
"""The name of a rule, where it is defined."""

_SHOWN = 6
"""What a wrong character may have been: so many are told."""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "emit",
        help="write the grammar that an engine enforces",
        description="Write what a dialect lets a model say, given its tools, as a grammar that an engine enforces.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("-d", "--dialect", required=True, metavar="NAME", help="a dialect or its file, or a model id")
    add("--tools", metavar="FILE", help="JSON with the tools that the model is given, as the API takes them")
    add("-e", "--engine", choices=[*Engine], help="the notation; that of the --request, else gbnf")
    _add_request(parser)
    add("--lazy", action="store_true", help="constrain from a call's opener on, instead of from the first token")
    add("-t", "--tokenizer", metavar="NAME", help="the model's: markers that are control tokens are told by their ids")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--guarantees", action="store_true", help="write what is certain of an output, no grammar")
    shape.add_argument("--request", choices=[*_SERVERS], help="write the fields of a request to this server")
    shape.add_argument("--check", metavar="FILE", help="tell whether this output satisfies it; - is the standard input")
    shape.add_argument("--sample", type=positive, metavar="N", help="write N outputs that satisfy it")
    add("--seed", type=int, default=0, metavar="N", help="other samples (0)")
    add("--json", action="store_true", help="the same as JSON; of a grammar, its triggers and guarantees too")
    parser.set_defaults(run=_run)


def _add_request(parser: argparse.ArgumentParser) -> None:
    """What is asked of the model."""
    add = parser.add_argument_group("what is asked of the model").add_argument
    add(
        "--tool-choice",
        default="auto",
        metavar="WHAT",
        help="auto (default), none, required, or NAME,NAME: one of these",
    )
    add("--no-parallel", action="store_true", help="one call at most")
    add("--reasoning", choices=("auto", "required", "none"), default="auto", help="may it think first? (auto: it may)")
    add(
        "--scope",
        choices=("output", "answer", "arguments"),
        default="output",
        help="what is constrained: all of it (default), what comes behind thoughts, or one tool's arguments alone",
    )
    add(
        "--lead-in",
        type=_lead_in,
        default="reasoning",
        metavar="WHAT",
        help="before a required call: none, reasoning (default), or N characters of text and thoughts",
    )
    add("--answer", metavar="FILE", help="a JSON Schema that the answer satisfies, instead of free text")
    add("--start", default="content", metavar="STATE", help="where the prompt leaves it: content (default), reasoning")
    add("--any-json", action="store_true", help="arguments are any JSON, whatever their schema says")
    add("--declared-order", action="store_true", help="arguments stand in the order of the schema")


def _lead_in(text: str) -> LeadIn:
    match text:
        case "none" | "reasoning":
            return text
    try:
        return positive(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected none, reasoning or a number, found {text!r}") from None


def _run(args: argparse.Namespace) -> int:
    constraint = _constraint(args)
    if args.check or args.sample:
        if args.lazy:
            raise InvalidRequest("--lazy", "left out: whole outputs are checked and sampled", True)
        return _check(constraint, args) if args.check else _sample(constraint, args)
    fields, engine = _SERVERS.get(args.request, (None, Engine.GBNF))
    emission = emit(constraint, args.engine or engine, lazy=args.lazy)
    if fields is not None:
        _write_json(fields(emission))
    elif args.guarantees:
        _report(emission.guarantees, as_json=args.json)
    elif args.json:
        told = ("engine", "text", "triggers", "guarantees")
        _write_json({name: getattr(emission, name) for name in told})
    else:
        _write(emission.text)
    return 0


def _constraint(args: argparse.Namespace) -> Constraint:
    return constrain(
        dialect_named(args.dialect),
        read_tools(args.tools) if args.tools else (),
        tool_choice=_choice(args.tool_choice),
        parallel=not args.no_parallel,
        reasoning=args.reasoning,
        scope=args.scope,
        lead_in=args.lead_in,
        answer=_schema(args.answer) if args.answer else None,
        strict=not args.any_json,
        any_order=not args.declared_order,
        start=args.start,
        control=get_tokenizer(args.tokenizer).control if args.tokenizer else None,
    )


def _choice(text: str) -> ToolChoice:
    if text in ("auto", "none", "required"):
        return ToolChoice.of(text)
    return ToolChoice("required", tuple(text.split(",")))


def _schema(path: str) -> Mapping[str, JSON]:
    try:
        schema: dict[str, JSON] = msgspec.json.decode(Path(path).read_bytes(), type=dict)
    except OSError as error:
        raise Unreadable(path, error.strerror or "can't be read") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(path, f"not a JSON Schema: {error}") from error
    return schema


def _check(constraint: Constraint, args: argparse.Namespace) -> int:
    decoder = Utf8()
    pieces = [piece for chunk in arriving(args.check) for piece in decoder.feed(chunk)] + list(decoder.finish())
    text = "".join(piece if isinstance(piece, str) else "\ufffd" for piece in pieces)
    for stop in constraint.layout.dialect.stops:  # it ends the output, and is no part of what is constrained
        text = text.removesuffix(stop)
    fault = Matcher(constraint.rules).fault(text)
    if args.json:
        _write_json({"satisfied": fault is None, "fault": fault})
    elif fault is None:
        Ink(open_console()).line("satisfied", "green")
    else:
        _point(text, fault)
    return int(fault is not None)


def _point(text: str, fault: Fault) -> None:
    """The line that fails, in two colours, and what could have come there."""
    before, behind = text[: fault.at].rpartition("\n")[2], text[fault.at :].partition("\n")[0]
    ink = Ink(open_console())
    ink.line(f"line {text.count(chr(10), 0, fault.at) + 1}, character {len(before) + 1}:", "bold")
    ink.write(before, "green")
    ink.write(behind, "red")
    ink.line(" " * cell_len(before) + "^", "red")
    some = ["the end" if text == "end" else text for text in fault.expected[:_SHOWN]]
    more = f" or {len(fault.expected) - _SHOWN} more" if len(fault.expected) > _SHOWN else ""
    ink.line(f"expected {' or '.join(some) or 'nothing'}{more}")


def _sample(constraint: Constraint, args: argparse.Namespace) -> int:
    generator, random = Generator(constraint.rules), Random(args.seed)
    ink = Ink(open_console())
    for number in range(1, args.sample + 1):
        sentence = generator.sentence(random.randrange)
        if args.json:
            _write_json(sentence)
        else:
            ink.line(f"── {number}", "bold")
            ink.write(sentence)
    ink.fresh_line()
    return 0


def _write(grammar: str) -> None:
    """The grammar; in a terminal, the names of its rules stand out."""
    ink = Ink(open_console())
    for line in lines(grammar):
        name = _RULE.match(line)
        ink.write(line[: name.end()] if name is not None else "", "cyan")
        ink.write(line[name.end() :] if name is not None else line)
    ink.fresh_line()


def _report(guarantees: Guarantees, *, as_json: bool) -> None:
    if as_json:
        _write_json(guarantees)
        return
    console = open_console()
    rows = [(name, _held(getattr(guarantees, name)), meaning) for name, meaning in _MEANINGS.items()]
    table(console, ("guarantee", "held", "meaning"), rows)
    if guarantees.notes:
        console.file.write("\n")
        notes = [(note.effect, note.what, note.where or "-", note.why) for note in guarantees.notes]
        table(console, ("difference", "of", "where", "why"), notes)


def _held(held: bool) -> Text:
    return Text("yes", "green") if held else Text("no", "red")


def _write_json(value: object) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
