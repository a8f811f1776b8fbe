"""What the specs of a job hold, what a list of them is cut into, and why there are none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from components.task_service.core import specs as rules
from components.task_service.core.specs import (
    PART_BYTES,
    PARTS_MAX,
    SpecsProblem,
    bytes_of,
    head_of,
    known_of,
    parts_of,
    specs_of,
)
from components.task_service.core.substitution import KNOWN
from events.generated.records import (
    InputPartitions,
    LayerVersions,
    TaskSpec,
    TaskSpecsPublished,
)
from events.job_config.config import PARTITIONS_MAX, JobConfig, validate_config
from events.wire.codec import decode, encode

VERSIONS = LayerVersions(5, 6, 7, 8)
SMALLEST: dict[str, Any] = {
    "operator": "clicks.count:run",
    "inputs": [{"topic": "clicks", "partitions": 4}],
    "package": {"name": "clicks", "version": "1.4.2"},
    "checkpoint": {"root": "s3a://bucket/turbine/"},
}
PRIVILEGED = {"limits": {"tasks": 100_000, "privileged": True}}


def config(**fields: Any) -> JobConfig:
    found = validate_config({**SMALLEST, **fields})
    assert isinstance(found, JobConfig), str(found)
    return found


def listed(of: JobConfig) -> tuple[TaskSpec, ...] | SpecsProblem:
    return specs_of(head_of("clicks", of, VERSIONS, 9), of)


def specs(**fields: Any) -> tuple[TaskSpec, ...]:
    found = listed(config(**fields))
    assert isinstance(found, tuple), str(found)
    return found


def trouble(**fields: Any) -> SpecsProblem:
    found = listed(config(**fields))
    assert isinstance(found, SpecsProblem)
    return found


def parts(some: Sequence[TaskSpec], **fields: Any) -> list[TaskSpecsPublished]:
    head = head_of("clicks", config(**fields), VERSIONS, 9, plan_id="plan-1")
    return list(parts_of(head, some))


def test_a_spec_is_all_that_a_task_needs() -> None:
    assert specs(
        tasks=2,
        threads_per_task=3,
        resources={"cpu_cores": 0.5, "memory_mb": 64},
        arguments=["--task=${task}/${tasks}", "${checkpoint}"],
    ) == tuple(
        TaskSpec(
            task=task,
            argv=(f"--task={task}/2", f"s3a://bucket/turbine/clicks/{task}"),
            inputs=(InputPartitions("clicks", (task, task + 2)),),
            checkpoint=f"s3a://bucket/turbine/clicks/{task}",
            cpu_cores=0.5,
            memory_bytes=64 * 1024 * 1024,
            threads=3,
        )
        for task in range(2)
    )


def test_every_known_name_has_its_value() -> None:
    found = known_of(
        "clicks", config(inputs=[{"topic": "a"}, {"topic": "b"}], tier="batch"), VERSIONS, 9
    )
    assert found == {
        "job": "clicks",
        "task": "",
        "tasks": "1",
        "generation": "9",
        "package.name": "clicks",
        "package.version": "1.4.2",
        "checkpoint": "",
        "tier": "batch",
        "threads": "1",
        "cpu_cores": "0.25",
        "memory_mb": "256",
        "version.base": "5",
        "version.provisioner": "6",
        "version.scaler": "7",
        "version.oncall": "8",
        "input.0.topic": "a",
        "input.1.topic": "b",
    }
    assert [*KNOWN] == [*[*found][:-2], "input.N.topic"]


def test_whole_cores_are_written_as_such() -> None:
    [spec] = specs(arguments=["${cpu_cores}"], resources={"cpu_cores": 2.0})
    assert spec.argv == ("2",)


def test_an_assignment_in_force_is_followed() -> None:
    found = specs(tasks=2, assignment=[["clicks/3"], ["clicks/0", "clicks/1"]])
    assert [one.inputs[0].partitions for one in found] == [(2, 3), (0, 1)]
    # One that is not in force is none.
    found = specs(tasks=1, assignment=[["clicks/3"], ["clicks/0", "clicks/1"]])
    assert [one.inputs[0].partitions for one in found] == [(0, 1, 2, 3)]


def test_an_assignment_says_how_many_partitions_there_are_where_nobody_else_does() -> None:
    """Partitions are numbered without a gap, so none below one that is named is left unread."""
    found = specs(inputs=[{"topic": "clicks"}], tasks=2, assignment=[["clicks/3"], ["clicks/0"]])
    assert [one.inputs[0].partitions for one in found] == [(1, 3), (0, 2)]


# --- trouble


def test_partitions_must_be_known() -> None:
    found = trouble(inputs=[{"topic": "views", "partitions": 1}, {"topic": "clicks"}])
    assert (found.path, str(found)) == (
        "inputs.1.partitions",
        "inputs.1.partitions is not set; say how many partitions clicks has",
    )
    assigned = [["views/0"]]
    again = trouble(inputs=[{"topic": "views"}, {"topic": "clicks"}], assignment=assigned)
    assert again == found


def test_a_job_reads_so_many_partitions_and_no_more() -> None:
    inputs = [{"topic": "a", "partitions": PARTITIONS_MAX - 1}, {"topic": "b"}]
    most = {"inputs": inputs, "tasks": 2000, **PRIVILEGED}
    rest = [[f"a/{n}"] for n in range(1999)]
    assert len(specs(assignment=[["b/0"], *rest], **most)) == 2000
    found = trouble(assignment=[["b/1"], *rest], **most)
    assert (found.path, str(found)) == (
        "inputs",
        "inputs have 100001 partitions in all, and a job may read 100000; make it several jobs",
    )


def test_an_argument_that_cannot_be_filled_in_is_told() -> None:
    found = trouble(arguments=["fine", "${jbo}"])
    assert found.path == "arguments.1"
    assert str(found).startswith('arguments.1: "${jbo}" is not known, perhaps ${job}; known are')


def test_a_spec_that_no_record_holds_is_told() -> None:
    long = ["${checkpoint}" * 60] * 120
    found = trouble(arguments=long)
    assert found.path == "arguments"
    assert str(found).startswith("arguments: the specs of task 0 take ")
    assert str(found).endswith("; shorten the arguments")
    found = trouble(inputs=[{"topic": "clicks", "partitions": 80_000}])
    assert found.path == "tasks"
    assert str(found).endswith("; ask for more tasks, which read less each")


def test_a_list_that_is_too_long_is_told() -> None:
    inputs = [{"topic": "clicks", "partitions": 100_000}]
    many: dict[str, Any] = {"tasks": 100_000, "inputs": inputs, **PRIVILEGED}
    found = trouble(arguments=["x" * 4000], **many)
    assert found.path == "tasks"
    assert str(found) == (
        "tasks: the specs of 100000 tasks do not fit in 199 records; ask for fewer tasks or"
        " shorten the arguments"
    )


def test_as_many_specs_as_there_are_records_fit() -> None:
    """Each of these fills more than half a record."""
    large: dict[str, Any] = {"arguments": ["x" * 4096] * 30, **PRIVILEGED}
    assert len(parts(specs(tasks=PARTS_MAX, **large))) == PARTS_MAX
    assert trouble(tasks=PARTS_MAX + 1, **large).path == "tasks"


def test_a_spec_may_fill_a_record() -> None:
    [bare] = specs(arguments=["x" * 4096] * 40 + [""] * 11)
    room = rules._room(head_of("clicks", config(), VERSIONS, 9)) - bytes_of(bare)
    assert 0 < room <= 4096 * 10
    full = ["x" * 4096] * 40 + ["x" * min(4096, max(0, room - 4096 * at)) for at in range(11)]
    [spec] = specs(arguments=full)
    [part] = parts((spec,))
    assert PART_BYTES - 1024 < len(encode(part)) <= PART_BYTES
    assert trouble(arguments=[*full[:-1], full[-1] + "x"]).path == "arguments"


# --- records


def test_a_list_says_what_holds_for_all_tasks() -> None:
    fields: dict[str, Any] = {
        "tier": "batch",
        "allowed_regions": ["eu", "us"],
        "priority": 70,
        "output": {"topic": "counts"},
        "resources": {"disk_mb": 5},
    }
    found = specs(**fields)
    [part] = parts(found, **fields)
    assert part.to_plain() | {"specs": [], "config_json": ""} == {
        "job": "clicks",
        "plan_id": "plan-1",
        "generation": 9,
        "part": 1,
        "parts": 1,
        "tasks": 1,
        "versions": VERSIONS.to_plain(),
        "tier": "batch",
        "operator": "clicks.count:run",
        "guarantee": "exactly_once",
        "specs": [],
        "regions": ["eu", "us"],
        "priority": 70,
        "package": "clicks",
        "package_version": "1.4.2",
        "config_json": "",
    }
    assert part.specs == found
    assert json.loads(part.config_json) == {
        "disk_mb": 5,
        "inputs": [{"topic": "clicks", "format": "bytes", "partitions": 4}],
        "schedule": {"mode": "continuous", "batch_interval_ms": 1000, "batch_records": 100_000},
        "output": {"topic": "counts"},
    }


def test_a_query_stands_beside_the_operator() -> None:
    operator = {"sql": "SELECT 1 -- a:b"}
    [part] = parts((), operator=operator)
    assert (part.operator, json.loads(part.config_json)["sql"]) == ("sql", operator["sql"])


def test_no_tasks_are_one_record() -> None:
    [part] = parts((), tasks=3)
    assert (part.part, part.parts, part.tasks, part.specs) == (1, 1, 0, ())


def test_a_large_list_is_cut() -> None:
    inputs = [{"topic": "clicks", "partitions": 20_000}]
    large: dict[str, Any] = {"tasks": 10_000, "inputs": inputs, **PRIVILEGED}
    found = specs(arguments=["${task}", "x" * 50], **large)
    listed = parts(found, **large)
    assert [one.part for one in listed] == list(range(1, len(listed) + 1))
    assert {(one.parts, one.tasks) for one in listed} == {(len(listed), 10_000)}
    assert tuple(spec for one in listed for spec in one.specs) == found
    sizes = [len(encode(one)) for one in listed]
    assert max(sizes) <= PART_BYTES
    assert min(sizes[:-1]) > PART_BYTES // 2
    assert decode(encode(listed[1])) == listed[1]


def test_a_tier_of_the_paper_fits() -> None:
    inputs = [{"topic": "clicks", "partitions": 100_000}]
    large: dict[str, Any] = {"tasks": 100_000, "inputs": inputs, **PRIVILEGED}
    found = specs(arguments=["--task=${task}", "--job=${job}"], **large)
    assert 1 < len(parts(found, **large)) <= PARTS_MAX


def test_a_large_head_leaves_less_room() -> None:
    operator = {"sql": "SELECT " + "x" * 120_000}
    large: dict[str, Any] = {"tasks": 1_000, "operator": operator, **PRIVILEGED}
    inputs = [{"topic": "clicks", "partitions": 1_000}]
    found = specs(inputs=inputs, **large)
    listed = parts(found, inputs=inputs, **large)
    assert len(listed) > len(parts(found, inputs=inputs, tasks=1_000, **PRIVILEGED))
    assert max(len(encode(one)) for one in listed) <= PART_BYTES


def test_a_size_is_never_less_than_it_is() -> None:
    [part] = parts(())
    bare = len(encode(part))
    for number in (0, 2**20 - 1, 2**20, 2**31 - 1):
        spec = TaskSpec(
            task=number,
            argv=("", "é" * 100),
            inputs=(InputPartitions("ü", (number,) * 300), InputPartitions("", ())),
            checkpoint="/c",
            cpu_cores=0.1,
            memory_bytes=2**62,
            threads=number,
        )
        [one] = parts((spec,))
        assert 0 < len(encode(one)) - bare <= bytes_of(spec)
