"""Exports: folds of a part of the log are what folds of all of it are, and nothing secret leaks."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from components.runtime.kafka.intake import Message
from events.topics import CONTAINERS, JOURNAL, LOADS, OPERATOR
from events.wire.codec import headers_of
from tests.unit.turbine import logs
from tests.unit.turbine.lines import run
from turbine.failures import Code
from turbine.ops.exporting import (
    RECENT_MS,
    Export,
    ExportRequest,
    exported_topics,
    places_of,
    shown_settings,
)
from turbine.read.sources.log import Log
from turbine.read.sources.log_file import LogFile
from turbine.read.sources.log_lines import LogFileWriter
from turbine.read.sources.source import UpTo
from turbine_client.settings import Settings

CUTS = (1_300_000, 1_900_000)
SEEDS = (logs.SEED, logs.FORGED_SEED, logs.TIER_SEED)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exports")


def whole(folder: Path, seed: int) -> Path:
    path = folder / f"{seed}.log.gz"
    return path if path.exists() else logs.write(path, logs.told(seed))


def exported(log: Log, path: Path, *, since_ms: int | None = None, job: str = "") -> Log:
    """The log in a file of its own, and what that says."""
    since = {} if since_ms is None else log.at(since_ms, exported_topics(log))
    with LogFileWriter(path) as lines:
        asked = ExportRequest(since, log.ends(places_of(log, job)), job, since_ms or 0)
        Export(log, asked, lines).write()
    return Log(source=LogFile(path))


def verdicts(log: Log) -> Counter[tuple[str, str]]:
    return Counter((one.component, one.verdict) for one in log.audit())


def decided(log: Log, job: str | None = None) -> list[tuple[str, bool]]:
    return [(one.read.record.id, one.stands) for one in log.decisions(job=job)]


class Installation(UpTo):
    """A log that somebody runs, with its settings, told from a file."""

    def __init__(self, source: LogFile, settings: Settings) -> None:
        super().__init__(source, source.head.ends)
        self._settings, self.at_hand = settings, False

    @property
    def settings(self) -> Settings:
        return self._settings


def lines_of(path: Path) -> list[bytes]:
    """All but the last, in whatever order: what lies before the beginning has none."""
    return sorted(gzip.decompress(path.read_bytes()).splitlines()[:-1])


# --- all, a part, one job


@pytest.mark.parametrize("seed", SEEDS)
def test_an_export_of_all_is_the_log(folder: Path, tmp_path: Path, seed: int) -> None:
    log = Log(source=LogFile(whole(folder, seed)))
    found = exported(log, tmp_path / "all.log.gz")
    assert (found.jobs(), found.syncs(), found.fleet("default")) == (
        log.jobs(), log.syncs(), log.fleet("default")
    )  # fmt: skip
    assert (decided(found), verdicts(found)) == (decided(log), verdicts(log))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("since_ms", CUTS)
def test_a_part_folds_to_the_same_jobs(
    folder: Path, tmp_path: Path, seed: int, since_ms: int
) -> None:
    log = Log(source=LogFile(whole(folder, seed)))
    found = exported(log, tmp_path / "part.log.gz", since_ms=since_ms)
    assert isinstance(found.source, LogFile)
    assert isinstance(log.source, LogFile)
    assert found.source.tail.records < log.source.tail.records
    assert found.source.since_ms == since_ms
    assert (found.jobs(), found.syncs()) == (log.jobs(), log.syncs())
    assert decided(found) == decided(log)
    # What rests on reports that it has not cannot be made again; nothing of it passes for another.
    for (component, verdict), count in verdicts(found).items():
        assert verdict in ("same", "not checkable")
        if component in ("job-service", "state-syncer", "task-service"):
            assert verdicts(log)[component, verdict] == count


@pytest.mark.parametrize("since_ms", CUTS)
@pytest.mark.parametrize("what", ["containers", "shards", "moves", "tiers"])
def test_a_part_folds_to_the_same_tier(
    folder: Path, tmp_path: Path, since_ms: int, what: str
) -> None:
    path = whole(folder, logs.TIER_SEED)
    exported(Log(source=LogFile(path)), tmp_path / "part.log.gz", since_ms=since_ms)
    rows = [
        json.loads(run("--log", str(one), "get", what, "-o", "json").out)
        for one in (path, tmp_path / "part.log.gz")
    ]
    for side in rows:
        for row in side if what == "containers" else ():
            del row["since_ms"]  # the sum of all ticks since, and they are not in it
    assert rows[0]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_a_job_by_itself_is_what_it_is_among_others(
    folder: Path, tmp_path: Path, seed: int
) -> None:
    """Forged evidence too: what was not there when it was claimed does not appear so in a file
    that lacks the other jobs' records."""
    log = Log(source=LogFile(whole(folder, seed)))
    jobs = log.jobs()
    for job in jobs:
        found = exported(log, tmp_path / f"{job}.log.gz", job=job)
        assert found.jobs() == {job: jobs[job]}
        assert found.syncs(job=job) == log.syncs(job=job)
        assert decided(found, job) == decided(log, job)
        ours = Counter(
            (one.component, one.verdict) for one in log.audit() if one.read.record.key == job
        )
        assert verdicts(found) == ours
    assert any(not stands for _, stands in decided(log))


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_an_export_of_an_export_is_no_more_than_that_was(
    folder: Path, tmp_path: Path, seed: int
) -> None:
    log = Log(source=LogFile(whole(folder, seed)))
    for job in ("", *log.jobs()):
        first = exported(log, tmp_path / f"a{job}.log.gz", since_ms=1_500_000, job=job)
        for name, since_ms in (("b", None), ("c", 1_200_000), ("d", 1_900_000)):
            path = tmp_path / f"{name}{job}.log.gz"
            again = exported(first, path, since_ms=since_ms)
            assert isinstance(again.source, LogFile)
            assert again.source.head.job == job
            assert again.source.since_ms == max(1_500_000, since_ms or 0)
            assert (again.jobs(), again.syncs()) == (first.jobs(), first.syncs())
            assert decided(again) == decided(first)
        assert lines_of(tmp_path / f"b{job}.log.gz") == lines_of(tmp_path / f"a{job}.log.gz")


