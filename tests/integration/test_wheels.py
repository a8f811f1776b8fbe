"""Both wheels, each in an empty environment, used beside files that are called like our rooms."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.integration.changes import SMALLEST
from tests.integration.processes import ROOT, Fleet, fleet_on
from turbine_client import Accepted, Publisher

pytestmark = pytest.mark.broker

NAMESAKES = (
    "benchmarks",
    "components",
    "events",
    "infra",
    "identity",
    "projections",
    "publish",
    "records",
    "settings",
    "simulation",
    "spark_streaming",
    "tasks",
    "topics",
)
LIMIT_BYTES = 30_000_000
"""Of a client with what it needs, without bytecode."""

USES_THE_CLIENT = """
import asyncio, json, sys
from turbine_client import (
    Accepted, Api, AsyncPublisher, BadSettings, Publisher, Rejected, Subscriber, Unknown
)

bootstrap, config = sys.argv[1], json.loads(sys.argv[2])
with Publisher(bootstrap=bootstrap) as ana:
    made = ana.change("clicks", config, create=True, reason="new", wait_s=60)
    assert isinstance(made, Accepted), made
    assert ana.ask(made.change_id, wait_s=60) == made
    wrong = ana.change("clikcs", {"tasks": 2}, wait_s=60)
    assert isinstance(wrong, Rejected) and "perhaps clicks" in wrong.explanation, wrong
with Subscriber(bootstrap=bootstrap, start="earliest", job="clicks") as heard:
    first = next(iter(heard))
assert (first.kind, first.change_id) == ("JobConfigChanged", made.change_id), first
assert json.loads(first.body.layer_json) == config


async def later():
    async with AsyncPublisher(bootstrap=bootstrap, author="bob") as bob:
        accepted = await bob.change("clicks", {"tasks": 2}, wait_s=60)
        assert isinstance(accepted, Accepted) and accepted.version == 2, accepted
        assert isinstance(await bob.ask("1.nobody", wait_s=0.1), Unknown)
    with Subscriber(bootstrap=bootstrap, start="earliest") as heard:
        async for outcome in heard:
            if outcome.change_id == accepted.change_id:
                return outcome.body.author


assert asyncio.run(later()) == "bob"
try:
    Api()
except BadSettings as bad:
    assert "TURBINE_API" in str(bad)
print(sorted(name for name in sys.modules if name in sys.argv[3].split(",")))
"""

USES_THE_SERVER = """
import turbine, turbine_client
from turbine import Accepted, Publisher, Subscriber, verify_webhook

assert Publisher is turbine_client.Publisher and Subscriber is turbine_client.Subscriber
print(turbine.__file__)
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both distributions as they would be published, by name."""
    out = tmp_path_factory.mktemp("wheels")
    for home in (ROOT / "client", ROOT):
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
        subprocess.run(build, cwd=home, check=True, capture_output=True, text=True)
    return {path.name.partition("-")[0]: path for path in out.glob("*.whl")}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A clock, a job service and who publishes what is decided."""
    with fleet_on(tmp_path_factory.mktemp("fleet")) as fleet:
        fleet.start("clock")
        fleet.start("publisher")
        fleet.worker("w0")
        yield fleet


def needed(home: Path) -> set[str]:
    """The distributions that a wheel of ours needs with no extra, and what those need."""
    project = tomllib.loads((home / "pyproject.toml").read_text())["project"]
    open_ones, found = list(project["dependencies"]), set[str]()
    while open_ones:
        one = Requirement(open_ones.pop())
        if one.name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        if one.name != "turbine-client":
            found.add(one.name)
            open_ones += metadata.requires(one.name) or []
    return found


def environment(directory: Path, names: set[str], *wheels: Path) -> Path:
    """The Python of an environment that has these wheels and these distributions, and no more."""
    make = [sys.executable, "-m", "venv", "--without-pip", str(directory)]
    subprocess.run(make, check=True, capture_output=True)
    python = directory / "bin" / "python"
    [site] = directory.glob("lib/python*/site-packages")
    for name in names:
        files = metadata.distribution(name).files or ()
        for top in {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}:
            source = Path(str(metadata.distribution(name).locate_file(top)))
            if source.exists() and not (site / top).exists():
                (site / top).symlink_to(source)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    install = [*pip, "--no-index", "--no-deps", *map(str, wheels)]
    subprocess.run(install, check=True, capture_output=True, text=True)
    return python


