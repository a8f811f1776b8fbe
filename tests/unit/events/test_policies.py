"""What a scaling policy may be told, and the sentence about each setting that it may not."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from events.job_config.config import Invalid, JobConfig, validate_config
from events.job_config.policies.flink_periods import CHARS_MAX
from events.job_config.policies.settings import LIST
from events.job_config.policies.table import SETTINGS
from events.job_config.strict_json import canonical_json, parse_json, printable
from tests.unit.events.test_config import SMALLEST, json_values

BOUNDS = ("gt", "ge", "lt", "le")


def told(name: str, settings: Any) -> JobConfig | Invalid:
    return validate_config({**SMALLEST, "policy": {"name": name, "settings": settings}})


def models() -> dict[str, type[BaseModel]]:
    """Of all settings, and of what lies within them."""
    found: dict[str, type[BaseModel]] = {}
    for name, model in SETTINGS.items():
        found[name] = model
        for at, field in model.model_fields.items():
            found |= {f"{name}.{at}": one for one in inner(field.annotation)}
    return found


def inner(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [one for part in get_args(annotation) for one in inner(part)]


@pytest.mark.parametrize("name", SETTINGS)
def test_the_defaults_can_be_said(name: str) -> None:
    plain = json.loads(SETTINGS[name]().model_dump_json())
    said = parse_json(canonical_json(plain), what="it")
    assert isinstance(said, dict)
    config = told(name, {key: value for key, value in said.items() if value is not None})
    assert isinstance(config, JobConfig), str(config)
    assert config.policy.settings.keys() <= SETTINGS[name].model_fields.keys()
    assert SETTINGS[name].model_validate(config.policy.settings) == SETTINGS[name]()
    assert validate_config(json.loads(config.model_dump_json())) == config


def test_settings_stay_as_they_were_said() -> None:
    config = told("turbine", {"margin": 2})
    assert isinstance(config, JobConfig)
    assert config.policy.settings == {"margin": 2}


@pytest.mark.parametrize("name", models())
def test_every_setting_is_described_and_every_number_has_bounds(name: str) -> None:
    model = models()[name]
    assert model.__doc__
    assert model.model_config["frozen"]
    for at, field in model.model_fields.items():
        assert len(field.description or "") > 8, at
        kinds = {field.annotation, *get_args(field.annotation)}
        if kinds & {int, float}:
            bounds = [one for one in BOUNDS for bound in field.metadata if hasattr(bound, one)]
            assert len(bounds) == 2, at
            assert bounds[0] < bounds[1], at
            # A bound that a number may come as near to as it likes is none for who divides by it.
            assert not any(getattr(bound, "gt", None) == 0 for bound in field.metadata), at
        if tuple in {getattr(kind, "__origin__", None) for kind in kinds}:
            assert any(bound in field.metadata for bound in LIST.metadata), at


# Each of them was let through to the policy before, or stopped it.
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("turbine", {"margin": 7}, "margin: expected a number from 1 to 3, found 7"),
    (
        "turbine",
        {"drain_minutes": 1e-320},
        "drain_minutes: expected a number from 0.001 to 240, found 1e-320",
    ),
    (
        "proactive",
        {"memory_soft": 1e-320},
        "memory_soft: expected a number from 0.001 to 1, found 1e-320",
    ),
    ("turbine", {"margin": "2"}, 'margin: expected a number, found "2"'),
    ("turbine", {"margin": True}, "margin: expected a number, found true"),
    ("turbine", {"margin": None}, "margin: expected a number, found null"),
    ("turbine", {"margin": [2]}, "margin: expected a number, found a list of 1"),
    ("turbine", {"margin": float("nan")}, "margin: expected * number*, found no number within *"),
    (
        "turbine",
        {"marign": 2},
        'marign: expected a setting of policy turbine, perhaps margin, found "marign"',
    ),
    ("ds2", {"x": 1}, 'x: expected one of activation_time, *, warm_up_time, found "x"'),
    (
        "ds2",
        {"activation_time": 0},
        "activation_time: expected a whole number from 1 to 10000, found 0",
    ),
    ("ds2", {"activation_time": 1.5}, "activation_time: expected a whole number, found 1.5"),
    (
        "ds2",
        {"target_rate_ratio": 0.5},
        "target_rate_ratio: expected a number from 1 to 1000, found 0.5",
    ),
    (
        "reactive",
        {"step_down": 1},
        "step_down: expected a number of at least 0.001 and below 1, found 1",
    ),
    (
        "reactive",
        {"step_up": 1},
        "step_up: expected a number above 1 and of at most 100, found 1",
    ),
    ("reactive", {"recover_minutes": 5}, "recover_minutes: expected a setting of policy reactive*"),
    (
        "proactive",
        {"memory_margin": 1.1},
        "memory_margin: expected a number of at least 1.12, as memory_soft is 0.9: *, found 1.1",
    ),
    (
        "preactive",
        {"horizon_hours": 25},
        "horizon_hours: expected a number from 0.001 to 24, found 25",
    ),
    ("dhalion", {"wait_s": -1}, "wait_s: expected a whole number from 0 to 604800, found -1"),
    (
        "streamops",
        {"lag_low": 5, "lag_high": 5},
        "lag_low: expected a number below lag_high, which is 5, found 5",
    ),
    (
        "streamops",
        {"overloaded_ratio": 0.2},
        "underloaded_ratio: expected a number below overloaded_ratio, which is 0.2, found 0.3",
    ),
    (
        "flink",
        {"utilization_max": 0.6},
        "utilization_max: expected at least utilization_target, which is 0.7, found 0.6",
    ),
    (
        "flink",
        {"utilization_min": 0.8},
        "utilization_min: expected at most utilization_target, which is 0.7, found 0.8",
    ),
    (
        "flink",
        {"observed_scalability_coefficient_min": 0},
        "observed_scalability_coefficient_min: expected a number from 0.01 to 1, found 0",
    ),
    (
        "flink",
        {"metrics_busy_time_aggregator": "p99"},
        'metrics_busy_time_aggregator: expected one of max, avg, min, found "p99"',
    ),
    ("flink", {"scaling_enabled": 1}, "scaling_enabled: expected true or false, found 1"),
    ("flink", {"excluded_periods": "x"}, 'excluded_periods: expected a list, found "x"'),
    ("flink", {"excluded_periods": [5]}, "excluded_periods.0: expected text, found 5"),
    (
        "flink",
        {"excluded_periods": ["09:00-10:00", "10:00-09:00"]},
        'excluded_periods.1: expected an end after the begin; *, found "10:00-09:00"',
    ),
    (
        "flink",
        {"excluded_periods": ["1" * (CHARS_MAX + 1)]},
        f"excluded_periods.0: expected a period of at most {CHARS_MAX} characters, found *",
    ),
    (
        "flink",
        {"excluded_periods": ["x"] * 101},
        "excluded_periods: expected a list of at most 100, found a list of 101",
    ),
    ("keda", {"fallback": 4}, "fallback: expected an object, found 4"),
    (
        "keda",
        {"fallback": {"replicas": 1}},
        "fallback.failure_threshold: expected failed readings in a row *, found nothing",
    ),
    (
        "keda",
        {"fallback": {"failure_threshold": 1, "replica": 1}},
        "fallback.replica: expected a setting of policy keda, perhaps replicas, found *",
    ),
    ("keda", {"up_rates": []}, "up_rates: expected a list of 1 or more, found a list of 0"),
    (
        "keda",
        {"up_rates": [{"kind": "pods", "value": 1, "period_s": 1801}]},
        "up_rates.0.period_s: expected a whole number from 1 to 1800, found 1801",
    ),
    (
        "keda",
        {"up_rates": [{"kind": "nodes", "value": 1, "period_s": 60}]},
        'up_rates.0.kind: expected one of pods, percent, found "nodes"',
    ),
    (
        "keda",
        {"min_replica_count": 5, "max_replica_count": 4},
        "min_replica_count: expected at most max_replica_count, which is 4, found 5",
    ),
    (
        "keda",
        {"allow_idle_consumers": True, "limit_to_partitions_with_lag": True},
        "allow_idle_consumers: expected false, as limit_to_partitions_with_lag is true, found true",
    ),
]


@pytest.mark.parametrize(("name", "settings", "sentence"), REFUSED)
def test_what_is_refused_is_named_with_what_belongs_there(
    name: str, settings: dict[str, Any], sentence: str
) -> None:
    found = told(name, settings)
    assert isinstance(found, Invalid)
    pattern = re.escape(f"policy.settings.{sentence}").replace(r"\*", ".*")
    assert re.fullmatch(pattern, str(found)), str(found)


@pytest.mark.parametrize(
    ("name", "found"), [(5, "5"), (None, "null"), ("", '""'), ("../a", '"../a"')]
)
def test_an_unknown_policy_is_told_with_those_there_are(name: Any, found: str) -> None:
    wrong = told(name, {"margin": 7})
    known = ", ".join(SETTINGS)
    assert str(wrong) == f"policy.name: expected one of {known}, found {found}"


def test_the_first_problem_by_path_is_told() -> None:
    wrong: dict[str, Any] = {"name": "turbine", "mode": "on", "settings": {"margin": 7, "full": 7}}
    found = validate_config({**SMALLEST, "tasks": 0, "policy": wrong})
    assert isinstance(found, Invalid)
    assert found.path == "policy.mode"
    found = validate_config({**SMALLEST, "tasks": 0, "policy": wrong | {"mode": "act"}})
    assert isinstance(found, Invalid)
    assert found.path == "policy.settings.full"
    found = validate_config({**SMALLEST, "slo": 5, "policy": wrong | {"mode": "act", "name": "x"}})
    assert isinstance(found, Invalid)
    assert found.path == "policy.name"


def test_a_long_key_is_told_in_short() -> None:
    found = told("turbine", {"x" * 10_000: 1})
    assert isinstance(found, Invalid)
    assert len(str(found)) < 1500


known = st.sampled_from(sorted({at for model in SETTINGS.values() for at in model.model_fields}))


@given(
    st.sampled_from(sorted(SETTINGS)),
    st.dictionaries(known | st.text(max_size=3), json_values, max_size=3),
)
def test_no_settings_make_it_raise(name: str, settings: dict[str, Any]) -> None:
    found = told(name, settings)
    if isinstance(found, Invalid):
        assert found.path.startswith("policy.settings")
        assert found.expected != "something else"
        assert "pydantic" not in str(found)
        assert "Input should" not in str(found)
        assert str(found) == printable(str(found))


@given(st.text(max_size=40) | st.from_regex(r"[0-9*?,/\-: &A-Z]{1,60}", fullmatch=True))
def test_no_period_makes_it_raise(text: str) -> None:
    found = told("flink", {"excluded_periods": [text]})
    if isinstance(found, Invalid):
        assert found.path == "policy.settings.excluded_periods.0"
        assert str(found) == printable(str(found))
