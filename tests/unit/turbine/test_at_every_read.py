"""The past: every command that reads takes --at, and says what it would have said then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from events.topics import CHANGES_BASE, JOURNAL, LOADS
from tests.unit.turbine import logs
from tests.unit.turbine.lines import run
from turbine.cli import asked_at
from turbine.cli.commands import app
from turbine.failures import Code

THEN_MS = 1_767_000
THEN = "1970-01-01T00:29:27Z"
"""A plan of the job is on its way."""

READS = {
    "get jobs": "get jobs clicks",
    "get job": "get job clicks",
    "get tasks": "get tasks",
    "get syncs": "get syncs",
    "get lag": "get lag --by partition",
    "get tiers": "get tiers",
    "get containers": "get containers",
    "get shards": "get shards",
    "get moves": "get moves",
    "describe job": "describe job clicks",
    "describe container": "describe container c1",
    "diff job": "diff job clicks --running",
    "why": "why clicks",
    "why-not": "why-not clicks --action scale-up",
    "log tail": "log tail -n 100",
    "log stats": "log stats",
    "audit": "audit",
    "placement plan": "placement plan",
}
OTHERWISE = {
    "diff": "--from and --to say of when",
    "replay": "--from and --to",
    "whatif": "--from and --to say of when",
    "digest": "tested by itself: what changed in a span is no state of an instant",
    "top": "tested by itself: its rates are of the minutes before",
    "log export": "--from and --to",
    "get alerts": "held by the law of surfaces: nothing is alerted of in these logs",
    "open": "the whole file",
    "at": "is --at",
    "placement show": "tested with its plans: it needs one",
}
"""Of those that read the log: why they are not in the table."""
NOT = {
    "describe policy", "version", "contract", "config view", "schema list", "schema show",
    "schema check", "schema serve", "broker start", "broker stop", "broker status", "broker wipe",
    "topics plan", "topics apply", "topics create", "up", "down", "serve", "generate", "backtest",
    "scoreboard", "check", "apply", "publish change", "delete job", "scale", "pause", "resume",
    "release", "reset job", "rollback job", "tier create", "drain container", "undrain container",
    "placement apply", "wait job", "subscribe outcomes", "history write", "history compact",
    "history profile", "logs", "subscribe alerts", "contract check", "webhooks list",
    "webhooks secret", "webhooks verify", "webhooks rewind", "dashboard", "rows forget",
    "monitoring export",
}  # fmt: skip
"""What changes, waits for or follows the present, or does not read the log."""
OF_TIERS = frozenset(
    {
        "get tiers",
        "describe container",
        "get containers",
        "get shards",
        "get moves",
        "placement plan",
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a fleet of jobs and of one of containers: the log, and what it was at THEN."""
    found = tmp_path_factory.mktemp("past")
    for seed in (logs.SEED, logs.TIER_SEED):
        told = logs.told(seed)
        logs.write(found / f"{seed}.log.gz", told)
        logs.write(found / f"{seed}-then.log.gz", [one for one in told if one.at_ms <= THEN_MS])
    return found


def _commands() -> dict[str, Any]:
    found: dict[str, Any] = {}
    root: Any = typer.main.get_command(app)
    for name, one in root.commands.items():
        inner = getattr(one, "commands", None)
        if inner is None:
            found[name] = one
        else:
            found |= {f"{name} {word}": command for word, command in inner.items()}
            if getattr(one, "invoke_without_command", False):
                found[name] = one
    return found


def test_every_command_is_a_read_of_the_log_or_is_not() -> None:
    """A new one has to be put into one of the three tables above."""
    commands = _commands()
    assert commands.keys() == READS.keys() | OTHERWISE.keys() | NOT
    for name in READS:
        assert "--at" in {text for one in commands[name].params for text in one.opts}, name


@pytest.mark.parametrize("name", READS)
def test_the_past_is_what_was_there(folder: Path, name: str) -> None:
    """The naive way to the past is a log that ends there."""
    seed = logs.TIER_SEED if name in OF_TIERS else logs.SEED
    line = READS[name].split()
    form = ["-o", "jsonl"] if name == "log tail" else ["-o", "json"]
    whole, then = (str(folder / f"{seed}{tail}.log.gz") for tail in ("", "-then"))
    at = run("--log", whole, *line, *form, "--at", THEN)
    was = run("--log", then, *line, *form)
    assert (at.code, at.err) == (was.code, was.err)
    assert at.code in (Code.OK, Code.FINDINGS)
    assert at.out == was.out
    assert len(at.out) > 10 or name == "diff job"
    if name not in ("get tiers", "describe container", "diff job"):
        assert run("--log", whole, *line, *form).out != at.out


