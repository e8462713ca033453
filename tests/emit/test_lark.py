"""Rules in Lark mean to the real llguidance what they mean."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("llguidance")

from dragoman.emit.generate import Generator
from dragoman.emit.lark import MEMBERS, lark
from dragoman.emit.matcher import matches
from dragoman.emit.rules import (
    EMPTY,
    AnyOrder,
    Chars,
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
from dragoman.errors import GrammarError

from .llguidance_harness import Compiled, byte_vocabulary, o200k
from .some_rules import rule_sets, sentences

CALL, END = "<call>", "</call>"
STRING = Lexeme(sequence('"', Repeat(Chars(((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C)), negated=True)), '"'))


def compiled(rules: Rules, *control: str, exactly: bool = False) -> Compiled:
    vocabulary = byte_vocabulary(*control)
    ids = {text: vocabulary.tokenizer.control[text] for text in control}
    return Compiled(lark(rules, ids, exactly=exactly)[0], vocabulary)


def only(root: object, **rules: object) -> Rules:
    return Rules({"root": root, **rules})  # type: ignore[dict-item]


@given(st.data(), rule_sets())
def test_any_rules_mean_what_they_mean_where_they_are_printed_exactly(data: st.DataObject, rules: Rules) -> None:
    try:
        engine = compiled(rules, exactly=True)
    except GrammarError:  # nothing satisfies them, as the generator finds too
        with pytest.raises(GrammarError):
            Generator(rules)
        return
    for _ in range(4):
        text = data.draw(sentences(rules))
        assert engine.accepts(text) == matches(rules, text), text


PROSE = only(
    Scan(((CALL, sequence(STRING, END, Ref("root"))), (END, None), ("\n{", None)), open=True),
)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("", True),
        ("a < b", True),
        ("see <ca", True),
        ("<<call>", False),
        ('<<call>"x"</call>', True),
        ('<call>"x"</call> and <call>"y"</call> then', True),
        ("stray </call>", False),
        ("a\n{", False),
        ("a\n {", True),
        ('<call>"<call>"</call>', True),
        ("日本 🙂 naïve", True),
    ],
)
def test_free_text_ends_at_the_first_word(text: str, fits: bool) -> None:
    assert compiled(PROSE).accepts(text) == fits == matches(PROSE, text)


@given(st.text("<calb/>\n{\"'é日", max_size=12))
def test_text_is_read_as_the_rules_read_it(text: str) -> None:
    assert compiled(PROSE).accepts(text) == matches(PROSE, text)


def test_a_word_that_begins_as_it_ends_is_not_written_twice() -> None:
    rules = only(sequence("v", Scan((("\n</p>\n", EMPTY),)), "x"))
    engine = compiled(rules)
    assert engine.accepts("va\n</p>\nx")
    assert not engine.prefix_ok("va\n</p>\n</p>")


def test_the_longer_of_two_words_that_end_at_once_counts() -> None:
    rules = only(Scan((("</p>", Text("a")), ("\n</p>", Text("b")))))
    engine = compiled(rules)
    assert [engine.accepts(text) for text in ("x</p>a", "x\n</p>b", "x\n</p>a", "x</p>b")] == [True, True, False, False]


def test_characters_that_share_a_byte_with_a_word_are_text() -> None:
    rules = only(Scan((("◁think▷", Text("!")),), open=True))
    engine = compiled(rules)
    assert engine.accepts("“quoted” … ◀ ◁ and 日本◁think▷!")
    assert not engine.accepts("◁think▷")


def test_control_tokens_end_text_wherever_they_stand_and_text_never_spells_them() -> None:
    rules = only(Scan(((CALL, sequence(STRING, Text(END, True), Ref("root"))), (END, None)), open=True))
    engine = compiled(rules, CALL, END)
    begin, end = (engine.vocabulary.tokenizer.control[text] for text in (CALL, END))
    assert engine.accepts("I say <call>", begin, '"x"', end, "done")
    assert not engine.prefix_ok("no", end)
    assert not engine.accepts(begin, '"x"</call>')


def test_control_tokens_within_the_layout_are_those_tokens() -> None:
    rules = only(Text(f"a{CALL}b{END}", True))
    engine = compiled(rules, CALL)
    assert engine.accepts("a", engine.vocabulary.tokenizer.control[CALL], f"b{END}")
    assert not engine.accepts(f"a{CALL}b{END}")


def order(count: int, required: int, *, declared: bool = False, extra: bool = False) -> AnyOrder:
    members = tuple(Member(sequence(f'"k{k:02}":', Repeat(chars("0-9"), 1)), k < required) for k in range(count))
    further = sequence('"x":', Repeat(chars("0-9"), 1)) if extra else None
    return AnyOrder(members, Text(","), further, declared)


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize("required", [0, 1, 3])
def test_members_come_once_each(declared: bool, extra: bool, required: int) -> None:
    rules = only(sequence("{", order(4, required, declared=declared, extra=extra), "}"))
    engine, random = compiled(rules), Random(1)
    for _ in range(60):
        keys = [random.choice(("k00", "k01", "k02", "k03", "x", "y")) for _ in range(random.randint(0, 5))]
        text = "{" + ",".join(f'"{key}":{random.randint(0, 99)}' for key in keys) + "}"
        assert engine.accepts(text) == matches(rules, text), text


def test_more_members_than_bits_stand_in_their_order() -> None:
    rules = only(order(MEMBERS + 1, 0))
    text, notes = lark(rules)
    assert [note.what for note in notes] == ["order"]
    engine = Compiled(text, byte_vocabulary())
    assert engine.accepts('"k00":1,"k64":2')
    assert not engine.accepts('"k64":2,"k00":1')


def test_an_object_without_members_is_empty() -> None:
    assert compiled(only(sequence("{", AnyOrder((), Text(",")), "}"))).accepts("{}")


def test_long_values_and_long_arrays_are_no_trouble() -> None:
    rules = only(sequence("[", STRING, Repeat(sequence(",", STRING)), "]", Scan((("</v>", EMPTY),))))
    engine = compiled(rules)
    assert engine.accepts('["' + "a<b " * 5000 + '"]' + "word and <b> " * 1500 + "</v>")
    assert engine.accepts("[" + ",".join(['"x"'] * 2000) + "]</v>")


def test_prose_is_read_with_a_real_vocabulary() -> None:
    vocabulary = o200k()
    engine = Compiled(lark(PROSE)[0], vocabulary)
    assert engine.accepts('Let me look: a < b.\n<call>"Paris"</call> done')
    assert not engine.prefix_ok("a </call>")


def test_two_rules_of_one_name_in_lark_are_told_apart() -> None:
    rules = Rules({"root": choice(Ref("start"), "b"), "start": Text("a")})
    assert [compiled(rules).accepts(text) for text in ("a", "b", "c")] == [True, True, False]


@pytest.mark.slow
def test_many_calls_wear_the_parser_out_no_more_than_one() -> None:
    turn = Scan((("<call>", sequence(STRING, "</call>", Ref("after"))), ("</call>", None)), open=True)
    after = choice(EMPTY, sequence("\n", Ref("root")))
    engine, vocabulary = Compiled(lark(only(turn, after=after))[0], o200k()), o200k()
    engine.matcher.reset()
    for token in vocabulary.tokenizer.encode('so <call>"x"</call>\n' * 40):
        engine.allowed()
        assert engine.matcher.consume_token(token), engine.matcher.get_error()
