"""What is asked of programs beside us: flags, ports, and the sentences that they end with."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.runtime.process.local import Flags, LocalFailed, ask_broker, ask_topics, port_here
from tests.unit.turbine.lines import NOWHERE
from turbine.serve import EXIT_ORPHANED
from turbine_client.clients import knock
from turbine_client.settings import Settings


@pytest.fixture
def listening() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_flags_are_handed_on() -> None:
    assert Flags().arguments() == []
    assert Flags("b:1", Path("f.toml")).arguments() == [
        "--bootstrap",
        "b:1",
        "--config",
        "f.toml",
    ]


@pytest.mark.parametrize(
    ("bootstrap", "port"),
    [
        ("127.0.0.1:9092", 9092),
        ("localhost:1", 1),
        ("far:9092", None),
        ("localhost", None),
        ("a:1,b:2", None),
        ("127.0.0.1:1,127.0.0.1:2", None),
    ],
)
def test_a_local_broker_needs_a_port_of_this_machine(bootstrap: str, port: int | None) -> None:
    assert port_here(Settings(bootstrap=bootstrap)) == port


def test_a_knock(listening: str) -> None:
    assert knock(Settings(bootstrap=listening)) == ""
    assert knock(Settings(bootstrap=NOWHERE)) == "Connection refused"
    assert knock(Settings(bootstrap=f"{NOWHERE},{listening}")) == ""
    assert knock(Settings(bootstrap="[::1]:1")) != ""


def test_a_directory_without_a_broker(tmp_path: Path) -> None:
    status = ask_broker("status", tmp_path)
    assert (status["pid"], status["answers"], status["data_bytes"]) == (None, False, 0)
    assert ask_broker("stop", tmp_path) == {"stopped": False, "directory": str(tmp_path)}
    assert ask_broker("wipe", tmp_path) == {"wiped": False, "directory": str(tmp_path)}


def test_the_sentence_of_the_program_is_ours(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "holiday.jpg").touch()
    with pytest.raises(LocalFailed) as failed:
        ask_broker("wipe", tmp_path)
    assert str(failed.value) == f"{tmp_path / 'data'} holds no broker's data: nothing was deleted."


def test_bad_settings_of_the_program(tmp_path: Path) -> None:
    with pytest.raises(LocalFailed, match=r"none\.toml: no such file"):
        ask_topics("plan", Flags(config=tmp_path / "none.toml"))


def test_a_folder_of_the_same_name_is_not_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "__init__.py").write_text("raise SystemExit('not ours')\n")
    monkeypatch.chdir(tmp_path)
    assert ask_broker("stop", tmp_path)["stopped"] is False


def test_a_component_whose_parent_is_gone_does_not_start() -> None:
    command = [sys.executable, "-m", "turbine.serve", "clock", "--bootstrap", NOWHERE]
    foreign = str(os.getppid())
    done = subprocess.run([*command, "--die-with", foreign], check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (EXIT_ORPHANED, b"")
