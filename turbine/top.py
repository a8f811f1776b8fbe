"""What `turbine top` shows of a view, and what its keys do. Pure: one frame from one view.

The worst comes first, and nothing jumps without need: equals stay in the order of their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from projections.syncs import DELETED
from turbine.monitoring.alerts import gravest
from turbine.monitoring.figures import Figures, Totals, figures_of, totals_of
from turbine.shards import containers_to_plain, stage_of
from turbine.views.view import AlertView, View

Row = dict[str, Any]

FIELDS = ("job", "state", "tier", "policy", "mode")
"""What `name=value` in a filter may ask for."""
_ORDERS: dict[str, Callable[[Figures], Any]] = {
    "worst": lambda one: one.badness,
    "lag": lambda one: (-1 if one.lag_ms is None else one.lag_ms, one.lag_records or 0),
    "rate": lambda one: -1.0 if one.rate_in is None else one.rate_in,
    "tasks": lambda one: one.size,
    "changed": lambda one: one.updated_ms,
}
SORTS = (*_ORDERS, "name")
"""By which jobs stand, the greatest first; the key `s` goes from one to the next."""


class BadFilter(ValueError):
    """A filter that asks for what there is not; the sentence says what there is."""


@dataclass(frozen=True, slots=True)
class Frame:
    """All that is shown at one moment."""

    at_ms: int
    totals: Totals
    jobs: tuple[Figures, ...]
    hidden: int  # jobs that the filter leaves out
    tiers: tuple[Row, ...]
    containers: tuple[Row, ...]
    alerts: tuple[AlertView, ...]
    letters: int

    def to_plain(self) -> Row:
        """As JSON."""
        totals = self.totals
        return {
            "at_ms": self.at_ms,
            "jobs_total": totals.jobs,
            "tasks_wanted": totals.tasks,
            "tasks_running": totals.running,
            "tasks_not_running": totals.not_running,
            "tasks_lagging": totals.lagging,
            "tasks_unhealthy": totals.unhealthy,
            "tasks_unknown": totals.unknown,
            "jobs_by_state": totals.phases,
            "tasks_by_state": totals.states,
            "jobs": [_job(one) for one in self.jobs],
            "hidden": self.hidden,
            "tiers": list(self.tiers),
            "containers": list(self.containers),
            "alerts": [one.to_plain() for one in self.alerts],
            "dead_letters": self.letters,
        }


def frame_of(view: View, query: str = "", sort: str = "worst") -> Frame:
    """The frame of a view; BadFilter where it cannot be understood. The numbers are
    those of the jobs that it leaves."""
    test = test_of(query)
    living = [one for one in figures_of(view) if one.phase != DELETED]
    jobs = [one for one in living if test(one)]
    tiers = {name for name in view.tiers if not query or name in {x.wanted.tier for x in jobs}}
    subjects = tiers | {one.job for one in jobs}
    containers = [
        one for tier in sorted(tiers) for one in containers_to_plain(view.tiers[tier], gone=False)
    ]
    alerts = [one for one in view.alerts.values() if not query or one.subject in subjects]
    return Frame(
        at_ms=view.now_ms or view.at_ms,
        totals=totals_of(jobs),
        jobs=tuple(ordered(jobs, sort)),
        hidden=len(living) - len(jobs),
        tiers=tuple(_tier(view, tier) for tier in sorted(tiers)),
        containers=tuple(sorted(containers, key=_fullest)),
        alerts=tuple(sorted(alerts, key=gravest)),
        letters=view.dead_letters,
    )


def ordered(jobs: Iterable[Figures], sort: str) -> list[Figures]:
    """The greatest first, equals by name."""
    by_name = sorted(jobs, key=lambda one: one.job)
    order = _ORDERS.get(sort)
    return by_name if order is None else sorted(by_name, key=order, reverse=True)


def test_of(query: str) -> Callable[[Figures], bool]:
    """Whether a job is meant: each word has to be in its name, `!word` must not, and `state=x`,
    `tier=x`, `policy=x` and `mode=x` ask for one of what stands after the sign, by commas."""
    tests = [_word(word) for word in query.lower().split()]
    return lambda one: all(test(one) for test in tests)


def _word(word: str) -> Callable[[Figures], bool]:
    if word.startswith("!"):
        inner = _word(word[1:])
        return lambda one: not inner(one)
    name, given, value = word.partition("=")
    if not given:
        return lambda one: word in one.job
    if name not in FIELDS:
        raise BadFilter(
            f"{name!r} is nothing to filter by; use words, !words, or one of"
            f" {', '.join(f'{one}=' for one in FIELDS)}"
        )
    wanted = set(value.split(","))
    return lambda one: _field(one, name) in wanted


def _field(one: Figures, name: str) -> str:
    match name:
        case "job":
            return one.job
        case "state":
            return one.phase
        case _:
            return str(getattr(one.wanted, name))


def _fullest(row: Row) -> tuple[bool, float, str]:
    """The order of containers: those that do not just run, then the fullest."""
    shares = [load["share"] or 0.0 for load in row["load"].values()]
    return row["state"] == "serving", -max(shares, default=0.0), row["container"]


def _tier(view: View, tier: str) -> Row:
    row = view.tiers[tier]
    stages: dict[str, int] = {}
    for shard in range(row.shards):
        stage = stage_of(row, shard)
        stages[stage] = stages.get(stage, 0) + 1
    reported = view.reported.get(tier)
    return {
        "tier": tier,
        "shards": dict(sorted(stages.items())),
        "capacity": None if reported is None else reported[0].state,
        "alerts": [one.kind for one in view.alerts.values() if one.subject == tier],
    }


def _job(one: Figures) -> Row:
    return one.to_plain() | {
        "alerts": [alert.kind for alert in one.alerts],
        "last": one.word,
        "updated_ms": one.updated_ms,
    }


# --- keys


class Look(NamedTuple):
    """What the person at the keys wants to see."""

    sort: str = SORTS[0]
    query: str = ""
    typing: str | None = None  # a filter that is being typed
    first: int = 0  # of the jobs that are shown
    over: bool = False
    trouble: str = ""  # with what was typed


STEPS = {"up": -1, "k": -1, "down": 1, "j": 1, "page-up": -10, "page-down": 10, " ": 10}
LENGTH_MAX = 200


def pressed(look: Look, key: str, jobs: int) -> Look:
    """After a key; one that means nothing changes nothing. `jobs` is how many there are."""
    if look.typing is not None:
        return _typed(look, look.typing, key)
    match key:
        case "q":
            return look._replace(over=True)
        case "s":
            sort = SORTS[(SORTS.index(look.sort) + 1) % len(SORTS)]
            return look._replace(sort=sort, first=0)
        case "/":
            return look._replace(typing=look.query, trouble="")
        case "escape":
            return look._replace(query="", first=0, trouble="")
        case "g" | "home":
            return look._replace(first=0)
        case "G" | "end":
            return look._replace(first=max(0, jobs - 1))
        case _ if key in STEPS:
            return look._replace(first=min(max(0, look.first + STEPS[key]), max(0, jobs - 1)))
        case _:
            return look


def _typed(look: Look, text: str, key: str) -> Look:
    match key:
        case "enter":
            try:
                test_of(text)
            except BadFilter as bad:
                return look._replace(trouble=str(bad))
            return look._replace(query=text.strip(), typing=None, first=0, trouble="")
        case "escape":
            return look._replace(typing=None, trouble="")
        case "backspace":
            return look._replace(typing=text[:-1], trouble="")
        case _ if len(key) == 1 and key.isprintable() and len(text) < LENGTH_MAX:
            return look._replace(typing=text + key, trouble="")
        case _:
            return look
