"""``dragoman emit``: the constraint of a dialect and its tools for an engine, and what it guarantees."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import msgspec

from ..constrain.constraint import Constraint, constrain
from ..constrain.emission import Emission, Engine, emit
from ..constrain.request import LeadIn, ToolChoice
from ..constrain.requests import llama_cpp, sglang_chat, sglang_generate, vllm
from ..emit.generate import Generator
from ..emit.guarantees import Guarantees
from ..emit.matcher import Matcher
from ..parse.decode import Utf8
from ..tokenizers import get_tokenizer
from ..types import JSON
from .inputs import Unreadable, arriving, dialect_named, positive, read_tools
from .output import Ink, open_console, table

__all__ = ["register"]

_EXAMPLE = """\
example:
  dragoman emit -d qwen3 --tools tools.json --engine gbnf            for llama.cpp
  dragoman emit -d qwen3 --tools tools.json --engine gbnf --lazy --request llama.cpp
  dragoman emit -d glm45 --tools tools.json --engine lark --tool-choice required
  dragoman emit -d kimi_k2 --tools tools.json --engine structural_tag --tool-choice get_weather --scope answer
  dragoman emit -d hermes --tools tools.json --guarantees            what is certain, and what is left to check
  dragoman emit -d hermes --tools tools.json --check output.txt      does an output satisfy it? where does it fail?
  dragoman emit -d hermes --tools tools.json --sample 3              outputs that satisfy it

exit codes: 0 fine, 1 a checked output does not satisfy the constraint, 2 a mistake in the call of this command
"""

_SERVERS: Mapping[str, Callable[[Emission], dict[str, JSON]]] = {
    "llama.cpp": llama_cpp,
    "vllm": vllm,
    "sglang": sglang_generate,
    "sglang-chat": sglang_chat,
}


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
    add("-e", "--engine", choices=[*Engine], default="gbnf", help="the engine's notation; gbnf by default")
    _add_request(parser)
    add("--lazy", action="store_true", help="begin at a trigger, instead of with the first token")
    add("-t", "--tokenizer", metavar="NAME", help="the model's: markers that are control tokens are told by their ids")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--guarantees", action="store_true", help="the report alone")
    shape.add_argument("--request", choices=[*_SERVERS], help="the fields of a request to this server")
    shape.add_argument("--check", metavar="FILE", help="does this output satisfy it? - is the standard input")
    shape.add_argument("--sample", type=positive, metavar="N", help="so many outputs that satisfy it")
    add("--seed", type=int, default=0, metavar="N", help="of the samples")
    add("--json", action="store_true", help="grammar, triggers and guarantees as JSON")
    parser.set_defaults(run=_run)


def _add_request(parser: argparse.ArgumentParser) -> None:
    """What is asked of the model."""
    add = parser.add_argument
    add("--tool-choice", default="auto", metavar="WHAT", help="auto (default), none, required, or names of tools")
    add("--no-parallel", action="store_true", help="one call at most")
    add("--reasoning", choices=("auto", "required", "none"), default="auto", help="thoughts: as the model likes, ...")
    add("--scope", choices=("output", "answer", "arguments"), default="output", help="what is constrained")
    add(
        "--lead-in",
        type=_lead_in,
        default="reasoning",
        metavar="WHAT",
        help="before a required call: none, reasoning, N",
    )
    add("--answer", metavar="FILE", help="the JSON Schema of the answer")
    add("--start", default="content", metavar="STATE", help="where the prompt leaves the model: content, reasoning")
    add("--any-json", action="store_true", help="arguments are any JSON, whatever their schema says")
    add("--declared-order", action="store_true", help="arguments stand in the order of the schema")


def _lead_in(text: str) -> LeadIn:
    if text in ("none", "reasoning"):
        return "none" if text == "none" else "reasoning"
    return positive(text)


def _run(args: argparse.Namespace) -> int:
    constraint = _constraint(args)
    if args.check:
        return _check(constraint, args.check, as_json=args.json)
    if args.sample:
        _sample(constraint, args.sample, args.seed, as_json=args.json)
        return 0
    control = get_tokenizer(args.tokenizer).control if args.tokenizer else None
    emission = emit(constraint, args.engine, lazy=args.lazy, control=control)
    if args.request:
        _write_json(_SERVERS[args.request](emission))
    elif args.json:
        _write_json(
            {
                "engine": emission.engine,
                "text": emission.text,
                "triggers": emission.triggers,
                "guarantees": emission.guarantees,
            }
        )
    elif args.guarantees:
        _report(emission.guarantees)
    else:
        Ink(open_console()).write(emission.text if emission.text.endswith("\n") else emission.text + "\n")
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


def _check(constraint: Constraint, path: str, *, as_json: bool) -> int:
    decoder = Utf8()
    pieces = [piece for chunk in arriving(path) for piece in decoder.feed(chunk)] + list(decoder.finish())
    text = "".join(piece if isinstance(piece, str) else "\ufffd" for piece in pieces)
    fault = Matcher(constraint.rules).fault(text)
    if as_json:
        _write_json({"satisfied": fault is None, "fault": fault})
    else:
        ink = Ink(open_console())
        ink.line("satisfied" if fault is None else str(fault), "green" if fault is None else "red")
    return 0 if fault is None else 1


def _sample(constraint: Constraint, count: int, seed: int, *, as_json: bool) -> None:
    generator, random = Generator(constraint.rules), Random(seed)
    ink = Ink(open_console())
    for number in range(1, count + 1):
        sentence = generator.sentence(random.randrange)
        if as_json:
            _write_json(sentence)
        else:
            ink.line(f"── {number}", "bold")
            ink.write(sentence)
    ink.fresh_line()


def _report(guarantees: Guarantees) -> None:
    console = open_console()
    meanings = {
        "names": "every call names one of the tools",
        "required": "no required argument is missing",
        "unique": "no argument is there twice",
        "types": "arguments satisfy their schemas",
        "order": "arguments may stand in any order",
        "first_occurrence": "a value ends at the first marker that could end it",
    }
    rows = [(name, "yes" if getattr(guarantees, name) else "no", meaning) for name, meaning in meanings.items()]
    table(console, ("guarantee", "held", "meaning"), rows)
    if guarantees.notes:
        console.file.write("\n")
        notes = [(note.effect, note.what, note.where or "-", note.why) for note in guarantees.notes]
        table(console, ("difference", "of", "where", "why"), notes)


def _write_json(value: object) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
