"""Who is let in, and what every answer carries: hosts, origins, tokens, sizes, headers, files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.unit.turbine.api.asgi import HOST, ask, scope_of
from tests.unit.turbine.api.world import TOKEN, World, world_of
from turbine.api.app import PAGE, hashes_of
from turbine.api.guard import BODY_BYTES_MAX, LOOPBACK, GuardRules, RequestGuard
from turbine.api.problems import PROBLEM

FLEET = "/api/v1/fleet"
CHANGES = "/api/v1/changes"
CHANGE = {"job": "clicks", "set": {"tasks": 3}}


def problem(found: Any) -> str:
    assert found.headers["content-type"] == PROBLEM
    told = found.json()
    assert told["status"] == found.status
    return str(told["type"]).rpartition(":")[2]


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8090", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8090"]
)
def test_it_is_served_under_the_names_of_this_machine(world: World, host: str) -> None:
    assert ask(world.app, "GET", FLEET, host=host).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8090", "127.0.0.1.evil.example", "[::2]:8090", ""]
)
def test_a_name_of_elsewhere_that_leads_here_is_refused(world: World, host: str) -> None:
    found = ask(world.app, "GET", FLEET, host=host)
    assert (found.status, problem(found)) == (403, "foreign-host")
    assert "--allow-host" in found.json()["detail"]


def test_two_hosts_are_refused(world: World) -> None:
    scope = scope_of("GET", FLEET, {})
    scope["headers"].append((b"host", b"evil.example"))
    assert status_of(world.app, scope) == 403


def status_of(app: Any, scope: dict[str, Any]) -> int:
    sent: list[dict[str, Any]] = []

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    asyncio.run(app(scope, None, send))
    return int(sent[0]["status"])


def test_a_name_that_is_allowed_is_served(world: World) -> None:
    app = RequestGuard(world.app.app, GuardRules(TOKEN, (*LOOPBACK, "turbine.example")))
    assert ask(app, "GET", FLEET, host="turbine.example").status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_of_elsewhere_is_refused(world: World, method: str, origin: str) -> None:
    target, body = (FLEET, None) if method == "GET" else (CHANGES, CHANGE)
    found = ask(world.app, method, target, body, origin=origin, authorization=f"Bearer {TOKEN}")
    assert (found.status, problem(found)) == (403, "foreign-origin")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_browser_that_tells_of_another_site_is_refused(world: World, site: str) -> None:
    named = {"authorization": f"Bearer {TOKEN}"}
    found = ask(world.app, "POST", CHANGES, CHANGE, sec_fetch_site=site, **named)
    assert (found.status, found.json()["place"]) == (403, "header.sec-fetch-site")
    own = {"origin": f"http://{HOST}", "sec_fetch_site": "same-origin"}
    assert ask(world.app, "POST", CHANGES, CHANGE | {"dry_run": True}, **named, **own).status == 200


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer x", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", "Bearer é"]
)
@pytest.mark.parametrize("target", [CHANGES, "/api/v1/plans/x/apply", "/api/v1/jobs/clicks/pause"])
def test_who_has_no_token_changes_nothing(tmp_path: Path, target: str, given: str) -> None:
    world = world_of(directory=tmp_path)
    scope = scope_of("POST", target, {"content-length": "2", "content-type": "application/json"})
    scope["headers"].append((b"authorization", given.encode("latin-1")))
    assert status_of(world.app, scope) == 401
    assert world.writer.asked == []


def test_without_a_token_of_its_own_a_server_lets_nobody_write(world: World) -> None:
    app = RequestGuard(world.app.app, GuardRules(""))
    found = ask(app, "POST", CHANGES, CHANGE, authorization="Bearer ")
    assert (found.status, found.headers["www-authenticate"]) == (401, 'Bearer realm="turbine"')


def test_a_server_that_only_reads_says_why(world: World) -> None:
    app = RequestGuard(world.app.app, GuardRules(TOKEN, read_only="the file x is over"))
    found = ask(app, "POST", CHANGES, CHANGE, authorization=f"Bearer {TOKEN}")
    assert (found.status, problem(found)) == (403, "read-only")
    assert found.json()["detail"] == "nothing can be written: the file x is over"
    assert ask(app, "GET", FLEET).status == 200


@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        ({"content-length": str(BODY_BYTES_MAX + 1)}, 413, "too-large"),
        ({"content-length": "9" * 30}, 413, "too-large"),
        ({"content-length": "-1"}, 411, "no-length"),
        ({"content-length": "\N{SUPERSCRIPT TWO}"}, 411, "no-length"),
        ({"transfer-encoding": "chunked"}, 411, "no-length"),
        ({"content-length": "2", "content-type": "text/plain"}, 415, "no-json"),
        ({"content-length": "2", "content-type": ""}, 415, "no-json"),
    ],
)
def test_a_body_has_a_bound_and_is_json(
    world: World, headers: dict[str, str], status: int, kind: str
) -> None:
    scope = scope_of("POST", CHANGES, {})
    named = headers | {"authorization": f"Bearer {TOKEN}"}
    scope["headers"] += [(n.encode(), v.encode("latin-1")) for n, v in named.items()]
    assert status_of(world.app, scope) == status, kind


def test_a_body_of_the_most_is_read(world: World) -> None:
    reason = "x" * 900
    body = CHANGE | {"dry_run": True, "reason": reason}
    raw = __import__("json").dumps(body).encode().ljust(BODY_BYTES_MAX)
    named = {"authorization": f"Bearer {TOKEN}"}
    assert ask(world.app, "POST", CHANGES, raw=raw, **named).status == 200


def test_a_question_has_a_bound(world: World) -> None:
    found = ask(world.app, "GET", f"{FLEET}?at={'x' * 50_000}")
    assert (found.status, problem(found)) == (414, "too-long")


@pytest.mark.parametrize(
    ("target", "named"),
    [
        (FLEET, {}),
        ("/nope", {}),
        (FLEET, {"host": "evil.example"}),
        ("/docs", {}),
        ("/metrics", {}),
    ],
)
def test_every_answer_carries_what_keeps_a_browser_strict(
    world: World, target: str, named: dict[str, str]
) -> None:
    found = ask(world.app, "GET", target, **named).headers
    policy = dict(one.strip().split(" ", 1) for one in found["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["object-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in found["content-security-policy"]
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "no-referrer"
    assert found["x-frame-options"] == "DENY"
    assert "access-control-allow-origin" not in found
    assert found["cache-control"] == "no-cache"


# --- the page


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page with an import map, a module, and a secret beside it."""
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text('<script type="importmap">{"imports":{}}</script>')
    (folder / "app.js").write_text("export {}")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


