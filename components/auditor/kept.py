"""What an audit has come to, as a file: how far it has read, each key as far as it is folded, and
which decisions have no verdict yet. The log has it all: a file that does not fit is left aside."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.runtime.core.audit.audit import Audit, Family
from components.runtime.core.snapshots import Snapshot, restored, take
from components.runtime.core.step import KeyState
from components.runtime.faust.rows import build
from turbine_client.errors import Corrupt

FORMAT = "turbine-audit/1"
_UNFIT = (AttributeError, IndexError, KeyError, TypeError, UnicodeError, ValueError)

Counts = dict[str, dict[str, int]]
"""By component and verdict."""


class Misfit(Corrupt):
    """The file cannot be gone on from; the sentence says why, with the remedy."""


@dataclass(slots=True)
class AuditStart:
    """What an audit goes on from."""

    seen: dict[str, int] = field(default_factory=dict)
    high_ms: int = 0
    held: dict[tuple[str, str], dict[str, KeyState[Any]]] = field(default_factory=dict)
    unjudged: dict[tuple[str, str], list[tuple[str, int]]] = field(default_factory=dict)
    counts: Counts = field(default_factory=dict)


def keep(
    path: Path, audit: Audit, counts: Mapping[str, Mapping[str, int]], cluster: str = ""
) -> None:
    """Whole or as it was before, whenever this process dies."""
    name, part = build(), path.with_name(path.name + ".part")
    head = {
        "format": FORMAT,
        "build": name,
        "cluster": cluster,
        "partitions": audit.partitions,
        "logics": _logics(audit.families),
        "seen": audit.hearing.seen,
        "high_ms": audit.hearing.high_ms,
        "counts": {one: dict(verdicts) for one, verdicts in counts.items()},
    }
    with part.open("w", encoding="utf-8") as file:
        file.write(json.dumps(head, sort_keys=True) + "\n")
        for (logic, where), desk in audit.desks.items():
            snapshot = take(desk.kept(), name)
            line = {
                "logic": logic,
                "where": where,
                "seen": snapshot.seen,
                "unjudged": desk.unjudged(),
                "sha256": snapshot.digest,
                "packed": base64.b64encode(snapshot.packed).decode(),
            }
            file.write(json.dumps(line) + "\n")
        file.write(json.dumps({"desks": len(audit.desks)}) + "\n")
    part.replace(path)


def open_kept(
    path: Path, families: Sequence[Family], partitions: int, cluster: str = ""
) -> AuditStart | None:
    """What the file holds; None where there is none. Misfit where this build cannot go on."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise Misfit(f"{path} cannot be read ({error}); name another file") from None
    try:
        return _read(path, lines, families, (partitions, cluster))
    except _UNFIT as bad:
        raise Misfit(
            f"{path} is no audit that can be gone on from ({bad!r}); remove it, and the log is"
            " audited from its beginning"
        ) from None


def _read(
    path: Path, lines: list[str], families: Sequence[Family], log: tuple[int, str]
) -> AuditStart:
    head, *rest = [json.loads(line) for line in lines]
    if head["format"] != FORMAT or rest.pop()["desks"] != len(rest):
        raise ValueError("it is not whole")
    found = (head["logics"], head["build"], (head["partitions"], head["cluster"]))
    if found != (_logics(families), build(), log):
        raise Misfit(
            f"{path} was kept by another build, of other logics or tiers, or for another log;"
            " remove it, and the log is audited from its beginning"
        )
    kept = AuditStart(seen=head["seen"], high_ms=head["high_ms"], counts=head["counts"])
    components = {one.logic: one for family in families for one in family}
    for line in rest:
        component, name = components[line["logic"]], (line["logic"], line["where"])
        packed = base64.b64decode(line["packed"])
        snapshot = Snapshot(packed, line["seen"], component.logic, head["build"])
        if snapshot.digest != line["sha256"]:
            raise ValueError("its hash is another")
        kept.held[name] = restored(component, snapshot, head["build"]).held
        kept.unjudged[name] = [(at, int(offset)) for at, offset in line["unjudged"]]
    return kept


def _logics(families: Sequence[Family]) -> list[str]:
    return [component.logic for family in families for component in family]
