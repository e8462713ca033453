"""The numbers that Prometheus is told, under names and labels that nobody can make up."""

from __future__ import annotations

import re

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_families
from prometheus_client.parser import text_string_to_metric_families as families

from dragoman.gateway.observe.metrics import LABELS, OTHER, Metrics, Tokens


def told(metrics: Metrics) -> dict[str, float]:
    """Every sample by its name and labels, but for those of the process and of buckets."""
    found = {}
    for family in families(metrics.exposition()[0].decode()):
        for sample in family.samples:
            if not re.search(r"_process_|_bucket|_build_info", sample.name):
                labels = ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items()))
                found[f"{sample.name.removeprefix('dragoman_')}{{{labels}}}"] = sample.value
    return found


def test_a_request_is_counted_timed_and_weighed() -> None:
    metrics = Metrics()
    bound = metrics.bound("qwen3", "chat")
    bound.begun()
    assert told(metrics)["requests_in_flight{endpoint=chat,model=qwen3}"] == 1
    bound.first_token(0.5)
    bound.stage("prepare", 0.25)
    bound.finished(200, 2.5, Tokens(prompt=10, completion=5, cached=4, first_seconds=0.5, reasoning=2))
    numbers = told(metrics)
    each = "endpoint=chat,model=qwen3"
    assert numbers[f"requests_in_flight{{{each}}}"] == 0
    assert numbers[f"requests_total{{{each},status=200}}"] == 1
    assert numbers[f"request_duration_seconds_sum{{{each}}}"] == 2.5
    assert numbers[f"time_to_first_token_seconds_sum{{{each}}}"] == 0.5
    assert numbers[f"time_per_output_token_seconds_sum{{{each}}}"] == 0.5
    assert numbers[f"output_tokens_per_second_sum{{{each}}}"] == 2.0
    assert numbers["stage_duration_seconds_sum{stage=prepare}"] == 0.25
    tokens = {kind: numbers[f"tokens_total{{endpoint=chat,kind={kind},model=qwen3}}"] for kind in KINDS}
    assert tokens == {"prompt": 10, "completion": 5, "cached": 4, "reasoning": 2}


KINDS = ("prompt", "completion", "cached", "reasoning")


def test_an_answer_of_one_token_has_no_pace() -> None:
    metrics = Metrics()
    bound = metrics.bound("m", "chat")
    for tokens in (Tokens(1, 1, 0, 0.1), Tokens(1, 9), Tokens(1, 9, 0, 1.0), None):
        bound.begun()
        bound.finished(499, 1.0, tokens)
    numbers = told(metrics)
    assert numbers["requests_total{endpoint=chat,model=m,status=499}"] == 4
    assert numbers["time_per_output_token_seconds_count{endpoint=chat,model=m}"] == 0


def test_what_parsers_find_is_counted_by_dialect() -> None:
    metrics = Metrics()
    bound = metrics.bound("m", "chat")
    bound.problem("hermes", "orphan")
    bound.problem("hermes", "orphan", 2)
    bound.residue("hermes", 4)
    assert told(metrics)["parse_problems_total{dialect=hermes,kind=orphan}"] == 3
    assert told(metrics)["residue_total{dialect=hermes}"] == 4


def test_a_worker_is_told_until_it_is_gone() -> None:
    metrics = Metrics()
    metrics.worker("http://w").show(up=True, load=3, breaker=2)
    metrics.worker("http://w").retried()
    numbers = told(metrics)
    assert numbers["worker_up{worker=http://w}"] == 1
    assert numbers["worker_requests_in_flight{worker=http://w}"] == 3
    assert numbers["worker_breaker_state{worker=http://w}"] == 2
    assert numbers["retries_total{worker=http://w}"] == 1
    metrics.forget_worker("http://w")
    metrics.forget_worker("http://w")
    assert not [name for name in told(metrics) if "http://w" in name]


def test_queue_and_streams_are_told() -> None:
    metrics = Metrics()
    metrics.queued(5)
    metrics.stream_opened()
    metrics.stream_opened()
    metrics.stream_closed()
    assert told(metrics)["requests_queued{}"] == 5
    assert told(metrics)["streams_open{}"] == 1


def test_a_model_that_is_not_served_has_no_label() -> None:
    metrics = Metrics()
    metrics.bound(None, "chat").begun()
    assert f"requests_in_flight{{endpoint=chat,model={OTHER}}}" in told(metrics)


def test_labels_are_bounded_in_number() -> None:
    metrics = Metrics()
    for index in range(LABELS + 50):
        metrics.bound(f"m{index}", "chat").stage(f"s{index}", 0.1)
        metrics.worker(f"w{index}").retried()
    lines = metrics.exposition()[0].decode().splitlines()
    for name in ("requests_in_flight", "stage_duration_seconds_count", "retries_total"):
        assert len([line for line in lines if line.startswith(f"dragoman_{name}{{")]) == LABELS + 1
    assert f'dragoman_stage_duration_seconds_count{{stage="{OTHER}"}} 50.0' in lines


def test_children_are_looked_up_once() -> None:
    metrics = Metrics()
    assert metrics.bound("m", "chat") is metrics.bound("m", "chat")
    assert metrics.worker("w") is metrics.worker("w")


def test_two_gateways_do_not_share_numbers() -> None:
    one, other = Metrics(), Metrics()
    one.queued(3)
    assert told(other)["requests_queued{}"] == 0


def test_a_scraper_gets_the_format_that_it_asks_for() -> None:
    metrics = Metrics("1.2.3")
    body, kind = metrics.exposition("application/openmetrics-text; version=1.0.0")
    assert kind.startswith("application/openmetrics-text")
    assert any(
        sample.labels.get("version") == "1.2.3" for each in open_families(body.decode()) for sample in each.samples
    )
    assert metrics.exposition()[1].startswith("text/plain")


def test_when_a_counter_was_made_is_not_told() -> None:
    assert b"_created" not in Metrics().exposition()[0]


def test_names_end_in_their_unit() -> None:
    bound = (metrics := Metrics()).bound("m", "chat")
    bound.begun()
    bound.finished(200, 1.0)
    found = [family for family in families(metrics.exposition()[0].decode()) if "_process_" not in family.name]
    assert all(family.name.startswith("dragoman_") for family in found)
    histograms = {family.name for family in found if family.type == "histogram"}
    assert {name.rsplit("_", 1)[1] for name in histograms} <= {"seconds", "second"}
