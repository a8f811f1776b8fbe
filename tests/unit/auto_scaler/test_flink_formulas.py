"""The formulas of Flink's autoscaler, held against the figures of its own tests; their edges."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from components.auto_scaler.core.policies.flink import formulas as f
from components.auto_scaler.core.policies.flink.formulas import (
    Band,
    VertexDemand,
    VertexFlow,
    VertexPace,
)

INF = math.inf
NO_CATCH_UP = VertexPace(0, 300)


@pytest.mark.parametrize(
    ("rows", "grown"),
    [
        ([(1000, 0.0), (2000, 0.0), (3000, 4.0)], 2),  # end points, and nothing between
        ([(1000, None), (2000, 10.0), (3000, 20.0)], 10),
        ([(1000, 0.0), (2000, 99.0), (3000, 4.0), (4000, None)], 2),
        ([(1000, None), (2000, None), (3000, 1.0)], None),
        ([(1000, None)], None),
        ([], None),
        ([(5, 1.0), (5, 3.0)], 2000),  # no time at all counts as a millisecond
    ],
)
def test_slope(rows: Sequence[f.Row], grown: float | None) -> None:
    assert f.slope(rows, 1) == grown


@pytest.mark.parametrize(
    ("values", "least", "middle"),
    [
        ([1.0, 2.0, 6.0], 1, 3),
        ([None, 4.0, None], 1, 4),
        ([4.0, None], 2, None),
        ([INF, 4.0], 1, 4),
        ([INF, 4.0], 2, None),
        ([INF, None], 2, INF),  # no other value: enough of them or not
        ([None], 1, None),
        ([], 1, None),
    ],
)
def test_mean(values: list[float | None], least: int, middle: float | None) -> None:
    assert f.mean([(0, value) for value in values], 1, least) == middle


def flows(**rates: tuple[float | None, float | None]) -> dict[str, VertexFlow]:
    return {vertex: VertexFlow(*pair) for vertex, pair in rates.items()}


@pytest.mark.parametrize(("catch_up_s", "extra"), [(2, 500), (1, 1000), (0, 0)])
def test_what_a_source_and_its_sink_are_asked_for(catch_up_s: int, extra: float) -> None:
    # Lag 950 -> 1000 and 100 records read in a second; the sink reads two for each.
    pace = VertexPace(catch_up_s, 0)
    asked = f.demand(100, 50, 1000, pace)
    assert asked == VertexDemand(150, extra)
    inputs: dict[str, list[str]] = {"source": [], "sink": ["source"]}
    found = f.demands(inputs, {"source": asked}, flows(source=(100, 200), sink=(200, None)))
    assert found["sink"] == VertexDemand(300, 2 * extra)


def test_demand_is_never_negative_and_wants_both_rates() -> None:
    assert f.demand(100, -150, 0, VertexPace(1, 0)) == VertexDemand(0, 0)
    assert f.demand(None, 0, 0, VertexPace(1, 0)) is None
    assert f.demand(0, None, 0, VertexPace(1, 0)) is None


def test_ratios_of_edges_that_can_be_computed() -> None:
    inputs: dict[str, list[str]] = {
        "source1": [],
        "source2": [],
        "op1": ["source1", "source2"],
        "sink1": ["op1"],
    }
    rates = flows(source1=(100, 200), source2=(100, 50), op1=(250, None), sink1=(50, None))
    assert f.output_ratio("source1", "op1", inputs, rates) == 2
    assert f.output_ratio("source2", "op1", inputs, rates) == 0.5
    assert f.output_ratio("op1", "sink1", inputs, rates) == 0.2


@pytest.mark.parametrize("op", ["op1", "op2"])
def test_ratios_fall_back_to_what_the_sender_writes(op: str) -> None:
    senders = ["source1", "source2"]
    inputs: dict[str, list[str]] = {"source1": [], "source2": [], "op1": senders, "op2": senders}
    nothing = (None, None)
    rates = flows(source1=(100, 200), source2=(100, 50), op1=nothing, op2=nothing)
    assert f.output_ratio("source1", op, inputs, rates) == 2
    assert f.output_ratio("source2", op, inputs, rates) == 0.5


@pytest.mark.parametrize("read", [0.0, None])
def test_a_silent_sender_has_no_ratio(read: float | None) -> None:
    rates = flows(source=(read, 200), sink=(200, None))
    assert f.output_ratio("source", "sink", {"source": [], "sink": ["source"]}, rates) == 0


def test_an_edge_is_never_negative() -> None:
    # What the one sender has written beside it is more than what the receiver has read.
    inputs: dict[str, list[str]] = {"a": [], "b": [], "op": ["a", "b"]}
    rates = flows(a=(100, 10), b=(100, 80), op=(50, None))
    assert f.edge_rate("a", "op", inputs, rates) == -30
    assert f.output_ratio("a", "op", inputs, rates) == 0


@pytest.mark.parametrize(
    ("busy_ms", "rate", "true"),
    [
        (100, 35, 350),
        (0, 100, INF),
        (0, 0, INF),
        (1, 0, INF),
        (None, 0, INF),  # nothing comes in, so it does not matter that nothing is known
        (None, None, None),
        (None, 1, None),
        (1, None, None),
    ],
)
def test_rate_by_busy_time(busy_ms: float | None, rate: float | None, true: float | None) -> None:
    assert f.busy_rate(busy_ms, rate) == true


@pytest.mark.parametrize(
    ("rate", "blocked", "seen"), [(100, 1000, None), (500, 0, 500), (250, 750, 1000)]
)
def test_rate_without_back_pressure(rate: float, blocked: float, seen: float | None) -> None:
    assert f.observed_rate(rate, blocked) == seen


@pytest.mark.parametrize(
    ("lag", "rate", "blocked", "seen"),
    [
        (500, 1000, 500, 42),
        (0, 1000, 500, 42),
        (10_000_000, 900, 100, 1000),
        (10_000_000, 1000, 200, 1250),
        (10_000_000, 1000, 1000, 42),
        (500, 0, 100, INF),
        (30_000, 1000, 0, 1000),  # at the threshold of 30 s
        (29_999, 1000, 0, 42),
    ],
)
def test_observations(lag: float, rate: float, blocked: float, seen: float) -> None:
    assert f.observation(rate, lag, blocked, 30, 42) == seen


@pytest.mark.parametrize(
    ("by_busy", "observed", "threshold", "true"),
    [
        (350, 300, 0.2, 350),
        (350, 300, 0.1, 300),
        (125, 100, 0.25, 125),  # at the threshold
        (350, None, 0.1, 350),
        (INF, None, 0.1, INF),
        (INF, 300, 0.1, 300),
        (None, 300, 0.1, 300),
        (None, None, 0.1, None),
    ],
)
def test_which_rate_is_the_true_one(
    by_busy: float | None, observed: float | None, threshold: float, true: float | None
) -> None:
    assert f.true_rate(by_busy, observed, threshold) == true


def test_nothing_is_rounded_to_nothing() -> None:
    assert (f.rounded(1.23449), f.rounded(0.0001), f.rounded(0.0), f.rounded(INF)) == (
        1.234, 0.0001, 0.0, INF)  # fmt: skip


@pytest.mark.parametrize(
    ("pace", "catch_up", "behind", "edges"),
    [
        (VertexPace(0, 1), 0, False, Band(778, 1000)),
        (VertexPace(2, 1), 350, False, Band(1128, 1700)),
        (VertexPace(2, 1), 0, False, Band(778, 1350)),
        (VertexPace(2, 1), 350, True, Band(1050, INF)),
        (VertexPace(2, 1), 0, True, Band(700, INF)),
        (VertexPace(0, 300), 0, False, Band(778, 1000)),
        (VertexPace(60, 300), 350, False, Band(1128, 4850)),
        (VertexPace(60, 300), 0, False, Band(778, 4500)),
    ],
)
def test_bands(pace: VertexPace, catch_up: float, behind: bool, edges: Band) -> None:
    assert f.band(VertexDemand(700, catch_up), 0.7, 0.9, pace, behind) == edges


def test_capacity_rounds_halves_up_and_clamps_the_utilization() -> None:
    assert f.capacity(VertexDemand(0.5, 0), 1, NO_CATCH_UP, True) == 1
    assert f.capacity(VertexDemand(2.5, 0), 1, NO_CATCH_UP, True) == 3
    assert f.capacity(VertexDemand(100, 0), 1.3, NO_CATCH_UP, True) == 100
    assert f.capacity(VertexDemand(100, 0), -0.1, NO_CATCH_UP, True) == INF
    assert f.capacity(VertexDemand(0, 0), 0.7, NO_CATCH_UP, True) == 0


@pytest.mark.parametrize(
    ("sources", "behind"),
    [
        ([(0, 100)], False),
        ([(250 * 300, 200)], True),
        ([(180 * 300, 200)], False),
        ([(300 * 200, 200)], False),  # at the threshold
        ([(300 * 200 + 1, 200)], True),
        ([(0, 0)], False),
        ([(1, 0)], True),
        ([(1, None)], False),
        ([(0, 100), (90_000, 200)], True),  # any source
        ([], False),
    ],
)
def test_backlog(sources: list[tuple[float, float | None]], behind: bool) -> None:
    assert f.backlog(sources, 300) == behind


@pytest.mark.parametrize(
    ("rate", "out"), [(777, True), (778, False), (1000, False), (1001, True), (INF, True)]
)
def test_the_edges_of_a_band_are_inside(rate: float, out: bool) -> None:
    assert f.outside(rate, Band(778, 1000)) == out


def test_one_vertex_outside_moves_the_job_and_an_endless_band_holds_all() -> None:
    assert f.gate([False, True])
    assert not f.gate([False, False])
    assert not f.gate([])
    assert not f.outside(INF, Band(700, INF))


def target(
    tasks: int,
    asked: float,
    rate: float,
    utilization: float,
    *,
    down: float = 1.0,
    up: float = float(f.INT_MAX),
    alpha: float = 1.0,
    least: int = 1,
    most: int = 200,
) -> int:
    needed = f.capacity(VertexDemand(asked, 0), utilization, NO_CATCH_UP, True)
    raw = f.subtasks(f.limited(f.factor(needed, rate, alpha), down, up), tasks)
    return f.clamped(raw, *f.limits(tasks, least, most), 720)


@pytest.mark.parametrize(
    ("tasks", "asked", "rate", "utilization", "then"),
    [
        (10, 50, 100, 1.0, 5),
        (10, 50, 100, 0.8, 7),
        (10, 80, 100, 0.8, 10),
        (10, 60, 100, 0.8, 8),
        (10, 59, 100, 0.8, 8),
        (2, 100, 40, 0.5, 10),
        (2, 100, 100, 0.6, 4),
        (10, 0, INF, 0.7, 1),
    ],
)
def test_targets(tasks: int, asked: float, rate: float, utilization: float, then: int) -> None:
    assert target(tasks, asked, rate, utilization) == then


def test_what_may_change_at_once_is_limited() -> None:
    assert target(10, 10, 100, 1.0, down=0.5) == 5
    assert target(10, 10, 100, 1.0, down=0.6) == 4
    assert target(10, 200, 10, 1.0, up=0.5) == 15
    assert target(10, 200, 10, 1.0, up=0.6) == 16


def test_limits_hold_a_vertex_and_never_move_it() -> None:
    assert target(10, 100, 500, 0.7, least=5) == 5
    assert target(4, 100, 500, 0.7, least=5) == 4
    assert target(10, 500, 100, 1.0, most=10) == 10
    assert target(12, 500, 100, 1.0, most=10) == 12


@pytest.mark.parametrize(
    ("tasks", "max_parallelism", "grown", "then"),
    [
        (1, 720, 0.0001, 1),
        (2, 720, 0.1, 1),
        (6, 720, 0.8, 5),
        (16, 128, 1.5, 24),
        (200, 720, 2, 400),
        (200, 720, f.INT_MAX, 720),
        (200, 720, INF, 720),
    ],
)
def test_subtasks(tasks: int, max_parallelism: int, grown: float, then: int) -> None:
    raw = f.subtasks(grown, tasks)
    assert f.clamped(raw, 1, f.INT_MAX, max_parallelism) == then


def test_a_rate_of_nothing_asks_for_all_there_is() -> None:
    assert f.factor(1, 0) == INF
    assert f.factor(0, 0) == 1


def test_what_is_hoped_and_what_came() -> None:
    assert f.expected(10, 10, 15) == 15
    assert f.expected(100, 2, 4) == 200
    assert f.expected(50, 5, 10) == 100
    assert f.gained(90, 50, 100) == 0.8
    assert f.gained(94, 90, 180) == pytest.approx(4 / 90)
    assert f.gained(99, 90, 180) == 0.1
    assert f.gained(80, 90, 180) < 0
    assert f.gained(80, 90, 90) == -INF
    assert f.gained(80, INF, INF) == -INF


@pytest.mark.parametrize(
    ("history", "least", "alpha"),
    [
        ([(4, 200), (2, 100), (8, 400)], 3, 1.0),
        # (4*196 + 2*99 + 8*390) / (84 * 49.5), and (4*160 + 2*96 + 8*240) / (84 * 48), rounded up
        ([(4, 196), (2, 99), (8, 390)], 3, 0.99),
        ([(4, 160), (2, 96), (8, 240)], 3, 0.69),
        ([(1, 50), (2, 80), (4, 100)], 3, 0.59),
        ([(4, 100)], 1, 1.0),
        ([(2, 80), (4, 100)], 1, 0.7),
        ([(2, 80), (4, 160)], 1, 1.0),
        ([(2, 80), (4, 100)], 3, 1.0),  # too few
        ([], 0, 1.0),
        ([(2, 80), (4, None)], 1, 1.0),
        ([(1, 100), (10, 100)], 1, 0.5),  # at worst
        ([(1, 100), (10, 5000)], 1, 1.0),  # at best
        ([(2, 80), (2, 100)], 1, 0.9),  # of equal sizes the newest
        ([(2, 100), (2, 80)], 1, 1.0),
        ([(2, 80), (4, INF)], 1, 1.0),
        ([(2, INF), (4, 100)], 1, None),  # the source's error
        ([(2, 0), (4, 0)], 1, None),
        ([(2, 0), (4, 1)], 1, 1.0),
    ],
)
def test_coefficients(
    history: list[tuple[int, float | None]], least: int, alpha: float | None
) -> None:
    assert f.coefficient(history, least, 0.5) == alpha


def test_where_growth_helps_less_more_is_grown() -> None:
    assert target(2, 100, 40, 0.5, alpha=1.0) == 10
    alpha = f.coefficient([(4, 160), (2, 96), (8, 240)], 3, 0.5)
    assert alpha is not None
    assert target(2, 100, 40, 0.5, alpha=alpha) == 15
