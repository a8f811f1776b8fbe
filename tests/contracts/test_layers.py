"""The arrows between rooms: import-linter keeps them, and each contract is seen to break."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINTER = Path(sys.executable).with_name("lint-imports")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
ROOMS = SETTINGS["root_packages"]

# The file that is planted, the import in it, and the contract that must break. `components/planted`
# is a component like any other: contracts name components by pattern, so new ones are held too.
PLANTS = [
    ("client/turbine_client/planted.py", "import events.identity", "rooms"),
    ("client/turbine_client/planted.py", "import turbine", "rooms"),
    ("client/turbine_client/planted.py", "import components.runtime.step", "client"),
    ("client/turbine_client/planted.py", "import pydantic", "client"),
    ("client/turbine_client/planted.py", "import structlog", "client"),
    ("events/planted.py", "import projections.jobs", "rooms"),
    ("events/planted.py", "import components.runtime.step", "rooms"),
    ("events/planted.py", "import spark_streaming", "rooms"),
    ("projections/planted.py", "import components.runtime.step", "rooms"),
    ("projections/planted.py", "import spark_streaming", "rooms"),
    ("projections/planted.py", "import simulation.kernel", "rooms"),
    ("components/planted/decide.py", "import turbine", "rooms"),
    ("components/planted/decide.py", "import spark_streaming", "rooms"),
    ("components/planted/agents.py", "import simulation.kernel", "rooms"),
    ("components/runtime/planted.py", "import infra", "rooms"),
    ("spark_streaming/planted.py", "import components", "rooms"),
    ("spark_streaming/planted.py", "import simulation", "rooms"),
    ("turbine/planted.py", "import infra", "rooms"),
    ("turbine/planted.py", "import benchmarks", "rooms"),
    ("infra/planted.py", "import benchmarks", "rooms"),
    ("simulation/planted.py", "import turbine", "rooms"),
    ("simulation/planted.py", "import spark_streaming", "rooms"),
    ("simulation/planted.py", "import components.runtime.shell", "rooms"),
    ("simulation/planted.py", "import components.planted.agents", "rooms"),
    ("components/planted/decide.py", "import components.job_service.decide", "components"),
    ("components/planted/agents.py", "import components.clock.agents", "components"),
    ("components/job_service/planted.py", "import components.planted.decide", "components"),
    ("components/runtime/planted.py", "import components.job_service.decide", "components"),
    ("spark_streaming/planted.py", "import projections.jobs", "tasks"),
    ("spark_streaming/planted.py", "import components.runtime.step", "tasks"),
    ("projections/planted.py", "import time", "pure"),
    ("projections/planted.py", "import faust", "pure"),
    ("projections/planted.py", "from os import environ", "pure"),
    ("components/planted/decide.py", "import random", "pure"),
    ("components/planted/decide.py", "import asyncio", "pure"),
    ("components/planted/decide.py", "import socket", "pure"),
    ("components/planted/decide.py", "import confluent_kafka", "pure"),
    ("components/planted/decide.py", "import turbine_client.reading", "pure"),
    ("components/planted/decide.py", "import aiokafka", "pure"),
    ("components/planted/decide.py", "import components.runtime.shell", "pure"),
    ("simulation/planted.py", "from time import monotonic", "simulation"),
    ("simulation/planted.py", "import faust", "simulation"),
    ("simulation/planted.py", "import confluent_kafka", "simulation"),
    ("simulation/planted.py", "import pyspark", "simulation"),
    ("components/planted/decide.py", "import faust", "faust"),
    ("spark_streaming/planted.py", "import faust", "faust"),
    ("turbine/planted.py", "import faust", "faust"),
    ("components/planted/agents.py", "import mode", "under-faust"),
    ("turbine/planted.py", "import aiokafka", "under-faust"),
    ("components/planted/decide.py", "import confluent_kafka", "kafka"),
    ("turbine/planted.py", "import confluent_kafka", "kafka"),
    ("simulation/planted.py", "import confluent_kafka", "kafka"),
    ("events/planted.py", "import structlog", "events"),
    ("events/planted.py", "import yaml", "events"),
    ("events/planted.py", "import confluent_kafka", "events"),
    ("events/planted.py", "import turbine_client.clients", "events"),
]
ALLOWED = [
    (
        "components/planted/agents.py",
        "import faust, confluent_kafka, time, components.runtime.shell",
    ),
    ("client/turbine_client/planted.py", "import confluent_kafka, fastavro, threading"),
    ("events/planted.py", "import turbine_client.identity"),
    ("components/planted/decide.py", "import projections.jobs, components.runtime.step, hashlib"),
    ("simulation/planted.py", "import components.planted.decide, random"),
    ("spark_streaming/planted.py", "import events.codec, confluent_kafka"),
    ("turbine/planted.py", "import components.planted.agents, simulation.kernel"),
    ("infra/planted.py", "import turbine, confluent_kafka"),
    ("benchmarks/planted.py", "import infra, simulation, confluent_kafka"),
]


def home_of(room: str) -> str:
    """Where a room lies; the client is a distribution of its own."""
    return "client/turbine_client" if room == "turbine_client" else room


def path_of(module: str) -> str:
    """The file of a module of ours."""
    room, _, rest = module.partition(".")
    return f"{home_of(room)}/{rest.replace('.', '/')}.py"


# One file of each kind that contracts name one by one, so that no line of theirs is vacuous.
PURE = [
    path_of(one)
    for contract in SETTINGS["contracts"]
    if contract["id"] == "pure"
    for one in contract["source_modules"]
    if "*" not in one and one != "projections"
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The tree as it stands, to plant imports in, with one component more."""
    for room in ROOMS:
        shutil.copytree(ROOT / home_of(room), tmp_path / home_of(room), ignore=_only_modules)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    planted = tmp_path / "components" / "planted"
    planted.mkdir()
    for name in ("__init__", "decide", "agents"):
        (planted / f"{name}.py").write_text("")
    return tmp_path


