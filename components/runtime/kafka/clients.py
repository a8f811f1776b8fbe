"""The Kafka clients, and what of the topics' table the broker has; see `turbine_client.clients`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from events.topics import BY_SHORT
from turbine_client.clients import (
    ABSENT,
    DENIED,
    INFLATED_BYTES,
    LOCAL_CLUSTER,
    MESSAGE_BYTES,
    PACKED,
    SIPPING,
    BrokerUnreachable,
    LoginRefused,
    admin,
    cluster_of,
    consumer,
    counts_of,
    knock,
    of_strangers,
    place_of,
    producer,
    refresh,
    spot,
    unreachable,
)
from turbine_client.errors import NoTopic
from turbine_client.settings import BadSettings, Settings

__all__ = [
    "ABSENT",
    "DENIED",
    "INFLATED_BYTES",
    "LOCAL_CLUSTER",
    "MESSAGE_BYTES",
    "PACKED",
    "SIPPING",
    "BrokerUnreachable",
    "LoginRefused",
    "admin",
    "cluster_of",
    "consumer",
    "counts_of",
    "knock",
    "of_strangers",
    "partitions_for",
    "partitions_of",
    "place_of",
    "producer",
    "refresh",
    "spot",
    "unreachable",
]


def partitions_of(settings: Settings, shorts: Mapping[str, Any] | None = None) -> dict[str, int]:
    """Short name to number of partitions, of each of our topics that the broker has."""
    found = counts_of(settings)
    names = {
        short: settings.topic(short) for short in BY_SHORT if shorts is None or short in shorts
    }
    return {short: found[name] for short, name in names.items() if name in found}


def partitions_for(settings: Settings, shorts: Iterable[str]) -> int:
    """P, as the log has it: these per-job topics must be there, and agree on it. Rows of one who
    is not of this tree lie on a topic beside those of the table."""
    counts, needed = counts_of(settings), sorted(shorts)
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
