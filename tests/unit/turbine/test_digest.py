"""The digest of a shift: what changed, by job, and what needs somebody first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    ContainerFailOverRequested,
    DrainRequested,
    JobQuarantined,
    JobReleased,
    JobsPreempted,
    LayerVersions,
    PlacementPlanned,
    ScalingDecided,
    ScalingReverted,
    ScalingVerified,
    ShardDropRequested,
    ShardForceKilled,
    SyncCommitted,
    SyncFailed,
)
from events.sentences import sentence
from projections.jobs import Job, LayerState
from projections.syncs import Sync
from tests.unit.turbine import logs
from tests.unit.turbine.decided import CLICKS, NOW, Journal
from tests.unit.turbine.lines import NOWHERE, run
from tests.unit.turbine.watched import read_of
from turbine.cli.digest import TEXT_MAX, text_of
from turbine.failures import Code
from turbine.read.answers.digest import FINE, LOOK, NEEDS, Digest, digest
from turbine.read.answers.digest_tiers import TierDigest, turns
from turbine.read.answers.lines import lines_of
from turbine.read.plain import plain
from turbine.read.sources.log import Standing
from turbine.read.state.view import JobView, View

HOUR = 3_600_000
VERSIONS = LayerVersions(1, 0, 0, 0)
SINCE, UNTIL = NOW + HOUR, NOW + 9 * HOUR
CHANGE = f"{NOW}.up"
RAISED = AlertRaised("clicks", "tasks-failing", "critical", "task 0: operator-error",
                     "docs/runbooks/tasks-failing.md")  # fmt: skip
CLEARED = AlertCleared("clicks", "tasks-failing", "all tasks have run for three minutes")
UP = ScalingDecided("clicks", CHANGE, 0, '{"tasks":8}', "lag", "under-capacity", 12, 8,
                    policy="turbine", action="scale-up",
                    explanation="9,000/s are needed")  # fmt: skip


class Shift:
    """A job's journal, with instants of its own."""

    def __init__(self) -> None:
        self.journal, self._at = Journal(), dict[int, int]()
        self.change(CLICKS, 0)

    def _mark(self, before: int, hour: float) -> None:
        for number in range(before, len(self.journal.decisions)):
            self._at[number] = NOW + int(hour * HOUR)

    def change(self, set_: Any, hour: float, layer: str = "base", **more: Any) -> None:
        before = len(self.journal.decisions)
        self.journal.propose(set_, layer, **more)
        self._mark(before, hour)

    def say(self, body: Body, hour: float, *, stands: bool = True) -> None:
        before = len(self.journal.decisions)
        self.journal.say(body, self.journal.last, stands=stands)
        self._mark(before, hour)

    def synced(self, hour: float, tasks: int = 2, *, versions: LayerVersions | None = None) -> None:
        versions = versions or self.journal.job.versions
        self.say(SyncCommitted("clicks", "p", "simple", versions, 1, "{}", "running", tasks), hour)

    def told(self) -> list[Standing]:
        return [
            replace(one, read=replace(one.read, at_ms=self._at[number]))
            for number, one in enumerate(self.journal.decisions)
        ]

    def row(self) -> dict[str, Any]:
        found = plain(digest_of(self.told()))
        return dict(found["jobs"][0]) if found["jobs"] else {}

    def text(self) -> str:
        return "\n".join(text_of(digest_of(self.told())))


def digest_of(
    decisions: list[Standing], tiers: Sequence[TierDigest] = (), *, waits: bool = True
) -> Digest:
    """Of jobs whose config is not in effect in the end, or has always been."""
    seen = dict[str, JobView]()
    for name in {one.read.record.key for one in decisions}:
        sync = Sync(name, alive=True, versions=VERSIONS, expected_json="{}") if waits else None
        layers = (LayerState(1), LayerState(), LayerState(), LayerState())
        seen[name] = JobView(Job(name, True, layers), sync)
    view = View({}, now_ms=UNTIL, jobs=seen)
    return digest(view, lines_of(view), decisions, tiers, SINCE)


@pytest.fixture
def shift() -> Shift:
    """A job that was made, and came into effect, before the shift began."""
    found = Shift()
    found.synced(0.1)
    return found


def test_a_job_to_which_nothing_happened_is_quiet(shift: Shift) -> None:
    found = digest_of(shift.told())
    assert (found.since_ms, found.until_ms, found.jobs, found.quiet, found.tiers, found.whole) == (
        SINCE, UNTIL, (), 1, (), True,
    )  # fmt: skip
    [head, _] = shift.text().splitlines()
    assert head.endswith(": 0 jobs need you, 0 to look at, 0 changed, 1 quiet")


