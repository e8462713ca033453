"""A sandbox for chat templates: Hugging Face's settings, and an end to whatever a template does.

A template comes with a model's files, from whoever made them. Jinja's sandbox keeps it from the interpreter; it does
not keep it from running for ever, or from filling the memory. So everything that repeats or grows is paid for from one
budget of steps: each turn of a loop, each call, and each operation by the size of what it reads or makes. No clock is
asked, so that what works on one machine works on all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import NoReturn, TypeAlias, TypeVar, cast

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

__all__ = ["MESSAGE_STEPS", "OUTPUT_LIMIT", "STEPS", "Exhausted", "Refused", "Sandbox", "tojson"]

T = TypeVar("T")
Filter: TypeAlias = Callable[..., object]

STEPS, MESSAGE_STEPS = 2_000_000, 20_000
"""What one render may spend, and as much again for each message: some templates look at all messages for each."""

OUTPUT_LIMIT = 16 << 20
"""Characters, or items, of one value that a template makes; the longest contexts of today have half of it."""

PER_STEP, COPIED = 64, 1024
"""Characters that cost as much as a turn of a loop, to look at and only to copy."""

NUMBER_LIMIT = 10_000
"""Widths, precisions and the like that a filter or a format may ask for, and the bits of a power."""

METHODS = frozenset(
    {
        "capitalize",
        "casefold",
        "count",
        "endswith",
        "find",
        "format",
        "index",
        "isalnum",
        "isalpha",
        "isascii",
        "isdecimal",
        "isdigit",
        "isidentifier",
        "islower",
        "isnumeric",
        "isprintable",
        "isspace",
        "istitle",
        "isupper",
        "join",
        "lower",
        "lstrip",
        "partition",
        "removeprefix",
        "removesuffix",
        "replace",
        "rfind",
        "rindex",
        "rpartition",
        "rsplit",
        "rstrip",
        "split",
        "splitlines",
        "startswith",
        "strip",
        "swapcase",
        "title",
        "upper",
    }
)
"""What a template may call on a string: all that does not pad it to a width."""

REFUSED = frozenset({"batch", "center", "random", "slice", "urlize", "wordwrap", "xmlattr"})
"""Filters that no chat template needs: chance, and padding."""

DEEP = frozenset(
    {"dictsort", "format", "groupby", "join", "max", "min", "pprint", "sort", "string", "tojson", "unique"}
)
"""Filters that walk into what their argument holds, as often as it holds it."""

COMPARE = frozenset(
    {"==", "!=", "<", "<=", ">", ">=", "eq", "equalto", "ge", "greaterthan", "gt", "in", "le", "lessthan", "lt", "ne"}
)
"""Tests that walk into both of what they compare."""

CHEAP = frozenset({"count", "d", "default", "first", "last", "length", "safe"})
"""Filters that do not look at each item of what they are given."""

WIDE = frozenset({"indent", "round", "tojson", "truncate"})
"""Filters whose numbers say how much they write."""


class Exhausted(TemplateError):
    """The template wants more than a render may spend."""


class Refused(TemplateError):
    """The template itself has called `raise_exception`."""


def tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as transformers' filter of that name writes it: unlike Jinja's own, no HTML escapes and in order."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class Generation(Extension):
    """``{% generation %}``: what the model is trained on, as transformers and trl mark it."""

    tags = {"generation"}  # noqa: RUF012  (Jinja's own declaration)

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        call = nodes.Call(nodes.EnvironmentAttribute("generated"), [], [], None, None)
        return nodes.CallBlock(call, [], [], body).set_lineno(line)


class _Paid(NodeTransformer):
    """Sends loops, joins and comparisons through the environment, which counts them."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802  (Jinja calls it by the name of the node)
        self.generic_visit(node)
        node.iter = _through("counted", cast(nodes.Expr, node.iter))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _through("joined", *node.nodes)

    def visit_Operand(self, node: nodes.Operand) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        if not isinstance(node.expr, nodes.Const):
            node.expr = _through("container" if node.op in {"in", "notin"} else "walked", node.expr)
        return node

    def visit_ScopedEvalContextModifier(self, node: nodes.Node) -> NoReturn:  # noqa: N802
        raise Exhausted("autoescape is not a thing of chat templates")


