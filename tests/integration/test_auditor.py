"""The auditor on a real log: it follows, tells what differs, and goes on from where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.children import python, running
from components.auditor.agents import Auditor
from components.auditor.decide import ALERT, key_of_logic
from components.auditor.kept import open_kept
from components.job_service.decide import component as job_service
from components.runtime.core.audit.audit import Family
from components.runtime.kafka.slices import read_slices
from events.generated.records import AlertRaised
from events.topics import CHANGES, CLOCK, JOURNAL
from infra.waiting import until
from tests.conftest import PARTITIONS, Fleet
from tests.unit.turbine.lines import run
from turbine.failures import Code
from turbine.ops.tiers import define
from turbine.read.logics import AUDITED, audited_with
from turbine.read.sources.log import Log
from turbine_client.clients import cluster_of
from turbine_client.positions import format_vector
from turbine_client.publish import Accepted, Publisher
from turbine_client.subscribe import Subscriber

pytestmark = [pytest.mark.broker]

CONFIG = {
    "operator": "audited.audited:run",
    "inputs": [{"topic": "audited"}],
    "package": {"name": "audited", "version": "1"},
    "checkpoint": {"root": "/checkpoints"},
}


@contextmanager
def auditor(fleet: Fleet, path: Path, families: tuple[Family, ...] = AUDITED) -> Iterator[Auditor]:
    """One that is turned by hand."""
    one = Auditor(fleet.settings, lambda _: families, path)
    try:
        yield one
    finally:
        one.close()


def same(one: Auditor) -> int:
    return one.verdicts["job-service"]["same"]


def turned_until_ahead(one: Auditor, count: int) -> None:
    def ahead() -> bool:
        one.turn()
        return same(one) >= count

    until(ahead, f"{count} decisions have come out again")


def change(fleet: Fleet, version: int) -> None:
    with Publisher(fleet.settings, author="auditor") as publisher:
        told = {**CONFIG, "package": {"name": "audited", "version": str(version)}}
        assert isinstance(publisher.change("followed", told, create=True), Accepted)


def test_it_follows_and_goes_on_from_what_it_kept(fleet: Fleet, tmp_path: Path) -> None:
    path = tmp_path / "auditor" / "audit.jsonl"
    with auditor(fleet, path) as one:
        change(fleet, 1)
        turned_until_ahead(one, 1)
        before = same(one)
        change(fleet, 2)
        turned_until_ahead(one, before + 1)
        reached = same(one)
    of = json.loads(path.read_text().splitlines()[0])["cluster"]
    assert of.startswith(f"{cluster_of(fleet.settings)} "), "and then the topics' ids"
    kept = open_kept(path, AUDITED, fleet.settings.partitions, of)
    assert kept is not None
    assert kept.counts["job-service"]["same"] == reached
    assert sum(kept.seen.values()) > 0
    with auditor(fleet, path) as other:
        assert same(other) == reached
        change(fleet, 3)
        turned_until_ahead(other, reached + 1)


def test_a_difference_is_an_alert_once(fleet: Fleet, tmp_path: Path) -> None:
    """Whoever runs a job service that never says anything, under the logic of ours."""
    mute = replace(job_service, decide=lambda *_: iter(()))
    change(fleet, 4)
    for _ in range(2):  # the second one finds that it stands
        with auditor(fleet, tmp_path / "none", ((mute,),)) as one:

            def told(one: Auditor = one) -> bool:
                one.turn()
                return bool(one.verdicts["job-service"]["differs"]) and not one.alarmed

            until(told, "the alert stands")
        (tmp_path / "none").unlink(missing_ok=True)
    key = key_of_logic(job_service.logic)
    standing = [
        found.read.record.body for found in Log(fleet.settings).decisions(job=key) if found.stands
    ]
    [alert] = [body for body in standing if isinstance(body, AlertRaised)]
    assert (alert.subject, alert.alert) == ("job-service", ALERT)
    assert "its evidence calls for nothing" in alert.cause
    assert key not in Log(fleet.settings).jobs()
    assert key not in Log(fleet.settings).syncs()
    subscriber = Subscriber(fleet.settings, topic="alerts.v1", start="earliest")
    heard: list[str] = []

    def published() -> bool:
        heard.extend(a.body.alert for a in subscriber.poll(0.1) if a.body.subject == "job-service")
        return bool(heard)

    until(published, "the publisher tells it to the world")
    subscriber.close()
    assert heard == [ALERT]


def test_a_tier_that_is_made_while_it_follows_is_audited_from_its_beginning(
    fleet: Fleet, tmp_path: Path
) -> None:
    one = Auditor(fleet.settings, audited_with, tmp_path / "audit.jsonl")
    serve = ("turbine.serve", "shard-manager", "--tier", "made-late", "--bootstrap")
    try:
        change(fleet, 9)
        turned_until_ahead(one, 1)
        assert define(Log(fleet.settings), "made-late", 4) is not None

        def told() -> bool:
            one.turn()
            return one.verdicts["shard-manager"]["same"] > 0

        # There is no container, which is the first that its manager has to say.
        with running("manager", python(*serve, fleet.bootstrap), tmp_path):
            until(told, "its manager's first decision has come out again")
        assert one.verdicts["shard-manager"]["not checkable"] == 0
    finally:
        one.close()


def test_slices_have_a_bound_and_keep_the_order_of_time(fleet: Fleet) -> None:
    change(fleet, 5)
    log = Log(fleet.settings)
    ends = log.ends(log.places([JOURNAL, CLOCK, *CHANGES.values()]))
    slices = list(read_slices(fleet.settings, {at: (0, end) for at, end in ends.items()}, most=50))
    times = [one.at_ms for part in slices for one in part]
    assert times == sorted(times)
    assert len(times) == sum(ends.values())
    assert len(slices) > 1
    # More only where they were appended in one millisecond.
    assert all(len(part) <= 50 or len({one.at_ms for one in part}) == 1 for part in slices)


def test_the_command_goes_on_from_a_file_and_from_a_position(fleet: Fleet, tmp_path: Path) -> None:
    file = str(tmp_path / "audit.jsonl")

    def audited(*more: str) -> int:
        ended = run("audit", "-o", "json", "--bootstrap", fleet.bootstrap, *more)
        assert ended.code == Code.OK, ended.err
        [row] = [
            one for one in json.loads(ended.out)["components"] if one["component"] == "job-service"
        ]
        assert (row["differs"], row["not_checkable"]) == (0, 0)
        return int(row["same"])

    change(fleet, 6)
    change(fleet, 61)
    # Some other test's override may expire meanwhile, so that there is more than what we asked.
    whole = audited("--resume", file)
    again = audited("--resume", file)
    change(fleet, 7)
    after = audited("--resume", file)
    assert again < after + again < whole
    families = Log(fleet.settings).families()
    kept = open_kept(Path(file), families, PARTITIONS, Log(fleet.settings).cluster)
    assert kept is not None
    assert kept.counts["job-service"]["same"] == whole + again + after <= audited()
    log = Log(fleet.settings)
    ends = log.ends(log.places([JOURNAL]))
    change(fleet, 8)
    assert 0 < audited("--from", format_vector(ends)) < whole
    Path(file).write_text("{}")
    spoilt = run("audit", "--resume", file, "--bootstrap", fleet.bootstrap)
    assert spoilt.code == Code.USAGE
    assert "remove it, and the log is audited from its beginning" in spoilt.sentence
