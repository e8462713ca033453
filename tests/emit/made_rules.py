"""Rules made up by hypothesis, hard to tell apart, and texts that they match or nearly match."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from dragoman.emit.rules import (
    EMPTY,
    AnyOrder,
    Chars,
    Choice,
    Expr,
    Lexeme,
    Member,
    Ref,
    Repeat,
    Rules,
    Scan,
    Sequence,
    Text,
    chars,
    choice,
    sequence,
)

__all__ = ["ALPHABET", "WORDS", "exprs", "made_rules", "scans", "sentence", "texts"]

ALPHABET = "ab<`\n"
WORDS = ("<a>", "</a>", "\n<a>", "ab", "\n\n")
"""Words of scans: each set of them is one that a dialect may have, none in another but at its end."""

NOTHING = st.just(EMPTY)
NAMES = ("root", "one", "two")


def texts(size: int = 8, alphabet: str = ALPHABET + ">/") -> st.SearchStrategy[str]:
    """Short texts over the alphabet of the rules."""
    return st.text(alphabet, max_size=size)


@st.composite
def scans(draw: st.DrawFn, then: st.SearchStrategy[Expr] = NOTHING, marks: bool = False) -> Scan:
    """Text up to one of a few words, in code or not."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True))
    words = [
        word
        for word in words
        if not any(word in other[:-1] or word.startswith(other) for other in words if other != word)
    ]
    going = [(word, draw(st.one_of(st.none(), then, then, then))) for word in words]
    return Scan(
        tuple(going),
        open=draw(st.booleans()) or all(each is None for _, each in going),
        code=draw(st.booleans()),
        marks=frozenset(word for word in words if marks and word.endswith(">") and word[0] != "\n"),
    )


def _leaves() -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.text(ALPHABET, min_size=1, max_size=3).map(Text),
        st.sampled_from([chars("a"), chars("ab"), chars("<`"), chars("a", negated=True), chars("\n-z")]),
        st.just(EMPTY),
    )


def _any_order(items: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    def made(given: list[tuple[Expr, bool]], between: Expr, extra: Expr | None, declared: bool) -> AnyOrder:
        members = tuple(
            Member(sequence(f"{key}=", item), required) for key, (item, required) in zip("abc", given, strict=False)
        )
        return AnyOrder(members, between, sequence("<", extra, ";") if extra is not None else None, declared)

    given = st.lists(st.tuples(items, st.booleans()), max_size=3)
    between = st.sampled_from([EMPTY, Text(","), choice("", " ")])
    return st.builds(made, given, between, st.none() | items, st.booleans())


def _counts() -> st.SearchStrategy[tuple[int, int | None]]:
    return st.sampled_from([(0, None), (1, None), (0, 1), (2, 3), (0, 2), (2, None)])


def exprs(refs: tuple[str, ...] = (), marks: bool = False) -> st.SearchStrategy[Expr]:
    """Expressions of a few nodes, which may refer to these rules."""
    leaves = _leaves() | scans(marks=marks)
    if refs:
        leaves |= st.sampled_from(refs).map(Ref)

    def larger(items: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        several = st.lists(items, min_size=1, max_size=3)
        return st.one_of(
            several.map(lambda each: sequence(*each)),
            several.map(lambda each: choice(*each)),
            st.builds(lambda item, count: Repeat(item, *count), items, _counts()),
            scans(items, marks),
            _any_order(items),
            # A lexeme ends where nothing can go on with it.
            st.just(Sequence((Lexeme(Repeat(chars("0-9"), 1)), Text(";")))),
        )

    return st.recursive(leaves, larger, max_leaves=6)


@st.composite
def made_rules(draw: st.DrawFn, marks: bool = False) -> Rules:
    """Up to three rules, which may refer to each other and to themselves; each has an end."""
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    rules: dict[str, Expr] = {}
    for name in names:
        expr = draw(exprs(names, marks))
        rules[name] = choice(expr, draw(_leaves())) if any(isinstance(part, Ref) for part in expr.walk()) else expr
    return Rules(rules)


def sentence(rules: Rules, random: Random, depth: int = 8) -> str:
    """A text that the rules match, or would if they were not so deep; words of scans are as likely as other text."""
    return _sentence(rules, rules.rules[rules.root], random, depth)


def _sentence(rules: Rules, expr: Expr, random: Random, depth: int) -> str:
    match expr:
        case Text(text=text):
            return text
        case Chars(ranges=ranges, negated=negated):
            return random.choice([char for char in ALPHABET + ">/x" if _is_in(char, ranges) != negated] or [""])
        case Ref(name=name):
            return _sentence(rules, rules.rules[name], random, depth - 1) if depth else ""
        case Choice(items=items):
            return _sentence(rules, random.choice(items), random, depth)
        case Repeat(item=item, low=low, high=high):
            times = random.randint(low, low + 2 if high is None else high)
            return "".join(_sentence(rules, item, random, depth) for _ in range(times))
        case Scan(words=words, open=may_end):
            inner = "".join(random.choice("ab<`\n>``") for _ in range(random.randint(0, 5)))
            ways = [word for word in words if word[1] is not None]
            if may_end and (not ways or random.random() < 0.4):
                return inner
            word, then = random.choice(ways or list(words))
            return inner + word + (_sentence(rules, then, random, depth) if then is not None else "")
        case AnyOrder(members=members, between=between, extra=extra, declared=declared):
            items = [member.item for member in members if member.required or random.random() < 0.5]
            items += [extra] * random.randint(0, 2) if extra is not None else []
            if not declared:
                random.shuffle(items)
            written = [_sentence(rules, item, random, depth) for item in items]
            separators = [_sentence(rules, between, random, depth) for _ in items]
            return "".join(part for pair in zip(separators, written, strict=True) for part in pair)[
                len(separators[0]) if separators else 0 :
            ]
    return "".join(_sentence(rules, part, random, depth) for part in expr.children())


def _is_in(char: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= ord(char) <= high for low, high in ranges)
