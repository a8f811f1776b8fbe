"""Knows the day of the fleet that is nowhere: what it did over time, and what changed. Pure."""

from __future__ import annotations

import math

from tests.browser.facts import MINUTE_MS, Facts, Row


def fleet_series(facts: Facts, begin_ms: int, end_ms: int, buckets: int) -> Row:
    """A day with an evening peak, half an hour of which nobody knows anything, and restarts."""
    times = [begin_ms + (end_ms - begin_ms) * at // buckets for at in range(buckets)]
    gap = range(buckets * 2 // 3, buckets * 2 // 3 + max(1, buckets // 40))
    many = len(facts.names)

    def told(value: float, at: int) -> float | None:
        return None if at in gap or not many else round(value, 2)

    wave = [1 + 0.4 * math.sin(at * 6.3 / buckets) for at in range(buckets)]
    return {
        "t_ms": times,
        "end_ms": end_ms,
        "rate_in": [told(1850 * many * one, at) for at, one in enumerate(wave)],
        "lag_seconds": [told(4 + (240 if at > buckets * 0.9 else 0), at) for at in range(buckets)],
        "tasks": [told(8 * many, at) for at in range(buckets)],
        "cores": [told(2 * many * one, at) for at, one in enumerate(wave)],
        "jobs": [told(many, at) for at in range(buckets)],
        "lag_unknown": [told(3, at) for at in range(buckets)],
        "restarts": [(7 if at % 31 == 3 else 0) if many else 0 for at in range(buckets)],
    }


def digest_of(facts: Facts, since_ms: int, at_ms: int) -> Row:
    """One job needs somebody, one is to be looked at, one has changed; a container was lost."""
    names = facts.alive(at_ms)[:3]
    rows = [_job(facts, name, at, at_ms) for at, name in enumerate(names)]
    tier = {
        "tier": "default", "open": [], "cleared": [], "plans": 2, "killed": 0,
        "moves": {"orphan": 12, "balance": 3},
        "events": [{"at_ms": at_ms - 9 * MINUTE_MS, "id": "x", "text": facts.text}],
    }  # fmt: skip
    return {
        "since_ms": since_ms, "until_ms": at_ms, "whole": True, "jobs": rows,
        "quiet": max(0, len(facts.names) - len(rows)), "tiers": [tier] if rows else [],
    }  # fmt: skip


def _job(facts: Facts, name: str, at: int, at_ms: int) -> Row:
    then = at_ms - 20 * MINUTE_MS
    said: Row = {"at_ms": then, "id": "decision-1", "explanation": facts.text, "text": facts.text}
    change = said | {
        "what": "changed", "layer": "base", "version": 4, "author": facts.author,
        "reason": facts.text, "expires_ms": None, "more": 0,
        "differences": [{"path": "tasks", "before": 4, "after": 6}],
    }  # fmt: skip
    scaled = said | {
        "action": "scale-up", "tasks": 8, "tasks_before": 4, "mode": "act", "because": facts.text,
        "outcome": "reverted" if at == 1 else "verified", "became": f"kept: {facts.text}",
    }  # fmt: skip
    alert = said | {"alert": "job-quarantined", "severity": "critical", "cause": facts.text}
    held = said | {"cause": "operator-error"}
    return {
        "job": name,
        "stands": ("needs you", "look", "fine")[at],
        "open": [alert] if at == 0 else [],
        "quarantine": held if at == 0 else None,
        "failed": None,
        "waits_ms": then if at == 0 else None,
        "scaling": [scaled] if at else [],
        "config": [change] * 2,
        "rejected": [],
        "cleared": [],
        "released": [],
        "syncs": {"committed": 2},
    }
