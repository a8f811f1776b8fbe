"""The evaluator of queries says what Prometheus says: the answers here are its own.

They were taken from `promtool test rules` of Prometheus 2.42, over the same series.
"""

from __future__ import annotations

import math

import pytest

from tests.unit.turbine.promql import NotUnderstood, Store, asked_by

MINUTE = 60.0
SERIES = {
    'up_total{k="a"}': [0, 1, 1, 5, 5, 9, 9, 9, 12, 12, 20],
    'up_total{k="b"}': [100, 110, 5, 15, 25, 35, 45, 55, 65, 75, 85],
    'level{k="a",l="x"}': [3] * 11,
    'level{k="b",l="x"}': [7] * 11,
    'level{k="b",l="y"}': [1] * 11,
    'other{k="a",l="x"}': [2] * 11,
    'took_bucket{le="1"}': [0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4],
    'took_bucket{le="5"}': [0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 9],
    'took_bucket{le="+Inf"}': [0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 10],
}


@pytest.fixture
def store() -> Store:
    """A series a line, a sample a minute."""
    found = Store()
    for at in range(11):
        text = "".join(f"{name} {values[at]}\n" for name, values in SERIES.items())
        found.scrape(at * MINUTE, text)
    return found


def told(store: Store, query: str) -> dict[str, float]:
    """The answer after ten minutes, by its labels without the name."""
    found = store.ask(query, 10 * MINUTE)
    assert isinstance(found, dict)
    return {
        ",".join(f"{name}={text}" for name, text in sorted(labels) if name != "__name__"): value
        for labels, value in found.items()
    }


ANSWERS: dict[str, dict[str, float]] = {
    "level": {"k=a,l=x": 3, "k=b,l=x": 7, "k=b,l=y": 1},
    'level{k="b",l!="y"}': {"k=b,l=x": 7},
    'level{k=~"a|c"}': {"k=a,l=x": 3},
    'level{l!~"x"}': {"k=b,l=y": 1},
    "level > 2": {"k=a,l=x": 3, "k=b,l=x": 7},
    "level == 1": {"k=b,l=y": 1},
    "2 * level - 1": {"k=a,l=x": 5, "k=b,l=x": 13, "k=b,l=y": 1},
    "level / other": {"k=a,l=x": 1.5},
    "sum by (k) (level)": {"k=a": 3, "k=b": 8},
    "sum(level) by (l)": {"l=x": 10, "l=y": 1},
    "max(level)": {"": 7},
    "min(level)": {"": 1},
    "avg(level)": {"": 11 / 3},
    "count by (k) (level)": {"k=a": 1, "k=b": 2},
    "topk(2, level)": {"k=a,l=x": 3, "k=b,l=x": 7},
    "other or level > 5": {"k=a,l=x": 2, "k=b,l=x": 7},
    "absent(nothing)": {"": 1},
    "absent(level)": {},
    "time() - level": {"k=a,l=x": 597, "k=b,l=x": 593, "k=b,l=y": 599},
    "sum(level) / sum(other) > 5": {"": 5.5},
    "level > 100": {},
}


@pytest.mark.parametrize("query", ANSWERS)
def test_a_query_is_answered(store: Store, query: str) -> None:
    assert told(store, query) == pytest.approx(ANSWERS[query])


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("increase(up_total[5m])", {"k=a": 11.0, "k=b": 50.0}),
        ("rate(up_total[5m])", {"k=a": 11 / 300, "k=b": 50 / 300}),
        ("increase(up_total[20m])", {"k=a": 20.0, "k=b": 99.75}),
        ("sum(increase(up_total[5m]))", {"": 61.0}),
    ],
)
def test_counters_grow_as_prometheus_extrapolates(
    store: Store, query: str, answer: dict[str, float]
) -> None:
    assert told(store, query) == pytest.approx(answer)


def test_a_quantile_lies_within_its_bucket(store: Store) -> None:
    query = "histogram_quantile(0.5, sum by (le) (rate(took_bucket[5m])))"
    assert told(store, query) == pytest.approx({"": 1.8})
    nothing = store.ask("histogram_quantile(0.5, sum by (le) (rate(took_bucket[5m])))", 5 * MINUTE)
    assert isinstance(nothing, dict)
    assert all(math.isnan(value) for value in nothing.values())


def test_what_was_scraped_long_ago_is_no_answer(store: Store) -> None:
    assert store.ask("level", 16 * MINUTE) == {}


@pytest.mark.parametrize(
    "query",
    ["level offset 5m", "predict_linear(level[5m], 3)", "level >", "level{k>1}", "§", "1 > 0"],
)
def test_what_is_not_understood_is_refused(store: Store, query: str) -> None:
    with pytest.raises(NotUnderstood):
        store.ask(query, 10 * MINUTE)


def test_a_query_tells_which_series_and_labels_it_needs() -> None:
    query = 'sum by (a, b) (rate(turbine_x_total{c="1",d=~"2"}[5m])) / turbine_y'
    assert dict(asked_by(query)) == {
        "turbine_x_total": {"a", "b", "c", "d"},
        "turbine_y": {"a", "b"},
    }
