"""K6: fold equality. All readers agree at one vector, and with a second fold written apart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simulation.checkers.history import FinalRows, History

LAYERS = ("base", "provisioner", "scaler", "oncall")


def check_folds(history: History) -> Iterator[str]:
    """Every violation, as a sentence."""
    yield from check_agreement(history.rows)
    yield from _by_hand(history)


def check_agreement(all_rows: Sequence[FinalRows]) -> Iterator[str]:
    """Whoever reads the same log holds the same of every key, in whatever order it was read."""
    first: dict[str, tuple[str, Mapping[str, str]]] = {}
    for rows in all_rows:
        if rows.component not in first:
            first[rows.component] = (rows.reader, rows.text)
            continue
        other, text = first[rows.component]
        for key in sorted(rows.text.keys() | text.keys()):
            if rows.text.get(key) != text.get(key):
                yield (
                    f"{rows.component} {key}: {rows.reader} has {rows.text.get(key)},"
                    f" {other} has {text.get(key)}"
                )


def _by_hand(history: History) -> Iterator[str]:
    """Layers and versions, folded once more from plain fields."""
    oracle = fold_by_hand(history)
    for rows in history.rows:
        if rows.component != "job-service":
            continue
        for key, text in rows.text.items():
            row: Any = json.loads(text)["row"]
            if row is None:
                continue
            found = {
                "alive": row["alive"],
                "layers": [[x[0], json.loads(x[1])] for x in row["layers"]],
            }
            want = oracle.get(key, {"alive": False, "layers": [[0, {}]] * 4})
            if found != want:
                yield f"{key}: {rows.reader} has {found}, by hand it is {want}"


def fold_by_hand(history: History) -> dict[str, dict[str, Any]]:
    """The second, naive fold: from the standing decisions' plain fields, nothing else."""
    jobs: dict[str, dict[str, Any]] = {}
    for read in history.standing:
        body: Any = read.record.body
        job = jobs.setdefault(
            read.record.key, {"alive": False, "layers": [[0, {}] for _ in LAYERS]}
        )
        if read.record.kind == "JobConfigChanged":
            job["layers"][LAYERS.index(body.layer)] = [body.version, json.loads(body.layer_json)]
            job["alive"] = job["alive"] or body.layer == "base"
        elif read.record.kind == "OverrideExpired":
            left = json.loads(body.layer_json or "{}")
            job["layers"][LAYERS.index(body.layer)] = [body.version, left]
        elif read.record.kind == "JobDeleted":
            job["alive"] = False
            job["layers"] = [[getattr(body.versions, layer), {}] for layer in LAYERS]
    return jobs
