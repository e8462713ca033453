"""What `render` reads: a conversation, and for whom and with which tokenizer it is to be rendered.

Without a tokenizer a stand-in takes its place, which has a token for each byte and for each marker that the format is
known to have: it shows what stands where and whose it is, and its ids are shown to nobody.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Struct

from ..errors import DragomanError, InvalidTokenizer
from ..recognise import recognise
from ..recognise.tokenizers import read_tokenizer
from ..render import Family, Renderer, get_family, template_family
from ..tokenizers import Tokenizer, get_tokenizer
from ..tokenizers.bytes import ByteTokenizer
from ..types import JSON
from .inputs import Unreadable, arriving, dialect_named

__all__ = ["Conversation", "Spoken", "add_spoken", "option", "read_conversation", "special", "spoken"]

Dicts: TypeAlias = list[Mapping[str, JSON]]

SHIPPED_FOR = {"harmony": "o200k_harmony"}
"""The vocabularies that come with the package, by the dialect of the models that have them."""

OURS = frozenset({"family", "tokenizer", "refuse_control_text", "messages", "tools", "documents", "now"})
OURS |= {"add_generation_prompt", "continue_final_message"}
"""What has a place of its own, and so can't be an option."""

BARRED = r"<[|｜][^|｜<>\s]+[|｜]>"
TOKEN = re.compile(BARRED)
"""What is a control token in every vocabulary of a model whose format has it."""

MARK = re.compile(rf"{BARRED}|\[/?[A-Z_]+\]")
"""The same, among the markers of a dialect: Mistral's too."""


class NoModel(DragomanError):
    """Nothing tells how to write the conversation."""

    def __str__(self) -> str:
        return "for which model? Give --model or --template; `dragoman render --families` lists what --model knows"


class Conversation(Struct, frozen=True):
    """Messages and tools as they were given."""

    messages: Dicts
    tools: Dicts | None = None


class Spoken(Struct, frozen=True):
    """A renderer, and whose tokenizer it has: no name if that is a stand-in."""

    renderer: Renderer
    tokenizer: str | None


def option(text: str) -> tuple[str, JSON]:
    """``NAME=VALUE``, as argparse wants it; the value is JSON, or text where it is none."""
    name, value = special(text)
    if name in OURS:
        raise argparse.ArgumentTypeError(f"{name} is no option of a format")
    try:
        decoded: JSON = msgspec.json.decode(value)
    except msgspec.DecodeError:
        return name, value
    return name, decoded


def special(text: str) -> tuple[str, str]:
    """``NAME=TEXT``, as argparse wants it."""
    name, given, value = text.partition("=")
    if not (given and name.isidentifier()):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, found {text!r}")
    return name, value


def date(text: str) -> datetime:
    """A date or a date and time, as argparse wants it."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a date like 2025-08-05, found {text!r}") from None


def add_spoken(parser: argparse.ArgumentParser) -> None:
    """Declare for whom a conversation is rendered, with what."""
    add = parser.add_argument
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument("-m", "--model", "--family", metavar="NAME|ID", help="a family of models, or a model's id")
    whose.add_argument(
        "--template", metavar="FILE|FOLDER", help="a chat template, or the folder of a model's tokenizer"
    )
    add("-t", "--tokenizer", metavar="NAME|PATH", help="a shipped vocabulary, or a tokenizer's file or folder")
    add(
        "-o",
        "--option",
        action="append",
        default=[],
        type=option,
        metavar="NAME=VALUE",
        help="such as enable_thinking=false",
    )
    add("-d", "--dialect", metavar="NAME", help="what the model speaks, where its template does not tell")
    add("--special", action="append", default=[], type=special, metavar="NAME=TEXT", help="a template's bos_token=<s>")
    add("--now", type=date, metavar="DATE", help="the time, for a template that writes it")
    add("--refuse-control-text", action="store_true", help="fail where a message spells a control token")


def spoken(args: argparse.Namespace) -> Spoken:
    """The renderer that the arguments ask for; raises what its makers raise, and `Unreadable`."""
    if args.template is not None:
        family, source, folder = _of_template(args)
    elif args.model is not None:
        if args.dialect or args.special or args.now:
            raise Unreadable(args.model, "--dialect, --special and --now are for --template")
        family, source, folder = get_family(args.model), "", None
    else:
        raise NoModel
    name = args.tokenizer or folder or SHIPPED_FOR.get(family.dialect)
    tokenizer = get_tokenizer(name) if name else _stand_in(family, source)
    refuses = args.refuse_control_text
    return Spoken(Renderer(family, tokenizer, refuse_control_text=refuses, **dict(args.option)), name)


def read_conversation(path: str) -> Conversation:
    """The conversation in a JSON file, or in the standard input for ``-``; raises `Unreadable`."""
    name = "standard input" if path == "-" else path
    content = b"".join(arriving(path))
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(name, f"not JSON: {error}") from error
    given = value if isinstance(value, Mapping) else {"messages": value}
    messages, tools = _objects(given.get("messages")), _objects(given.get("tools"))
    if messages is None or (tools is None and given.get("tools") is not None):
        expected = 'expected a list of messages, or an object with a list "messages" and perhaps a list "tools"'
        raise Unreadable(name, expected)
    return Conversation(messages, tools)


def _objects(value: object) -> Dicts | None:
    """A list of objects; ``None`` for anything else."""
    return value if isinstance(value, list) and all(isinstance(each, Mapping) for each in value) else None


def _of_template(args: argparse.Namespace) -> tuple[Family, str, str | None]:
    """The family of a template, the template itself, and the folder if it has the tokenizer too."""
    path = Path(args.template)
    templates = read_tokenizer(path).templates
    if not templates:
        raise Unreadable(args.template, "has no chat template")
    source = templates[0]
    tokens = _special_tokens(path) | dict(args.special)
    dialect = dialect_named(args.dialect) if args.dialect else None
    if dialect is None and path.is_dir():
        dialect = recognise(str(path)).dialect
    family = template_family(source, dialect=dialect, special_tokens=tokens, now=args.now)
    return family, " ".join((source, *tokens.values())), str(path) if _has_tokenizer(path) else None


def _special_tokens(path: Path) -> dict[str, str]:
    """The tokens that a template knows by name, as the tokenizer's configuration in a folder says."""
    config = path / "tokenizer_config.json"
    if not config.is_file():
        return {}
    found = {}
    for name, token in msgspec.json.decode(config.read_bytes()).items():  # was read before, as an object
        text = token.get("content") if isinstance(token, Mapping) else token
        if name.endswith("_token") and isinstance(text, str):
            found[name] = text
    return found


def _has_tokenizer(path: Path) -> bool:
    if not path.is_dir():
        return False
    try:
        get_tokenizer(path)
    except InvalidTokenizer:
        return False
    return True


def _stand_in(family: Family, source: str) -> Tokenizer:
    dialect = family.speaks()
    spelled = (*TOKEN.findall(source), *MARK.findall(" ".join((*dialect.turns, *dialect.marks))))
    return ByteTokenizer((*family.needs, *family.ends, *dialect.stops, *dialect.tokens, *spelled))
