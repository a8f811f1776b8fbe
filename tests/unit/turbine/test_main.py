"""How commands end: exit codes, one sentence, no tracebacks, and help that loads nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.runtime.kafka.topics import TopicsError
from components.runtime.process.local import LocalFailed
from tests.unit.turbine.lines import NOWHERE, Ended, run
from turbine.cli import hoist
from turbine.failures import MEANINGS, Code, Failed, code_of_rejection, end_process, named
from turbine.ops.fleet import FleetRuns
from turbine.read.answers.ids import Ambiguous
from turbine.read.sources.log_lines import BadFile
from turbine_client.bookmark import BadBookmark
from turbine_client.errors import BrokerUnreachable, NoTopic
from turbine_client.publish import TooLarge, Unheard
from turbine_client.reading import LogUnreadable
from turbine_client.settings import BadSettings

HEAVY = {
    "aiokafka",
    "confluent_kafka",
    "fastavro",
    "faust",
    "immutables",
    "prometheus_client",
    "pydantic",
    "rich",
    "structlog",
    "yaml",
}


@pytest.fixture(autouse=True)
def _nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No settings of the machine that runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in ("TURBINE_BOOTSTRAP", "TURBINE_CONFIG", "TURBINE_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    return iter(())


def imported_by(*arguments: str) -> set[str]:
    """The top-level packages that a command line loads, as the interpreter reports them."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "turbine", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    names = re.findall(r"^import time: .*\| +(\S+)$", done.stderr, re.MULTILINE)
    return {name.partition(".")[0] for name in names}


def test_help_loads_nothing_heavy() -> None:
    loaded = imported_by("--help")
    assert "typer" in loaded, "the imports are not found"
    assert loaded & HEAVY == set()


def test_a_command_loads_what_it_needs() -> None:
    """The same measure sees what a command does load: it is not blind."""
    assert imported_by("schema", "list") & HEAVY >= {"fastavro", "rich"}


def test_the_help_has_every_exit_code() -> None:
    shown = run("--help")
    assert shown.code == Code.OK
    for code, meaning in MEANINGS.items():
        assert re.search(rf"^ +{code.value} +{re.escape(meaning)}$", shown.out, re.MULTILINE)
    assert set(MEANINGS) == set(Code)


def test_without_arguments_it_is_the_help() -> None:
    assert run() == run("--help")


COMMANDS = [
    "apply", "why", "audit", "serve", "up", "down", "version", "get jobs", "describe job",
    "delete job", "publish change", "subscribe outcomes", "subscribe alerts",
    "log tail", "log stats", "log export",
    "topics plan", "topics apply", "topics create",
    "schema list", "schema show", "schema check", "broker start",
    "broker stop", "broker status", "broker wipe", "config view", "get tasks", "get syncs",
    "diff job", "wait job", "rollback job", "scale", "pause", "resume", "release", "get lag",
    "reset job", "generate",
    "history write", "history compact", "history profile", "logs", "backtest", "scoreboard",
    "why-not", "describe policy", "get tiers", "contract", "schema serve", "contract check",
    "get alerts",
    "webhooks list", "webhooks secret", "webhooks verify", "webhooks rewind",
    "rows forget",
    "open", "replay", "at", "diff", "whatif", "dashboard",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    shown = run(*command.split(), "--help")
    assert shown.code == Code.OK
    assert shown.out.startswith(f"Usage: turbine {command}")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("nowhere", "No such command 'nowhere'; see `turbine --help`"),
        ("get", "Missing command; see `turbine get --help`"),
        ("get nope", "No such command 'nope'; see `turbine get --help`"),
        ("why", "Missing argument 'ID | JOB | shard N'; see `turbine why --help`"),
        ("get jobs --nope", "No such option: --nope; see `turbine get jobs --help`"),
        (
            "get jobs --wach",
            "No such option: --wach. Did you mean --watch?; see `turbine get jobs --help`",
        ),
        (
            "get jobs --boostrap",
            "No such option: --boostrap. Did you mean --bootstrap?; see `turbine get jobs --help`",
        ),
        (
            "pause c --wach",
            "No such option: --wach; see `turbine pause --help`",
        ),
        ("delete", "Missing argument 'NAME'; see `turbine delete job --help`"),
        ("describe", "Missing argument 'NAME'; see `turbine describe job --help`"),
        ("drain", "Missing argument 'NAME'; see `turbine drain container --help`"),
        ("delete job clicks", "Missing option '--reason'; see `turbine delete job --help`"),
        (
            "get jobs -o csv",
            (
                "Invalid value for '-o' / '--output': 'csv' is not one of "
                "'table', 'wide', 'json', 'jsonl', 'yaml', 'name'; see `turbine get jobs --help`"
            ),
        ),
        ("--bootstrap", "Option '--bootstrap' requires an argument; see `turbine --help`"),
    ],
)
def test_wrong_usage(line: str, sentence: str) -> None:
    ended = run(*line.split())
    assert (ended.code, ended.sentence, ended.out) == (Code.USAGE, sentence, "")


