"""The page is for everyone: axe-core finds nothing serious on any page in either theme, keys reach
everything, and what changes is said.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.axe import faults
from tests.browser.conftest import Watched, opened
from tests.browser.fake_api import Fake
from tests.browser.routes import FACTS


@pytest.fixture(params=["light", "dark"])
def themed(request: pytest.FixtureRequest, browser: Browser, fake: Fake) -> Iterator[Watched]:
    """A page of a reader whose system asks for that theme."""
    yield from opened(browser, fake.url, color_scheme=request.param)


def test_nothing_serious_is_found_on_any_page(themed: Watched) -> None:
    found = {}
    for name, (route, texts) in FACTS.items():
        page = themed.go(route)
        themed.reads(texts[0])
        page.wait_for_function("() => !document.querySelector('main [data-state=loading]')")
        if told := faults(page):
            found[name] = told
    assert found == {}


def test_nothing_serious_is_found_in_a_dialog(themed: Watched) -> None:
    page = themed.go("jobs/clicks.001")
    page.get_by_role("button", name="Scale…").click()
    page.get_by_label("Reason").wait_for()
    assert faults(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.get_by_role("heading", name="Keys").wait_for()
    assert faults(page) == []


def test_nothing_serious_is_found_in_the_past(themed: Watched) -> None:
    page = themed.go("jobs?at=2020-01-01T00:00:00Z")
    themed.reads("There are no jobs at this instant", "back to now")
    assert faults(page) == []


def test_it_does_find_what_is_wrong(seen: Watched) -> None:
    page = seen.go("")
    seen.reads("Worst offenders")
    page.evaluate(
        "() => document.querySelector('main').append(Object.assign("
        "document.createElement('img'), {src: 'icon.svg'}))"
    )
    assert [one for one in faults(page) if one.startswith("image-alt")]


def test_the_theme_follows_the_system_until_one_says_otherwise(seen: Watched) -> None:
    page = seen.go("")
    theme = "() => document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "light"
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    page.get_by_role("button", name="Use the light theme").click()
    page.wait_for_function("() => document.documentElement.dataset.theme === 'light'")
    page.reload()
    seen.reads("Worst offenders")
    assert page.evaluate(theme) == "light"


def test_keys_lead_everywhere(seen: Watched) -> None:
    page = seen.go("")
    seen.reads("Worst offenders")
    for key, text in (("j", "50 of 100"), ("l", "same reason \u00d7 8"), ("h", "Topics and where")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        seen.reads(text)
    page.keyboard.press("/")
    page.keyboard.type("clicks.042")
    page.keyboard.press("Enter")
    seen.reads("1 of 1")
    page.locator("h1").click()
    page.keyboard.press("?")
    page.get_by_role("heading", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")


def test_the_focus_is_seen_and_goes_with_the_page(seen: Watched) -> None:
    page = seen.go("")
    seen.reads("Worst offenders")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Skip to the page"
    style = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"
    page.get_by_role("link", name="Jobs", exact=True).click()
    seen.reads("50 of 100")
    assert page.evaluate("() => document.activeElement.id") == "main"
