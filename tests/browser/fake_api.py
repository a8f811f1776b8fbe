"""An API over a fleet that is nowhere: answers in the API's shapes, and fails when told to."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.browser import facts_day as day
from tests.browser import facts_more as more
from tests.browser.facts import CLASSES, Facts, Row
from turbine.contract.document import document
from turbine.read.answers.policies import policy
from turbine.read.plain import plain

PAGE = Path(__file__).parents[2] / "turbine" / "dashboard"
PREFIX = "/api/v1/"
DAY_MS = 86_400_000
TOKEN = "let-me-in"  # noqa: S105 - it lets nobody in anywhere
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css",
         ".svg": "image/svg+xml", ".woff2": "font/woff2", ".json": "application/json"}  # fmt: skip
# What the API answers with as well: a page that needs more than this would fail there.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self';"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Refused(Exception):
    """Ends a request with a problem."""

    def __init__(self, status: int, title: str, detail: str) -> None:
        super().__init__(detail)
        self.told = {"type": "urn:x", "title": title, "status": status, "detail": detail}
        self.status = status


@dataclass(slots=True)
class Fake:
    """What the server knows, and what a test has it do."""

    facts: Facts
    url: str = ""
    failing: dict[str, Refused] = field(default_factory=dict)  # by the first word of the path
    holding: dict[str, threading.Event] = field(default_factory=dict)  # until it is set
    file: str | None = None  # where the log lies in one
    asked: list[tuple[str, Row]] = field(default_factory=list)
    sent: list[tuple[str, Row]] = field(default_factory=list)
    streams: list[queue.Queue[str | None]] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)  # positions with which readers came back

    def say(self, event: str, body: Row, number: int) -> None:
        """To everyone who listens."""
        text = f"id: journal.v1/0:{number}\nevent: {event}\ndata: {json.dumps(body)}\n\n"
        for one in list(self.streams):
            one.put(text)

    def view(self) -> Row:
        """The summary that comes as an event."""
        alerts = len(self.facts.alerts(self.facts.now_ms))
        return {"now_ms": self.facts.now_ms, "alerts": alerts, "file": self.file}


def moment(fake: Fake, query: Row) -> int:
    """The instant that is asked about."""
    text = query.get("at", "")
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        found = None  # a position: the fleet that is nowhere has but one
    return fake.facts.now_ms if found is None else int(found.timestamp() * 1000)


def instant(text: str) -> int:
    """Milliseconds of a time as the page writes it."""
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def page_of(rows: list[Row], query: Row) -> Row:
    """A page of a list, by where it begins."""
    first, many = int(query.get("cursor") or 0), int(query.get("limit") or 100)
    after = str(first + many) if first + many < len(rows) else None
    return {"items": rows[first : first + many], "next": after, "total": len(rows)}


def jobs(fake: Fake, query: Row, at_ms: int) -> Row:
    """Searched and sorted as the API does."""
    rows = fake.facts.lines(at_ms)
    for word in query.get("q", "").lower().split():
        wanted = word.removeprefix("!")
        key, equals, value = wanted.partition("=")
        if equals:
            keep: Callable[[Row], bool] = lambda row: str(row[key]) == value  # noqa: E731, B023 - used before the next word
        else:
            keep = lambda row: wanted in row["job"].lower()  # noqa: E731, B023 - used before the next word
        rows = [row for row in rows if keep(row) is not word.startswith("!")]
    if query.get("state"):
        rows = [row for row in rows if row["state"] == query["state"]]
    orders: dict[str, Callable[[Row], Any]] = {
        "lag": lambda row: -(row["lag_seconds"] or 0.5),
        "tasks": lambda row: -row["tasks"],
        "state": lambda row: (-row["unhealthy"], row["job"]),
        "name": lambda row: row["job"],
    }
    return page_of(sorted(rows, key=orders[query.get("sort", "name")]), query)


def journal(fake: Fake, query: Row, at_ms: int) -> Row:
    """Filtered as the API does."""
    rows = fake.facts.journal(at_ms, query.get("job"))
    if query.get("kind"):
        kinds = set(query["kind"].split(","))
        rows = [row for row in rows if kinds & {row["kind"], CLASSES[row["kind"]]}]
    if query.get("component"):
        rows = [row for row in rows if row["component"] == query["component"]]
    if query.get("void"):
        rows = [row for row in rows if (not row["stands"]) is (query["void"] == "true")]
    return page_of(rows, query)


def markers(fake: Fake, query: Row) -> Row:
    """Counts that come and go."""
    begin, end = (
        int(datetime.fromisoformat(query[at]).timestamp() * 1000) for at in ("from", "to")
    )
    many = int(query["buckets"])
    times = [begin + (end - begin) * at // many for at in range(many)]
    counts = {
        name: [(at * (3 + each)) % (17 + 8 * each) // (12 + 7 * each) * 3 for at in range(many)]
        for each, name in enumerate(("config", "sync", "scaling", "placement", "alert"))
    }
    return {"t_ms": times, **counts}


def scoreboard(fake: Fake) -> Row:
    """Three policies on two cases."""
    rows = [
        {"kind": kind, "case": case, "policy": policy, "part": "whole", "violation_s": 10.0 * at,
         "lag_s_p99": 4.0 + at, "cpu_hours": 12.0 - at, "gb_hours": 24.0, "rescales": 3 + at,
         "cost": 30.0 + at, "over_least": 1.2 + at / 10, "explained": 1.0}
        for kind, case in (("all", ""), ("trace", "evening peak"), ("scenario", "straggler"))
        for at, policy in enumerate(("turbine", "flink", "keda"))
    ]  # fmt: skip
    stands = [{"case": "straggler", "kind": "scenario", "part": "whole", "better_than": ["keda"],
               "not_better_than": [], "worst_in": []}]  # fmt: skip
    made = {"at_ms": fake.facts.now_ms, "turbine": "0.1.0", "scenarios": ["straggler"],
            "policies": ["turbine", "flink", "keda"], "command": "turbine scoreboard -o json",
            "traces": [{"trace": "evening peak", "sha256": "7" * 64}]}  # fmt: skip
    return {"policy": "turbine", "figures": {}, "standings": stands, "rows": rows, "made": made,
            "recorded": True}  # fmt: skip


def answer(fake: Fake, path: list[str], query: Row) -> Any:
    """To a GET."""
    facts, at_ms = fake.facts, moment(fake, query)
    match path:
        case ["fleet"]:
            return facts.fleet(at_ms)
        case ["fleet", "series"]:
            end = instant(query["to"]) if "to" in query else at_ms
            begin = end - DAY_MS
            return day.fleet_series(facts, begin, end, int(query["buckets"]))
        case ["digest"]:
            return day.digest_of(facts, instant(query["from"]), at_ms)
        case ["jobs"]:
            return jobs(fake, query, at_ms)
        case ["jobs", name, *rest]:
            return of_job(fake, name, rest, query)
        case ["decisions", name]:
            return (more.sync_of if name == "decision-1" else more.decision_of)(facts, name)
        case ["journal"]:
            return journal(fake, query, at_ms)
        case ["markers"]:
            return markers(fake, query)
        case ["tiers", *rest]:
            return tiers(fake, rest, query)
        case _:
            return documents(fake, path)


def of_job(fake: Fake, name: str, rest: list[str], query: Row) -> Any:
    """What is below /jobs/JOB."""
    facts, at_ms = fake.facts, moment(fake, query)
    if name not in facts.alive(at_ms):
        raise Refused(404, "No such job", f"there is no job {name} at this position")
    match rest:
        case ["tasks"]:
            return page_of(more.tasks_of(facts, name), query)
        case ["tasks", task]:
            return more.task_of(facts, name, int(task))
        case ["tasks", "2", "log"]:
            raise Refused(503, "No lines", "c-02 does not answer at http://10.0.0.4:9101")
        case ["tasks", task, "log"]:
            return more.task_log_of(facts, name, int(task))
        case ["series"]:
            begin, end = (instant(query[at]) for at in ("from", "to"))
            return more.series_of(begin, end, int(query["buckets"]))
        case ["decisions"]:
            return page_of(facts.journal(at_ms, name), query)
        case ["why-not"]:
            reasons = [
                row | {"text": row["summary"], "taken": False, "until_ms": None}
                for row in facts.journal(at_ms, name)[:4]
            ]
            return {"policy": "turbine", "mode": "act", "reasons": reasons}
        case _:
            return more.job_of(facts, name, at_ms)


def tiers(fake: Fake, rest: list[str], query: Row) -> Any:
    """What is below /tiers."""
    facts = fake.facts
    if not rest:
        row = {"loans": [], "preempted": [], "regions": [], "limits": {}}
        return {"items": [facts.tier_line(one) | row for one in ("default", "batch")]}
    match rest[1]:
        case "containers":
            return {"items": more.containers_of(facts, rest[0])}
        case "balance":
            return more.balance_of(facts, rest[0])
        case "moves":
            return {"items": more.moves_of(facts, rest[0])}
        case _:
            rows = more.shards_of(facts, rest[0])
            if query.get("container"):
                rows = [row for row in rows if row["container"] == query["container"]]
            return page_of(
                [row for row in rows if row["stage"] != "held" or "moving" not in query], query
            )


def documents(fake: Fake, path: list[str]) -> Any:
    """What does not change."""
    match path:
        case ["platform"]:
            return more.platform_of(fake.facts)
        case ["topics"]:
            return {"items": more.topics_of()}
        case ["contract"]:
            return document()
        case ["policies"]:
            names = ("turbine", "keda", "flink")
            return {"items": plain([policy(name) for name in names])}
        case ["scoreboard"]:
            return scoreboard(fake)
        case _:
            raise Refused(
                404, "Not found", f"there is no {'/'.join(path)}; /docs lists all there is"
            )


def asked_for(fake: Fake, path: list[str], body: Row, token: str) -> Any:
    """To a POST."""
    if path == ["whatif"]:
        return more.what_if_of(fake.facts, body)
    if token != f"Bearer {TOKEN}":
        raise Refused(401, "No token", "the token is missing or wrong; the server printed it")
    fake.sent.append(("/".join(path), body))
    if path[0] == "plans":
        fake.facts.applied.extend(row for _, row in fake.sent if "job" in row)
        return {"verdict": "accepted", "layer": "oncall", "version": 2, "decision_id": "decision-1"}
    job = body.get("job") or path[1]
    fake.sent[-1] = (fake.sent[-1][0], body | {"job": job})
    return {
        "verdict": "accepted", "plan": "plan-1", "layer": "oncall", "version": 2, "job": job,
        "differences": [{"path": "tasks", "before": 6, "after": body.get("set", {}).get("tasks")}],
        "command": "turbine publish change", "expires_ms": fake.facts.now_ms + 600_000,
    }  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    """One request; `fake` is set on a subclass."""

    fake: Fake
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: object) -> None:
        """Tests are quiet."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == f"{PREFIX}stream":
            self.follow()
        elif parts.path.startswith(PREFIX):
            self.give(parts, lambda path, query: answer(self.fake, path, query))
        else:
            self.file(parts.path)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        token = self.headers.get("Authorization", "")
        parts = urlsplit(self.path)
        self.give(parts, lambda path, _: asked_for(self.fake, path, body, token))

    def give(self, parts: Any, make: Callable[[list[str], Row], Any]) -> None:
        """What is made of the path, or the problem with it."""
        path = [unquote(one) for one in parts.path.removeprefix(PREFIX).split("/")]
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        self.fake.asked.append(("/".join(path), query))
        if path[0] in self.fake.holding:
            self.fake.holding[path[0]].wait(60)
        try:
            if path[0] in self.fake.failing:
                raise self.fake.failing[path[0]]
            self.send(200, json.dumps(make(path, query)).encode(), "application/json")
        except Refused as refused:
            self.send(refused.status, json.dumps(refused.told).encode(), "application/problem+json")

    def file(self, path: str) -> None:
        found = (PAGE / path.lstrip("/")).resolve()
        found = found / "index.html" if found.is_dir() else found
        if PAGE not in found.parents or not found.is_file():
            self.send(404, b"{}", "application/json")
        else:
            self.send(200, found.read_bytes(), TYPES.get(found.suffix, "text/plain"))

    def send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        try:
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # the page went elsewhere meanwhile

    def follow(self) -> None:
        """Events until the reader goes, or the test ends."""
        if "stream" in self.fake.holding:
            self.fake.holding["stream"].wait(60)
        mine: queue.Queue[str | None] = queue.Queue()
        self.fake.resumed.append(self.headers.get("Last-Event-ID", ""))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        first = f"retry: 100\nevent: view\ndata: {json.dumps(self.fake.view())}\n\n"
        self.fake.streams.append(mine)
        try:
            text: str | None = first
            while text is not None:
                self.wfile.write(text.encode())
                self.wfile.flush()
                text = mine.get()
        except OSError:
            return  # the page was closed
        finally:
            self.fake.streams.remove(mine)
            self.close_connection = True


@contextmanager
def served(facts: Facts) -> Iterator[Fake]:
    """The fake, listening."""
    fake = Fake(facts)
    handler = type("One", (Handler,), {"fake": fake})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/"
    try:
        yield fake
    finally:
        for one in list(fake.streams):
            one.put(None)
        for held in fake.holding.values():
            held.set()
        server.shutdown()
        server.server_close()
        thread.join()