def test_what_came_after_the_end_is_not_in_it(folder: Path, tmp_path: Path) -> None:
    log = Log(source=LogFile(whole(folder, logs.SEED)))
    ended = run(
        "--log", str(whole(folder, logs.SEED)), "log", "export", "--to", "1970-01-01T00:30:00Z",
        "--out", str(tmp_path / "x.log.gz"),
    )  # fmt: skip
    assert ended.code == Code.OK
    found = Log(source=LogFile(tmp_path / "x.log.gz"))
    end = log.at(1_800_000, log.counts)
    assert found.jobs() == log.jobs(end=end)
    assert [one.read.record.id for one in found.decisions()] == [
        one.read.record.id for one in log.decisions(end=end)
    ]


def test_only_the_last_of_what_is_said_again_and_again_is_kept(
    folder: Path, tmp_path: Path
) -> None:
    log = Log(source=LogFile(whole(folder, logs.TIER_SEED)))
    begins = log.at(2_000_000, [CONTAINERS])[f"{CONTAINERS}/0"]
    found = exported(log, tmp_path / "part.log.gz", since_ms=2_000_000)
    kinds: frozenset[str] = frozenset()
    kept = [one for one in found.read([CONTAINERS], kinds=kinds) if one.offset < begins]
    known = [one for one in log.read([CONTAINERS], kinds=kinds) if one.offset < begins]
    beats = Counter(
        one.record.key
        for one in kept
        if one.record.kind == "ContainerHeartbeat" and one.at_ms < 2_000_000 - RECENT_MS - 10_000
    )
    assert max(beats.values(), default=0) <= 1
    assert len(kept) < len(known)
    lives = {"ContainerStarted", "ShardAdded", "ShardDropped", "ContainerFailedOver"}
    assert [one for one in kept if one.record.kind in lives] == [
        one for one in known if one.record.kind in lives
    ]
    assert not [one for one in found.read([LOADS], kinds=kinds) if one.at_ms < 2_000_000]


