"""Dialects are found by being there, by name and alias."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman import dialects, get_dialect, registry
from dragoman.errors import InvalidDialect, UnknownDialect


def test_every_file_is_a_dialect_and_they_come_in_the_order_of_their_names() -> None:
    files = Path(registry.__file__).parent / "dialects"
    names = sorted(path.stem for path in files.glob("*.py") if path.stem != "__init__")
    assert [dialect.name for dialect in dialects()] == names


@pytest.mark.parametrize("name", [name for dialect in dialects() for name in (dialect.name, *dialect.aliases)])
def test_a_dialect_is_found_by_its_name_and_its_aliases(name: str) -> None:
    found = get_dialect(name)
    assert name in (found.name, *found.aliases)


@pytest.mark.parametrize("name", ["Hermes", "KIMI-K2", "gpt-oss"])
def test_a_name_may_be_written_as_models_are(name: str) -> None:
    assert get_dialect(name) is get_dialect(name.lower().replace("-", "_"))


@pytest.mark.parametrize(
    ("name", "near"), [("hermse", "hermes"), ("kimi_k9", "kimi_k2"), ("Qwen3-Codr", "qwen3_coder")]
)
def test_an_unknown_name_is_refused_with_those_most_like_it(name: str, near: str) -> None:
    with pytest.raises(UnknownDialect) as caught:
        get_dialect(name)
    assert near in caught.value.near


def test_a_name_like_no_other_is_refused_with_all_there_are() -> None:
    with pytest.raises(UnknownDialect) as caught:
        get_dialect("xyzzy")
    assert (caught.value.near, caught.value.known) == ((), tuple(dialect.name for dialect in dialects()))


def test_two_dialects_of_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from msgspec.structs import replace\nfrom .generic import DIALECT as generic\n"
    (tmp_path / "zz_again.py").write_text(code + "DIALECT = replace(generic, aliases=('hermes',))", encoding="utf-8")
    monkeypatch.setattr(registry.package, "__path__", [*registry.package.__path__, str(tmp_path)])
    with pytest.raises(InvalidDialect) as caught:
        registry._known.__wrapped__()
    assert str(caught.value) == "zz_again: expected a name of its own, not 'generic', found generic"


def test_a_variant_is_asked_of_its_dialect_by_what_stands_behind_the_colon() -> None:
    assert get_dialect("hy4:abc").name == "hy4:abc"


def test_a_variant_of_a_dialect_that_has_none_is_unknown() -> None:
    with pytest.raises(UnknownDialect):
        get_dialect("hermes:abc")
