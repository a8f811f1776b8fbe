"""What a fold starts from: nothing, or rows that were kept, each fetched when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from components.runtime.core.step import KeyState
from turbine.read.state.beside_rows import Rest

V = TypeVar("V")

JOBS, SYNCS, CHAINS, NOTES, LOADED = "jobs", "syncs", "chains", "notes", "loads"
FLEET, CAPACITY = "fleet", "capacity"
OWNED = (JOBS, SYNCS, CHAINS, FLEET, CAPACITY)
"""What rows are kept under; those of owners are kept with their chains."""


def of_tier(what: str, tier: str) -> str:
    """What the rows of one tier are kept under."""
    return f"{what}/{tier}"


class Fetched(dict[str, V]):
    """Rows by their keys; one that is not there yet is fetched. Only those that were are listed."""

    def __init__(self, fetch: Callable[[str], V | None]) -> None:
        super().__init__()
        self._fetch = fetch

    def get(self, key: str, default: Any = None) -> Any:
        """The row; the default where there is none."""
        if key not in self:
            found = self._fetch(key)
            if found is None:
                return default
            self[key] = found
        return self[key]


KeptRows = dict[str, Any]
"""Rows by their keys, of the kind that lies under one name."""


class FoldStart:
    """Where a fold begins: at the first record, with no rows."""

    seen: Mapping[str, int] = MappingProxyType({})
    rest = Rest()
    tiers: tuple[str, ...] = ()

    def rows(self, name: str) -> KeptRows:
        """The rows that are kept under that name."""
        assert name, "each row lies under one"
        return {}


def pack_held(one: KeyState[Any]) -> tuple[Any, ...]:
    """What an owner holds of a key, and goes on from."""
    return one.row, one.vector, one.last, one.early, one.tick_ms, one.frozen


def unpack_held(found: tuple[Any, ...]) -> KeyState[Any]:
    """The state of a key that `pack_held` was given."""
    row, vector, last, early, tick_ms, frozen = found
    return KeyState(row, vector, last, early, tick_ms, frozen)
