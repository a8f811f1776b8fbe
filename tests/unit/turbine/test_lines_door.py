"""A container's door and who asks it: over real sockets, by honest and by hostile hands."""

from __future__ import annotations

import http.client
import json
import select
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from events.generated.records import ContainerStarted
from infra.waiting import until
from tasks.task_log import file_of, older
from tests.unit.turbine.test_task_lines import container, line, put
from turbine.ops.lines_asked import Far, TailQuery, TailUnanswered, ask
from turbine.ops.lines_door import ANSWER_BYTES_MOST, AT_ONCE_MOST, DoorAddress, open_door
from turbine.ops.task_lines import tail_of
from turbine_client.settings import BadSettings

HERE = socket.gethostname()
NAME = "c1"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return container(tmp_path, NAME)


@pytest.fixture
def door(place: Path) -> DoorAddress:
    return open_door("127.0.0.1", 0, place)


def started(door: DoorAddress, host: str = HERE) -> ContainerStarted:
    return ContainerStarted(
        NAME, 1, "default", "local", (), host, logs_url=door.url, logs_key=door.key
    )


def texts(door: DoorAddress, task: int = 0, tail: int = 100, host: str = HERE) -> list[str]:
    answer = ask(None, NAME, started(door, host), TailQuery("clicks", task, tail))
    return [one.text for one in answer.lines]


def sentence(begun: ContainerStarted | None) -> str:
    with pytest.raises(TailUnanswered) as refused:
        ask(None, NAME, begun, TailQuery("clicks", 0, 10))
    return str(refused.value)


def get(door: DoorAddress, path: str, **headers: str) -> tuple[int, Any]:
    asking = http.client.HTTPConnection(door.url.removeprefix("http://"), timeout=60)
    asking.request("GET", path, headers=headers)
    answer = asking.getresponse()
    return answer.status, json.loads(answer.read())


# --- what is told


def test_the_last_lines_of_a_task_and_of_no_other(place: Path, door: DoorAddress) -> None:
    put(place, 0, line(1, "a"), line(2, "<b>"), line(3, "c"))
    put(place, 1, line(1, "another"))
    assert texts(door) == ["a", "<b>", "c"]
    assert texts(door, tail=2) == ["<b>", "c"]
    assert texts(door, task=7) == []
    answer = ask(None, NAME, started(door), TailQuery("clicks", 0, 1))
    assert (answer.lines[0].at_ms, answer.lines[0].run, answer.lines[0].stream, answer.cut) == (
        3, "1.1", "stdout", False,
    )  # fmt: skip


def test_where_the_place_is_here_no_door_is_asked(tmp_path: Path, place: Path) -> None:
    """Also of a container that is dead."""
    put(place, 0, line(1, "its last words"))
    answer = ask(tmp_path, NAME, None, TailQuery("clicks", 0, 10))
    assert [one.text for one in answer.lines] == ["its last words"]


def test_the_file_before_is_read_where_lines_are_few(place: Path) -> None:
    path = put(place, 0, line(1, "old"), line(2, "older half"))
    path.rename(older(path))
    put(place, 0, line(3, "new"), "1970-01-01T00:00:00.004Z 1.1 stdout torn")
    assert [one.text for one in tail_of(place, "clicks", 0, 2)] == ["older half", "new"]
    assert [one.text for one in tail_of(place, "clicks", 0, 9)] == ["old", "older half", "new"]


def test_a_large_file_is_read_from_its_end_only(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turbine.ops.task_lines.TAIL_BYTES_MOST", 150)
    put(place, 0, *[line(at, f"line {at}") for at in range(9)])
    file_of(place, "clicks", 0).replace(older(file_of(place, "clicks", 0)))
    put(place, 0, line(9, "line 9"))
    assert [one.text for one in tail_of(place, "clicks", 0, 9)] == ["line 7", "line 8", "line 9"]


def test_an_answer_is_bounded_and_says_that_it_is_cut(place: Path, door: DoorAddress) -> None:
    put(place, 0, *[line(at, "\x01" * 16_000) for at in range(12)], line(99, "the last"))
    answer = ask(None, NAME, started(door), TailQuery("clicks", 0, 1000))
    assert answer.cut
    assert answer.lines[-1].text == "the last"
    assert 1 < len(answer.lines) <= ANSWER_BYTES_MOST // (6 * 16_000) + 1


# --- who is let in


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer x", "Basic KEY", "KEY"])
def test_without_the_key_nothing_is_told(place: Path, door: DoorAddress, given: str) -> None:
    put(place, 0, line(1, "secret"))
    headers = {"Authorization": given.replace("KEY", door.key)} if given else {}
    status, told = get(door, "/tasks/clicks/0", **headers)
    assert (status, list(told)) == (401, ["detail"])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 404),
        ("/tasks/clicks", 404),
        ("/tasks/../0", 404),
        ("/tasks/..%2f..%2flife/0", 404),
        ("/tasks/a/../../b/0", 404),
        ("/tasks/Clicks/0", 404),
        ("/tasks/clicks/-1", 404),
        ("/tasks/clicks/0000000001", 404),
        ("/life.json", 404),
        ("/tasks/clicks/0?tail=0", 422),
        ("/tasks/clicks/0?tail=1001", 422),
        ("/tasks/clicks/0?tail=x", 422),
        ("/tasks/clicks/0?tail=5", 200),
    ],
)
def test_nothing_but_a_task_can_be_asked_for(door: DoorAddress, path: str, status: int) -> None:
    assert get(door, path, Authorization=f"Bearer {door.key}")[0] == status


