"""What is drawn over time: it begins where data begins, what nobody knows is hatched, and a burst
of marks is one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page

from tests.browser.conftest import Watched
from tests.browser.fake_api import Fake, instant

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
    seen.reads("Over time", "scale-up to 8 tasks")
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


def dragged(page: Page, plot: Locator, begin: float, end: float, amid: Callable[[], None]) -> None:
    """From one share of a chart's width to another, by the mouse."""
    box = plot.locator(".u-over").bounding_box()
    assert box is not None
    y = box["y"] + 40
    page.mouse.move(box["x"] + begin * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + (begin + end) / 2 * box["width"], y)
    amid()
    page.mouse.move(box["x"] + end * box["width"], y)
    page.mouse.up()


def span_of(url: str) -> tuple[float, float]:
    """What part the address says is drawn, in milliseconds."""
    fragment = parse_qs(urlsplit(url).fragment.partition("?")[2])
    begin, end = (datetime.fromisoformat(one) for one in fragment["zoom"][0].split("/"))
    return begin.timestamp() * 1000, end.timestamp() * 1000


def test_a_drag_over_one_chart_chooses_a_span_for_all(seen: Watched, fake: Fake) -> None:
    page = seen.go("jobs/clicks.000?range=6h")
    seen.reads("the last 6 h", "scale-up to 8 tasks")

    def goes_on() -> None:
        with page.expect_response("**/series?*"):  # a live fleet is looked at again and again
            fake.say("view", fake.view(), 1)

    dragged(page, page.locator(".plot").nth(1), 0.5, 0.75, goes_on)
    page.wait_for_url("**zoom=**")
    begin, end = span_of(page.url)
    assert abs(end - begin - 1.5 * HOUR_MS) < 6 * 60_000
    assert abs(fake.facts.now_ms - end - 1.5 * HOUR_MS) < 6 * 60_000
    first = datetime.fromtimestamp(begin / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    drawn = page.locator(f".plot [role=img][aria-label*='{first}']")
    drawn.nth(3).wait_for()
    assert drawn.count() == page.locator(".plot").count(), "every chart shows that span"
    asked = [query for path, query in fake.asked if path == "jobs/clicks.000/series"][-1]
    assert (instant(asked["from"]), instant(asked["to"])) == (begin, end), "as finely as is known"
    page.locator(".u-over").first.dblclick()
    seen.reads("the last 6 h")
    assert "zoom=" not in page.url


def test_a_span_is_chosen_and_left_by_keys(seen: Watched) -> None:
    for route, whole in (("jobs/clicks.000", "the last 1 h"), ("", "The last day")):
        page = seen.go(route)
        seen.reads(whole)
        closer = page.get_by_role("button", name="Closer")
        for _ in range(2):
            before = page.evaluate("location.hash")
            closer.focus()
            page.keyboard.press("Enter")
            page.wait_for_function("before => location.hash !== before", arg=before)
        page.get_by_text(whole, exact=True).wait_for(state="detached")
        page.get_by_role("button", name="Whole span").focus()
        page.keyboard.press("Enter")
        seen.reads(whole)


def test_the_day_of_the_fleet_is_asked_for_by_the_logs_own_time(seen: Watched, fake: Fake) -> None:
    fake.facts.now_ms -= 2 * HOUR_MS
    seen.go("")
    seen.reads("The last day", "3 jobs whose lag nobody knows", "35 in all")
    asked = [query for path, query in fake.asked if path == "fleet/series"]
    assert asked
    ends = {datetime.fromisoformat(query["to"]).timestamp() * 1000 for query in asked}
    assert all(0 <= end - fake.facts.now_ms <= 31_000 for end in ends)


def test_the_digest_is_of_the_span_that_is_chosen(seen: Watched, fake: Fake) -> None:
    page = seen.go("")
    seen.reads("needs you, 1 to look at, 1 changed, 97 quiet")
    with page.expect_response("**/digest?*"):
        page.get_by_label("Shift").get_by_role("link", name="1 d").click()
    page.wait_for_url("**shift=1d**")
    seen.reads("needs you, 1 to look at")
    spans = {query["from"] for path, query in fake.asked if path == "digest"}
    assert len(spans) >= 2


def test_the_day_and_the_digest_are_of_the_instant(seen: Watched, fake: Fake) -> None:
    then = datetime.fromtimestamp(fake.facts.now_ms / 1000 - 60, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    names = ("fleet/series", "digest", "journal")
    with ExitStack() as answers:
        for name in names:
            answers.enter_context(seen.page.expect_response(f"**/{name}?*"))
        seen.go(f"?at={then}")
    seen.reads("The last day", "needs you")
    for name in names:
        asked = [query.get("at") for path, query in fake.asked if path == name]
        assert set(asked) == {then}, name
