"""Which records that are held back each claim to have known the next one. Pure.

What an author had read was there before it spoke, so honest evidence never runs in a cycle. Two
forgeries that name each other's positions would hold their key back for ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from events.wire.codec import Read


def cycle(early: Mapping[str, Sequence[Read]]) -> list[str]:
    """Places whose first records each claim to have known the next one: none of them can have."""
    waits = {
        place: [
            at
            for at, offset in sorted(queue[0].record.evidence.items())
            if at in early and early[at][0].offset < offset
        ]
        for place, queue in early.items()
    }
    if len(waits) < 2:
        return []
    for start in sorted(waits):
        if _leads(waits, start, start):
            return [
                at for at in sorted(waits) if _leads(waits, start, at) and _leads(waits, at, start)
            ]
    return []


def _leads(waits: Mapping[str, Sequence[str]], at: str, to: str) -> bool:
    seen, todo = {at}, list(waits[at])
    while todo:
        one = todo.pop()
        if one == to:
            return True
        if one not in seen:
            seen.add(one)
            todo += waits[one]
    return False
