"""What is filled in, clicked and followed: it holds, in whatever order, by mouse and by keys."""

from __future__ import annotations

from itertools import permutations

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Watched
from tests.browser.fake_api import Fake

FILLED = {
    "job": ("Job", "clicks.007"),
    "policy": ("Policy", "keda"),
    "from": ("From", "1h ago"),
    "set": ("Settings, one", "quiet_hours=[]"),
}


def listed(page: Page, job: str) -> None:
    """The jobs are there to be chosen from."""
    page.locator("select[name=job] option", has_text=job).first.wait_for(state="attached")


def fill(page: Page, name: str) -> None:
    field, value = page.locator(f"form.whatif [name={name}]"), FILLED[name][1]
    if name == "set":
        field.fill(value)
    else:
        field.select_option(value)


def values(page: Page) -> dict[str, str]:
    found: dict[str, str] = page.evaluate(
        "() => Object.fromEntries([...document.querySelector('form.whatif').elements]"
        ".filter(one => one.name).map(one => [one.name, one.value]))"
    )
    return found


def test_a_form_keeps_what_is_filled_in_whatever_comes_first(seen: Watched) -> None:
    wanted = {name: value for name, (_, value) in FILLED.items()}
    page = seen.go("whatif")
    for order in permutations(FILLED):
        page.goto("about:blank")
        page = seen.go("whatif")
        seen.reads("settings of turbine")
        listed(page, "clicks.007")
        for name in order:
            fill(page, name)
        seen.reads("settings of keda")
        assert values(page) == wanted, order


def test_what_is_filled_in_is_sent_and_is_in_the_link(seen: Watched, fake: Fake) -> None:
    page = seen.go("whatif")
    listed(page, "clicks.007")
    for name in FILLED:
        fill(page, name)
    page.wait_for_url("**quiet_hours**")  # as it is typed
    shared = page.url
    with page.expect_request("**/whatif") as sent:
        page.get_by_role("button", name="Play").click()
    assert sent.value.post_data_json == {
        "job": "clicks.007", "policy": "keda", "from": "1h ago", "settings": {"quiet_hours": []},
    }  # fmt: skip
    seen.reads("Side by side")
    page.goto("about:blank")
    page.goto(shared)
    listed(page, "clicks.007")
    assert values(page) == {name: value for name, (_, value) in FILLED.items()}


def test_a_job_is_chosen_of_those_there_are(seen: Watched) -> None:
    page = seen.go("whatif?job=gone.long.ago")
    listed(page, "clicks.099")
    names = page.locator("select[name=job] option").all_text_contents()
    assert names[:2] == ["choose one", "gone.long.ago"], "what the link says is not thrown away"
    assert len(names) == 102


def test_a_row_is_a_link_wherever_it_is_clicked(seen: Watched) -> None:
    page = seen.go("jobs?sort=name")
    row = page.locator("tbody tr").nth(3)
    row.wait_for()
    box = row.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 500, box["y"] + box["height"] / 2)
    page.wait_for_url("**#/jobs/clicks.003")


def test_rows_are_gone_through_and_opened_by_keys(seen: Watched) -> None:
    page = seen.go("jobs?sort=name")
    page.locator("tbody tr").nth(0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**#/jobs/clicks.001")


def test_an_alert_leads_to_what_to_do_with_its_job_filled_in(seen: Watched) -> None:
    page = seen.go("")
    page.get_by_role("link", name="job-quarantined").first.click()
    seen.reads("turbine describe job clicks.003")
    assert not [one for one in page.locator("main code").all_inner_texts() if "JOB" in one]
    items = page.locator(".prose li").all_inner_texts()
    assert items
    assert not [one for one in items if one.startswith("-") or one[:2] in ("1.", "2.")]


def test_a_name_that_a_shell_would_take_apart_is_quoted(seen: Watched) -> None:
    seen.go("runbooks/job-quarantined?job=a%20b%3Bc%27d")
    seen.reads(r"turbine describe job 'a b;c'\''d'")


@pytest.mark.parametrize("route", ["", "jobs"])
def test_an_instant_that_is_none_says_so_and_leads_back(
    seen: Watched, fake: Fake, route: str
) -> None:
    from tests.browser.fake_api import Refused

    seen.expected = ("422",)
    told = Refused(422, "Not understood", "at 'banana' is no time; write one such as `10m ago`")
    told.told["place"] = "query.at"
    fake.failing[route or "fleet"] = told
    page = seen.go(f"{route}?at=banana")
    page.get_by_role("button", name="Back to now", exact=True).first.wait_for()
    seen.reads("no such instant", "is no instant", "10m ago")
    assert page.get_by_text("a position of the log").count() == 0
    fake.failing.clear()
    page.get_by_role("button", name="Back to now", exact=True).first.click()
    page.wait_for_function("() => !location.hash.includes('at=')")
    page.locator("main [data-state=error]").wait_for(state="detached")


def test_a_file_says_that_it_is_one_and_is_not_behind(seen: Watched, fake: Fake) -> None:
    fake.file = "incident.turbine"
    fake.facts.now_ms -= 3 * 86_400_000
    page = seen.go("")
    page.locator(".chip.is-file").wait_for()
    assert page.locator(".chip").inner_text() == "a file"
    assert "incident.turbine" in (page.locator(".chip").get_attribute("title") or "")
    assert page.locator(".is-behind").count() == 0
    page = seen.go("jobs/clicks.000")
    page.get_by_role("button", name="Pause…").wait_for()
    assert page.get_by_role("button", name="Pause…").is_disabled()
    seen.go("jobs/clicks.000?tab=config")
    seen.reads("ends in 47 min")
    seen.go("placement")
    assert page.get_by_role("button", name="Drain c-00").is_disabled()


def test_a_copy_is_called_what_it_is(seen: Watched) -> None:
    page = seen.go("jobs")
    seen.reads("50 of 100", "Copy as a command")
    assert page.get_by_text("Copy as turbine").count() == 0
