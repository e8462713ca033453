"""The way in: arguments to a subcommand, and every caller's mistake to one line on the standard error.

Exit codes: 0 fine; 1 the command found something wrong (`check`, `which`, `parse --strict`); 2 the caller's mistake;
130 interrupted; 141 the reader of our output left.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .. import __version__
from ..errors import DragomanError
from . import check, demo, dialects, emit, explain, parse, render, serve, tokens, which

__all__ = ["LEFT", "main"]

LEFT = 141
"""The exit code when the reader of our output left: what a shell gives for a broken pipe."""

_COMMANDS = (parse, render, emit, tokens, dialects, which, explain, check, serve, demo)

_EPILOG = """\
examples:
  dragoman demo                                    watch every dialect being read
  dragoman parse answer.txt --dialect hermes       a stored output, or - for a stream
  dragoman render chat.json --model qwen3          a conversation as the model gets it
  dragoman emit -d hermes --tools tools.json       the grammar that keeps a model to its tools
  dragoman tokens -t o200k_harmony 200006 173781   what token ids stand for
  dragoman dialects harmony                        what a dialect looks like
  dragoman which Qwen/Qwen3-8B                     the dialect that a model speaks
  dragoman serve --worker http://127.0.0.1:30000   a gateway for any client of OpenAI's API
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; never raises but `SystemExit` (argparse's own, for --help and wrong usage)."""
    args = _parser().parse_args(argv)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
    except DragomanError as error:
        sys.stderr.write(f"dragoman: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return 130
    except BrokenPipeError:
        return LEFT
    except OSError as error:
        sys.stderr.write(f"dragoman: can't write: {error.strerror or error}\n")
        return 2
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "dragoman",
        description="Read the raw output of language models: reasoning, answer and tool calls, in order. "
        "Render the conversations that they are given.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dragoman {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    for command in _COMMANDS:
        command.register(commands)
    return parser
