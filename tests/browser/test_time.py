"""One goes to any instant of the log, sees the fleet as it was, and comes back."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from tests.browser.conftest import Watched
from tests.browser.fake_api import Fake

EARLY = "2020-01-01T00:00:00Z"


def test_one_scrubs_to_the_past_and_goes_back(seen: Watched, fake: Fake) -> None:
    page = seen.go("")
    seen.reads("100 jobs")
    page.locator("#instant").focus()
    for _ in range(30):
        page.keyboard.press("PageDown")
    page.wait_for_url("**at=*")
    page.locator(".chip.is-past").wait_for()
    seen.reads("No job was ever asked for")
    page.go_back()
    seen.reads("100 jobs")
    assert "at=" not in page.url
    page.go_forward()
    seen.reads("No job was ever asked for")
    page.keyboard.press("n")
    seen.reads("100 jobs")
    assert page.locator(".chip.is-past").count() == 0


def test_every_question_is_about_the_instant_of_the_url(seen: Watched, fake: Fake) -> None:
    page = seen.go(f"jobs?at={EARLY}")
    seen.reads("There are no jobs at this instant")
    page.get_by_role("link", name="Journal").click()
    seen.reads("Nothing was decided up to this instant")
    assert EARLY[:10] in page.url
    asked = [(path, query) for path, query in fake.asked if path in ("fleet", "jobs", "journal")]
    assert {path for path, _ in asked} == {"fleet", "jobs", "journal"}
    assert {query.get("at") for _, query in asked} == {EARLY}


def test_nothing_can_be_changed_in_the_past(seen: Watched, fake: Fake) -> None:
    page = seen.go("jobs/clicks.000?at=journal.v1/0:12")
    page.get_by_role("button", name="Pause…").wait_for()
    assert page.get_by_role("button", name="Pause…").is_disabled()
    seen.reads("a position of the log")


def test_a_link_of_a_decision_leads_to_its_position(seen: Watched) -> None:
    page = seen.go("decisions/decision-3")
    page.get_by_role("link", name="look at that position").click()
    page.wait_for_url("**at=journal.v1*")
    query = parse_qs(urlsplit(page.url).fragment.partition("?")[2])
    assert query["at"] == ["journal.v1/4:1200"]
    seen.reads("Over time")


def test_times_are_utc_until_one_asks_for_ones_own(seen: Watched, fake: Fake) -> None:
    page = seen.go("decisions/decision-3")
    shown = page.locator("main time").first
    shown.wait_for()
    utc, stamp = shown.inner_text(), shown.get_attribute("datetime")
    assert stamp is not None
    assert utc.replace(" ", "T")[:19] == stamp[:19]
    page.get_by_role("button", name="Times are UTC; change").click()
    page.wait_for_function(
        "text => document.querySelector('main time').textContent !== text", arg=utc
    )
    hours = int(shown.inner_text()[11:13]) - int(utc[11:13])
    assert hours % 24 == 9  # the browser of these tests is in Tokyo
    assert shown.get_attribute("datetime") == stamp
