"""`apply` tells all that is wrong at once, and with --wait ends when the jobs run or never will."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from immutables import Map

from projections.jobs import Job
from projections.syncs import NOTHING, FailureStreak, Quarantine, Sync
from tests.unit.shard_manager.fleets import placed
from tests.unit.state_syncer.fleet import Fleet
from tests.unit.turbine.lines import Ended, run
from tests.unit.turbine.watched import view_of_row
from turbine.cli import applying, changes
from turbine.cli.applying import arrived, await_all, lacking
from turbine.cli.terminal import Terminal, writing_to
from turbine.failures import Code, Failed
from turbine.read.answers.config_findings import findings_in
from turbine.read.state.notes import Notes
from turbine.read.state.view import View
from turbine_client.settings import Settings

WHOLE: dict[str, Any] = {
    "operator": "a.b:c",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "a", "version": "1"},
    "checkpoint": {"root": "/c"},
}


# --- findings


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, []),
        (
            {"operator": None, "operater": "a:b", "checkpoint": None, "tasks": "many"},
            [
                "operater: did you mean operator?",
                "checkpoint: expected ",
                'tasks: expected a whole number, found "many"',
            ],
        ),
        (
            {"resources": {"cpus": 2}, "zebra": 1},
            ["resources.cpus: did you mean cpu_cores?", "zebra: there is no such key; expected "],
        ),
        (
            {"tasks": 99, "inputs": [{"topic": "a"}, {"topic": "a"}]},
            ["inputs.1.topic: expected each topic once", "tasks: expected at most limits.tasks"],
        ),
        (
            {"inputs": [{"topic": "__offsets"}], "output": {"topic": "turbine.x"}, "tasks": "x"},
            ["tasks: expected", "inputs.0.topic: expected a topic", "output.topic: expected a top"],
        ),
        ({"inputs": [{"topik": "a"}]}, ["inputs.0.topik: did you mean topic?"]),
        # What does not fit together is told beside what is wrong by itself,
        (
            {"zebra": 1, "package": None, "isolation": "process", "tasks": 99},
            [
                "zebra: ",
                "package: expected ",
                "resources.memory_mb: expected at",
                "tasks: expected at most",
            ],
        ),
        # but nothing is held against a value that is wrong itself.
        ({"limits": {"taks": 64}, "tasks": 40}, ["limits.taks: did you mean tasks?"]),
        ({"guarantee": "file", "output": {"path": "/p"}}, ["guarantee: expected one of "]),
        ({"isolation": "proces", "resources": {"memory_mb": 64}}, ["isolation: expected one "]),
    ],
)
def test_all_that_is_wrong_is_told_unknown_keys_first(
    more: dict[str, Any], told: list[str]
) -> None:
    merged = {name: one for name, one in (WHOLE | more).items() if one is not None}
    found = [one.sentence for one in findings_in(merged)]
    assert len(found) == len(told), found
    assert all(one.startswith(begin) for one, begin in zip(found, told, strict=True)), found


FILE = """\
job: wrong
operater: a.b:c
inputs: [{topic: clicks}]
package: {name: a, version: "1"}
checkpoint: {root: /checkpoints}
tasks: many
---
job: fine
operator: a.b:c
inputs: [{topic: clicks}]
package: {name: a, version: "1"}
checkpoint: {root: /checkpoints}
"""


class Shelf:
    """Stands in for a log with these rows, one after the other."""

    settings = Settings()

    def __init__(self, *rows: Sync, tiers: Iterable[dict[str, Any]] = ()) -> None:
        self.rows, self.tiers = list(rows), list(tiers)
        self.shown: Sync | None = None

    def held(self) -> View:
        """The job as it was shown last, and its containers as they are by now."""
        assert self.shown is not None
        sync, tiers = self.shown, self.tiers.pop(0) if self.tiers else {}
        seen = Map({at: (report, "c0", 1) for at, report in sync.tasks.items()})
        return view_of_row(sync, Notes(seen=seen), **tiers)

    def jobs(self, **_: Any) -> dict[str, Job]:
        return {}

    def syncs(self, **_: Any) -> dict[str, Sync]:
        if not self.rows:
            return {}
        row = self.rows.pop(0) if len(self.rows) > 1 else self.rows[0]
        self.shown = row
        return {row.name: row}

    def decisions(self, **_: Any) -> list[Any]:
        return []


@pytest.fixture
def apply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(changes, "open_log", lambda _: Shelf())
    monkeypatch.setattr("turbine.cli.applying.counts_of", lambda _: {"clicks": 4})
    (tmp_path / "job.yaml").write_text(FILE)
    return lambda *more: run("apply", "-f", "job.yaml", *more)


def test_nothing_of_a_file_is_sent_of_which_anything_is_wrong(
    apply: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a publisher was made")

    monkeypatch.setattr("turbine.cli.applying.Publisher", refuse)
    ended = apply()
    assert (ended.code, ended.err) == (Code.FAILED, "")
    assert ended.out == (
        "wrong: rejected, invalid:\n"
        "  operater: did you mean operator?\n"
        '  tasks: expected a whole number, found "many"\n'
        "fine: not sent, as wrong is rejected\n"
    )
    first, second = json.loads(apply("-o", "json").out)
    assert [one["path"] for one in first["findings"]] == ["operater", "tasks"]
    assert (first["reason"], second["job"]) == ("invalid", "fine")


def test_a_dry_run_tells_the_others_as_well(apply: Callable[..., Ended]) -> None:
    ended = apply("--dry-run")
    assert ended.code == Code.FAILED
    assert ended.out.startswith(
        "wrong: would be rejected, invalid:\n  operater: did you mean operator?\n"
    )
    assert "\nfine: would be accepted as version 1 of base\n" in ended.out


@pytest.mark.parametrize(
    ("jobs", "tty", "more", "told"),
    [
        (["fine"], True, [], "look: `turbine why fine`\n"),
        (["fine", "other"], True, [], "look: `turbine get jobs`\n"),
        (["fine"], False, [], ""),
        (["fine"], True, ["-o", "json"], ""),
        (["fine"], True, ["--dry-run"], ""),
    ],
)
def test_who_has_applied_a_file_is_told_where_to_look(
    *,
    apply: Callable[..., Ended],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    jobs: list[str],
    tty: bool,
    more: list[str],
    told: str,
) -> None:
    whole = FILE.partition("---\n")[2]
    (tmp_path / "job.yaml").write_text("---\n".join(whole.replace("fine", one) for one in jobs))
    rows = [{"job": one, "layer": "base", "verdict": "accepted", "version": 1} for one in jobs]
    monkeypatch.setattr(applying, "_send", lambda *_: rows)
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(Shelf, "job", lambda *_: None, raising=False)
    with writing_to(Terminal(out, err, tty)):
        assert apply(*more).code == Code.OK
    assert "".join(re.findall("^look: .*\n", err.getvalue(), re.MULTILINE)) == told
    assert not told or err.getvalue().endswith(told)


# --- waiting


def running() -> Sync:
    return Fleet().runs().row


def failed(row: Sync, *, final: bool) -> Sync:
    report = row.tasks[0]._replace(failed=True, final=final, cause="boom", explanation="no topic")
    return row._replace(tasks=row.tasks.set(0, report))


def behind(row: Sync) -> Sync:
    return row._replace(versions=row.versions.__class__(7, 0, 0, 0))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Each sleep passes at once."""
    now = [0.0]
    monkeypatch.setattr(applying.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(
        applying.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + max(seconds, 0.01))
    )
    return now


