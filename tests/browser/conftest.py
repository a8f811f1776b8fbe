"""A browser for each module, a page for each test, and what a page must never do."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from infra.waiting import within
from tests.browser.facts import Facts
from tests.browser.fake_api import Fake, served

NAMES = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = "TURBINE_BROWSER"
"""Set to `required` where a missing browser is a failure and not a reason to skip."""
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WAIT_MS = round(within(60) * 1000)
WIDE = {"width": 1440, "height": 960}


def missing(found: str | None, required: str | None) -> str:
    """Why there can be no browser; "" where there is one."""
    if found:
        return ""
    sentence = f"there is no Chromium on this machine ({', '.join(NAMES)}); install one to see the"
    sentence += " page tested"
    if required == "required":
        pytest.fail(sentence)
    return sentence


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's own: none is fetched. One for a module and not for the session: as long as it is
    there, a loop of asyncio runs in this thread, and no other test could run its own."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    why = missing(found, os.environ.get(REQUIRED))
    if why:
        pytest.skip(why)
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        yield made
        made.close()


@dataclass(slots=True)
class Watched:
    """A page with all that it said and asked for."""

    page: Page
    url: str
    expected: tuple[str, ...] = ()  # parts of complaints that the test provokes
    complaints: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def listen(self) -> None:
        """From the first request on."""
        # As lambdas: the library marks methods on their object, which has slots.
        self.page.on("console", lambda one: self._console(one))  # noqa: PLW0108 - see above
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("request", lambda one: self._request(one))  # noqa: PLW0108 - see above
        self.page.set_default_timeout(WAIT_MS)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text} {message.location}")

    def _request(self, request: Request) -> None:
        self.asked.append(request.url)
        if urlsplit(request.url).netloc != urlsplit(self.url).netloc:
            self.foreign.append(request.url)

    def go(self, route: str) -> Page:
        """To a page of the dashboard."""
        self.page.goto(f"{self.url}#/{route}")
        return self.page

    def reads(self, *texts: str) -> None:
        """Waits until the page says all of them."""
        for text in texts:
            self.page.get_by_text(text).locator("visible=true").first.wait_for()

    def check(self) -> None:
        """Nothing was complained of but what the test is about, and nobody else was asked."""
        left = [one for one in self.complaints if not any(part in one for part in self.expected)]
        assert left == []
        assert self.foreign == []


@pytest.fixture
def fake() -> Iterator[Fake]:
    """A fleet of a hundred jobs that is nowhere."""
    names = tuple(f"clicks.{at:03}" for at in range(100))
    with served(Facts(time.time_ns() // 1_000_000, names)) as found:
        yield found


def opened(browser: Browser, url: str, **options: Any) -> Iterator[Watched]:
    """A page in a profile of its own, held to what no page may do."""
    context = browser.new_context(**{"viewport": WIDE, "timezone_id": "Asia/Tokyo", **options})
    seen = Watched(context.new_page(), url)
    seen.listen()
    try:
        yield seen
        seen.check()
    finally:
        context.close()


@pytest.fixture
def seen(browser: Browser, fake: Fake) -> Iterator[Watched]:
    """A page over the fleet that is nowhere."""
    yield from opened(browser, fake.url)
