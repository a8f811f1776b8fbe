"""Bad input on every topic a worker reads: each has its letter or its verdict, and all goes on."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from components.runtime.kafka.append_times import AppendTimes
from components.runtime.kafka.intake import LETTER_BYTES, Message, records_of
from components.runtime.kafka.slices import read_slices
from events.generated.records import LayerVersions, OverrideExpired
from events.topics import BY_SHORT, MIB, partition_of
from events.wire.codec import Record, encode, headers_of
from infra.waiting import until
from tests.integration.bad_input import BASE, TAKEN, VOID, Case, Senders, batch, cases, send
from tests.integration.changes import (
    Author,
    all_answered,
    all_derive,
    all_published,
    decisions,
    job_in,
    proposal,
    verdict,
    verdicts,
)
from tests.integration.processes import PARTITIONS, ROOT, Fleet, Process, fleet_on
from tests.integration.raw_produce import produce_raw
from turbine_client.clients import producer
from turbine_client.reading import ends_now, read_span, times_now
from turbine_client.subscribe import Subscriber

pytestmark = pytest.mark.broker

NAMES = list(dict.fromkeys(case.name for case in cases()))
FLOOD = 2_000
GROWTH_MB = 60.0
BOMB_MB = 150.0


@dataclass(slots=True)
class Told:
    """What was sent, where it lies, and what was said of it."""

    fleet: Fleet
    worker: Process
    sent: list[Case]
    lies: dict[str, str]
    letters: dict[str, Message]  # by id
    verdicts: dict[str, list[object]]  # by change id
    answered: Counter[str]  # jobs of the good changes behind the bad ones


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with fleet_on(tmp_path_factory.mktemp("bad")) as fleet:
        fleet.start("clock")
        fleet.publisher()
        yield fleet


@pytest.fixture(scope="module")
def worker(fleet: Fleet) -> Process:
    return fleet.worker("w0", metrics=True)


def letters(fleet: Fleet) -> dict[str, Message]:
    spans = {"dead-letters.v1/0": (0, None)}
    found = [message for poll in read_span(fleet.settings, spans) for message in poll]
    return {dict(one.headers or [])["dead_letter_id"].decode(): one for one in found}


def header(letter: Message, name: str) -> str:
    return (dict(letter.headers or [])[f"dead_letter_{name}"] or b"").decode()


@pytest.fixture(scope="module")
def told(fleet: Fleet, worker: Process) -> Told:
    """All bad ones at once, then a good change behind them about each of their keys."""
    sent = list(cases())  # now: a request does not count for long
    lies = send(fleet.settings, sent)
    author = Author(fleet.settings)
    spoilt = {case.key.decode() for case in sent if case.becomes == VOID and case.key}
    behind = {author.ask(proposal(job)): job for job in spoilt}
    behind |= {author.ask(proposal(job_in(p, "good"))): f"good {p}" for p in range(PARTITIONS)}
    author.settle()
    # What claims to know a little more than there is gets ten seconds to come true.
    all_answered(fleet.settings, [name for name in behind if behind[name] != "bad-journal"])
    # Who reads the journal alone has no clock: a later record of the place shows him the forgery.
    behind |= {author.ask(proposal(job_in(p, "later"))): f"later {p}" for p in range(PARTITIONS)}
    author.settle()
    all_answered(fleet.settings, behind)
    said: dict[str, list[object]] = {}
    for one in decisions(fleet.settings):
        name = getattr(one.read.record.body, "change_id", None)
        if one.stands and name is not None:
            said.setdefault(name, []).append(one.read.record.body)
    answered = Counter(behind[name] for name in behind if len(said[name]) == 1)
    return Told(fleet, worker, sent, lies, letters(fleet), said, answered)


@pytest.mark.parametrize("name", NAMES)
def test_each_has_its_letter_or_its_verdict(told: Told, name: str) -> None:
    case = next(one for one in told.sent if one.name == name)
    letter = told.letters.get(told.lies[case.name])
    verdicts = told.verdicts.get(case.change_id, [])
    if case.becomes == TAKEN:
        assert letter is None
        assert [type(one).__name__ for one in verdicts] == ["JobConfigChanged"]
    elif case.becomes == VOID:
        assert letter is None
        assert verdicts == []
    elif case.rejected:
        assert letter is None
        assert [getattr(one, "reason", one) for one in verdicts] == [case.becomes]
        assert case.words in getattr(verdicts[0], "explanation", "")
    else:
        assert letter is not None
        assert header(letter, "reason") == case.becomes
        assert header(letter, "place") in header(letter, "sentence")
        assert letter.value == (case.value and case.value[:LETTER_BYTES])
        assert verdicts == []


def test_what_comes_behind_the_bad_ones_has_its_verdict(told: Told) -> None:
    spoilt = {case.key.decode() for case in told.sent if case.becomes == VOID and case.key}
    good = {f"{when} {p}" for when in ("good", "later") for p in range(PARTITIONS)}
    assert told.answered == Counter(spoilt | good)


def test_the_worker_stays_up_and_counts_them(told: Told) -> None:
    assert told.worker.alive
    reasons = Counter(
        case.becomes
        for case in told.sent
        if not case.rejected and case.becomes not in (VOID, TAKEN)
    )
    for reason, count in reasons.items():
        found = told.worker.metric("turbine_records_unreadable_total", reason=reason)
        assert found == count, reason
    forged = [case for case in told.sent if case.becomes == VOID]
    impossible = [case for case in forged if case.name != "journal: forged parent"]
    # What was forged is judged when the clock says so, or a later record, and not by an answer.
    counted = ("turbine_records_read", len(impossible), len(forged))
    until(
        lambda: (
            told.worker.metric(counted[0], became="impossible") >= counted[1]
            and told.worker.metric(counted[0], became="void") >= counted[2]
        ),
        "all that was forged is judged",
    )
    assert told.worker.metric(counted[0], became="impossible") == counted[1]
    assert told.worker.metric(counted[0], became="void") == counted[2]


BOMBS = {
    "gzip": (64, MIB),
    "lz4": (15, MIB),
    "snappy": (1, MIB),
    "zstd": (60, MIB),
    "gzip, one value": (1, 75_000_000),
    "zstd, one value": (1, 400_000_000),
}
"""Records of zeros in a batch, as many as the door lets in: how many, of how many bytes each."""


@pytest.mark.parametrize("name", BOMBS)
def test_what_a_batch_inflates_to_is_bounded_and_who_comes_behind_it_is_heard(
    told: Told, name: str
) -> None:
    """The broker's limit counts what a batch has compressed, and inflating is left to readers."""
    fleet, worker = told.fleet, told.worker
    before, known = worker.rss_mb(), len(letters(fleet))
    codec, (count, size) = name.partition(",")[0], BOMBS[name]
    [last] = batch(fleet.settings, codec, count, size)
    author = Author(fleet.settings)
    asked = author.ask(proposal(job_in(0, f"behind-{name}")))
    author.settle()
    most, answered = before, set[str]()
    while last not in letters(fleet) or not answered:
        most = max(most, worker.rss_mb())
        answered |= set(verdicts(fleet.settings, [asked]))
    assert most - before < BOMB_MB
    letter = letters(fleet)[last]
    assert header(letter, "reason") == ("spoilt-batch" if codec == "zstd" else "too-large")
    assert len(letter.value or b"") <= LETTER_BYTES
    assert len(letters(fleet)) - known == (1 if codec == "zstd" else count)
    assert worker.alive


