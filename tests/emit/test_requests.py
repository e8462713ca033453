"""Each server is given a constraint in its own fields."""

from __future__ import annotations

import pytest

from dragoman.emit.requests import AsGrammar, AsSchema, AsTag, Constraint, sglang_chat, sglang_generate, vllm
from dragoman.types import JSON

TAG = AsTag({"type": "structural_tag", "format": {"type": "any_text"}})
TAG_TEXT = '{"type":"structural_tag","format":{"type":"any_text"}}'
GRAMMAR = AsGrammar('root ::= "yes"')
SCHEMA = AsSchema({"type": "object"})


@pytest.mark.parametrize(
    ("constraint", "fields"),
    [
        (TAG, {"structural_tag": TAG_TEXT}),
        (GRAMMAR, {"grammar": 'root ::= "yes"'}),
        (SCHEMA, {"json": {"type": "object"}}),
    ],
)
def test_vllm_takes_one_field_of_structured_outputs(constraint: Constraint, fields: dict[str, JSON]) -> None:
    assert vllm(constraint) == {"structured_outputs": fields}


@pytest.mark.parametrize(
    ("constraint", "params"),
    [
        (TAG, {"structural_tag": TAG_TEXT}),
        (GRAMMAR, {"ebnf": 'root ::= "yes"'}),
        (SCHEMA, {"json_schema": '{"type":"object"}'}),
    ],
)
def test_sglang_takes_text_among_its_sampling_parameters(constraint: Constraint, params: dict[str, JSON]) -> None:
    assert sglang_generate(constraint) == params


@pytest.mark.parametrize(
    ("constraint", "fields"),
    [
        (TAG, {"response_format": {"type": "structural_tag", "format": {"type": "any_text"}}}),
        (GRAMMAR, {"ebnf": 'root ::= "yes"'}),
        (
            SCHEMA,
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "output", "schema": {"type": "object"}},
                }
            },
        ),
    ],
)
def test_sglang_takes_a_response_format_for_chats(constraint: Constraint, fields: dict[str, JSON]) -> None:
    assert sglang_chat(constraint) == fields
