"""Chat templates tell the dialect: by their hash if they are known, else by their markers.

The templates themselves are not here, only what markers they have: a stand-in holds just those.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dragoman import Dialect, dialects, get_dialect
from dragoman.errors import AmbiguousDialect, Unrecognised
from dragoman.recognise import Certainty, by_template, normal_template, recognise, template_hash, templates

from .facts import facts, ready

TEMPLATES: list[dict[str, Any]] = facts("templates.toml")["template"]
HASHES = {digest: dialect.name for dialect in dialects() for digest in dialect.templates}
STRIPPED = {"glm-4.5", "GLM-4.7"}
"""Copies that lost their line feeds or closing tags: the hash knows them, the markers would tell something else."""

READY = [each for each in TEMPLATES if ready(each["dialect"]) and each["title"] not in STRIPPED]
NONE = [each for each in TEMPLATES if not each["dialect"]]


def stand_in(template: dict[str, Any]) -> str:
    """A text that has the markers of a template, and nothing else."""
    return "\n".join(template["markers"])


def title(template: dict[str, Any]) -> str:
    return f"{template['title']}-{template['sha256'][:8]}"


def test_there_are_many_templates() -> None:
    assert len(TEMPLATES) > 200


@pytest.mark.parametrize("template", READY, ids=title)
def test_a_template_is_known_by_its_markers(template: dict[str, Any]) -> None:
    answer = by_template(stand_in(template))
    assert (answer.dialect.name, answer.certainty) == (template["dialect"], Certainty.STRONG)


@pytest.mark.parametrize("template", NONE, ids=title)
def test_a_template_of_no_dialect_is_not_guessed(template: dict[str, Any]) -> None:
    with pytest.raises(Unrecognised):
        by_template(stand_in(template))


def test_a_hash_belongs_to_the_dialect_that_the_template_is_for() -> None:
    told = {each["sha256"][: templates.HASH_DIGITS]: each["dialect"] for each in TEMPLATES}
    assert {digest: told[digest] for digest in HASHES} == HASHES
    assert len(HASHES) == sum(len(dialect.templates) for dialect in dialects())


def test_a_known_template_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "{{ messages }}\n"
    known = replace(get_dialect("hermes"), templates=(template_hash(text),))
    monkeypatch.setattr(templates, "dialects", lambda: (known,))
    answer = by_template("\ufeff{{ messages }}  \r\n\r\n")
    assert (answer.dialect, answer.certainty) == (known, Certainty.EXACT)


def test_copies_of_a_template_are_normalised() -> None:
    assert normal_template("\ufeff\n\na \t\r\n\n b\r\n\n") == "a\n\n b"
    assert template_hash("a \r\nb\r\n") == template_hash("a\nb") != template_hash(" a\nb")


HERMES = "{% if tools %}<tool_call></tool_call>{{ call.arguments }}{% endif %}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (HERMES, "hermes"),
        (HERMES + "<function=f><parameter=x>", "qwen3_coder"),
        ("[TOOL_CALLS]", "mistral_pre_v11"),
        ("[TOOL_CALLS][ARGS]", "mistral"),
        ("[TOOL_CALLS][ARGS][CALL_ID]", "mistral_v11"),
        ("<｜tool▁calls▁begin｜><｜tool▁sep｜>", "deepseek_v31"),
        ("<｜tool▁calls▁begin｜><｜tool▁sep｜>```json", "deepseek_r1"),
    ],
)
def test_the_more_specific_signature_wins(text: str, name: str) -> None:
    assert by_template(text).dialect.name == name


@pytest.mark.parametrize(
    "text",
    [
        "{% for m in messages %}[INST] {{ m.content }} [/INST]{% endfor %}",
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}",
        "You never write <tool_call> in an answer. {{ messages }}",
        "{# once: <tool_call>{arguments}</tool_call> #}{{ messages }}",
        "{{ messages }}",
    ],
)
def test_what_only_looks_alike_is_not_guessed(text: str) -> None:
    with pytest.raises(Unrecognised):
        recognise(text)


def test_signatures_of_which_none_holds_the_other_are_ambiguous() -> None:
    with pytest.raises(AmbiguousDialect) as caught:
        by_template(HERMES + "[TOOL_CALLS]")
    assert caught.value.candidates == (
        ("hermes", "the chat template has <tool_call> </tool_call> arguments"),
        ("mistral_pre_v11", "the chat template has [TOOL_CALLS]"),
    )


@pytest.mark.parametrize("dialect", [each for each in dialects() if each.signatures], ids=lambda each: each.name)
def test_a_dialects_own_signature_is_told_from_all_others(dialect: Dialect) -> None:
    for signature in dialect.signatures:
        assert by_template("\n".join(signature)).dialect is dialect
