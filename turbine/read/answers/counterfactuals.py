"""The smallest change of one input or setting with which a verdict would have been another. Pure.

The policy itself is asked, again and again: outwards from the value that it had, in growing steps,
then between the last one that changed nothing and the first that did. What is answered was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil, floor, log10
from typing import NamedTuple

from components.auto_scaler.core.catalogue import replays
from projections.scaling.actions import (
    ALERT,
    MEMORY_DOWN,
    MEMORY_UP,
    MOVE,
    REBALANCE,
    REVERT,
    SCALE_DOWN,
    SCALE_UP,
)
from turbine.read.answers.evaluation import Evaluation, comes_to, hindered
from turbine.read.answers.journal import Answer
from turbine.read.answers.policy_inputs import SETTING, PolicyInput, Value, inputs_of

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


@dataclass(frozen=True, slots=True)
class Counterfactual(Answer):
    """One change that is enough."""

    kind: str
    """input or setting"""
    name: str
    value: Value
    """What it was."""
    then: Value
    """The nearest value that is enough."""
    distance: float
    """How far that is, in parts of what it was."""
    text: str
    """The same as a sentence."""
    hindered: str
    """What would still have stood between the verdict and a change; empty for nothing."""


def counterfactuals(given: Evaluation, action: str) -> list[Counterfactual]:
    """All single changes that would have made it the verdict, the nearest first."""
    found = list[tuple[float, Counterfactual]]()
    steps = FEWER if replays(given.facts.policy) else STEPS
    for varied in inputs_of(given):
        then = nearest(varied, partial(_does, varied, action), steps)
        if then is not None:
            found.append((_far(varied, then.value), _counterfactual(varied, then.value, action)))
    return [one for _, one in sorted(found, key=lambda pair: (pair[0], pair[1].name))]


class FoundValue(NamedTuple):
    """A value; it may be None itself."""

    value: Value


def _does(varied: PolicyInput, action: str, value: Value) -> bool:
    given = varied.change(value)
    return given is not None and comes_to(given, action)


def nearest(
    varied: PolicyInput, does: Callable[[Value], bool], steps: int = STEPS
) -> FoundValue | None:
    """The value next to the one that it had for which that holds; None where none was found."""
    if varied.choices:
        return next((FoundValue(one) for one in varied.choices if does(one)), None)
    sides = [
        _towards(varied, _outwards(varied, bound, steps), does)
        for bound in (varied.most, varied.least)
    ]
    known = [one for one in sides if one is not None]
    if not known:
        return None
    start = _start(varied)
    best = min(known, key=lambda one: (abs(one - start), one))
    return FoundValue(int(best) if varied.whole else best)


def _towards(
    varied: PolicyInput, values: Iterator[float], does: Callable[[Value], bool]
) -> float | None:
    """The first value outwards, on one side, that does it."""
    last = _start(varied)
    for value in values:
        if does(_given(varied, value)):
            return _between(varied, last, value, does)
        last = value
    return None


def _start(varied: PolicyInput) -> float:
    assert isinstance(varied.value, float | int), "what has bounds is a number"
    return float(varied.value)


def _outwards(varied: PolicyInput, bound: float, steps: int) -> Iterator[float]:
    start = _start(varied)
    room, sign = abs(bound - start), 1 if bound > start else -1
    if room == 0:
        return
    first = max(1.0 if varied.whole else 0.0, FIRST * varied.scale)
    grows = max(GROWS, (room / first) ** (1 / steps))
    step, last = first, start
    while step < room:
        value = start + sign * (round(step) if varied.whole else step)
        if value != last:
            yield value
        last, step = value, step * grows
    yield bound


def _given(varied: PolicyInput, value: float) -> Value:
    return int(value) if varied.whole else value


def _between(varied: PolicyInput, no: float, yes: float, does: Callable[[Value], bool]) -> float:
    """The least of what is enough, as far as it is worth knowing."""
    start = _start(varied)
    far = abs(yes - start)
    while abs(yes - no) > (1 if varied.whole else NEAR * min(far, abs(yes - start) or far)):
        middle = (no + yes) / 2
        middle = float(round(middle)) if varied.whole else middle
        if middle in (no, yes):
            break
        if does(_given(varied, middle)):
            yes = middle
        else:
            no = middle
    return yes if varied.whole else _short(start, yes, does, (varied.least, varied.most))


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


def _far(varied: PolicyInput, then: Value) -> float:
    if (
        varied.choices
        or not isinstance(then, float | int)
        or not isinstance(varied.value, float | int)
    ):
        return CHOICE
    return abs(then - varied.value) / varied.scale


def _counterfactual(varied: PolicyInput, then: Value, action: str) -> Counterfactual:
    given = varied.change(then)
    assert given is not None, "it was asked with it"
    still = hindered(given, action)
    text = f"it would have {DONE[action]} {_told(varied, then)}"
    text += f"; then still {still}" if still else ""
    return Counterfactual(
        varied.kind, varied.name, varied.value, then, _far(varied, then), text, still
    )


def _told(varied: PolicyInput, then: Value) -> str:
    if varied.kind == SETTING:
        return f"with {varied.name} = {shown(then)} instead of {shown(varied.value)}"
    if varied.choices:
        return f"if {varied.what}" if then else f"had it not been that {varied.what}"
    unit = f" {varied.unit}" if varied.unit else ""
    text = f"if {varied.what} were {shown(then)}{unit} instead of {shown(varied.value)}{unit}"
    if isinstance(then, float | int) and isinstance(varied.value, float | int) and varied.value:
        text += f" (x {then / varied.value:.3g})"
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