TINY, BATCHES = 40_000, 8
"""Records of no bytes in a batch, and such batches."""


def test_records_of_no_bytes_hold_up_nobody_and_are_told_together(told: Told) -> None:
    """Some hundred thousand of them take a few hundred kilobytes on their way."""
    fleet, worker = told.fleet, told.worker
    before, known = worker.rss_mb(), letters(fleet)
    options = {"compression.type": "gzip", "message.max.bytes": 10**9, "batch.size": 10**9}
    options |= {"batch.num.messages": TINY, "queue.buffering.max.messages": 2 * TINY * BATCHES}
    client = producer(fleet.settings, **options, **{"linger.ms": 30_000})
    for _ in range(TINY * BATCHES):
        client.produce(BY_SHORT[BASE].name, b"", b"", partition=0)
    assert client.flush(60) == 0
    author = Author(fleet.settings)
    behind, beside = (author.ask(proposal(job_in(p, "tiny"))) for p in (0, 1))
    author.settle()
    most = before
    while len(verdicts(fleet.settings, [behind, beside])) < 2:
        most = max(most, worker.rss_mb())
    said = {
        getattr(one.read.record.body, "change_id", None): one.read.at_ms
        for one in decisions(fleet.settings)
    }
    assert most - before < BOMB_MB
    new = [one for name, one in letters(fleet).items() if name not in known]
    assert said[beside] < max(one.at_ms for one in new) <= said[behind]
    assert sum(records_of(one) for one in new) == TINY * BATCHES
    assert len(new) < TINY * BATCHES // 100
    places = {header(one, "place") for one in new}
    assert places == {f"{BASE}/0"}
    spans = sorted((int(header(one, "offset")), int(header(one, "last_offset"))) for one in new)
    assert all(last + 1 == first for (_, last), (first, _) in pairwise(spans))
    metric = "turbine_records_unreadable_total"
    assert worker.metric(metric, reason="not-framed") >= TINY * BATCHES


