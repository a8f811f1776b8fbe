"""A line that reads is asked of a running API, and run here wherever none answers as it should."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from components.runtime.process.loop import StopSignal
from tests.unit.turbine import logs
from tests.unit.turbine.lines import NOWHERE, Ended, run
from tests.unit.turbine.test_main import HEAVY
from turbine.api.app import make_app
from turbine.api.server import Serving, bind, opened_file, serve_app, url_of
from turbine.cli.remote import TARGET_BYTES_MAX
from turbine.failures import Code
from turbine.ops.members import ADDRESS
from turbine.read.sources.log_file import LogFile
from turbine_client.settings import BadSettings, load_settings

ROOT = Path(__file__).resolve().parents[3]
NO_BROKER = f"turbine: no broker answers at {NOWHERE}"


@pytest.fixture(autouse=True)
def _nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the machine that runs the tests, and no fleet."""
    monkeypatch.chdir(tmp_path)
    for name in ("BOOTSTRAP", "CONFIG", "DIRECTORY", "API", "API_TOKEN"):
        monkeypatch.delenv(f"TURBINE_{name}", raising=False)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A log in a file, and the address of an API over it."""
    path = tmp_path_factory.mktemp("remote") / "fleet.log.gz"
    logs.write(path, logs.told())
    door, stop = bind(Serving(port=0)), StopSignal()
    with opened_file(LogFile(path), Serving()) as (desk, rules):
        app = make_app(desk, rules, page=Path("nowhere"))
        thread = threading.Thread(target=serve_app, args=(app, door, stop, desk.feed))
        thread.start()
        try:
            yield path, url_of(door)
        finally:
            stop.set()
            thread.join(60)
            door.close()


def found_in_directory(url: str) -> None:
    """As a fleet's API says where it is."""
    Path(".turbine").mkdir()
    (Path(".turbine") / ADDRESS).write_text(json.dumps({"url": url, "pid": 1}))


# --- answered