def test_a_change_is_told_with_its_author_and_difference(shift: Shift) -> None:
    expires = NOW + 12 * HOUR
    shift.change({"tasks": 8}, 2, "oncall", author="ben", reason="backlog", expires_ms=expires)
    shift.synced(2.1)
    row = shift.row()
    assert row["stands"] == FINE
    [change] = row["config"]
    assert (change["what"], change["layer"], change["version"]) == ("changed", "oncall", 1)
    assert (change["author"], change["reason"]) == ("ben", "backlog")
    assert change["differences"] == [{"path": "tasks", "before": 2, "after": 8}]
    told = shift.text()
    assert (
        "version 1 of oncall by ben, which sets tasks 8 until 2027-01-15T20:00:00Z: backlog" in told
    )
    assert "~ tasks: 2 -> 8" in told


def test_what_is_expected_and_not_in_effect_is_to_be_looked_at(shift: Shift) -> None:
    shift.change({"tasks": 8}, 2)
    assert (shift.row()["stands"], shift.row()["waits_ms"]) == (LOOK, NOW + 2 * HOUR)
    assert "what is expected since then is not in effect" in shift.text()
    shift.synced(2.1)
    assert (shift.row()["stands"], shift.row()["waits_ms"]) == (FINE, None)


def test_it_waits_since_the_first_change_until_the_newest_is_in_effect(shift: Shift) -> None:
    for tasks, hour in ((8, 1), (9, 3)):  # the first one at the very beginning of the shift
        first = shift.journal.job.versions
        shift.change({"tasks": tasks}, hour)
    assert shift.row()["waits_ms"] == NOW + HOUR
    shift.synced(3.1, versions=first)
    row = shift.row()
    assert (row["waits_ms"], len(row["config"])) == (NOW + HOUR, 2)
    shift.synced(3.2)
    assert shift.row()["waits_ms"] is None


