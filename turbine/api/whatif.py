"""`POST /whatif`: a job's recorded input under another policy. It computes, and writes nothing."""

from __future__ import annotations

import threading
from typing import Any

from fastapi import APIRouter

from turbine.api.changes import strict
from turbine.api.desk import AtDesk, Desk, time_of
from turbine.api.jobs import existing
from turbine.api.problems import RequestRefused, invalid, told
from turbine.api.shapes import WhatIfAnswer, WhatIfAsked
from turbine.lab.whatif import what_if
from turbine_client.errors import BadRequest

router = APIRouter(tags=["whatif"], responses=told(400, 403, 404, 411, 413, 415, 422, 503))

_playing = threading.Lock()
"""One at a time: each takes a processor for seconds, and pages are to be answered meanwhile."""


@router.post("/whatif", response_model=WhatIfAnswer, summary="What another policy would have done")
def whatif(desk: AtDesk, asked: WhatIfAsked) -> Any:
    """The recorded input drives a model of the job: what really happened, the same policy on the
    model, which tells how far the model is off, and the other policy, side by side."""
    settings = strict(asked.settings, "settings")
    if asked.policy is None and not settings:
        raise invalid("nothing would be otherwise; name a policy or a setting", "body.policy")
    view = desk.reading.view(None)
    existing(view, asked.job, "body.job")
    span = _time(desk, asked.since, "from"), _time(desk, asked.until, "to")
    if not _playing.acquire(blocking=False):
        raise RequestRefused(
            503,
            "busy",
            "another what-if is being played; ask again in a few seconds",
            **{"Retry-After": "5"},
        )
    try:
        return what_if(desk.log, asked.job, asked.policy, settings, *span).to_plain()
    except BadRequest as bad:
        raise invalid(str(bad), "body") from None
    finally:
        _playing.release()


def _time(desk: Desk, text: str | None, name: str) -> int | None:
    return None if text is None else time_of(text, desk.now_ms(), name, 0, where="body")
