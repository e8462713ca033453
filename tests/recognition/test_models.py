"""Model ids tell the dialect: the most specific glob wins, and copies by others are known by their name."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dragoman import dialects, get_dialect
from dragoman.errors import AmbiguousDialect, Unrecognised
from dragoman.recognise import Certainty, by_model, models, recognise

from .facts import KNOWN, PENDING, facts, ready

FACTS = facts("models.toml")
OWNED = {model: name for model, name in FACTS["models"].items() if ready(name)}
COPIES = {model: name for model, name in FACTS["copies"].items() if ready(name)}


def test_there_are_many_ids() -> None:
    assert len(FACTS["models"]) > 150


def test_what_is_pending_is_what_has_no_file_yet() -> None:
    templates = {each["dialect"] for each in facts("templates.toml")["template"]} - {""}
    named = {*FACTS["models"].values(), *FACTS["copies"].values(), *templates}
    assert named - KNOWN == PENDING


@pytest.mark.parametrize("model", OWNED)
def test_a_model_of_the_owner_is_known(model: str) -> None:
    answer = by_model(model)
    assert (answer.dialect.name, answer.certainty >= Certainty.STRONG) == (OWNED[model], True)
    assert recognise(model).dialect is answer.dialect


@pytest.mark.parametrize("model", COPIES)
def test_a_copy_is_known_by_its_name(model: str) -> None:
    answer = by_model(model)
    assert (answer.dialect.name, answer.certainty) == (COPIES[model], Certainty.WEAK)


@pytest.mark.parametrize("model", FACTS["none"]["ids"])
def test_an_id_that_fits_nothing_is_not_guessed(model: str) -> None:
    with pytest.raises(Unrecognised):
        by_model(model)


def test_a_folder_of_a_download_cache_names_its_model() -> None:
    answer = by_model("cache/hub/models--Qwen--Qwen3-8B/snapshots/9c925d64d72725edaf899c6cb9c377fd0709d9c5")
    assert (answer.dialect.name, answer.certainty) == ("hermes", Certainty.STRONG)


def test_a_model_that_a_dialect_names_without_a_star_is_exact() -> None:
    answer = by_model("deepseek-ai/DeepSeek-V3")
    assert (answer.certainty, answer.evidence) == (Certainty.EXACT, "the model id fits 'deepseek-ai/DeepSeek-V3'")


def test_equally_specific_globs_are_ambiguous(monkeypatch: pytest.MonkeyPatch) -> None:
    rival = replace(get_dialect("generic"), models=("Qwen/Qwen4-*",))
    known = (rival, replace(get_dialect("hermes"), models=("Qwen/Qwen4-*", "Qwen/*")))
    monkeypatch.setattr(models, "dialects", lambda: known)
    with pytest.raises(AmbiguousDialect) as caught:
        by_model("Qwen/Qwen4-8B")
    assert [name for name, _ in caught.value.candidates] == ["generic", "hermes"]
    assert by_model("Qwen/Qwen3-8B").dialect.name == "hermes"


def test_an_owner_alone_says_nothing_of_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "dialects", lambda: (replace(get_dialect("hermes"), models=("acme/*",)),))
    assert by_model("acme/any").dialect.name == "hermes"
    with pytest.raises(Unrecognised):
        by_model("other/any")


def test_no_glob_is_written_twice() -> None:
    globs = [glob.lower() for dialect in dialects() for glob in dialect.models]
    assert len(globs) == len(set(globs))