def test_it_waits_until_all_tasks_run(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    row = running()
    await_all(Shelf(behind(row), failed(row, final=False), row), [row.name], 60.0, "table")  # type: ignore[arg-type]  # a log's stand-in
    assert capsys.readouterr().err == f"{row.name}: runs as is expected of it\n"
    assert clock[0] == 2.0


def test_tasks_that_were_lost_with_their_container_do_not_run(clock: list[float]) -> None:
    row = running()
    ended, alive = ({"tiers": {"default": one.fleet}} for one in (placed(1, 2), placed(1, 2)))
    lives = ended["tiers"]["default"].lives
    life = lives["c0"]._replace(over=lives["c0"].epoch)
    ended["tiers"]["default"] = ended["tiers"]["default"]._replace(lives=lives.set("c0", life))
    await_all(Shelf(row, tiers=(ended, ended, alive)), [row.name], 60.0, "json")  # type: ignore[arg-type]  # a log's stand-in
    assert clock[0] == 2.0


@pytest.mark.usefixtures("clock")
def test_a_time_that_is_over_says_what_is_lacking() -> None:
    row = failed(running(), final=False)
    with pytest.raises(Failed) as late:
        await_all(Shelf(row), [row.name], 5.0, "table")  # type: ignore[arg-type]  # a log's stand-in
    assert late.value.code == Code.TIMEOUT
    assert str(late.value) == (
        f"{row.name} was accepted and does not run yet: task {row.name}/0 is restarting, boom:"
        f" no topic; `turbine logs {row.name}` shows what its tasks say"
    )


def test_what_a_person_has_to_mend_is_not_waited_for() -> None:
    row = failed(running(), final=True)
    with pytest.raises(Failed) as lost:
        arrived(row)
    assert lost.value.code == Code.FAILED
    assert str(lost.value).startswith(
        f"{row.name} was accepted and does not run: task {row.name}/0 is failed, boom: no topic;"
    )
    held = running()._replace(quarantine=Quarantine(NOTHING, "start", "task-failed", "no topic"))
    with pytest.raises(Failed) as left:
        arrived(held)
    assert str(left.value).startswith(f"{held.name} is quarantined, so it will not be running: ")


def test_a_paused_job_is_there_when_it_is_paused() -> None:
    assert arrived(running())
    assert not arrived(running()._replace(held=True))


def test_a_plan_that_failed_is_told_with_its_reason() -> None:
    row = running()._replace(
        trouble=FailureStreak(
            "s", 1, 9, "p", NOTHING, 0, "start", "step-timeout", "start took too long"
        )
    )
    assert lacking(row) == "its last plan failed at start: start took too long"
