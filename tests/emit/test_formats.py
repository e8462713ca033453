"""Formats as rules, beside the readers of Python's standard library and of ``jsonschema``."""

from __future__ import annotations

import random
from datetime import date, datetime
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from dragoman.emit.formats import FORMATS, format_rule
from dragoman.emit.generate import generate
from dragoman.emit.matcher import matches
from dragoman.emit.rules import Rules
from tests.emit.schemas import satisfies

READERS = {
    "date": date.fromisoformat,
    "date-time": datetime.fromisoformat,
    "uuid": UUID,
    "ipv4": IPv4Address,
    "ipv6": IPv6Address,
    "uri": urlsplit,
}

SAMPLES = {
    "date": (
        "2024-02-29 2000-02-29 1999-12-31",
        "2023-02-29 1900-02-29 0000-02-29 0000-01-01 2024-04-31 2024-13-01",
    ),
    "time": ("23:59:59Z 00:00:00.123+05:30", "24:00:00Z 12:00 12:00:00 12:60:00Z"),
    "date-time": ("2024-02-29T12:00:00Z 2024-01-01T00:00:00.5-08:00", "2024-01-01 2024-01-01T00:00:00"),
    "duration": ("P1Y P1Y2M3D P1DT2H PT5M30S P4W PT1H", "P PT P1H P1Y1D 1D PT1D"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000 123e4567-e89b"),
    "email": ("a@b a.b+c@example.org", "a @b a@ a..b@c a@-b"),
    "hostname": ("a example.org a-b.c1", "-a a- a..b .a a_b"),
    "ipv4": ("0.0.0.0 255.255.255.255", "256.0.0.0 1.2.3 01.2.3.4 1.2.3.4.5"),
    "ipv6": (":: ::1 1::8 2001:db8::1 1:2:3:4:5:6:7:8 ::ffff:1.2.3.4 1:2:3:4:5:6:7::", "1 1:2 :::1 1::2::3 g::"),
    "uri": ("http://a.b/c?d=e#f mailto:a@b urn:x:y file:///a/b http://[::1]:80/", "a/b //x http://a/%zz 1:a"),
}


def rules(name: str) -> Rules:
    return Rules({"root": format_rule(name)})


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_tells_right_from_wrong(name: str) -> None:
    right, wrong = SAMPLES[name]
    assert [text for text in right.split() if not matches(rules(name), text)] == []
    assert [text for text in wrong.split() if matches(rules(name), text)] == []


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_what_a_format_lets_through_is_read_by_others(name: str) -> None:
    draw = random.Random(name).randrange
    for _ in range(20):
        text = generate(rules(name), draw, size=40)
        assert satisfies(text, {"format": name}), text
        READERS.get(name, str)(text)
