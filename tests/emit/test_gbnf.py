from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.emit.expand import expand
from dragoman.emit.gbnf import gbnf
from dragoman.emit.rules import (
    EMPTY,
    AnyOrder,
    Chars,
    Choice,
    Lexeme,
    Member,
    Ref,
    Repeat,
    Rules,
    Scan,
    Text,
    choice,
    sequence,
)

from .llama_cpp import LlamaCpp, RefusedError
from .meaning import accepts
from .some_rules import rule_sets, sentences

Llama = Callable[..., LlamaCpp]
MARKERS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "</parameter>")


def printed(rules: Rules) -> str:
    return gbnf(expand(rules)[0])


def test_rules_are_written_one_a_line_the_root_first() -> None:
    rules = Rules(
        {
            "start": sequence(Ref("root"), Repeat(choice("a", Ref("b"), EMPTY), 0, 1), Text("<t>", mark=True)),
            "root": Choice((Repeat(Chars(((97, 122), (45, 45)))), Repeat(Text("\n"), 2, 5), Repeat(Text("x"), 3, 3))),
            "b": Lexeme(sequence(Repeat(Chars((), negated=True), 1), Repeat(Text('"\\é\x00'), 2))),
        },
        "start",
    )
    assert printed(rules) == (
        'root ::= start ("a" | b)? "<t>"\n'
        'start ::= [a-z\\u002D]* | "\\n"{2,5} | "x"{3}\n'
        'b ::= [^\\u0000]+ "\\"\\\\é\\u0000"{2,}\n'
    )


def test_what_is_repeated_again_stands_in_parentheses() -> None:
    assert gbnf(Rules({"root": Repeat(Repeat(Text("a"), 2, 3))})) == 'root ::= ("a"{2,3})*\n'


def test_rules_that_are_not_plain_are_refused() -> None:
    with pytest.raises(TypeError, match="GBNF has no Scan: expand the rules first"):
        gbnf(Rules({"root": Scan((("a", EMPTY),))}))


@given(st.data(), rule_sets())
def test_llama_cpp_accepts_what_the_rules_mean(llama: Llama, data: st.DataObject, rules: Rules) -> None:
    engine = llama(*MARKERS)
    texts = [data.draw(sentences(rules)) for _ in range(4)]
    assert engine.matches(printed(rules), texts) == [accepts(rules, text) for text in texts]


CHARACTERS = [*map(chr, range(32, 127)), *"\n\t\r\x01é▁｜\u2028\U0001f600"]


def test_llama_cpp_reads_every_character_in_texts_and_in_classes(llama: Llama) -> None:
    engine = llama(*MARKERS)
    for c in CHARACTERS:
        code = ord(c)
        assert engine.matches(gbnf(Rules({"root": Text(f"{c}{c}")})), [c, c + c]) == [False, True]
        for more in ((code, code + 1),), ((code, code),), ((48, 57), (code, code)):
            inside = Rules({"root": Chars(more)})
            outside = Rules({"root": Chars(more, negated=True)})
            assert engine.matches(gbnf(inside), [c, "ø"]) == [True, False]
            assert engine.matches(gbnf(outside), [c, "ø"]) == [False, True]


@pytest.mark.parametrize(("low", "high"), [(0, 2345), (1999, 2001), (2500, None), (1234, 1234)])
def test_llama_cpp_counts_beyond_its_own_limit(llama: Llama, low: int, high: int | None) -> None:
    engine = llama(*MARKERS)
    grammar = gbnf(Rules({"root": sequence("<", Repeat(choice("ab", "c"), low, high), ">")}))
    counts = [0, low - 1, low, 2100, 2345, 2346, 3001]
    fits = [low <= count and (high is None or count <= high) for count in counts]
    assert engine.matches(grammar, [f"<{'c' * count}>" for count in counts if count >= 0]) == [
        fit for fit, count in zip(fits, counts, strict=True) if count >= 0
    ]


def test_llama_cpp_takes_characters_that_share_bytes_with_a_marker(llama: Llama) -> None:
    grammar = printed(Rules({"root": Scan((("◁/think▷", EMPTY),))}))
    assert llama(*MARKERS).matches(grammar, ["“▷◁/◁/think▷", "…◁/think◁"]) == [True, False]


