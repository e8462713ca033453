"""The caller's mistakes; a model's bad output is never an exception but a `Problem` event.

    DragomanError
    ├── GrammarError            a grammar that can't be run
    │   ├── DelimiterError      a set of delimiters that breaks the rules
    │   ├── UnknownRule         a `ref` to a rule that is nowhere defined
    │   ├── LeftRecursion       a rule that reaches itself without reading a character
    │   └── NotStreamable       a node that would have to hold back without bound
    ├── UnknownDialect          no dialect of that name
    │   └── Unrecognised        nothing tells which dialect it is
    ├── AmbiguousDialect        several dialects that it could be
    ├── InvalidTokenizer        a tokenizer's file that can't be read
    ├── UnknownFamily           no renderer of that name, or for that model
    ├── UnknownToken            an id that a vocabulary does not have
    ├── ControlText             text that spells a control token, where that is refused
    ├── InvalidConversation     messages that can't be read, or that a format can't say
    ├── CannotExtend            a prompt that can't be made by adding to the last one
    ├── InvalidChatTemplate     a chat template that can't be run, or that refuses the conversation
    ├── InvalidDialect          a dialect file that is not one
    │   └── InvalidTemplate     a response template that can't be honoured
    ├── InvalidTool             a tool or a schema that can't be read
    ├── InvalidRequest          what is asked of a constraint can't be
    ├── InvalidStart            a start state that the dialect does not have
    ├── InvalidSuite            a file of the conformance suite that can't be read
    ├── InvalidPrompt           a prompt that does not end in the assistant's turn
    ├── Inexpressible           a message that a dialect can't write
    ├── NoTokenizer             token ids for a parser that has no tokenizer
    ├── ParserFinished          text after `finish`
    ├── InvalidEvent            a server-sent event that can't be read or written
    ├── InvalidConfig           a setting that can't be
    ├── Refused                 a request that the gateway answers with an error
    └── WorkerFailed            a worker that did not do its work

Each carries its facts as attributes and forms its sentence in `__str__`.
"""

from __future__ import annotations

__all__ = [
    "AmbiguousDialect",
    "CannotExtend",
    "ControlText",
    "DelimiterError",
    "DragomanError",
    "GrammarError",
    "Inexpressible",
    "InvalidChatTemplate",
    "InvalidConfig",
    "InvalidConversation",
    "InvalidDialect",
    "InvalidEvent",
    "InvalidPrompt",
    "InvalidRequest",
    "InvalidStart",
    "InvalidSuite",
    "InvalidTemplate",
    "InvalidTokenizer",
    "InvalidTool",
    "LeftRecursion",
    "NoTokenizer",
    "NotStreamable",
    "ParserFinished",
    "Refused",
    "UnknownDialect",
    "UnknownFamily",
    "UnknownRule",
    "UnknownToken",
    "Unrecognised",
    "WorkerFailed",
]


class DragomanError(Exception):
    """The base of all errors that this package raises on purpose."""


class GrammarError(DragomanError):
    """A grammar that can't be run: which node, what is wrong, and the way out."""

    def __init__(self, node: str, problem: str, fix: str) -> None:
        super().__init__(node, problem, fix)
        self.node, self.problem, self.fix = node, problem, fix

    def __str__(self) -> str:
        return f"{self.problem}: in {self.node}; {self.fix}"


class DelimiterError(GrammarError):
    """Delimiters must not be empty, nor a prefix of one another, nor contain another but as a suffix."""


class UnknownRule(GrammarError):
    """A `ref` names a rule that the grammar does not define."""


class LeftRecursion(GrammarError):
    """A rule calls itself before it has read a character, and would never end."""


class NotStreamable(GrammarError):
    """A node holds input back without bound, so a stream through it would freeze."""


class UnknownDialect(DragomanError):
    """No dialect has that name; ``near`` are the names most like it."""

    def __init__(self, name: str, near: tuple[str, ...], known: tuple[str, ...]) -> None:
        super().__init__(name, near, known)
        self.name, self.near, self.known = name, near, known

    def __str__(self) -> str:
        if self.near:
            return f"unknown dialect {self.name!r}; did you mean {' or '.join(map(repr, self.near))}?"
        return f"unknown dialect {self.name!r}; known are {', '.join(self.known)}"


class Unrecognised(UnknownDialect):
    """Nothing tells which dialect something is in; ``tried`` is how it was looked at."""

    def __init__(self, name: str, tried: tuple[str, ...], near: tuple[str, ...], known: tuple[str, ...]) -> None:
        super().__init__(name, near, known)
        self.args = (name, tried, near, known)
        self.tried = tried

    def __str__(self) -> str:
        mean = f"; did you mean {' or '.join(map(repr, self.near))}?" if self.near else ""
        *others, last = self.tried
        looked = f"{', '.join(others)} or {last}" if others else last
        return f"can't tell the dialect of {self.name!r} by {looked}{mean or '; name the dialect'}"


