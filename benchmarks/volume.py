"""What the log of a fleet costs: bytes on a broker's disk by topic, of 1,000 scripted jobs."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from benchmarks.figures import Result, say
from benchmarks.installation import Installation, install
from benchmarks.volume_play import START_MS, Partition, Written, play
from benchmarks.volume_tiers import Size, capacity_bytes, snapshot_bytes
from benchmarks.volume_words import words
from components.auto_scaler.decide import component as auto_scaler
from components.clock.core.pace import WATCHED, Spot, TickPace
from components.publisher.decide import OUTLETS
from components.runtime.core.commits import Commits
from components.runtime.core.component import places_of
from components.runtime.core.step import Stepper
from components.runtime.core.store import KEEP_MOST, POSITIONS
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.intake import DeadLetter, Message, take_in
from components.runtime.tier.rows import SNAPSHOT_EVERY_S, period_s
from components.shard_manager.decide import component as shard_manager
from events.topics import (
    BY_SHORT,
    CLOCK,
    CONTAINERS,
    DEFAULT_PARTITIONS,
    JOURNAL,
    LOADS,
    PUBLISHER,
    TIERS,
    place,
    rows_topic,
    short_of,
)
from infra.kafka.broker import Broker, temporary_broker
from turbine_client.clients import (
    PACKED,
    producer,
)
from turbine_client.reading import ends_now
from turbine_client.settings import Settings

JOBS, TASKS = 1_000, 3
DENSE = 500
"""Jobs of a partition: about as many as 10,000 have in 16."""
FULL_S, HOUR_S = 7_800, 3_600
"""Until all that a row remembers is there; then the hour that is measured."""
DAY_S, HOURS = 86_400, 24
LARGE_JOBS, LARGE_TASKS, LARGE_CONTAINERS, LARGE_SHARDS = 10_000, 30_000, 3_000, 100_000
RESCALES, DECLINES = 4, 40
"""Of a job and day: a guess from what three jobs did in an hour, the same as before."""
MOVED_SHARE, PLACED_S = 0.01, 1_800
"""Of the shards in a round of placement, and how often there is one."""
BEAT_S, REPORT_S, SHARDS_S = 5, 60, 600
"""The usual times of containers: a heartbeat, a task's load, the loads of its shards."""
IDLE_TASKS, IDLE_CONTAINERS = (2, 2, 3), 2
"""The demo's fleet, of each of its jobs."""
SNAPSHOT_RECORDS, TIER_WIDE = 2, 2
"""A chunk and its marker; the shard manager's and the capacity manager's."""
SAMPLE = 200
"""Containers that say something, so that it is known what a word of theirs costs."""
TICKS_S, WAIT_S, PAUSE_S = 60.0, 60.0, 0.2
GB = 1e9
SCALER_ROWS, PUBLISHED_ROWS = (rows_topic(one).short for one in ("auto-scaler", PUBLISHER))
ALONE = frozenset({"facts", "ingress", "operator"})
Costs = Mapping[tuple[str, str], "Cost"]
NOTES = (
    "an hour played in memory by the real components and keepers, then written to a broker as who",
    "  says it writes; bytes are those of its segments, before replication",
    "gb_per_day_10k_jobs: 10,000 jobs, 30,000 tasks, 3,000 containers, 100,000 shards, at usual",
    f"  times; {DECLINES} looks that come to nothing and {RESCALES} rescales of a job and day, 1 %",
    "  of the shards moved in each round of placement; tier-wide snapshots by their own size",
    "idle_records_per_day: three jobs, seven tasks, two containers, usual times (at a tenth of",
    "  them heartbeats alone are 345,600); without offsets: idle_commits_per_day",
    f"reread_s: CPU to read {KEEP_MOST:,} reports of each of 16 partitions again, after a failure",
    "peer: every changed row is kept with each report, and nothing is packed",
)


class Ticks(NamedTuple):
    """A second of them."""

    records: float
    bytes: float


@dataclass(slots=True)
class Cost:
    """What the records of a kind cost on disk, and how many there were."""

    records: int = 0
    bytes: float = 0.0

    @property
    def each(self) -> float:
        """Bytes of one; 0 where there was none."""
        return self.bytes / self.records if self.records else 0.0