CITY = sequence("<parameter=city>\n", Scan((("</parameter>", EMPTY),)), "\n")
DAYS = sequence("<parameter=days>\n", Repeat(Chars(((48, 57),)), 1, 3), "\n</parameter>\n")
ARGUMENTS = AnyOrder((Member(CITY), Member(DAYS, required=False)), EMPTY)
CALL = sequence("\n<function=get>\n", ARGUMENTS, "</function>\n", Text("</tool_call>", mark=True))
OUTPUT = Rules(
    {
        "root": Scan((("</think>", Ref("answer")),)),
        "answer": Scan(
            (("<tool_call>", sequence(Ref("call"), Ref("answer"))), ("</think>", None)), open=True, code=True
        ),
        "call": CALL,
    }
)
HEARD = [
    ("plan</think>", True),
    ("plan", False),
    ("a</thin</think>so <tool_ca", True),
    ("</think><tool_call>\n<function=get>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>.", True),
    ("</think><tool_call>\n<function=get>\n</function>\n</tool_call>", False),
    ("</think><tool_call>x", False),
    ("</think>a</think>", False),
    ("</think>`<tool_call>` and ```\n<tool_call>\n```\nthat", True),
    ("</think>``` `<tool_call>\n<tool_call>", False),
]


@pytest.mark.parametrize("marks", [True, False])
def test_llama_cpp_hears_an_output_token_by_token(llama: Llama, marks: bool) -> None:
    engine = llama(*MARKERS)
    assert engine.matches(printed(OUTPUT), [text for text, _ in HEARD], marks=marks) == [fits for _, fits in HEARD]


def test_llama_cpp_samples_what_the_rules_allow(llama: Llama) -> None:
    whole = sampled(llama(*MARKERS), range(12))
    assert len(whole) > 4
    assert any("<tool_call>\n<function=get>" in text for text in whole)


@pytest.mark.slow
def test_llama_cpp_samples_what_the_rules_allow_at_any_temperature(llama: Llama) -> None:
    engine = llama(*MARKERS)
    for temperature in (0.2, 1.0, 30.0):
        assert sampled(engine, range(40), temperature)


def sampled(engine: LlamaCpp, seeds: range, temperature: float = 5.0) -> list[str]:
    """Outputs that came to their end, each of which is one that the rules mean."""
    favour = {"</think>": 20.0, "<tool_call>": 40.0, "</parameter>": 20.0, "`": 4.0, "```": 4.0, "\n": 4.0}
    texts = [
        engine.complete(grammar=printed(OUTPUT), seed=seed, temperature=temperature, n_predict=300, favour=favour)
        for seed in seeds
    ]
    whole = [text.text for text in texts if text.finish == "eos"]
    assert all(accepts(OUTPUT, text) for text in whole)
    return whole


def test_llama_cpp_says_what_it_cannot_read(llama: Llama) -> None:
    with pytest.raises(RefusedError, match="failed to parse grammar"):
        llama(*MARKERS).complete(grammar="root ::= missing")


# Grammars that wait for a marker: what a server wants to be told, in which form.

LAZY = gbnf(Rules({"root": sequence("<tool_call>", Repeat(Text("x"), 2, 3), "</tool_call>")}))
TOKEN, WORD, PATTERN = 0, 1, 2


@pytest.mark.parametrize(
    "trigger",
    [
        {"type": WORD, "value": "<tool_call>"},
        {"type": PATTERN, "value": "(<tool_call>)"},
    ],
)
def test_llama_cpp_waits_for_a_marker(llama: Llama, trigger: dict[str, object]) -> None:
    fields = {"grammar": LAZY, "grammar_lazy": True, "grammar_triggers": [trigger], "seed": 1}
    found = llama(*MARKERS).complete(favour={"<tool_call>": 50.0}, ending=0.01, **fields)  # type: ignore[arg-type]
    free, called, rest = found.text.partition("<tool_call>")
    assert free
    assert (called, found.finish) == ("<tool_call>", "eos")
    assert rest in ("xx</tool_call>", "xxx</tool_call>")


def test_llama_cpp_wants_a_trigger_that_is_a_token_to_be_preserved(llama: Llama) -> None:
    fields = {"grammar_triggers": [{"type": WORD, "value": "<tool_call>"}], "preserved_tokens": []}
    with pytest.raises(RefusedError, match="should be marked as preserved token"):
        llama(*MARKERS).complete(grammar=LAZY, grammar_lazy=True, **fields)  # type: ignore[arg-type]
