"""What the API's client asks for, and what it says where there is no answer."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from turbine_client import Api, ApiProblem, AsyncApi, BadSettings, Settings

PROBLEM = {"type": "urn:turbine:problem:no-such-job", "detail": "there is no job clikcs"}


class Door(BaseHTTPRequestHandler):
    """Answers with what was asked, or with a problem, or with no JSON."""

    def do_GET(self) -> None:
        """One answer."""
        status = 404 if "clikcs" in self.path else 200
        told: Any = PROBLEM if status == 404 else {"path": self.path}
        body = b"<html>" if "page" in self.path else json.dumps(told).encode()
        self.server.asked.append(self.headers["Authorization"])  # type: ignore[attr-defined]  # a list of ours
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:  # type: ignore[override]  # nothing is logged
        """Nothing is said."""


@pytest.fixture
def door() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        server.asked = []  # type: ignore[attr-defined]  # what came with each question
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def address(door: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{door.server_port}"


def test_each_question_is_a_path_of_the_api(door: ThreadingHTTPServer) -> None:
    api = Api(address(door) + "/")
    paths = [
        api.jobs(q="lagging", limit=2)["path"],
        api.job("a.b")["path"],
        api.decision("x/y")["path"],
        api.lag("a.b")["path"],
        api.platform()["path"],
    ]
    assert paths == [
        "/api/v1/jobs?q=lagging&limit=2",
        "/api/v1/jobs/a.b",
        "/api/v1/decisions/x%2Fy",
        "/api/v1/jobs/a.b/tasks",
        "/api/v1/platform",
    ]
    assert door.asked == [None] * 5  # type: ignore[attr-defined]  # as above


def test_a_token_of_the_settings_goes_with_it(door: ThreadingHTTPServer) -> None:
    Api(settings=Settings(api=address(door), api_token="secret")).platform()  # noqa: S106 - of no API
    assert door.asked == ["Bearer secret"]  # type: ignore[attr-defined]  # as above


def test_a_problem_is_the_apis_own_sentence(door: ThreadingHTTPServer) -> None:
    with pytest.raises(ApiProblem, match="there is no job clikcs") as told:
        Api(address(door)).job("clikcs")
    assert (told.value.status, told.value.code) == (404, "no-such-job")


def test_what_is_no_api_is_told(door: ThreadingHTTPServer) -> None:
    with pytest.raises(ApiProblem, match="is no API of Turbine") as told:
        Api(address(door)).job("page")
    assert told.value.status == 0
    with pytest.raises(ApiProblem, match=r"no API answers at http://127.0.0.1:1 \(.+\); set"):
        Api("http://127.0.0.1:1").platform()


def test_who_names_none_is_told_how(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSettings, match="set TURBINE_API"):
        Api(settings=Settings())
    with pytest.raises(BadSettings, match="api is the address of a running API"):
        Api("ftp://nowhere")


def test_asyncio_asks_the_same(door: ThreadingHTTPServer) -> None:
    async def ask() -> list[str]:
        api = AsyncApi(address(door))
        answers = await asyncio.gather(
            api.jobs(), api.job("a"), api.decision("x"), api.lag("a"), api.platform()
        )
        return [str(one["path"]).removeprefix("/api/v1") for one in answers]

    assert asyncio.run(ask()) == ["/jobs", "/jobs/a", "/decisions/x", "/jobs/a/tasks", "/platform"]
