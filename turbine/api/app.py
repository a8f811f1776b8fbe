"""The app: all routes behind the guard, over one reading, one feed and one writer."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.staticfiles import StaticFiles

from turbine.api import (
    changes,
    command,
    documents,
    jobs,
    journal,
    overview,
    problems,
    stream,
    tasks,
    tiers,
    whatif,
)
from turbine.api.desk import Desk, NotModified, known
from turbine.api.guard import GuardRules, RequestGuard

PAGE = Path(__file__).resolve().parents[1] / "dashboard"
PREFIX = "/api/v1"
VERSION = "1.0.0"
PARTS = (
    overview,
    jobs,
    tasks,
    journal,
    tiers,
    documents,
    changes,
    whatif,
    stream,
    command,
)
ABOUT = """\
What a Turbine fleet's log says, now and at any instant: every GET of it takes `at`. Answers carry
the position that they are about as `Turbine-Position`, and its digest as `ETag`. Errors are
problems (RFC 9457). What changes something needs the token in the file `api-token` of the server's
directory; with `dry_run` it answers with a plan, which is applied by its id as long as nothing has
moved.
"""
_IMPORT_MAP = re.compile(
    rb"<script[^>]*\btype=[\"']?importmap[\"']?[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE
)


def make_app(
    desk: Desk,
    rules: GuardRules,
    *,
    page: Path = PAGE,
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None,
) -> RequestGuard:
    """The whole of it, as what a server runs."""
    app = FastAPI(
        title="Turbine",
        version=VERSION,
        description=ABOUT,
        openapi_url=None,  # served by a route of ours, as are the docs: none needs a CDN
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.desk = desk
    problems.install(app)
    app.add_exception_handler(NotModified, known)
    api = APIRouter(prefix=PREFIX)
    for one in PARTS:
        api.include_router(one.router)
    app.include_router(api)
    app.include_router(documents.roots)
    if (page / "index.html").is_file():
        app.mount("/", StaticFiles(directory=page, html=True), name="page")
    hashes = hashes_of(page / "index.html")
    return RequestGuard(app, replace(rules, script_hashes=hashes))


def hashes_of(page: Path) -> tuple[str, ...]:
    """Of the import maps in the page, which browsers only take inline; nothing else may be."""
    if not page.is_file():
        return ()
    return tuple(
        "sha256-" + base64.b64encode(hashlib.sha256(found).digest()).decode()
        for found in _IMPORT_MAP.findall(page.read_bytes())
    )
