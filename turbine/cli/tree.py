"""The evidence of a decision as a tree, for people: each leaf with its position in the log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from events.job_config.strict_json import printable
from turbine.cli.output import cell_text
from turbine.read.answers.evidence import Node
from turbine.read.moments import show_time

LEAVES = 6
"""Records of one minute that are shown; the JSON has all."""
CELL_CHARS = 160


def tree_text(root: Node) -> str:
    """A line for each node."""
    return "\n".join(
        ["EVIDENCE", *(before + _line(node) for before, node in lines_of(_folded(root)))]
    )


def lines_of(node: Node) -> Iterator[tuple[str, Node]]:
    """Each with the branches that lead to it, the root first."""
    yield "", node
    yield from _below(node, "")


def _below(node: Node, before: str) -> Iterator[tuple[str, Node]]:
    for at, one in enumerate(node.nodes):
        last = at == len(node.nodes) - 1
        yield f"{before}{'└─ ' if last else '├─ '}", one
        yield from _below(one, before + ("   " if last else "│  "))


def _folded(node: Node) -> Node:
    """Many leaves of one kind become one line, with all their positions but the middle ones."""
    nodes = tuple(_folded(one) for one in node.nodes)
    bare = all(not one.nodes and one.value is None for one in nodes)
    if not bare or not nodes:
        return replace(node, nodes=nodes)
    at = [position for one in nodes for position in one.positions]
    shown = at if len(at) <= LEAVES else [*at[:3], f"… {len(at) - LEAVES} more …", *at[-3:]]
    return replace(node, positions=(*node.positions, *shown), nodes=())


def _line(node: Node) -> str:
    text = node.name
    if node.value is not None:
        text += f": {_value(node.value)}"
    if node.positions:
        text += f"   [{', '.join(node.positions)}]"
    return printable(text)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        text = ", ".join(
            f"{name} {_one(name, one)}" for name, one in value.items() if one not in (None, "")
        )
    else:
        text = _one("", value)
    return text if len(text) <= CELL_CHARS else text[: CELL_CHARS - 1] + "…"


def _one(name: str, value: Any) -> str:
    if name.endswith("_ms") and isinstance(value, int) and value >= 10**12:
        return show_time(value)
    if isinstance(value, float):
        return f"{value:,.6g}"
    return cell_text(value)
