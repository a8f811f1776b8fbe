"""One key as far as one evidence says, from the log's beginning, and what is said of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from components.runtime.core.component import Component
from components.runtime.core.progress import Possible
from components.runtime.core.step import KeyState, Stepper
from events.wire.codec import Read, Record

END_OF_TIME_MS = 1 << 62


class Alone:
    """Folded by the one step, beside all other keys."""

    def __init__(
        self,
        component: Component[Any],
        places: Iterable[str],
        possible: Possible,
        key: str,
        evidence: Mapping[str, int],
    ) -> None:
        self._key, self._evidence = key, evidence
        self._owner: Stepper[Any] = Stepper(component, places, possible, held={key: KeyState()})

    def read(self, read: Read) -> None:
        """A record about the key; what the evidence does not name is passed over."""
        if read.offset < self._evidence.get(read.place, 0):
            self._owner.read(read)

    def end(self) -> KeyState[Any]:
        """All below the evidence was read: what is known of the key then."""
        end_at(self._owner, self._evidence)
        return self._owner.held[self._key]

    def say(self, tick_ms: int) -> list[tuple[str, Record]]:
        """All that its component says of it at that tick."""
        return self._owner.would_emit(self._key, tick_ms)


def end_at(owner: Stepper[Any], evidence: Mapping[str, int]) -> None:
    """What the owner has not been given below the evidence is passed over, and never comes."""
    for at, offset in sorted(evidence.items()):
        if at in owner.places and offset:
            owner.pass_by(at, offset - 1, 0)
    owner.now_ms = END_OF_TIME_MS
    owner.settle()
