"""The page over the API of a real broker: what is decided is shown, and looked back at."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser

from components.runtime.process.loop import StopSignal
from tests.browser.axe import faults
from tests.browser.conftest import Watched, opened
from tests.conftest import WAIT_S, Fleet
from turbine.api.server import Serving, serve
from turbine_client.publish import Accepted, Publisher

pytestmark = pytest.mark.broker

JOB = "seen-in-a-browser"
CONFIG = {
    "operator": "clicks.count:run",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "clicks", "version": "1.4.2"},
    "checkpoint": {"root": "/checkpoints"},
    "tasks": 2,
}


@dataclass(frozen=True, slots=True)
class Served:
    """Where the API is, and the token of writers."""

    url: str
    token: str


@pytest.fixture(scope="module")
def real(fleet: Fleet) -> Iterator[Served]:
    """The API as `turbine dashboard` serves it."""
    told: queue.Queue[Served] = queue.Queue()
    stop = StopSignal()
    thread = threading.Thread(
        target=serve,
        args=(fleet.settings, Serving(port=0), stop),
        kwargs={"tell": lambda url, file: told.put(Served(url + "/", file.read_text().strip()))},
    )
    thread.start()
    try:
        yield told.get(timeout=WAIT_S)
    finally:
        stop.set()
        thread.join()


@pytest.fixture
def live(browser: Browser, real: Served) -> Iterator[Watched]:
    """A page over it."""
    yield from opened(browser, real.url)


def change(fleet: Fleet, **wanted: object) -> None:
    """Has the base of the job changed, and waits for the verdict."""
    with Publisher(fleet.settings, author="ana <ana@example.org>") as publisher:
        verdict = publisher.change(
            JOB, wanted, create=True, reason="<b>the evening peak</b>", wait_s=WAIT_S
        )
    assert isinstance(verdict, Accepted), verdict


def test_what_is_decided_is_seen_as_it_is_decided(fleet: Fleet, live: Watched) -> None:
    page = live.go(f"jobs?q={JOB}")
    page.locator(".chip.is-live").wait_for()
    change(fleet, **CONFIG)
    page.get_by_role("link", name=JOB).click()
    live.reads("Over time", "No task of this job reported anything", "clicks.count:run")
    page.get_by_role("link", name="Config", exact=True).click()
    live.reads("package.version", "ana <ana@example.org>: <b>the evening peak</b>")
    page.get_by_role("link", name="Decisions", exact=True).click()
    live.reads("version 1 of base by ana <ana@example.org>: <b>the evening peak</b>")
    change(fleet, tasks=7)
    live.reads("version 2 of base by ana <ana@example.org>: <b>the evening peak</b>")
    page.get_by_role("link", name="JobConfigChanged").first.click()
    live.reads("What it changed", "job-service", "journal.v1/")
    assert page.locator(".differences ins").inner_text() == "7"


def test_a_plan_is_shown_applied_and_looked_back_at(
    fleet: Fleet, live: Watched, real: Served
) -> None:
    change(fleet, **CONFIG)
    page = live.go(f"jobs/{JOB}?tab=config")
    page.get_by_role("button", name="Scale…").click()
    page.get_by_label("Tasks", exact=True).fill("5")
    page.get_by_label("Reason").fill("INC-7")
    page.get_by_label("Token").fill(real.token)
    page.get_by_role("button", name="Show the plan").click()
    live.reads("Nothing has happened yet", "version 1 of oncall")
    page.get_by_role("button", name="Apply this plan").click()
    live.reads("Accepted as version 1 of oncall.")
    page.get_by_role("button", name="Close").click()
    live.reads("overridden by hand", "ends in 1 h 59 min")
    page.get_by_role("link", name="Decisions", exact=True).click()
    page.get_by_role("link", name="JobConfigChanged").nth(1).click()
    page.get_by_role("link", name="look at that position").click()
    page.locator(".chip.is-past").wait_for()
    live.reads("Over time")
    assert page.get_by_text("overridden by hand").count() == 0


def test_every_page_shows_what_there_is_or_says_what_is_missing(
    live: Watched, real: Served
) -> None:
    live.expected = ("404",)  # of the job that there is not
    said = {
        "": "No tier is defined",
        "jobs": "ready",
        "placement": "No tier is defined at this instant",
        "journal": "JobConfigChanged",
        "whatif": "settings of turbine",
        "scoreboard": "A recording that Turbine comes with,",
        "contract": "turbine.outcomes.v1",
        "platform": "job-service",
        "jobs/nobody": "there is no job",
        "jobs?at=2020-01-01T00:00:00Z": "There are no jobs at this instant",
    }
    for route, text in said.items():
        page = live.go(route)
        live.reads(text)
        page.wait_for_function("() => !document.querySelector('main [data-state=loading]')")
        assert faults(page) == [], route
