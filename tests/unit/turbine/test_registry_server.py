"""The schemas over HTTP: to this machine, by its own name, and never more than a schema's size."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from events.wire.lock import read_lock
from tests.unit.turbine.lines import run
from turbine.contract.registry import BODY_BYTES_MAX, CONTENT_TYPE, HOST, RegistryServer
from turbine.failures import Code

FIRST = read_lock()[0]


@pytest.fixture(scope="module")
def server() -> Iterator[RegistryServer]:
    with RegistryServer(0) as one:
        thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield one
        one.shutdown()
        thread.join()


def ask(
    server: RegistryServer, method: str, target: str, body: bytes | None = None, **headers: str
) -> tuple[int, Any, HTTPConnection]:
    connection = HTTPConnection(HOST, server.server_port, timeout=10)
    connection.request(
        method, target, body, {name.replace("_", "-"): text for name, text in headers.items()}
    )
    answer = connection.getresponse()
    assert answer.headers["Content-Type"] == CONTENT_TYPE
    return answer.status, json.loads(answer.read()), connection


def test_a_connection_is_good_for_many_requests(server: RegistryServer) -> None:
    status, told, connection = ask(server, "GET", f"/schemas/ids/{FIRST.id}")
    assert (status, json.loads(told["schema"])) == (200, FIRST.schema)
    connection.request("GET", "/subjects/nope/versions")
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["error_code"]) == (404, 40401)


def test_a_schema_is_looked_up_by_its_text(server: RegistryServer) -> None:
    body = json.dumps({"schema": json.dumps(FIRST.schema)}).encode()
    status, told, _ = ask(server, "POST", f"/subjects/{FIRST.full_name}", body)
    assert (status, told["id"]) == (200, FIRST.id)


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_nothing_is_changed(server: RegistryServer, method: str) -> None:
    status, told, _ = ask(server, method, "/config", b"{}")
    assert (status, told["error_code"]) == (405, 405)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "127.0.0.1.evil.example"])
def test_a_foreign_name_is_refused(server: RegistryServer, host: str) -> None:
    status, told, _ = ask(server, "GET", "/subjects", Host=host)
    assert (status, told["message"]) == (403, "this is served to this machine only, as 127.0.0.1")


@pytest.mark.parametrize("host", ["localhost", "localhost:8081", "127.0.0.1"])
def test_our_own_name_is_not(server: RegistryServer, host: str) -> None:
    assert ask(server, "GET", "/subjects", Host=host)[0] == 200


@pytest.mark.parametrize(
    ("size", "status", "sentence"),
    [
        (str(BODY_BYTES_MAX + 1), 413, f"a body has at most {BODY_BYTES_MAX} bytes"),
        ("9" * 5000, 413, f"a body has at most {BODY_BYTES_MAX} bytes"),
        ("-1", 411, "give the length of the body as Content-Length"),
        ("x", 411, "give the length of the body as Content-Length"),
    ],
)
def test_a_body_has_a_bound_that_is_looked_at_first(
    server: RegistryServer, size: str, status: int, sentence: str
) -> None:
    found, told, connection = ask(server, "POST", "/subjects/x", None, Content_Length=size)
    assert (found, told["message"]) == (status, sentence)
    assert connection.sock is None, "what follows was not read, so the connection ends"


def test_chunks_are_refused(server: RegistryServer) -> None:
    status, _, _ = ask(server, "POST", "/subjects/x", b"0\r\n\r\n", Transfer_Encoding="chunked")
    assert status == 411


def test_it_listens_to_this_machine_only(server: RegistryServer) -> None:
    assert server.server_address[0] == HOST
    assert server.url == f"http://127.0.0.1:{server.server_port}"


def test_a_port_that_is_taken_is_said_in_one_sentence() -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        ended = run("schema", "serve", "--port", str(port))
    assert (ended.code, ended.out) == (Code.FAILED, "")
    assert ended.sentence == (
        f"nothing can listen at 127.0.0.1:{port} (Address already in use); name another --port"
    )
