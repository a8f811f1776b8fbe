"""The law of surfaces, for decisions: the command, the API and the answer say the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from components.runtime.kafka.intake import Message
from components.runtime.kafka.origin import Spans
from components.runtime.kafka.slices import SLICE_MOST
from events.topics import BY_SHORT, CHANGES, JOURNAL, OPERATOR, TIERS
from tests.laws.played import SEEDS, log_of, messages_of, source_of
from tests.unit.turbine.api.asgi import ask
from tests.unit.turbine.api.world import small_fleet, world_of
from tests.unit.turbine.lines import run
from tests.unit.turbine.logs import told
from turbine.cli.reasons import _is_id
from turbine.read.answers.decision import Explanation, decision
from turbine.read.answers.scaling import ACTIONS
from turbine.read.plain import plain
from turbine.read.sources.held import HeldSource
from turbine.read.sources.log import Log
from turbine.read.sources.source import UpTo
from turbine_client.positions import format_vector

SHARES = (1 / 3, 2 / 3, 1.0)
COMPONENTS = frozenset(
    {
        "job-service",
        "state-syncer",
        "task-service",
        "auto-scaler",
        "shard-manager",
        "capacity-manager",
    }
)
DECIDED = (JOURNAL, TIERS)
ASKED = (*CHANGES.values(), OPERATOR)
OF_EACH = 2


class Counting(HeldSource):
    """Counts how often each place is read."""

    def __init__(self, messages: tuple[Message, ...]) -> None:
        super().__init__(messages, dict.fromkeys(BY_SHORT, 1))
        self.reads = Counter[str]()

    def spans(self, spans: Spans, *, committed: bool = False) -> Iterator[list[Message]]:
        self.reads.update(list(spans))
        return super().spans(spans, committed=committed)

    def slices(
        self, spans: Mapping[str, tuple[int, int]], most: int = SLICE_MOST
    ) -> Iterator[list[Message]]:
        self.reads.update(list(spans))
        yield from HeldSource.slices(self, spans, most)


class Case(NamedTuple):
    """An id to ask for, and who decided it; "" of a request."""

    name: str
    source: str
    job: str


def position_at(log: Log, share: float) -> dict[str, int]:
    """Where a log was after that share of its time."""
    places = log.places(topic for topic, one in BY_SHORT.items() if one.kind != "rows")
    ends = log.ends(places)
    times = [
        one.at_ms for poll in log.source.spans(dict.fromkeys(places, (0, None))) for one in poll
    ]
    if share == 1.0:
        return ends
    first, last = min(times), max(times)
    return log.source.times(places, first + round((last - first) * share) + 1)


def records_of(log: Log, end: Mapping[str, int], topics: tuple[str, ...]) -> Iterator[Any]:
    for read in log.read([one for one in topics if one in log.counts], end=end):
        if read.record.id:
            yield read


def cases_of(log: Log, end: Mapping[str, int]) -> list[Case]:
    """Decisions of each kind and component, and requests, answered and not."""
    seen, found = Counter[tuple[str, str]](), list[Case]()
    for topics in (DECIDED, ASKED):
        for read in list(records_of(log, end, topics))[::-1]:
            record = read.record
            source = record.source if topics is DECIDED else ""
            seen[source, record.kind] += 1
            if seen[source, record.kind] <= OF_EACH:
                found.append(Case(record.id, source, record.key))
    return found


@cache
def spoken() -> Log:
    return Log(source=small_fleet())


@cache
def scaled() -> Log:
    """Of jobs with an auto scaler."""
    return Log(source=source_of(told()))


def cli(monkeypatch: pytest.MonkeyPatch, log: Log, *line: str) -> Any:
    monkeypatch.setattr("turbine.cli.reasons.open_log", lambda _: log)
    monkeypatch.setattr("turbine.cli.reading.open_log", lambda _: log)
    return json.loads(run(*line, "-o", "json").out)


LOGS = {"spoken": spoken, "scaled": scaled}


@pytest.mark.parametrize("seed", [*SEEDS, *LOGS])
@pytest.mark.parametrize("share", SHARES)
def test_command_api_and_answer_say_the_same_of_a_decision(
    seed: int | str, share: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    log = LOGS[seed]() if isinstance(seed, str) else log_of(seed)
    world = world_of(log.source, directory=tmp_path)  # type: ignore[arg-type]  # any log in memory
    end = position_at(log, share)
    at = format_vector(end)
    cases = cases_of(log, end)
    assert cases
    for case in cases:
        answer = decision(Log(source=UpTo(log.source, end)), case.name)
        assert answer is not None, case
        shown = cli(monkeypatch, log, "why", case.name, "--at", at)
        assert shown == plain(answer)
        got = ask(world.app, "GET", f"/api/v1/decisions/{case.name}?at={quote(at)}")
        assert (got.status, got.json()) == (200, shown)
        if case.source:
            assert isinstance(answer, Explanation)
            assert answer.tree.name == answer.kind
            assert answer.tree.nodes or answer.parent == "root" or not answer.stands, case


def test_decisions_of_every_component_are_compared() -> None:
    logs = [spoken(), scaled(), *(log_of(seed) for seed in SEEDS)]
    sources = {one.source for log in logs for one in cases_of(log, position_at(log, 1.0))}
    assert sources >= COMPONENTS | {""}


@pytest.mark.parametrize("seed", SEEDS)
def test_why_reads_each_place_at_most_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in cases_of(log_of(seed), position_at(log_of(seed), 1.0)):
        if not _is_id(case.name):
            continue  # it may be a job's name, too, and that is looked for first
        source = Counting(messages_of(seed))
        cli(monkeypatch, Log(source=source), "why", case.name)
        assert max(source.reads.values()) == 1, (case, source.reads)


@pytest.mark.parametrize("share", SHARES)
def test_command_and_api_say_the_same_of_what_was_not_done(
    share: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    log = scaled()
    world = world_of(log.source, directory=tmp_path)  # type: ignore[arg-type]  # any log in memory
    end = position_at(log, share)
    at = format_vector(end)
    jobs = [name for name, job in log.jobs(end=end).items() if job.versions.base]
    assert jobs
    for job in jobs:
        for action in ACTIONS:
            shown = cli(monkeypatch, log, "why-not", job, "--action", action, "--at", at)
            target = f"/api/v1/jobs/{job}/why-not?action={action}&again=true&at={quote(at)}"
            got = ask(world.app, "GET", target)
            assert (got.status, got.json()) == (200, shown)
