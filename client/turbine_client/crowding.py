"""Whether a request found as many valid ones as may be known at one time. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from turbine_client.identity import KNOWN, VALID_MS, valid_until_ms

UNCOUNTED = (
    f"no verdict will come of it: as it came, {KNOWN:,} changes of this layer of the job were valid"
    " still, answered ones too, and no more are known at one time; ask again when some have passed,"
    " with ids that are valid for less time"
)


def crowded_out(requests: Iterable[tuple[str, int]], change_id: str) -> bool | None:
    """Whether a request came when as many as may be known were valid: None where it never came in
    time. Requests are ids with the instants at which they came, of one job and topic."""
    live, high_ms, crowded = dict[str, int](), 0, None
    for name, at_ms in requests:
        if at_ms > high_ms:
            high_ms = at_ms
            live = {one: until_ms for one, until_ms in live.items() if until_ms >= high_ms}
        until_ms = valid_until_ms(name)
        if name not in live:
            if not high_ms <= until_ms <= high_ms + VALID_MS:
                continue
            if len(live) >= KNOWN:
                crowded = True if name == change_id else crowded
                continue
            live[name] = until_ms
        if name == change_id:
            return False
    return crowded
