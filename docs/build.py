"""Writes the pages of `docs/dialects/` from the dialects themselves, so that they can't say anything else.

`make docs` writes them; ``python docs/build.py --check`` writes nothing and exits with 1 if one is stale.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import msgspec

from dragoman import Dialect, Example, Message, Parser, TextPart, ThinkingPart, ToolCall, dialects, merge
from dragoman.events import ArgumentsDelta, CallBegin, ContentDelta, Event, Malformed, Markup, ReasoningDelta, Stop
from dragoman.grammar import nodes as n
from dragoman.grammar.show import ebnf_node

FOLDER = Path(__file__).parent / "dialects"
WIDTH = 110

# Words in Markdown


def prose(text: str) -> str:
    """Text of a docstring: its code, and whatever looks like a tag, as code."""

    def shown(found: re.Match[str]) -> str:
        return f"\\{found['plain']}" if found["plain"] else f"`{found['code'] or found['bare']}`"

    code = r'``(?P<code>.+?)``|(?P<bare><[^<>\s]+>|start="\w+")|(?P<plain>[<>*\\])'
    return re.sub(code, shown, text, flags=re.DOTALL)


def fenced(text: str) -> str:
    """A block of plain text."""
    fence = "~~~" if "```" in text else "```"
    return f"{fence}text\n{text}\n{fence}"


def filled(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def listed(items: tuple[str, ...]) -> str:
    return ", ".join(f"`{item}`" for item in items) or "none"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def visible(text: str) -> str:
    """A text on one line, as JSON writes it."""
    return msgspec.json.encode(text).decode()


def columns(rows: list[tuple[str, ...]]) -> str:
    """Rows whose cells stand below each other; the last one is as long as it likes."""
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    return "\n".join(
        "  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    )


# A dialect's own words


def blocks(docstring: str) -> Iterator[str]:
    """The paragraphs of a docstring, and what is indented in it as literal blocks."""
    paragraphs = re.split(r"\n{2,}", inspect.cleandoc(docstring))
    for indented, group in groupby(paragraphs, lambda paragraph: paragraph.startswith("    ")):
        if indented:
            yield fenced(inspect.cleandoc("\n\n".join(group)))
        else:
            yield from map(prose, group)


def facts(dialect: Dialect) -> str:
    ids = "the model's own" if dialect.native_id is not None else "none: the caller gives them"
    rows = (
        ("models", listed(dialect.models)),
        ("aliases", listed(dialect.aliases)),
        ("start states", listed(dialect.starts)),
        ("before its turn in a prompt", listed(tuple(turn.replace("\n", "\\n") for turn in dialect.turns))),
        ("stop markers", listed(dialect.stops)),
        ("ids of calls", ids),
        ("holds back at most", f"{dialect.hold_bound} characters"),
        ("specified in", prose(dialect.source)),
    )
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {cell(value)} |" for name, value in rows)])


# Examples

BECAME: dict[type[Event], str] = {
    ReasoningDelta: "reasoning",
    ContentDelta: "content",
    Markup: "markup",
    Malformed: "malformed",
    CallBegin: "call, name",
    ArgumentsDelta: "arguments",
    Stop: "stop",
}


def spans(dialect: Dialect, example: Example) -> str:
    """Which characters of an example became what."""
    parser = Parser(dialect, example.tools, start=example.start)
    events = merge(parser.feed(example.text) + parser.finish(example.reason))
    widest = sorted((event for event in events if event.end > event.start), key=lambda event: event.start)
    rows = []
    for kind, group in groupby(widest, type):
        found = list(group)
        start, end = found[0].start, found[-1].end
        rows.append((f"{start}-{end}", BECAME[kind], visible(example.text[start:end])))
    return fenced(columns(rows))


def parts(message: Message) -> str:
    """The parts of a message, one a line."""
    rows: list[tuple[str, ...]] = []
    for part in message.parts:
        match part:
            case TextPart(text=text, channel=channel):
                rows.append((f"text on {channel}" if channel else "text", visible(text)))
            case ThinkingPart(text=text):
                rows.append(("thought", visible(text)))
            case ToolCall(name=name, arguments=arguments, id=None):
                rows.append(("call", f"{name} {arguments}"))
            case ToolCall(name=name, arguments=arguments, id=known):
                rows.append(("call", f"{name} {arguments}, id {known}"))
            case _:
                rows.append(("unread", visible(part.raw)))
    return fenced(columns(rows))


def shown_example(dialect: Dialect, example: Example, *, closely: bool) -> Iterator[str]:
    yield f"### {example.title[:1].upper()}{example.title[1:]}"
    if example.start != dialect.starts[0]:
        yield f'The prompt has begun it: `start="{example.start}"`.'
    yield fenced(example.text)
    if example.tools:
        yield "With the tools"
        yield "```json\n" + "\n".join(msgspec.json.encode(tool).decode() for tool in example.tools) + "\n```"
    yield "Read as"
    yield parts(example.message)
    if closely:
        yield "What became of which characters:"
        yield spans(dialect, example)


# The grammar

SPACE = r"[ \t\r\n]{0,64}"
REPEATED = 36
"""Characters from which on a part that comes more than once gets a name."""


def named_rules(dialect: Dialect) -> list[tuple[str, str]]:
    """The grammar as rules; what would be written out several times is a rule of its own."""
    grammar = dialect.grammar
    rules = [("root", _text(grammar.root)), *((f"from {name}", _text(node)) for name, node in grammar.entries)]
    rules += [(name, _text(node)) for name, node in grammar.rules().items()]
    candidates = {text: node for node in grammar.walk() if not enclosed(text := _text(node))}
    taken: dict[str, int] = {}
    for text, node in sorted(candidates.items(), key=lambda item: (-len(item[0]), item[0])):
        if len(text) < REPEATED or sum(body.count(text) for _, body in rules) < 2:
            continue
        name = _name(node)
        taken[name] = taken.get(name, 0) + 1
        name = f"{name}_{taken[name]}" if taken[name] > 1 else name
        rules = [(rule, body.replace(text, name)) for rule, body in rules]
        rules.append((name, text))
    # Only now, as it makes the texts differ from those of the nodes.
    names = "|".join(name for name, _ in rules)
    return [(name, _bare(body.replace(SPACE, "_"), names)) for name, body in rules]


def enclosed(text: str) -> bool:
    """Whether brackets stand around all of it."""
    return text.startswith("(") and len(divided(text[1:-1] + " ", " ")) > 1 and divided(text, " ")[0] == text


def _bare(text: str, names: str) -> str:
    """Without the brackets around a single name."""
    while True:
        found = re.sub(rf"(?<![\w-])\(({names})\)", r"\1", text)
        if found == text:
            return text
        text = found


def _text(node: n.Node) -> str:
    return ebnf_node(node, limit=1 << 30)


def _name(node: n.Node) -> str:
    """A name for a part of a grammar, by what it does."""
    inside = list(node.walk())
    if isinstance(node, n.Call):
        return "call"
    if any(isinstance(item, n.Call) for item in inside):
        thinking = any(isinstance(item, n.Label) and item.meaning is n.Meaning.REASONING for item in inside)
        stopping = any(isinstance(item, n.StopMark) for item in inside)
        if stopping:
            return "turn"
        return "calls" if not thinking else "thoughts" if isinstance(node, n.Repeat) else "thought"
    for kind, name in ((n.StopMark, "stops"), (n.Members, "members"), (n.Begin, "head"), (n.Arguments, "body")):
        if any(isinstance(item, kind) for item in inside):
            both = kind is n.Begin and any(isinstance(item, n.Arguments) for item in inside)
            return ("members" if isinstance(node, n.Sequence) else "member") if both else name
    if any(isinstance(item, n.Report) for item in inside):
        return "close"
    if all(isinstance(item, (n.Choice, n.Literal)) for item in inside):
        return "markers"
    if any(isinstance(item, n.Label) and item.meaning is n.Meaning.CONTENT for item in inside):
        return "text"
    return "part"


ATOM = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|=/.*?/(?= )|[()]|[^"\[()=]+|.', re.DOTALL)


def laid_out(text: str, indent: str, first: int = 0) -> str:
    """An expression in lines of at most `WIDTH` characters, broken at alternatives, else between items."""
    if first + len(indent) + len(text) <= WIDTH:
        return text
    alternatives = divided(text, " | ")
    if len(alternatives) > 1:
        return f"\n{indent}| ".join(laid_out(item, indent + "  ", 2) for item in alternatives)
    cases = divided(text, "; ")
    if len(cases) > 1:
        return f";\n{indent}".join(laid_out(item, indent + "  ") for item in cases)
    items = [broken(item, indent) for item in divided(text, " ")]
    lines = [items[0]]
    for item in items[1:]:
        last = lines[-1].rsplit("\n", 1)[-1]
        if "\n" in item or "\n" in lines[-1] or len(indent) + len(last) + len(item) + 3 > WIDTH:
            lines.append(item)
        else:
            lines[-1] += f" {item}"
    return f"\n{indent}".join(lines)


def broken(item: str, indent: str) -> str:
    """One item: what stands in its brackets is set below it if it is long."""
    at = item.find("(")
    if len(indent) + len(item) <= WIDTH or at < 0 or item.startswith(('"', "[")):
        return item
    end = item.rindex(")")
    return f"{item[: at + 1]}\n{indent}    {laid_out(item[at + 1 : end], indent + '    ')}\n{indent}{item[end:]}"


def divided(text: str, divider: str) -> list[str]:
    """The pieces between dividers that stand in no brackets and no quotes."""
    pieces, depth = [""], 0
    for atom in ATOM.findall(text):
        depth += (atom == "(") - (atom == ")")
        if depth or atom[:1] in '"[':
            pieces[-1] += atom
        else:
            head, *others = atom.split(divider)
            pieces[-1] += head
            pieces += others
    return pieces


def grammar(dialect: Dialect) -> str:
    rules = named_rules(dialect)
    return fenced("\n\n".join(f"{name} ::=\n  {laid_out(text, '  ')}" for name, text in rules))


# Pages


def page(dialect: Dialect) -> str:
    """The page of one dialect."""
    whole = [
        f"<!-- Written by docs/build.py from src/dragoman/dialects/{dialect.name}.py: change that and `make docs`. -->",
        f"# {dialect.name}",
        *blocks(dialect.doc),
        facts(dialect),
        "## Examples",
        *(
            text
            for k, example in enumerate(dialect.examples)
            for text in shown_example(dialect, example, closely=k == 0)
        ),
        "## Grammar",
        filled(
            "In [this notation](../grammar.md#the-notation); `_` is layout, up to 64 characters of whitespace. What is "
            "used more than once stands in a rule of its own."
        ),
        grammar(dialect),
    ]
    return "\n\n".join(whole) + "\n"


def index(known: tuple[Dialect, ...]) -> str:
    """The page that lists them all."""
    rows = [
        f"| [`{d.name}`]({d.name}.md) | {cell(prose(d.title))} | {cell(listed(d.models))} | {d.hold_bound} |"
        for d in known
    ]
    whole = [
        "<!-- Written by docs/build.py from the dialects: change those, then `make docs`. -->",
        "# Dialects",
        filled(
            "For each: what it looks like, who writes it, what becomes of each character, and its grammar. *Holds* is "
            "how many characters a parser may hold back at most: the worst case of the whole grammar. In running text "
            "it holds back what could still become a marker, and nothing else."
        ),
        "\n".join(["| dialect | what it is | models | holds |", "|---|---|---|---|", *rows]),
        "Yours is missing? [It is one file.](../add-a-dialect.md)",
    ]
    return "\n\n".join(whole) + "\n"


def pages() -> dict[Path, str]:
    """Every generated page by its place."""
    known = dialects()
    return {FOLDER / "README.md": index(known)} | {FOLDER / f"{dialect.name}.md": page(dialect) for dialect in known}


def stale(expected: dict[Path, str], folder: Path = FOLDER) -> list[Path]:
    """The pages that are missing, that say something else, or that no dialect stands behind."""
    there = {path: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(path for path in there.keys() | expected if there.get(path) != expected.get(path))


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> int:
    """Write the pages, or only look at them; the exit code is 1 if some are stale."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is stale")
    args = parser.parse_args(arguments)
    expected = {folder / path.name: text for path, text in pages().items()}
    changed = stale(expected, folder)
    for path in changed:
        print(f"{'stale' if args.check else 'written' if path in expected else 'removed'}: {path.name}")
        if not args.check:
            write(path, expected.get(path))
    if args.check and changed:
        print("run `make docs`", file=sys.stderr)
    return int(args.check and bool(changed))


def write(path: Path, text: str | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if text is None:
        path.unlink()
    else:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
