"""A covering set: few seeds that together meet all that many meet, each thing several times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from simulation.run import SeedOutcome

MARGIN = 8
"""Of seeds that meet each thing: a change of the code that moves some loses nothing."""
SIZES = frozenset({"records", "decisions"})
"""Counts that say how much there was, and not what was met."""
CAST = "cast: "

Met = tuple[str, str]


def met_in(outcome: SeedOutcome) -> frozenset[Met]:
    """What a seed met, each with the cast that met it: a crash amid a sync is another than one of
    a fleet."""
    counts = outcome.counts
    (cast,) = (name for name, count in counts.items() if count and name.startswith(CAST))
    return frozenset((cast, name) for name, count in counts.items() if count and name not in SIZES)


def covering(outcomes: Iterable[SeedOutcome], margin: int = MARGIN) -> Sequence[int]:
    """Seeds that meet each thing as often as all of them do, or as the margin asks.

    Taken one by one: that which meets most of what is still wanted for its length in records. At
    the end those go that the others have made needless, the longest first.
    """
    met = {one.seed: met_in(one) for one in outcomes}
    length = {one.seed: one.counts["records"] for one in outcomes}
    total = Counter(thing for things in met.values() for thing in things)
    asked = {thing: min(count, margin) for thing, count in total.items()}
    wanted = dict(asked)
    chosen: list[int] = []
    while wanted:
        seed = max(
            met.keys() - set(chosen),
            key=lambda one: (len(met[one] & wanted.keys()) / length[one], -one),
        )
        chosen.append(seed)
        for thing in met[seed] & wanted.keys():
            wanted[thing] -= 1
            if not wanted[thing]:
                del wanted[thing]
    have = Counter(thing for seed in chosen for thing in met[seed])
    for seed in sorted(chosen, key=lambda one: (-length[one], one)):
        if all(have[thing] > asked[thing] for thing in met[seed]):
            have.subtract(met[seed])
            chosen.remove(seed)
    return sorted(chosen)
