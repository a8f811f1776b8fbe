"""The readers of places; see `turbine_client.reading`."""

from __future__ import annotations

from turbine_client.reading import (
    BATCH,
    PATIENCE_S,
    Asker,
    Follower,
    Unreadably,
    committed_at,
    committed_now,
    ends_now,
    group_offsets,
    read_span,
    starts_now,
    times_now,
)

__all__ = [
    "BATCH",
    "PATIENCE_S",
    "Asker",
    "Follower",
    "Unreadably",
    "committed_at",
    "committed_now",
    "ends_now",
    "group_offsets",
    "read_span",
    "starts_now",
    "times_now",
]