def test_a_time_is_found_beside_what_would_end_the_broker(told: Told) -> None:
    """It would inflate the batch on its heap, to look for the time in it."""
    settings, at = told.fleet.settings, f"{BASE}/0"
    lies = [
        int(said.partition("@")[2])
        for codec, size in [("zstd", 400_000_000), ("none", 1), ("zstd", 400_000_000)]
        for said in batch(told.fleet.settings, codec, 1, size)
    ]
    [[one]] = read_span(settings, {at: (lies[1], lies[1] + 1)})
    assert times_now(settings, [at], one.at_ms) == {at: lies[1]}
    assert times_now(settings, [at], one.at_ms + 1) == {at: lies[2] + 1}
    append_times = AppendTimes(settings)
    assert append_times.possible(at, lies[1] + 1, one.at_ms) is True
    assert append_times.possible(at, lies[1] + 1, one.at_ms - 1) is False
    append_times.close()
    [last] = [[m.offset for m in some] for some in read_slices(settings, {at: (lies[1], lies[2])})]
    assert last == [lies[1]]
    assert ends_now(settings, [at]) == {at: lies[2] + 1}


@pytest.mark.parametrize("codec", ["gzip", "lz4"])
def test_what_a_topic_of_requests_does_not_take_its_author_is_told(told: Told, codec: str) -> None:
    assert batch(told.fleet.settings, codec, 400) == {"MSG_SIZE_TOO_LARGE"}


def test_a_name_of_a_header_that_is_no_text_ends_nobody(told: Told) -> None:
    """Both clients fail to read it; a worker that restarts meets it again by the other one."""
    fleet, at = told.fleet, partition_of("raw", PARTITIONS)
    bootstrap, name, value = fleet.broker.bootstrap, BY_SHORT[BASE].name, encode(proposal("raw"))
    offsets = [
        produce_raw(bootstrap, name, at, key=b"raw", value=value, headers=[(named, b"value")])
        for named in (b"\xff\xfe", b"name")
    ]
    lies = f"{BASE}/{at}@{offsets[0]}"
    until(lambda: lies in letters(fleet), "its letter", pause_s=0.2)
    letter = letters(fleet)[lies]
    assert header(letter, "reason") == "malformed-headers"
    assert header(letter, "sentence").endswith("the name of a header is not UTF-8; encode it so")
    until(lambda: decided(fleet, "raw") == 1, "a verdict on the one behind it", pause_s=0.2)
    assert told.worker.alive


def decided(fleet: Fleet, job: str) -> int:
    return sum(one.stands and one.read.record.key == job for one in decisions(fleet.settings))


def test_memory_stays_flat_in_a_flood_of_bad_ones(told: Told) -> None:
    fleet, worker = told.fleet, told.worker
    chance = random.Random(7)
    kinds = [case for case in told.sent if not case.rejected and case.becomes not in (VOID, TAKEN)]
    large = sum(case.becomes == "too-large" for case in kinds)
    assert large
    before = worker.rss_mb()
    flood = Senders(fleet.settings)
    for number in range(FLOOD):
        case = chance.choice(kinds)
        # Keys that were never seen before, so that whatever is remembered by key grows.
        key = case.key if case.partition is not None else f"flood-{number}".encode()
        at = case.at if case.partition is not None else partition_of(key or b"", PARTITIONS)
        flood.of(case).produce(
            BY_SHORT[case.topic].name, key=key, value=case.value, partition=at, headers=case.headers
        )
        flood.of(case).poll(0)
    flood.settle()
    author = Author(fleet.settings)
    asked = [author.ask(proposal(job_in(p, "behind-the-flood"))) for p in range(PARTITIONS)]
    author.settle()
    all_answered(fleet.settings, asked)
    assert worker.alive
    assert worker.rss_mb() - before < GROWTH_MB


