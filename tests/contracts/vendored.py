"""Knows which foreign files lie beside our own, takes them out of npm's packages, and checks them.

`python -m tests.contracts.vendored NODE_MODULES` copies them anew, where that directory is what
`npm install` of the packages below made. Nothing is built: an import by a package's name becomes
one by a file's, since a page without inline scripts has no import map; the lock has both hashes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
LOCK = "vendor.lock.json"
SHOWN = ROOT / "turbine" / "dashboard" / "vendor"
TESTED = ROOT / "tests" / "browser" / "vendor"

MODULES = {
    '"preact/hooks"': '"./preact-hooks.js"',
    '"preact"': '"./preact.js"',
    '"@preact/signals-core"': '"./signals-core.js"',
}
"""What our copies import instead; no name is the beginning of another's with its quotes."""


class Taken(NamedTuple):
    """One file of a package, and its name here."""

    package: str
    path: str
    name: str


PLACES = {
    SHOWN: (
        Taken("preact", "dist/preact.mjs", "preact.js"),
        Taken("preact", "hooks/dist/hooks.mjs", "preact-hooks.js"),
        Taken("preact", "LICENSE", "preact.LICENSE"),
        Taken("htm", "dist/htm.mjs", "htm.js"),
        Taken("htm", "LICENSE", "htm.LICENSE"),
        Taken("@preact/signals", "dist/signals.mjs", "signals.js"),
        Taken("@preact/signals", "LICENSE", "signals.LICENSE"),
        Taken("@preact/signals-core", "dist/signals-core.mjs", "signals-core.js"),
        Taken("@preact/signals-core", "LICENSE", "signals-core.LICENSE"),
        Taken("uplot", "dist/uPlot.esm.js", "uplot.js"),
        Taken("uplot", "dist/uPlot.min.css", "uplot.css"),
        Taken("uplot", "LICENSE", "uplot.LICENSE"),
        Taken(
            "@fontsource-variable/inter",
            "files/inter-latin-wght-normal.woff2",
            "inter.woff2",
        ),
        Taken("@fontsource-variable/inter", "LICENSE", "inter.LICENSE"),
    ),
    TESTED: (
        Taken("axe-core", "axe.min.js", "axe.min.js"),
        Taken("axe-core", "LICENSE", "axe-core.LICENSE"),
        Taken("axe-core", "LICENSE-3RD-PARTY.txt", "axe-core.LICENSE-3RD-PARTY.txt"),
    ),
}


def digest(content: bytes) -> str:
    """As the lock has it."""
    return hashlib.sha256(content).hexdigest()


def ours(name: str, content: bytes) -> bytes:
    """A module as it stands here: with imports of files."""
    if not name.endswith(".js"):
        return content
    for theirs, here in MODULES.items():
        content = content.replace(theirs.encode(), here.encode())
    return content


def theirs(name: str, content: bytes) -> bytes:
    """A module as its package has it."""
    if not name.endswith(".js"):
        return content
    for packaged, here in MODULES.items():
        content = content.replace(here.encode(), packaged.encode())
    return content


def complaints(folder: Path) -> Iterator[str]:
    """What is not as the lock says, a line each."""
    locked: dict[str, Any] = json.loads((folder / LOCK).read_text())
    files = {path.name for path in folder.iterdir()} - {LOCK}
    named = {one["name"]: one for one in locked["files"]}
    yield from (f"{name} is not in the lock" for name in sorted(files - named.keys()))
    for name, one in named.items():
        if name not in files:
            yield f"{name} is in the lock, and not here"
            continue
        content = (folder / name).read_bytes()
        if digest(content) != one["sha256"]:
            yield f"{name} is not the file that was locked"
        elif digest(theirs(name, content)) != one["package_sha256"]:
            yield f"{name} differs from its package in more than what it imports"
        if not one["licence"] or not one["version"]:
            yield f"{name} has no licence or no version"
    licensed = {one["package"] for one in locked["files"] if ".LICENSE" in one["name"]}
    for package in sorted({one["package"] for one in locked["files"]} - licensed):
        yield f"the text of {package}'s licence is missing"


def take(modules: Path, folder: Path) -> None:
    """Copies a place's files and writes its lock."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for one in PLACES[folder]:
        package = json.loads((modules / one.package / "package.json").read_text())
        content = (modules / one.package / one.path).read_bytes()
        here = ours(one.name, content)
        (folder / one.name).write_bytes(here)
        files.append(
            {
                "name": one.name,
                "package": one.package,
                "version": package["version"],
                "licence": package["license"],
                "path": one.path,
                "sha256": digest(here),
                "package_sha256": digest(content),
            }
        )
    (folder / LOCK).write_text(json.dumps({"files": files}, indent=2) + "\n")


if __name__ == "__main__":
    for place in PLACES:
        take(Path(sys.argv[1]), place)
