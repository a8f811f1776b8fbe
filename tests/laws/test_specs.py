"""Laws of the specs: total, the same again, every partition and all state handed on, cut whole."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from components.task_service.specs import Handed, Trouble, bytes_of, head_of, parts_of, specs_of
from events.codec import encode
from events.config import JobConfig, validate_config
from events.records import Generation, LayerVersions, TaskSpec, TaskSpecsPublished

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
states = st.dictionaries(
    st.integers(0, 9),
    st.builds(
        Handed,
        st.builds(Generation, st.integers(0, 5), st.integers(0, 5)),
        st.lists(st.tuples(st.integers(-1, 9), st.text("ab/", max_size=3)), max_size=4).map(tuple),
    ),
    max_size=4,
)


def listed(config: JobConfig, specs: tuple[TaskSpec, ...]) -> list[TaskSpecsPublished]:
    return list(parts_of(head_of("j", config, VERSIONS, 2, plan_id="p"), specs))


def made(config: JobConfig, left: dict[int, Handed]) -> tuple[TaskSpec, ...] | Trouble:
    return specs_of(head_of("j", config, VERSIONS, 2), config, left)


@given(configs, states)
def test_it_is_total_and_the_same_again(config: JobConfig, left: dict[int, Handed]) -> None:
    found = made(config, left)
    turned = {at: one._replace(parts=one.parts[::-1]) for at, one in reversed(left.items())}
    assert found == made(config, turned)
    if isinstance(found, Trouble):
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


@given(configs, states)
def test_state_reaches_whoever_reads_its_partition(
    config: JobConfig, left: dict[int, Handed]
) -> None:
    found = made(config, left)
    for spec in () if isinstance(found, Trouble) else found:
        mine = {number for one in spec.inputs for number in one.partitions}
        expected = {
            (task, generation, path, partition if by_partition else -1)
            for task, (generation, some) in left.items()
            for partition, path in some
            for by_partition in [config.state_granularity == "partition" and partition >= 0]
            if (partition in mine if by_partition else mine)
        }
        taken = [(one.task, one.generation, one.path, one.partition) for one in spec.take_over]
        assert set(taken) == expected


@given(configs, states, st.integers(0, 400), st.randoms(use_true_random=False))
def test_parts_hold_every_spec_once_in_order(
    config: JobConfig, left: dict[int, Handed], times: int, random: Random
) -> None:
    found = made(config, left)
    if isinstance(found, Trouble):
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
