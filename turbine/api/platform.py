"""`/platform`: how the control plane itself does, as far as its own log tells."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fastapi import APIRouter

from turbine.api.asking import Seen
from turbine.api.problems import told
from turbine.api.reading import Row
from turbine.api.shapes_more import PlatformAnswer
from turbine.running import condition
from turbine.views.view import View

LETTERS_SHOWN = 20

router = APIRouter(tags=["platform"], responses=told(422, 503))


@router.get("/platform", response_model=PlatformAnswer, summary="How the control plane does")
def platform(seen: Seen) -> Any:
    """Each component's last decision, how far running is from expected, what could not be read, and
    how far this server has read."""
    view, reading = seen.view, seen.desk.reading
    topics = reading.topics()
    ends = {at: end for topic in topics for at, end in topic["ends"].items()}
    behind = sum(max(0, end - view.at[at]) for at, end in ends.items() if at in view.at)
    return {
        "now_ms": view.now_ms,
        "components": components(view),
        "reconcile": reconcile(view),
        "projection": {"position": view.at, "behind_records": behind, "at_ms": view.at_ms},
        "dead_letters": view.dead_letters,
        "dead_letters_by_reason": dict(sorted(view.letters.items())),
        "last_dead_letters": reading.letters(LETTERS_SHOWN),
        "stream_readers": seen.desk.feed.readers,
        "topics": topics,
    }


def components(view: View) -> list[Row]:
    """Each by what it decided last; how far behind it was is told by the tick that it names."""
    return [
        {
            "component": name,
            "decisions": said.records,
            "last_at_ms": said.at_ms,
            "last_position": said.position,
            "silent_ms": max(0, view.now_ms - said.at_ms),
            "tick_behind_ms": max(0, said.at_ms - said.tick_ms) if said.tick_ms else None,
        }
        for name, said in sorted(view.spoken.items())
    ]


def reconcile(view: View) -> Row:
    """How many jobs are not yet what they should be, and since when the oldest of them is not."""
    words: Counter[str] = Counter()
    since: list[int] = []
    for one in view.jobs.values():
        if one.sync is None or not one.existed:
            continue
        word = condition(one.sync)
        words[word] += 1
        if word in ("behind", "syncing", "failing") and one.notes.updated_ms:
            since.append(one.notes.updated_ms)
    return {
        "jobs_in_sync": words["in sync"],
        "jobs_behind": words["behind"],
        "jobs_syncing": words["syncing"],
        "jobs_failing": words["failing"],
        "jobs_quarantined": words["quarantined"],
        "oldest_behind_ms": max(0, view.now_ms - min(since)) if since else None,
    }
