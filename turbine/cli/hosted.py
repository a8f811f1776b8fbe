"""Containers, shards and moves as columns and cells, for lists and for descriptions of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turbine.cli.output import Column, table_text
from turbine.read.moments import show_time

Row = dict[str, Any]

FRESH_MS = 15_000
"""A silence that is no news: a heartbeat comes every 5 s."""
SHORT = {
    "cpu_cores": "CPU",
    "memory_bytes": "MEMORY",
    "disk_bytes": "DISK",
    "network_bytes_per_s": "NETWORK",
}


def list_text(rows: list[Row], columns: list[Column]) -> str:
    """A list within something larger: without what only a wide one has room for."""
    return table_text(rows, [column for column in columns if not column.wide])


def container_columns() -> list[Column]:
    """Of a list of containers."""

    def share(resource: str) -> Callable[[Row], object]:
        return lambda row: percent(row["load"].get(resource, {}).get("share"))

    return [
        Column("CONTAINER", lambda row: row["container"]),
        Column("STATE", said_state),
        Column("SHARDS", lambda row: row["shards"]),
        Column("MOVING", lambda row: row["moving"] or ""),
        Column("TASKS", lambda row: row["tasks"]),
        Column("CPU", share("cpu_cores")),
        Column("MEMORY", share("memory_bytes")),
        Column("DISK", share("disk_bytes"), wide=True),
        Column("NETWORK", share("network_bytes_per_s"), wide=True),
        Column("SILENT", lambda row: span(row["silence_ms"], FRESH_MS)),
        Column("REGION", lambda row: row["region"]),
        Column("EPOCH", lambda row: row["epoch"], wide=True),
        Column("SINCE", lambda row: show_time(row["since_ms"])),
    ]


def shard_columns() -> list[Column]:
    """Of a list of shards."""

    def load(resource: str) -> Callable[[Row], object]:
        return lambda row: amount(resource, (row["load"] or {}).get(resource))

    return [
        Column("SHARD", lambda row: row["shard"]),
        Column("CONTAINER", lambda row: row["container"]),
        Column("STAGE", _stage),
        Column("GENERATION", lambda row: row["generation"]),
        Column("TASKS", lambda row: row["tasks"]),
        Column("CPU", load("cpu_cores")),
        Column("MEMORY", load("memory_bytes")),
        Column("DISK", load("disk_bytes"), wide=True),
        Column("NETWORK", load("network_bytes_per_s"), wide=True),
        Column("JOB", lambda row: row["job"], wide=True),
        Column("REGIONS", lambda row: ", ".join(row["regions"]) or "any"),
        Column("SINCE", lambda row: show_time(row["since_ms"])),
    ]


def move_columns() -> list[Column]:
    """Of a list of moves."""
    return [
        Column("ASKED", lambda row: show_time(row.get("asked_ms"))),
        Column("SHARD", lambda row: row["shard"]),
        Column("FROM", lambda row: row["from"]),
        Column("TO", lambda row: row["to"]),
        Column("STAGE", lambda row: row["stage"]),
        Column("TOOK", lambda row: span(row.get("took_ms"))),
        Column("PLAN", lambda row: row["plan"]),
        Column("REASON", lambda row: row["reason"]),
        Column("DECISION", lambda row: row.get("decision"), wide=True),
    ]


def said_state(row: Row) -> str:
    """The state, and who wants it so."""
    if row["drain"] is None:
        return str(row["state"])
    why = f": {row['drain']['reason']}" if row["drain"]["reason"] else ""
    word = "" if row["state"] in ("draining", "drained") else ", to be drained"
    return f"{row['state']}{word} by {row['drain']['author']}{why}"


def _stage(row: Row) -> str:
    """How far it is, where to, and why it is nowhere."""
    text = str(row["stage"])
    if row["to"]:
        text += f" (to {row['to']})"
    return f"{text}: {row['unplaced']}" if row["unplaced"] else text


def percent(share: float | None) -> str:
    """A share for people."""
    return "" if share is None else f"{share * 100:.0f} %"


def amount(resource: str, value: float | None) -> str:
    """An amount of a resource for people."""
    if value is None:
        return ""
    if resource == "cpu_cores":
        return f"{value:.2f} cores"
    size, units = value, ["B", "kB", "MB", "GB", "TB"]
    while float(f"{size:.3g}") >= 1000 and len(units) > 1:
        size /= 1000
        units.pop(0)
    per = "/s" if resource.endswith("_per_s") else ""
    return f"{size:.3g} {units[0]}{per}"


def rate(per_s: float | None) -> str:
    """Records a second; nothing where nobody knows."""
    return "" if per_s is None else f"{per_s:,.1f}/s"


def span(span_ms: int | None, least_ms: int = 0) -> str:
    """How long, for people; nothing below the least."""
    if span_ms is None or span_ms < least_ms:
        return ""
    seconds = span_ms / 1000
    if seconds < 1:
        return f"{span_ms} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_left} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
