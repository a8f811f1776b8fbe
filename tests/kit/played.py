"""What is played once for all test runs: kept on disk until a source that it came from changes."""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterable
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".pytest_cache" / "played"
ROOMS = ("client", "events", "projections", "tasks", "components", "turbine/lab", "simulation")
"""All that a history comes from: what can be said, who decides, and who plays them."""

Given = ParamSpec("Given")
Played = TypeVar("Played")


def played_once(play: Callable[Given, Played]) -> Callable[Given, Played]:
    """A decorator: the result lies on disk, and in the memory of this process."""
    source = Path(inspect.getfile(play))

    @cache
    def found(*given: Any, **named: Any) -> Played:
        rooms = _digest((*(ROOT / room for room in ROOMS), ROOT / "constraints.txt"))
        name = f"{_digest((source,))} {play.__name__}{given}{sorted(named.items())}"
        return once(KEPT / rooms, name, lambda: play(*given, **named))

    return wraps(play)(found)


def once(folder: Path, name: str, play: Callable[[], Played]) -> Played:
    """What lies in the folder of these sources; played, and put there, where it does not.

    Two processes may play the same at once: each puts down a whole file, and both are the same.
    Folders of other sources go.
    """
    path = folder / hashlib.sha256(name.encode()).hexdigest()[:16]
    if path.exists():
        kept: Played = pickle.loads(path.read_bytes())  # noqa: S301 - written below
        return kept
    result = play()
    folder.mkdir(parents=True, exist_ok=True)
    for other in folder.parent.iterdir():
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(result))
    part.replace(path)
    return result


@cache
def _digest(places: tuple[Path, ...]) -> str:
    return digest(places)


def digest(places: Iterable[Path]) -> str:
    """The hash of all files there, and of the Python that plays them."""
    hasher = hashlib.sha256(sys.version.encode())
    for place in filter(Path.exists, places):  # a copy of the tree may be a part of it
        files = place.rglob("*") if place.is_dir() else [place]
        for path in sorted(one for one in files if one.suffix in (".py", ".avsc", ".json", ".txt")):
            content = path.read_bytes()
            hasher.update(f"{path.relative_to(place.parent)} {len(content)} ".encode() + content)
    return hasher.hexdigest()[:16]