@pytest.mark.parametrize(
    "line",
    [
        "get jobs",
        "describe job clicks",
        "why 1",
        "why-not clicks --action scale-up",
        "audit",
        "log tail",
        "log stats",
        "log export --out out.jsonl",
        "subscribe outcomes",
        "subscribe alerts",
        "publish change clicks --set tasks=1",
        "delete job clicks --reason x --yes",
        "pause clicks --reason x",
        "resume clicks --reason x",
        "release clicks --reason x",
        "scale clicks --tasks 2 --for 2h --reason x",
        "rollback job clicks --to 1",
        "get tasks",
        "get syncs --job clicks",
        "get lag",
        "generate --topic clicks",
        "history write --once",
        "history profile --publish",
        "diff job clicks --running",
        "diff --from 5m",
        "replay",
        "wait job clicks --for=running",
        "topics plan",
        "topics apply",
    ],
)
def test_no_broker(line: str) -> None:
    ended = run(*line.split(), "--bootstrap", NOWHERE)
    assert ended.code == Code.FAILED
    assert ended.sentence == (
        f"no broker answers at {NOWHERE} (Connection refused); start one with"
        " `turbine broker start`, or set TURBINE_BOOTSTRAP"
    )


@pytest.mark.parametrize("line", ["get jobs", "delete clicks --yes --reason r", "log stats"])
def test_a_fleet_that_is_not_there(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is led to the one that has the usual port, as a typing error might."""
    where = Path("no such place").absolute()
    sentence = f"there is no fleet in {where}, which is no directory; correct"
    ended = run(*line.split(), "--fleet", "no such place")
    assert ended.code == Code.NOT_FOUND
    assert ended.sentence == f"{sentence} --fleet, or start one with `turbine up`"
    monkeypatch.setenv("TURBINE_DIRECTORY", "no such place")
    assert run(*line.split()).sentence.startswith(f"{sentence} TURBINE_DIRECTORY, or")
    assert run(*line.split(), "--bootstrap", NOWHERE).code == Code.FAILED


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("bootstrap = 7", "bad.toml: bootstrap is host:port"),
        ("partitions = 0", "bad.toml: partitions is a whole number above 0, not 0"),
        ("nope = 1", "bad.toml: nope is not a setting; remove it or move it to [kafka]"),
        ("= 1", "bad.toml: not TOML: "),
        (None, "bad.toml: no such file; TURBINE_CONFIG or --config names it"),
    ],
)
def test_bad_settings(text: str | None, sentence: str) -> None:
    if text is not None:
        Path("bad.toml").write_text(text)
    for line in ("get jobs", "config view", "up", "broker status"):
        ended = run(*line.split(), "--config", "bad.toml")
        assert ended.code == Code.USAGE
        assert ended.sentence.startswith(sentence)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("describe job Clicks", '"Clicks" is no job\'s name; use up to 128 of'),
        ("why-not Clicks --action scale-up", '"Clicks" is no job\'s name'),
        ("why-not clicks", "Missing option '--action'; see `turbine why-not --help`"),
        (
            "why-not clicks --action nope",
            '--action: there is no action "nope"; use one of scale-up, scale-down, memory-up, ',
        ),
        ("publish change clicks", "the change is empty; say what with --set KEY=JSON or --clear"),
        ("publish change clicks --set tasks", '--set "tasks": write KEY=VALUE'),
        ("publish change clicks --clear a\\b", "--clear: the path "),
        ("publish change clicks --set tasks=1 --expires soon", "--expires: 'soon' is no span"),
        ("publish change clicks --set tasks=1 --change-id x", '--change-id "x" is no change\'s id'),
        ("pause Clicks --reason x", '"Clicks" is no job\'s name'),
        ("pause clicks", "Missing option '--reason'"),
        ("scale clicks --tasks 2 --reason x", "say how long with --for SPAN"),
        ("scale clicks --tasks 2 --reason x --for 2h --until-cleared", "say how long with --for"),
        ("scale clicks --tasks 2 --reason x --for soon", "--for: 'soon' is no span"),
        ("scale clicks --tasks 0 --reason x --for 2h", "Invalid value for '--tasks'"),
        ("rollback job clicks --to -1", "Invalid value for '--to'"),
        ("diff job clicks", "say what to compare: --running"),
        ("wait job clicks --for=stopped", "Invalid value for '--for'"),
        ("wait job clicks --for=running --timeout x", "--timeout: 'x' is no span"),
        ("subscribe outcomes --exec no-such-program", "--exec: there is no program no-such-prog"),
        ("subscribe outcomes --exec", "Option '--exec' requires an argument"),
        ("subscribe outcomes --from never", "--from: 'never' is neither a time nor a position"),
        ("subscribe outcomes --count 0", "Invalid value for '--count': "),
        ("subscribe outcomes --kind AlertRaised", "--kind: 'AlertRaised' is no kind of record on"),
        ("subscribe alerts --resume .", "--resume: . cannot be read (Is a directory); name anot"),
        ("audit --from never", "--from: 'never' is neither a time nor a position"),
        ("log tail --topic nope", "--topic: there is no topic nope; it is one of alerts.v1, "),
        ("apply -f none.yaml", "none.yaml cannot be read (No such file or directory)"),
        (
            "serve nope",
            "there is no component nope; it is one of api, auditor, capacity-manager, clock, ",
        ),
        ("serve clock publisher", "clock is a process of its own; these can share one: job-"),
        ("serve job-service job-service", "job-service is named twice; once is enough"),
        ("schema serve --port 70000", "Invalid value for '--port'"),
        (
            "broker wipe",
            "this deletes the log in <here>/.turbine/broker; add --yes if that is meant",
        ),
        ("broker start --bootstrap far:9092", "the bootstrap is far:9092, which is not on this"),
    ],
)
def test_what_is_refused_before_anything_is_asked(line: str, sentence: str) -> None:
    ended = run(*line.split())
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith(sentence.replace("<here>", str(Path.cwd())))


def test_an_exec_that_is_not_closed() -> None:
    ended = run("subscribe", "outcomes", "--exec", "sh -c 'x")
    assert ended.sentence == '--exec: No closing quotation in "sh -c \'x"; close it'


def test_what_is_not_there() -> None:
    for line, sentence in (
        ("broker status", "no broker runs in <here>/.turbine/broker; start one with"),
        ("broker stop", "no broker runs in <here>/.turbine/broker; start one with"),
        ("down", "nothing runs in <here>/.turbine; `turbine up` starts it"),
        ("describe policy nope", 'there is no policy "nope"; use one of turbine, reactive, proac'),
        ("schema show Nope", "there is no schema Nope; `turbine schema list` names all"),
        ("schema show JobDeletd", "there is no schema JobDeletd, perhaps JobDeleted; `turbine"),
    ):
        ended = run(*line.split())
        assert (ended.code, line) == (Code.NOT_FOUND, line)
        assert ended.sentence.startswith(sentence.replace("<here>", str(Path.cwd())))


def ended_by(error: Exception, monkeypatch: pytest.MonkeyPatch) -> Ended:
    """What a command leaves behind that meets an error of the layers below."""

    def bad() -> None:
        raise error

    monkeypatch.setattr("turbine.cli.here.typer.main.get_command", lambda _: lambda *_, **__: bad())
    return run("config", "show")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadSettings("x"), Code.USAGE),
        (TooLarge("x"), Code.USAGE),
        (Ambiguous("x"), Code.USAGE),
        (BadFile("x"), Code.USAGE),
        (BrokerUnreachable("x"), Code.FAILED),
        (LogUnreadable("x"), Code.FAILED),
        (NoTopic("x"), Code.FAILED),
        (TopicsError("x"), Code.FAILED),
        (FleetRuns("x"), Code.FAILED),
        (LocalFailed("x"), Code.FAILED),
        (Unheard("x"), Code.FAILED),
        (Failed(Code.CONFLICT, "x"), Code.CONFLICT),
    ],
)
def test_errors_of_the_layers_below_are_sentences(
    error: Exception, code: Code, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = ended_by(error, monkeypatch)
    assert (ended.code, ended.sentence) == (code, "x")


def test_a_package_that_is_missing_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = ended_by(ModuleNotFoundError("no", name="pyspark"), monkeypatch)
    assert (ended.code, ended.sentence[:18]) == (Code.FAILED, "this needs pyspark")


def test_a_bug_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyError):
        ended_by(KeyError("x"), monkeypatch)


def test_a_program_ends_by_its_error_as_a_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert end_process(FleetRuns("x; end it")) is Code.FAILED
    assert capsys.readouterr().err == "turbine: x; end it\n"


def test_an_option_stands_before_what_is_wrong_with_its_value() -> None:
    with pytest.raises(Failed, match=r"^--resume: x$") as failed, named("--resume"):
        raise BadBookmark("x")
    assert failed.value.code is Code.USAGE
    with pytest.raises(BrokerUnreachable, match=r"^away$"), named("--resume"):
        raise BrokerUnreachable("away")


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("stale", Code.CONFLICT),
        ("no-such-job", Code.NOT_FOUND),
        ("invalid", Code.FAILED),
        ("overloaded", Code.FAILED),
    ],
)
def test_a_rejection_has_its_code(reason: str, code: Code) -> None:
    assert code_of_rejection(reason) is code


@pytest.mark.parametrize(
    ("given", "hoisted"),
    [
        (["get", "jobs"], ["get", "jobs"]),
        (["why", "--bootstrap", "a:1", "-o", "x"], ["--bootstrap", "a:1", "why", "-o", "x"]),
        (["x", "--config=f", "--bootstrap=b"], ["--config=f", "--bootstrap=b", "x"]),
        (["x", "--bootstrap"], ["--bootstrap", "x"]),
        (["x", "--", "--bootstrap", "b"], ["x", "--", "--bootstrap", "b"]),
        (["x", "--configure", "y"], ["x", "--configure", "y"]),
    ],
)  # fmt: skip
def test_global_options_stand_anywhere(given: list[str], hoisted: list[str]) -> None:
    assert hoist(given) == hoisted
