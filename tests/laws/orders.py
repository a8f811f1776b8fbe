"""Orders in which a log may be read: each place in its own, and all after what its author knew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from events.wire.codec import Read


def in_any_order(
    log: list[Read], data: Any, chain: str, told: Callable[[Read], bool]
) -> list[Read]:
    """Everything after what its author had read: a decision's author all that there was; who was
    told of one, and says so, the chain."""
    places: dict[str, list[tuple[dict[str, int], Read]]] = {}
    for read in log:
        knows: dict[str, int] = {}
        if read.place == chain:
            knows = {at: len(reads) for at, reads in places.items()}
        elif told(read):
            knows = {chain: len(places.get(chain, ()))}
        places.setdefault(read.place, []).append((knows, read))
    done = dict.fromkeys(places, 0)
    order: list[Read] = []
    while len(order) < len(log):
        free = [
            at
            for at in sorted(places)
            if done[at] < len(places[at])
            and all(done[other] >= end for other, end in places[at][done[at]][0].items())
        ]
        at = free[0] if len(free) == 1 else data.draw(st.sampled_from(free))
        order.append(places[at][done[at]][1])
        done[at] += 1
    return order
