"""Processors of logits in transformers' own ``generate``, with a tiny model that says anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import pytest

from dragoman.constrain.constraint import Constraint, constrain
from dragoman.constrain.emission import Engine
from dragoman.constrain.processors import MaskProcessor, llguidance_processor, xgrammar_processor
from dragoman.dialect import Dialect
from dragoman.errors import InvalidRequest
from dragoman.registry import get_dialect
from dragoman.tokenizers import Tokenizer
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.types import Tool

from .wanted import problems, read, wrong

Make = Callable[..., MaskProcessor]

PROCESSORS = pytest.mark.parametrize("make", [xgrammar_processor, llguidance_processor])
TAGGED = partial(xgrammar_processor, engine=Engine.STRUCTURAL_TAG)

LAMP = Tool(
    "set_lamp",
    "",
    {
        "type": "object",
        "properties": {
            "room": {"type": "string", "enum": ["kitchen", "café"]},
            "level": {"type": "integer", "minimum": 0, "maximum": 100},
            "on": {"type": "boolean"},
        },
        "required": ["room", "on"],
    },
)
PING = Tool("ping", "", {"type": "object", "properties": {}})
TOOLS = (LAMP, PING)

DIALECTS = pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "kimi_k2", "harmony"])


@pytest.fixture(autouse=True)
def engines() -> None:
    """What processors work with, imported by the process that runs these tests only: it takes seconds."""
    pytest.importorskip("xgrammar")
    pytest.importorskip("llguidance")


@cache
def torch() -> Any:
    module = pytest.importorskip("torch")
    module.set_num_threads(1)
    return module


@cache
def transformers() -> Any:
    return pytest.importorskip("transformers")


@cache
def tokenizer(name: str) -> ByteTokenizer:
    """Bytes, with the markers of the dialect as control tokens, and one that it does not know."""
    dialect = get_dialect(name)
    return ByteTokenizer((*dialect.marks, *dialect.stops, "<|foreign|>"))


@cache
def model(size: int) -> Any:
    """A model with weights by chance, whose output has some rows more than the vocabulary has tokens."""
    torch().manual_seed(0)
    config = transformers().LlamaConfig(
        vocab_size=size + 7,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=4096,
    )
    return transformers().LlamaForCausalLM(config).eval()


def outputs(
    vocabulary: Tokenizer,
    dialect: Dialect,
    processor: MaskProcessor,
    before: Sequence[Any] = (),
    rows: int = 3,
    **options: Any,
) -> list[str]:
    """What the model says behind a prompt; those rows that came to an end."""
    stops = [vocabulary.control[stop] for stop in dialect.stops]
    prompt = torch().tensor([vocabulary.encode("Hi!")] * rows)
    settings = {"do_sample": True, "temperature": 3.0, "top_k": 0, "max_new_tokens": 250, **options}
    torch().manual_seed(1)
    written = model(vocabulary.size).generate(
        prompt,
        attention_mask=torch().ones_like(prompt),
        logits_processor=[*before, processor],
        eos_token_id=stops,
        pad_token_id=vocabulary.control["<|foreign|>"],
        **settings,
    )
    found = []
    for row in written[:, prompt.shape[1] :].tolist():
        ends = [at for at, token in enumerate(row) if token in stops]
        if ends:
            found.append(b"".join(map(vocabulary.token_bytes, row[: ends[0]])).decode())
    return found


def seldom_space(input_ids: Any, scores: Any) -> Any:
    """Layout would be most of what is written by chance."""
    scores[:, [9, 10, 13, 32]] -= 10
    return scores


def required(name: str, **asked: Any) -> Constraint:
    return constrain(get_dialect(name), TOOLS, tool_choice="required", reasoning="none", lead_in="none", **asked)


@pytest.mark.slow
@DIALECTS
@pytest.mark.parametrize("make", [xgrammar_processor, TAGGED, llguidance_processor], ids=["ebnf", "tag", "lark"])
def test_what_a_random_model_says_is_a_call_of_the_tools(make: Make, name: str) -> None:
    dialect, vocabulary = get_dialect(name), tokenizer(name)
    processor = make(required(name, parallel=False), vocabulary)
    found = outputs(vocabulary, dialect, processor, [seldom_space])
    assert found
    for text in found:
        events, message = read(dialect, text, TOOLS)
        assert not problems(events), text
        assert len(message.tool_calls) == 1, text
        assert not wrong(message, TOOLS), text


def opening(text: str, vocabulary: Tokenizer) -> Callable[[Any, Any], Any]:
    """Makes the model begin with this text, and say what it will behind it."""
    ids = vocabulary.encode(f"Hi!{text}")

    def wish(input_ids: Any, scores: Any) -> Any:
        at = input_ids.shape[1]
        if at < len(ids):
            scores[:, ids[at]] += 1e4
        return seldom_space(input_ids, scores)

    return wish


@pytest.mark.slow
@PROCESSORS
def test_a_lazy_processor_begins_at_a_trigger_and_not_before(make: Make) -> None:
    dialect = get_dialect("hermes")
    vocabulary = ByteTokenizer(("<|im_end|>", "<|foreign|>"))
    processor = make(constrain(dialect, TOOLS, parallel=False), vocabulary, stops=[256], lazy=True)
    text = 'Let me <see>: <tool_call>\n {"name":\t"'
    prompt = torch().tensor([vocabulary.encode("Hi!")] * 2)
    wish = opening(text, vocabulary)
    torch().manual_seed(2)
    written = model(vocabulary.size).generate(
        prompt,
        attention_mask=torch().ones_like(prompt),
        logits_processor=[wish, processor],
        do_sample=True,
        top_k=0,
        max_new_tokens=60,
        eos_token_id=256,
        pad_token_id=257,
    )
    for row in written[:, 3:].tolist():
        said = bytes(token for token in row if token < 256).decode("utf-8", "replace")
        assert said.startswith(text)
        assert said[len(text) :].startswith(("set_lamp", "ping")), said


@pytest.mark.slow
@PROCESSORS
def test_beams_are_followed_and_a_processor_can_be_used_again(make: Make) -> None:
    dialect, vocabulary = get_dialect("hermes"), tokenizer("hermes")
    processor = make(required("hermes", parallel=False), vocabulary)
    for _ in range(2):
        found = outputs(
            vocabulary,
            dialect,
            processor,
            [seldom_space],
            rows=2,
            num_beams=3,
            num_return_sequences=2,
            max_new_tokens=90,
        )
        for text in found:
            events, message = read(dialect, text, TOOLS)
            assert not problems(events), text
            assert not wrong(message, TOOLS), text


@PROCESSORS
def test_a_row_with_a_refused_token_can_but_end(make: Make) -> None:
    vocabulary = tokenizer("hermes")
    processor = make(required("hermes"), vocabulary)
    scores = torch().zeros((1, vocabulary.size + 7))
    allowed = processor(torch().tensor([[72]]), scores)[0].isfinite()
    assert 0 < int(allowed.sum()) < vocabulary.size
    assert not allowed[vocabulary.size :].any()
    left = processor(torch().tensor([[72, 90]]), scores)[0].isfinite().nonzero().flatten().tolist()
    assert left == [vocabulary.control[stop] for stop in get_dialect("hermes").stops]


def test_a_model_has_to_stop() -> None:
    with pytest.raises(InvalidRequest, match="stops"):
        xgrammar_processor(required("hermes"), ByteTokenizer(("<a>",)))