class AmbiguousDialect(DragomanError):
    """Several dialects are as likely; ``candidates`` are their names, each with what speaks for it."""

    def __init__(self, name: str, candidates: tuple[tuple[str, str], ...]) -> None:
        super().__init__(name, candidates)
        self.name, self.candidates = name, candidates

    def __str__(self) -> str:
        listed = "; ".join(f"{dialect} ({evidence})" for dialect, evidence in self.candidates)
        return f"{self.name!r} could be several dialects: {listed}; name the one, or give the model's chat template"


class InvalidTokenizer(DragomanError):
    """A file of a tokenizer that can't be read, or that is not what it should be."""

    def __init__(self, path: str, expected: str, found: str) -> None:
        super().__init__(path, expected, found)
        self.path, self.expected, self.found = path, expected, found

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, found {self.found}"


class InvalidDialect(DragomanError):
    """A file or value that should define a dialect does not."""

    def __init__(self, source: str, expected: str, found: str) -> None:
        super().__init__(source, expected, found)
        self.source, self.expected, self.found = source, expected, found

    def __str__(self) -> str:
        return f"{self.source}: expected {self.expected}, found {self.found}"


class InvalidTemplate(InvalidDialect):
    """A declaration that is wrong, or that asks for what no stream can do; ``source`` is the place in it."""

    def __init__(self, source: str, expected: str, found: str, fix: str) -> None:
        super().__init__(source, expected, found)
        self.args = (source, expected, found, fix)
        self.fix = fix

    def __str__(self) -> str:
        return f"{super().__str__()}; {self.fix}"


class InvalidTool(DragomanError):
    """A tool, or the schema of its parameters, that can't be read; ``where`` is a path into it."""

    def __init__(self, where: str, expected: str, found: object, tool: str | None = None) -> None:
        super().__init__(where, expected, found, tool)
        self.where, self.expected, self.found, self.tool = where, expected, found, tool

    def __str__(self) -> str:
        whose = f"tool {self.tool!r}" if self.tool else "tool"
        shown = repr(self.found)
        if len(shown) > 60:
            shown = shown[:57] + "..."
        return f"{whose}: {self.where} should be {self.expected}, found {shown}"


class InvalidRequest(DragomanError):
    """Something that was asked of a constraint and can't be; ``where`` is the field."""

    def __init__(self, where: str, expected: str, found: object) -> None:
        super().__init__(where, expected, found)
        self.where, self.expected, self.found = where, expected, found

    def __str__(self) -> str:
        shown = repr(self.found)
        return f"{self.where} should be {self.expected}, found {shown if len(shown) <= 60 else shown[:57] + '...'}"


class InvalidStart(DragomanError):
    """The dialect has no start state of that name."""

    def __init__(self, dialect: str, start: str, known: tuple[str, ...]) -> None:
        super().__init__(dialect, start, known)
        self.dialect, self.start, self.known = dialect, start, known

    def __str__(self) -> str:
        return f"dialect {self.dialect!r} can't start in {self.start!r}; it can start in {', '.join(self.known)}"


class InvalidSuite(DragomanError):
    """A file of conformance cases that is missing or can't be read; ``where`` is the place in it."""

    def __init__(self, where: str, expected: str, found: str) -> None:
        super().__init__(where, expected, found)
        self.where, self.expected, self.found = where, expected, found

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected}; found {self.found}"


class InvalidPrompt(DragomanError):
    """A prompt, or a prefill, that does not tell where in the assistant's turn the model begins."""

    def __init__(self, dialect: str, expected: str, found: str, fix: str) -> None:
        super().__init__(dialect, expected, found, fix)
        self.dialect, self.expected, self.found, self.fix = dialect, expected, found, fix

    def __str__(self) -> str:
        return f"dialect {self.dialect!r}: expected {self.expected}, found {self.found}; {self.fix}"


class Inexpressible(DragomanError):
    """A dialect has no way to write this part of a message; ``part`` counts from 0."""

    def __init__(self, dialect: str, part: int, reason: str) -> None:
        super().__init__(dialect, part, reason)
        self.dialect, self.part, self.reason = dialect, part, reason

    def __str__(self) -> str:
        return f"dialect {self.dialect!r} can't write part {self.part} of the message: {self.reason}"


class UnknownFamily(DragomanError):
    """No family of models has that name; ``near`` are the names most like it."""

    def __init__(self, name: str, near: tuple[str, ...], known: tuple[str, ...]) -> None:
        super().__init__(name, near, known)
        self.name, self.near, self.known = name, near, known

    def __str__(self) -> str:
        if self.near:
            return f"no renderer for {self.name!r}; did you mean {' or '.join(map(repr, self.near))}?"
        return f"no renderer for {self.name!r}; give its chat template, or one of {', '.join(self.known)}"


