"""What is done from the page is shown as a plan first, and then that plan is applied by its id."""

from __future__ import annotations

from tests.browser.conftest import Watched
from tests.browser.fake_api import TOKEN, Fake, Refused


def test_a_job_is_scaled_by_hand_as_it_was_planned(seen: Watched, fake: Fake) -> None:
    page = seen.go("jobs/clicks.001")
    page.get_by_role("button", name="Scale…").click()
    page.get_by_label("Tasks", exact=True).fill("12")
    page.get_by_label("Reason").fill("the evening peak")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Show the plan").click()
    page.locator("[data-state=plan]").wait_for()
    seen.reads("Nothing has happened yet", "plan-1", "version 2 of oncall")
    assert fake.sent == [
        (
            "changes",
            {
                "job": "clicks.001",
                "layer": "oncall",
                "set": {"tasks": 12},
                "expires": "2h",
                "reason": "the evening peak",
                "dry_run": True,
            },
        )
    ]
    page.get_by_role("button", name="Apply this plan").click()
    seen.reads("Accepted as version 2 of oncall.")
    assert fake.sent[1] == ("plans/plan-1/apply", {})


def test_the_token_is_asked_once_and_again_when_it_is_wrong(seen: Watched, fake: Fake) -> None:
    seen.expected = ("401",)
    page = seen.go("jobs/clicks.001")
    page.get_by_role("button", name="Pause…").click()
    page.get_by_label("Reason").fill("its sink is down")
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Show the plan").click()
    seen.reads("the token is missing or wrong; the server printed it")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Show the plan").click()
    page.locator("[data-state=plan]").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Pause…").click()
    page.get_by_label("Reason").wait_for()
    assert page.get_by_label("Token").count() == 0
    assert [path for path, _ in fake.sent] == ["jobs/clicks.001/pause"]
    kept = page.evaluate("[Object.values(sessionStorage), Object.values(localStorage)]")
    assert TOKEN in kept[0]
    assert TOKEN not in kept[1]


def test_a_plan_on_which_the_world_has_moved_is_refused(seen: Watched, fake: Fake) -> None:
    seen.expected = ("409",)
    page = seen.go("placement")
    page.get_by_role("button", name="Drain c-03").click()
    page.get_by_label("Reason").fill("its disk is failing")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Show the plan").click()
    page.locator("[data-state=plan]").wait_for()
    moved = "c-03 has moved since; look at a new plan"
    fake.failing["plans"] = Refused(409, "Stale plan", moved)
    page.get_by_role("button", name="Apply this plan").click()
    seen.reads(moved)
    assert [path for path, _ in fake.sent] == ["containers/c-03/drain"]


def test_the_dialog_gives_the_focus_back(seen: Watched) -> None:
    page = seen.go("jobs/clicks.001")
    button = page.get_by_role("button", name="Pause…")
    button.click()
    page.get_by_label("Reason").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    assert page.evaluate("document.activeElement.textContent") == "Pause…"
