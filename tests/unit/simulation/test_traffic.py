"""What tasks report in a seed: made of the seed alone, true in the end, and full of lies before."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from events.generated.records import TaskLoadReported
from events.topics import JOURNAL, LOADS, place
from projections.scaling.actions import JobSize
from projections.scaling.seen import MINUTE_MS
from simulation.tasks import HeldTask, Site
from simulation.traffic import (
    LATE,
    LOST,
    PACE_MS,
    PARTITIONS,
    PER_THREAD,
    SETTLES_MS,
    STEADY,
    TWICE,
    USUAL_MS,
    USUAL_PACE_MS,
    JobTraffic,
)
from simulation.world import SimulatedWorld
from tests.simulation.job_story import Story, written
from turbine.lab.plant.job_model import Fault, Nature
from turbine.lab.plant.plant import Plant

SCALED, OTHER, UNSCALED = 5, 11, 2
JOB = "orders"
AT = place(LOADS, 0)


class Job:
    """One job of a seed whose list and config are told by hand; nothing else happens there. Without
    faults each of its threads reads as much as the other."""

    def __init__(self, seed: int = SCALED, *, faults: bool = False) -> None:
        self.world = SimulatedWorld(seed)
        self.world.authors.keys = (JOB,)
        self.traffic = self.world.traffic
        self.story = Story()
        self.story.is_created()
        self._told = 0
        self.comes()
        if not faults:
            nature = Nature(PER_THREAD, PARTITIONS, restart_s=10.0, base_mb=100.0)
            self.flow.plant = Plant(nature, JobSize(2, 1, 0.25, 256), self.traffic.rng)
            self.flow.generation = self.story.live[0]

    @property
    def flow(self) -> JobTraffic:
        return self.traffic.flows.setdefault(JOB, JobTraffic())

    def comes(self) -> None:
        """What was told of the job since is in the log, and its tasks run."""
        for read in written(tuple(self.story.script)).log[place(JOURNAL, 0)][self._told :]:
            self.world.log.append(JOURNAL, replace(read.record, evidence={}))
            self._told += 1
        self.runs()

    def runs(self, tasks: int | None = None) -> None:
        """So many of its tasks, all of them if nothing is said."""
        generation, all_of_them = self.story.live
        chosen = range(all_of_them if tasks is None else tasks)
        running = {task: HeldTask(generation) for task in chosen}
        self.world.managers.sites[JOB] = Site(running)

    def grows(self, tasks: int, **config: object) -> None:
        """Another shape is in effect."""
        self.story.wants(tasks=tasks, **config)
        self.story.plans("change", "stop", "start")
        self.story.lists()
        self.story.commits("running")
        self.comes()

    def goes_on(self, minutes: int) -> None:
        """They pass, each with its reports, those that are late too."""
        for _ in range(minutes):
            self.traffic.minute()
            self.world.clock.run_until(self.world.clock.now_ms + MINUTE_MS)

    def waits(self) -> None:
        """Until the last word that is late has come."""
        self.world.clock.run_until(self.world.clock.now_ms + 10 * MINUTE_MS)

    def settles(self, minutes: int) -> None:
        """Faults are over."""
        self.world.calm = True
        for _ in range(minutes):
            self.traffic.settle()
            self.world.clock.run_until(self.world.clock.now_ms + MINUTE_MS)

    def told(self) -> list[TaskLoadReported]:
        bodies = [line.record.body for line in self.world.log.lines[AT]]
        return [body for body in bodies if isinstance(body, TaskLoadReported)]


def test_the_same_seed_tells_the_same_and_another_something_else() -> None:
    first, again, other = (Job(seed, faults=True) for seed in (SCALED, SCALED, OTHER))
    for job in (first, again, other):
        job.goes_on(60)
        job.waits()

    assert first.world.log.lines[AT] == again.world.log.lines[AT]
    assert first.world.counts == again.world.counts
    assert first.told() != other.told()


def test_words_come_late_twice_or_never() -> None:
    """About as many as are to; each that comes is one that was said."""
    job = Job()
    job.goes_on(3_000)
    job.waits()
    names = Counter(line.record.id for line in job.world.log.lines[AT])
    counts, said = job.world.counts, 2 * 3_000

    assert counts["load lost"] == said - len(names)
    assert counts["load said again"] == sum(names.values()) - len(names)
    assert set(names.values()) == {1, 2}
    for count, share in (("load lost", LOST), ("load late", LATE), ("load said again", TWICE)):
        assert counts[count] == pytest.approx(share * said, rel=0.4)


def test_what_is_late_comes_after_newer_ones() -> None:
    job = Job()
    began_ms = job.world.clock.now_ms
    job.goes_on(300)
    job.waits()
    waits_ms: dict[tuple[int, int], int] = {}
    for line, body in zip(job.world.log.lines[AT], job.told(), strict=True):
        end_ms = began_ms + (body.count - 1) * MINUTE_MS
        waits_ms.setdefault((body.task, body.count), line.at_ms - end_ms)

    usual = [one for one in waits_ms.values() if one <= MINUTE_MS / 2]
    assert 0.95 * 600 < len(usual) < len(waits_ms)
    assert 2 * MINUTE_MS < max(waits_ms.values()) <= 5 * MINUTE_MS
    assert max(count for _, count in waits_ms) == 300


def test_a_word_is_of_one_task_of_a_shape() -> None:
    """With a size that a reader needs no config for, and numbers of its own."""
    job = Job()
    job.grows(3, threads_per_task=2)
    job.settles(2)
    told = job.told()

    assert {(one.job, one.tasks, one.threads, one.window_ms) for one in told} == {
        (JOB, 3, 2, MINUTE_MS)
    }
    assert {one.generation.specs for one in told} == {job.story.live[0]}
    numbers = [(one.task, one.count) for one in told]
    assert sorted(numbers) == [(task, count) for task in range(3) for count in (1, 2)]
    assert sum(one.records_in_per_s for one in told[-3:]) == pytest.approx(STEADY)


def test_a_job_of_one_task_speaks_for_itself() -> None:
    job = Job()
    job.grows(1, threads_per_task=4, resources={"cpu_cores": 2, "memory_mb": 512})
    job.settles(1)

    [told] = job.told()
    assert (told.task, told.tasks, told.threads) == (0, 1, 4)
    assert job.flow.plant is not None
    assert job.flow.plant.size == JobSize(1, 4, 2.0, 512)


@pytest.mark.parametrize("left", [0, 1])
def test_a_job_whose_tasks_stop_keeps_its_backlog(left: int) -> None:
    """Nothing is read while one of them does not run, and nothing is lost by that."""
    job = Job()
    job.settles(5)
    before = len(job.told())
    job.runs(left)
    job.settles(4)

    assert len(job.told()) == before
    assert job.flow.unread == 4 * STEADY

    job.runs()
    job.settles(1)
    plant = job.flow.plant
    assert plant is not None
    assert job.flow.unread == 0
    came = STEADY * 60 * 10
    read = 60 * sum(one.records_in_per_s for one in job.told())
    assert read + plant.lag == pytest.approx(came)
    assert plant.lag == pytest.approx(came - 6 * 60 * 2 * PER_THREAD)


def test_tasks_of_an_older_list_do_not_count() -> None:
    job = Job()
    older = job.story.live[0]
    job.grows(2)
    job.world.managers.sites[JOB] = Site({task: HeldTask(older) for task in range(2)})
    job.goes_on(1)

    assert job.flow.unread > 0
    assert job.told() == []


def test_another_shape_costs_a_restart() -> None:
    job = Job()
    job.settles(3)
    plant = job.flow.plant
    assert plant is not None
    job.grows(4)
    job.settles(1)

    # Two tasks read 20 a second; four read 40, but for the ten seconds of their restart.
    assert plant.size.tasks == 4
    assert plant.lag == pytest.approx(4 * 60 * STEADY - 3 * 60 * 20 - 50 * 40)


def test_so_does_another_list_of_the_same_shape() -> None:
    job = Job()
    job.settles(1)
    job.grows(2, package={"name": "counts", "version": "2.0.0"})
    job.settles(1)

    assert job.flow.plant is not None
    assert job.flow.plant.lag == pytest.approx(2 * 60 * STEADY - (60 + 50) * 20)


def test_what_changes_without_another_list_is_known() -> None:
    job = Job()
    job.story.wants(tasks=2, resources={"memory_mb": 512})
    job.story.commits("running", simple=True)
    job.comes()
    job.settles(1)

    assert job.flow.plant is not None
    assert job.flow.plant.size == JobSize(2, 1, 0.25, 512)


def test_a_job_whose_list_is_empty_is_silent() -> None:
    job = Job()
    job.story.plans("pause", "stop")
    job.story.begins("stop")
    job.story.empties()
    job.comes()
    job.world.managers.sites[JOB] = Site()
    job.settles(1)

    assert (job.told(), job.flow.unread) == ([], STEADY)


def test_what_was_wrong_is_over_with_the_faults() -> None:
    job = Job()
    assert job.flow.plant is not None
    for_ever = Fault("vanished", 0, 1_000_000)
    nature = Nature(PER_THREAD, PARTITIONS, base_mb=100.0, faults=(for_ever,))
    job.flow.plant = Plant(nature, job.flow.plant.size, job.traffic.rng)
    job.goes_on(5)
    assert job.told() == []

    job.settles(1)
    assert [one.task for one in job.told()] == [0, 1]


def test_a_job_that_is_not_listed_is_silent() -> None:
    job = Job()
    job.world.authors.keys = (JOB, "clicks")
    job.settles(2)

    assert {one.job for one in job.told()} == {JOB}
    assert job.traffic.flows["clicks"].unread == 2 * STEADY


def test_in_the_end_all_is_told_at_once_and_is_true() -> None:
    """The job has room: what was left is read, and the same comes in from minute to minute."""
    job = Job(faults=True)
    job.grows(4)
    job.goes_on(120)
    job.waits()
    job.settles(240)
    before = len(job.told())
    lost = job.world.counts["load lost"]
    job.settles(10)
    told = job.told()[before:]

    assert job.flow.plant is not None
    assert (job.flow.plant.lag, job.flow.rate) == (0.0, STEADY)
    assert len(told) == 4 * 10
    assert job.world.counts["load lost"] == lost
    by_minute = [sum(one.records_in_per_s for one in told[at : at + 4]) for at in range(0, 40, 4)]
    assert by_minute == pytest.approx([STEADY] * 10)


def test_a_minute_is_told_once_however_often_it_is_looked_at() -> None:
    job = Job()
    job.world.calm = True
    began_ms = job.world.clock.now_ms
    for _ in range(6):
        job.traffic.settle()
        job.world.clock.run_until(job.world.clock.now_ms + PACE_MS)

    told_ms = [line.at_ms - began_ms for line in job.world.log.lines[AT]]
    assert told_ms == [0, 0, MINUTE_MS, MINUTE_MS]


def test_it_goes_on_by_itself_until_faults_are_over() -> None:
    job = Job()
    job.traffic.begin()
    job.waits()
    before = [one.count for one in job.told()]
    job.world.calm = True
    job.waits()

    assert max(before) >= 8
    assert max(one.count for one in job.told()) <= 10


def test_where_nobody_scales_by_it_there_is_none() -> None:
    job = Job(UNSCALED)
    job.traffic.begin()
    job.waits()
    job.settles(3)

    assert job.told() == []
    assert (job.traffic.settles_ms, job.traffic.pace_ms) == (USUAL_MS, USUAL_PACE_MS)
    scaled = Job().traffic
    assert (scaled.settles_ms, scaled.pace_ms) == (SETTLES_MS, PACE_MS)
