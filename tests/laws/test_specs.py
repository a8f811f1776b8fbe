"""Laws of the specs: total, the same again, every partition once, cut whole."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from components.task_service.core.specs import SpecsProblem, bytes_of, head_of, parts_of, specs_of
from events.generated.records import LayerVersions, TaskSpec, TaskSpecsPublished
from events.job_config.config import JobConfig, validate_config
from events.wire.codec import encode

VERSIONS = LayerVersions(1, 0, 0, 0)


def valid(plain: dict[str, Any]) -> JobConfig:
    found = validate_config(plain)
    assert isinstance(found, JobConfig), str(found)
    return found


inputs = st.lists(
    st.fixed_dictionaries(
        {"topic": st.sampled_from("abc")}, optional={"partitions": st.integers(1, 9)}
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda one: str(one["topic"]),
)
places = st.builds("{}/{}".format, st.sampled_from("abc"), st.integers(0, 9))
assignments = st.none() | st.lists(places, min_size=1, max_size=12, unique=True).flatmap(
    lambda some: st.integers(1, 4).map(
        lambda n: [share for share in (some[at::n] for at in range(n)) if share]
    )
)
texts = st.sampled_from(["", "x", "${job}", "${task}", "${nope}", "$$", "${", "${input.1.topic}"])
configs = st.fixed_dictionaries(
    {
        "operator": st.sampled_from(["a.b:c", {"sql": "SELECT 1"}]),
        "inputs": inputs,
        "package": st.just({"name": "clicks", "version": "1"}),
        "checkpoint": st.just({"root": "/c/"}),
        "tasks": st.integers(1, 6),
        "arguments": st.lists(texts, max_size=2),
        "state_granularity": st.sampled_from(["task", "partition"]),
        "assignment": assignments,
    }
).map(valid)


def listed(config: JobConfig, specs: tuple[TaskSpec, ...]) -> list[TaskSpecsPublished]:
    return list(parts_of(head_of("j", config, VERSIONS, 2, plan_id="p"), specs))


def made(config: JobConfig) -> tuple[TaskSpec, ...] | SpecsProblem:
    return specs_of(head_of("j", config, VERSIONS, 2), config)


@given(configs)
def test_it_is_total_and_the_same_again(config: JobConfig) -> None:
    found = made(config)
    assert found == made(config)
    if isinstance(found, SpecsProblem):
        assert str(found).startswith(found.path)
        return
    assert [one.task for one in found] == list(range(config.tasks))
    assert len({one.checkpoint for one in found}) == config.tasks
    assert {len(one.argv) for one in found} == {len(config.arguments)}
    read = [
        (one.topic, number) for spec in found for one in spec.inputs for number in one.partitions
    ]
    assert len(set(read)) == len(read)
    for one in config.inputs:
        numbers = sorted(number for topic, number in read if topic == one.topic)
        assert numbers == list(range(one.partitions or len(numbers)))
        assert numbers


@given(configs, st.integers(0, 400), st.randoms(use_true_random=False))
def test_parts_hold_every_spec_once_in_order(config: JobConfig, times: int, random: Random) -> None:
    found = made(config)
    if isinstance(found, SpecsProblem):
        return
    specs = tuple(random.choice(found) for _ in range(times))
    cut = listed(config, specs)
    assert [(one.part, one.parts, one.tasks) for one in cut] == [
        (at, len(cut), times) for at in range(1, len(cut) + 1)
    ]
    assert tuple(spec for one in cut for spec in one.specs) == specs
    assert all(one.specs for one in cut) or len(cut) == 1
    bare = len(encode(listed(config, ())[0]))
    for one in cut:
        assert len(encode(one)) <= bare + sum(map(bytes_of, one.specs)) + 16
