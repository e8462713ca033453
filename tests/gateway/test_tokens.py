"""Which tokens are those of visible text, and how they are shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dragoman import Parser
from dragoman.gateway.served import load_model
from dragoman.gateway.tokens import Attribution
from dragoman.gateway.workers.order import Alternative, TokenLogprob

from .harmony import ANALYSIS, CALL, FINAL, ids_of


def shown(raw: str, cuts: set[int]) -> str:
    """The visible tokens of an output, read in these pieces, joined."""
    model = load_model("gpt-oss-20b")
    parser, attribution = Parser("harmony", tokenizer=model.tokenizer), Attribution(model.tokenizer)
    ids = ids_of(raw)
    found = []
    ends = [*sorted(cut for cut in cuts if cut < len(ids)), len(ids)]
    for start, end in zip([0, *ends], ends, strict=False):
        events = []
        for token in ids[start:end]:
            events += parser.feed_tokens([token])
            attribution.push(TokenLogprob(token, -1.0), parser.position)
        found += attribution.settle(events)
    found += attribution.finish(parser.finish("stop"))
    return "".join(entry.token for entry in found)


@given(cuts=st.sets(st.integers(1, 40), max_size=6))
def test_the_tokens_of_the_answer_are_shown_and_no_others(cuts: set[int]) -> None:
    assert shown(ANALYSIS + FINAL, cuts) == "It is mild in Paris."
    assert shown(ANALYSIS + CALL, cuts) == ""


def test_a_token_is_shown_with_its_bytes_and_with_what_it_might_have_been() -> None:
    entry = Attribution(None).entry(TokenLogprob("é", -0.5, (Alternative("e", -1.5),)))
    assert (entry.token, entry.bytes, entry.logprob) == ("é", [195, 169], -0.5)
    assert [(top.token, top.logprob) for top in entry.top_logprobs or ()] == [("e", -1.5)]
