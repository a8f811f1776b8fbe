"""How large the house is: lines by room, names used twice, how long its tests take.

Nothing is measured of what runs, so nobody else is beside it: each figure has the limit that this
project set itself. `--timed check` and `--timed test` run the target and count its tests.
"""

from __future__ import annotations

import ast
import re
import subprocess
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.children import ROOT, ChildFailed
from benchmarks.figures import Result, say

AROUND = frozenset({"benchmarks", "infra", "simulation", "tests"})
"""Rooms with Python that a user does not run."""
SKIPPED = frozenset({"__pycache__", "build", "dist", "node_modules", "target", ".venv"})
FRONT, LAB = "turbine", "turbine/lab"
"""The front door, and what lies in it and is counted apart."""
WRITTEN = re.compile(r"\bgenerated (from \S+ )?by `python -m ")
ANY_MAP = "dict[str, Any]"
PASSED = re.compile(r"(\d+) passed")


@dataclass(frozen=True, slots=True)
class Module:
    """One file of Python, read once."""

    path: str
    source: str

    @property
    def room(self) -> str:
        return LAB if self.path.startswith(f"{LAB}/") else self.path.partition("/")[0]

    @property
    def lines(self) -> int:
        return self.source.count("\n")

    @property
    def generated(self) -> bool:
        """Does it say at its head that a program wrote it, or lie where only such files lie?"""
        return "/generated/" in self.path or bool(WRITTEN.search(self.source[:400]))


@dataclass(slots=True)
class Room:
    """Lines of one room, those by hand and those by a program apart."""

    written: int = 0
    generated: int = 0
    modules: int = 0


def modules_in(root: Path) -> Iterator[Module]:
    """All of the tree, with the tests."""
    for top in sorted(one for one in root.iterdir() if one.is_dir()):
        if top.name.startswith(".") or top.name in SKIPPED:
            continue
        for path in sorted(top.rglob("*.py")):
            if SKIPPED.isdisjoint(path.parts):
                yield Module(str(path.relative_to(root)), path.read_text())


def rooms_of(modules: Iterable[Module]) -> Mapping[str, Room]:
    """Each room with its lines."""
    found: dict[str, Room] = defaultdict(Room)
    for one in modules:
        room = found[one.room]
        room.modules += 1
        if one.generated:
            room.generated += one.lines
        else:
            room.written += one.lines
    return found


def any_maps(modules: Iterable[Module]) -> int:
    """How often the front door says `dict[str, Any]`; an alias of it counts where it is made."""
    return sum(
        isinstance(node, ast.Subscript) and ast.unparse(node) == ANY_MAP
        for one in modules
        if one.path.startswith(f"{FRONT}/")
        for node in ast.walk(ast.parse(one.source))
    )


def names_twice(
    modules: Iterable[Module], around: Collection[str] = AROUND
) -> Mapping[str, Sequence[str]]:
    """Names that more than one class has, with their places; rooms `around` are left out."""
    places: dict[str, list[str]] = defaultdict(list)
    for one in modules:
        if one.room not in around:
            for node in ast.walk(ast.parse(one.source)):
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(f"{one.path}:{node.lineno}")
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def timed(target: str, command: Sequence[str] = ("make",)) -> Mapping[str, float]:
    """How long a target of the Makefile takes, and how many tests it has."""
    began = time.monotonic()
    done = subprocess.run([*command, target], cwd=ROOT, capture_output=True, text=True, check=False)
    seconds, passed = time.monotonic() - began, PASSED.search(done.stdout)
    if done.returncode or passed is None:
        raise ChildFailed(f"make {target} ended with {done.returncode}: {done.stdout[-2000:]}")
    return {f"{target}_s": seconds, f"{target}_tests": int(passed[1])}


def measure(
    quick: bool,  # noqa: ARG001 - every benchmark is asked so; this one has no smaller size
    targets: Sequence[str] = (),
) -> Result:
    """What the tree holds, and the time of each target that is asked for."""
    modules = list(modules_in(ROOT))
    rooms, twice = rooms_of(modules), names_twice(modules)
    figures: dict[str, float] = {
        "turbine_lines": rooms[FRONT].written,
        "lab_lines": rooms[LAB].written if LAB in rooms else 0,
        "generated_lines": sum(one.generated for one in rooms.values()),
        "product_lines": sum(one.written for name, one in rooms.items() if name not in AROUND),
        "dict_any": any_maps(modules),
        "names_twice": len(twice),
    }
    for target in targets:
        say(f"make {target}")
        figures |= timed(target)
    table = [
        {"room": name, "modules": one.modules, "written": one.written, "generated": one.generated}
        for name, one in rooms.items()
    ]
    notes = [f"{name}: {', '.join(places)}" for name, places in twice.items()]
    return Result("house", figures, {}, notes, table)
