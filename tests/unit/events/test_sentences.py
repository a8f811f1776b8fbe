"""What a person reads of each record, word for word."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.auto_scaler.core.policies.turbine.words import gain_told
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    CapacityBorrowed,
    CapacityReported,
    ConfigChangeProposed,
    ConfigDifference,
    ContainerFailOverRequested,
    Generation,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    JobQuarantined,
    JobReleased,
    JobsPreempted,
    LayerVersions,
    OffsetResetRequested,
    OverrideExpired,
    PlacementPlanned,
    ResourceAmount,
    ResourceUse,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    ShardAddRequested,
    ShardDropRequested,
    SyncCommitted,
    SyncFailed,
    SyncPlanned,
    SyncStep,
    SyncStepDone,
    SyncStepStarted,
    TaskFailed,
    TaskSpecsPublished,
    TierDefined,
)
from events.job_config.reset import Reset
from events.sentences import LINE, sentence
from events.sentences.scaling import gain, outline
from projections.scaling.decision_memory import Open

VERSIONS = LayerVersions(12, 0, 1, 0)
NOW = 1_800_000_000_000
WHEN = "2027-01-15T08:00:00Z"


def planned(intent: str, steps: tuple[str, ...], was: int | None, then: int, **more: Any) -> Body:
    """A plan from so many tasks to others; None: there was no job before."""
    told = None if was is None else str(was)
    found = (ConfigDifference("tasks", told, str(then)),) if was != then else ()
    return SyncPlanned(
        "clicks", "12.0.1.0#4", "s", "complex", intent, VERSIONS, 4,
        tuple(SyncStep(name) for name in steps), json.dumps({"tasks": then}),
        from_versions=None if was is None else LayerVersions(11, 0, 1, 0),
        differences=(*found, *more.pop("differences", ())), **more,
    )  # fmt: skip


def decided(size: dict[str, Any], set_json: str, tasks: int, **more: Any) -> ScalingDecided:
    """A size that is changed."""
    return ScalingDecided(
        "clicks", "1.a", 1, set_json, "lag", "demand", tasks, tasks,
        evidence_json=json.dumps({"size": size}), explanation="9,000 records/s are needed",
        action="scale-up", **more,
    )  # fmt: skip


SIZE = {"tasks": 2, "threads": 1, "cpu_cores": 0.5, "memory_mb": 512}
CASES: list[tuple[Body, str]] = [
    # plans
    (planned("change", ("stop", "start"), 4, 8), "stops 4 tasks to run 8, version 12.0.1.0"),
    (planned("start", ("start",), None, 4), "starts 4 tasks, version 12.0.1.0"),
    (
        planned(
            "change", ("stop", "start"), 4, 4, attempt=2,
            differences=(ConfigDifference("operator", '"a:b"', '"a:c"'),),
        ),
        "stops 4 tasks to run them with new operator, version 12.0.1.0 (attempt 2)",
    ),
    (
        planned("pause", ("stop",), 4, 4, held=True),
        "stops 4 tasks, paused by an operator, version 12.0.1.0",
    ),
    (
        planned("restart", ("stop", "start"), 2, 2),
        "waits until all tasks stand still and starts 2 tasks again, version 12.0.1.0",
    ),
    (planned("restart", ("start",), 2, 2), "starts 2 tasks again, version 12.0.1.0"),
    (planned("resume", ("start",), 1, 1), "starts 1 task again after a pause, version 12.0.1.0"),
    (
        planned("reset", ("stop", "start"), 4, 4, reset_json=Reset("1.a", "earliest", 1).text()),
        "stops 4 tasks to read again from earliest, version 12.0.1.0",
    ),
    (
        SyncPlanned("c", "p", "s", "complex", "delete", VERSIONS, 4, (SyncStep("stop"),), "{}"),
        "stops its tasks, as the job is deleted, version 12.0.1.0",
    ),
    (SyncStepStarted("clicks", "p", 0, "stop", 4), "tells its tasks to stop, step 1"),
    (SyncStepDone("clicks", "p", 1, "start"), "all its tasks have started, step 2 is done"),
    (SyncStepStarted("clicks", "p", 2, "dance", 4), "begins dance, step 3"),
    (
        SyncCommitted("clicks", "p", "complex", VERSIONS, 4, "{}", "running", 8),
        "runs 8 tasks with version 12.0.1.0",
    ),
    (
        SyncCommitted("clicks", "p", "simple", VERSIONS, 4, "{}", "running", 8),
        "version 12.0.1.0 is in effect, and for it none of its 8 tasks had to stop",
    ),
    (
        SyncCommitted("clicks", "p", "complex", VERSIONS, 4, "{}", "paused", 8),
        "paused by its config, at version 12.0.1.0",
    ),
    (
        SyncCommitted("clicks", "p", "complex", VERSIONS, 4, "{}", "deleted", 0),
        "nothing of it runs any more, it is deleted at version 12.0.1.0",
    ),
    (
        SyncFailed("clicks", "p", "s", VERSIONS, 1, "start", "task-failed", "no module my_ops", 2),
        "failed at step start on the way to version 12.0.1.0, failure 2: no module my_ops",
    ),
    (
        SyncFailed("clicks", "p", "s", VERSIONS, 0, "", "overtaken", "a newer config", 0),
        "gave up the plan for version 12.0.1.0: a newer config",
    ),
    (
        SyncFailed("c", "", "", VERSIONS, 0, "", "not-paused", "no operator has", 0, change_id="1"),
        "rejected what an operator asked, not-paused: no operator has",
    ),
    (
        JobQuarantined("clicks", "p", "s", VERSIONS, 1, "start", "task-failed", "no module x", 3),
        "quarantined after 3 failures of version 12.0.1.0 at step start: no module x",
    ),
    (
        JobReleased("clicks", "an operator wants it", "1.a", author="ana", reason="installed"),
        "released from quarantine by ana: installed",
    ),
    (
        JobReleased("clicks", "a newer config was accepted"),
        "released from quarantine: a newer config was accepted",
    ),
    (
        TaskSpecsPublished(
            "clicks", "p", 4, 1, 1, 8, VERSIONS, "default", "clicks.count:run", "exactly-once", (),
            package="clicks", package_version="1.4.2",
        ),
        "lists 8 tasks of clicks.count:run (clicks 1.4.2), generation 4",
    ),
    (
        TaskSpecsPublished("c", "p", 3, 2, 3, 0, VERSIONS, "default", "a:b", "exactly-once", ()),
        "lists no task, so that all of them stop, generation 3, part 2 of 3",
    ),
    # configs
    (
        JobConfigChanged("c", "base", "1.a", 2, VERSIONS, '{"tasks":4}', "{}", "ana", "more"),
        "version 2 of base by ana: more",
    ),
    (
        JobConfigChanged(
            "c", "oncall", "1.a", 3, VERSIONS, '{"tasks":16,"slo":{"lag_seconds":5}}', "{}", "ben",
            "x", expires_ms=NOW,
        ),
        f"version 3 of oncall by ben, which sets tasks 16 and slo.lag_seconds 5 until {WHEN}: x",
    ),
    (
        JobConfigChanged("c", "scaler", "1.a", 3, VERSIONS, "{}", "{}", "auto-scaler"),
        "version 3 of scaler by auto-scaler, which sets nothing any more",
    ),
    (
        JobConfigRejected("c", "x", "1.a", "stale", "expected version 1, it is 2", 2, author="ana"),
        "rejected as stale, asked by ana: expected version 1, it is 2",
    ),
    (JobConfigRejected("c", "x", "1.a", "stale", "no", 2), "rejected as stale: no"),
    (
        JobConfigRejected("c", "x", "1.a", "invalid", "tasks: found 0", 2, path="tasks"),
        "rejected as invalid: tasks: found 0",
    ),
    (
        JobConfigRejected("c", "x", "1.a", "invalid", "it is too long", 2, path="tasks"),
        "rejected as invalid, at tasks: it is too long",
    ),
    (
        OverrideExpired("c", "oncall", 3, VERSIONS, "{}", NOW),
        "the oncall override has expired, version 3 of it is empty",
    ),
    (
        OverrideExpired("c", "oncall", 3, VERSIONS, "{}", NOW, "1.a", '{"tasks":4}'),
        "an oncall override has expired, version 3 of it sets tasks 4",
    ),
    (JobDeleted("c", "1.a", VERSIONS, "ana"), "deleted by ana"),
    (
        ConfigChangeProposed(
            "1.a", "c", "ana", set_json='{"tasks":4,"inputs":[{"topic":"a"}]}', clear=("slo",)
        ),
        "ana asks to set tasks 4 and inputs (1 value) and to clear slo",
    ),
    (
        OffsetResetRequested("1.a", "c", '{"orders":{"0":42}}', "ana", "again"),
        "ana asks to read the inputs again from offsets of orders.0 42: again",
    ),
    (
        OffsetResetRequested("1.a", "c", str(NOW), ""),
        f"somebody asks to read the inputs again from {WHEN}",
    ),
    # alerts
    (
        AlertRaised("c", "job-quarantined", "critical", "start failed too often", "r"),
        "critical alert job-quarantined: start failed too often",
    ),
    (
        AlertCleared("c", "job-quarantined", "the job was released"),
        "alert job-quarantined is over: the job was released",
    ),
    # sizes
    (decided(SIZE, '{"tasks":8}', 8), "resized: 2 -> 8 tasks, as 9,000 records/s are needed"),
    (
        decided(SIZE, '{"tasks":1,"threads_per_task":5}', 1),
        "resized: 2x1 -> 1x5 threads, as 9,000 records/s are needed",
    ),
    (
        decided(SIZE, '{"resources":{"memory_mb":1024}}', 2, mode="advise"),
        "resized: 512 -> 1,024 MiB a task (mode advise), as 9,000 records/s are needed",
    ),
    (decided({}, '{"tasks":8}', 8), "resized: to 8 tasks, as 9,000 records/s are needed"),
    (
        decided(SIZE, "{}", 2, clear=("tasks",)),
        "scale-up: clears tasks, as 9,000 records/s are needed",
    ),
    (ScalingDeclined("c", "settling", "it is too new"), "left as it is, settling: it is too new"),
    (
        ScalingDeclined("c", "oncall", "people have set tasks", action="scale-up"),
        "no scale-up, oncall: people have set tasks",
    ),
    (
        ScalingDeclined("c", "too-late", "the log was slower", change_id="1.a", action="scale-up"),
        "gave up its change, too-late: the log was slower",
    ),
    (ScalingReverted("c", "1.a", "it did not help", "{}", "1.b"), "taken back: it did not help"),
    (
        ScalingReverted("c", "1.a", "nothing came of it"),
        "did not help, and is left as it is: nothing came of it",
    ),
    # tiers
    (
        ShardAddRequested("t", 11, 3, "c0", 1, "", "c1 has given it up", from_container="c1"),
        "shard 11 goes from c1 to c0: c1 has given it up",
    ),
    (
        ShardDropRequested("t", 11, 3, "c1", 1, "p", "c1 is being emptied", to_container="c0"),
        "shard 11 leaves c1 for c0: c1 is being emptied",
    ),
    (
        ContainerFailOverRequested("t", "c1", 2, 7_000, "nothing was heard of it for 7 s"),
        "c1 is failed over: nothing was heard of it for 7 s",
    ),
    (
        PlacementPlanned("t", "p9", "balance", 12, 64, 3, 0, "d", "12 moves are left", held=True),
        "plans 12 moves (balance), held until plan p9 is confirmed: 12 moves are left",
    ),
    (TierDefined("batch", 64, ("eu", "us")), "tier batch is made, of 64 shards, regions eu and us"),
    (
        CapacityReported(
            "t", 2, (ResourceUse("cpus", 32.0, 0.141, reserved=5.75),), jobs_waiting=1,
            state="plenty", jobs=3,
        ),
        "room is plenty: 2 containers, 3 jobs, 1 waiting; cpus 5.75 reserved of 32, 0.141 used",
    ),
    (CapacityBorrowed("t", "l", "other", (), "plenty"), "gives back what other has lent: plenty"),
    (
        JobsPreempted("t", ("a", "b", "c", "d"), 5, "short", (ResourceAmount("cpu_cores", 2.5),)),
        "stops a, b, c and 1 more for lack of room, which frees 2.5 cpu_cores: short",
    ),
    # tasks
    (
        TaskFailed("c", 1, Generation(4, 1), "c0", 1, "error", "no x", 2, "KeyError", 5_000),
        "task 1 has failed on c0 (error, KeyError), started again in 5 s: no x",
    ),
    (
        TaskFailed("c", 1, Generation(4, 1), "c0", 1, "operator-error", "no x"),
        "task 1 has failed on c0 (operator-error), started no more: no x",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "text"), CASES, ids=lambda one: type(one).__name__)
def test_a_record_in_a_sentence(body: Body, text: str) -> None:
    assert sentence(body) == text


def test_what_is_long_is_cut_at_its_end() -> None:
    said = sentence(AlertRaised("c", "job-quarantined", "critical", "x" * 5_000, "r"))
    assert len(said) == LINE
    assert said.startswith("critical alert job-quarantined: xxx")
    assert said.endswith("x…")


# --- what a change brought


def verified(before: float, expected: float, could: float) -> ScalingVerified:
    """As the policy words it."""
    told = gain_told(Open(1, NOW, before, expected), could, 0.1)
    return ScalingVerified("clicks", "1.a", told)


def test_a_change_that_brought_little_says_so() -> None:
    body = verified(100.0, 1_100.0, 200.0)
    assert gain(body) == 10
    assert sentence(body) == (
        "kept, but it brought only 10 % of the gain that was expected: 200 records/s can be read,"
        " 100 records/s could be before, and 1,100 records/s were expected"
    )


def test_a_change_that_brought_most_of_it_and_all_of_it() -> None:
    assert (
        outline(verified(100.0, 1_100.0, 600.0)) == "kept, with 50 % of the gain that was expected"
    )
    assert outline(verified(100.0, 1_100.0, 590.0)).startswith("kept, but it brought only 49 %")
    whole = verified(100.0, 1_100.0, 1_200.0)
    assert (gain(whole), outline(whole)) == (None, "kept")
    assert sentence(whole).startswith("kept: 1,200 records/s can be read")
