"""What is sent for the jobs of a line or a file, in which terms, and the verdicts on it."""

from __future__ import annotations

import json
import time  # noqa: TID251 - patience with a verdict is real time
from collections.abc import Iterable
from dataclasses import dataclass

from events.generated.records import ConfigChangeProposed
from events.topics import LAYERS
from projections.jobs import Job
from projections.jobs import LayerState as Wanted
from turbine.cli.documents import LayerWish
from turbine.cli.verdicts import row_of
from turbine.read.differences import change_through
from turbine.read.moments import now_ms
from turbine.read.plain import JsonObject
from turbine_client.identity import change_id
from turbine_client.publish import Pending, Publisher, Unheard, Unknown, encoded

VALID_S = (60.0, 600.0)
"""How long a change may wait to be decided: as long as its author waits, within the log's bound."""


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What is sent for one job; None: the layer is what is wished already."""

    wish: LayerWish
    set: JsonObject
    clear: tuple[str, ...]
    expected_version: int | None
    unchanged: bool = False
    create: bool = False  # a job that is not there is to be made


@dataclass(frozen=True, slots=True)
class ChangeTerms:
    """What is said of all jobs of one command."""

    layer: str
    author: str
    reason: str
    expires_ms: int | None
    expected_version: int | None
    wait_s: float

    def propose(
        self, publisher: Publisher, plan: PlannedChange, change_id: str | None = None
    ) -> Pending:
        """Sends the change."""
        return publisher.propose(
            plan.wish.job,
            plan.set,
            plan.clear,
            layer=self.layer,
            create=plan.create,
            expected_version=plan.expected_version,
            reason=self.reason,
            expires_ms=self.expires_ms,
            change_id=change_id,
            valid_s=min(max(VALID_S[0], self.wait_s), VALID_S[1]),
        )

    def asked(self, plan: PlannedChange, now_ms: int) -> ConfigChangeProposed:
        """What would be sent, under an id that is as long as a real one."""
        return ConfigChangeProposed(
            change_id=change_id(now_ms + int(VALID_S[0] * 1000), "dry-run".zfill(32)),
            job=plan.wish.job,
            author=self.author,
            expected_version=plan.expected_version,
            set_json=json.dumps(plan.set, ensure_ascii=False),
            clear=plan.clear,
            reason=self.reason,
            expires_ms=self.expires_ms,
        )


def plan_of(wish: LayerWish, job: Job | None, terms: ChangeTerms) -> PlannedChange:
    """A whole layer is turned into the least change, for the version that was seen: what another
    author did meanwhile is not overwritten unseen."""
    if not wish.whole:
        return PlannedChange(wish, wish.set, wish.clear, terms.expected_version)
    layer = Wanted() if job is None else job.layers[LAYERS.index(terms.layer)]
    set_, clear = change_through([json.loads(one) for one in layer.configs_json], wish.set)
    expected = layer.version if terms.expected_version is None else terms.expected_version
    same = not set_ and not clear and layer.expires_ms is None and terms.expires_ms is None
    unchanged = same and job is not None and job.alive
    return PlannedChange(wish, set_, tuple(clear), expected, unchanged, create=True)


def check_sizes(plans: Iterable[PlannedChange], terms: ChangeTerms) -> None:
    """Refuses what no message holds: all of it before the first is sent."""
    for plan in plans:
        encoded(plan.wish.job, terms.asked(plan, now_ms()))


def await_verdicts(
    publisher: Publisher, pending: Iterable[Pending], wait_s: float
) -> list[JsonObject]:
    """The verdict of each, all within one time."""
    limit_s = time.monotonic() + wait_s
    rows = []
    for one in pending:
        try:
            left_s = max(0.0, limit_s - time.monotonic())
            verdict = publisher.verdict(one, left_s)
            if verdict == one.unanswered(left_s):
                verdict = one.unanswered(wait_s)
        except Unheard as lost:  # what is known of the others is told all the same
            verdict = Unknown(one.change_id, one.job, str(lost))
        rows.append(row_of(verdict))
    return rows


def dry_id() -> str:
    """An id as long as a real one, of what is not sent."""
    return change_id(now_ms() + int(VALID_S[0] * 1000), "dry-run".zfill(32))
