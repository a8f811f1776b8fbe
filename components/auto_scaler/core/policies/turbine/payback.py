"""Whether a smaller size is worth its restart: what it would have saved lately has to pay for it.

Nobody knows what comes back within minutes. So a size is given up once it was not needed for long
enough, and the more a smaller one saves, the sooner: what is paid too much by waiting is never more
than the restart that it would have cost not to wait. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from components.auto_scaler.core.policies.turbine.demand import carries
from components.auto_scaler.core.policies.turbine.shapes import (
    SizeRoom,
    price_least,
    price_of,
    price_of_size,
    reads_most,
    shaped,
)
from projections.scaling.actions import JobSize
from projections.scaling.capacity import Curve
from projections.scaling.seen import JobFacts

STRETCHES = (5, 8, 13, 21, 34, 55, 89, 144)
"""Minutes that a smaller size is held against, up to the look back."""


class ShrinkTerms(NamedTuple):
    """On which a smaller size is taken."""

    least: float  # records a second that it reads in any case
    factor: float  # of what came in, that it reads
    wait_s: float  # that records may have waited
    minutes: float  # of all that the job costs: the price of a restart
    share: float  # of what it costs, that is saved at least
    look_back: int  # minutes


class ShrinkOffer(NamedTuple):
    """A smaller size that is worth its restart."""

    size: JobSize
    need: float  # records a second
    minutes: int  # for which it would have been enough
    saves: float  # share of what the job costs


def offer(
    curve: Curve, job: JobFacts, arrived: Sequence[float], terms: ShrinkTerms, room: SizeRoom
) -> ShrinkOffer | None:
    """The one that saves most; None where none has paid for itself."""
    now = price_of(job)
    most = 1 - price_least(curve, job, terms.least * terms.factor, room) / now
    for minutes in _stretches(min(terms.look_back, len(arrived))):
        asked = max(terms.share, terms.minutes / minutes)
        if asked > most:
            continue  # nothing saves so much: most looks end here
        # What reads more than that saves too little.
        enough = reads_most(curve, job, now * (1 - asked), room) / terms.factor * (1 + 1e-9)
        rate = carries(arrived[-minutes:], terms.wait_s, enough)
        if rate > enough:
            continue
        need = max(terms.least, rate) * terms.factor
        size = shaped(curve, job, need, room)
        saves = 1 - price_of_size(size) / now
        if saves >= asked:
            return ShrinkOffer(size, need, minutes, saves)
    return None


def _stretches(most: int) -> Iterator[int]:
    for minutes in STRETCHES:
        if minutes >= most:
            break
        yield minutes
    if most >= STRETCHES[0]:
        yield most
