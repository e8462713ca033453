"""``dragoman render``: a conversation as a model gets it, with whose each character is and what is trained on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import msgspec

from ..errors import DragomanError, InvalidConversation
from ..render import Example, Rendered, Renderer, TrainOn, families, prefix_stability
from .conversations import Conversation, Spoken, add_spoken, read_conversation, spoken
from .output import Ink, open_console, table
from .prefixes import show_stability
from .provenance import draw_page
from .stretches import Page, stretch_table, token_table

__all__ = ["register"]

_EXAMPLE = """\
example:
  dragoman render chat.json --model qwen3                who wrote what, and what the model samples
  dragoman render chat.json -m Qwen/Qwen3-8B --prompt --show text            the prompt itself
  dragoman render chat.json -m qwen3 -t ~/qwen3 --train-on last_turn --json  ids and weights
  dragoman render chat.json --template ~/my-model --show mask                token by token
  dragoman render --model qwen3 --stability              do later messages rewrite the prompt?
  dragoman render --families                             what --model knows

chat.json has a list of messages as the API takes them, or an object with "messages" and perhaps "tools".
exit codes: 0 fine, 2 a mistake in the call of this command, or a conversation that the format can't say
"""


class NoIds(DragomanError):
    """Ids were asked for, and there is no tokenizer."""

    def __str__(self) -> str:
        return "ids need a tokenizer: give --tokenizer o200k_harmony, or the path of a tokenizer's file or folder"


class NothingToTrainOn(DragomanError):
    """A conversation in which the model says nothing that counts."""

    def __init__(self, train_on: str) -> None:
        super().__init__(train_on)
        self.train_on = train_on

    def __str__(self) -> str:
        return f"--train-on {self.train_on}: expected a message of the assistant's, found none to train on"


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "render",
        help="write a conversation as a model gets it",
        description="Write a conversation as a model gets it, with a look at which message each stretch of it came "
        "from and what of it the model itself would write.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", nargs="?", default="-", metavar="CONVERSATION", help="JSON; - (default) is the standard input"
    )
    add_spoken(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--prompt", action="store_true", help="with the generation prompt behind it")
    what.add_argument("--prefill", metavar="TEXT", help="with the generation prompt, and this beginning of the answer")
    trained = ", ".join(TrainOn)
    what.add_argument("--train-on", type=_train_on, metavar="WHAT", help=f"supervised examples: {trained}")
    what.add_argument(
        "--stability", action="store_true", help="whether later messages rewrite prompts; no conversation"
    )
    what.add_argument("--families", action="store_true", help="list the families")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--show", choices=("text", "ids", "spans", "mask"), help="one thing only, instead of the view")
    shape.add_argument("--json", action="store_true", help="text, ids, spans and weights; one example a line")
    parser.set_defaults(run=_run)


def _train_on(text: str) -> TrainOn:
    try:
        return TrainOn(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(TrainOn)}, found {text!r}") from None


def _run(args: argparse.Namespace) -> int:
    if args.families:
        _list_families(as_json=args.json)
        return 0
    asked = spoken(args)
    if args.stability:
        _tell_stability(asked.renderer, as_json=args.json)
        return 0
    if args.show in ("ids", "mask") and asked.tokenizer is None:
        raise NoIds
    pages = list(_pages(args, asked, read_conversation(args.file)))
    for number, page in enumerate(pages, 1):
        if args.json:
            _write_json(_whole(asked, page))
            continue
        if len(pages) > 1 and args.show != "ids":
            Ink(open_console()).line(f"{'' if number == 1 else chr(10)}━━ example {number} of {len(pages)}", "bold")
        _show(args.show, page, asked)
    return 0


def _pages(args: argparse.Namespace, asked: Spoken, given: Conversation) -> Iterator[Page]:
    """What is to be shown: a conversation, a prompt, or examples."""
    renderer, counts = asked.renderer, asked.tokenizer is not None
    if args.train_on is not None:
        for example in _examples(renderer, given, args.train_on):
            yield Page(example.rendered, renderer.tokenizer, counts, example.weights)
    elif args.prompt or args.prefill is not None:
        prompt = renderer.build_generation_prompt(given.messages, given.tools, prefill=args.prefill or "")
        yield Page(prompt, renderer.tokenizer, counts, prompt_at=_prompt_at(renderer, given, prompt))
    else:
        yield Page(renderer.render(given.messages, given.tools), renderer.tokenizer, counts)


def _examples(renderer: Renderer, given: Conversation, train_on: TrainOn) -> list[Example]:
    if train_on is TrainOn.ALL:
        return [renderer.build_supervised_example(given.messages, given.tools, train_on=train_on)]
    examples = renderer.build_supervised_examples(given.messages, given.tools, train_on=train_on)
    if not examples:
        raise NothingToTrainOn(train_on)
    return examples


def _prompt_at(renderer: Renderer, given: Conversation, prompt: Rendered) -> int | None:
    """Where in its text a prompt stops being the conversation, if it is that first."""
    try:
        before = renderer.render(given.messages, given.tools).text
    except InvalidConversation:
        return None
    return len(before) if prompt.text.startswith(before) else None


def _show(what: str | None, page: Page, asked: Spoken) -> None:
    console = open_console()
    match what:
        case "text":
            ink = Ink(console)
            ink.write(page.rendered.text)
            if console.is_terminal:
                ink.fresh_line()
        case "ids":
            _write_json(page.rendered.ids)
        case "mask":
            token_table(console, page)
        case None if console.is_terminal:
            draw_page(console, page, _named(asked))
        case _:
            stretch_table(console, page)


def _named(asked: Spoken) -> str:
    return " · ".join(filter(None, (asked.renderer.family.name, asked.tokenizer)))


def _whole(asked: Spoken, page: Page) -> dict[str, object]:
    return {
        "family": asked.renderer.family.name,
        "tokenizer": asked.tokenizer,
        "text": page.rendered.text,
        "ids": page.rendered.ids if page.counts else None,
        "weights": page.weights if page.counts else None,
        "spans_count": "tokens" if page.counts else "characters",
        "spans": page.written(),
    }


def _tell_stability(renderer: Renderer, *, as_json: bool) -> None:
    found = prefix_stability(renderer)
    if as_json:
        _write_json(
            {"family": renderer.family.name, "stable": found.stable if found.cases else None, "cases": found.cases}
        )
    else:
        show_stability(open_console(), renderer.family.name, found)


def _list_families(*, as_json: bool) -> None:
    known = [
        {
            "name": family.name,
            "aliases": family.aliases,
            "dialect": family.dialect,
            "models": family.models,
            "options": family.options.__struct_fields__,
            "source": family.source,
        }
        for family in families()
    ]
    if as_json:
        _write_json(known)
        return
    rows = [
        (family.name, family.dialect, ", ".join(family.options.__struct_fields__), ", ".join(family.models))
        for family in families()
    ]
    table(open_console(), ("family", "dialect", "options", "models"), rows)


def _write_json(value: object) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
