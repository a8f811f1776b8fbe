"""Lag of the past: what tasks reported of their partitions, nothing from a broker."""

from __future__ import annotations

from events.generated.records import PartitionLag
from tests.unit.turbine.test_lag import NOW, FakeLog, report
from turbine.read.answers.lag import JobBehind, PartitionBehind, lag
from turbine.read.answers.lines import lines_of
from turbine.read.state.notes import FRESH_MS


def parts(*lags: int | None) -> tuple[PartitionLag, ...]:
    return tuple(PartitionLag("clicks", number, lag) for number, lag in enumerate(lags))


def looked(fake: FakeLog) -> tuple[JobBehind, list[PartitionBehind]]:
    view = fake.view()
    [job] = lag(view, lines_of(view))
    assert isinstance(job, JobBehind)
    found = lag(view, lines_of(view), "partition")
    known = [part for part in found if isinstance(part, PartitionBehind)]
    return job, sorted(known, key=lambda part: part.name)


def test_each_partition_has_what_its_own_task_told() -> None:
    fake = FakeLog()
    fake.load(report(0, partitions=parts(7, 5)))
    fake.load(report(1, partitions=(PartitionLag("clicks", 2, 1), PartitionLag("clicks", 3))))
    job, rows = looked(fake)
    assert [row.lag_records for row in rows] == [7, 5, 1, None]
    assert {(row.committed, row.end) for row in rows} == {(None, None)}
    assert (job.lag_records, job.lag_records_min, job.unknown_partitions) == (None, 13, 1)
    assert fake.asked == []


def test_a_task_that_tells_no_partitions_tells_their_sum() -> None:
    fake = FakeLog()
    fake.load(report(0, lag_records=30))
    job, _ = looked(fake)
    assert (job.lag_records, job.lag_records_min) == (None, 30)
    fake.load(report(1, lag_records=12))
    job, _ = looked(fake)
    assert (job.lag_records, job.lag_records_min) == (42, 42)


def test_what_was_reported_long_before_is_unknown() -> None:
    for at_ms, known in ((NOW - FRESH_MS - 1, 0), (NOW - FRESH_MS, 2)):
        fake = FakeLog()
        fake.load(report(0, partitions=parts(7, 5)), at_ms)
        _, rows = looked(fake)
        assert sum(row.lag_records is not None for row in rows) == known
