"""The checker of how jobs are sized is checked: a good history, and each way to break it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from events.generated.records import Body, ScalingDecided, TaskLoadReported
from events.topics import LOADS as LOADS_TOPIC
from events.topics import place
from simulation import run
from simulation.checkers.conservation import check_conservation
from simulation.checkers.history import ROOT, History
from simulation.checkers.scaling import HOUR_MS, LOADS, OLD_MS, RESTARTS_MOST, check_scaling
from simulation.small_scaler import ASKS
from tests.simulation.sizing_story import Sizing, good


def test_a_good_history_has_no_violation() -> None:
    history = good().history()
    assert len(history.standing) == len(history.log[history.journal])
    assert list(check_scaling(history)) == []


def test_it_looks_where_loads_lie() -> None:
    assert place(LOADS_TOPIC, 0) == LOADS


# --- what is broken


def silent(**more: str) -> Callable[[Sizing], None]:
    """One word is missing in a decision."""
    return lambda job: job.decides("9.grow", **more)


def overlapping(job: Sizing) -> None:
    job.changes("9.grow", 4)
    job.decides("9.more", {"tasks": 8})


def before_it_is_taken_back(job: Sizing) -> None:
    job.changes("9.grow", 4)
    job.reverts("9.grow", "9.back")
    job.sets("scaler", "9.back", tasks=2)
    job.decides("9.more", {"tasks": 8})


def before_its_own_commit(job: Sizing) -> None:
    """A commit of what was expected before says nothing of it."""
    job.changes("9.grow", 4)
    job.reverts("9.grow", "9.back")
    before = job.versions
    job.sets("scaler", "9.back", tasks=2)
    after, job.versions = job.versions, before
    job.in_effect()
    job.versions = after
    job.decides("9.more", {"tasks": 8})


def before_it_is_accepted(job: Sizing) -> None:
    job.changes("9.grow", 4)
    job.reverts("9.grow", "9.back")
    job.sets("scaler", "9.other", priority=3)
    job.in_effect()
    job.decides("9.more", {"tasks": 8})


def of_another(job: Sizing) -> None:
    job.changes("9.grow", 4)
    job.verifies("9.other")


def twice(job: Sizing) -> None:
    job.changes("9.grow", 4)
    job.verifies("9.grow")
    job.declines("9.grow")


def after_its_deletion(job: Sizing) -> None:
    job.decides("9.grow")
    job.deleted()
    job.verifies("9.grow")


def after_it_was_taken_back(job: Sizing) -> None:
    job.changes("9.grow", 4)
    job.is_taken_back("9.grow", 2)
    job.verifies("9.grow.back")


def against(
    theirs: dict[str, Any], set_: dict[str, Any] | None = None, *clear: str
) -> Callable[[Sizing], None]:
    """People have set one thing, the scaler names another."""

    def tell(job: Sizing) -> None:
        job.lays("oncall", theirs)
        job.decides("9.grow", set_, clear=clear)

    return tell


def against_what_came_later(job: Sizing) -> None:
    job.lays("oncall", {"priority": 1})
    job.lays("oncall", {"priority": 1, "tasks": 3})
    job.decides("9.grow")


def against_what_is_set_again(job: Sizing) -> None:
    job.lays("oncall", {"tasks": 3})
    job.expires()
    job.lays("oncall", {"tasks": 5})
    job.decides("9.grow")


def with_one_that_is_silent(job: Sizing) -> None:
    job.changes("9.grow", 4)
    job.verifies("9.grow")
    job.waits(OLD_MS + 1)
    for task in (0, 1, 3):
        job.hears(task, 4)
    job.shrinks("9.shrink")


def with_words_of_another_shape(job: Sizing) -> None:
    job.changes("9.grow", 3)
    job.verifies("9.grow")
    job.specs += 2
    job.hears(0, 3)
    for task in (1, 2):
        job.hears(task, 3, job.specs - 2)
    job.shrinks("9.shrink")


def with_words_of_no_shape(job: Sizing) -> None:
    job.specs += 2
    job.hears(0, 0)
    job.waits(OLD_MS + 1)
    job.shrinks("9.shrink")


def too_often(job: Sizing) -> None:
    for nth in range(RESTARTS_MOST + 1):
        job.waits(HOUR_MS // (RESTARTS_MOST + 1))
        job.decides(f"9.{nth}")
        job.declines(f"9.{nth}")


def too_often_to_and_fro(job: Sizing) -> None:
    """What is taken back is another restart."""
    for nth in range(RESTARTS_MOST // 2 + 1):
        job.changes(f"9.{nth}", 4)
        job.is_taken_back(f"9.{nth}", 2)


Broken = tuple[str, Callable[[Sizing], None], str]
THEIRS = "sets {}, which people have set"
BAD: list[Broken] = [
    ("no symptom", silent(symptom=""), "ScalingDecided at 7 does not say why"),
    ("no diagnosis", silent(diagnosis=""), "does not say why"),
    ("no sentence", silent(explanation=""), "does not say why"),
    ("shown without a reason", silent(explanation="", mode="advise"), "does not say why"),
    ("a second change", overlapping, "begins 9.more while 9.grow is open"),
    ("a change amid a revert", before_it_is_taken_back, "begins 9.more while 9.back is open"),
    ("an older commit", before_its_own_commit, "begins 9.more while 9.back is open"),
    ("a revert not accepted", before_it_is_accepted, "begins 9.more while 9.back is open"),
    ("an end of nothing", lambda job: job.verifies("9.x"), "ends 9.x, and nothing is open"),
    ("an end of another", of_another, "ends 9.other, and 9.grow is open"),
    ("two ends", twice, "ScalingDeclined at 11 ends 9.grow, and nothing is open"),
    ("a revert of nothing", lambda job: job.reverts("9.x", None), "ends 9.x, and nothing is open"),
    ("an end of what is gone", after_its_deletion, "ends 9.grow, and nothing is open"),
    ("an end of a revert", after_it_was_taken_back, "ends 9.grow.back, and nothing is open"),
    ("their key", against({"tasks": 3}), THEIRS.format("tasks")),
    ("their tombstone", against({"tasks": None}), THEIRS.format("tasks")),
    ("their key, later", against_what_came_later, THEIRS.format("tasks")),
    ("their key, again", against_what_is_set_again, THEIRS.format("tasks")),
    (
        "within theirs",
        against({"resources": None}, {"resources": {"cpu_cores": 1}}),
        THEIRS.format("resources.cpu_cores"),
    ),
    (
        "around theirs",
        against({"resources": {"cpu_cores": 1}}, {"resources": None}),
        THEIRS.format("resources"),
    ),
    (
        "one of two",
        against({"resources": {"memory_mb": 9}}, {"tasks": 2, "resources": {"memory_mb": 8}}),
        THEIRS.format("resources.memory_mb"),
    ),
    (
        "their key cleared",
        against({"assignment": [["clicks/0"]]}, {"tasks": 4}, "assignment"),
        THEIRS.format("assignment"),
    ),
    (
        "around theirs, cleared",
        against({"resources": {"cpu_cores": 1}}, {}, "resources"),
        THEIRS.format("resources"),
    ),
    ("a silent task", with_one_that_is_silent, "smaller, and 3 of 4 tasks were heard lately"),
    ("another shape's", with_words_of_another_shape, "smaller, and 1 of 3 tasks were heard lately"),
    ("no shape's", with_words_of_no_shape, "smaller, and 0 of 2 tasks were heard lately"),
    ("too often", too_often, f"is restart {RESTARTS_MOST + 1} within an hour"),
    ("to and fro", too_often_to_and_fro, f"is restart {RESTARTS_MOST + 1} within an hour"),
]


@pytest.mark.parametrize(("tell", "said"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_bad_history_is_found(tell: Callable[[Sizing], None], said: str) -> None:
    """It is the only one there is to be found."""
    job = Sizing()
    tell(job)
    [found] = check_scaling(job.history())
    assert said in found
    assert found.startswith("orders: Scaling")


# --- what is not


def no_more_than_may_be(job: Sizing) -> None:
    for nth in range(RESTARTS_MOST):
        job.decides(f"9.{nth}")
        job.declines(f"9.{nth}")


def an_hour_later(job: Sizing) -> None:
    no_more_than_may_be(job)
    job.waits(HOUR_MS)
    job.decides("9.more")


def with_no_key_of_theirs(job: Sizing) -> None:
    """A map without a key, and a key whose name another begins with."""
    job.lays("oncall", {"resources": {}, "tasks_of_people": 3})
    job.decides("9.grow", {"tasks": 4, "resources": {"cpu_cores": 1}})


def of_the_small_scaler(job: Sizing) -> None:
    """It has an outcome for no change, and says why in other words."""
    for nth in range(RESTARTS_MOST + 1):
        job.decides(f"9.{nth}", policy="", symptom="", diagnosis="", explanation="")
    job.declines("9.0", policy="")


GOOD = (no_more_than_may_be, an_hour_later, with_no_key_of_theirs, of_the_small_scaler)


@pytest.mark.parametrize("tell", GOOD, ids=lambda one: one.__name__)
def test_what_is_within_the_rails_is_not_judged(tell: Callable[[Sizing], None]) -> None:
    job = Sizing()
    tell(job)
    assert list(check_scaling(job.history())) == []


def reheaded(history: History, at: str, kind: type[Body], **headers: Any) -> History:
    """With other headers of the last record of that kind in a place."""
    reads = list(history.log[at])
    last = max(n for n, read in enumerate(reads) if isinstance(read.record.body, kind))
    reads[last] = replace(reads[last], record=replace(reads[last].record, **headers))
    return replace(history, log={**history.log, at: reads})


@pytest.mark.parametrize(("known", "said"), [(1, "1 of 2"), (0, "0 of 0")])
def test_what_a_decision_did_not_know_is_not_in_its_favour(known: int, said: str) -> None:
    job = Sizing()
    job.shrinks("9.shrink")
    history = job.history()
    evidence = {**history.standing[-1].record.evidence, LOADS: known}
    blind = reheaded(history, history.journal, ScalingDecided, evidence=evidence)

    assert list(check_scaling(history)) == []
    [found] = check_scaling(blind)
    assert f"makes it smaller, and {said} tasks were heard lately" in found


def test_what_does_not_stand_is_not_judged() -> None:
    job = Sizing()
    overlapping(job)
    history = job.history()
    void = reheaded(history, history.journal, ScalingDecided, parent="nobody's")

    assert list(check_scaling(void)) == []


def test_jobs_are_judged_each_for_itself() -> None:
    """Changes of two jobs overlap, and the tasks of one are not those of the other."""
    job = Sizing()
    job.shrinks("9.shrink")
    job.decides("9.other")
    history = job.history()
    apart = reheaded(history, history.journal, ScalingDecided, key="clicks", parent=ROOT)
    assert [one.record.key for one in apart.standing[-2:]] == ["orders", "clicks"]
    assert list(check_scaling(apart)) == []

    job = Sizing()
    job.hears(0, 9, job.specs + 2)
    job.shrinks("9.shrink")
    apart = reheaded(job.history(), LOADS, TaskLoadReported, key="clicks")
    assert list(check_scaling(apart)) == []


# --- what its decisions owe


def lost(job: Sizing) -> Iterator[str]:
    return check_conservation(job.history(), run._owes)


def test_a_change_and_what_takes_it_back_are_owed_and_nothing_else_is() -> None:
    job = Sizing()
    job.changes("9.grow", 4)
    job.reverts("9.grow", "9.back")
    job.decides("9.shown", mode="advise")
    job.declines(reason="well")

    owed = [one for one in lost(job) if "was lost" in one]

    assert len(owed) == 2
    assert f"effect {(ASKS, '9.grow')} of" in owed[0]
    assert f"effect {(ASKS, '9.back')} of" in owed[1]
