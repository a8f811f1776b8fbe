"""The arrows between rooms: import-linter keeps them, and each contract is seen to break.

The graph of imports is built once. An edge is planted in a copy of it in memory, and the contract
is asked of the copy; one test has the program itself read a planted file.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import grimp
import pytest
from importlinter.api import read_configuration
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract
from importlinter.contracts.protected import ProtectedContract

ROOT = Path(__file__).parents[2]
LINTER = Path(sys.executable).with_name("lint-imports")
CONFIGURATION = read_configuration(str(ROOT / "pyproject.toml"))
SETTINGS = CONFIGURATION["session_options"]
CONTRACTS = {one["id"]: one for one in CONFIGURATION["contracts_options"]}
ROOMS = SETTINGS["root_packages"]
KINDS = {
    "acyclic_siblings": AcyclicSiblingsContract,
    "forbidden": ForbiddenContract,
    "independence": IndependenceContract,
    "layers": LayersContract,
    "protected": ProtectedContract,
}
Plant = tuple[str, str, str]

# The file that is planted, the import in it, and the contract that must break. `components/planted`
# is a component like any other: contracts name components by pattern, so new ones are held too.
PLANTS = [
    ("client/turbine_client/planted.py", "import events.wire.codec", "rooms"),
    ("client/turbine_client/planted.py", "import turbine", "rooms"),
    ("client/turbine_client/planted.py", "import components.runtime.core.step", "client"),
    ("client/turbine_client/planted.py", "import pydantic", "client"),
    ("client/turbine_client/planted.py", "import structlog", "client"),
    ("events/planted.py", "import projections.jobs", "rooms"),
    ("events/planted.py", "import components.runtime.core.step", "rooms"),
    ("events/planted.py", "import spark_streaming", "rooms"),
    ("projections/planted.py", "import components.runtime.core.step", "rooms"),
    ("projections/planted.py", "import spark_streaming", "rooms"),
    ("projections/planted.py", "import turbine.lab.kernel", "rooms"),
    ("turbine/read/sources/planted.py", "import turbine.read.state.past", "cycles"),
    ("components/planted/decide.py", "import turbine", "rooms"),
    ("components/planted/decide.py", "import spark_streaming", "rooms"),
    ("components/planted/agents.py", "import turbine.lab.kernel", "rooms"),
    ("components/runtime/planted.py", "import infra", "rooms"),
    ("spark_streaming/planted.py", "import components", "rooms"),
    ("spark_streaming/planted.py", "import simulation", "rooms"),
    ("turbine/planted.py", "import infra", "rooms"),
    ("turbine/planted.py", "import benchmarks", "rooms"),
    ("infra/planted.py", "import benchmarks", "rooms"),
    ("infra/planted.py", "import simulation.world", "rooms"),
    ("tasks/planted.py", "import components.task_manager.core.hosting", "rooms"),
    ("tasks/planted.py", "import spark_streaming", "rooms"),
    ("simulation/planted.py", "import turbine.cli", "front-door"),
    ("turbine/read/planted.py", "import turbine.cli.output", "house"),
    ("turbine/read/planted.py", "import turbine.ops.fleet", "house"),
    ("turbine/ops/planted.py", "import turbine.lab.kernel", "house"),
    ("turbine/lab/planted.py", "import turbine.api.app", "house"),
    ("turbine/exporter/planted.py", "import turbine.lab.kernel", "house"),
    ("turbine/api/planted.py", "import turbine.cli.output", "house"),
    ("turbine/cli/planted.py", "import turbine.api.app", "house"),
    ("turbine/story/planted.py", "import turbine.cli.output", "house"),
    ("turbine/api/planted.py", "import turbine.serve", "house"),
    ("components/planted/decide.py", "import components.job_service.decide", "components"),
    ("components/planted/agents.py", "import components.clock.agents", "components"),
    ("components/job_service/planted.py", "import components.planted.decide", "components"),
    ("components/runtime/planted.py", "import components.job_service.decide", "components"),
    ("spark_streaming/planted.py", "import projections.jobs", "tasks"),
    ("spark_streaming/planted.py", "import components.runtime.core.step", "tasks"),
    ("projections/planted.py", "import time", "pure"),
    ("projections/planted.py", "import faust", "pure"),
    ("projections/planted.py", "from os import environ", "pure"),
    ("components/planted/decide.py", "import random", "pure"),
    ("components/planted/decide.py", "import asyncio", "pure"),
    ("components/planted/decide.py", "import socket", "pure"),
    ("components/planted/decide.py", "import confluent_kafka", "pure"),
    ("components/planted/decide.py", "import turbine_client.reading", "pure"),
    ("components/planted/decide.py", "import aiokafka", "pure"),
    ("components/planted/decide.py", "import components.runtime.faust.shell", "pure"),
    ("simulation/planted.py", "from time import monotonic", "simulation"),
    ("simulation/planted.py", "import faust", "simulation"),
    ("simulation/planted.py", "import confluent_kafka", "simulation"),
    ("simulation/planted.py", "import pyspark", "simulation"),
    ("simulation/planted.py", "import spark_streaming.engine", "simulation"),
    ("simulation/planted.py", "import components.runtime.faust.shell", "simulation"),
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
        "import faust, confluent_kafka, time, components.runtime.faust.shell",
    ),
    ("client/turbine_client/planted.py", "import confluent_kafka, fastavro, threading"),
    ("events/planted.py", "import turbine_client.identity"),
    (
        "components/planted/decide.py",
        "import projections.jobs, components.runtime.core.step, hashlib",
    ),
    ("simulation/planted.py", "import components.planted.decide, random"),
    ("spark_streaming/planted.py", "import events.wire.codec, confluent_kafka"),
    ("turbine/cli/planted.py", "import components.planted.agents, turbine.lab.kernel"),
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


# One file below each pattern of the contract, so that no line of it is vacuous.
PURE = [
    "components/planted/decide.py",
    "components/runtime/core/audit/planted.py",
    "components/shard_manager/core/solver/planted.py",
    "events/wire/planted.py",
    "projections/planted.py",
    "tasks/core/planted.py",
]


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """All imports of the tree as it stands, with one component more."""
    found = grimp.build_graph(*ROOMS, include_external_packages=True, cache_dir=None)
    for name in ("planted", "planted.decide", "planted.agents"):
        found.add_module(f"components.{name}")
    return found


def planted(graph: grimp.ImportGraph, file: str, line: str) -> grimp.ImportGraph:
    """A copy of the graph in which the file holds that import as well."""
    copy, module = deepcopy(graph), module_of(file)
    for imported in _imports(ast.parse(line)):
        external = imported.partition(".")[0] not in ROOMS
        if not external:
            assert imported in graph.modules, f"{imported} is to be planted and is no module"
        copy.add_module(imported, is_squashed=external)
        copy.add_import(importer=module, imported=imported, line_number=1, line_contents=line)
    return copy


def module_of(file: str) -> str:
    return file.removesuffix(".py").removeprefix("client/").replace("/", ".")


def broken(graph: grimp.ImportGraph, *contracts: str) -> dict[str, str]:
    """The contracts (of all if none is named) that the graph breaks, and by which imports."""
    found = {}
    for name in contracts or CONTRACTS:
        options = CONTRACTS[name]
        contract = KINDS[options["type"]](options["name"], SETTINGS, options)
        check = contract.check(deepcopy(graph), verbose=False)  # a check may change its graph
        if not check.kept:
            found[name] = repr(check.metadata)
    return found


def test_the_arrows_hold(graph: grimp.ImportGraph) -> None:
    assert broken(graph) == {}


def test_what_is_allowed_breaks_nothing(graph: grimp.ImportGraph) -> None:
    found = {(file, line): broken(planted(graph, file, line)) for file, line in ALLOWED}
    assert {what: contracts for what, contracts in found.items() if contracts} == {}


def test_a_forbidden_import_breaks_its_contract(graph: grimp.ImportGraph) -> None:
    assert unseen(graph, PLANTS) == []


def test_every_pure_module_is_held(graph: grimp.ImportGraph) -> None:
    assert unseen(graph, [(file, "import time", "pure") for file in PURE]) == []


def test_a_contract_that_sees_nothing_is_told(graph: grimp.ImportGraph) -> None:
    deaf = ("turbine/planted.py", "import time", "pure")
    assert unseen(graph, [PLANTS[0], deaf]) == [deaf]


def unseen(graph: grimp.ImportGraph, plants: list[Plant]) -> list[Plant]:
    """The plants by which their contract does not break, or breaks elsewhere."""
    return [
        (file, line, contract)
        for file, line, contract in plants
        if module_of(file) not in broken(planted(graph, file, line), contract).get(contract, "")
    ]


def test_the_program_reads_what_a_file_imports(tmp_path: Path) -> None:
    """As `make check` starts it: green on the tree, red by a file that is planted in it."""
    for room in ROOMS:
        shutil.copytree(ROOT / home_of(room), tmp_path / home_of(room), ignore=_only_modules)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert lint(tmp_path) == (0, "")
    (tmp_path / "events" / "planted.py").write_text("import projections.jobs\n")
    code, report = lint(tmp_path)
    assert code == 1
    assert "events.planted -> projections.jobs" in report


def _only_modules(directory: str, names: list[str]) -> set[str]:
    inside = Path(directory)
    return {one for one in names if not (one.endswith(".py") or (inside / one).is_dir())} | {
        one for one in names if one in ("__pycache__", "target")
    }


def lint(tree: Path) -> tuple[int, str]:
    """How the linter ended on a tree, and its report where it broke."""
    done = subprocess.run(
        [LINTER, "--no-cache", "--no-logo"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": f"{tree}:{tree / 'client'}", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr if done.returncode else ""


def test_every_contract_is_seen_to_break() -> None:
    assert {contract for _, _, contract in PLANTS} == set(CONTRACTS)


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
