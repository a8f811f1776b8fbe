"""The smallest change of one input or setting with which a verdict would have been another. Pure.

The policy itself is asked, again and again: outwards from the value that it had, in growing steps,
then between the last one that changed nothing and the first that did. What is answered was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import ceil, floor, log10
from typing import Any, NamedTuple

from components.auto_scaler.policies.ours import Ours
from components.auto_scaler.verdict import (
    ALERT,
    MEMORY_DOWN,
    MEMORY_UP,
    MOVE,
    REBALANCE,
    REVERT,
    SCALE_DOWN,
    SCALE_UP,
)
from turbine.knobs import SETTING, Knob, Value, knobs_of
from turbine.looks import Look, comes_to, hindered

Row = dict[str, Any]
FIRST = 0.01
"""Of the scale: the first step outwards."""
GROWS, STEPS, FEWER = 1.6, 20, 8
"""Steps of a side; fewer of policies that play two hours again with each question."""
NEAR = 0.002
"""Of the distance: a value is known as well as that."""
ROUNDED = 0.01
"""Of the distance: a value that is further by so much, and shorter to write, is as good."""
DIGITS = range(1, 8)
CHOICE = 1.0
"""The distance of another choice: as of a number that doubles."""
DONE = {
    SCALE_UP: "scaled up",
    SCALE_DOWN: "scaled down",
    MEMORY_UP: "given each task more memory",
    MEMORY_DOWN: "given each task less memory",
    REBALANCE: "shared its partitions anew",
    MOVE: "had a task moved",
    ALERT: "called a person",
    REVERT: "taken its last change back",
}


class Flip(NamedTuple):
    """One change that is enough."""

    kind: str
    name: str
    value: Value  # as it was
    then: Value
    distance: float  # in parts of what it was
    text: str
    hindered: str  # what would still have stood against a change; "" for nothing

    def to_plain(self) -> Row:
        """As JSON."""
        return self._asdict()


def flips(look: Look, action: str) -> list[Flip]:
    """All single changes that would have made it the verdict, the nearest first."""
    found = list[tuple[float, Flip]]()
    steps = STEPS if look.facts.policy == Ours.name else FEWER
    for knob in knobs_of(look):
        then = nearest(knob, partial(_does, knob, action), steps)
        if then is not None:
            found.append((_far(knob, then.value), _flip(knob, then.value, action)))
    return [one for _, one in sorted(found, key=lambda pair: (pair[0], pair[1].name))]


class Found(NamedTuple):
    """A value; it may be None itself."""

    value: Value


def _does(knob: Knob, action: str, value: Value) -> bool:
    look = knob.change(value)
    return look is not None and comes_to(look, action)


def nearest(knob: Knob, does: Callable[[Value], bool], steps: int = STEPS) -> Found | None:
    """The value next to the one that it had for which that holds; None where none was found."""
    if knob.choices:
        return next((Found(one) for one in knob.choices if does(one)), None)
    sides = [
        _towards(knob, _outwards(knob, bound, steps), does) for bound in (knob.most, knob.least)
    ]
    known = [one for one in sides if one is not None]
    if not known:
        return None
    start = _start(knob)
    best = min(known, key=lambda one: (abs(one - start), one))
    return Found(int(best) if knob.whole else best)


def _towards(knob: Knob, values: Iterator[float], does: Callable[[Value], bool]) -> float | None:
    """Outwards on one side."""
    last = _start(knob)
    for value in values:
        if does(_given(knob, value)):
            return _between(knob, last, value, does)
        last = value
    return None


def _start(knob: Knob) -> float:
    assert isinstance(knob.value, float | int), "what has bounds is a number"
    return float(knob.value)


def _outwards(knob: Knob, bound: float, steps: int) -> Iterator[float]:
    start = _start(knob)
    room, sign = abs(bound - start), 1 if bound > start else -1
    if room == 0:
        return
    first = max(1.0 if knob.whole else 0.0, FIRST * knob.scale)
    grows = max(GROWS, (room / first) ** (1 / steps))
    step, last = first, start
    while step < room:
        value = start + sign * (round(step) if knob.whole else step)
        if value != last:
            yield value
        last, step = value, step * grows
    yield bound


def _given(knob: Knob, value: float) -> Value:
    return int(value) if knob.whole else value


def _between(knob: Knob, no: float, yes: float, does: Callable[[Value], bool]) -> float:
    """The least of what is enough, as far as it is worth knowing."""
    start = _start(knob)
    far = abs(yes - start)
    while abs(yes - no) > (1 if knob.whole else NEAR * min(far, abs(yes - start) or far)):
        middle = (no + yes) / 2
        middle = float(round(middle)) if knob.whole else middle
        if middle in (no, yes):
            break
        if does(_given(knob, middle)):
            yes = middle
        else:
            no = middle
    return yes if knob.whole else _short(start, yes, does, (knob.least, knob.most))


def _short(
    start: float, yes: float, does: Callable[[Value], bool], bounds: tuple[float, float]
) -> float:
    """A little further out, with fewer digits."""
    outwards = ceil if yes > start else floor
    most = abs(yes - start) * ROUNDED
    for digits in DIGITS:
        unit = 10.0 ** (floor(log10(abs(yes))) - digits + 1) if yes else 1.0
        value = round(outwards(yes / unit - (1e-9 if yes > start else -1e-9)) * unit, 12)
        inside = bounds[0] <= value <= bounds[1]
        if inside and abs(value - yes) <= most and does(value):
            return value
    return yes


# --- told


def _far(knob: Knob, then: Value) -> float:
    if knob.choices or not isinstance(then, float | int) or not isinstance(knob.value, float | int):
        return CHOICE
    return abs(then - knob.value) / knob.scale


def _flip(knob: Knob, then: Value, action: str) -> Flip:
    look = knob.change(then)
    assert look is not None, "it was asked with it"
    still = hindered(look, action)
    text = f"it would have {DONE[action]} {_told(knob, then)}"
    text += f"; then still {still}" if still else ""
    return Flip(knob.kind, knob.name, knob.value, then, _far(knob, then), text, still)


def _told(knob: Knob, then: Value) -> str:
    if knob.kind == SETTING:
        return f"with {knob.name} = {shown(then)} instead of {shown(knob.value)}"
    if knob.choices:
        return f"if {knob.what}" if then else f"had it not been that {knob.what}"
    unit = f" {knob.unit}" if knob.unit else ""
    text = f"if {knob.what} were {shown(then)}{unit} instead of {shown(knob.value)}{unit}"
    if isinstance(then, float | int) and isinstance(knob.value, float | int) and knob.value:
        text += f" (x {then / knob.value:.3g})"
    return text


def shown(value: Value) -> str:
    """As a person would write it."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        return value
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.5g}"
