"""What a task prints and how it failed last, on its job's page: chosen, bounded, now and then."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.browser.conftest import Watched
from tests.browser.fake_api import Fake

LOGS = "jobs/clicks.000?tab=logs"


def test_the_one_that_is_in_trouble_is_shown_first(seen: Watched) -> None:
    page = seen.go("jobs/clicks.000")
    page.get_by_role("link", name="Logs", exact=True).click()
    seen.reads("Its last failure", "line 59")
    assert page.locator("#task").input_value() == "5"
    trace = page.get_by_role("region", name="Traceback").inner_text()
    assert trace.startswith("Traceback (most recent call last):\n  File")
    lines = page.get_by_role("log", name="Lines").inner_text().rstrip().split("\n")
    assert len(lines) == 60
    assert "clicks.000/5 line 0 " in lines[0]
    assert "stderr" in lines[0]
    seen.reads("on vm-3, the last 60 lines")


def test_another_task_is_chosen_and_stands_in_the_address(seen: Watched, fake: Fake) -> None:
    page = seen.go(LOGS)
    seen.reads("line 59")
    page.locator("#task").select_option("3")
    page.wait_for_url("**task=3**")
    seen.reads("It has not failed up to this instant", "clicks.000/3 line 59")
    assert "jobs/clicks.000/tasks/3/log" in {path for path, _ in fake.asked}
    page.get_by_role("link", name="Tasks", exact=True).click()
    page.get_by_role("region", name="Tasks").get_by_role("link", name="5", exact=True).click()
    seen.reads("clicks.000/5 line 59")


def test_boxes_are_bounded_and_can_be_scrolled_by_keys(seen: Watched) -> None:
    page = seen.go(LOGS)
    box = page.get_by_role("log", name="Lines")
    box.wait_for()
    tall, whole = box.evaluate("one => [one.clientHeight, one.scrollHeight]")
    assert tall < whole
    assert tall < 960
    left = "() => { const one = document.querySelector('[role=log]');"
    left += " return one.scrollHeight - one.scrollTop - one.clientHeight }"
    page.wait_for_function(f"() => ({left})() < 2")  # the newest are what one looks for
    box.focus()
    page.keyboard.press("Home")
    page.wait_for_function("() => document.querySelector('[role=log]').scrollTop === 0")


def test_what_its_container_does_not_tell_the_log_still_does(seen: Watched) -> None:
    seen.expected = ("503",)
    seen.go(f"{LOGS}&task=2")
    seen.reads("c-02 does not answer at http://10.0.0.4:9101", "It has not failed")


def test_in_the_past_the_failure_is_of_then_and_the_lines_say_that_they_are_of_now(
    seen: Watched, fake: Fake
) -> None:
    then = datetime.fromtimestamp(fake.facts.now_ms / 1000 - 60, UTC).isoformat()[:19] + "Z"
    seen.go(f"{LOGS}&at={then}")
    seen.reads("as of then", "as of now, and not of the instant above", "line 59")
    asked = dict(fake.asked)
    assert asked["jobs/clicks.000/tasks/5"]["at"] == then
    assert "at" not in asked["jobs/clicks.000/tasks/5/log"]
