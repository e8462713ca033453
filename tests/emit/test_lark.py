"""Rules in Lark mean to the real llguidance what they mean."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

pytest.importorskip("llguidance")

from dragoman.emit.guarantees import Note
from dragoman.emit.lark import lark
from dragoman.emit.lowered import BITS
from dragoman.emit.rules import (
    EMPTY,
    AnyOrder,
    Chars,
    Expr,
    Lexeme,
    Member,
    Ref,
    Repeat,
    Rules,
    Scan,
    Text,
    chars,
    choice,
    sequence,
)
from dragoman.emit.stretches import RUNS

from .llguidance_harness import Compiled, byte_vocabulary, o200k
from .made_rules import made_rules, scans, sentence, texts
from .naive import accepts, first_word

LAYOUT = choice(EMPTY, " ", sequence("\n", Repeat(chars(" \t"), 0, 20)))
STRING = Lexeme(sequence('"', Repeat(Chars(((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C)), negated=True)), '"'))
NUMBER = Lexeme(choice("0", sequence(chars("1-9"), Repeat(chars("0-9")))))
JSON = {
    "layout": LAYOUT,
    "value": choice(STRING, NUMBER, "true", "null", Ref("array"), Ref("object")),
    "comma": sequence(Ref("layout"), ",", Ref("layout")),
    "array": sequence("[", Ref("layout"), Repeat(Ref("items"), 0, 1), Ref("layout"), "]"),
    "items": sequence(Ref("value"), Repeat(sequence(Ref("comma"), Ref("value")))),
    "pair": sequence(STRING, Ref("layout"), ":", Ref("layout"), Ref("value")),
    "pairs": sequence(Ref("pair"), Repeat(sequence(Ref("comma"), Ref("pair")))),
    "object": sequence("{", Ref("layout"), Repeat(Ref("pairs"), 0, 1), Ref("layout"), "}"),
}


def printed(root: Expr, **rules: Expr) -> tuple[Rules, str, tuple[Note, ...]]:
    made = Rules({"root": root, **rules})
    return made, *lark(made)


def loses_ticks(text: str, notes: tuple[Note, ...]) -> bool:
    """Whether a note says that this text may be refused."""
    return "`" * (RUNS + 1) in text or ("`" in text and any("no backticks" in note.why for note in notes))


@given(made_rules(), st.lists(texts(), max_size=4), st.randoms(use_true_random=False))
def test_any_rules_mean_what_they_mean(rules: Rules, others: list[str], random: Random) -> None:
    text, notes = lark(rules)
    engine = Compiled(text, byte_vocabulary())
    for given_text in [*others, *(sentence(rules, random) for _ in range(4))]:
        assume(len(given_text) < 40)
        wanted, found = accepts(rules, given_text), engine.accepts(given_text)
        assert found == wanted or (loses_ticks(given_text, notes) and not found), given_text


@given(scans(st.sampled_from([EMPTY, Text("!"), Text("?")])), st.lists(texts(16), min_size=1, max_size=8))
def test_free_text_ends_at_the_first_word_that_no_code_hides(scan: Scan, given_texts: list[str]) -> None:
    engine = Compiled(printed(scan)[1], byte_vocabulary())
    words = tuple(word for word, _ in scan.words)
    for text in given_texts:
        assume("`" * (RUNS + 1) not in text)
        for written in (text, *(text + word for word in words)):
            first = first_word(words, written, scan.code)
            then = dict(scan.words)[first[1]] if first is not None else None
            if first is None:
                assert engine.accepts(written) == scan.open, written
            elif then is None:
                assert not engine.prefix_ok(written), written
            else:
                known = written[: first[0]] + (then.text if isinstance(then, Text) else "")
                assert engine.accepts(known), known
                assert not engine.prefix_ok(known + "x"), known


def test_a_word_that_begins_as_it_ends_is_not_written_twice() -> None:
    engine = Compiled(printed(sequence("v", Scan((("\n</p>\n", EMPTY),)), "x"))[1], byte_vocabulary())
    assert engine.accepts("va\n</p>\nx")
    assert not engine.prefix_ok("va\n</p>\n</p>")


def test_a_marker_that_is_a_control_token_is_that_token() -> None:
    vocabulary = byte_vocabulary("<call>", "</call>")
    control = {text: vocabulary.tokenizer.control[text] for text in ("<call>", "</call>")}
    call = sequence(STRING, Text("</call>", mark=True), Ref("root"))
    rules = Rules({"root": Scan((("<call>", call), ("stop", None)), open=True, marks=frozenset(["<call>"]))})
    engine = Compiled(lark(rules, control)[0], vocabulary)
    begin, end = control["<call>"], control["</call>"]
    assert engine.accepts("say ", begin, '"x"', end, "then")
    assert not engine.prefix_ok("a <call>")  # only spelled
    assert not engine.prefix_ok(begin, '"x"</call>')
    assert not engine.prefix_ok("stop")


def test_a_value_that_may_be_text_or_a_number_is_read_as_either() -> None:
    value = choice(Scan((("</p>", EMPTY),)), sequence(NUMBER, "</p>"))
    _, text, _ = printed(Repeat(sequence("<p>", value)))
    assert Compiled(text, byte_vocabulary()).accepts("<p>12</p><p>1x</p>")


def order(count: int, required: int, *, declared: bool = False) -> AnyOrder:
    members = (Member(sequence(f'"k{k:02}":', NUMBER), k < required) for k in range(count))
    return AnyOrder(tuple(members), Text(","), declared=declared)


@pytest.mark.parametrize("count", [10, BITS])
def test_members_come_once_each_in_any_order(count: int) -> None:
    engine = Compiled(printed(sequence("{", order(count, 3), "}"))[1], byte_vocabulary())
    pieces = [f'"k{k:02}":{k}' for k in range(count)]
    assert engine.accepts("{" + ",".join(reversed(pieces)) + "}")
    assert engine.accepts("{" + ",".join(pieces[2::-1]) + "}")
    assert not engine.accepts("{" + ",".join(pieces[1:]) + "}")
    assert not engine.prefix_ok("{" + ",".join([*pieces, '"k00"']))


def test_more_members_than_bits_stand_in_their_order() -> None:
    _, text, notes = printed(order(BITS + 1, 0))
    assert [note.what for note in notes] == ["order"]
    engine = Compiled(text, byte_vocabulary())
    assert engine.accepts('"k00":1,"k64":2')
    assert not engine.prefix_ok('"k64":2,"k00"')


def test_layout_on_both_sides_of_nothing_is_read() -> None:
    engine = Compiled(printed(Ref("value"), **JSON)[1], byte_vocabulary())
    for text in ("{}", "{ }", "{\n }", "{\n \n }", '{ "a" :\n [ ]\n }', '[{"a":[1,{"b":null}]} , ""]'):
        assert engine.accepts(text), text
    assert not engine.accepts("{\n\n\n}")


def test_json_is_read_by_its_lexemes() -> None:
    text = printed(Ref("value"), **JSON)[1]
    assert "LAYOUT" in text
    assert "[,]" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        '"' + "x y " * 2500 + '"',
        "[" + ",".join(['{"a": 1}'] * 2000) + "]",
        "[" * 500 + "]" * 500,
    ],
    ids=["a long string", "a long array", "nested"],
)
def test_long_values_do_not_wear_the_parser_out(text: str) -> None:
    engine = Compiled(printed(Ref("value"), **JSON)[1], byte_vocabulary())
    assert engine.accepts(text)


@pytest.mark.slow
@given(st.integers(0, 1000))
def test_what_is_drawn_through_masks_of_a_real_vocabulary_is_of_the_rules(seed: int) -> None:
    prose = Scan((("<c>", sequence(Ref("object"), "</c>", Ref("root"))),), open=True, code=True)
    rules, text, _ = printed(prose, **JSON)
    engine, random = Compiled(text, o200k()), Random(seed)
    near = [token for word in ("<", "<c>", "c", "{", "}", "</c>", "`", "\n") for token in engine.tokens([word])]

    def choose(random: Random, tokens: list[int]) -> int:
        liked = [token for token in near if token in tokens]
        return random.choice(liked if liked and random.random() < 0.8 else tokens)

    drawn = engine.sample(random, limit=60, choose=choose)
    assume(drawn is not None)
    written = b"".join(map(engine.vocabulary.tokenizer.token_bytes, drawn or []))
    assert accepts(rules, written.decode("utf-8", "replace"))
