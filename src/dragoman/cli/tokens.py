"""``dragoman tokens``: what ids stand for, and what text is encoded as; with a dialect, what each token is in it."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from itertools import zip_longest

import msgspec
from msgspec import Struct
from rich.text import Text

from ..parse.parser import Parser
from ..render.encode import Encoder
from ..segments import Segment
from ..tokenizers import Tokenizer, get_tokenizer
from .inputs import Unreadable, arriving, dialect_named
from .looks import LOOKS
from .output import open_console, table
from .spans import quoted

__all__ = ["register"]

_EXAMPLE = """\
example:
  dragoman tokens --tokenizer o200k_harmony 200006 173781 200008
  dragoman tokens -t o200k_harmony --text 'Hello <|end|>'             text, whatever it spells
  dragoman tokens -t o200k_harmony --text '<|start|>user' --control   with its control tokens
  dragoman render chat.json -m gpt_oss --show ids | dragoman tokens -t o200k_harmony
  dragoman tokens -t ~/models/qwen3 --dialect hermes < sampled.json   what each token is

Ids are numbers, or JSON lists of them. exit codes: 0 fine, 2 a mistake in the call of this command
"""

SEPARATORS = re.compile(r"[\s,\[\]]+")


class Row(Struct, frozen=True, omit_defaults=True):
    """A token: its text, or its bytes where they are no whole characters; and what it is to a dialect."""

    id: int
    text: str | None
    bytes: str | None
    control: bool
    label: str | None = None


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "tokens",
        help="tell what token ids stand for",
        description="Tell what token ids stand for, or which ids a text has.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("ids", nargs="*", metavar="ID", help="token ids; without any, the standard input has them")
    add("-t", "--tokenizer", required=True, metavar="NAME|PATH", help="o200k_harmony, o200k_base, a file or a folder")
    add("--text", metavar="TEXT", help="the ids of this text, in place of ids")
    add("--control", action="store_true", help="control tokens that the text spells are control tokens")
    add("-d", "--dialect", metavar="NAME", help="tell what each token is in this dialect")
    add("--start", default="content", metavar="STATE", help="where the prompt left the model: content (default), ...")
    add("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    if args.text is not None and args.ids:
        raise Unreadable("--text", "expected ids or a text, found both")
    if args.control and args.text is None:
        raise Unreadable("--control", "is for --text")
    tokenizer = get_tokenizer(args.tokenizer)
    ids = _given(args.ids) if args.text is None else _encoded(tokenizer, args.text, control=args.control)
    labels = _labels(args, tokenizer, ids) if args.dialect else []
    control = frozenset(tokenizer.control.values())
    rows = [_row(tokenizer, token, token in control, label) for token, label in zip_longest(ids, labels)]
    if args.json:
        sys.stdout.write(msgspec.json.encode(rows).decode() + "\n")
        return 0
    headings = ("id", "text", "kind", *(("label",) if args.dialect else ()))
    table(open_console(), headings, [_cells(row)[: len(headings)] for row in rows])
    return 0


def _given(ids: Sequence[str]) -> list[int]:
    """The ids of the arguments, or of the standard input."""
    where, content = (
        ("the ids", " ".join(ids)) if ids else ("standard input", b"".join(arriving("-")).decode("latin-1"))
    )
    found = []
    for word in filter(None, SEPARATORS.split(content)):
        if not (word.isascii() and word.isdigit()):
            raise Unreadable(where, f"expected token ids, as numbers or a JSON list, found {word[:20]!r}")
        found.append(int(word))
    return found


def _encoded(tokenizer: Tokenizer, text: str, *, control: bool) -> list[int]:
    ids, _ = Encoder(tokenizer).encode([Segment(text, control=control)])
    return ids


def _labels(args: argparse.Namespace, tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    parser = Parser(dialect_named(args.dialect), start=args.start, tokenizer=tokenizer)
    parser.feed_tokens(ids)
    parser.finish()
    return [label.value for label in parser.token_labels()]


def _row(tokenizer: Tokenizer, token: int, control: bool, label: str | None) -> Row:
    written = tokenizer.token_bytes(token)
    try:
        return Row(token, written.decode(), None, control, label)
    except UnicodeDecodeError:
        return Row(token, None, written.hex(" "), control, label)


def _cells(row: Row) -> tuple[str | Text, ...]:
    style = LOOKS["markup"].style if row.control else LOOKS[row.label].style if row.label else ""
    text = Text(quoted(row.text), style=style) if row.text is not None else Text(row.bytes or "", style="yellow")
    kind = "control" if row.control else "text" if row.text is not None else "bytes"
    return str(row.id), text, Text(kind, style="" if row.control else "dim"), row.label or "-"
