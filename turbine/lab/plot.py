"""A run of one job over time as one SVG: rate, size, lag and actions. Pure: numbers in, text out.

However long a run is, its picture has as many columns: each holds the least and the most of its
minutes, so that no peak is lost. What many actions share a column has one mark, which counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, isfinite, log10
from typing import NamedTuple

from events.job_config.strict_json import printable

WIDTH, LEFT, RIGHT, TOP = 1172, 76, 24, 52
PANEL, GAP = 150, 46
COLUMNS = WIDTH - LEFT - RIGHT
"""Of a pixel each: more cannot be seen, and a picture of any run stays below 500 kB."""
MARK_COLUMNS = COLUMNS // 3
"""A mark is three pixels wide."""
TEXTS_MAX = 240_000
"""Characters of all titles of marks together; many marks have short ones."""
TEXT_MAX = 400
LANES = {"up": "#2f855a", "down": "#b7791f", "move": "#6b46c1", "other": "#4a5568"}
INPUT, CAPACITY, TASKS, THREADS, LAG, LIMIT = (
    "#2b6cb0", "#dd6b20", "#2f855a", "#718096", "#2b6cb0", "#c53030",
)  # fmt: skip
HOUR, DAY = 60, 1440
TIME_STEPS = (1, 5, 10, 30, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY)
TICKS_MAX = 12
COURSES = ("#2d3748", "#dd6b20", "#2b6cb0")
"""Colours of runs beside each other."""
LEAST = 1e-9
"""Below it all is drawn as none."""


class Mark(NamedTuple):
    """An action, marked on the time axis."""

    minute: int
    lane: str  # one of LANES
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn; a number for each minute."""

    title: str
    rates: Sequence[float]  # records a second that came in
    capacity: Sequence[float]  # that could be read at that size
    tasks: Sequence[float]
    threads: Sequence[float]  # of all tasks
    lag_s: Sequence[float]
    slo_s: float
    split: int | None = None  # the first minute of what is judged by itself
    marks: Sequence[Mark] = ()


class PlottedRun(NamedTuple):
    """One of several runs on the same input."""

    name: str
    threads: Sequence[float]
    lag_s: Sequence[float]
    marks: Sequence[Mark]  # their lane is the run's name


class PlotSeries(NamedTuple):
    """One series of a panel."""

    name: str
    colour: str
    values: Sequence[float]
    steps: bool = False  # it holds until it changes


class AxisScale(NamedTuple):
    """From a value to a height above the panel's floor, 0 to 1, with its ticks."""

    share: Callable[[float], float]
    ticks: Sequence[float]


Panel = tuple[str, Sequence[PlotSeries], Callable[[float], AxisScale], float | None]
"""Title, lines, how high a value is, and a limit."""


def draw(picture: Picture) -> str:
    """The picture as a whole SVG file."""
    minutes = len(picture.rates)
    if minutes == 0:
        raise ValueError("a run of no minutes has no picture")
    panels: list[Panel] = [
        ("records a second",
         [PlotSeries("came in", INPUT, picture.rates),
          PlotSeries("can be read", CAPACITY, picture.capacity, True)], linear, None),
        ("size", [PlotSeries("tasks x threads", THREADS, picture.threads, True),
                  PlotSeries("tasks", TASKS, picture.tasks, True)], linear, None),
        ("lag in seconds, by powers of ten", [PlotSeries("oldest record", LAG, picture.lag_s)],
         by_tens, picture.slo_s),
    ]  # fmt: skip
    parts = _framed(picture.title, minutes, panels, picture.marks, LANES)
    top = TOP + 3 * (PANEL + GAP)
    if picture.split is not None and 0 < picture.split < minutes:
        parts += _split(picture.split * COLUMNS / minutes + LEFT, top + PANEL)
    return "\n".join([*parts, "</svg>", ""])


def draw_beside(
    title: str,
    rates: Sequence[float],
    courses: Sequence[PlottedRun],
    slo_s: float,
    pace: float = 1.0,
) -> str:
    """The whole file, of runs beside each other; each number is of so many minutes."""
    if not rates:
        raise ValueError("runs of no minutes have no picture")
    colours = dict(zip([one.name for one in courses], COURSES, strict=True))
    threads = [PlotSeries(one.name, colours[one.name], one.threads, True) for one in courses]
    lags = [PlotSeries(one.name, colours[one.name], one.lag_s) for one in courses]
    panels: list[Panel] = [
        ("records a second", [PlotSeries("came in", INPUT, rates)], linear, None),
        ("threads of all tasks", threads, linear, None),
        ("lag in seconds, by powers of ten", lags, by_tens, slo_s),
    ]
    marks = [mark for one in courses for mark in one.marks]
    parts = _framed(title, len(rates), panels, marks, colours, pace=pace)
    return "\n".join([*parts, "</svg>", ""])