@pytest.mark.parametrize("line", ["get jobs", "get jobs nope", "get jobs -o yaml", "get jobs -x"])
def test_what_is_printed_is_what_is_printed_here(
    served: tuple[Path, str], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, url = served
    monkeypatch.setenv("TURBINE_API", url)
    assert run(*line.split(), "--verbose") == run("--log", str(path), *line.split())


def test_the_instant_ahead_of_a_line_is_asked_about(
    served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, url = served
    at = "1970-01-01T00:27:30Z"
    monkeypatch.setenv("TURBINE_API", f"{url}/")
    assert run("at", at, "get", "jobs") == run("--log", str(path), "get", "jobs", "--at", at)


def test_what_is_said_wins_over_what_is_found(
    served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """First the environment, then the file of settings, then the fleet's directory."""
    path, url = served
    here = run("--log", str(path), "get", "jobs")
    dead = "http://127.0.0.1:1"
    found_in_directory(dead)
    assert "no API answers at http://127.0.0.1:1 (Connection refused)" in asked_in_vain().err
    Path("turbine.toml").write_text(f'api = "{url}"\n')
    assert run("get", "jobs") == here
    monkeypatch.setenv("TURBINE_API", dead)
    Path("turbine.toml").write_text('api = "http://127.0.0.1:2"\n')
    assert "http://127.0.0.1:1 " in asked_in_vain().err
    monkeypatch.setenv("TURBINE_API", url)
    assert run("get", "jobs") == here


def asked_in_vain(*more: str) -> Ended:
    return run("get", "jobs", "--verbose", "--bootstrap", NOWHERE, *more)


def test_who_has_read_enough_is_told_of_no_bug(served: tuple[Path, str]) -> None:
    """As `turbine get jobs | head -1` ends: quietly, and as it does without an API."""
    path, url = served

    def unread(*ahead: str, **more: str) -> tuple[int, bytes]:
        reading, writing = os.pipe()
        os.close(reading)
        line = [sys.executable, "-m", "turbine", *ahead, "get", "jobs"]
        done = subprocess.run(
            line,
            cwd=ROOT,
            env=os.environ | more,
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
        os.close(writing)
        return done.returncode, done.stderr

    assert unread(TURBINE_API=url) == unread("--log", str(path)) == (1, b"")


def test_the_client_loads_nothing_heavy(served: tuple[Path, str]) -> None:
    """Nor the parser of lines; seen by what the interpreter has loaded in the end."""
    path, url = served
    program = (
        "import sys; from turbine.cli import main; code = main(['get', 'jobs']);"
        "print(code, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TURBINE_API": url},
        capture_output=True,
        text=True,
        check=True,
    )
    code, *loaded = done.stderr.split()
    assert (int(code), done.stdout) == (Code.OK, run("--log", str(path), "get", "jobs").out)
    assert "turbine.cli.remote" in loaded
    heavy = HEAVY | {"typer", "numpy", "ssl", "http", "email", "argparse"}
    assert {one.partition(".")[0] for one in loaded} & heavy == set()


# --- not answered


@contextmanager
def answering(said: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Something that listens and says that to whoever comes; what it was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve() -> None:
            try:
                while True:
                    one, _ = door.accept()
                    with one:
                        asked.append(one.recv(100_000))
                        one.sendall(said)
            except OSError:
                return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{door.getsockname()[1]}", asked
        door.shutdown(socket.SHUT_RDWR)
    thread.join(60)


def problem(status: int, kind: str, detail: str) -> bytes:
    body = json.dumps({"type": f"urn:turbine:problem:{kind}", "detail": detail}).encode()
    return b"HTTP/1.1 %d Problem\r\nContent-Type: application/json\r\n\r\n%s" % (status, body)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (b"220 smtp\r\n", "what answers at {url} does not speak HTTP"),
        (b"", "what answers at {url} does not speak HTTP"),
        (b"HTTP/1.1 200 OK\r\n\r\n<html>", "what answers at {url} is no API of this build"),
        (b"HTTP/1.1 200 OK\r\n\r\n{}", "what answers at {url} is no API of this build"),
        (b"HTTP/1.1 404 No\r\n\r\n[]", "what answers at {url} is no API of this build"),
        (
            problem(409, "another-build", "it runs another build; start it again"),
            "the API at {url}: it runs another build; start it again",
        ),
    ],
)
def test_who_does_not_answer_as_an_api_is_left_aside(said: bytes, sentence: str) -> None:
    with answering(said) as (url, asked):
        found_in_directory(url)
        ended = asked_in_vain()
        quiet = run("get", "jobs", "--bootstrap", NOWHERE)
    first, second = ended.err.splitlines()
    assert first == f"turbine: {sentence.format(url=url)}; the log is read instead"
    assert second.startswith(NO_BROKER)
    assert quiet.err.splitlines() == [second]
    assert len(asked) == 2


def test_one_that_is_behind_is_told_of_also_where_nobody_asks() -> None:
    with answering(problem(503, "behind", "it has not read the log to its end")) as (url, _):
        found_in_directory(url)
        ended = run("get", "jobs", "--bootstrap", NOWHERE)
    assert ended.err.splitlines()[0] == (
        f"turbine: the API at {url}: it has not read the log to its end; the log is read instead"
    )


def test_where_none_is_known_it_is_said_to_whoever_asks() -> None:
    assert asked_in_vain().err.splitlines()[0].startswith("turbine: no API is known: none has said")
    assert run("get", "jobs", "--bootstrap", NOWHERE).err.startswith(NO_BROKER)


def test_what_is_asked_names_the_log_that_is_meant() -> None:
    with answering(problem(409, "another-log", "x")) as (url, asked):
        found_in_directory(url)
        asked_in_vain()
    assert NOWHERE.replace(":", "%3A").encode() in asked[0]
    assert b"Authorization" not in asked[0]
    assert asked[0].startswith(b"GET /api/v1/command?asked=%7B")


def test_a_token_is_sent_where_one_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURBINE_API_TOKEN", "a-token")
    with answering(b"") as (url, asked):
        monkeypatch.setenv("TURBINE_API", url)
        run("get", "jobs", "--bootstrap", NOWHERE)
    assert b"\r\nAuthorization: Bearer a-token\r\n" in asked[0]
    assert "a-token" not in run("config", "view", "-o", "json").out


@pytest.mark.parametrize(
    "line",
    [
        "get jobs --from-log",
        "get jobs --help",
        "log tail -f",
        "version",
        "delete job clicks --reason x",
        f"get jobs {'x' * TARGET_BYTES_MAX}",
    ],
)
def test_these_lines_are_run_here(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(b"") as (url, asked):
        monkeypatch.setenv("TURBINE_API", url)
        run(*line.split(), "--bootstrap", NOWHERE)
    assert asked == []


def test_a_log_in_a_file_is_read_from_the_file(
    served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(b"") as (url, asked):
        monkeypatch.setenv("TURBINE_API", url)
        assert run("--log", str(served[0]), "get", "jobs").code == Code.OK
    assert asked == []


@pytest.mark.parametrize("text", ["127.0.0.1:8090", "ftp://x", "http://", "http://x y"])
def test_an_address_that_is_none(text: str) -> None:
    with pytest.raises(BadSettings, match="TURBINE_API: api is the address of a running API, such"):
        load_settings(environment={"TURBINE_API": text})
