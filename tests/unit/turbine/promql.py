"""Evaluates the part of PromQL that our board and rules use, over expositions at some instants.

As Prometheus 2 does it: look-back of five minutes, spans closed at both ends, extrapolated rates,
label sets that match one to one. What it does not know it refuses, so that no query passes by not
being looked at.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from prometheus_client.parser import text_string_to_metric_families

Labels = frozenset[tuple[str, str]]
Vector = dict[Labels, float]
Value = Vector | float
Point = tuple[float, float]

LOOK_BACK_S = 300.0
NAME = "__name__"
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?![\w.]))|(?P<span>\d+[smhd])|(?P<name>[a-zA-Z_][\w:]*)"
    r'|(?P<text>"[^"]*")|(?P<sign>=~|!~|!=|==|<=|>=|[-+*/<>={}()\[\],]))'
)
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LEVELS: tuple[dict[str, Callable[[float, float], float]], ...] = (
    {
        "==": operator.eq,
        "!=": operator.ne,
        ">": operator.gt,
        "<": operator.lt,
        ">=": operator.ge,
        "<=": operator.le,
    },
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": lambda a, b: a / b if b else math.nan if not a else math.inf},
)
_SUMS: dict[str, Callable[[list[float]], float]] = {
    "sum": math.fsum,
    "max": max,
    "min": min,
    "count": len,
    "avg": lambda some: math.fsum(some) / len(some),
}


class NotUnderstood(Exception):
    """A query beyond the part that is evaluated here."""


@dataclass(slots=True)
class Store:
    """What was scraped, and when."""

    series: dict[Labels, list[Point]] = field(default_factory=dict)

    def scrape(self, at_s: float, text: str) -> None:
        """One exposition; instants only rise."""
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                labels = frozenset({NAME: sample.name, **sample.labels}.items())
                self.series.setdefault(labels, []).append((at_s, sample.value))

    def ask(self, query: str, at_s: float) -> Value:
        """The answer at an instant."""
        parser = _Parser(list(_tokens(query)), self, at_s)
        found = parser.whole()
        if parser.rest:
            raise NotUnderstood(f"{query}: {parser.rest[0]!r} is left over")
        return found

    def names(self) -> dict[str, set[str]]:
        """Names of all series, with the labels that they have."""
        found: dict[str, set[str]] = {}
        for labels in self.series:
            known = dict(labels)
            found.setdefault(known.pop(NAME), set()).update(known)
        return found


def asked_by(query: str) -> Iterator[tuple[str, set[str]]]:
    """The series that a query names, with the labels that it names of them: in selectors, and for
    all of them in `by`."""
    tokens = [text for _, text in _tokens(query)]
    grouped = {
        word
        for at, one in enumerate(tokens)
        if one == "by"
        for word in tokens[at + 2 : tokens.index(")", at)]
        if word != ","
    }
    for at, one in enumerate(tokens):
        if not one.startswith("turbine_"):
            continue
        own = set[str]()
        if tokens[at + 1 : at + 2] == ["{"]:
            inner = tokens[at + 2 : tokens.index("}", at)]
            own = {word for word, sign in pairwise(inner) if sign in _SIGNS}
        yield one, own | grouped


_SIGNS = ("=", "!=", "=~", "!~")


def _tokens(query: str) -> Iterator[tuple[str, str]]:
    at = 0
    while query[at:].strip():
        found = _TOKEN.match(query, at)
        if found is None:
            raise NotUnderstood(f"{query}: cannot be read from {query[at:]!r} on")
        assert found.lastgroup is not None
        yield found.lastgroup, found[found.lastgroup]
        at = found.end()


class _Parser:
    """Reads and evaluates in one go."""

    def __init__(self, tokens: list[tuple[str, str]], store: Store, at_s: float) -> None:
        self.rest, self._store, self._at_s = tokens, store, at_s

    # --- words

    def _peek(self) -> str:
        return self.rest[0][1] if self.rest else ""

    def _take(self, wanted: str = "") -> tuple[str, str]:
        if not self.rest or (wanted and self._peek() != wanted):
            raise NotUnderstood(f"{wanted or 'more'} is missing before {self._peek() or 'the end'}")
        return self.rest.pop(0)

    # --- levels

    def whole(self) -> Value:
        found = self._level(0)
        while self._peek() == "or":
            self._take()
            other = self._level(0)
            if not isinstance(found, dict) or not isinstance(other, dict):
                raise NotUnderstood("or is between vectors")
            there = {_bare(labels) for labels in found}
            found = found | {k: v for k, v in other.items() if _bare(k) not in there}
        return found

    def _level(self, level: int) -> Value:
        if level == len(_LEVELS):
            return self._atom()
        left = self._level(level + 1)
        while self._peek() in _LEVELS[level]:
            sign = self._take()[1]
            right = self._level(level + 1)
            left = _binary(left, right, _LEVELS[level][sign], filters=level == 0)
        return left

    def _atom(self) -> Value:
        sort, word = self._take()
        if sort == "number":
            return float(word)
        if word == "(":
            found = self.whole()
            self._take(")")
            return found
        if sort != "name":
            raise NotUnderstood(f"{word!r} begins nothing")
        if word in _SUMS or word == "topk":
            return self._aggregate(word)
        if self._peek() == "(":
            return self._call(word)
        return {k: some[-1][1] for k, some in self._select(word, LOOK_BACK_S).items()}

    def _aggregate(self, word: str) -> Value:
        by = list[str]()
        if self._peek() == "by":
            by = self._by()
        self._take("(")
        most = 0
        if word == "topk":
            most = int(float(self._take()[1]))
            self._take(",")
        inner = self.whole()
        self._take(")")
        if self._peek() == "by":
            by = self._by()
        if not isinstance(inner, dict):
            raise NotUnderstood(f"{word} is of a vector")
        if word == "topk":
            ranked = sorted(inner.items(), key=lambda one: (-one[1], sorted(one[0])))
            return dict(ranked[:most])
        groups: dict[Labels, list[float]] = {}
        for labels, value in inner.items():
            group = frozenset((name, text) for name, text in labels if name in by)
            groups.setdefault(group, []).append(value)
        return {group: float(_SUMS[word](some)) for group, some in groups.items()}

    def _by(self) -> list[str]:
        self._take("by")
        self._take("(")
        found = [self._take()[1]]
        while self._peek() == ",":
            self._take()
            found.append(self._take()[1])
        self._take(")")
        return found

    def _call(self, word: str) -> Value:
        self._take("(")
        match word:
            case "time":
                found: Value = self._at_s
            case "rate" | "increase":
                found = self._ranged(per_second=word == "rate")
            case "absent":
                inner = self.whole()
                found = {} if inner else {frozenset(): 1.0}
            case "histogram_quantile":
                part = float(self._take()[1])
                self._take(",")
                buckets = self.whole()
                assert isinstance(buckets, dict)
                found = _quantiles(part, buckets)
            case _:
                raise NotUnderstood(f"there is no function {word} here")
        self._take(")")
        return found

    # --- series

    def _ranged(self, *, per_second: bool) -> Vector:
        name = self._take()[1]
        matchers = list(self._matchers())
        self._take("[")
        span = self._take()[1]
        self._take("]")
        span_s = float(span[:-1]) * _UNITS_S[span[-1]]
        found = self._matching(name, matchers, span_s)
        grown = {
            _bare(k): _grown(some, self._at_s - span_s, self._at_s) for k, some in found.items()
        }
        known = {k: value for k, value in grown.items() if value is not None}
        return {k: value / span_s if per_second else value for k, value in known.items()}

    def _select(self, name: str, span_s: float) -> dict[Labels, list[Point]]:
        return self._matching(name, list(self._matchers()), span_s)

    def _matchers(self) -> Iterator[tuple[str, str, str]]:
        if self._peek() != "{":
            return
        self._take("{")
        while self._peek() != "}":
            name, sign = self._take()[1], self._take()[1]
            sort, text = self._take()
            if sort != "text" or sign not in _SIGNS:
                raise NotUnderstood(f"{name}{sign}{text} is no matcher")
            yield name, sign, text[1:-1]
            if self._peek() == ",":
                self._take()
        self._take("}")

    def _matching(
        self, name: str, matchers: Sequence[tuple[str, str, str]], span_s: float
    ) -> dict[Labels, list[Point]]:
        found: dict[Labels, list[Point]] = {}
        for labels, points in self._store.series.items():
            known = dict(labels)
            if known[NAME] != name or not all(_holds(known, one) for one in matchers):
                continue
            some = [one for one in points if self._at_s - span_s <= one[0] <= self._at_s]
            if some:
                found[labels] = some
        return found


def _holds(known: dict[str, str], matcher: tuple[str, str, str]) -> bool:
    name, sign, text = matcher
    value = known.get(name, "")
    same = value == text if sign in ("=", "!=") else bool(re.fullmatch(text, value))
    return same if sign in ("=", "=~") else not same


def _bare(labels: Labels) -> Labels:
    return frozenset(one for one in labels if one[0] != NAME)


def _binary(
    left: Value, right: Value, apply: Callable[[float, float], float], *, filters: bool
) -> Value:
    if not isinstance(left, dict) and not isinstance(right, dict):
        if filters:
            raise NotUnderstood("scalars are compared with bool alone")
        return apply(left, right)
    pairs: list[tuple[Labels, float, float, float]] = []  # kept labels, both sides, what is kept
    if isinstance(left, dict) and isinstance(right, dict):
        others = {_bare(k): value for k, value in right.items()}
        pairs = [(k, v, others[_bare(k)], v) for k, v in left.items() if _bare(k) in others]
    elif isinstance(left, dict):
        assert not isinstance(right, dict)
        pairs = [(k, value, right, value) for k, value in left.items()]
    elif isinstance(right, dict):
        pairs = [(k, left, value, value) for k, value in right.items()]
    if filters:
        return {k: kept for k, a, b, kept in pairs if apply(a, b)}
    return {_bare(k): apply(a, b) for k, a, b, _ in pairs}


def _grown(points: list[Point], begin_s: float, end_s: float) -> float | None:
    """How much a counter grew, extrapolated to the ends of the span as Prometheus does."""
    if len(points) < 2:
        return None
    grown = sum(
        now - before if now >= before else now for (_, before), (_, now) in pairwise(points)
    )
    (first_s, first), (last_s, _) = points[0], points[-1]
    sampled_s = last_s - first_s
    between_s = sampled_s / (len(points) - 1)
    to_begin_s, to_end_s = first_s - begin_s, end_s - last_s
    if to_begin_s >= between_s * 1.1:
        to_begin_s = between_s / 2
    if grown > 0 and first >= 0:
        to_begin_s = min(to_begin_s, sampled_s * first / grown)  # it was never below 0
    if to_end_s >= between_s * 1.1:
        to_end_s = between_s / 2
    return grown * (sampled_s + to_begin_s + to_end_s) / sampled_s


def _quantiles(part: float, buckets: Vector) -> Vector:
    groups: dict[Labels, list[Point]] = {}
    for labels, count in buckets.items():
        bound = float(dict(labels)["le"])
        rest = frozenset(one for one in labels if one[0] not in ("le", NAME))
        groups.setdefault(rest, []).append((bound, count))
    return {rest: _quantile(part, sorted(some)) for rest, some in groups.items()}


def _quantile(part: float, buckets: list[Point]) -> float:
    total = buckets[-1][1]
    if len(buckets) < 2 or total == 0:
        return math.nan
    rank = part * total
    at = next(number for number, (_, count) in enumerate(buckets) if count >= rank)
    if at == len(buckets) - 1:
        return buckets[-2][0]
    low, before = buckets[at - 1] if at else (0.0, 0.0)
    bound, count = buckets[at]
    return low + (bound - low) * (rank - before) / (count - before)
