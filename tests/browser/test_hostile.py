"""Whatever a job is called and whatever a reason says, the page shows it as text, and no more."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Watched, opened
from tests.browser.facts import Facts
from tests.browser.fake_api import served
from tests.browser.hostile import HOSTILE
from tests.browser.routes import ROUTES

TEXT = " ".join(HOSTILE[:-1])


@pytest.fixture
def seen(browser: Browser) -> Iterator[Watched]:
    """Over a fleet with such names, authors and reasons."""
    facts = Facts(time.time_ns() // 1_000_000, HOSTILE, text=TEXT, author=HOSTILE[1])
    with served(facts) as fake:
        yield from opened(browser, fake.url)


def unharmed(seen: Watched) -> None:
    """No string became code, an element, or another place."""
    found = seen.page.evaluate(
        """() => ({
            owned: window.owned ?? null,
            foreign: document.querySelectorAll("main iframe, main form[action], main plaintext,"
                + " main script, main base, main style, main img").length,
            here: location.href,
        })"""
    )
    assert found["owned"] is None
    assert found["foreign"] == 0
    assert found["here"].startswith(seen.url)


def test_there_are_forty_and_each_is_another() -> None:
    assert len(set(HOSTILE)) == 40


def test_names_are_listed_as_they_are(seen: Watched) -> None:
    page = seen.go("jobs?sort=name")
    seen.reads("40 of 40")
    shown = page.locator("tbody a.name").evaluate_all("all => all.map(one => one.textContent)")
    assert sorted(shown) == sorted(HOSTILE)
    unharmed(seen)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 1440, "a long name makes the page wide"


def test_a_job_is_found_and_shown_under_its_name(seen: Watched) -> None:
    for name in HOSTILE:
        page = seen.go("jobs?sort=name")
        seen.reads("40 of 40")
        page.evaluate(
            "name => [...document.querySelectorAll('tbody a.name')]"
            ".find(one => one.textContent === name).click()",
            name,
        )
        page.wait_for_function(
            "name => document.querySelector('h1')?.textContent === name", arg=name
        )
        seen.reads("Over time")
        unharmed(seen)


def test_reasons_and_authors_are_text_on_every_page(seen: Watched) -> None:
    for route in ROUTES.values():
        page = seen.go(route.replace("clicks.000", "null"))
        page.locator("main h1").first.wait_for(state="attached")
        page.wait_for_function("() => !document.querySelector('[data-state=loading]')")
        unharmed(seen)
