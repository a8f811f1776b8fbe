"""What of the table of topics the broker has; the clients are in `turbine_client.clients`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from events.topics import BY_SHORT
from turbine_client import clients
from turbine_client.errors import NoTopic
from turbine_client.settings import BadSettings, Settings


def partitions_of(settings: Settings, shorts: Mapping[str, Any] | None = None) -> dict[str, int]:
    """Short name to number of partitions, of each of our topics that the broker has."""
    found = clients.partitions_of(settings)
    wanted = BY_SHORT if shorts is None else BY_SHORT.keys() & shorts.keys()
    return {short: found[short] for short in BY_SHORT if short in wanted and short in found}


def partitions_for(settings: Settings, shorts: Iterable[str]) -> int:
    """P, as the log has it: these per-job topics must be there, and agree on it. Rows of one who
    is not of this tree lie on a topic beside those of the table."""
    counts, needed = clients.counts_of(settings), sorted(shorts)
    found = {short: counts[name] for short in needed if (name := settings.topic(short)) in counts}
    for short in needed:
        if short not in found:
            raise NoTopic(
                f"the broker has no topic {settings.topic(short)}; create it with"
                " `turbine topics apply`"
            )
    if len({found[short] for short in needed}) > 1:
        told = ", ".join(f"{short}: {found[short]}" for short in needed)
        raise BadSettings(f"per-job topics must have equally many partitions, but have {told}")
    return found[needed[0]]