class UnknownToken(DragomanError):
    """A vocabulary has no token of this id."""

    def __init__(self, token: int, size: int) -> None:
        super().__init__(token, size)
        self.token, self.size = token, size

    def __str__(self) -> str:
        return f"no token has the id {self.token}; the vocabulary's ids are below {self.size}"


class ControlText(DragomanError):
    """A message's text spells a control token, and the caller asked to be told; ``at`` is where in the text."""

    def __init__(self, message: int, part: int, spelled: str, at: int) -> None:
        super().__init__(message, part, spelled, at)
        self.message, self.part, self.spelled, self.at = message, part, spelled, at

    def __str__(self) -> str:
        whose = f"part {self.part} of message {self.message}" if self.message >= 0 else "the text"
        return f"{whose} spells the control token {self.spelled!r} at character {self.at}; take it out, or allow it"


class InvalidConversation(DragomanError):
    """A message that can't be read, or that this format can't say; ``message`` and ``part`` count from 0."""

    def __init__(self, message: int, expected: str, found: str, part: int | None = None) -> None:
        super().__init__(message, expected, found, part)
        self.message, self.expected, self.found, self.part = message, expected, found, part

    def __str__(self) -> str:
        part = f", part {self.part}" if self.part is not None else ""
        where = f"message {self.message}{part}" if self.message >= 0 else "the conversation"
        return f"{where}: expected {self.expected}, found {self.found}"


class CannotExtend(DragomanError):
    """The format rewrites what stands in the prompt already, so that nothing can be added behind it."""

    def __init__(self, reason: str, expected: str, found: str) -> None:
        super().__init__(reason, expected, found)
        self.reason, self.expected, self.found = reason, expected, found

    def __str__(self) -> str:
        return f"{self.reason}: {self.expected!r} becomes {self.found!r}; render the conversation anew"


class InvalidChatTemplate(DragomanError):
    """A chat template that can't be run, or that refuses the conversation; ``line`` where that is known."""

    def __init__(self, problem: str, fix: str, line: int | None = None) -> None:
        super().__init__(problem, fix, line)
        self.problem, self.fix, self.line = problem, fix, line

    def __str__(self) -> str:
        where = f", line {self.line}" if self.line is not None else ""
        return f"chat template{where}: {self.problem}; {self.fix}"


class NoTokenizer(DragomanError):
    """Token ids were given to a parser that reads text."""

    def __init__(self, dialect: str) -> None:
        super().__init__(dialect)
        self.dialect = dialect

    def __str__(self) -> str:
        return f"token ids need a tokenizer: Parser({self.dialect!r}, tokenizer=...)"


class ParserFinished(DragomanError):
    """Input was fed after `finish`; make a new parser, or `copy()` one before it is finished."""

    def __str__(self) -> str:
        return "the parser has finished: make a new one for new input, or copy() it before finish()"


class InvalidEvent(DragomanError):
    """A server-sent event that can't be read, being too long, or can't be written."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(expected, found)
        self.expected, self.found = expected, found

    def __str__(self) -> str:
        return f"a server-sent event needs {self.expected}, found {self.found}"


class InvalidConfig(DragomanError):
    """A setting that can't be; ``where`` is its place, in a file, the environment or the flags."""

    def __init__(self, where: str, expected: str, found: str) -> None:
        super().__init__(where, expected, found)
        self.where, self.expected, self.found = where, expected, found

    def __str__(self) -> str:
        return f"{self.where} should be {self.expected}, found {self.found}"


class Refused(DragomanError):
    """A request that is answered with an error in OpenAI's shape.

    ``status`` is HTTP's, ``code`` a short word that programs compare, ``param`` the path of the field concerned,
    ``retry_after`` the seconds after which the same request may fare better.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(status, code, message)
        self.status, self.code, self.message = status, code, message
        self.param, self.retry_after = param, retry_after

    def __str__(self) -> str:
        return self.message


class WorkerFailed(DragomanError):
    """A worker that could not be reached, broke off, or answered what its protocol does not have.

    ``status`` is that of its HTTP answer, ``None`` where there was none. `is_fault` tells whether the worker is to
    blame: a refused request (4xx) and one too many (429, 503) are not its failure.
    """

    def __init__(self, worker: str, problem: str, status: int | None = None) -> None:
        super().__init__(worker, problem, status)
        self.worker, self.problem, self.status = worker, problem, status

    @property
    def is_fault(self) -> bool:
        """Whether it counts against the worker."""
        return self.status is None or (self.status >= 500 and self.status != 503)

    def __str__(self) -> str:
        said = f" (HTTP {self.status})" if self.status is not None else ""
        return f"worker {self.worker}: {self.problem}{said}"
