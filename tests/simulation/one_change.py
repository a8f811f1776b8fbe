"""One thing in the good story of a job is said otherwise: earlier, again or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from events.generated.records import Body
from tests.simulation.job_story import Script, good, place_of

Change = Callable[[Script], Script]


def nth(kind: type[Body], at: int = 0, /, **fields: Any) -> int:
    """Where the record of that kind with these fields is said; of several the one at that place."""
    found = [
        i
        for i, (_, body) in enumerate(good())
        if isinstance(body, kind) and all(getattr(body, k) == v for k, v in fields.items())
    ]
    return found[at]


def changed(at: int, **fields: Any) -> Change:
    place, body = good()[at]
    some: Any = body
    other: Body = replace(some, **fields)
    return lambda script: (*script[:at], (place, other), *script[at + 1 :])


def without(*ats: int) -> Change:
    return lambda script: tuple(said for at, said in enumerate(script) if at not in ats)


def after(at: int, *bodies: Body) -> Change:
    more = tuple((place_of(body), body) for body in bodies)
    return lambda script: (*script[: at + 1], *more, *script[at + 1 :])


def moved(at: int, before: int) -> Change:
    """What was said at one point is said earlier."""
    return lambda script: (
        *script[:before],
        script[at],
        *script[before:at],
        *script[at + 1 :],
    )


def body_of(at: int) -> Any:
    return good()[at][1]
