"""The list of metrics: each is named and described once."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from dragoman.gateway.observe.families import Families


def test_every_metric_is_described_and_ours() -> None:
    registry = CollectorRegistry()
    Families(registry)
    found = list(registry.collect())
    assert all(family.name.startswith("dragoman_") and family.documentation for family in found)
    assert len({family.name for family in found}) == len(found)
