"""A decision as an entry of the journal: what a list and the stream tell of it. Pure."""

from __future__ import annotations

from typing import Any

from events.topics import JOURNAL
from turbine.cli.jobs import decision_to_plain
from turbine.log import Standing

Row = dict[str, Any]


def entry_to_plain(one: Standing) -> Row:
    """A decision as an entry of the journal."""
    row, record = decision_to_plain(one), one.read.record
    tier = None if one.read.topic == JOURNAL else record.key.partition("/")[0]
    return row | {
        "job": record.key if tier is None else "",
        "tier": tier,
        "component": record.source,
    }
