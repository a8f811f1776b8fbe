"""Containers, shards and moves as columns and cells, for lists and for descriptions of one."""

from __future__ import annotations

from collections.abc import Callable

from turbine.cli.columns import amount, columns, percent, span
from turbine.cli.output import Column, table_text
from turbine.read.plain import JsonObject

FRESH_MS = 15_000
"""A silence that is no news: a heartbeat comes every 5 s."""
SHORT = {
    "cpu_cores": "CPU",
    "memory_bytes": "MEMORY",
    "disk_bytes": "DISK",
    "network_bytes_per_s": "NETWORK",
}


def list_text(rows: list[JsonObject], columns: list[Column]) -> str:
    """A list within something larger: without what only a wide one has room for."""
    return table_text(rows, [column for column in columns if not column.wide])


def container_columns() -> list[Column]:
    """Of a list of containers."""

    def share(resource: str) -> Callable[[JsonObject], object]:
        return lambda row: percent(row["load"].get(resource, {}).get("share"))

    return columns(
        "CONTAINER, STATE, SHARDS, MOVING=moving:some, TASKS, CPU, MEMORY, *DISK,"
        " *NETWORK, SILENT, REGION, *EPOCH, SINCE=since_ms:time",
        {
            "STATE": said_state,
            "CPU": share("cpu_cores"),
            "MEMORY": share("memory_bytes"),
            "DISK": share("disk_bytes"),
            "NETWORK": share("network_bytes_per_s"),
            "SILENT": lambda row: span(row["silence_ms"], FRESH_MS),
        },
    )


def shard_columns() -> list[Column]:
    """Of a list of shards."""

    def load(resource: str) -> Callable[[JsonObject], object]:
        return lambda row: amount(resource, (row["load"] or {}).get(resource))

    return columns(
        "SHARD, CONTAINER, STAGE, GENERATION, TASKS, CPU, MEMORY, *DISK, *NETWORK,"
        " *JOB, REGIONS, SINCE=since_ms:time",
        {
            "STAGE": _stage,
            "CPU": load("cpu_cores"),
            "MEMORY": load("memory_bytes"),
            "DISK": load("disk_bytes"),
            "NETWORK": load("network_bytes_per_s"),
            "REGIONS": lambda row: ", ".join(row["regions"]) or "any",
        },
    )


def move_columns() -> list[Column]:
    """Of a list of moves."""
    return columns(
        "ASKED=asked_ms?:time, SHARD, FROM, TO, STAGE, TOOK=took_ms?:span, PLAN,"
        " REASON, *DECISION=decision?"
    )


def said_state(row: JsonObject) -> str:
    """The state, and who wants it so."""
    if row["drain"] is None:
        return str(row["state"])
    why = f": {row['drain']['reason']}" if row["drain"]["reason"] else ""
    word = "" if row["state"] in ("draining", "drained") else ", to be drained"
    return f"{row['state']}{word} by {row['drain']['author']}{why}"


def _stage(row: JsonObject) -> str:
    """How far it is, where to, and why it is nowhere."""
    text = str(row["stage"])
    if row["to"]:
        text += f" (to {row['to']})"
    return f"{text}: {row['unplaced']}" if row["unplaced"] else text
