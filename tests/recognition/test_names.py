"""Names tell the dialect: its own, and what the parsers of others are called."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dragoman import dialects, get_dialect, registry
from dragoman.errors import AmbiguousDialect, UnknownDialect
from dragoman.recognise import Certainty, by_name


@pytest.mark.parametrize(
    ("name", "dialect", "evidence"),
    [
        ("hermes", "hermes", "the name 'hermes'"),
        ("qwen25", "hermes", "the alias 'qwen25'"),
        ("openai_gptoss", "harmony", "the alias 'openai_gptoss'"),
        ("Deepseek-V3.1", "deepseek_v31", "the alias 'deepseek_v3_1'"),
        ("nemotron_v3", "qwen3_coder", "the alias 'nemotron_v3'"),
    ],
)
def test_a_name_tells_its_dialect(name: str, dialect: str, evidence: str) -> None:
    answer = by_name(name)
    assert (answer.dialect.name, answer.evidence, answer.certainty) == (dialect, evidence, Certainty.EXACT)


def test_a_name_that_is_ones_own_is_not_ambiguous() -> None:
    assert "deepseek_v3" in get_dialect("deepseek_v31").shared
    assert by_name("deepseek-v3").dialect.name == "deepseek_r1"


def test_a_name_that_several_share_is_ambiguous(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (replace(get_dialect(name), shared=("both",)) for name in ("hermes", "mistral"))
    monkeypatch.setattr(registry, "dialects", lambda: (one, other))
    with pytest.raises(AmbiguousDialect) as caught:
        by_name("Both")
    assert str(caught.value) == (
        "'Both' could be several dialects: hermes (answers to 'both'); mistral (answers to 'both'); "
        "name the one, or give the model's chat template"
    )
    monkeypatch.setattr(registry, "dialects", lambda: (one,))
    answer = by_name("both")
    assert (answer.evidence, answer.certainty) == ("the name 'both', which it shares", Certainty.STRONG)


def test_auto_is_a_name_that_no_dialect_has() -> None:
    assert get_dialect("auto") is get_dialect("AUTO")
    assert get_dialect("auto") not in dialects()


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownDialect):
        by_name("xyzzy")


def test_names_are_written_as_they_are_compared() -> None:
    names = {name for dialect in dialects() for name in (dialect.name, *dialect.aliases, *dialect.shared)}
    assert {name for name in names if registry.normal_name(name) != name} == set()
