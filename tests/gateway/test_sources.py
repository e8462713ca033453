"""Flags go before variables, variables before the file, the file before the defaults, for every setting."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import InvalidConfig
from dragoman.gateway.config import Settings
from dragoman.gateway.leaves import Leaf, element, leaves
from dragoman.gateway.sources import read_settings
from dragoman.gateway.toml import toml_value

from .settings_values import as_text, plain


def at(settings: Settings, leaf: Leaf) -> object:
    """The value of a setting."""
    value: object = settings
    for name in leaf.path:
        value = getattr(value, name)
    return value


def in_file(folder: Path, leaf: Leaf, value: object) -> Path:
    *tables, name = leaf.path
    file = folder / "gateway.toml"
    heading = f"[{'.'.join(tables)}]\n" if tables else ""
    file.write_text(f"{heading}{name} = {toml_value(value)}\n", encoding="utf-8")
    return file


def by_flag(leaf: Leaf, value: object) -> dict[str, object]:
    return {leaf.key: value if isinstance(value, list | bool) else as_text(value)}


@given(data=st.data())
@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: leaf.key)
def test_every_setting_has_a_flag_a_variable_and_a_key_in_this_order(
    leaf: Leaf, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("settings")
    said = {source: data.draw(st.none() | plain(leaf), label=source) for source in ("file", "variable", "flag")}
    file = in_file(folder, leaf, said["file"]) if said["file"] is not None else None
    environment = {leaf.variable: as_text(said["variable"])} if said["variable"] is not None else {}
    flags = by_flag(leaf, said["flag"]) if said["flag"] is not None else {}
    settings = read_settings(file, environment, flags)  # type: ignore[arg-type]
    strongest = next((value for source in ("flag", "variable", "file") if (value := said[source]) is not None), None)
    alone = read_settings(None, {}, by_flag(leaf, strongest) if strongest is not None else {})  # type: ignore[arg-type]
    assert at(settings, leaf) == at(alone, leaf)
    if strongest is None:
        assert at(settings, leaf) == leaf.default
    elif element(leaf.kind) is None and not isinstance(strongest, str):
        assert at(settings, leaf) == strongest


def test_settings_of_several_sources_are_put_together(tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text('models = ["a"]\n[server]\nport = 1\nhost = "h"\n[limits]\nqueue = 5\n')
    settings = read_settings(file, {"DRAGOMAN_LIMITS__QUEUE": "6"}, {"server.port": "2"})
    assert (settings.server.host, settings.server.port, settings.limits.queue) == ("h", 2, 6)
    assert [model.name for model in settings.models] == ["a"]


def test_a_variable_may_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text("server.port = 7\n")
    assert read_settings(None, {"DRAGOMAN_CONFIG": str(file)}).server.port == 7


def test_an_empty_variable_says_nothing() -> None:
    assert read_settings(None, {"DRAGOMAN_SERVER__PORT": ""}) == Settings()


def test_what_kubernetes_says_of_a_service_is_not_ours() -> None:
    assert read_settings(None, {"DRAGOMAN_PORT": "tcp://10.0.0.1:80", "DRAGOMAN_SERVICE_HOST": "x"}) == Settings()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"[servr]\n", "server, models, workers"),
        (b"[server]\nprot = 1\n", "gateway.toml: server should be one of host, port"),
        (b"[server]\nprot = 1\n", "found 'prot'; did you mean 'port'?"),
        (b"[server]\nport = -1\n", "gateway.toml: server.port should be a whole number from 0 to 65535, found -1"),
        (b"server = 1\n", "gateway.toml: server should be a table, found 1"),
        (b"[[workers]]\nurl = 1\n", "gateway.toml: workers[0].url should be http://HOST:PORT, found 1"),
        (b"x", "gateway.toml should be TOML, found what is none"),
        (b"# \xff", "gateway.toml should be UTF-8, found something else at byte 2"),
        (b"[[models]]\nname = 'a'\n[[models]]\nname = 'a'\n", "models should be models with names of their own"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_place(tmp_path: Path, content: bytes, sentence: str) -> None:
    file = tmp_path / "gateway.toml"
    file.write_bytes(content)
    with pytest.raises(InvalidConfig) as caught:
        read_settings(file)
    assert sentence in str(caught.value)


def test_a_file_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match=r"none\.toml should be a file that can be read, found No such file"):
        read_settings(tmp_path / "none.toml")


def test_a_variable_that_is_like_one_of_ours_is_a_mistake() -> None:
    with pytest.raises(InvalidConfig) as caught:
        read_settings(None, {"DRAGOMAN_SERVER__PROT": "1"})
    assert str(caught.value).startswith("DRAGOMAN_SERVER__PROT should be the name of a setting")
    assert "did you mean 'DRAGOMAN_SERVER__PORT'?" in str(caught.value)


def test_a_mistake_is_told_even_where_a_flag_says_it_better() -> None:
    with pytest.raises(InvalidConfig, match="DRAGOMAN_SERVER__PORT should be"):
        read_settings(None, {"DRAGOMAN_SERVER__PORT": "x"}, {"server.port": "1"})


def test_a_flag_is_named_as_it_is_written() -> None:
    with pytest.raises(InvalidConfig, match="--limits-queue-seconds should be a number above 0"):
        read_settings(None, {}, {"limits.queue_seconds": "0"})


def test_keys_may_stand_elsewhere(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("two\n")
    settings = read_settings(None, {"ONE": "one"}, {"keys.api": ["env:ONE", f"file:{file}", "three"]})
    assert [key.reveal() for key in settings.keys.api] == ["one", "two", "three"]