def test_the_instant_may_stand_first(folder: Path) -> None:
    path = str(folder / f"{logs.SEED}.log.gz")
    first = run("at", THEN, "get", "jobs", "-o", "json", "--log", path)
    assert first == run("get", "jobs", "-o", "json", "--at", THEN, "--log", path)
    assert json.loads(first.out)
    assert asked_at(["--log", "f", "at", "5m", "why", "x", "--", "-1"]) == [
        "--log", "f", "why", "x", "--at", "5m", "--", "-1"
    ]  # fmt: skip
    assert asked_at(["--log=f", "at", "5m", "audit"]) == ["--log=f", "audit", "--at", "5m"]
    for line in (["at"], ["at", "5m"], ["at", "--help", "x"], ["get", "at", "5m", "x"]):
        assert asked_at(line) == line
    assert run("at", "5m", "version").sentence == (
        "No such option: --at; see `turbine version --help`"
    )
    assert run("at").sentence == "Missing argument 'TIME|POSITION'; see `turbine at --help`"


def test_a_span_counts_back_from_the_end_of_a_file(folder: Path) -> None:
    path = str(folder / f"{logs.SEED}.log.gz")
    end_ms = max(one.at_ms for one in logs.told())
    ago = run("--log", path, "log", "stats", "-o", "json", "--at", f"{end_ms - THEN_MS}ms ago")
    assert ago == run("--log", path, "log", "stats", "-o", "json", "--at", THEN)
    assert run("--log", path, "get", "jobs", "--at", "now") == run("--log", path, "get", "jobs")


def test_a_position_shows_what_lies_below_it(folder: Path) -> None:
    path = str(folder / f"{logs.SEED}.log.gz")
    decided = [one for one in logs.told() if one.topic == JOURNAL]
    at = f"{JOURNAL}/0:7"
    rows = run("--log", path, "log", "tail", "--topic", "journal", "-o", "jsonl", "--at", at)
    assert [json.loads(one)["position"] for one in rows.out.splitlines()] == [
        f"{JOURNAL}/0:{one.offset}" for one in decided[:7]
    ]
    counts = json.loads(run("--log", path, "audit", "-o", "json", "--at", at).out)["components"]
    assert sum(sum(one[word] for word in one if word != "component") for one in counts) == 7
    assert run("--log", path, "why", "clicks", "--at", f"{JOURNAL}/0:0").code == Code.NOT_FOUND
    later = logs.told()[-1]
    ask = next(one for one in logs.told() if one.topic == CHANGES_BASE)
    assert later.at_ms > ask.at_ms
    assert "no verdict" in run("--log", path, "why", _id(ask), "--at", f"{CHANGES_BASE}/0:1").out


def _id(message: Any) -> str:
    return next(value for name, value in message.headers if name == "ce_id").decode()


def test_lag_of_the_past_is_what_tasks_had_reported(folder: Path) -> None:
    """The simulator's tasks tell it of their whole input, and of no partition."""
    path, ever = str(folder / f"{logs.SEED}.log.gz"), 0
    for at in ("1970-01-01T00:27:30Z", f"{JOURNAL}/0:29,tasks.v1/0:7,{LOADS}/0:45"):
        line = ["--log", path, "get", "lag", "clicks", "-o", "json", "--at", at]
        [job] = json.loads(run(*line).out)
        # A task of an older generation may have the last word, and it is not about this shape.
        newest = sorted(_reports(path, at), key=lambda body: body["generation"]["specs"])
        told = {body["task"]: body["lag_records"] for body in newest}
        tasks = json.loads(run(*line, "--by", "task").out)
        known = [row for row in tasks if row["lag_records"] is not None]
        ever += len(known)
        assert {row["task"]: row["lag_records"] for row in known}.items() <= told.items()
        assert job["lag_records_min"] == sum(row["lag_records"] for row in known)
    assert ever


def _reports(path: str, at: str) -> list[dict[str, Any]]:
    """Oldest first."""
    line = ["log", "tail", "--topic", "loads", "--job", "clicks", "-n", "1000", "-o", "jsonl"]
    rows = run("--log", path, *line, "--at", at).out.splitlines()
    return [json.loads(row)["body"] for row in rows]


def test_what_was_has_no_more_to_follow(folder: Path) -> None:
    ended = run("log", "tail", "-f", "--at", "5m")
    assert (ended.code, ended.out) == (Code.USAGE, "")
    assert ended.sentence == "what was at --at has no more to follow; leave one of them out"
