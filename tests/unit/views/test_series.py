"""What jobs did minute by minute, and the bounds of what is held of it."""

from __future__ import annotations

from events.generated.records import Generation, TaskLoadReported
from turbine.read.state.notes import Loads
from turbine.read.state.series import HOUR, MEASURES, MINUTE_MS, Series
from turbine.read.state.starts import Starts
from turbine.read.state.together import together

HOUR_MS = HOUR * MINUTE_MS


def report(task: int, rate: float, **more: object) -> TaskLoadReported:
    told: dict[str, object] = {
        "records_in_per_s": rate,
        "records_out_per_s": rate / 2,
        "bytes_in_per_s": None,
        "bytes_out_per_s": None,
        "lag_records": 10,
        "lag_ms": 1_500,
        "cpu_cores": 0.5,
    }
    return TaskLoadReported(
        job="a",
        task=task,
        generation=Generation(1, 1),
        epoch=1,
        count=1,
        window_ms=MINUTE_MS,
        **(told | more),  # type: ignore[arg-type]  # each as its field
    )


def loads(*reports: TaskLoadReported, at_ms: int, specs: int = 1) -> Loads:
    found: Loads = Loads()
    for one in reports:
        found = found.set(one.task, ((specs, 1, 1, 1), one, at_ms))
    return found


class Desk(Series):
    """Jobs whose tasks report all at once."""

    def __init__(self, **bounds: int) -> None:
        super().__init__(**bounds)
        self.known: dict[str, Loads] = {}


def said(series: Desk, at_ms: int, *reports: TaskLoadReported, job: str = "a") -> None:
    """The job's tasks report."""
    series.loaded(job, at_ms, series.known.get(job, Loads()))
    series.known[job] = loads(*reports, at_ms=at_ms)
    series.settle(series.known)


def test_a_point_is_what_all_tasks_do_together() -> None:
    series = Desk()
    said(series, 0, report(0, 100.0), report(1, 50.0, lag_ms=3_000))
    found = series.points("a", 0, MINUTE_MS, 1)
    assert {name: found[name] for name in MEASURES} == {
        "rate_in": [150.0],
        "rate_out": [75.0],
        "lag_seconds": [3.0],
        "lag_records": [20.0],
        "tasks": [2.0],
        "cores": [1.0],
    }


def test_unknown_is_never_zero() -> None:
    series = Desk()
    said(series, 0, report(0, 100.0, lag_records=None), report(1, 50.0))
    found = series.points("a", 0, 2 * MINUTE_MS, 2)
    assert (found["lag_records"], found["rate_in"]) == ([None, None], [150.0, None])
    assert series.points("b", 0, MINUTE_MS, 1)["tasks"] == [None]


def test_a_minute_ends_with_what_was_known_before_the_next() -> None:
    series, first = Desk(), loads(report(0, 100.0), at_ms=1_000)
    series.loaded("a", 1_000, Loads())
    series.loaded("a", MINUTE_MS + 1_000, first)
    series.settle({"a": loads(report(0, 300.0), at_ms=MINUTE_MS + 1_000)})
    assert series.points("a", 0, 2 * MINUTE_MS, 2)["rate_in"] == [100.0, 300.0]


def test_buckets_are_means_and_many_are_as_fine_as_minutes() -> None:
    series = Desk()
    for minute in range(4):
        said(series, minute * MINUTE_MS, report(0, 100.0 * minute))
    assert series.points("a", 0, 4 * MINUTE_MS, 2)["rate_in"] == [50.0, 250.0]
    assert series.points("a", 0, MINUTE_MS, 3)["rate_in"] == [0.0, 0.0, 0.0]


def test_a_day_is_held_by_minutes_and_what_is_older_by_hours() -> None:
    series = Desk(fine=2, coarse=4)
    for minute in range(2 * HOUR):
        said(series, minute * MINUTE_MS, report(0, float(minute)))
    fine = series.bytes
    assert series.points("a", 0, 2 * MINUTE_MS, 2)["rate_in"] == [0.0, 1.0]
    said(series, 2 * HOUR_MS, report(0, 7.0))
    assert series.bytes < fine * 3 // 2, "the first hour has one point now"
    assert series.points("a", 0, 2 * MINUTE_MS, 2)["rate_in"] == [29.5, 29.5]
    said(series, 3 * HOUR_MS, report(0, 7.0))
    assert series.points("a", 0, HOUR_MS, 1)["rate_in"] == [29.5], "at the bound"
    said(series, 4 * HOUR_MS, report(0, 7.0))
    assert series.points("a", 0, HOUR_MS, 1)["rate_in"] == [None], "beyond it"
    held = series.bytes
    said(series, 0, report(0, 5.0))
    assert (series.points("a", 0, HOUR_MS, 1)["rate_in"], series.bytes) == ([None], held)


def test_five_thousand_jobs_fit_and_a_job_more_has_room() -> None:
    series = Desk(fine=24, coarse=48)
    for number in range(100):
        said(series, 0, report(0, float(number)), job=f"j{number}")
    said(series, HOUR_MS, report(0, 1.0), job="j0")
    assert series.points("j99", 0, MINUTE_MS, 1)["rate_in"] == [99.0]
    per_job_hour = 4 * len(MEASURES) * HOUR
    assert series.bytes <= 2 * 125 * per_job_hour
    assert 5_000 * per_job_hour * 24 < 200_000_000, "of a day of five thousand jobs"


