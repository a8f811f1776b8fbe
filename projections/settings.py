"""How a tier is to be placed and shared: what its record says, or what holds where it says nothing.

Pure.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

MEASURED, HASHED = "measured", "hashed"


class Placing(NamedTuple):
    """The settings of a tier's placement; shares are in thousandths."""

    mode: str = MEASURED  # by load, or by a hash where nobody reports any (Turbine IV-B)
    band: int = 100  # how far a container may be from the tier's mean
    headroom: int = 100  # of each container, kept free
    moves_max: int = 100  # of the tier's shards in one plan, but for those that have no container
    load_max: int = 100  # of the tier's load in one plan, with the same exception
    moves_per_job_max: int = 0  # in one plan; 0: as many as there are
    brake: int = 300  # of the tier's containers: if more are gone at once, a person is asked
    flights: int = 5  # moves under way from, and to, one container at a time


BOUNDS = {
    "band": (10, 1000),
    "headroom": (0, 900),
    "moves_max": (1, 1000),
    "load_max": (1, 1000),
    "moves_per_job_max": (0, 10_000),
    "brake": (0, 1000),
    "flights": (1, 1000),
}
"""What a tier's settings may say of each."""


SCALES = (1, 100_000)
"""Of times, in thousandths; of all, and of what tasks take to stop and to start."""
_TIMES = ("acts_per_mille", "time_per_mille")


class SharingSettings(NamedTuple):
    """How the capacity of a tier is shared among its jobs and lent to others.

    Shares are in thousandths of what may be used, which is the capacity less the head-room that
    placement keeps. Times are in milliseconds of the log.
    """

    tight: int = 850
    """From there on jobs have limits: what is left is room for a sixth more, so that a storm over
    all jobs, such as the paper's +16 % (VI-B), finds the tier at its limit and not beyond it."""
    plenty: int = 750
    """Limits are lifted below it. A tenth lies between the two: more than what one job of a tier,
    or the next report of loads, moves, so that limits do not come and go."""
    lend_to: int = 600
    """A lender is no fuller than that afterwards: it has a quarter more of its load to go before it
    has to ask its containers back."""
    lend_max: int = 300
    """Of a tier's own containers, away at once: as many as may be gone by accident before a person
    is asked (`Placing.brake`)."""
    preempt: int = 1
    """Whether jobs may be stopped when nothing else helps; 0: a person has to do it."""
    report_ms: int = 1_800_000
    """Between reports where nothing changes: as often as a tier is balanced."""
    pause_ms: int = 60_000
    """The least between two reports, and between two rounds of limits: as often as tasks report."""
    short_ms: int = 300_000
    """More is reserved than there is for so long, and then jobs are stopped: containers that are
    failed over and come back by themselves take less (60 s of silence and a start)."""
    step_ms: int = 300_000
    """From one stop, return or loan to the next: so long it takes to see what the last one did."""
    loan_ms: int = 1_800_000
    """A loan is kept as long at least, as to move containers restarts all that they hold; after as
    long a tier is balanced anyway."""

    def scaled(self, per_mille: int) -> SharingSettings:
        """Its times shorter or longer, as the tier's others are."""
        times = {name: getattr(self, name) for name in self._fields if name.endswith("_ms")}
        return self._replace(**{n: max(1, ms * per_mille // 1000) for n, ms in times.items()})


SHARING_BOUNDS = {
    "tight": (100, 1000),
    "plenty": (50, 990),
    "lend_to": (0, 950),
    "lend_max": (0, 1000),
    "preempt": (0, 1),
}
"""What a tier's settings may say of its sharing."""
_ALL_BOUNDS = {**BOUNDS, **SHARING_BOUNDS}


def sharing_of(settings_json: str) -> SharingSettings:
    """What a tier's settings say; what they do not name, or cannot mean, is as in the table.

    A tier that is tight has no plenty: the lower limit gives way where they name it too high.
    """
    usual = SharingSettings()
    named = {
        name: number_in(settings_json, name, getattr(usual, name), *bounds)
        for name, bounds in SHARING_BOUNDS.items()
    }
    named["plenty"] = min(named["plenty"], named["tight"] - 10)
    named["lend_to"] = min(named["lend_to"], named["plenty"])
    return usual._replace(**named).scaled(scales_in(settings_json)[0])


def placing_of(settings_json: str) -> Placing:
    """What a tier's settings say; what they do not name, or cannot mean, is as in the table."""
    usual = Placing()
    named: dict[str, Any] = {
        name: number_in(settings_json, name, getattr(usual, name), *bounds)
        for name, bounds in BOUNDS.items()
    }
    mode = _plain(settings_json).get("placement")
    return Placing(mode=HASHED if mode == HASHED else MEASURED, **named)


def number_in(settings_json: str, name: str, usual: int, least: int, most: int) -> int:
    """A whole number of the settings; what is usual where they have none, or one out of bounds."""
    found = _plain(settings_json).get(name, usual)
    if not isinstance(found, int) or isinstance(found, bool):
        return usual
    return found if least <= found <= most else usual


def scales_in(settings_json: str) -> tuple[int, int]:
    """Of a tier's times, in thousandths: of what is waited for, and of what tasks take to stop and
    to start, a cold engine among them. That is the machine's matter: a tier that waits a tenth for
    all else must not give up each container that starts, or kill each task that stops."""
    waits = number_in(settings_json, "time_per_mille", 1000, *SCALES)
    return waits, number_in(settings_json, "acts_per_mille", waits, *SCALES)


def trouble_in(settings_json: str) -> str:
    """What is wrong with a tier's settings, in one sentence; "" for nothing."""
    try:
        plain = json.loads(settings_json)
    except (ValueError, RecursionError) as bad:
        return f"the settings are no JSON: {bad}"
    if not isinstance(plain, dict):
        return "the settings have to be a JSON object"
    for name, found in sorted(plain.items()):
        if name == "placement":
            if found not in (MEASURED, HASHED):
                return f"placement is {found!r}; it is {MEASURED} or {HASHED}"
            continue
        bounds = SCALES if name in _TIMES else _ALL_BOUNDS.get(name)
        if bounds is None:
            known = ", ".join(sorted(["placement", *_TIMES, *_ALL_BOUNDS]))
            return f"there is no setting {name}; there are {known}"
        if not isinstance(found, int) or isinstance(found, bool):
            return f"{name} is {found!r}; it is a whole number"
        if not bounds[0] <= found <= bounds[1]:
            return f"{name} is {found}; it is from {bounds[0]} to {bounds[1]}"
    return ""


def _plain(settings_json: str) -> dict[str, object]:
    try:
        plain = json.loads(settings_json or "{}")
    except (ValueError, RecursionError):
        return {}
    return plain if isinstance(plain, dict) else {}