def beside_namesakes(directory: Path, program: str = "") -> Path:
    """A directory with a program in it, and files that must not be taken for ours."""
    directory.mkdir()
    for name in NAMESAKES:
        text = f"raise SystemExit('the {name}.py of the user was imported')"
        (directory / f"{name}.py").write_text(text)
    (directory / "app.py").write_text(program)
    return directory


def run(python: Path, where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs it as its user would, with nothing set."""
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(where)}
    return subprocess.run(
        [str(python), *words],
        cwd=where,
        env=bare,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def size_of(names: set[str], wheel: Path) -> int:
    """The bytes of these distributions and of a wheel's contents, without bytecode."""
    files = (file for name in names for file in metadata.distribution(name).files or ())
    paths = (Path(str(file.locate())) for file in files if "__pycache__" not in file.parts)
    return wheel.stat().st_size + sum(path.stat().st_size for path in paths if path.exists())


@pytest.fixture(scope="module")
def server(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a machine that has the base of `turbine` and no extra."""
    home = tmp_path_factory.mktemp("server") / "env"
    return environment(home, needed(ROOT), wheels["turbine_client"], wheels["turbine"])


def test_a_client_publishes_and_follows_beside_any_file(
    wheels: dict[str, Path], fleet: Fleet, tmp_path: Path
) -> None:
    names = needed(ROOT / "client")
    python = environment(tmp_path / "env", names, wheels["turbine_client"])
    where = beside_namesakes(tmp_path / "work", USES_THE_CLIENT)
    (where / "turbine.py").write_text("raise SystemExit('the turbine.py of the user')")
    foreign = ",".join((*NAMESAKES, "turbine", "pydantic", "structlog", "faust", "pyspark"))
    done = run(python, where, "app.py", fleet.broker.bootstrap, json.dumps(SMALLEST), foreign)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "[]\n", "it imported what is not its own"
    assert size_of(names, wheels["turbine_client"]) < LIMIT_BYTES


def test_the_server_gives_the_same_objects_and_reads_the_log(
    server: Path, fleet: Fleet, tmp_path: Path
) -> None:
    where = beside_namesakes(tmp_path / "work", USES_THE_SERVER)
    done = run(server, where, "app.py")
    assert done.returncode == 0, done.stderr
    assert str(server.parents[1]) in done.stdout
    told = run(server, where, "-m", "turbine", "--help")
    assert (told.returncode, told.stderr) == (0, "")
    assert "get" in told.stdout
    at = ("--bootstrap", fleet.broker.bootstrap)
    with Publisher(bootstrap=fleet.broker.bootstrap, author="ana") as ana:
        assert isinstance(ana.change("orders", SMALLEST, create=True, wait_s=60), Accepted)
    jobs = run(server, where, "-m", "turbine", "get", "jobs", "-o", "name", *at)
    assert (jobs.returncode, jobs.stderr) == (0, ""), jobs.stderr
    assert "orders" in jobs.stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        (("serve", "api"), "api"),
        (("serve", "job-service"), "faust"),
        (("up", "--engine", "process"), "api"),
        (("check", "job.yaml"), "spark"),
    ],
)
def test_a_command_without_its_extra_says_which(
    server: Path, fleet: Fleet, tmp_path: Path, line: tuple[str, ...], extra: str
) -> None:
    where = beside_namesakes(tmp_path / "work")
    (where / "job.yaml").write_text("job: clicks\n")
    done = run(server, where, "-m", "turbine", *line, "--bootstrap", fleet.broker.bootstrap)
    assert done.returncode == 1, done.stderr
    assert done.stderr.strip().endswith(f"install it with `pip install 'turbine[{extra}]'`")
    assert len([said for said in done.stderr.splitlines() if said.startswith("turbine: ")]) == 1
    assert "Traceback" not in done.stderr
