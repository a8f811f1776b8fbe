"""Each page shows its facts; none complains, and none asks anybody but its own host."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import Watched, missing
from tests.browser.fake_api import Fake
from tests.browser.routes import FACTS

PICTURE = Path(__file__).parents[2] / "docs" / "dashboard.png"


@pytest.mark.parametrize("name", FACTS)
def test_a_page_shows_its_facts(seen: Watched, name: str) -> None:
    route, texts = FACTS[name]
    page = seen.go(route)
    seen.reads(*texts)
    assert page.title().endswith("· Turbine")
    assert page.locator("h1").count() == 1


@pytest.mark.parametrize("name", ["fleet", "jobs", "job", "decision"])
def test_a_page_fits_a_small_window(seen: Watched, name: str) -> None:
    route, texts = FACTS[name]
    seen.page.set_viewport_size({"width": 800, "height": 900})
    page = seen.go(route)
    seen.reads(*texts)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 800, "the page scrolls sideways; only tables may, within themselves"


def test_a_search_a_sort_and_a_page_are_state_of_the_url(seen: Watched) -> None:
    page = seen.go("jobs")
    seen.reads("50 of 100")
    page.get_by_role("link", name="Next page").click()
    page.wait_for_url("**cursor=50**")
    page.locator("#search").fill("clicks.01 !clicks.013")
    seen.reads("9 of 9")
    assert page.get_by_role("link", name="clicks.013").count() == 0
    page.get_by_role("button", name="Tasks").click()
    page.wait_for_url("**sort=tasks**")
    shared = page.url
    page.goto("about:blank")
    page.goto(shared)
    seen.reads("9 of 9")
    assert page.locator("#search").input_value() == "clicks.01 !clicks.013"
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("Tasks")


def test_what_repeats_in_the_journal_is_one_line_that_opens(seen: Watched) -> None:
    page = seen.go("journal?kind=scaling")
    fold = page.get_by_role("button", name="same reason \u00d7 8").first
    fold.wait_for()
    before = page.locator("tbody tr").count()
    fold.click()
    page.wait_for_function(f"() => document.querySelectorAll('tbody tr').length === {before + 7}")


def test_a_job_is_played_under_another_policy(seen: Watched) -> None:
    page = seen.go("whatif?job=clicks.000&policy=keda")
    seen.reads("settings of keda")
    page.get_by_label("Settings, one").fill("nonsense")
    page.get_by_role("button", name="Play").click()
    seen.reads("“nonsense” is no key=JSON")
    page.get_by_label("Settings, one").fill("")
    page.get_by_role("button", name="Play").click()
    seen.reads("Side by side", "keda · the other policy", "its own threads were taken as given")


def test_a_page_that_is_not_there_says_so(seen: Watched) -> None:
    seen.go("nonsense")
    seen.reads("There is no page called")


def test_without_scripts_the_page_points_at_the_same_facts(fake: Fake, seen: Watched) -> None:
    context = seen.page.context.browser
    assert context is not None
    plain = context.new_context(java_script_enabled=False)
    page = plain.new_page()
    page.goto(fake.url)
    assert "scripts are off" in page.locator("noscript").inner_text()
    plain.close()


def test_it_works_under_a_prefix(seen: Watched) -> None:
    """As behind a proxy: every address is relative to the page's own."""
    seen.go("")
    seen.reads("Worst offenders")
    own = [one for one in seen.asked if not one.startswith(seen.url)]
    assert own == []
    texts = [path.read_text() for path in (PICTURE.parents[1] / "turbine/dashboard").glob("app/*")]
    assert not any('"/api' in text or "'/api" in text for text in texts)


def test_where_there_is_no_browser_it_is_said_in_one_sentence() -> None:
    assert missing(None, None).startswith("there is no Chromium on this machine")
    assert missing("/usr/bin/chromium", None) == ""
    with pytest.raises(pytest.fail.Exception, match="there is no Chromium"):
        missing(None, "required")


def test_the_picture_of_the_readme(request: pytest.FixtureRequest, seen: Watched) -> None:
    page = seen.go("jobs/clicks.000")
    seen.reads("Over time", "scale-up to 8 tasks")
    taken = page.screenshot()
    assert taken.startswith(b"\x89PNG")
    if request.config.getoption("--picture"):
        PICTURE.write_bytes(taken)
