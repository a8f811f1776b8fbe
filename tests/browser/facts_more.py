"""Knows the rest of the fleet that is nowhere: a job, its tasks, a decision, a tier. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from events.topics import TOPICS
from tests.browser.facts import LAYERS, MINUTE_MS, Facts, Row

RESOURCES = ("cpu", "memory")


def job_of(facts: Facts, name: str, at_ms: int) -> Row:
    """One job in full."""
    line = facts.line(name, at_ms)
    base: Row = {
        "operator": "clicks.count:run",
        "inputs": [{"topic": "clicks", "partitions": 64}],
        "package": {"name": "clicks", "version": "1.4.2"},
        "checkpoint": {"root": "/checkpoints"},
        "tasks": 4,
        "slo": {"lag_seconds": 60},
        "labels": {"owner": facts.author, "note": facts.text},
    }
    configs = [base, {}, {"tasks": 8}, {"tasks": line["tasks"]} if facts.names[0] == name else {}]
    paths = ("operator", "inputs", "package.name", "package.version", "checkpoint.root")
    origins = dict.fromkeys((*paths, "slo.lag_seconds", "labels.owner", "labels.note"), "base")
    return {
        "job": name,
        "alive": True,
        "versions": {"base": 4, "provisioner": 0, "scaler": 9, "oncall": 1},
        "expected": base | {"tasks": line["tasks"]},
        "origins": origins | {"tasks": "oncall" if configs[3] else "scaler"},
        "layers": {
            layer: {
                "version": at + 1,
                "author": facts.author if config else "",
                "reason": facts.text if config else "",
                "change_id": "1.a" if config else "",
                "config": config,
            }
            | _ends(facts, config if layer == "oncall" else {})
            for at, (layer, config) in enumerate(zip(LAYERS, configs, strict=True))
        },
        "sync": _sync(facts, name, base, line),
        "scaling": {"policy": "turbine", "mode": line["mode"], "settings": {}, "layer": {},
                    "last": facts.entry(name, "ScalingDecided", 12, at_ms - 5 * MINUTE_MS)},
        "decisions": [],
        "line": line,
        "open_alerts": [one for one in facts.alerts(at_ms) if one["subject"] == name],
    }  # fmt: skip


def _ends(facts: Facts, config: Row) -> Row:
    if not config:
        return {"expires_ms": None, "ends": []}
    ends_ms = facts.now_ms + 47 * MINUTE_MS
    gone = [{"path": path, "before": value} for path, value in config.items()]
    end = {"change_id": "1.a", "author": facts.author, "other_ids": ["1.b"], "differences": gone}
    return {"expires_ms": ends_ms, "ends": [{"expires_ms": ends_ms} | end]}


def _sync(facts: Facts, name: str, running: Row, line: Row) -> Row:
    bad = line["state"] == "quarantined"
    quarantine = {"versions": {}, "step": "start", "cause": "operator-error",
                  "explanation": facts.text}  # fmt: skip
    return {
        "job": name,
        "state": line["state"],
        "condition": "quarantined" if bad else "in sync",
        "running": running | {"tasks": 4 if bad else line["tasks"]},
        "plan": None,
        "quarantine": quarantine if bad else None,
    }


def tasks_of(facts: Facts, name: str) -> list[Row]:
    """The tasks of a job, one of them far from the others."""
    many = facts.line(name, facts.now_ms)["tasks"]
    return [_task(facts, name, at) for at in range(many)]


def task_of(facts: Facts, name: str, at: int) -> Row:
    """One task, which has failed if it is the one that is started again and again."""
    trace = f'Traceback (most recent call last):\n  File "clicks.py", line 3\nError: {facts.text}'
    failure = {
        "kind": "TaskFailed", "job": name, "task": at, "name": f"{name}/{at}",
        "at_ms": facts.now_ms - MINUTE_MS, "container": "c-05", "generation": 7,
        "shard_generation": 2, "attempt": 4, "cause": "operator-error", "error_class": "Error",
        "explanation": facts.text, "traceback": trace, "retry_ms": facts.now_ms + MINUTE_MS,
    }  # fmt: skip
    return _task(facts, name, at) | {"last_failure": failure if at == 5 else None}


def task_log_of(facts: Facts, name: str, at: int) -> Row:
    """What it printed: more than there is room for."""
    lines = [
        {"at_ms": facts.now_ms - 1000 * (60 - one), "run": "1.1",
         "stream": "stdout" if one % 7 else "stderr",
         "text": f"{name}/{at} line {one} {facts.text}"}
        for one in range(60)
    ]  # fmt: skip
    return {
        "job": name, "task": at, "name": f"{name}/{at}", "container": f"c-{at % 24:02}",
        "host": "vm-3", "read_ms": facts.now_ms, "cut": False, "lines": lines,
    }  # fmt: skip


def _task(facts: Facts, name: str, at: int) -> Row:
    slow = at == 3
    return {
        "job": name,
        "task": at,
        "name": f"{name}/{at}",
        "state": "restarting" if at == 5 else "running",
        "container": f"c-{at % 24:02}",
        "generation": 7,
        "shard_generation": 2,
        "attempt": 1,
        "since_ms": facts.now_ms - at * MINUTE_MS,
        "cause": "operator-error" if at == 5 else "",
        "explanation": facts.text if at == 5 else "",
        "reported_ms": facts.now_ms,
        "records_in_per_s": 120.0 if slow else 460.0 + at % 17,
        "records_out_per_s": 460.0,
        "bytes_in_per_s": 92_000.0,
        "bytes_out_per_s": 92_000.0,
        "lag_records": 84_000 if slow else 1200 + at,
        "lag_bytes": 84_000 * 200,
        "lag_seconds": 182.0 if slow else 2.0 + at % 5,
        "cpu_cores": 0.22,
        "memory_bytes": 310_000_000,
        "state_bytes": None,
        "busy_share": 0.98 if slow else 0.6,
        "partitions": [{"topic": "clicks", "partition": at, "lag_records": 1200,
                        "lag_bytes": 1, "lag_ms": 1, "records_in_per_s": 1.0}],
    }  # fmt: skip


def series_of(begin_ms: int, end_ms: int, buckets: int) -> Row:
    """A wave with a gap, and a step of the tasks."""
    times = [begin_ms + (end_ms - begin_ms) * at // buckets for at in range(buckets)]
    wave = [1500 + 600 * math.sin(at / 14) + 40 * math.sin(at * 1.7) for at in range(buckets)]
    gap = range(buckets // 3, buckets // 3 + 4)
    rates = [None if at in gap else round(one, 1) for at, one in enumerate(wave)]
    late = [None if at in gap else max(2, 90 - abs(at - buckets * 0.6)) for at in range(buckets)]
    tasks = [4 if at < buckets * 0.62 else 6 for at in range(buckets)]
    return {
        "t_ms": times,
        "end_ms": end_ms,
        "rate_in": rates,
        "rate_out": [None if one is None else round(one * 0.97, 1) for one in rates],
        "lag_seconds": late,
        "lag_records": late,
        "tasks": tasks,
        "cores": [one * 0.24 for one in tasks],
    }


def decision_of(facts: Facts, name: str) -> Row:
    """One decision of the scaler, with its evidence and what became of it."""
    at_ms, job = facts.now_ms - 12 * MINUTE_MS, facts.names[0]
    body: Row = {
        "job": job, "change_id": "1.a", "set_json": '{"tasks": 8}', "clear": [],
        "symptom": "lag-rises", "diagnosis": "more-input", "raw_tasks": 14, "final_tasks": 8,
        "constraints": [
            {"name": "limit", "before": 14.0, "after": 12.0, "note": "12 tasks at most"},
            {"name": "slow-down", "before": 12.0, "after": 8.0, "note": facts.text},
        ],
        "alternatives": [{"action": "memory-up", "reason": "no task was short of memory"},
                         {"action": "rebalance", "reason": facts.text}],
        "policy": "turbine", "mode": "act", "action": "scale-up", "explanation": facts.text,
        "evidence_json": "{}", "expected_records_per_s": 2400.0,
        "verify_ms": at_ms + 5 * MINUTE_MS,
    }  # fmt: skip
    evidence: Row = {"now": {"lag_s": 182.4, "records_in_per_s": 2210.5, "busy_share": 0.97},
                     "capacity_per_task": 310.2, "begun_ms": at_ms - MINUTE_MS,
                     "owner": facts.author}  # fmt: skip
    became = [
        {"at_ms": at_ms + 900, "kind": "JobConfigChanged", "id": "decision-1",
         "position": "journal.v1/4:1201", "text": "accepted as version 9 of scaler"},
        {"at_ms": at_ms + 61_000, "kind": "ScalingVerified", "id": "decision-2",
         "position": "journal.v1/4:1209", "text": facts.text},
    ]  # fmt: skip
    return {
        "id": name, "kind": "ScalingDecided", "job": job, "stands": True, "instead": None,
        "position": "journal.v1/4:1200", "at_ms": at_ms, "parent": "decision-0",
        "evidence": {"journal.v1/4": 1200, "loads.v1/4": 91_233}, "tick_ms": at_ms - 400,
        "source": "auto-scaler", "logic": "auto-scaler/3", "summary": facts.text, "body": body,
        "request": {"change_id": "1.a", "kind": "ConfigChangeProposed", "job": job,
                    "position": "changes.scaler.v1/4:88", "at_ms": at_ms, "author": facts.author,
                    "valid_until_ms": at_ms, "reason": facts.text,
                    "body": {"set_json": '{"tasks": 8}', "clear": []}},
        "before": {"tasks": 4}, "after": {"tasks": 8},
        "tier": None, "verdict": None, "became": became,
        "tree": tree_of(facts, evidence, at_ms),
        "differences": [{"path": "tasks", "before": 4, "after": 8}],
        "scaling": {"evidence": evidence, "measures": {}, "decided": None},
    }  # fmt: skip


def tree_of(facts: Facts, evidence: Row, at_ms: int) -> Row:
    """What a decision of the scaler rests on."""
    reports = [node(f"task {at}", None, f"loads.v1/4:{91_200 + at}") for at in range(8)]
    minute = node("minute", {"at_ms": at_ms - MINUTE_MS, "tasks": 8, "rate": 2210.5}, nodes=reports)
    measured = [node(f"measured: {name}", value) for name, value in evidence.items()]
    raw = node("raw number", {"tasks": 14}, nodes=[*measured, minute])
    limit = node("constraint: limit", {"before": 14.0, "after": 12.0}, nodes=[raw])
    slow = node("constraint: slow-down", {"before": 12.0, "after": 8.0, "note": facts.text},
                nodes=[limit])  # fmt: skip
    return node("ScalingDecided", None, "journal.v1/4:1200", nodes=[
        node("request", "ConfigChangeProposed", "changes.scaler.v1/4:88"),
        node("decided", {"tasks": 8, "because": facts.text}, nodes=[slow]),
        node("not taken: memory-up", "no task was short of memory"),
        node("not taken: rebalance", facts.text),
        node("previous decision", "SyncCommitted", "journal.v1/4:1188"),
    ])  # fmt: skip


def sync_of(facts: Facts, name: str) -> Row:
    """One decision of another component, with what it had read."""
    tree = node("SyncCommitted", None, "journal.v1/4:1188", nodes=[
        node("read", "TaskStarted", "tasks.v1/4:77"),
        node("previous decision", "SyncStepDone", "journal.v1/4:1187"),
    ])  # fmt: skip
    body = {"job": facts.names[0], "state": "running", "tasks": 8}
    return decision_of(facts, name) | {
        "kind": "SyncCommitted", "source": "state-syncer", "logic": "state-syncer/2",
        "body": body, "request": None, "differences": [], "became": [], "scaling": None,
        "tree": tree,
    }  # fmt: skip


def node(name: str, value: Any, *positions: str, nodes: Sequence[Row] = ()) -> Row:
    """A node of the evidence tree."""
    return {"name": name, "value": value, "positions": list(positions), "nodes": list(nodes)}


def containers_of(facts: Facts, tier: str) -> list[Row]:
    """The containers of a tier."""
    return [
        {
            "container": f"c-{at:02}", "tier": tier, "region": "eu-1", "epoch": 3, "moving": at % 3,
            "state": "draining" if at == 7 else "running",
            "drain": {"author": facts.author, "reason": facts.text} if at == 7 else None,
            "shards": 10 + at % 3, "tasks": 30 + at % 5,
            "load": {"cpu": {"used": 2.4, "capacity": 4.0, "share": 0.6 + at % 5 / 20},
                     "memory": {"used": 6e9, "capacity": 8e9, "share": 0.75 + at % 7 / 28}},
            "silence_ms": 64_000 if at == 9 else 2100, "since_ms": facts.now_ms - 9_000_000,
        }
        for at in range(24)
    ]  # fmt: skip


def balance_of(facts: Facts, tier: str) -> Row:
    """All in band but one."""
    items = [
        {"container": f"c-{at:02}", "resource": resource, "low": 0.9, "high": 1.1,
         "of_mean": 1.34 if at == 9 else 0.92 + at % 9 / 50, "in_band": at != 9}
        for resource in RESOURCES
        for at in range(24)
    ]  # fmt: skip
    return {
        "tier": tier, "items": items, "plan": "plan-7f3a", "plan_at_ms": facts.now_ms - 400_000,
        "explanation": facts.text,
        "before": {one: {"fullest": 1340.0, "emptiest": 610.0} for one in RESOURCES},
        "after": {one: {"fullest": 1086.0, "emptiest": 921.0} for one in RESOURCES},
    }  # fmt: skip


def moves_of(facts: Facts, tier: str) -> list[Row]:
    """The last moves, the newest last."""
    return [
        {"tier": tier, "shard": 40 + at, "plan": "plan-7f3a", "from": "c-09", "to": f"c-{at:02}",
         "stage": "added" if at < 9 else "dropped", "reason": facts.text,
         "asked_ms": facts.now_ms - (12 - at) * MINUTE_MS, "took_ms": 3100 if at < 9 else None,
         "decision": f"decision-{at}", "position": f"tiers.v1/0:{at}"}
        for at in range(12)
    ]  # fmt: skip


def shards_of(facts: Facts, tier: str) -> list[Row]:
    """The shards of a tier."""
    return [
        {"shard": at, "tier": tier, "container": f"c-{at % 24:02}", "generation": 2, "to": None,
         "stage": "dropping" if at % 50 == 9 else "held", "since_ms": facts.now_ms - 100_000,
         "deadline_ms": None, "unplaced": None, "regions": [], "tasks": 3,
         "job": facts.names[at % len(facts.names)], "load": {"cpu": 0.4, "memory": 3e8}}
        for at in range(256)
    ]  # fmt: skip


def platform_of(facts: Facts) -> Row:
    """How the control plane does."""
    topics = topics_of()
    return {
        "now_ms": facts.now_ms,
        "components": [
            {"component": name, "decisions": 1200 + at, "last_at_ms": facts.now_ms - at * 9000,
             "last_position": f"journal.v1/{at}:9", "silent_ms": at * 9000,
             "tick_behind_ms": 14_000 if at == 3 else 800}
            for at, name in enumerate(("auto-scaler", "job-service", "shard-manager", "syncer"))
        ],
        "reconcile": {"jobs_in_sync": 280, "jobs_behind": 13, "jobs_syncing": 12,
                      "jobs_failing": 13, "jobs_quarantined": 13, "oldest_behind_ms": 95_000},
        "projection": {"position": {}, "behind_records": 12, "at_ms": facts.now_ms},
        "dead_letters": 2,
        "dead_letters_by_reason": {"foreign-partitioner": 1, "no-schema": 1},
        "last_dead_letters": [{"at_ms": facts.now_ms, "place": "changes.base.v1/1", "offset": 4,
                               "reason": "no-schema", "sentence": facts.text}],
        "stream_readers": 1,
        "topics": topics,
    }  # fmt: skip


def topics_of() -> list[Row]:
    """The table itself, as if each partition held forty records."""
    return [
        {"topic": topic.name, "kind": topic.kind, "key": "job", "written_by": topic.written_by,
         "records": list(topic.records), "doc": topic.doc, "partitions": 16,
         "ends": {f"{topic.name}/{at}": 40 for at in range(16)}}
        for topic in TOPICS
    ]  # fmt: skip


def what_if_of(facts: Facts, asked: dict[str, Any]) -> Row:
    """Two policies side by side."""
    end = facts.now_ms
    times = [end - (60 - at) * MINUTE_MS for at in range(60)]
    figures = {"slo_violation_s": 240.0, "lag_s_p50": 3.0, "lag_s_p99": 91.0, "lag_s_max": 182.0,
               "task_hours": 6.1, "core_hours": 1.5, "gb_hours": 3.1, "cost": 2.2, "rescales": 2,
               "restarts": 12}  # fmt: skip
    deed = {"at_ms": end, "action": "scale-up", "before": {}, "after": {},
            "explanation": facts.text}  # fmt: skip
    sides = {"recorded": "turbine", "replayed": "turbine", "other": asked["policy"]}
    return {
        "job": asked["job"], "from_ms": times[0], "to_ms": end, "minutes": 60,
        "interval_ms": MINUTE_MS, "slo_s": 60.0, "honesty": {"within_tolerance": True},
        "nature": [], "notes": ["its own threads were taken as given"],
        "sides": [
            {"side": side, "policy": {"name": policy, "settings": {}, "mode": "act"},
             "figures": figures | {"cost": 2.2 - at / 3}, "decisions": [deed] * at}
            for at, (side, policy) in enumerate(sides.items())
        ],
        "series": {
            "at_ms": times, "rate_in": [1500.0 + at for at in range(60)],
            **{side: {"lag_s": [float(at % 9) for at in range(60)], "tasks": [4] * 60,
                      "threads": [4] * 60} for side in sides},
        },
    }  # fmt: skip
