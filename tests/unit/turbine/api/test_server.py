"""Over a real socket: doors, tokens, addresses, an end that waits for nobody, and the command."""

from __future__ import annotations

import json
import socket
import threading
from http.client import HTTPConnection
from pathlib import Path

import pytest

from components.runtime.process.loop import StopSignal
from tests.unit.turbine.api.world import world_of
from tests.unit.turbine.lines import run
from turbine.api import writing
from turbine.api.server import (
    Serving,
    bind,
    forget_address,
    serve_app,
    token_in,
    url_of,
    write_address,
)
from turbine.api.writing import LogWriter, OperatorWish
from turbine.cli.dashboard import _tell
from turbine.failures import Code
from turbine.ops.fleet import address_of, await_address
from turbine.ops.members import ADDRESS
from turbine_client.publish import Unheard
from turbine_client.settings import BadSettings, Settings


def test_it_answers_and_ends_although_somebody_follows(tmp_path: Path) -> None:
    world, door, stop = world_of(directory=tmp_path), bind(Serving(port=0)), StopSignal()
    codes: list[int] = []
    thread = threading.Thread(
        target=lambda: codes.append(serve_app(world.app, door, stop, world.feed))
    )
    thread.start()
    try:
        port = int(url_of(door).rpartition(":")[2])
        asking = HTTPConnection("127.0.0.1", port, timeout=60)
        asking.request("GET", "/api/v1/fleet")
        answer = asking.getresponse()
        assert (answer.status, json.loads(answer.read())["totals"]["jobs"]) == (200, 3)
        assert answer.headers["server"] is None
        follows = HTTPConnection("127.0.0.1", port, timeout=60)
        follows.request("GET", "/api/v1/stream?after=journal.v1/0:0")
        stream = follows.getresponse()
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert stream.readline() == b": turbine\n"
    finally:
        stop.set()
        thread.join(60)
    assert (codes, thread.is_alive()) == ([0], False)
    follows.close()
    asking.close()


def test_a_door_that_is_taken_is_told_of_or_another_is_opened() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadSettings, match=f"nothing can listen at 127.0.0.1:{port}.*--port"):
            bind(Serving(port=port))
        with bind(Serving(port=port, any_port=True)) as door:
            assert door.getsockname()[1] not in {0, port}


def test_a_token_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    directory = tmp_path / "new"
    token = token_in(directory)
    path = directory / "api-token"
    assert (len(token) >= 32, path.stat().st_mode & 0o777) == (True, 0o600)
    assert token_in(directory) == token
    path.write_text("\n")
    with pytest.raises(BadSettings, match="api-token holds no token; delete it"):
        token_in(directory)


def test_others_find_the_address(tmp_path: Path) -> None:
    assert address_of(tmp_path) is None
    assert await_address(tmp_path, 0.0) is None
    write_address(tmp_path / ADDRESS, "http://127.0.0.1:1")
    assert await_address(tmp_path, 60) == "http://127.0.0.1:1"
    (tmp_path / ADDRESS).write_text("[")
    assert address_of(tmp_path) is None


def test_an_address_is_forgotten_by_whose_it_is(tmp_path: Path) -> None:
    path = tmp_path / ADDRESS
    forget_address(path)
    path.write_text('{"url": "http://127.0.0.1:1", "pid": 1}')
    forget_address(path)
    assert path.exists()
    write_address(path, "http://127.0.0.1:2")
    forget_address(path)
    assert not path.exists()


def test_a_writer_that_nobody_asked_opens_nothing() -> None:
    LogWriter(Settings(bootstrap="127.0.0.1:1")).close()


def test_a_publisher_that_hears_nothing_more_is_left_for_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[int] = []

    class Deaf:
        def __init__(self, _: Settings) -> None:
            self.number = len(closed)

        def pause(self, *_: object, **__: object) -> None:
            raise Unheard("nothing is heard")

        resume = release = pause

        def close(self) -> None:
            closed.append(self.number)

    monkeypatch.setattr(writing, "Publisher", Deaf)
    writer = LogWriter(Settings(bootstrap="127.0.0.1:1"))
    for _ in range(2):
        with pytest.raises(Unheard):
            writer.ask(OperatorWish("pause", "clicks", "r", "ana"), 0.1)
    writer.close()
    assert closed == [0, 1]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("--listen 0.0.0.0", "--listen 0.0.0.0 lets other machines read all that the log says"),
        ("--allow-host http://x", "--allow-host http://x: a name without scheme and port"),
        ("--allow-host x:80", "--allow-host x:80: a name without scheme and port"),
        ("--scoreboard nowhere.json", "--scoreboard nowhere.json is no file; make one with"),
        ("--open nowhere.turbine", "nowhere.turbine"),
    ],
)
def test_what_the_command_refuses(line: str, sentence: str, tmp_path: Path) -> None:
    ended = run("dashboard", "--port", "0", *line.split())
    assert ended.code in {Code.USAGE, Code.NOT_FOUND, Code.FAILED}
    assert sentence in ended.sentence
    assert ended.out == ""


def test_without_a_broker_the_command_says_so(tmp_path: Path) -> None:
    ended = run("dashboard", "--port", "0", "--bootstrap", "127.0.0.1:1")
    assert (ended.code, ended.out) == (Code.FAILED, "")
    assert ended.sentence.startswith("no broker answers at 127.0.0.1:1")


def test_the_token_of_writers_is_shown_to_a_terminal_and_to_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    token, file = token_in(tmp_path), tmp_path / "api-token"
    _tell("http://127.0.0.1:8090", file)
    told = capsys.readouterr()
    assert told.out == "http://127.0.0.1:8090\n"
    assert f"it asks for the token in {file}; end: Ctrl-C" in told.err.replace("\n", " ")
    assert token not in told.err
    monkeypatch.setattr("turbine.cli.dashboard.sys.stderr.isatty", lambda: True)
    _tell("http://127.0.0.1:8090", file)
    assert f"it asks for this token: {token}; end" in capsys.readouterr().err
    _tell("http://127.0.0.1:8090", None)
    assert "token" not in capsys.readouterr().err