def _framed(
    title: str,
    count: int,
    panels: Sequence[Panel],
    marks: Sequence[Mark],
    lanes: Mapping[str, str],
    *,
    pace: float = 1.0,
) -> list[str]:
    """Panels under each other, then the actions by their lanes, and the time."""
    minutes = max(1, round(count * pace))
    parts = [_head(title, f"{minutes:,} minutes, {len(marks):,} actions", TOP + 4 * (PANEL + GAP))]
    for at, (name, lines, scale, limit) in enumerate(panels):
        parts += _panel(TOP + at * (PANEL + GAP), name, lines, scale, limit)
    top = TOP + 3 * (PANEL + GAP)
    parts += _actions(top, marks, count, lanes, pace)
    parts += _time(minutes, top + PANEL)
    return parts


def _head(title: str, days: str, height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        f' width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="11">\n'
        f"<title>{_escaped(title)}</title>\n"
        f"<desc>{days}: rate and capacity, size, lag, actions</desc>\n"
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n'
        f"{_text(LEFT, 20, title, size=15)}\n{_text(WIDTH - RIGHT, 20, days, 'end')}"
    )


# --- panels


def _panel(
    top: int,
    title: str,
    lines: Sequence[PlotSeries],
    scaled: Callable[[float], AxisScale],
    limit: float | None,
) -> Iterator[str]:
    most = max(max(line.values) for line in lines)
    scale = scaled(max(most, limit or 0.0))
    yield from _frame(top, title)
    for tick in scale.ticks:
        y = _y(top, scale.share(tick))
        yield _rule(y, "#e2e8f0")
        yield _text(LEFT - 6, y + 4, short(tick), "end")
    for at, line in enumerate(lines):
        yield _key(top, at, line.name, line.colour)
        points = _stepped if line.steps else _joined
        way = points(columns(line.values), lambda value: _y(top, scale.share(value)))
        yield (
            f'<path d="{way}" fill="none" stroke="{line.colour}" stroke-width="1.2">'
            f"<title>{_escaped(line.name)}</title></path>"
        )
    if limit is not None:
        yield _rule(_y(top, scale.share(limit)), LIMIT, ' stroke-dasharray="6 3"')
        yield _key(top, len(lines), f"SLO, {short(limit)} s", LIMIT)