def _through(name: str, *arguments: nodes.Expr) -> nodes.Call:
    line = arguments[0].lineno
    method = nodes.EnvironmentAttribute(name, lineno=line)
    return nodes.Call(method, list(arguments), [], None, None, lineno=line)


class _Namespace(Namespace):
    """Jinja's own, without names that begin with an underscore: those are the interpreter's."""

    def __init__(*args: object, **kwargs: object) -> None:
        _own_names(kwargs)
        Namespace.__init__(*args, **kwargs)

    def __setitem__(self, name: str, value: object) -> None:
        _own_names((name,))
        super().__setitem__(name, value)


def _own_names(names: Iterable[str]) -> None:
    for name in names:
        if name.startswith("_"):
            raise TemplateError(f"{name!r} can't be set: it begins with an underscore")


def _dict(**items: object) -> dict[str, object]:
    return items


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of one render, whose steps it counts; never shared."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, strftime_now: Callable[[str], str], steps: int = STEPS) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
        self.left = self.steps = steps
        self.finalize = self.walked
        self.filters["tojson"] = tojson
        self.filters["join"] = self.join
        self.filters = {
            name: self.paid(name, cast("Filter", found)) for name, found in self.filters.items() if name not in REFUSED
        }
        self.tests = {
            name: self.paid("sort" if name in COMPARE else name, cast("Filter", test))
            for name, test in self.tests.items()
        }
        self.globals.pop("lipsum")
        self.globals |= {"strftime_now": strftime_now, "raise_exception": _refuse}
        self.globals |= {"dict": _dict, "namespace": _Namespace}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = _Paid().visit(super()._parse(source, name, filename))
        assert isinstance(tree, nodes.Template)
        tree.set_environment(self)
        return tree

    # What is paid for.

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise Exhausted(f"it takes more than {self.steps} steps")

    def weighed(self, value: T) -> T:
        """Pays for reading or making a value, without what it holds."""
        if isinstance(value, str | list | tuple | dict):
            size = len(value)
            if size > OUTPUT_LIMIT:
                raise Exhausted(f"it makes a value of more than {OUTPUT_LIMIT} characters or items")
            self.spend(1 + size // PER_STEP)
        elif isinstance(value, int) and value.bit_length() > NUMBER_LIMIT:
            raise Exhausted(f"it makes a number of more than {NUMBER_LIMIT} bits")
        return value

    def container(self, value: T) -> T:
        """What the operator ``in`` looks into."""
        return self.weighed(value)

    def walked(self, value: T) -> T:
        """Pays for a value and for all that it holds, each time it holds it."""
        self.weighed(value)
        if isinstance(value, list | tuple):
            for item in value:
                self.spend(1)
                self.walked(item)
        elif isinstance(value, dict):
            for key, item in value.items():
                self.spend(1)
                self.walked(key)
                self.walked(item)
        return value

    def counted(self, items: Iterable[T]) -> Iterator[T]:
        for item in items:
            self.spend(1)
            yield item

    def joined(self, *parts: object) -> str:
        """The operator ``~``."""
        return self.connect([part if isinstance(part, str) else str(self.walked(part)) for part in parts])

    def connect(self, texts: list[str]) -> str:
        """Joins texts, if that is not too long."""
        size = sum(map(len, texts))
        if size > OUTPUT_LIMIT:
            raise Exhausted(f"it makes a text of more than {OUTPUT_LIMIT} characters")
        self.spend(1 + size // COPIED)
        return "".join(texts)

    def generated(self, caller: Macro) -> str:
        text: str = caller()
        return text

    def join(self, value: Iterable[object], d: str = "", attribute: str | int | None = None) -> str:
        texts: list[str] = []
        for item in value:
            found = item if attribute is None else self.getitem(item, attribute)
            texts += [str(d), str(self.walked(found))] if texts else [str(self.walked(found))]
        return self.connect(texts)

    def call_binop(self, context: Context, operator: str, left: object, right: object) -> object:
        match operator, left, right:
            case "+", str() | list() | tuple(), str() | list() | tuple():
                self._fits(len(left) + len(right))
                self.spend(1 + (len(left) + len(right)) // COPIED)
                return super().call_binop(context, operator, left, right)
            case "*", str() | list() | tuple(), int():
                self._fits(len(left) * right)
            case "*", int(), str() | list() | tuple():
                self._fits(left * len(right))
            case "**", int(), int():
                self._fits(left.bit_length() * abs(right), NUMBER_LIMIT)
            case "%", str(), _:
                self._formats(left, right if isinstance(right, tuple) else (right,))
        return self.weighed(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: object, *args: object, **kwargs: object) -> object:  # noqa: N805
        __self.spend(1)
        owner, name = getattr(__obj, "__self__", None), getattr(__obj, "__name__", "")
        if isinstance(owner, str):
            if name not in METHODS:
                raise Exhausted(f"{name} of a string is not for chat templates")
            args = __self._affordable(owner, name, args)
        elif getattr(__obj, "__wrapped__", None) is not None and name in {"format", "format_map"}:
            template = getattr(__obj, "__wrapped__").__self__  # noqa: B009  (Jinja's wrapper of the method)
            __self._formats(template, (*args, *kwargs.values()))
        return __self.weighed(super().call(__context, __obj, *args, **kwargs))

    def _affordable(self, text: str, name: str, args: tuple[object, ...]) -> tuple[object, ...]:
        self.weighed(text)
        if name == "replace" and len(args) > 1:
            old, new = str(args[0]), str(args[1])
            self._fits(len(text) + text.count(old) * len(new))
        if name == "join" and args and isinstance(args[0], Iterable):
            items = list(args[0])
            self._fits(sum(len(item) + len(text) for item in items if isinstance(item, str)))
            args = (items, *args[1:])
        return args

    def _formats(self, template: str, given: tuple[object, ...]) -> None:
        """What is formatted may be padded, but not without bound, and not be written too often."""
        self.walked(given)
        longest = max((len(str(value)) for value in given), default=0)
        if WIDTH.search(template):
            numbers = [int(digits) for digits in re.findall(r"\d{1,9}", template)]
            longest += max(*numbers, *(value for value in given if isinstance(value, int)), 0, 0)
        self._fits(len(template) + (template.count("%") + template.count("{")) * longest)

    def _fits(self, size: int, limit: int = OUTPUT_LIMIT) -> None:
        if size > limit:
            raise Exhausted(f"it makes a value of {size} characters, items or bits; {limit} is the most")

    def paid(self, name: str, found: Callable[..., object]) -> Callable[..., object]:
        """A filter, or a test, that pays before it runs, and for what it makes."""

        @wraps(found)
        def run(*args: object, **kwargs: object) -> object:
            given = (*args, *kwargs.values())
            for value in given:
                if name in DEEP:
                    self.walked(value)
                else:
                    self.weighed(value)
                    self.spend(len(value) if isinstance(value, list | tuple) and name not in CHEAP else 0)
                if name in WIDE and isinstance(value, int) and value > NUMBER_LIMIT:
                    raise Exhausted(f"{name} by {value}")
            match name, [value for value in given if isinstance(value, str)]:
                case "replace", [text, old, new, *_]:
                    self._fits(len(text) + text.count(old) * len(new))
                case "format", [text, *_]:
                    self._formats(text, given[1:])
                case "indent", [text, *_]:
                    width = max((value for value in given if isinstance(value, int)), default=4)
                    self._fits(len(text) + (text.count("\n") + 1) * width)
                case "sum", _:
                    start = kwargs.get("start", args[3] if len(args) > 3 else 0)
                    if not isinstance(start, int | float):
                        raise Exhausted("sum is for numbers")
            made = self.weighed(found(*args, **kwargs))
            return self.counted(made) if isinstance(made, Iterator) else made

        return run


WIDTH = re.compile(r"%[^a-zA-Z%]*[\d*]|:[^{}]*[\d{]")
"""A field of ``%`` or of ``format`` that says how wide it is."""


def _refuse(message: object) -> NoReturn:
    raise Refused(str(message))
