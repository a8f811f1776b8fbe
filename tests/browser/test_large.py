"""Five thousand jobs: every page can be used as quickly as with five, as the API pages and sums up.

Prints how long each took; what is asserted is far more than it takes on a busy small machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Watched, opened
from tests.browser.facts import Facts
from tests.browser.fake_api import served
from tests.browser.routes import FACTS

JOBS = 5_000
TASKS = 2_000
PATIENCE_MS = 60_000


@pytest.fixture
def large(browser: Browser) -> Iterator[Watched]:
    """Over as many jobs, each with as many tasks."""
    names = tuple(f"clicks.{at:03}" for at in range(JOBS))
    with served(Facts(time.time_ns() // 1_000_000, names, tasks_each=TASKS)) as fake:
        yield from opened(browser, fake.url)


READ = {"jobs": "50 of 5,000", "tasks": "2,000 tasks by lag", "fleet": "5,000 jobs"}


def test_every_page_is_soon_there(large: Watched) -> None:
    large.go("nonsense")
    took = {}
    for name, (route, texts) in FACTS.items():
        text = READ.get(name, texts[0])
        begun = time.monotonic()
        page = large.go(route)
        large.reads(text)
        # It answers: what is pressed now is done now.
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => done()))")
        took[name] = round(1000 * (time.monotonic() - begun))
    print("\nms until each page of 5,000 jobs can be used:", took)  # noqa: T201 - the figure
    assert max(took.values()) < PATIENCE_MS


def test_the_page_holds_what_it_shows_and_no_more(large: Watched) -> None:
    for route in ("", "jobs", "jobs/clicks.000?tab=tasks", "journal"):
        page = large.go(route)
        page.wait_for_function("() => !document.querySelector('main [data-state=loading]')")
        assert page.evaluate("() => document.querySelectorAll('*').length") < 12_000
