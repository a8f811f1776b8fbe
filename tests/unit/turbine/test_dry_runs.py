"""Every command that writes can be tried: it says what would be said, and nothing is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.unit.turbine import logs
from tests.unit.turbine.lines import Ended, run
from tests.unit.turbine.tales import serve
from tests.unit.turbine.test_placement_commands import lopsided
from turbine.cli.commands import app
from turbine.failures import Code
from turbine_client.creating import LISTS

JOB_FILE = """\
job: billing
set: {priority: 7}
---
job: brand-new
operator: a.b:c
inputs: [{topic: clicks}]
package: {name: a, version: "1"}
checkpoint: {root: /checkpoints}
tasks: 3
"""

OF_JOBS = {
    "apply": "apply -f job.yaml",
    "publish change": "publish change billing --set priority=7",
    "delete job": "delete billing --reason x",
    "scale": "scale billing --tasks 3 --for 2h --reason x",
    "rollback job": "rollback clicks --to 1",
    "pause": "pause billing --reason x",
    "resume": "resume billing --reason x",
    "release": "release billing --reason x",
    "reset job": "reset billing --to earliest --reason x",
}
OF_TIERS = {
    "tier create": "tier create west --shards 4",
    "drain container": "drain c2 --reason x",
    "undrain container": "undrain c0 --reason x",
}
OF_PLANS = {"placement apply": "placement apply PLAN --reason x"}
OF_BROKERS = {
    "topics apply": "topics apply",
    "topics create": "topics create clicks",
    "webhooks rewind": "webhooks rewind pager --to earliest",
    "rows forget": "rows forget job-service",
}
"""Tried against a broker alone, as nothing of it lies in the log."""
SHOWN = {"placement plan": "never sends anything; the option is there for who expects it"}
WITHOUT = {
    "broker start", "broker stop", "broker wipe", "up", "down", "serve", "dashboard",
    "generate", "history write", "history compact", "history profile", "monitoring export",
    "log export",
}  # fmt: skip
"""They change this machine, or what lies beside the log, and are no wishes about a fleet."""


STARTING_MS = 1_995_000
"""In the story of the jobs: tasks of one of them are being started."""


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            yield from commands(one, f"{path}{name} ")
        else:
            yield f"{path}{name}", one


ALL = dict(commands(typer.main.get_command(app)))


def test_the_table_has_every_command_that_can_be_tried() -> None:
    tried = {
        name
        for name, one in ALL.items()
        if any("--dry-run" in getattr(each, "opts", ()) for each in one.params)
    }
    assert tried == {*OF_JOBS, *OF_TIERS, *OF_PLANS, *OF_BROKERS, *SHOWN}
    assert set(ALL) >= WITHOUT


def test_whoever_can_be_told_a_reason_can_be_tried() -> None:
    """A reason is for who reads the log, so the command writes into it."""
    reasoned = {
        name
        for name, one in ALL.items()
        if any("--reason" in getattr(each, "opts", ()) for each in one.params)
    }
    assert reasoned <= {*OF_JOBS, *OF_TIERS, *OF_PLANS}


@pytest.fixture(scope="module")
def jobs_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    told = [one for one in logs.told() if one.at_ms <= STARTING_MS]
    return logs.write(tmp_path_factory.mktemp("jobs") / "log.jsonl", told)


@pytest.fixture(scope="module")
def tiers_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiers") / "log.jsonl"
    return logs.write(path, logs.told(logs.TIER_SEED))


@pytest.fixture(autouse=True)
def _nobody_sends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No producer can be made, and the log is a file: who sends all the same, fails."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a producer was made")

    for module in (
        "turbine_client.clients",
        "turbine_client.publish",
        "turbine.ops.tiers",
    ):
        monkeypatch.setattr(f"{module}.producer", refuse)
    monkeypatch.setattr("turbine.ops.generate.create_topic", refuse)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(JOB_FILE)


@pytest.mark.parametrize("command", OF_JOBS)
def test_of_jobs_nothing_is_sent(command: str, jobs_log: Path) -> None:
    before = jobs_log.read_bytes()
    ended = run(*OF_JOBS[command].split(), "--dry-run", "--log", str(jobs_log))
    assert "would " in ended.out, ended
    refused = "would be rejected" in ended.out
    assert (ended.code != Code.OK) == refused, ended
    assert jobs_log.read_bytes() == before
    told = run(*OF_JOBS[command].split(), "--dry-run", "--log", str(jobs_log), "-o", "json")
    assert json.loads(told.out)[0]["job"] in ("billing", "clicks")


def words(jobs_log: Path, command: str) -> Ended:
    return run(*OF_JOBS[command].split(), "--dry-run", "--log", str(jobs_log))


def test_what_would_be_said_is_what_the_components_say(jobs_log: Path) -> None:
    pause = words(jobs_log, "pause")
    assert pause.out == (
        "billing: would wait: its tasks are being started, which is brought to its end first\n"
    )
    resume = words(jobs_log, "resume")
    assert resume.code == Code.FAILED
    assert resume.out == (
        "billing: would be rejected, not-paused: no operator has paused billing, so there is"
        " nothing to do\n"
    )
    deletion = words(jobs_log, "delete job")
    assert deletion.out.splitlines()[0] == "billing: would be deleted"
    scaled = words(jobs_log, "scale")
    assert scaled.out.splitlines()[:2] == [
        "billing: would be accepted as version 1 of oncall",
        "  ~ tasks: 9 -> 3",
    ]
    assert "3 tasks start; " in scaled.out


def test_a_file_is_tried_job_by_job(jobs_log: Path) -> None:
    out = words(jobs_log, "apply").out
    assert "billing: would be accepted as version 2 of base\n" in out
    assert "brand-new: would be accepted as version 1 of base\n" in out
    assert "  3 tasks start; " in out


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("pause biling --reason x", f"there is no job biling, perhaps billing; {LISTS}"),
        ("delete biling --reason x", f"there is no job biling, perhaps billing; {LISTS}"),
        (
            "publish biling --set tasks=2",
            "there is no job biling, perhaps billing, and this change makes none: it lacks",
        ),
    ],
)
def test_a_mistyped_job_is_told_with_the_nearest(line: str, sentence: str, jobs_log: Path) -> None:
    ended = run(*line.split(), "--dry-run", "--log", str(jobs_log))
    assert ended.code == Code.NOT_FOUND
    assert ended.out.startswith(f"biling: would be rejected, no-such-job: {sentence}")


@pytest.mark.parametrize(
    "line",
    [
        "scale biling --tasks 3 --for 2h --reason x",
        "rollback biling --to 1",
        "describe biling",
        "get jobs biling",
    ],
)
def test_who_needs_the_job_is_told_the_nearest_too(line: str, jobs_log: Path) -> None:
    ended = run(*line.split(), "--log", str(jobs_log))
    assert ended.code == Code.NOT_FOUND
    assert ended.sentence == (
        "there is no job biling, perhaps billing; `turbine get jobs --deleted` lists all"
    )


def test_containers_are_named(tiers_log: Path) -> None:
    ended = run("get", "containers", "c2", "c0", "-o", "name", "--log", str(tiers_log))
    assert (ended.code, ended.out.split()) == (Code.OK, ["c0", "c2"])
    unknown = run("get", "containers", "c99", "--log", str(tiers_log))
    assert unknown.code == Code.NOT_FOUND
    assert unknown.sentence.startswith("tier default has no container c99, perhaps c9; ")


WHOLE = [
    "--set", 'operator="a.b:c"', "--set", 'inputs=[{"topic":"t"}]',
    "--set", 'package={"name":"a","version":"1"}', "--set", 'checkpoint={"root":"/c"}',
]  # fmt: skip


def test_a_job_would_be_made_only_where_that_is_meant(jobs_log: Path) -> None:
    line = ["publish", "change", "biling", *WHOLE, "--dry-run", "--log", str(jobs_log)]
    ended = run(*line)
    assert ended.code == Code.NOT_FOUND
    assert ended.out.startswith(
        "biling: would be rejected, no-such-job: there is no job biling, perhaps billing;"
        " say `create` if one is to be made"
    )
    meant = run(*line, "--create")
    assert (meant.code, meant.out.splitlines()[0]) == (
        Code.OK,
        "biling: would be accepted as version 1 of base",
    )


def test_a_job_would_not_be_put_into_a_tier_that_is_not_there(
    tiers_log: Path, jobs_log: Path
) -> None:
    line = ["publish", "change", "clicks", *WHOLE, "--create", "--dry-run"]
    ended = run(*line, "--set", 'tier="defualt"', "--log", str(tiers_log))
    assert ended.code == Code.FAILED, ended
    assert ended.out.strip() == (
        'clicks: would be rejected, no-such-tier: tier: there is no tier "defualt", perhaps'
        " default; `turbine tier create defualt --shards N` makes one"
    )
    assert run(*line, "--set", 'tier="default"', "--log", str(tiers_log)).code == Code.OK
    assert run(*line, "--log", str(tiers_log)).code == Code.OK
    none = ["publish", "change", "billing", "--set", 'tier="any"', "--dry-run"]
    assert run(*none, "--log", str(jobs_log)).code == Code.OK, "a log that has no tier at all"


@pytest.mark.parametrize("command", OF_TIERS)
def test_of_tiers_nothing_is_sent(command: str, tiers_log: Path) -> None:
    line = OF_TIERS[command].split()
    ended = run(*line, "--dry-run", "--log", str(tiers_log))
    assert ended.code == Code.OK, ended
    assert "would " in ended.out
    assert json.loads(run(*line, "--dry-run", "--log", str(tiers_log), "-o", "json").out)


def test_a_plan_is_named_by_its_beginning_and_not_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = serve(monkeypatch, lopsided())
    plan = json.loads(run("placement", "plan", "-o", "json").out)["plan"]
    count = len(json.loads(run("placement", "plan", "-o", "json").out)["moves"])
    for name in (plan, plan[: len("default!") + 6]):
        line = [name if one == "PLAN" else one for one in OF_PLANS["placement apply"].split()]
        ended = run(*line, "--dry-run")
        assert (ended.code, ended.out) == (
            Code.OK,
            f"{plan}: would be asked for, with its {count} moves\n",
        )
    short = run("placement", "apply", plan[: len("default!") + 5], "--reason", "x", "--dry-run")
    assert short.code == Code.CONFLICT
    assert log.written == []


@pytest.mark.parametrize(
    ("known", "more", "code", "said"),
    [
        ({}, [], Code.OK, "topic clicks would be created, with 16 partitions"),
        ({}, ["--partitions", "3"], Code.OK, "topic clicks would be created, with 3 partitions"),
        ({"clicks": 4}, [], Code.OK, "topic clicks exists already, with 4 partitions"),
        ({"clicks": 4}, ["--partitions", "3"], Code.FAILED, "topic clicks exists already, with 4"),
    ],
)
def test_a_topic_would_be_created(
    known: dict[str, int],
    more: list[str],
    code: Code,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from turbine_client.settings import Settings

    monkeypatch.setattr("turbine.cli.options.Chosen.connected", lambda _: Settings())
    monkeypatch.setattr("turbine.cli.local.counts_of", lambda _: known)
    ended = run("topics", "create", "clicks", *more, "--dry-run")
    assert (ended.code, ended.out.startswith(said)) == (code, True), ended


def test_the_topics_of_the_log_are_only_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    from turbine_client.settings import Settings

    asked: list[str] = []

    def plan(verb: str, _: Any) -> list[Any]:
        asked.append(verb)
        return []

    monkeypatch.setattr("turbine.cli.options.Chosen.connected", lambda _: Settings())
    monkeypatch.setattr("turbine.cli.local.ask_topics", plan)
    assert run("topics", "apply", "--dry-run").code == Code.OK
    assert asked == ["plan"]


# --- what state could not go along to


@pytest.fixture(scope="module")
def whole_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """To its end, where `billing` runs and keeps state."""
    return logs.write(tmp_path_factory.mktemp("whole") / "log.jsonl", logs.told(logs.STATEFUL_SEED))


STAYS = (
    "operator: the job keeps state, and another operator or query would take it for what it is not;"
    " let the old one stand and bring new code as a version of its package, or make the new one a"
    " job of another name; or give the state up: pause the job, have all inputs read anew (`turbine"
    " reset job billing --to earliest --reason R`), and change it then"
)


@pytest.mark.parametrize("layer", ["base", "oncall"])
def test_it_is_told_before_it_is_asked_for(layer: str, whole_log: Path) -> None:
    line = ["publish", "change", "billing", "--set", 'operator="a.b:c"', "--layer", layer]
    ended = run(*line, "--reason", "x", "--dry-run", "--log", str(whole_log))
    assert ended.code == Code.FAILED
    assert ended.out == f"billing: would be rejected, state-stays: {STAYS}\n"


def test_of_a_file_with_such_a_change_nothing_is_sent(whole_log: Path, tmp_path: Path) -> None:
    change = "job: billing\nset: {operator: a.b:c}\n"
    (tmp_path / "job.yaml").write_text(f"{change}---\n{JOB_FILE.partition('---')[2]}")
    ended = run("apply", "-f", "job.yaml", "--log", str(whole_log))
    assert ended.code == Code.FAILED
    assert ended.out == (
        f"billing: rejected, state-stays: {STAYS}\nbrand-new: not sent, as billing is rejected\n"
    )


def test_other_arguments_of_a_job_that_keeps_state(whole_log: Path) -> None:
    line = ["publish", "change", "billing", "--set", 'arguments=["--by","x"]', "--dry-run"]
    ended = run(*line, "--log", str(whole_log))
    assert ended.code == Code.OK
    assert "  the job keeps state, and whether other code or arguments can read it " in ended.out
