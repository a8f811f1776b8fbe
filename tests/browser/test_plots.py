"""What is drawn over time: it begins where data begins, what nobody knows is hatched, and a burst
of marks is one.
"""

from __future__ import annotations

from typing import Any

from tests.browser.conftest import Watched
from tests.browser.fake_api import Fake

HOUR_MS = 3_600_000


def of_module(seen: Watched, call: str, *given: Any) -> Any:
    """What a function of the plots answers."""
    seen.go("jobs")
    seen.reads("50 of 100")
    return seen.page.evaluate(
        f"async given => (await import('./app/plot.js')).{call}(...given)", list(given)
    )


def test_what_nobody_knows_is_a_span_and_what_is_only_late_is_not(seen: Watched) -> None:
    times = [at * 60_000 for at in range(10)]
    one = {"values": [1, None, None, 4, None, 6, 7, None, None, None]}
    other = {"values": [1, None, None, None, 5, 6, 7, None, None, None]}
    late, gone = 8.5 * 60_000, 10 * 60_000
    assert of_module(seen, "unknown", times, gone, late, [one, other]) == [[60_000, 180_000]]
    assert of_module(seen, "unknown", times, gone, gone, [one, other]) == [
        [60_000, 180_000], [420_000, 600_000],
    ]  # fmt: skip
    assert of_module(seen, "unknown", times, gone, 0, [one]) == []


def test_a_burst_of_marks_is_one_that_says_how_many(seen: Watched) -> None:
    def mark(at_ms: int, what: str = "config change", kind: str = "other") -> dict[str, Any]:
        return {"at_ms": at_ms, "kind": kind, "what": what, "id": str(at_ms), "text": "once"}

    marks = [mark(at) for at in range(10)] + [mark(50), mark(51, kind="bad"), mark(52, what="")]
    found = of_module(seen, "folded", marks, 20)
    assert [(one["at_ms"], one["text"]) for one in found] == [
        (0, "10 config changes"), (50, "once"), (51, "once"), (52, "once"),
    ]  # fmt: skip


def test_the_series_of_a_job_begins_where_it_reports(seen: Watched, fake: Fake) -> None:
    seen.go("jobs/clicks.000")
    seen.reads("Over time", "not known")
    asked = [query for path, query in fake.asked if path.endswith("/series") and "jobs" in path]
    assert asked
    assert all(query["trim"] == "true" for query in asked)


def test_the_value_is_beside_the_cursor(seen: Watched) -> None:
    page = seen.go("jobs/clicks.000")
    seen.reads("Over time")
    plot = page.locator(".plot-box").first
    box = plot.bounding_box()
    assert box is not None
    for share in (0.3, 0.9):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + 60)
        tip = plot.locator(".tip")
        tip.wait_for()
        shown = tip.bounding_box()
        assert shown is not None
        assert "in " in tip.inner_text()
        near = min(
            abs(shown["x"] - box["x"] - share * box["width"]),
            abs(shown["x"] + shown["width"] - box["x"] - share * box["width"]),
        )
        assert near < 40
        assert shown["x"] + shown["width"] <= 1440
    page.mouse.move(5, 5)
    page.locator(".tip").first.wait_for(state="detached")


def test_the_day_of_the_fleet_is_asked_for_by_the_logs_own_time(seen: Watched, fake: Fake) -> None:
    fake.facts.now_ms -= 2 * HOUR_MS
    seen.go("")
    seen.reads("The last day", "3 jobs whose lag nobody knows", "35 in all")
    asked = [query for path, query in fake.asked if path == "fleet/series"]
    assert asked
    from datetime import datetime

    ends = {datetime.fromisoformat(query["to"]).timestamp() * 1000 for query in asked}
    assert all(0 <= end - fake.facts.now_ms <= 31_000 for end in ends)


def test_the_digest_is_of_the_span_that_is_chosen(seen: Watched, fake: Fake) -> None:
    page = seen.go("")
    seen.reads("needs you, 1 to look at, 1 changed, 97 quiet")
    page.get_by_label("Shift").get_by_role("link", name="1 d").click()
    page.wait_for_url("**shift=1d**")
    seen.reads("needs you, 1 to look at")
    spans = {query["from"] for path, query in fake.asked if path == "digest"}
    assert len(spans) >= 2


def test_the_day_and_the_digest_are_of_the_instant(seen: Watched, fake: Fake) -> None:
    from datetime import UTC, datetime

    then = datetime.fromtimestamp(fake.facts.now_ms / 1000 - 60, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    seen.go(f"?at={then}")
    seen.reads("The last day", "needs you")
    for name in ("fleet/series", "digest", "journal"):
        asked = [query.get("at") for path, query in fake.asked if path == name]
        assert set(asked) == {then}, name