def test_it_is_kept_and_put_back() -> None:
    series, again = Desk(), Desk()
    pieces = []
    for minute in range(3):
        said(series, minute * MINUTE_MS, report(0, 10.0 * minute), job=f"j{minute}")
        pieces.append(series.take_new())
    again.put_back(pieces)
    for job in ("j0", "j1", "j2"):
        assert again.points(job, 0, HOUR_MS, 60) == series.points(job, 0, HOUR_MS, 60)


# --- what holds, and where it begins


def test_tasks_are_not_more_before_what_they_follow_from() -> None:
    """Scaled in the second half of a minute: in its first half the job had one task still."""
    series = Desk()
    said(series, 0, report(0, 10.0))
    late = MINUTE_MS + 40_000
    said(series, late, report(0, 10.0), report(1, 10.0))
    found = series.points("a", 0, 2 * MINUTE_MS, 8)
    assert found["tasks"] == [None, None, None, None, 1.0, 1.0, 2.0, 2.0]
    said(series, 2 * MINUTE_MS, report(0, 10.0), report(1, 10.0))
    found = series.points("a", MINUTE_MS, 3 * MINUTE_MS, 8)
    assert found["tasks"] == [1.0] * 4 + [2.0] * 4


def test_tasks_that_are_not_heard_of_any_more_are_unknown() -> None:
    series = Desk()
    said(series, 0, report(0, 10.0))
    assert series.points("a", 0, 4 * MINUTE_MS, 4)["tasks"] == [1.0, 1.0, None, None]


def test_a_series_begins_where_the_first_is_known() -> None:
    series = Desk()
    said(series, 3 * MINUTE_MS, report(0, 10.0))
    said(series, 7 * MINUTE_MS, report(0, 10.0), job="b")
    assert series.begins_ms("a", 0, HOUR_MS) == series.begins_ms(None, 0, HOUR_MS) == 3 * MINUTE_MS
    assert series.begins_ms("b", 0, HOUR_MS) == 7 * MINUTE_MS
    assert series.begins_ms(None, 3 * MINUTE_MS + 9, HOUR_MS) == 3 * MINUTE_MS + 9
    assert series.begins_ms("b", 0, 7 * MINUTE_MS) is None
    assert series.begins_ms("nobody", 0, HOUR_MS) is None


# --- all jobs


def test_all_jobs_together_are_a_sum_and_the_worst() -> None:
    series = Desk()
    said(series, 0, report(0, 100.0, lag_ms=9_000), job="a")
    said(series, 0, report(0, 50.0, lag_ms=None), report(1, 50.0, lag_ms=None), job="b")
    found = together(series, 0, MINUTE_MS, 1)
    assert found == {
        "t_ms": [0],
        "rate_in": [200.0],
        "lag_seconds": [9.0],
        "tasks": [3.0],
        "cores": [1.5],
        "jobs": [2.0],
        "lag_unknown": [1.0],
        "restarts": [0],
    }


def test_a_job_that_skips_a_minute_is_not_missing_from_the_sum() -> None:
    """Its report fell just beyond the minute; over two minutes nobody knows."""
    series = Desk()
    for minute in range(6):
        said(series, minute * MINUTE_MS, report(0, 100.0), job="a")
        if minute in (0, 2, 5):
            said(series, minute * MINUTE_MS, report(0, 10.0), job="b")
    found = together(series, 0, 6 * MINUTE_MS, 6)
    assert found["rate_in"] == [110.0, 110.0, 110.0, 110.0, 100.0, 110.0]
    assert found["jobs"] == [2.0, 2.0, 2.0, 2.0, 1.0, 2.0]


def test_of_no_job_nothing_is_known() -> None:
    found = together(Desk(), 0, MINUTE_MS, 2)
    assert found["rate_in"] == found["lag_seconds"] == found["jobs"] == [None, None]


def test_the_lag_of_a_bucket_is_its_worst() -> None:
    series = Desk()
    for minute in range(4):
        said(series, minute * MINUTE_MS, report(0, 1.0, lag_ms=1_000 * (1 + minute)))
    assert together(series, 0, 4 * MINUTE_MS, 2)["lag_seconds"] == [2.0, 4.0]


def test_restarts_are_counted_by_minutes_and_kept() -> None:
    series, again = Desk(), Desk()
    for at_ms in (0, 10_000, 3 * MINUTE_MS):
        series.started(at_ms)
    assert together(series, 0, 4 * MINUTE_MS, 4)["restarts"] == [2, 0, 0, 1]
    assert together(series, 5_000, 4 * MINUTE_MS, 1)["restarts"] == [3]
    again.put_back([series.take_new(), series.take_new()])
    assert again.starts.by_minute() == series.starts.by_minute() == [(0, 2), (3, 1)]


def test_restarts_are_held_for_so_many_minutes() -> None:
    starts = Starts(minutes=2)
    for minute in range(3):
        starts.add(minute)
    assert starts.by_minute() == [(1, 1), (2, 1)]
