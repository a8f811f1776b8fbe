"""A record in a few words, for one line of a table. The whole of it is a `-o json` away."""

from __future__ import annotations

import json
from typing import Any

from events.strict_json import printable

LENGTH_MAX = 120
_REPEATED = {"job", "change_id", "traceparent", "author", "reason", "versions"}


def summarise(kind: str, body: dict[str, Any] | None) -> str:
    """What a record says, without what stands in other columns."""
    if body is None:
        return "cannot be read by this build"
    match kind:
        case "JobConfigChanged":
            text = f"{body['layer']} {body['version']}{_by(body)}"
        case "JobConfigRejected":
            who = f" ({body['author']})" if body["author"] else ""
            text = f"{body['reason']}{who}: {body['explanation']}"
        case "OverrideExpired":
            text = f"{body['layer']} {body['version']}"
        case "JobDeleted" | "JobDeleteRequested":
            text = _by(body).strip()
        case "ConfigChangeProposed":
            clear = "".join(f" clear {path}" for path in body["clear"])
            text = f"set {body['set_json']}{clear}{_by(body)}"
        case "ScalingDecided":
            mode = "" if body["mode"] == "act" else f" ({body['mode']})"
            text = f"{body['action']}, {_size(body)}{mode}: {body['explanation']}"
        case "ScalingDeclined":
            text = f"{body['reason']}: {body['explanation']}"
        case "ScalingVerified" | "ScalingReverted":
            text = body["explanation"]
        case _:
            rest = {name: value for name, value in body.items() if name not in _REPEATED}
            text = json.dumps(rest, ensure_ascii=False)
    text = printable(text)
    return text if len(text) <= LENGTH_MAX else text[: LENGTH_MAX - 1] + "…"


def _size(body: dict[str, Any]) -> str:
    """Its tasks, with their threads where these change."""
    from turbine.scaled import count_text, parsed

    threads = parsed(body["set_json"]).get("threads_per_task")
    own = "" if threads is None else f" of {count_text(threads, 'thread')}"
    return count_text(body["final_tasks"], "task") + own


def _by(body: dict[str, Any]) -> str:
    who = f" by {body['author']}" if body.get("author") else ""
    return who + (f": {body['reason']}" if body.get("reason") else "")