def test_who_was_deleted_before_it_ran_waits_for_nothing(shift: Shift) -> None:
    shift.change({"tasks": 8}, 0.5)
    [job] = digest_of(shift.told()).jobs
    assert (job.stands, job.waits_ms) == (LOOK, NOW + HOUR // 2)
    assert digest_of(shift.told(), waits=False).jobs == ()


def test_what_was_left_of_a_job_that_is_settled_is_not_told_again(shift: Shift) -> None:
    shift.say(RAISED, 0.5)
    assert len(digest_of(shift.told()).jobs) == 1
    assert digest_of(shift.told(), waits=False).jobs == ()
    shift.change({"tasks": 8}, 2)
    [job] = digest_of(shift.told(), waits=False).jobs
    assert ([alert.alert for alert in job.open], job.waits_ms) == (["tasks-failing"], None)


def test_an_action_is_told_with_its_outcome(shift: Shift) -> None:
    shift.say(UP, 2)
    assert "resized: to 8 tasks, as 9,000/s are needed" in shift.text()
    assert "no outcome yet" in shift.text()
    shift.say(ScalingVerified("clicks", CHANGE, "7,900/s are read"), 3)
    assert "kept: 7,900/s are read" in shift.text()
    assert shift.row()["stands"] == FINE


def test_an_action_that_was_taken_back_is_to_be_looked_at(shift: Shift) -> None:
    shift.say(UP, 0.5)
    shift.say(ScalingReverted("clicks", CHANGE, "nothing gained"), 3)
    assert shift.row()["stands"] == LOOK
    assert "did not help, and is left as it is: nothing gained" in shift.text()
    assert "decided before the shift began" in shift.text()


def test_an_alert_that_was_raised_before_is_still_open(shift: Shift) -> None:
    shift.say(RAISED, 0.5)
    row = shift.row()
    assert (row["stands"], row["open"][0]["at_ms"]) == (NEEDS, NOW + HOUR // 2)
    assert "2027-01-15T08:30:00.000Z critical alert tasks-failing: task 0" in shift.text()
    assert "docs/runbooks/tasks-failing.md" in shift.text()
    assert "1 job needs you" in shift.text()


def test_an_alert_that_is_over_is_told_as_such(shift: Shift) -> None:
    shift.say(RAISED, 2)
    shift.say(replace(RAISED, cause="task 1: other"), 2.5)
    assert shift.row()["open"][0]["at_ms"] == NOW + 2 * HOUR, "open since it was raised first"
    shift.say(CLEARED, 3)
    row = shift.row()
    assert (row["stands"], row["open"]) == (FINE, [])
    assert row["cleared"][0]["raised_ms"] == NOW + 2 * HOUR


def test_what_ended_before_the_shift_is_nothing(shift: Shift) -> None:
    shift.say(RAISED, 0.2)
    shift.say(CLEARED, 0.4)
    assert shift.row() == {}


def failed(failures: int = 1) -> SyncFailed:
    versions = Journal().job.versions
    return SyncFailed("clicks", "p", "s", versions, 2, "start", "task-failed", "no", failures)


def test_a_quarantine_lasts_until_it_is_released(shift: Shift) -> None:
    held = JobQuarantined("clicks", "p", "s", shift.journal.job.versions, 2, "start",
                          "task-failed", "tasks 0 and 1 failed", 3)  # fmt: skip
    shift.say(failed(), 0.4)
    shift.say(held, 0.5)
    assert shift.row()["stands"] == NEEDS
    assert "held" in shift.text()
    shift.say(JobReleased("clicks", "released", author="ben", reason="mended"), 2)
    assert (shift.row()["quarantine"], shift.row()["stands"]) == (None, LOOK)
    assert "by ben: mended" in shift.text()
    shift.synced(2.2)
    assert (shift.row()["failed"], shift.row()["stands"]) == (None, FINE)


def test_what_is_void_or_later_is_not_told(shift: Shift) -> None:
    shift.say(UP, 2, stands=False)
    shift.say(RAISED, 9.001)
    assert shift.row() == {}
    shift.say(CLEARED, 9)
    assert len(shift.row()["cleared"]) == 1, "at the very end"


def test_a_refusal_and_a_deletion_are_told(shift: Shift) -> None:
    shift.change({"tasks": 99}, 2, author="eve")
    assert "rejected as invalid, asked by eve: tasks: expected at most limits.tasks" in shift.text()
    before = len(shift.journal.decisions)
    shift.journal.delete("no longer needed")
    shift._mark(before, 3)
    assert shift.row()["config"][-1]["what"] == "deleted"
    assert "deleted by ana: no longer needed" in shift.text()


def test_much_of_a_kind_is_shortened(shift: Shift) -> None:
    for number in range(8):
        shift.change({"priority": number}, 2 + number / 10)
    told = shift.text()
    assert "and 3 before them; -o json tells all" in told
    assert told.index("priority: 6 -> 7") < told.index("priority: 5 -> 6"), "the newest first"
    shift.change({"priority": 1}, 4, "oncall", reason="x" * 500)
    assert max(map(len, shift.text().splitlines())) <= TEXT_MAX + 12


def test_what_a_record_says_is_its_one_sentence(shift: Shift) -> None:
    shift.say(UP, 1.1)
    shift.say(ScalingVerified("clicks", CHANGE, "7,900/s are read"), 1.2)
    shift.change({"tasks": 4}, 1.3, "oncall", author="ben")
    shift.change({"tasks": 99}, 1.4, author="eve")
    shift.say(replace(RAISED, alert="straggler"), 1.5)
    shift.say(AlertCleared("clicks", "straggler", "none stands out"), 1.6)
    shift.say(RAISED, 1.7)
    shift.say(failed(), 1.8)
    shift.say(JobReleased("clicks", "released", author="ben", reason="mended"), 1.9)
    told = {
        one.read.record.id: sentence(one.read.record.body)
        for one in shift.told()
        if one.read.at_ms >= SINCE
    }
    row = shift.row()
    kinds = ("open", "scaling", "config", "rejected", "cleared", "released")
    rows = [one for kind in kinds for one in row[kind]] + [row["failed"]]
    assert len(rows) == len(kinds) + 1
    assert [one["text"] for one in rows] == [told[one["id"]] for one in rows]
    assert row["scaling"][0]["became"] in told.values()
    assert all(one["text"] in shift.text() for one in rows)


def test_jobs_stand_the_worst_first() -> None:
    names = {"fine": NEEDS, "a": LOOK, "z": FINE, "b": FINE}
    found: list[Standing] = []
    for name, stands in names.items():
        one = Shift()
        one.synced(0.1)
        one.change({"priority": 1}, 2)
        if name == "z":  # more has happened to it than to b
            one.change({"priority": 2}, 2.5)
        if stands != LOOK:
            one.synced(3)
        if stands == NEEDS:
            one.say(RAISED, 4)
        found += [
            replace(s, read=replace(s.read, record=replace(s.read.record, key=name)))
            for s in one.told()
        ]
    assert [(job.job, job.stands) for job in digest_of(found).jobs] == list(names.items())


# --- tiers


def standing(body: Body, number: int, hour: float) -> Standing:
    at_ms = NOW + int(hour * HOUR)
    return Standing(read_of(body, number, at_ms, "default/placement", topic="tiers.v1"), True)


CHAIN = [
    AlertRaised("default", "tier-short", "critical", "short of memory", "docs/runbooks/x.md"),
    ShardDropRequested("default", 1, 1, "c1", 1, "plan", "c1 is being emptied"),
    ShardDropRequested("default", 2, 1, "c1", 1, "plan", "c1 is being emptied"),
    ShardForceKilled("default", 2, 1, "c1", 1, "it took too long"),
    ContainerFailOverRequested("default", "c2", 1, 61_000, "silent for 61 s"),
    JobsPreempted("default", ("ads",), 20, "memory for others"),
    PlacementPlanned("default", "plan", "drain", 2, 6, 3, 0, "d", "two moves", part=1, parts=1),
]


def test_a_tier_is_told_by_what_happened_to_it() -> None:
    chain = [standing(body, number, 2) for number, body in enumerate(CHAIN)]
    wish = read_of(DrainRequested(CHANGE, "c1", "ben", "disk"), 0, NOW + 2 * HOUR, "c1")
    tier, asked = turns(chain, [wish], SINCE, UNTIL)
    assert (tier.moves, tier.killed, tier.plans) == ({"drain": 2}, 1, 1)
    assert [event.text for event in tier.events] == [
        "c2 is failed over: silent for 61 s",
        "stops ads for lack of room: memory for others",
    ]
    told = "\n".join(text_of(digest_of([], [tier, asked])))
    assert "moves     2: 2 drain, 1 killed" in told
    assert "critical alert tier-short: short of memory" in told
    assert "ben asks to empty c1: disk" in told


def test_of_before_the_shift_a_tier_keeps_its_open_alerts_alone() -> None:
    chain = [standing(body, number, 0.5) for number, body in enumerate(CHAIN)]
    [tier] = turns(chain, [], SINCE, UNTIL)
    assert (tier.moves, tier.events, tier.plans) == ({}, (), 0)
    assert [alert.alert for alert in tier.open] == ["tier-short"]
    over = standing(AlertCleared("default", "tier-short", "enough"), 9, 2)
    [tier] = turns([*chain, over], [], SINCE, UNTIL)
    assert (tier.open, tier.cleared[0].raised_ms) == ((), NOW + HOUR // 2)


# --- the command

WRONG = {
    ("--since", "yesterday"): "--since: 'yesterday' is neither a time nor a position; write one"
    " such as 2026-01-31T09:00:00Z, '10m ago' or journal.v1/3:40",
    ("--since", "journal.v1/0:4"): "--since: a shift begins at a time; write 8h or an RFC 3339"
    " time",
    (
        "--since",
        "1h ago",
        "--at",
        "2h ago",
    ): "--since: 1h ago is not before the end; name an earlier time",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_is_no_shift_is_told(line: tuple[str, ...]) -> None:
    ended = run("--bootstrap", NOWHERE, "digest", *line)
    assert (ended.code, ended.sentence) == (Code.USAGE, WRONG[line])


@pytest.mark.parametrize("since", [(), ("--since", "8h"), ("--since", "11h ago")])
def test_a_shift_is_as_long_as_is_said_whenever_it_ended(since: tuple[str, ...]) -> None:
    """The usual eight hours, too: eight hours ago is after the end of one that ended before."""
    ended = run("--bootstrap", NOWHERE, "digest", *since, "--at", "10h ago")
    assert ended.sentence.startswith("no broker answers"), ended.sentence


def test_a_span_is_that_long_before_the_end(tmp_path: Path) -> None:
    logs.write(path := tmp_path / "fleet.log.gz", logs.told())
    line = ("digest", "--at", "1970-01-01T00:27:30Z", "--since", "10m", "-o", "json")
    told = json.loads(run("--log", str(path), *line).out)
    assert told["since_ms"] == 1_050_000
    assert 1_649_000 < told["until_ms"] <= 1_650_000, "by the log's own time"
