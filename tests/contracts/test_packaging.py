"""The rooms are imported from this tree, under names that nobody else in the environment owns."""

from __future__ import annotations

import importlib
import importlib.resources
import re
import sys
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ROOMS = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
CLIENT = tomllib.loads((ROOT / "client" / "pyproject.toml").read_text())
OURS = {"turbine", "turbine-client"}
PINS = (ROOT / "constraints.txt").read_text().splitlines()


def owners(
    names: Iterable[str], distributions: Iterable[metadata.Distribution]
) -> dict[str, set[str]]:
    """Which other distributions bring a package of one of the names."""
    found: dict[str, set[str]] = {name: set() for name in names}
    for distribution in distributions:
        tops = {file.parts[0].removesuffix(".py") for file in distribution.files or ()}
        for name in found.keys() & tops:
            found[name].add(distribution.name)
    return {name: who - OURS for name, who in found.items() if who - OURS}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_comes_from_this_tree(room: str) -> None:
    assert Path(str(importlib.import_module(room).__file__)).parent == ROOT / room


def test_nobody_else_owns_the_names_of_our_rooms() -> None:
    # In one environment with it, the package `Events` shadowed ours and merged into our wheel.
    assert owners(ROOMS, metadata.distributions()) == {}


def test_an_owner_would_be_found(tmp_path: Path) -> None:
    info = tmp_path / "Events-0.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Events\nVersion: 0.5\n")
    (info / "RECORD").write_text(
        "events/__init__.py,,\ninfra.py,,\nEvents-0.5.dist-info/RECORD,,\n"
    )
    found = owners(ROOMS, metadata.distributions(path=[str(tmp_path)]))
    assert found == {"events": {"Events"}, "infra": {"Events"}}


def test_every_package_of_the_tree_is_in_the_wheel() -> None:
    assert sorted(ROOMS) == sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_every_folder_with_modules_is_a_package(room: str) -> None:
    folders = {
        path.parent
        for path in (ROOT / room).rglob("*.py")
        if {"target", "__pycache__"}.isdisjoint(path.parts)
    }
    assert [str(one) for one in sorted(folders) if not (one / "__init__.py").exists()] == []


def test_schemas_are_read_as_resources() -> None:
    schemas = importlib.resources.files("events") / "schemas"
    assert (schemas / "lock.json").is_file()
    assert [one.name for one in (schemas / "changes").iterdir() if one.name.endswith(".avsc")]


def test_asserts_are_alive() -> None:
    """An impossible state must end the process, so nothing of ours runs under `python -O`."""
    assert sys.flags.optimize == 0
    with pytest.raises(AssertionError, match="alive"):
        assert not __debug__, "alive"


def test_the_python_is_one_that_is_supported() -> None:
    least = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["project"]["requires-python"])
    assert least is not None
    assert sys.version_info >= (int(least[1]), int(least[2]))


def inexact(lines: list[str]) -> list[str]:
    """The lines that pin no package to one version, or name an address."""
    return [
        f"constraints.txt:{number}: {line}: write NAME==VERSION"
        for number, line in enumerate(lines, 1)
        if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)
    ]


def test_every_pin_is_exact_and_names_no_address() -> None:
    assert PINS
    assert inexact(PINS) == []


def test_all_pins_that_are_not_exact_are_told() -> None:
    bad = ["a>=1", "b @ https://elsewhere.example/b", "-i x", "c==1.*", ""]
    found = inexact(["fine==1.0", *bad])
    assert [one.split(":")[1] for one in found] == ["2", "3", "4", "5", "6"]
    assert found[0] == "constraints.txt:2: a>=1: write NAME==VERSION"


def test_every_direct_dependency_is_pinned() -> None:
    wanted = [
        *PROJECT["build-system"]["requires"],
        *PROJECT["project"]["dependencies"],
        *(one for extra in PROJECT["project"]["optional-dependencies"].values() for one in extra),
    ]
    pinned = {_normalise(line.partition("==")[0]) for line in PINS}
    names = {_normalise(re.split(r"[<>=!~ ;\[]", one)[0]) for one in wanted}
    assert names - OURS <= pinned
    assert len(pinned) == len(PINS)


def _normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_direct_dependency_has_its_reason() -> None:
    reasons = (ROOT / "docs" / "adr" / "0002-dependencies.md").read_text()
    extras = PROJECT["project"]["optional-dependencies"].values()
    for wanted in (
        *PROJECT["project"]["dependencies"],
        *(one for extra in extras for one in extra),
    ):
        name = re.split(r"[<>=!~ ;\[]", wanted)[0]
        if name in OURS:
            continue
        assert re.search(rf"^\| `{re.escape(name)}` \| \S.{{20,}} \|$", reasons, re.MULTILINE), name


def test_every_dependency_is_bounded_by_the_tested_set() -> None:
    """From the tested minor on, and below the next major: a pin within both bounds is the proof."""
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = [*PROJECT["project"]["dependencies"], *CLIENT["project"]["dependencies"]]
    wanted += [one for names in extras.values() for one in names]
    pins = dict(line.split("==") for line in PINS)
    tested = {_normalise(name): version.split(".") for name, version in pins.items()}
    for requirement in wanted:
        name = re.split(r"[<>=!~ ;\[]", requirement)[0]
        if name in OURS:
            continue
        major, minor = tested[_normalise(name)][:2]
        bounds = f"{name}>={major}.{minor},<{int(major) + 1}"
        assert requirement == bounds, requirement


def test_the_client_is_of_the_same_version_and_smaller() -> None:
    version = PROJECT["project"]["version"]
    assert CLIENT["project"]["version"] == version
    assert f"turbine-client=={version}" in PROJECT["project"]["dependencies"]
    both = set(PROJECT["project"]["dependencies"]).intersection(CLIENT["project"]["dependencies"])
    assert both == set(CLIENT["project"]["dependencies"]), "both have the same bounds"


def test_the_names_of_the_client_are_the_same_objects() -> None:
    server, client = (importlib.import_module(name) for name in ("turbine", "turbine_client"))
    ours = {"Log"}
    assert set(server.__all__) - ours <= set(client.__all__)
    for name in set(server.__all__) - ours:
        assert getattr(server, name) is getattr(client, name), name
