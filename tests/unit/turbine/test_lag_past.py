"""`get lag` of the past: what tasks reported of their partitions, nothing from a broker."""

from __future__ import annotations

from typing import cast

from events.generated.records import PartitionLag
from projections import lists
from projections.jobs import Job, LayerState
from tests.unit.turbine.test_lag import FakeLog, read_of, report, specs
from turbine.read.answers.lag import behind_then, look_back, to_plain
from turbine.read.sources.log import Log
from turbine.read.state.notes import FRESH_MS, UNLOADED, Notes, loaded
from turbine.read.state.view import JobView

NOW = 10**15


def parts(*lags: int | None) -> tuple[PartitionLag, ...]:
    return tuple(PartitionLag("clicks", number, lag) for number, lag in enumerate(lags))


def looked(fake: FakeLog) -> tuple[dict[str, object], list[dict[str, object]]]:
    _, [behind] = look_back(cast("Log", fake), ["orders"], NOW)
    [job] = to_plain(behind, "job")
    return job, sorted(to_plain(behind, "partition"), key=lambda row: str(row["name"]))


def test_each_partition_has_what_its_own_task_told() -> None:
    fake = FakeLog()
    fake.load(report(0, partitions=parts(7, 5)), NOW)
    fake.load(report(1, partitions=(PartitionLag("clicks", 2, 1), PartitionLag("clicks", 3))), NOW)
    job, rows = looked(fake)
    assert [row["lag_records"] for row in rows] == [7, 5, 1, None]
    assert {(row["committed"], row["end"]) for row in rows} == {(None, None)}
    assert (job["lag_records"], job["lag_records_min"], job["unknown_partitions"]) == (None, 13, 1)
    assert fake.asked == []


def test_a_task_that_tells_no_partitions_tells_their_sum() -> None:
    fake = FakeLog()
    fake.load(report(0, lag_records=30), NOW)
    job, _ = looked(fake)
    assert (job["lag_records"], job["lag_records_min"]) == (None, 30)
    fake.load(report(1, lag_records=12), NOW)
    job, _ = looked(fake)
    assert (job["lag_records"], job["lag_records_min"]) == (42, 42)


def test_what_was_reported_long_before_is_unknown() -> None:
    fake = FakeLog()
    for at_ms, known in ((NOW - FRESH_MS - 1, 0), (NOW - FRESH_MS, 2)):
        fake.load(report(0, partitions=parts(7, 5)), at_ms)
        _, rows = looked(fake)
        assert sum(row["lag_records"] is not None for row in rows) == known


def test_what_was_reported_long_before_is_unknown_to_who_has_folded_it_too() -> None:
    fake, job = (
        FakeLog(),
        Job("orders", True, (LayerState(1), LayerState(), LayerState(), LayerState())),
    )
    notes = Notes(lists=lists.fold(None, read_of(specs(2, (0, 1), (2, 3)))))
    for at_ms, known in ((NOW - FRESH_MS, 0), (NOW - FRESH_MS + 1, 2)):
        reports = loaded(UNLOADED, read_of(report(0, partitions=parts(7, 5)), at_ms=at_ms))
        seen = [JobView(job, fake.fleet.row, notes, reports)]
        _, [behind] = behind_then(seen, ["orders"], NOW)
        rows = list(to_plain(behind, "partition"))
        assert (len(rows), sum(row["lag_records"] is not None for row in rows)) == (4, known)