def test_all_that_was_decided_comes_out_again_of_the_log(told: Told) -> None:
    """By the plain reader, which has seen none of it live."""
    found = all_derive(told.fleet.settings)
    assert found["same"] > len(told.sent) / 2


def test_the_world_is_told_what_stands_beside_the_forgeries(told: Told) -> None:
    all_published(told.fleet.settings)


# --- decisions that this build cannot read


def _newer_build(directory: Path, schema_id: int) -> Path:
    """A copy of `events` whose lock has one version more, for PYTHONPATH."""
    shutil.copytree(ROOT / "events", directory / "events")
    lock = directory / "events" / "schemas" / "lock.json"
    versions = json.loads(lock.read_text())
    [known] = [one for one in versions if one["name"] == "OverrideExpired"]
    versions.append(known | {"id": schema_id, "released": False})
    lock.write_text(json.dumps(versions))
    return directory


def _decide(fleet: Fleet, job: str, kind: str, schema_id: int) -> Record:
    """The next child of the job's chain, under a schema that this build does not know."""
    chain = [one.read.record for one in decisions(fleet.settings) if one.read.record.key == job]
    body = OverrideExpired(
        job, "oncall", 2, LayerVersions(1, 0, 0, 2), "{}", expires_ms=1_763_476_000_000
    )
    value = b"\0" + schema_id.to_bytes(4, "big") + encode(body)[5:]
    record = Record(job, f"newer-{job}", kind, value, None, chain[-1].id, source="newer")
    speaker = producer(fleet.settings)
    speaker.produce(
        BY_SHORT["journal.v1"].name,
        key=job.encode(),
        value=value,
        partition=partition_of(job, PARTITIONS),
        headers=headers_of(record, "journal.v1"),
    )
    assert speaker.flush(60) == 0
    return record


def test_an_unreadable_decision_freezes_its_key_until_a_build_reads_it(
    told: Told, tmp_path: Path
) -> None:
    fleet, worker = told.fleet, told.worker
    alerts = Subscriber(fleet.settings, topic="alerts.v1", start="earliest")
    author = Author(fleet.settings)
    frozen, moved = job_in(1, "frozen"), job_in(2, "moved")
    for job in (frozen, moved):
        verdict(fleet.settings, author.ask(proposal(job)))
    assert worker.metric("turbine_keys_frozen") == 0
    said = [
        _decide(fleet, frozen, "OverrideExpired", 9_999),
        _decide(fleet, moved, "JobMoved", 9_998),  # a type that another component made
    ]
    until(lambda: worker.metric("turbine_keys_frozen") == 2, "the keys are frozen")
    raised: dict[str, str] = {}
    until(
        lambda: (
            raised.update((a.body.subject, a.body.alert) for a in alerts.poll(0.1))
            or len(raised) == len(said)
        ),
        "an alert about each",
    )
    alerts.close()
    assert raised == dict.fromkeys((frozen, moved), "unreadable-decision")
    waiting = author.ask(proposal(frozen, set_json='{"tasks": 2}'))
    other = author.ask(proposal(job_in(1, "beside"), set_json='{"tasks": 2}'))
    # The one that came later, in the same partition, is answered; so the first was passed over.
    assert verdict(fleet.settings, other).reason == "no-such-job"
    assert [one for one in decisions(fleet.settings) if _answers(one, waiting)] == []
    worker.kill()
    newer = _newer_build(tmp_path / "newer", 9_999)
    again = fleet.worker("w0", metrics=True, PYTHONPATH=f"{newer}:{ROOT}")
    assert verdict(fleet.settings, waiting).version == 2
    until(lambda: again.metric("turbine_keys_frozen") == 1, "only the other is frozen still")


def _answers(one: object, change_id: str) -> bool:
    return getattr(one.read.record.body, "change_id", None) == change_id  # type: ignore[attr-defined]  # a finding
