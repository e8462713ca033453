"""Rules and texts at random: small ones, over few characters, in which everything meets everything."""

from __future__ import annotations

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

LETTERS = "ab<"
words = st.text(LETTERS, min_size=1, max_size=3)
texts = st.builds(Text, words, st.booleans())
classes = st.builds(chars, st.sampled_from(["a", "ab", "<", "b-"]), st.booleans())
SEPARATORS = (EMPTY, Text(","))


@st.composite
def scans(draw: st.DrawFn, follows: st.SearchStrategy[Expr]) -> Scan:
    found = draw(st.lists(words, min_size=1, max_size=3, unique=True))
    pairs = tuple((word, draw(st.none() | follows) if k else draw(follows)) for k, word in enumerate(found))
    return Scan(pairs, open=draw(st.booleans()), marks=frozenset(found[:1]))


@st.composite
def orders(draw: st.DrawFn, items: st.SearchStrategy[Expr], most: int = 4) -> AnyOrder:
    """Members told apart by what they begin with."""
    count = draw(st.integers(0, most))
    members = [Member(sequence(f"{k}:", draw(items)), draw(st.booleans())) for k in range(count)]
    extra = draw(st.none() | st.just(sequence("x:", draw(items))))
    return AnyOrder(tuple(members), draw(st.sampled_from(SEPARATORS)), extra, draw(st.booleans()))


def _composed(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    repeats = st.tuples(inner, st.integers(0, 2), st.none() | st.integers(0, 2)).map(
        lambda given: Repeat(given[0], given[1], None if given[2] is None else given[1] + given[2])
    )
    some = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        some.map(lambda items: sequence(*items)), some.map(lambda items: choice(*items)), repeats, scans(inner)
    )


leaves = st.one_of(texts, classes, st.just(EMPTY), texts.map(Lexeme), st.sampled_from([Ref("one"), Ref("two")]))
exprs = st.recursive(leaves, _composed, max_leaves=6)


@st.composite
def rule_sets(draw: st.DrawFn) -> Rules:
    """A root and two rules that it may speak of; recursion is behind a character, which every engine takes."""
    plain = st.recursive(st.one_of(texts, classes, st.just(EMPTY)), _composed, max_leaves=4)
    one = draw(st.one_of(plain, orders(plain)))
    two = choice(sequence(draw(texts), draw(exprs)), draw(st.sampled_from([EMPTY, Text("b")])))
    return Rules({"root": draw(st.one_of(exprs, orders(plain))), "one": one, "two": two})


@st.composite
def sentences(draw: st.DrawFn, rules: Rules) -> str:
    """A text that follows the rules about as well as a model would."""
    text = _written(draw, rules, Ref(rules.root), 0)[:24]
    at = draw(st.integers(0, len(text)))
    return draw(
        st.sampled_from([text, text, text[:at], text[:at] + draw(words) + text[at:], text[:at] + text[at + 1 :]])
    )


def _written(draw: st.DrawFn, rules: Rules, part: Expr, depth: int) -> str:
    if depth > 12:
        return ""
    match part:
        case Text(text):
            return text
        case Chars(ranges, negated):
            fit = [c for c in "<ab-" if negated != any(low <= ord(c) <= high for low, high in ranges)]
            return draw(st.sampled_from(fit))
        case Sequence(items):
            return "".join(_written(draw, rules, item, depth + 1) for item in items)
        case Choice(items):
            return _written(draw, rules, draw(st.sampled_from(items)), depth + 1)
        case Repeat(item, low, high):
            count = draw(st.integers(low, low + 2 if high is None else high))
            return "".join(_written(draw, rules, item, depth + 1) for _ in range(count))
        case Ref(name):
            return _written(draw, rules, rules.rules[name], depth + 1)
        case Lexeme(item):
            return _written(draw, rules, item, depth + 1)
        case Scan(pairs):
            word, then = draw(st.sampled_from(pairs))
            behind = "" if then is None else _written(draw, rules, then, depth + 1)
            return draw(st.text(LETTERS, max_size=4)) + word + behind
        case AnyOrder(members, between, extra):
            parts = [member.item for member in draw(st.permutations(members)) if member.required or draw(st.booleans())]
            parts += [extra] if extra is not None and draw(st.booleans()) else []
            written = [_written(draw, rules, item, depth + 1) for item in parts]
            return _written(draw, rules, between, depth + 1).join(written)
    raise AssertionError(part)
