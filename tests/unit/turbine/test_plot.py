"""The picture of a run: it parses, loses no peak, names each action, and stays small."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from turbine.lab.plot import (
    COLUMNS,
    LANES,
    LEFT,
    PANEL,
    RIGHT,
    TOP,
    WIDTH,
    Mark,
    Picture,
    by_tens,
    columns,
    draw,
    linear,
    moment,
    short,
)

SVG = "{http://www.w3.org/2000/svg}"
BYTES_MAX = 500_000


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - our own output


def picture(minutes: int = 60, marks: Sequence[Mark] = (), title: str = "a run") -> Picture:
    return Picture(
        title=title,
        rates=[100.0] * minutes,
        capacity=[200.0] * minutes,
        tasks=[2] * minutes,
        threads=[4] * minutes,
        lag_s=[0.0] * minutes,
        slo_s=90.0,
        split=2 * minutes // 3,
        marks=marks,
    )


def paths(text: str) -> dict[str, str]:
    """The way of each line, by its name."""
    found = parsed(text).iter(f"{SVG}path")
    return {
        title.text or "": one.attrib["d"]
        for one in found
        if (title := one.find(f"{SVG}title")) is not None
    }


def heights(way: str) -> list[float]:
    return [float(one) for one in re.findall(r"(?:V|[ML][-0-9.]+ )([-0-9.]+)", way)]


def told(text: str) -> list[str]:
    """The titles of the actions' marks."""
    return [one.findtext(f"{SVG}title") or "" for one in parsed(text).iter(f"{SVG}rect")
            if one.find(f"{SVG}title") is not None]  # fmt: skip


def test_it_has_its_series_their_keys_and_the_limit() -> None:
    text = draw(picture())
    assert list(paths(text)) == [
        "came in", "can be read", "tasks x threads", "tasks", "oldest record",
    ]  # fmt: skip
    texts = [one.text for one in parsed(text).iter(f"{SVG}text")]
    assert {"SLO, 90 s", "last third", "records a second", "d0 00:00", "up 0"} <= set(texts)


def test_heights_are_those_of_the_values() -> None:
    one = replace(picture(), rates=[0.0] * 30 + [200.0] * 30)
    ways = paths(draw(one))
    top = 200 * 1.05
    assert heights(ways["came in"]) == pytest.approx(
        [TOP + PANEL] * 30 + [TOP + PANEL * (1 - 200 / top)] * 30, abs=0.1
    )
    assert (
        heights(ways["can be read"]) == [pytest.approx(TOP + PANEL * (1 - 200 / top), abs=0.1)] * 2
    )


def test_a_step_is_told_where_it_is_and_not_between() -> None:
    one = replace(picture(), tasks=[1] * 15 + [3] * 45)
    way = paths(draw(one))["tasks"]
    assert way.count("V") == 2
    assert f"H{LEFT + COLUMNS / 4:.1f}V" in way
    assert way.endswith(f"H{WIDTH - RIGHT}")


def test_what_goes_up_and_down_within_each_column_is_told_in_each() -> None:
    minutes = 10 * COLUMNS
    one = replace(picture(minutes), tasks=[1, 64] * (minutes // 2))
    assert paths(draw(one))["tasks"].count("V") == 2 * COLUMNS


def test_no_peak_is_lost_where_many_minutes_share_a_column() -> None:
    values = [1.0] * 50_000
    values[31_415], values[777] = 9.0, 0.5
    found = columns(values)
    assert len(found) == COLUMNS
    assert max(high for _, _, high in found) == 9.0
    assert min(low for _, low, _ in found) == 0.5
    at = [x for x, _, high in found if high == 9.0]
    assert at == [pytest.approx(LEFT + 31_415 / 50_000 * COLUMNS, abs=1)]


@pytest.mark.parametrize("minutes", [1, 2, COLUMNS - 1, COLUMNS, COLUMNS + 1])
def test_every_minute_is_in_one_column(minutes: int) -> None:
    values = [float(at) for at in range(minutes)]
    found = columns(values)
    assert len(found) == min(minutes, COLUMNS)
    assert (found[0][1], found[-1][2]) == (0, minutes - 1)
    edges = [(low, high) for _, low, high in found]
    assert sum(high - low + 1 for low, high in edges) == minutes
    assert parsed(draw(picture(minutes))).tag == f"{SVG}svg"


def test_an_action_has_its_lane_its_moment_and_its_words() -> None:
    text = draw(picture(2_000, [Mark(1_500, "up", "scale-up: 3 < 4 & \"more\" -> 'x'\x00")]))
    assert told(text) == ["d1 01:00 scale-up: 3 < 4 & \"more\" -> 'x'\ufffd"]
    assert f'fill="{LANES["up"]}"' in text


def test_actions_that_share_a_place_are_counted() -> None:
    marks = [Mark(7, "down", "first"), Mark(7, "down", "second"), Mark(7, "move", "third")]
    text = draw(picture(marks=marks))
    assert told(text) == ["d0 00:07 first (and 1 more here)", "d0 00:07 third"]
    texts = [one.text for one in parsed(text).iter(f"{SVG}text")]
    assert {"up 0", "down 2", "move 1"} <= set(texts)


def test_any_run_stays_small() -> None:
    """The worst: each minute differs, and has an action of each kind with many words."""
    minutes = 14 * 1440
    marks = [Mark(at, lane, "because " * 60) for at in range(minutes) for lane in LANES]
    odd = [float(at * 7_919 % 10_007) + 0.123 for at in range(minutes)]
    worst = replace(
        picture(minutes, marks), rates=odd, capacity=odd, tasks=odd, threads=odd, lag_s=odd
    )
    assert len(draw(worst).encode()) < BYTES_MAX


def test_a_title_is_text_and_no_markup() -> None:
    text = draw(picture(title="<script>&\x07"))
    assert parsed(text).findtext(f"{SVG}title") == "<script>&\ufffd"


@pytest.mark.parametrize("value", [0.0, 1e-320, 1e-12, 1e15, float("inf")])
def test_any_value_has_a_place(value: float) -> None:
    one = replace(picture(), rates=[value] * 60, lag_s=[value] * 60)
    way = paths(draw(one))["came in"]
    assert all(TOP <= y <= TOP + PANEL for y in heights(way))


def test_a_run_of_no_minutes_has_no_picture() -> None:
    with pytest.raises(ValueError, match="no minutes"):
        draw(picture(0))


@pytest.mark.parametrize(
    ("most", "ticks"),
    [
        (1.0, [0, 0.5, 1]),
        (100.0, [0, 50, 100]),
        (16.0, [0, 5, 10, 15]),
        (0.0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
    ],
)
def test_ticks_are_round(most: float, ticks: list[float]) -> None:
    assert linear(most).ticks == pytest.approx(ticks)


def test_lag_goes_by_powers_of_ten_from_nothing() -> None:
    scale = by_tens(90.0)
    assert list(scale.ticks) == [0, 1, 10, 100]
    assert scale.share(0) == 0
    assert scale.share(9) == pytest.approx(scale.share(99) / 2)
    assert by_tens(303_381.0).share(303_381.0) == pytest.approx(1 / 1.05)


def test_numbers_and_moments_are_short() -> None:
    assert [short(one) for one in (0.0, 0.5, 90.0, 1_500.0, 2e6)] == [
        "0",
        "0.5",
        "90",
        "1.5k",
        "2M",
    ]
    assert moment(0) == "d0 00:00"
    assert moment(1_440 * 3 + 589) == "d3 09:49"
    assert moment(1_440 * 3, whole=True) == "d3"
