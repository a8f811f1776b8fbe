"""What a job's config may be, what is said of one that is none, which fields are complex."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from events.job_config import config as rules
from events.job_config.config import (
    COMPLEX_FIELDS,
    Input,
    Invalid,
    JobConfig,
    SqlOperator,
    validate_config,
)
from events.job_config.invalid import show
from events.job_config.strict_json import Json, printable

SMALLEST: dict[str, Any] = {
    "operator": "clicks.count:run",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "clicks", "version": "1.4.2"},
    "checkpoint": {"root": "/checkpoints"},
}
FALLBACK = {"failure_threshold": 3, "replicas": 4}
LARGE, SMALL = {"topic": "a", "partitions": 100_000}, {"topic": "b", "partitions": 1}


def valid(**fields: Any) -> JobConfig:
    found = validate_config({**SMALLEST, **fields})
    assert isinstance(found, JobConfig), str(found)
    return found


def invalid(**fields: Any) -> Invalid:
    found = validate_config({**SMALLEST, **fields})
    assert isinstance(found, Invalid)
    return found


def test_four_keys_make_a_job() -> None:
    config = valid()
    assert config.inputs == (Input(topic="clicks"),)
    assert (config.tasks, config.limits.tasks, config.limits.privileged) == (1, 32, False)
    assert (config.guarantee, config.tier, config.allowed_regions) == (
        "exactly_once",
        "default",
        (),
    )
    assert (config.slo.lag_seconds, config.policy.mode, config.paused) == (90.0, "act", False)
    assert (config.policy.name, config.policy.settings) == ("turbine", {})


@pytest.mark.parametrize("missing", sorted(SMALLEST))
def test_each_of_the_four_is_required(missing: str) -> None:
    found = validate_config({key: value for key, value in SMALLEST.items() if key != missing})
    assert isinstance(found, Invalid)
    assert (found.path, found.found) == (missing, "nothing")
    assert found.expected == JobConfig.model_fields[missing].description


def test_all_fields_can_be_said() -> None:
    full: dict[str, Any] = {
        **SMALLEST,
        "operator": {"sql": "SELECT * FROM clicks"},
        "inputs": [{"topic": "clicks", "format": "avro"}, {"topic": "views"}],
        "output": {"topic": "counts"},
        "guarantee": "at_least_once",
        "arguments": ["--job", "${job}"],
        "tasks": 2,
        "threads_per_task": 2,
        "resources": {"cpu_cores": 2, "memory_mb": 1024, "disk_mb": 0},
        "slo": {"lag_seconds": 30},
        "limits": {"tasks": 64, "privileged": True},
        "priority": 90,
        "tier": "gold",
        "allowed_regions": ["eu", "us"],
        "schedule": {"mode": "continuous", "batch_interval_ms": 0, "batch_records": 1},
        "state_granularity": "partition",
        "isolation": "process",
        "staging_rate": 1_000_000,
        "assignment": [["clicks/0", "views/0"], ["clicks/1"]],
        "paused": True,
        "policy": {"name": "keda", "mode": "observe", "settings": {"fallback": FALLBACK}},
    }
    assert set(full) == set(JobConfig.model_fields)
    config = validate_config(full)
    assert isinstance(config, JobConfig), str(config)
    assert config.operator == SqlOperator(sql="SELECT * FROM clicks")
    assert config.assignment_in_force == (("clicks/0", "views/0"), ("clicks/1",))
    # Its plain form is a config again, so it can be shown, edited and published.
    assert validate_config(json.loads(config.model_dump_json())) == config


def test_a_config_is_not_changed_afterwards() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        valid().tasks = 5


REFUSED: list[tuple[dict[str, Any], str, str, str]] = [
    ({"resources": {"cpu_cores": 1e-320}}, "resources.cpu_cores", "* from 0.001 to *", "1e-320"),
    ({"resources": {"cpu_cores": "1"}}, "resources.cpu_cores", "a number", '"1"'),
    ({"resources": {"cpu_cores": 2000}}, "resources.cpu_cores", "* to 1024", "2000"),
    (
        {"resources": {"memory_gb": 1}},
        "resources.memory_gb",
        "a known field, perhaps memory_mb",
        '"memory_gb"',
    ),
    ({"taks": 2}, "taks", "a known field, perhaps tasks", '"taks"'),
    ({"slo": {"x": 2}}, "slo.x", "one of lag_seconds", '"x"'),
    ({"tasks": 0}, "tasks", "a whole number from 1 to 100000", "0"),
    ({"tasks": 1.5}, "tasks", "a whole number", "1.5"),
    ({"tasks": "2"}, "tasks", "a whole number", '"2"'),
    ({"tasks": True}, "tasks", "a whole number", "true"),
    ({"tasks": None}, "tasks", "a whole number", "null"),
    ({"tasks": 33}, "tasks", "at most limits.tasks, which is 32", "33"),
    ({"tasks": 4, "limits": {"tasks": 3}}, "tasks", "at most limits.tasks, which is 3", "4"),
    (
        {"limits": {"tasks": 33}},
        "limits.tasks",
        "at most 32, or limits.privileged to be true",
        "33",
    ),
    ({"paused": 0}, "paused", "true or false", "0"),
    ({"tier": 7}, "tier", "text", "7"),
    ({"policy": {"mode": "on"}}, "policy.mode", "one of off, observe, advise, act", '"on"'),
    ({"policy": {"settings": [1, 2]}}, "policy.settings", "an object", "a list of 2"),
    ({"policy": "act"}, "policy", "an object", '"act"'),
    ({"policy": {"name": "vpa", "settings": {"x": 1}}}, "policy.name", "one of *", '"vpa"'),
    ({"slo": {"lag_seconds": float("nan")}}, "slo.lag_seconds", "*", "no number within 2^53"),
    ({"slo": {"lag_seconds": 10**400}}, "slo.lag_seconds", "a number", "no number within 2^53"),
    ({"inputs": []}, "inputs", "a list of 1 or more", "a list of 0"),
    ({"inputs": {"topic": "clicks"}}, "inputs", "a list", "an object"),
    ({"inputs": ["clicks"]}, "inputs.0", "an object", '"clicks"'),
    ({"inputs": [{}]}, "inputs.0.topic", "the name of the topic", "nothing"),
    ({"inputs": [{"topic": "a", "partitions": 0}]}, "inputs.0.partitions", "* from 1 to *", "0"),
    ({"inputs": [LARGE | {"partitions": 100_001}]}, "inputs.0.partitions", "* to 100000", "100001"),
    ({"inputs": [LARGE, SMALL]}, "inputs", "at most 100000 partitions in all", "100001"),
    (
        {"inputs": [{"topic": "a"}, {"topic": "b"}, {"topic": "a"}]},
        "inputs.2.topic",
        "each topic once",
        '"a" again',
    ),
    ({"allowed_regions": ["eu", "eu"]}, "allowed_regions.1", "each region once", '"eu" again'),
    ({"allowed_regions": [5]}, "allowed_regions.0", "text", "5"),
    ({"arguments": ["x"] * 1025}, "arguments", "a list of at most 1024", "a list of 1025"),
    ({"operator": 5}, "operator", 'what each task runs, "package.module:function" *', "5"),
    (
        {"operator": []},
        "operator",
        'what each task runs, "package.module:function" *',
        "a list of 0",
    ),
    ({"operator": "clicks"}, "operator", 'a function such as "package.module:function", *', "*"),
    ({"operator": {"sql": " "}}, "operator.sql", 'a query such as "SELECT …"', '" "'),
    ({"operator": {"sql": 5}}, "operator.sql", "text", "5"),
    ({"operator": {}}, "operator.sql", "the query over *", "nothing"),
    ({"guarantee": "files"}, "output.path", "a directory, as the guarantee is files", "nothing"),
    (
        {"guarantee": "files", "output": {"path": "/out", "topic": "counts"}},
        "output.topic",
        "nothing, as the guarantee is files",
        '"counts"',
    ),
    # Not "available_now": no engine ends a job by itself, and what is accepted has to be kept.
    ({"schedule": {"mode": "available_now"}}, "schedule.mode", "one of continuous", "*"),
    ({"isolation": "thread"}, "isolation", "one of shared, process", '"thread"'),
    ({"isolation": "process"}, "resources.memory_mb", "at least 896, as isolation is *", "256"),
    ({"output": {}}, "output.topic", "a topic, as the guarantee is exactly_once", "nothing"),
    (
        {"output": {"path": "/out"}, "guarantee": "at_least_once"},
        "output.path",
        "nothing, as the guarantee is at_least_once",
        '"/out"',
    ),
    ({"assignment": [[]]}, "assignment.0", "a list of 1 or more", "a list of 0"),
    ({"assignment": [["clicks"]]}, "assignment.0.0", 'a partition such as "clicks/0"', '"clicks"'),
    (
        {"assignment": [["clicks/0"], ["clicks/1", "clicks/0"]]},
        "assignment.1.1",
        "each partition with one task only",
        '"clicks/0" again',
    ),
    ({"tier": "\ud800"}, "tier", "text without halves of surrogate pairs", '"\\ud800"'),
    ({"a.b\x00": 1}, "a\\.b\ufffd", "one of *", '"a.b\\u0000"'),
]


@pytest.mark.parametrize(("fields", "path", "expected", "found"), REFUSED)
def test_what_is_refused_names_the_field_and_what_belongs_there(
    fields: dict[str, Any], path: str, expected: str, found: str
) -> None:
    problem = invalid(**fields)
    assert problem.path == path
    for wanted, text in ((expected, problem.expected), (found, problem.found)):
        assert re.fullmatch(re.escape(wanted).replace(r"\*", ".*"), text)
    assert str(problem) == f"{path}: expected {problem.expected}, found {problem.found}"


# One look-alike, injection or traversal is refused by every field whose text becomes a name.
HOSTILE = [
    "",
    "..",
    "../a",
    "a/../b",
    "a b",
    "a;b",
    "$(a)",
    "${a}",
    "{{a}}",
    "a\x00",
    "a\n",
    "\u0430",  # Cyrillic, and looks like an a
    "-",
]
NAMES = [
    "tier",
    "package.name",
    "package.version",
    "checkpoint.root",
    "inputs.0.topic",
    "output.topic",
    "allowed_regions.0",
    "operator",
    "assignment.0.0",
]


@pytest.mark.parametrize(
    ("path", "text"),
    # Kafka takes "-" for a topic, and nothing reads a topic as an option.
    [(p, t) for p in NAMES for t in HOSTILE if not (p.endswith("topic") and t == "-")],
)
def test_names_are_names(path: str, text: str) -> None:
    problem = invalid(**_placed(path, text))
    assert problem.path == path
    assert problem.expected in rules._EXPECTED_BY_PATTERN.values()


def _placed(path: str, text: str) -> dict[str, Any]:
    """Fields that are right but for the text at the path."""
    head, *rest = path.split(".")
    value: Any = text
    for key in reversed(rest):
        value = [value] if key == "0" else {key: value}
    if head == "package":
        value = {**SMALLEST["package"], **value}
    return {head: value}


def test_arguments_may_be_anything_an_argument_can_be() -> None:
    assert valid(arguments=["", "$(rm)", "${x}", "ü\n"]).arguments == ("", "$(rm)", "${x}", "ü\n")
    assert invalid(arguments=["a", "\x00"]).path == "arguments.1"
    assert invalid(arguments=["x" * 4097]).path == "arguments.0"


def test_the_first_problem_by_path_is_told() -> None:
    topics: list[Json] = [{"topic": f"t{at}"} for at in range(12)]
    topics[2] = topics[10] = {}
    fields: dict[str, Any] = {"tasks": 0, "slo": 1, "inputs": topics}
    # Places in a list count as numbers: 2 comes before 10.
    assert invalid(**fields).path == "inputs.2.topic"
    assert invalid(**dict(reversed(fields.items()))).path == "inputs.2.topic"
    assert invalid(**fields, arguments=[5]).path == "arguments.0"


def test_an_assignment_that_does_not_fit_is_passed_over() -> None:
    """An oncall can ask for another number of tasks whatever the scaler had assigned (I10)."""
    assigned = [["clicks/0"], ["clicks/1"]]
    assert valid(tasks=2, assignment=assigned).assignment_in_force == (("clicks/0",), ("clicks/1",))
    assert valid(tasks=3, assignment=assigned).assignment_in_force is None
    moved = valid(tasks=2, assignment=assigned, inputs=[{"topic": "views"}])
    assert moved.assignment_in_force is None
    assert valid().assignment_in_force is None


def test_inputs_may_say_how_many_partitions_they_have() -> None:
    assert [one.partitions for one in valid(inputs=[LARGE, {"topic": "c"}]).inputs] == [10**5, None]


@pytest.mark.parametrize("limit", [1, 32])
def test_a_job_may_use_all_of_its_limit(limit: int) -> None:
    assert valid(tasks=limit, limits={"tasks": limit}).tasks == limit
    assert invalid(tasks=limit + 1, limits={"tasks": limit}).path == "tasks"


def test_privileged_jobs_go_beyond() -> None:
    assert valid(tasks=200, limits={"tasks": 200, "privileged": True}).tasks == 200
    assert invalid(tasks=33, limits={"privileged": True}).path == "tasks"


json_values: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.just("\ud800")
    | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@given(json_values)
def test_no_json_makes_it_raise(value: Json) -> None:
    found = validate_config(value)  # type: ignore[arg-type]  # any JSON is what it is about
    assert isinstance(found, Invalid)
    assert str(found) == printable(str(found))


@given(st.sampled_from(sorted(JobConfig.model_fields)), json_values)
def test_no_field_makes_it_raise(field: str, value: Json) -> None:
    found = validate_config({**SMALLEST, field: value})
    if isinstance(found, Invalid):
        assert found.expected != "something else"
        assert "pydantic" not in str(found)
        assert "Input should" not in str(found)
        assert str(found) == printable(str(found))


def test_what_is_deep_is_no_trouble() -> None:
    deep: Json = 1
    for _ in range(5000):
        deep = {"a": [deep]}
    assert invalid(policy={"settings": {"margin": deep}}).found == "an object"
    assert invalid(policy={"settings": {"deep": deep}}).found == '"deep"'
    assert invalid(inputs=[deep]).path == "inputs.0.a"
    assert invalid(tier=deep).found == "an object"


def test_a_value_is_shown_in_a_few_words() -> None:
    values: list[Json] = [None, True, -1, 0.5, 5.0, [1], {}, "x"]
    shown = ["null", "true", "-1", "0.5", "5", "a list of 1", "an object", '"x"']
    assert [show(value) for value in values] == shown
    # Python itself refuses to write an integer of more than 4,300 digits.
    for number in (float("inf"), float("nan"), 10**5000, -(2**53) - 1):
        assert show(number) == "no number within 2^53"


def test_the_whole_config_may_be_wrong() -> None:
    found = validate_config([])  # type: ignore[arg-type]  # any JSON may come
    assert str(found) == "the config: expected an object, found a list of 0"


def models() -> list[type[BaseModel]]:
    return [
        one
        for one in vars(rules).values()
        if isinstance(one, type) and issubclass(one, rules._Part) and one is not rules._Part
    ]


@pytest.mark.parametrize("model", models())
def test_every_field_is_described_and_every_number_has_a_unit(model: type[BaseModel]) -> None:
    assert model.__doc__
    units = re.compile(r"cores|MiB|seconds|milliseconds|a count|from 0 to 100|bytes per second")
    for name, field in model.model_fields.items():
        description = field.description or ""
        assert len(description) > 15, name
        if field.annotation in (int, float, float | None):
            assert units.search(description), name


def test_every_pattern_has_words() -> None:
    patterns = set(re.findall(r'"pattern": "(.*?)"[,}]', json.dumps(JobConfig.model_json_schema())))
    assert {json.loads(f'"{one}"') for one in patterns} == set(rules._EXPECTED_BY_PATTERN)


def test_complex_fields_are_those_the_design_names() -> None:
    """Parallelism, input assignment, checkpoint place and a new sink (III-B), and where it runs."""
    assert set(COMPLEX_FIELDS) == {
        "operator",
        "inputs",
        "output",
        "guarantee",
        "checkpoint",
        "tasks",
        "tier",
        "allowed_regions",
        "assignment",
    }
    assert all(COMPLEX_FIELDS.values())
    # What Turbine names as simple is.
    assert COMPLEX_FIELDS.keys().isdisjoint({"package", "arguments", "resources"})
