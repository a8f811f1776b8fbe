"""A line that an API answers prints what it prints without one; and what is refused."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

import pytest

from events.topics import JOURNAL
from tests.kit.examples import some_of
from tests.unit.turbine import logs
from tests.unit.turbine.api.asgi import Answer, ask
from tests.unit.turbine.api.world import CONFIG, NOW, world_of
from tests.unit.turbine.lines import Ended, run
from turbine.api import command
from turbine.api.app import make_app
from turbine.api.followed import Freshness
from turbine.api.guard import RequestGuard
from turbine.api.problems import RequestRefused
from turbine.api.server import Serving, opened_file
from turbine.cli.stamp import stamp
from turbine.cli.table import TABLE, reading
from turbine.cli.terminal import terminal
from turbine.failures import Code
from turbine.read.moments import now_ms as now
from turbine.read.moments import set_now
from turbine.read.sources.log import Log
from turbine.read.sources.log_file import LogFile
from turbine.read.state.view import View
from turbine_client.settings import Settings

PLAIN: Mapping[str, Any] = {"tty": False, "columns": 80, "environment": {}}
LINES = {
    "get jobs": [
        "get jobs",
        "get jobs clicks",
        "get jobs nope",
        "get jobs --deleted",
        "get jobs -x",
    ],
    "get job": ["get job clicks"],
    "get tasks": ["get tasks", "get tasks --job clicks", "get tasks --job nope"],
    "get syncs": ["get syncs", "get syncs --job clicks"],
    "get lag": ["get lag", "get lag clicks", "get lag --by task", "get lag --by partition"],
    "get alerts": ["get alerts", "get alerts -o json"],
    "get tiers": ["get tiers"],
    "get containers": ["get containers", "get containers --gone", "get containers --tier nope"],
    "get shards": ["get shards", "get shards --moving"],
    "get moves": ["get moves", "get moves --last 3"],
    "describe job": ["describe job clicks", "describe job nope", "describe job Clicks"],
    "describe container": ["describe container c1", "describe container nope"],
    "why": ["why clicks", "why nope", "why shard 1", "why {decision}"],
    "why-not": ["why-not clicks --action scale-up", "why-not clicks --action nope", "why-not"],
    "digest": ["digest --since 1h", "digest"],
    "diff": ["diff --from 1h", "diff --from 1h --exit-code", "diff"],
    "diff job": ["diff job clicks --running", "diff job clicks nope"],
    "log tail": ["log tail", "log tail -n 100 --job clicks", "log tail --topic nope"],
    "log stats": ["log stats"],
    "placement plan": ["placement plan", "placement plan --moves 3"],
    "placement show": ["placement show {plan}", "placement show nope"],
    "top": ["top --once", "top --once --filter clicks --sort lag", "top --once --filter state="],
}
SHOWN_MS = 11 * 60_000
"""Long enough for fail-overs and alerts."""
FORMS = some_of(("table", "jsonl", "wide", "json", "yaml", "name"), 2)


@pytest.fixture(scope="module", params=[logs.SEED, logs.TIER_SEED])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, RequestGuard, int]]:
    """A log of jobs, and one of containers: the file, the API over it, its last instant."""
    path = tmp_path_factory.mktemp("served") / "fleet.log.gz"
    logs.write(path, logs.told(request.param, SHOWN_MS))
    file = LogFile(path)
    with opened_file(file, Serving()) as (desk, rules):
        yield path, make_app(desk, rules, page=Path("nowhere")), file.now_ms


def target(words: list[str], now_ms: int = 0, **other: Any) -> str:
    asked = {
        "words": words,
        "bootstrap": "",
        "prefix": "",
        "stamp": stamp(),
        "now_ms": now_ms,
        **PLAIN,
        **other,
    }
    return f"/api/v1/command?asked={quote(json.dumps(asked))}"


def by_api(app: RequestGuard, words: list[str], now_ms: int, **other: Any) -> Ended:
    answer = ask(app, "GET", target(words, now_ms, **other))
    assert answer.status == 200, answer.body
    told = answer.json()
    out, err = (
        "".join(text for stream, text in told["said"] if stream == name) for name in ("out", "err")
    )
    return Ended(told["code"], out, err)


def test_every_line_that_reads_is_tried() -> None:
    assert LINES.keys() == {one.name for one in TABLE if one.reads}


def words_of(path: Path, line: str) -> list[str]:
    """The line, with what the log has to be asked about by its id."""
    found = {"decision": "0", "plan": "default!1f3a0c9e2b7d"}
    for topic, kind, name in (
        ("journal", "JobConfigChanged", "decision"),
        ("tiers", "PlacementPlanned", "plan"),
    ):
        told = run("--log", str(path), "log", "tail", "--topic", topic, "-o", "jsonl", "-n", "999")
        for row in map(json.loads, told.out.splitlines()):
            if row["kind"] == kind:
                found[name] = row["body"]["plan_id"] if name == "plan" else row["id"]
    return line.format(**found).split()


@pytest.mark.parametrize("name", LINES)
def test_the_bytes_are_the_same(served: tuple[Path, RequestGuard, int], name: str) -> None:
    path, app, now_ms = served
    codes = set()
    for number, line in enumerate(LINES[name]):
        words = words_of(path, line) if "{" in line else line.split()
        forms = [("-o", one) for one in FORMS] if number == 0 else [()]
        for more in (*forms, ("-o", "json"), ("--at", "10m ago")):
            here = run("--log", str(path), *words, *more)
            assert by_api(app, [*words, *more], now_ms) == here, (line, more)
            codes.add(here.code)
    assert codes - {Code.USAGE}, "none of its lines was more than refused"


def test_a_terminal_is_drawn_as_wide_as_the_asker_has_it(
    served: tuple[Path, RequestGuard, int],
) -> None:
    _, app, now_ms = served
    words = ["log", "stats"]
    shown = {"TERM": "xterm"}
    narrow = by_api(app, words, now_ms, tty=True, columns=30, environment=shown)
    assert max(len(one) for one in narrow.out.splitlines() if "\x1b" not in one) <= 30
    assert "\x1b[1m" in narrow.out
    plain = by_api(app, words, now_ms, tty=True, columns=30, environment={"NO_COLOR": "1"})
    assert "\x1b" not in plain.out
    assert "\x1b" not in by_api(app, words, now_ms).out


# --- what is refused


def refused(app: RequestGuard, **other: Any) -> tuple[int, str, str]:
    answer: Answer = ask(app, "GET", target(other.pop("words", ["get", "jobs"]), **other))
    told = answer.json()
    return answer.status, told["type"].removeprefix("urn:turbine:problem:"), told["detail"]


@pytest.mark.parametrize(
    "line",
    [
        "apply -f job.yaml",
        "delete job clicks",
        "logs clicks/0",
        "log tail -f",
        "log tail -n5f",
        "log tail --follow",
        "log export --out x",
        "top",
        "open x",
        "get jobs --help",
        "get",
        "nope",
        "--log x get jobs",
    ],
)
def test_what_does_more_than_read_is_not_run(
    served: tuple[Path, RequestGuard, int], line: str
) -> None:
    assert reading(line.split()) is None
    assert refused(served[1], words=line.split()) == (
        403,
        "no-reading",
        "this is no line that only reads the log",
    )


def test_another_build_and_another_log_are_refused(served: tuple[Path, RequestGuard, int]) -> None:
    _, app, _ = served
    assert refused(app, stamp="1-0") == (
        409,
        "another-build",
        "it runs another build; start it again",
    )
    status, kind, sentence = refused(app, bootstrap="far:9092")
    assert (status, kind) == (409, "another-log")
    assert sentence.endswith(", and far:9092 is meant")


@pytest.mark.parametrize(
    ("bootstrap", "prefix", "told"),
    [
        ("b:1", "blue", ""),
        ("", "blue", ""),
        ("b:1", "", ""),
        ("", "", ""),
        ("b:1", "green", "it reads the log at b:1 with the prefix blue, and b:1, green is meant"),
        ("", "green", "it reads the log at b:1 with the prefix blue, and green is meant"),
        ("b:2", "blue", "it reads the log at b:1, and b:2, blue is meant"),
    ],
)
def test_a_log_under_another_prefix_is_another_log(bootstrap: str, prefix: str, told: str) -> None:
    asked = command.CommandRequest(
        words=["get", "jobs"],
        bootstrap=bootstrap,
        prefix=prefix,
        stamp=stamp(),
        now_ms=0,
        **PLAIN,
    )
    log = SimpleNamespace(settings=Settings("b:1", "blue"))
    desk: Any = SimpleNamespace(log=log)
    if not told:
        command._check(desk, asked)
        return
    with pytest.raises(RequestRefused) as refused:
        command._check(desk, asked)
    assert (refused.value.status, refused.value.kind) == (409, "another-log")
    assert str(refused.value) == told


@pytest.mark.parametrize(
    "other", [{"columns": 0}, {"now_ms": -1}, {"more": 1}, {"words": []}, {"tty": "yes"}]
)
def test_what_is_asked_has_a_form(
    served: tuple[Path, RequestGuard, int], other: dict[str, Any]
) -> None:
    status, kind, sentence = refused(served[1], **other)
    assert (status, kind) == (422, "invalid-request")
    assert sentence == "this is for the command line of the same build"


def test_an_answer_has_a_bound(
    served: tuple[Path, RequestGuard, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, app, now_ms = served
    length = len(by_api(app, ["log", "stats"], now_ms).out)
    monkeypatch.setattr(command, "SAID_MAX", length)
    assert len(by_api(app, ["log", "stats"], now_ms).out) == length
    monkeypatch.setattr(command, "SAID_MAX", length - 1)
    assert refused(app, words=["log", "stats"], now_ms=now_ms)[:2] == (413, "too-long")


def test_so_many_are_answered_at_once_and_no_more(
    served: tuple[Path, RequestGuard, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, app, now_ms = served
    monkeypatch.setattr(command, "_running", threading.BoundedSemaphore(1))
    assert by_api(app, ["get", "jobs"], now_ms).code == Code.OK
    with command._running:
        assert refused(app, now_ms=now_ms)[:2] == (503, "busy")
    assert by_api(app, ["get", "jobs"], now_ms).code == Code.OK


def test_nothing_of_a_line_is_left_in_the_process(
    served: tuple[Path, RequestGuard, int], capsys: pytest.CaptureFixture[str]
) -> None:
    _, app, now_ms = served
    before = terminal()
    set_now(7)
    by_api(app, ["get", "jobs"], now_ms - 1000, tty=True)
    assert (terminal().out, terminal().tty) == (before.out, before.tty)
    assert now() == 7
    assert capsys.readouterr() == ("", "")


# --- how fresh it is


@dataclass(slots=True)
class Lagging:
    """Views that do not come on by themselves."""

    held: View
    asked: list[Mapping[str, int]] = field(default_factory=list)

    def view(self) -> View:
        return self.held

    def reach(self, end: Mapping[str, int], timeout_s: float) -> View | None:
        self.asked.append(end)
        at = self.held.at
        return self.held if all(at.get(one, 0) >= n for one, n in end.items()) else None


def test_what_was_appended_before_the_question_is_in_the_answer(tmp_path: Path) -> None:
    """A change that was accepted is seen by whoever asks next."""
    world = world_of(directory=tmp_path)
    before = json.loads(by_api(world.app, ["get", "jobs", "-o", "json"], NOW).out)
    world.log.expect("later", CONFIG)
    after = json.loads(by_api(world.app, ["get", "jobs", "-o", "json"], NOW).out)
    assert {one["job"] for one in after} - {one["job"] for one in before} == {"later"}


def test_views_that_are_behind_are_no_answer(tmp_path: Path) -> None:
    world = world_of(directory=tmp_path)
    views = Lagging(world.desk.reading.view(None))
    freshness = Freshness(world.desk.log, cast("Any", views))
    assert freshness.log_now().held() is views.held
    world.log.expect("later", CONFIG)
    with pytest.raises(RequestRefused, match="it has not read the log to its end") as behind:
        freshness.log_now()
    assert (behind.value.status, behind.value.kind) == (503, "behind")


def test_an_end_below_which_nothing_lies_is_waited_for_once(tmp_path: Path) -> None:
    """Where a transaction was committed, a mark takes an offset that no reader is given."""
    world = world_of(directory=tmp_path)
    views = Lagging(world.desk.reading.view(None))
    log = world.desk.log
    marked = Log(source=Marked(log.source))
    freshness = Freshness(marked, cast("Any", views))
    assert freshness.log_now().held() is views.held
    waited = len(views.asked)
    assert freshness.log_now().held() is views.held
    assert len(views.asked) == waited + 1, "it was waited for again"


class Marked:
    """A log whose journal ends with a mark."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def ends(self, places: Iterable[str]) -> dict[str, int]:
        found: dict[str, int] = self._source.ends(places)
        return found | {f"{JOURNAL}/0": found[f"{JOURNAL}/0"] + 1}
