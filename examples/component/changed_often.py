"""A component of one's own: raises an alert when a job was changed too often within an hour.

All of it is pure: the same records give the same alerts, in a test, in production and after each
restart. `serve.py` runs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from components.runtime.core.component import Component
from events.generated.records import AlertCleared, AlertRaised, Body, JobConfigChanged
from events.topics import JOURNAL
from events.wire.codec import Read

ALERT = "changed-often"
CHANGES_MOST, WITHIN_MS = 3, 3_600_000


class Row(NamedTuple):
    """What the component knows of one job."""

    job: str
    changed_ms: tuple[int, ...] = ()  # the broker's times, oldest first, one more than the limit
    raised: bool = False


def fold(row: Row | None, read: Read) -> Row:
    """The row after one more record."""
    row = row or Row(read.record.key)
    match read.record.body:
        case JobConfigChanged():
            return row._replace(changed_ms=(*row.changed_ms, read.at_ms)[-CHANGES_MOST - 1 :])
        case AlertRaised(alert=alert) | AlertCleared(alert=alert) if alert == ALERT:
            return row._replace(raised=read.record.kind == "AlertRaised")
        case _:
            return row


def calm_ms(row: Row) -> int:
    """The instant from which no hour has too many changes; 0 where none ever had."""
    return row.changed_ms[0] + WITHIN_MS if len(row.changed_ms) > CHANGES_MOST else 0


def decide(row: Row, now_ms: int) -> Iterator[Body]:
    """What should be said now. It takes effect in `fold`, once it is read back from the log."""
    often = now_ms < calm_ms(row)
    if often and not row.raised:
        cause = f"{row.job} was changed more than {CHANGES_MOST} times within an hour"
        yield AlertRaised(row.job, ALERT, "warning", cause, "ask the authors what they are after")
    elif row.raised and not often:
        yield AlertCleared(row.job, ALERT, f"{row.job} has been left alone")


def wake_ms(row: Row, now_ms: int) -> int | None:
    """When to look again although nothing was read; later than now."""
    return calm_ms(row) if calm_ms(row) > now_ms else None


def load(plain: Any) -> Row:
    """The row that `dump` made plain."""
    job, changed_ms, raised = plain
    return Row(job, tuple(changed_ms), raised)


component: Component[Row] = Component(
    name="changed-often",
    logic="changed-often/1",  # a new one with each change of the functions above
    output=JOURNAL,
    inputs=frozenset({JOURNAL}),
    folds=frozenset({"JobConfigChanged", "AlertRaised", "AlertCleared"}),
    says=frozenset({"AlertRaised", "AlertCleared"}),
    fold=fold,
    decide=decide,
    effects=lambda _: (),  # an alert owes nothing to other topics
    wake_ms=wake_ms,
    dump=list,
    load=load,
)