def test_each_life_has_a_key_of_its_own(place: Path, door: DoorAddress) -> None:
    other = open_door("127.0.0.1", 0, place)
    assert other.key != door.key
    stale = started(DoorAddress(door.url, other.key))
    assert sentence(stale) == "another life of c1 answers by now; ask again in a moment"


def test_who_hangs_takes_no_more_than_some_threads(
    place: Path, door: DoorAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turbine.ops.lines_door._Answers.timeout", 600)
    put(place, 0, line(1, "told"))
    port = int(door.url.rpartition(":")[2])
    hanging = [socket.create_connection(("127.0.0.1", port)) for _ in range(3 * AT_ONCE_MOST)]
    let_go: set[socket.socket] = set()
    while len(let_go) < 2 * AT_ONCE_MOST:
        let_go.update(select.select(hanging, [], [], 60)[0])
        hanging = [one for one in hanging if one not in let_go]
    assert len(hanging) == AT_ONCE_MOST
    for one in (*hanging, *let_go):
        one.close()
    until(lambda: answered(door), "there is room again", 60)


def answered(door: DoorAddress) -> bool:
    try:
        return texts(door) == ["told"]
    except TailUnanswered:
        return False


@pytest.mark.parametrize("host", ["203.0.113.7", "no such host.", "256.1.1.1"])
def test_an_address_that_cannot_be_served_is_one_sentence(place: Path, host: str) -> None:
    with pytest.raises(BadSettings, match=r"--logs-host .* name an address of this machine") as bad:
        open_door(host, 0, place)
    assert host in str(bad.value)


def test_a_container_may_answer_nobody(place: Path) -> None:
    assert open_door("off", 0, place) == DoorAddress()
    assert sentence(started(DoorAddress())) == (
        f"c1 on {HERE} does not answer for its tasks' lines; start it without --logs-host off, or"
        " run `turbine logs clicks/0` there"
    )


def test_of_all_addresses_the_name_of_the_machine_is_told(place: Path) -> None:
    assert open_door("0.0.0.0", 0, place).url.startswith(f"http://{HERE}:")  # noqa: S104 - of a test


# --- what the log says is not taken on trust


def test_loopback_is_that_of_its_own_machine(door: DoorAddress) -> None:
    said = sentence(started(door, host="far-away"))
    assert said == (
        "c1 answers for its tasks' lines to far-away only, where it runs; ask there, or start it"
        " with --logs-host ADDRESS"
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1:1",
        "http://127.0.0.1",
        "http://me@127.0.0.1:1",
        "http://127.0.0.1:1/admin",
        "http://127.0.0.1:1?x=",
        "file:///etc/passwd",
        "http://a b:1",
        "http://x\r\nHost: y:1",
    ],
)
def test_an_address_is_a_host_and_a_port_and_nothing_else(url: str) -> None:
    assert "which is no address; start it anew with --logs-host ADDRESS" in sentence(
        started(DoorAddress(url, "k"))
    )


def test_one_that_has_ended_or_never_was_is_one_sentence() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert sentence(started(DoorAddress(url, "k"))).startswith(f"c1 does not answer at {url} (")
    assert sentence(None) == (
        "c1 has never said where its tasks' lines are asked for; is it of this fleet?"
    )


@pytest.fixture
def answering() -> Iterator[Any]:
    """Whoever answers once with these bytes."""
    doors = []

    def open_(said: bytes) -> DoorAddress:
        listening = socket.create_server(("127.0.0.1", 0))
        doors.append(listening)

        def answer() -> None:
            talking, _ = listening.accept()
            with talking:
                talking.recv(65_536)
                talking.sendall(said)

        threading.Thread(target=answer, daemon=True).start()
        return DoorAddress(f"http://127.0.0.1:{listening.getsockname()[1]}", "k")

    yield open_
    for one in doors:
        one.close()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b"[]",
        b"{}",
        b'{"lines": 5, "cut": false}',
        b'{"lines": [{}], "cut": false}',
        b'{"lines": [{"at_ms": "x", "run": "", "stream": "", "text": ""}], "cut": 0}',
        b'{"lines": [{"at_ms": 1e300, "run": "", "stream": "", "text": ""}], "cut": 0}',
        b'{"lines": [{"at_ms": Infinity, "run": "", "stream": "", "text": ""}], "cut": 0}',
        b'{"lines": [{"at_ms": -1, "run": "", "stream": "", "text": ""}], "cut": 0}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_answer_is_one_sentence(answering: Any, body: bytes) -> None:
    head = f"HTTP/1.0 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    said = sentence(started(answering(head + body)))
    assert said == "what answers for c1 is none of ours; is another program at its address by now?"


@pytest.mark.parametrize(
    "said", [b"", b"nonsense\r\n\r\n", b"HTTP/1.0 200 OK\r\nContent-Length: 9"]
)
def test_what_is_no_http_is_one_sentence(answering: Any, said: bytes) -> None:
    assert "c1" in sentence(started(answering(said)))


def test_nobody_is_followed_elsewhere(answering: Any) -> None:
    head = b"HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 2\r\n\r\n{}"
    assert "is none of ours" in sentence(started(answering(head)))


# --- following


def test_what_comes_elsewhere_comes_once(place: Path) -> None:
    far = Far("clicks", {0: started(open_door("127.0.0.1", 0, place))})
    put(place, 0, line(1, "a"), line(2, "b"), line(2, "b"))
    assert [one.line.text for one in far.read(2)] == ["b", "b"]
    assert far.read() == []
    put(place, 0, line(2, "b"), line(2, "c"), line(3, "d"))
    assert [one.line.text for one in far.read()] == ["b", "c", "d"]
    assert far.read() == []