def test_the_page_is_served_beside_the_api(tmp_path: Path, page: Path) -> None:
    world = world_of(directory=tmp_path / "views", page=page)
    found = ask(world.app, "GET", "/")
    assert (found.status, found.headers["content-type"]) == (200, "text/html; charset=utf-8")
    script = ask(world.app, "GET", "/app.js")
    assert (script.status, script.headers["content-type"]) == (
        200,
        "text/javascript; charset=utf-8",
    )
    assert ask(world.app, "GET", FLEET).status == 200
    assert ask(world.app, "GET", "/nope.js").json()["type"] == "urn:turbine:problem:no-such-path"


def test_an_import_map_is_let_run_by_its_hash_alone(tmp_path: Path, page: Path) -> None:
    [hashed] = hashes_of(page / "index.html")
    world = world_of(directory=tmp_path / "views", page=page)
    policy = ask(world.app, "GET", "/").headers["content-security-policy"]
    assert f"script-src 'self' '{hashed}';" in policy
    (page / "index.html").write_text("<script>alert(1)</script>")
    assert hashes_of(page / "index.html") == ()


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e%2fsecret.txt",
        "/app.js/../../secret.txt",
        "//etc/passwd",
        "/%00",
        "/..%5csecret.txt",
    ],
)
def test_no_path_leads_out_of_the_page(tmp_path: Path, page: Path, target: str) -> None:
    world = world_of(directory=tmp_path / "views", page=page)
    found = ask(world.app, "GET", target)
    assert found.status in {400, 404}
    assert b"secret" not in found.body.replace(b"secret.txt", b"")


def test_a_link_out_of_the_page_is_not_followed(tmp_path: Path, page: Path) -> None:
    (page / "link.txt").symlink_to(tmp_path / "secret.txt")
    world = world_of(directory=tmp_path / "views", page=page)
    assert ask(world.app, "GET", "/link.txt").status == 404


# --- readers that do not read


def test_a_reader_that_takes_nothing_is_let_go(tmp_path: Path) -> None:
    world = world_of(directory=tmp_path, stall_s=0.05)

    async def send(_: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    asked = world.app(scope_of("GET", "/api/v1/stream", {}), receive, send)
    asyncio.run(asyncio.wait_for(asked, 60))
    assert world.feed.readers == 0


def test_a_websocket_is_not_served(world: World) -> None:
    async def asked() -> None:
        await world.app({"type": "websocket", "path": "/"}, None, None)  # type: ignore[arg-type]  # nothing is said

    asyncio.run(asked())


def test_the_page_of_this_build_has_its_place() -> None:
    assert PAGE.name == "dashboard"
    assert PAGE.parent.name == "turbine"
