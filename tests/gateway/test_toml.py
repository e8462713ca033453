"""What is printed of settings is a file that gives them again, with no key in it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.gateway.config import Keys, ModelEntry, Settings, WorkerEntry
from dragoman.gateway.leaves import leaves
from dragoman.gateway.secret import Secret
from dragoman.gateway.sources import read_settings
from dragoman.gateway.toml import toml_value, written

from .settings_values import as_text, plain

TREE = st.recursive(
    st.text() | st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(data=st.data())
def test_settings_are_read_again_as_they_were(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    chosen = data.draw(st.sets(st.sampled_from([leaf for leaf in leaves() if leaf.path[0] != "keys"]), max_size=5))
    flags = {
        leaf.key: value if isinstance(value := data.draw(plain(leaf)), list | bool) else as_text(value)
        for leaf in chosen
    }
    flags.pop("server.processes", None)
    settings = read_settings(None, {}, flags)  # type: ignore[arg-type]
    file = tmp_path_factory.mktemp("written") / "gateway.toml"
    file.write_text(written(settings), encoding="utf-8")
    assert read_settings(file) == settings


@given(TREE)
def test_any_value_is_written_as_it_is(value: object) -> None:
    assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value


def test_a_key_is_hidden_and_the_place_of_one_is_kept(tmp_path: Path) -> None:
    said = Secret.of("env:KEY", {"KEY": "hunter2"})
    settings = Settings(
        keys=Keys(api=(Secret.of("hunter3", {}), said)), workers=(WorkerEntry(url="http://a", key=said),)
    )
    text = written(settings)
    assert "hunter" not in text
    assert 'api = ["(hidden)", "env:KEY"]' in text
    assert tomllib.loads(text)["workers"][0]["key"] == "env:KEY"


def test_what_is_not_set_is_a_comment() -> None:
    lines = written(Settings(models=(ModelEntry(name="a"),))).splitlines()
    assert "# prompt_tokens =" in lines
    assert "# dialect =" in lines
