"""A tier's row as plain JSON, for keeping. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from immutables import Map

from projections.fleet import (
    Brake,
    DrainWish,
    FailOverRequest,
    ShardGenerations,
    ShardGrant,
    ShardUsage,
    TierFleet,
)
from projections.ingress import dump_ingress, load_ingress
from projections.liveness import Life, Ticks
from projections.plans import PlanCourse, Planned
from projections.settings import Placing
from projections.timing import Timing


def dump(row: TierFleet) -> object:
    """Plain JSON of the row."""
    plain = {name: _plain(value) for name, value in row._asdict().items()}
    plain["ingress"] = {key: dump_ingress(one) for key, one in row.ingress.items()}
    plain["course"] = None if row.course is None else _plain_course(row.course)
    del plain["bounds"]  # found again at the next tick: they only spare looks
    return plain


def load(plain: Any) -> TierFleet:
    """The row that `dump` made plain."""
    some = {name: _LOADS.get(name, _same)(value) for name, value in plain.items()}
    return TierFleet(**some)


def _plain(value: object) -> object:
    """Maps with whole numbers as keys are lists of pairs, as JSON has texts as keys alone."""
    if not isinstance(value, Map):
        return value
    pairs = sorted(value.items(), key=_first)
    if pairs and isinstance(pairs[0][1], Map):
        return [(key, _plain(one)) for key, one in pairs]
    return pairs  # tuples are lists to JSON; to walk through a hundred thousand takes a second


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _plain_course(course: PlanCourse) -> object:
    started = sorted(course.started)
    return [*course[:2], [list(move) for move in course.moves], course.read, started, course.first]


def _course(plain: Any) -> PlanCourse | None:
    if plain is None:
        return None
    plan_id, parts, moves, read, started, first = plain
    moved = tuple(Planned(*move) for move in moves)
    return PlanCourse(plan_id, parts, moved, read, Map(dict.fromkeys(started)), first)


def _life(plain: Any) -> Life:
    life = Life(*plain)
    return life._replace(capacity=tuple((name, amount) for name, amount in life.capacity))


def _brake(plain: Any) -> Brake | None:
    return None if plain is None else Brake(plain[0], tuple(plain[1]), plain[2])


def _weight(plain: Any) -> ShardUsage:
    generation, number, tasks, job, amounts = plain
    return ShardUsage(generation, number, tasks, job, tuple(amounts))


def _each(one: Callable[[Any], object]) -> Callable[[Any], object]:
    return lambda plain: Map([(key, one(value)) for key, value in plain])


def _of(kind: Callable[..., object]) -> Callable[[Any], object]:
    return lambda plain: kind(*plain)


def _same(plain: Any) -> Any:
    return plain


_LOADS: dict[str, Callable[[Any], Any]] = {
    "regions": tuple,
    "timing": _of(Timing),
    "placing": _of(Placing),
    "ticks": _each(_of(Ticks)),
    "lives": _each(_life),
    "grants": _each(_of(ShardGrant)),
    "told": _each(_of(ShardGenerations)),
    "holdings": _each(_each(_same)),
    "loads": _each(_weight),
    "requests": _each(_of(FailOverRequest)),
    "drains": _each(_of(DrainWish)),
    "ingress": lambda plain: Map({key: load_ingress(one) for key, one in plain.items()}),
    "course": _course,
    "brake": _brake,
    "tenants": _each(tuple),
    **dict.fromkeys(("silent", "open", "unplaced", "alerts"), _each(_same)),
}