# --- what it says of itself


def test_secrets_stay_here(folder: Path, tmp_path: Path) -> None:
    settings = Settings(
        bootstrap="far:9092",
        kafka={"sasl.username": "ana", "sasl.password": "hunter2", "ssl.key.pem": "hunter3"},
        spark={"db.url": "db://ana:hunter5@far", "s3a.secret.key": "hunter4", "master": "local[2]"},
    )
    shown = dict(shown_settings(settings))
    assert shown["kafka.sasl.username"] == "ana"
    assert shown["spark.master"] == "local[2]"
    assert [name for name, value in shown.items() if value == "(not shown)"] == [
        "kafka.sasl.password", "kafka.ssl.key.pem", "spark.db.url", "spark.s3a.secret.key",
    ]  # fmt: skip
    source = LogFile(whole(folder, logs.SEED))
    told = Installation(source, settings)
    path, again = tmp_path / "x.jsonl", tmp_path / "again.jsonl"
    exported(Log(source=told), path)
    assert b"hunter" not in path.read_bytes()
    assert LogFile(path).head.settings == shown
    exported(Log(source=LogFile(path)), again)
    assert LogFile(again).head == LogFile(path).head


def opened(path: Path) -> dict[str, Any]:
    ended = run("open", str(path), "-o", "json")
    assert (ended.code, ended.err) == (Code.OK, "")
    return dict(json.loads(ended.out))


def test_open_says_what_is_in_it_and_what_is_missing(folder: Path, tmp_path: Path) -> None:
    path = whole(folder, logs.SEED)
    log = Log(source=LogFile(path))
    exported(log, tmp_path / "all.log.gz")
    row = opened(tmp_path / "all.log.gz")
    assert (row["records"], row["missing"], row["job"]) == (len(logs.told()), [], None)
    assert (row["jobs"], row["schemas"] > 40, row["strange_schemas"]) == (2, True, [])
    assert row["standing"] + row["void"] == len(log.decisions())
    exported(log, tmp_path / "part.log.gz", since_ms=1_800_000)
    assert opened(tmp_path / "part.log.gz")["missing"] == [
        (
            "what was reported before 1970-01-01T00:30:00.000Z: of that time it has decisions,"
            " requests and lives alone"
        )
    ]
    exported(log, tmp_path / "job.log.gz", job="clicks")
    row = opened(tmp_path / "job.log.gz")
    assert (row["jobs"], row["missing"]) == (1, ["all but the records of the job clicks"])
    text = run("open", str(tmp_path / "job.log.gz")).out
    assert f"turbine --log {tmp_path / 'job.log.gz'} why clicks" in text