def _only_modules(directory: str, names: list[str]) -> set[str]:
    inside = Path(directory)
    return {one for one in names if not (one.endswith(".py") or (inside / one).is_dir())} | {
        one for one in names if one in ("__pycache__", "target")
    }


def lint(tree: Path, *contracts: str) -> tuple[bool, str]:
    """Whether the contracts (all if none is named) are kept, and the linter's report."""
    chosen = [part for contract in contracts for part in ("--contract", contract)]
    done = subprocess.run(
        [LINTER, "--no-cache", "--no-logo", *chosen],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": f"{tree}:{tree / 'client'}", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    kept = re.search(r"Contracts: \d+ kept, (\d+) broken\.", done.stdout)
    assert kept is not None, done.stdout + done.stderr
    assert (done.returncode == 0) == (kept[1] == "0")
    return done.returncode == 0, done.stdout


def plant(tree: Path, file: str, line: str) -> None:
    with (tree / file).open("a") as module:
        module.write(f"\n{line}\n")


def test_the_arrows_hold(tree: Path) -> None:
    kept, report = lint(tree)
    assert kept, report


@pytest.mark.parametrize(("file", "line"), ALLOWED)
def test_what_is_allowed_breaks_nothing(tree: Path, file: str, line: str) -> None:
    plant(tree, file, line)
    kept, report = lint(tree)
    assert kept, report


@pytest.mark.parametrize(("file", "line", "contract"), PLANTS)
def test_a_forbidden_import_breaks_its_contract(
    tree: Path, file: str, line: str, contract: str
) -> None:
    plant(tree, file, line)
    kept, report = lint(tree, contract)
    assert not kept
    assert file.removesuffix(".py").removeprefix("client/").replace("/", ".") in report


@pytest.mark.parametrize("file", PURE)
def test_every_pure_module_is_held(tree: Path, file: str) -> None:
    plant(tree, file, "import time")
    assert not lint(tree, "pure")[0]


def test_every_contract_is_seen_to_break() -> None:
    assert {contract for _, _, contract in PLANTS} == {one["id"] for one in SETTINGS["contracts"]}


def test_every_package_is_a_room() -> None:
    packages = {
        path.parent.name for home in ("", "client/") for path in ROOT.glob(f"{home}*/__init__.py")
    }
    assert packages == set(ROOMS)


def test_events_import_nothing_else() -> None:
    allowed = {"events", "turbine_client", "fastavro", "pydantic", "pydantic_core"}
    imported = imports_of("events")
    assert imported - allowed == set()
    assert "pydantic" in imported, "the imports are not found"


def test_a_client_imports_nothing_else() -> None:
    imported = imports_of("client/turbine_client")
    assert imported == {"turbine_client", "confluent_kafka", "fastavro"}


def imports_of(folder: str) -> set[str]:
    """The packages that a folder's modules import, but for Python's own."""
    return {
        name.partition(".")[0]
        for path in (ROOT / folder).rglob("*.py")
        for name in _imports(ast.parse(path.read_text()))
    } - sys.stdlib_module_names


def _imports(module: ast.Module) -> list[str]:
    found: list[str] = []
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "rooms are imported by their full names"
            found.append(node.module or "")
    return found