def _actions(
    top: int, marks: Sequence[Mark], count: int, lanes: Mapping[str, str], pace: float
) -> Iterator[str]:
    """A lane for each kind; what falls into one place has one mark."""
    yield from _frame(top, "actions")
    each = PANEL / len(lanes)
    places: dict[tuple[str, int], list[Mark]] = {}
    for mark in marks:
        column = mark.minute * MARK_COLUMNS // count
        places.setdefault((mark.lane, column), []).append(mark)
    for at, lane in enumerate(lanes):
        count = sum(1 for mark in marks if mark.lane == lane)
        yield _text(LEFT - 6, top + (at + 0.5) * each + 4, f"{lane} {count}", "end")
    heights = {lane: top + at * each + 5 for at, lane in enumerate(lanes)}
    most = min(TEXT_MAX, TEXTS_MAX // max(1, len(places)))
    for (lane, column), ones in places.items():
        yield (
            f'<rect x="{LEFT + column * 3}" y="{heights[lane]:g}" width="3"'
            f' height="{each - 10:g}" fill="{lanes[lane]}">'
            f"<title>{_escaped(_told(ones, most, pace))}</title></rect>"
        )


def _told(ones: Sequence[Mark], most: int, pace: float) -> str:
    """The first of them, and how many more there are."""
    text = f"{moment(int(ones[0].minute * pace))} {ones[0].text}"
    text = text if len(text) <= most else text[: most - 1] + "…"
    return text + (f" (and {len(ones) - 1} more here)" if len(ones) > 1 else "")


def _time(minutes: int, bottom: int) -> Iterator[str]:
    """The ticks of all panels, told below the last one."""
    step = next((one for one in TIME_STEPS if minutes / one <= TICKS_MAX), 0)
    step = step or -(-minutes // (TICKS_MAX * DAY)) * DAY
    for minute in range(0, minutes, step):
        x = LEFT + minute * COLUMNS / minutes
        yield (
            f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#cbd5e0" stroke-width=".6"'
            ' stroke-dasharray="1 4"/>'
        )
        yield _text(x, bottom + 15, moment(minute, whole=step % DAY == 0), "middle")


def _split(x: float, bottom: int) -> Iterator[str]:
    yield f'<path d="M{x:.1f} {TOP - 12}V{bottom}" stroke="#4a5568" stroke-dasharray="4 4"/>'
    yield _text(x + 4, TOP - 18, "last third")


def _frame(top: int, title: str) -> Iterator[str]:
    yield f'<rect x="{LEFT}" y="{top}" width="{COLUMNS}" height="{PANEL}" fill="#f7fafc"/>'
    yield _text(LEFT, top - 6, title)


def _key(top: int, at: int, name: str, colour: str) -> str:
    x = WIDTH - RIGHT - 130 * (at + 1)
    line = f'<path d="M{x} {top - 10}h18" stroke="{colour}" stroke-width="3"/>'
    return line + _text(x + 24, top - 6, name)


def _rule(y: float, colour: str, more: str = "") -> str:
    return f'<path d="M{LEFT} {y:.1f}h{COLUMNS}" stroke="{colour}"{more}/>'


def _text(x: float, y: float, text: str, anchor: str = "", size: int = 0) -> str:
    placed = f' text-anchor="{anchor}"' if anchor else ""
    sized = f' font-size="{size}"' if size else ""
    return f'<text x="{x:g}" y="{y:g}" fill="#2d3748"{placed}{sized}>{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    return escape(printable(text))


# --- numbers


def columns(values: Sequence[float]) -> list[tuple[float, float, float]]:
    """Where on the way each column lies, and its least and its most; one a minute if they fit."""
    count = min(COLUMNS, len(values))
    bounds = [at * len(values) // count for at in range(count + 1)]
    width = COLUMNS / count
    return [
        (LEFT + (at + 0.5) * width, min(some), max(some))
        for at in range(count)
        if (some := values[bounds[at] : bounds[at + 1]])
    ]


def _joined(found: Sequence[tuple[float, float, float]], y: Callable[[float], float]) -> str:
    way = "".join(
        f"L{x:.1f} {y(low):.1f}" + (f"V{y(high):.1f}" if high > low else "")
        for x, low, high in found
    )
    return "M" + way[1:]


def _stepped(found: Sequence[tuple[float, float, float]], y: Callable[[float], float]) -> str:
    """Across at the height that was, then up or down to what is: told only where it changes,
    between columns or within one."""
    at = ""
    way = [f"M{LEFT} {y(found[0][1]):.1f}"]
    half = COLUMNS / len(found) / 2
    for x, low, high in found:
        now = f"V{y(low):.1f}" + (f"V{y(high):.1f}" if high > low else "")
        if now != at or high > low:
            way.append(f"H{x - half:.1f}{now}")
            at = now
    return "".join([*way, f"H{WIDTH - RIGHT}"])


def linear(most: float) -> AxisScale:
    """From 0, with a little room above, and ticks of 1, 2 or 5."""
    top = most * 1.05 if most > LEAST and isfinite(most) else 1.0
    step = 10.0 ** floor(log10(top / 2))
    step = next(one for one in (step, 2 * step, 5 * step, 10 * step) if top / one <= 5)
    ticks = [at * step for at in range(int(top / step) + 1)]
    return AxisScale(lambda value: min(1.0, max(0.0, value / top)), ticks)


def by_tens(most: float) -> AxisScale:
    """From 0 as well: a limit of a minute and a backlog of days are both to be seen."""
    top = log10(1 + (max(10.0, most) if isfinite(most) else 10.0)) * 1.05
    ticks = [0.0, *(10.0**at for at in range(int(top) + 1))]
    return AxisScale(lambda value: min(1.0, max(0.0, log10(1 + max(0.0, value)) / top)), ticks)


def _y(top: int, share: float) -> float:
    return top + PANEL * (1 - share)


def short(value: float) -> str:
    """A number of a tick: 1500000 is 1.5M."""
    for unit, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:.3g}"


def moment(minute: int, *, whole: bool = False) -> str:
    """Day and time since the beginning, as `d3 09:49`; of whole days the day alone."""
    day, rest = divmod(minute, DAY)
    return f"d{day}" if whole else f"d{day} {rest // HOUR:02}:{rest % HOUR:02}"