def measure(quick: bool) -> Result:
    """The hour is played in memory, and written to a broker as those who say it write."""
    jobs = JOBS // 10 if quick else JOBS
    hour = [one for number in range(-(-jobs // DENSE)) for one in _hour(number, jobs)]
    say("an hour of a quiet fleet")
    idle = _idle()
    with temporary_broker() as broker, install(bootstrap=broker.bootstrap) as site:
        say("the hour goes to a broker")
        shards = LARGE_SHARDS // LARGE_CONTAINERS
        told = words(SAMPLE, shards, LARGE_TASKS // LARGE_CONTAINERS)
        costs = _costs(broker, site.settings, [*hour, *told])
        say("the clock ticks")
        ticks = _ticks(broker, site)
    say("what is kept of tiers")
    day = day_of(costs, ticks.bytes, LARGE_JOBS / jobs)
    day["snapshots"] = _snapshots(hour, LARGE_JOBS / jobs) * DAY_S
    lives = IDLE_CONTAINERS * (DAY_S / BEAT_S + DAY_S / SHARDS_S)
    snapshots = TIER_WIDE * SNAPSHOT_RECORDS * DAY_S / SNAPSHOT_EVERY_S
    figures = {
        "gb_per_day_10k_jobs": sum(day.values()) / GB,
        "idle_records_per_day": (idle.records + idle.ticks) * HOURS + lives + snapshots,
        "idle_ticks_per_day": idle.ticks * HOURS,
        "idle_commits_per_day": idle.committed * HOURS,
        "ticks_per_s": ticks.records,
        "reread_s": DEFAULT_PARTITIONS * _reread_s(hour),
        "jobs": jobs,
        "records": len(hour),
    }
    figures |= {f"gb_per_day_{name.replace('-', '_')}": size / GB for name, size in day.items()}
    rows = [
        {"topic": topic, "record": kind, "records": one.records, "bytes_each": one.each}
        for (topic, kind), one in sorted(costs.items())
    ]
    return Result("volume", figures, _peers(hour, day), NOTES, rows)


def _hour(number: int, jobs: int) -> list[Written]:
    names = [f"job-{one:05d}" for one in range(number * DENSE, min(jobs, (number + 1) * DENSE))]
    say(f"partition {number}: {len(names)} jobs, {(FULL_S + HOUR_S) // 60} minutes of theirs")
    partition = Partition(number, names, TASKS)
    partition.create()
    play(partition, FULL_S)
    return play(partition, HOUR_S, names[: len(names) * RESCALES // HOURS])


def _snapshots(hour: Sequence[Written], times: float) -> float:
    """Bytes a second of both tier-wide components, at the large fleet."""
    size = Size(LARGE_CONTAINERS, LARGE_SHARDS, LARGE_JOBS, LARGE_TASKS)
    each = snapshot_bytes(shard_manager, size, []), round(capacity_bytes(size, hour, times))
    return sum(one / period_s(one) for one in each)


def _reread_s(hour: Sequence[Written]) -> float:
    """CPU seconds to decode and fold what a restart may have to read again of one partition."""
    told = [one for one in hour if one.topic == LOADS][:KEEP_MOST]
    owner: Stepper[Any] = Stepper(auto_scaler, places_of(auto_scaler, [0]), lambda *_: True)
    since = time.process_time()
    for offset, one in enumerate(told):
        message = Message(LOADS, 0, offset, START_MS + offset, one.key, one.value, one.headers)
        found = take_in(message, 1, auto_scaler.folds)
        assert not isinstance(found, DeadLetter), found
        owner.read(found)
    assert owner.counts.folded == len(told)
    return (time.process_time() - since) * KEEP_MOST / len(told)


class Idle(NamedTuple):
    """An hour in which nobody asks for anything."""

    records: int  # of jobs, and of rows
    ticks: int
    committed: int  # offsets


def _idle() -> Idle:
    """The second hour of it: then the clock has come to know where nothing goes on."""
    tasks = [*IDLE_TASKS, *[0] * (DEFAULT_PARTITIONS - len(IDLE_TASKS))]
    fleet = [
        Partition(number, [f"job-{number}"] if count else [], count)
        for number, count in enumerate(tasks)
    ]
    for partition in fleet:
        partition.create()
    pace, commits = TickPace(len(fleet), 0), Commits()
    _hour_of(fleet, pace, commits, 0)
    for partition in fleet:
        partition.out = []
    ticks, committed = _hour_of(fleet, pace, commits, HOUR_S)
    return Idle(sum(len(partition.out) for partition in fleet), ticks, committed)


def _hour_of(
    fleet: Sequence[Partition], pace: TickPace, commits: Commits, begin: int
) -> tuple[int, int]:
    """Ticks of the clock, and offsets that are committed."""
    ticks = committed = 0
    lives = Counter[Spot]()  # of the first partitions, each with one container
    for second in range(begin, begin + HOUR_S):
        positions = {at: end for one in fleet for at, end in one.positions().items()}
        told = {(short_of(name), number): end for (name, number), end in positions.items()}
        lives.update({(CONTAINERS, n): second % BEAT_S == n for n in range(IDLE_CONTAINERS)})
        pace.look({spot: end for spot, end in told.items() if spot[0] in WATCHED} | lives, second)
        due = set(pace.due(second))
        lives.update(spot for spot in due if spot in lives)
        ticks += len(due)
        for partition in fleet:
            partition.second(tick=(CLOCK, partition.number) in due)
        moved = commits.moved(positions)
        commits.done(moved)
        committed += len(moved)
    return ticks, committed


# --- on the broker


def _costs(broker: Broker, settings: Settings, written: Sequence[Written]) -> Costs:
    """By topic and kind. What a record costs beyond its payload is the same for all of a topic."""
    payload = Counter[tuple[str, str]]()
    records = Counter[tuple[str, str]]()
    for one in written:
        payload[one.topic, one.kind] += one.size
        records[one.topic, one.kind] += 1
    _write(settings, written)
    costs: dict[tuple[str, str], Cost] = {}
    for topic in {topic for topic, _ in records}:
        kinds = [at for at in records if at[0] == topic]
        more = _disk(broker, topic) - sum(payload[at] for at in kinds)
        count = sum(records[at] for at in kinds)
        for at in kinds:
            costs[at] = Cost(records[at], payload[at] + more * records[at] / count)
    return costs


def _disk(broker: Broker, topic: str) -> int:
    """Bytes of all segments of the topic."""
    segments = broker.directory.rglob(f"{BY_SHORT[topic].name}-*/*.log")
    return sum(segment.stat().st_size for segment in segments)


def _write(settings: Settings, written: Iterable[Written]) -> None:
    """Decisions and rows of a turn together; each fact alone, as another container says it. The
    publisher's rows are not packed: they go with what clients of all kinds have to read."""
    alone = Emitter(producer(settings, **{"batch.num.messages": 1}), settings.prefix)
    together = Emitter(producer(settings), settings.prefix)
    rows = Emitter(producer(settings, **PACKED), settings.prefix)
    for _, turn in groupby(written, key=lambda one: one.turn):
        used = set[Emitter]()
        for one in turn:
            kind = BY_SHORT[one.topic].kind
            packed = kind == "rows" and one.topic != PUBLISHED_ROWS
            by = rows if packed else alone if kind in ALONE else together
            by.write(one.topic, 0, one.key, one.value, one.headers)
            used.add(by)
        for by in used - {alone}:
            by.settle()
    alone.settle()


def _ticks(broker: Broker, site: Installation) -> Ticks:
    """What the clock says, on a log on which nothing else happens."""
    site.serve("clock")
    places = [place(topic, p) for topic in (CLOCK, CONTAINERS) for p in range(DEFAULT_PARTITIONS)]
    before = _await(lambda: ends_now(site.settings, places), lambda ends: min(ends.values()) > 0)
    since, size = time.monotonic(), _disk(broker, CLOCK) + _disk(broker, CONTAINERS)
    time.sleep(TICKS_S)
    after, took = ends_now(site.settings, places), time.monotonic() - since
    size = _disk(broker, CLOCK) + _disk(broker, CONTAINERS) - size
    return Ticks((sum(after.values()) - sum(before.values())) / took, size / took)


def _await(
    ask: Callable[[], dict[str, int]], enough: Callable[[dict[str, int]], bool]
) -> dict[str, int]:
    limit = time.monotonic() + WAIT_S
    while not enough(found := ask()) and time.monotonic() < limit:
        time.sleep(PAUSE_S)
    return found


# --- the arithmetic


def day_of(costs: Costs, ticks: float, times: float) -> dict[str, float]:
    """Bytes of a day of the large fleet, which has `times` as many jobs as were played; `ticks` are
    bytes a second."""

    def each(topic: str, kind: str) -> float:
        found = costs.get((topic, kind), Cost())
        return found.each

    declined = DECLINES * LARGE_JOBS * each(JOURNAL, "ScalingDeclined")
    journal = {
        kind: one.bytes * HOURS * times
        for (topic, kind), one in costs.items()
        if topic == JOURNAL and kind != "ScalingDeclined"
    }
    journal["ScalingDeclined"] = declined
    moves = MOVED_SHARE * LARGE_SHARDS * DAY_S / PLACED_S
    asked = each(TIERS, "ShardDropRequested") + each(TIERS, "ShardAddRequested")
    done = each(CONTAINERS, "ShardDropped") + each(CONTAINERS, "ShardAdded")
    lives = LARGE_CONTAINERS * DAY_S
    rest = defaultdict[str, float](float)
    for (topic, _), one in costs.items():
        if topic not in {JOURNAL, LOADS, TIERS, CONTAINERS}:
            rest[topic.removesuffix(".v1").replace(".", "_")] += one.bytes * HOURS * times
    return {
        "ticks": ticks * DAY_S,
        "heartbeats": lives / BEAT_S * each(CONTAINERS, "ContainerHeartbeat"),
        "loads": LARGE_TASKS * DAY_S / REPORT_S * each(LOADS, "TaskLoadReported"),
        "shard_loads": lives / SHARDS_S * each(CONTAINERS, "ShardLoadsReported"),
        "journal": sum(journal.values()),
        "outcomes": sum(size for kind, size in journal.items() if kind in OUTLETS),
        "moves": moves * (asked + done),
    } | dict(rest)


def _peers(hour: Sequence[Written], day: Mapping[str, float]) -> dict[str, float]:
    """A row of the scaler with each report, as it is then, and nothing packed."""
    rows = [one.size for one in hour if one.topic == SCALER_ROWS and one.key != POSITIONS.encode()]
    size = sum(rows) / len(rows)
    reports = LARGE_TASKS * DAY_S / REPORT_S
    others = sum(bytes_ for name, bytes_ in day.items() if name != "rows_auto_scaler")
    return {
        "gb_per_day_10k_jobs_a_row_each_report": (reports * size + others) / GB,
        "scaler_row_bytes": size,
    }
