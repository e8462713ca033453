"""What a dialect is: a name, a grammar that reads it, a function that writes it, and what it is known by.

A dialect is a frozen value, one file each under `dialects/`, found by being there. Its grammar says everything
about reading; `idioms` has the phrases that many share. To write one, see `docs/add-a-dialect.md`; to prove one,
`dragoman.testing.check_dialect`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

from msgspec import Struct

from .errors import DragomanError, InvalidDialect, InvalidStart
from .grammar.machine import Machine
from .grammar.nodes import Grammar, Node
from .grammar.program import Program, program_of
from .grammar.schema import NO_TOOLS, Toolbox
from .segments import Segment
from .types import Message, Tool

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Dialect", "Example", "Facts", "Policy", "load_dialect"]

START = "content"
"""The start state that every dialect has: the model's turn begins, nothing is open."""


class Example(Struct, frozen=True):
    """A raw output and the message it is, for readers and for the kit."""

    title: str
    text: str
    message: Message
    tools: tuple[Tool, ...] = ()
    start: str = START
    reason: str | None = "stop"


class Policy(Struct, frozen=True):
    """Choices that are the caller's where the text alone is ambiguous.

    `calls_in_code`: is markup inside Markdown code (a fence or backticks) a call? By default it is quoted text.
    `calls_in_reasoning`: is a call inside an open thought a call? By default it is, if its whole opener is there.
    Both concern dialects whose markers are ordinary text.
    """

    calls_in_code: bool = False
    calls_in_reasoning: bool = True

    def without(self) -> frozenset[str]:
        """The gates of a grammar that this closes."""
        closed = set()
        if self.calls_in_code:
            closed.add("code")
        if not self.calls_in_reasoning:
            closed.add("calls_in_reasoning")
        return frozenset(closed)


DEFAULT_POLICY = Policy()


class Facts(TypedDict, total=False):
    """What a dialect is recognised by; see `Dialect`."""

    models: tuple[str, ...]
    aliases: tuple[str, ...]
    shared: tuple[str, ...]
    tokens: tuple[str, ...]
    signatures: tuple[tuple[str, ...], ...]
    lacks: tuple[str, ...]
    templates: tuple[str, ...]


class Dialect(Struct, frozen=True, kw_only=True):
    """One way in which models mark thoughts, answers and calls.

    `writer` turns a message into the text that a model of this dialect would have sampled, without the stop
    marker; it raises `Inexpressible` for what the dialect can't say. `native_id` tells how the model itself names the
    n-th call of a tool, ``None`` where it writes no ids (and none are written); `ids` is a pattern of those that tell
    neither. `doc` tells readers what it looks like,
    in the first line what it is. `marks` are its markers, `source` says where the format is specified. `turns` are what
    may stand in a prompt right before the assistant's turn, `others` what begins somebody else's where no stop marker
    ends the assistant's. `kind` says in a few words what calls look like; lists are ordered by it. `variant` makes the
    dialect of checkpoints whose markers are spelled in another way, told by what stands behind a colon in its name.
    `thoughts` read a thought before the answer, from its opener on and from behind it, where thoughts stand there.
    Markers that are `spelled` count in ordinary tokens too, where a tokenizer has a control token for them: models
    write them both ways. `speller` writes the same as `writer`, in segments; told whether to refuse what would not be
    read back from text.

    `dragoman.recognise` knows a dialect by its `aliases`, names of its own, and `shared` names, which others have too;
    by `models`, globs of model ids; by `tokens`, added tokens that all its tokenizers have; by `signatures`, sets of
    strings of which its chat templates hold one whole, and `lacks`, strings that they never hold; by `templates`, the
    hashes of known templates (`dragoman.recognise.template_hash`).
    """

    name: str
    doc: str
    grammar: Grammar
    writer: Callable[[Message], str]
    marks: tuple[str, ...]
    stops: tuple[str, ...]
    source: str
    examples: tuple[Example, ...]
    models: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    native_id: Callable[[str, int], str] | None = None
    ids: str = ""
    turns: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    kind: str = ""
    shared: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    signatures: tuple[tuple[str, ...], ...] = ()
    lacks: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    variant: Callable[[str], Dialect] | None = None
    thoughts: tuple[Node, Node] | None = None
    spelled: tuple[str, ...] = ()
    speller: Callable[[Message, bool], list[Segment]] | None = None

    def __repr__(self) -> str:
        return f"<Dialect {self.name}>"

    @property
    def title(self) -> str:
        """What it is, in one line."""
        return self.doc.split("\n", 1)[0].removesuffix(".")

    @property
    def starts(self) -> tuple[str, ...]:
        """The states in which a parse may start."""
        return (START, *(name for name, _ in self.grammar.entries))

    @property
    def hold_bound(self) -> int:
        """Characters that a parser of this dialect holds back at most; raises `NotStreamable` if unbounded."""
        return self.program().report.require_streamable()

    def program(self, policy: Policy = DEFAULT_POLICY) -> Program:
        """The compiled grammar; cached."""
        return program_of(self.grammar, policy.without())

    def machine(
        self,
        start: str = START,
        tools: Toolbox = NO_TOOLS,
        policy: Policy = DEFAULT_POLICY,
        *,
        base: int = 0,
        calls: int = 0,
    ) -> Machine:
        """A machine at the beginning of the input; raises `InvalidStart` for a state that there is not."""
        if start != START and start not in self.starts:
            raise InvalidStart(self.name, start, self.starts)
        program = self.program(policy)
        return Machine(program, entry=None if start == START else start, tools=tools, base=base, calls=calls)

    def render(self, message: Message) -> str:
        """The message as a model of this dialect writes it; raises `Inexpressible`."""
        return self.writer(message)


def load_dialect(path: str | Path) -> Dialect:
    """The `DIALECT` that a Python file defines; runs the file. Raises `InvalidDialect`."""
    # Imported here, since who parses need not wait for what only the authors of dialects use.
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    file = Path(path)
    spec = spec_from_file_location(f"dragoman_user_{file.stem}", file) if file.suffix == ".py" else None
    if spec is None or spec.loader is None or not file.is_file():
        raise InvalidDialect(str(file), "a Python file that can be read", "none")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except DragomanError:
        raise
    except Exception as error:
        raise InvalidDialect(str(file), "a file that runs", f"{type(error).__name__}: {error}") from error
    found = getattr(module, "DIALECT", None)
    if not isinstance(found, Dialect):
        raise InvalidDialect(str(file), "a Dialect named DIALECT", type(found).__name__ if found else "nothing")
    found.program().report.require_streamable()
    return found
