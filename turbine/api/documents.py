"""Policies, contract, scoreboard, and the pages by which programs and people find their way."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from starlette.responses import HTMLResponse, JSONResponse, Response

from components.runtime.process.metrics import BUILD
from events.job_config.policies.table import SETTINGS
from events.job_config.strict_json import shorten
from events.topics import JOURNAL
from turbine.api.desk import AtDesk, Desk, NotModified, matches
from turbine.api.paging import Items
from turbine.api.problems import RequestRefused, told
from turbine.contract.document import Installation, document
from turbine.exporter.families import Beside, MetricOptions, families
from turbine.read.answers import policies as of_policies
from turbine.read.answers.platform import TopicLine
from turbine.read.answers.platform import topics as topics_of
from turbine.read.plain import JsonObject

SCOREBOARD_BYTES_MAX = 16 * 1024 * 1024
RECORDED = FilePath(__file__).resolve().parents[1] / "dashboard" / "scoreboard.json"
"""What `turbine scoreboard` told once; how and of what stands in it."""

router = APIRouter(tags=["documents"], responses=told(422, 503))
roots = APIRouter(include_in_schema=False)
[_OWN] = (one.name for one in BUILD.describe())


@dataclass(frozen=True, slots=True)
class Policies:
    """All scaling policies that there are."""

    items: tuple[of_policies.PolicyLine, ...]


@router.get("/policies", response_model=Policies, summary="Policies and their settings")
def policies() -> Any:
    """Each setting with its default, what it may be, and what it means."""
    return Policies(tuple(map(of_policies.policy, SETTINGS)))


@router.get(
    "/policies/{policy}",
    response_model=of_policies.PolicyLine,
    summary="One policy and its settings",
    responses=told(404),
)
def policy(policy: Annotated[str, Path(max_length=200)]) -> Any:
    """Each setting with its default, what it may be, and what it means."""
    if policy not in SETTINGS:
        known = ", ".join(SETTINGS)
        sentence = f"there is no policy {shorten(policy)}; use one of {known}"
        raise RequestRefused(404, "no-such-policy", sentence, "path.policy")
    return of_policies.policy(policy)


@router.get("/topics", response_model=Items[TopicLine], summary="The topics and where they end")
def topics(desk: AtDesk) -> Any:
    """What lies on each, by whose hand, and how far it reaches."""
    return Items(topics_of(desk.log))


@router.get("/contract", response_model=JsonObject, summary="What a stranger may publish and read")
def contract(request: Request, desk: AtDesk) -> Any:
    """Topics and schemas as AsyncAPI 3, with the brokers of this installation."""
    return _tagged(request, contract_of(desk))


def contract_of(desk: Desk) -> JsonObject:
    """The contract, for what is known of the installation: of a file, no broker."""
    source = desk.log.source
    usual = Installation()
    of = source.settings if source.name == "the broker" else usual
    count = desk.log.counts[JOURNAL]
    return document(Installation(of.bootstrap, count, prefix=of.prefix))


@router.get(
    "/scoreboard",
    response_model=JsonObject,
    summary="How the policies score",
    responses=told(404),
)
def scoreboard(request: Request, desk: AtDesk) -> Any:
    """The scoreboard of the file that this server was given, or else the one that Turbine comes
    with: `recorded` says which."""
    path = desk.scoreboard or RECORDED
    try:
        if path.stat().st_size > SCOREBOARD_BYTES_MAX:
            raise RequestRefused(
                404,
                "no-scoreboard",
                f"{path.name} has more than {SCOREBOARD_BYTES_MAX} bytes, so it is no scoreboard;"
                " name another file",
            )
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise RequestRefused(
            404,
            "no-scoreboard",
            f"{path.name} cannot be read as JSON; make it anew with `turbine scoreboard -o json`",
        ) from None
    plain = found if isinstance(found, dict) else {"rows": found}
    return _tagged(request, plain | {"recorded": desk.scoreboard is None})


def _tagged(request: Request, value: JsonObject) -> Response:
    """With a tag of its content."""
    body = json.dumps(value, ensure_ascii=False).encode()
    etag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    if matches(request.headers.get("if-none-match", ""), etag):
        raise NotModified({"ETag": etag})
    return Response(body, media_type="application/json", headers={"ETag": etag})


# --- beside the API


@roots.get("/asyncapi.json")
def asyncapi(request: Request, desk: AtDesk) -> Response:
    """The contract once more, where tools look for it."""
    return _tagged(request, contract_of(desk))


@roots.get("/openapi.json")
def openapi(request: Request) -> Response:
    """The document of this API itself."""
    return JSONResponse(request.app.openapi())


class FleetCollector(Collector):
    """The fleet as it is when somebody looks."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def collect(self) -> Iterator[Metric]:
        """As the exporter tells it, and who follows."""
        desk = self._desk
        beside = Beside(version("turbine"), sse_clients=desk.feed.readers)
        for one in families(desk.views.view(), desk.views.tally(), beside, MetricOptions()):
            if one.name != _OWN:  # the process says that itself
                yield one


def _exposition(desk: Desk) -> bytes:
    """What the fleet and this process say of themselves."""
    of_fleet = CollectorRegistry(auto_describe=False)
    of_fleet.register(FleetCollector(desk))
    return generate_latest(of_fleet) + generate_latest(REGISTRY)


@roots.get("/metrics")
def metrics(desk: AtDesk) -> Response:
    """What the fleet and this process tell Prometheus."""
    return Response(_exposition(desk), media_type=CONTENT_TYPE_LATEST)


@roots.get("/docs")
def docs(request: Request) -> HTMLResponse:
    """The operations of the API, as a page that needs nothing from elsewhere."""
    return HTMLResponse(page_of(request.app.openapi()))


def page_of(openapi: JsonObject) -> str:
    """A page that lists each operation with its parameters."""
    rows = [
        _operation(path, method, one)
        for path, some in openapi["paths"].items()
        for method, one in some.items()
    ]
    info = openapi["info"]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{_text(info['title'])}</title></head><body><main>"
        f"<h1>{_text(info['title'])}</h1><p>{_text(info['description'])}</p>"
        '<p>The whole of it: <a href="openapi.json">openapi.json</a>,'
        ' <a href="asyncapi.json">asyncapi.json</a>.</p>'
        f"{''.join(rows)}</main></body></html>"
    )


def _operation(path: str, method: str, one: JsonObject) -> str:
    named = "".join(
        f"<li><code>{_text(each['name'])}</code> ({_text(each['in'])})"
        f"{' ' + _text(each['description']) if each.get('description') else ''}</li>"
        for each in one.get("parameters", ())
    )
    return (
        f"<section><h2><code>{_text(method.upper())} {_text(path)}</code></h2>"
        f"<p>{_text(one.get('summary', ''))}. {_text(one.get('description', ''))}</p>"
        f"{f'<ul>{named}</ul>' if named else ''}</section>"
    )


def _text(text: str) -> str:
    return html.escape(text)