def test_a_schema_that_this_build_does_not_know_is_told(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.log.gz"
    log = Log(source=LogFile(whole(folder, logs.SEED)))
    with LogFileWriter(path) as lines:
        export = Export(log, ExportRequest({}, log.ends(places_of(log))), lines)
        put = lines.put
        odd = {"schema": {"id": 9_999, "name": "Novelty", "urn": "u", "schema": {}}}
        before: Callable[[Any], None] = partial(_put_both, put, odd)
        lines.put = before  # type: ignore[method-assign]  # a build of tomorrow
        export.write()
    assert opened(path)["strange_schemas"] == ["Novelty"]
    assert "not known to this build   Novelty" in run("open", str(path)).out


def _put_both(put: Callable[[Any], None], odd: Any, plain: Any) -> None:
    put(plain)
    if plain.get("format"):
        put(odd)


# --- what is refused


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("log export", Code.USAGE, "say where to: `turbine log export --out FILE`"),
        ("log export --out x --decision 1", Code.USAGE, "say where to: "),
        ("log export --out x.log.gz --job nobody", Code.NOT_FOUND, "there is no job nobody"),
        ("log export --out x.log.gz --job No", Code.USAGE, '"No" is no job\'s name'),
        ("log export --out none/x.log.gz", Code.FAILED, "none/x.log.gz cannot be written (No such"),
        ("log export --out x --from 2020-01-01T00:00:00Z", Code.USAGE, "--from: {log} ends at "),
        ("log export --out x --to journal.v1/0:999", Code.USAGE, "--to: journal.v1/0 ends at 70"),
        ("log export --out x --to journal.v1/9:1", Code.USAGE, "--to: this log has no place jour"),
        ("log export --as-test test_x.py", Code.USAGE, "a test is of one decision of a job"),
        ("log export --as-test test_x.py --job clicks --out x", Code.USAGE, "a test is of one "),
        ("log export --as-test x.txt --job clicks", Code.USAGE, "--as-test: pytest finds no test"),
        ("log export --as-test test_x.py --job no", Code.NOT_FOUND, "the log has no decision that"),
        (
            "log export --as-test test_x.py --job clicks --decision nope",
            Code.NOT_FOUND,
            "the log has no decision nope about clicks; `turbine log tail --topic journal --job",
        ),
        ("topics plan", Code.FAILED, "{log} is a file, in which nothing runs that"),
        ("pause clicks --reason x", Code.FAILED, "{log} is a file, in which nothing runs that"),
        ("log tail -f", Code.FAILED, "{log} is a file, in which nothing runs that"),
        ("subscribe outcomes", Code.FAILED, "{log} is a file, in which nothing runs that"),
    ],
)
def test_what_a_file_is_not_asked(  # noqa: PLR0917 - a row of the table is three of them
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, code: Code, told: str
) -> None:
    path = whole(folder, logs.SEED)
    monkeypatch.chdir(tmp_path)
    ended = run("--log", str(path), *line.split())
    assert (ended.code, ended.out) == (code, "")
    assert ended.sentence.startswith(told.replace("{log}", str(path)))
    assert list(tmp_path.iterdir()) == []


def test_an_export_never_overwrites(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.log.gz"
    path.write_text("mine")
    ended = run("--log", str(whole(folder, logs.SEED)), "log", "export", "--out", str(path))
    assert (ended.code, path.read_text()) == (Code.USAGE, "mine")
    assert ended.sentence == f"{path} is there already; name a new file, or remove it"


def test_an_instant_before_a_part_is_refused(folder: Path, tmp_path: Path) -> None:
    log = Log(source=LogFile(whole(folder, logs.SEED)))
    path = tmp_path / "part.log.gz"
    exported(log, path, since_ms=1_800_000)
    ended = run("--log", str(path), "get", "jobs", "--at", "1970-01-01T00:29:00Z")
    assert (ended.code, ended.out) == (Code.USAGE, "")
    assert ended.sentence == (
        f"--at: {path} begins at 1970-01-01T00:30:00.000Z, after 1970-01-01T00:29:00.000Z; name an"
        " instant that is in it, or export the log from earlier on"
    )
    assert run("--log", str(path), "get", "jobs", "--at", "1970-01-01T00:30:01Z").code == Code.OK


def test_a_decision_that_knew_the_future_is_void_in_a_jobs_file_too(
    folder: Path, tmp_path: Path
) -> None:
    """Its evidence is about a place whose records of that time the file does not have."""
    known = [one for one in logs.told() if one.at_ms < 1_400_000]
    log = Log(source=LogFile(logs.write(tmp_path / "a.log.gz", known)))
    last = [one for one in log.decisions(job="clicks") if one.stands][-1].read
    end = max(one.offset for one in known if one.topic == JOURNAL) + 1
    others = max((one.offset for one in known if one.topic == OPERATOR), default=-1) + 1
    forged = replace(
        last.record, id="forged", parent=last.record.id, evidence={f"{OPERATOR}/0": others + 1}
    )
    soon_ms = known[-1].at_ms
    ask = Message(OPERATOR, 0, others, soon_ms + 60_000, b"orders", b"", [])
    lie = Message(
        JOURNAL, 0, end, soon_ms, b"clicks", forged.value, list(headers_of(forged, JOURNAL))
    )
    log = Log(source=LogFile(logs.write(tmp_path / "b.log.gz", [*known, lie, ask])))
    assert decided(log, "clicks")[-1] == ("forged", False)
    found = exported(log, tmp_path / "clicks.log.gz", job="clicks")
    assert decided(found, "clicks")[-1] == ("forged", False)
