"""Requests as bytes: URLs taken apart, and nothing that breaks out of its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import InvalidConfig, Refused
from dragoman.gateway.transport.request import Origin, Target, head_of, target_of
from tests.streams import hard

TARGET = target_of("http://host:8000/path?a=b")


@pytest.mark.parametrize(
    ("url", "target", "shown", "authority"),
    [
        ("http://host", Target(Origin("http", "host", 80), "/"), "http://host:80", "host"),
        ("http://host:8000/a?b=c#d", Target(Origin("http", "host", 8000), "/a?b=c"), "http://host:8000", "host:8000"),
        ("https://Host/", Target(Origin("https", "host", 443), "/"), "https://host:443", "host"),
        ("http://[::1]:1/", Target(Origin("http", "::1", 1), "/"), "http://[::1]:1", "[::1]:1"),
        ("http+unix://%2FRun%2Fs/a", Target(Origin("http+unix", "/Run/s", 0), "/a"), "http+unix:/Run/s", "localhost"),
    ],
)
def test_a_url_is_a_place_and_a_path(url: str, target: Target, shown: str, authority: str) -> None:
    assert target_of(url) == target
    assert str(target.origin) == shown
    assert target.origin.authority == authority


@pytest.mark.parametrize(
    "url",
    ["ftp://host/", "http:///path", "http://host:99999/", "http://[::1/", "http://a b/", "http://h/\r\nx: y", "h", ""],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidConfig):
        target_of(url)


def test_a_password_is_refused_and_not_shown() -> None:
    with pytest.raises(InvalidConfig) as caught:
        target_of("http://me:secret@host/")
    assert "secret" not in str(caught.value)


def test_a_head_in_bytes() -> None:
    assert head_of("POST", TARGET, [("X-One", "two\tthree")], 4) == (
        b"POST /path?a=b HTTP/1.1\r\nhost: host:8000\r\naccept-encoding: identity\r\ncontent-length: 4\r\n"
        b"X-One: two\tthree\r\n\r\n"
    )


def test_a_get_has_no_length() -> None:
    assert b"content-length" not in head_of("GET", TARGET, [], 0)


def test_a_post_without_a_body_says_so() -> None:
    assert b"content-length: 0\r\n" in head_of("POST", TARGET, [], 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x", "a\r\nb: c"),
        ("x", "a\nb"),
        ("x", "a\0"),
        ("x", "\u20ac"),
        ("x y", "a"),
        ("x:", "a"),
        ("", "a"),
        ("Content-Length", "0"),
        ("transfer-encoding", "chunked"),
        ("Host", "elsewhere"),
    ],
)
def test_a_header_that_breaks_out_of_its_line_is_refused(name: str, value: str) -> None:
    with pytest.raises(Refused) as caught:
        head_of("GET", TARGET, [(name, value)], 0)
    assert (caught.value.status, caught.value.code) == (400, "invalid_header")


@hard
@given(st.text(), st.text())
def test_a_header_is_one_line_or_refused(name: str, value: str) -> None:
    plain = head_of("GET", TARGET, [], 0)
    try:
        head = head_of("GET", TARGET, [(name, value)], 0)
    except Refused:
        return
    assert head.count(b"\n") == head.count(b"\r") == plain.count(b"\n") + 1
    assert head.count(b"\r\n\r\n") == 1
