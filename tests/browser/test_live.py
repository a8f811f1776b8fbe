"""The page follows the log without a reload, says when it does not, and stands still if told to."""

from __future__ import annotations

import threading
import time

from tests.browser.conftest import Watched
from tests.browser.facts import MINUTE_MS
from tests.browser.fake_api import Fake


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def test_a_decision_changes_what_is_shown_without_a_reload(seen: Watched, fake: Fake) -> None:
    page = seen.go("")
    seen.reads("100 jobs")
    page.evaluate("window.kept = 1")
    fake.facts.names += ("brand.new",)
    fake.facts.now_ms += 1000
    fake.say("decision", fake.facts.entry("brand.new", "JobConfigChanged", 1, 0), 1)
    seen.reads("101 jobs")
    assert page.evaluate("window.kept") == 1, "the page was loaded anew"


def test_a_stream_that_breaks_is_said_and_resumed_where_it_was(seen: Watched, fake: Fake) -> None:
    seen.expected = ("ERR_", "network")
    fake.facts.now_ms = now_ms()  # what is later than 15 s is called behind, and not live
    page = seen.go("")
    page.locator(".chip.is-live").wait_for()
    fake.facts.names += ("before.break",)
    fake.facts.now_ms = now_ms()
    fake.say("view", fake.view(), 7)
    seen.reads("101 jobs")
    # The browser comes back in a tenth of a second, and who looks now and then could miss it.
    held = fake.holding["stream"] = threading.Event()
    for one in list(fake.streams):
        one.put(None)
    page.locator(".chip.is-lost").wait_for()
    fake.facts.now_ms = now_ms()
    held.set()
    page.locator(".chip.is-live").wait_for()
    fake.facts.names += ("after.break",)
    fake.facts.now_ms += 1000
    fake.say("view", fake.view(), 8)
    seen.reads("102 jobs")
    assert "journal.v1/0:7" in fake.resumed


def counted(fake: Fake) -> int:
    """How often the page asked for what it counts; the first day's charts may be under way."""
    return [path for path, _ in fake.asked].count("fleet")


def test_it_stands_still_when_it_is_paused(seen: Watched, fake: Fake) -> None:
    page = seen.go("")
    seen.reads("100 jobs")
    page.keyboard.press("Space")
    page.locator(".chip.is-paused").wait_for()
    fake.facts.names += ("brand.new",)
    fake.facts.now_ms += 1000
    before = counted(fake)
    fake.say("view", fake.view(), 1)
    page.keyboard.press("u")  # what is drawn anew is drawn of the same answers
    seen.reads("Local")
    assert counted(fake) == before
    page.keyboard.press("Space")
    seen.reads("101 jobs")


def test_a_log_whose_clock_stands_still_is_told(seen: Watched, fake: Fake) -> None:
    fake.facts.now_ms -= 5 * MINUTE_MS
    page = seen.go("")
    page.locator(".chip.is-behind").wait_for()
    assert page.locator(".chip").inner_text().startswith("behind by 5 min")
