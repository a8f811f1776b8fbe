"""What a layer with temporary changes is and becomes: one that ended might never have been. Pure.

Ends come in the order of their instants, so what a layer becomes is a chain: what it is now, and
what it is from each end on. A lasting change is made to every link; a temporary one to those before
its end, and at its end stands what that link is without it. Those that end at one instant are one
link, as between them nothing ever stands. So nobody has to tell afterwards which
value of which path was whose, however paths nest, hide and clear each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from events.generated.records import ConfigChangeProposed
from projections.jobs import End, LayerState

ENDS_MOST = 16
"""Temporary changes of one layer that still have something to take back: whoever needs more of them
wants a lasting one. Each is a layer that has to be a sound config by the time it stands."""
ENDS_BYTES = 32 * 1024
"""All that a decision tells of them, beside the layer, the merged config and what people say."""


def change_ends(
    layer: LayerState, change: Callable[[str], str], end: tuple[int, str, str] | None = None
) -> tuple[str, tuple[End, ...]]:
    """The layer after a change, and its ends; a temporary one has an instant, id and author."""
    if end is None:
        after = tuple(one._replace(config_json=change(one.config_json)) for one in layer.ends)
        return _told(change(layer.config_json), after)
    before = tuple(one for one in layer.ends if one.expires_ms <= end[0])
    changed = [one._replace(config_json=change(one.config_json)) for one in before]
    own = End(*end, before[-1].config_json if before else layer.config_json)
    now_json = change(layer.config_json)
    if changed and changed[-1].expires_ms == end[0]:
        older = changed.pop()
        own = _together(older, own, changed[-1].config_json if changed else now_json)
    return _told(now_json, (*changed, own, *layer.ends[len(before) :]))


def _together(older: End, newer: End, before_json: str) -> End:
    """One end of those at one instant. The older ones would go first, and what they leave is the
    newer one's: whoever takes nothing back is not named."""
    if older.config_json == before_json:
        return newer
    if newer.config_json == older.config_json:
        return older
    return newer._replace(other_ids=(*older.other_ids, older.change_id))


def _told(config_json: str, ends: tuple[End, ...]) -> tuple[str, tuple[End, ...]]:
    """Without ends of changes of which nothing is left, since later ones set or cleared it all."""
    found: list[End] = []
    before = config_json
    for one in ends:
        if one.config_json != before:
            found.append(one)
        before = one.config_json
    return config_json, tuple(found)


def end_of(asked: ConfigChangeProposed) -> tuple[int, str, str] | None:
    """Instant, id and author of a change that is to end."""
    if asked.expires_ms is None:
        return None
    return asked.expires_ms, asked.change_id, asked.author


def ends_whole(asked: ConfigChangeProposed) -> tuple[End, ...]:
    """As a logic of the past took it: with its last change ended all of a layer, or nothing."""
    end = end_of(asked)
    return () if end is None else (End(*end, "{}"),)


def changes_of(ends: Iterable[End]) -> int:
    """How many temporary changes end there."""
    return sum(1 + len(one.other_ids) for one in ends)


def layer_then(layer: LayerState, at_ms: int) -> str:
    """What the layer is at an instant, if nothing else is said."""
    passed = [one.config_json for one in layer.ends if one.expires_ms <= at_ms]
    return passed[-1] if passed else layer.config_json


def bytes_of(ends: tuple[End, ...]) -> int:
    """What a decision tells of the ends, in bytes of texts."""
    return sum(len("".join(one.texts).encode()) for one in ends)
