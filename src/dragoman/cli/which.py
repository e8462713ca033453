"""``dragoman which``: the dialect of a model, told by a name, an id, a tokenizer, a chat template, or its output."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import msgspec

from ..errors import AmbiguousDialect, UnknownDialect
from ..recognise import Answer, Detection, recognise
from .inputs import Decoded, arriving
from .output import Ink, open_console, table

__all__ = ["register"]

_EXAMPLE = """\
example:
  dragoman which Qwen/Qwen3-Coder-30B-A3B-Instruct   the id of a model
  dragoman which ~/models/my-finetune                a folder with a tokenizer
  dragoman which chat_template.jinja                 a chat template
  some-model | dragoman which -                      a raw output

exit codes: 0 told, 1 nothing tells it or several could be it, 2 a mistake in the call of this command
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "which",
        help="tell the dialect of a model",
        description="Tell which dialect a model speaks, what says so, and how sure that is.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = "a name, a model id, a tokenizer's folder or file, a chat template's file; - for a raw output"
    parser.add_argument("what", metavar="NAME|ID|FOLDER|FILE|-", help=what)
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    try:
        answer = _of_output() if args.what == "-" else recognise(args.what)
    except UnknownDialect as error:
        return _untold(args, error, ())
    except AmbiguousDialect as error:
        return _untold(args, error, error.candidates)
    if args.json:
        facts = {
            "dialect": answer.dialect.name,
            "certainty": answer.certainty.name.lower(),
            "evidence": answer.evidence,
        }
        sys.stdout.write(msgspec.json.encode(facts).decode() + "\n")
    else:
        row = (answer.dialect.name, answer.certainty.name.lower(), answer.evidence)
        table(open_console(), ("dialect", "sure", "evidence"), [row])
    return 0


def _untold(args: argparse.Namespace, error: Exception, candidates: Sequence[tuple[str, str]]) -> int:
    """Say that there is no answer, and what comes into question."""
    if args.json:
        listed = [{"dialect": name, "evidence": evidence} for name, evidence in candidates]
        facts = {"dialect": None, "error": str(error), "candidates": listed}
        sys.stdout.write(msgspec.json.encode(facts).decode() + "\n")
    else:
        Ink(open_console(sys.stderr)).line(f"dragoman: {error}")
    return 1


def _of_output() -> Answer:
    """The answer of the standard input's beginning; no more is read than it takes."""
    detection = Detection()
    for text in _texts():
        answer = detection.feed(text)
        if answer is not None:
            return answer
    return detection.finish()


def _texts() -> Iterator[str]:
    decoder = Decoded()
    for piece in arriving("-"):
        yield decoder.feed(piece)
    yield decoder.finish()
