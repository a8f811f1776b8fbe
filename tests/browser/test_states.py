"""What a page says while it waits, when it is refused or stale, and when there is nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Watched, opened
from tests.browser.facts import Facts
from tests.browser.fake_api import Fake, Refused, served
from tests.browser.routes import ASKS, EMPTY

DOWN = Refused(
    503, "The log cannot be read", "the broker does not answer; start it, then look again"
)


@pytest.fixture
def nothing(browser: Browser) -> Iterator[Watched]:
    """An installation on which nobody has done anything yet."""
    with served(Facts(time.time_ns() // 1_000_000, ())) as fake:
        fake.failing["scoreboard"] = Refused(
            404, "No scoreboard", "there is none; start it with `--scoreboard FILE`"
        )
        yield from opened(browser, fake.url)


def test_where_there_is_nothing_the_remedy_is_said(nothing: Watched) -> None:
    nothing.expected = ("404",)
    for route, text in EMPTY.items():
        nothing.go(route)
        nothing.reads(text)


@pytest.mark.parametrize("route", ASKS)
def test_while_it_waits_it_says_so(seen: Watched, fake: Fake, route: str) -> None:
    fake.holding[ASKS[route]] = threading.Event()
    page = seen.go(route)
    page.locator("main [data-state=loading]").first.wait_for()
    fake.holding.pop(ASKS[route]).set()
    page.wait_for_function("() => !document.querySelector('main [data-state=loading]')")


@pytest.mark.parametrize("route", ASKS)
def test_a_refusal_is_shown_in_its_own_sentence(seen: Watched, fake: Fake, route: str) -> None:
    seen.expected = ("503",)
    fake.failing[ASKS[route]] = DOWN
    page = seen.go(route)
    page.locator("main [data-state=error]").first.wait_for()
    seen.reads(DOWN.told["detail"])
    fake.failing.clear()
    page.get_by_role("button", name="Ask again").first.click()
    page.wait_for_function("() => !document.querySelector('main [data-state=error]')")


def test_what_was_known_stays_and_its_age_is_said(seen: Watched, fake: Fake) -> None:
    seen.expected = ("503",)
    page = seen.go("")
    seen.reads("Worst offenders")
    fake.failing["fleet"] = DOWN
    fake.say("view", fake.view(), 1)
    page.locator("[data-state=stale]").wait_for()
    seen.reads("Worst offenders", DOWN.told["detail"])
    fake.failing.clear()
    page.locator("[data-state=stale]").wait_for(state="detached")


def test_a_search_that_finds_nothing_says_what_it_looked_for(seen: Watched) -> None:
    page = seen.go("jobs?q=nobody%20tier%3Dbatch")
    seen.reads("No job is found by")
    page.get_by_role("button", name="show all").click()
    seen.reads("50 of 100")
