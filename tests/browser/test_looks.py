"""Each page at three widths: nothing runs out of its place, lies on something else, or is cut.

The pictures lie in the directory of the run (`--basetemp`), for whoever wants to look.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Watched, opened
from tests.browser.fake_api import Fake
from tests.browser.routes import FACTS

WIDTHS = (1440, 1280, 400)
SCHEMES = {1440: "light", 1280: "dark", 400: "light"}
FAULTS = r"""width => {
  const DRAWN = ".hidden-text, .track, svg, canvas, .u-wrap, .skip, select, option";
  const PLACES = "td, th, .scroll, pre, section, main, header";
  const found = [];
  const say = (what, node) => found.push(`${what}: ${node.tagName.toLowerCase()}.${node.className} `
    + `“${node.textContent.trim().slice(0, 60)}”`);
  if (document.documentElement.scrollWidth > width) {
    found.push(`the page is ${document.documentElement.scrollWidth} wide`);
    const wide = one => one.getBoundingClientRect().right > width + 1 && !one.closest(".scroll");
    [...document.querySelectorAll("main *")].filter(wide).forEach(one => say("wide", one));
  }
  const shown = one => one.checkVisibility() && one.getClientRects().length;
  // What is cut on purpose says so by an ellipsis and has its whole text in the title.
  for (const one of document.querySelectorAll("main *, header *")) {
    if (!shown(one) || one.closest(DRAWN)) continue;
    const style = getComputedStyle(one);
    const cuts = style.overflowX === "hidden" || style.overflowX === "clip";
    if (cuts && one.scrollWidth > one.clientWidth + 1 && !one.title) say("cut", one);
    if (style.overflowX === "visible" && one.children.length === 0 && one.textContent.trim()) {
      const box = one.getBoundingClientRect();
      const place = one.closest(PLACES)?.getBoundingClientRect();
      const scrolls = one.closest(".scroll, pre, nav");
      if (place && !scrolls && box.right > place.right + 1) say("out of its place", one);
    }
  }
  // A word that is short is never taken apart, whatever room there is.
  for (const cell of document.querySelectorAll("main td, main th")) {
    if (!shown(cell) || cell.clientWidth > 160) continue;
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      for (const word of node.data.matchAll(/\p{L}{2,14}/gu)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map(one => one.top));
        if (lines.size > 1) say("a broken word", cell);
      }
    }
  }
  // A column that is too narrow for a word folds to a letter a line.
  for (const row of document.querySelectorAll("main table tr")) {
    if (!shown(row)) continue;
    const cells = [...row.children];
    cells.forEach((one, at) => {
      const text = one.textContent.trim();
      if (text.length > 12 && one.clientWidth < 40) say(`a column of ${one.clientWidth} px`, one);
      const own = one.getBoundingClientRect(), next = cells[at + 1]?.getBoundingClientRect();
      // And not below it or above, as on a telephone.
      const beside = next && next.top < own.bottom - 1 && next.bottom > own.top + 1;
      if (beside && next.left < own.right - 1) say("overlaps the next", one);
    });
    if (row.clientHeight > 220) say(`a row of ${row.clientHeight} px`, row);
  }
  return found;
}"""


@pytest.fixture(params=WIDTHS)
def sized(request: pytest.FixtureRequest, browser: Browser, fake: Fake) -> Iterator[Watched]:
    """A window as wide as a large screen, a small one, and a telephone."""
    width: int = request.param
    size = {"width": width, "height": 900}
    yield from opened(browser, fake.url, viewport=size, color_scheme=SCHEMES[width])


def test_nothing_runs_out_of_its_place_on_any_page(sized: Watched, tmp_path: Path) -> None:
    assert sized.page.viewport_size is not None
    width, found = sized.page.viewport_size["width"], {}
    for name, (route, texts) in FACTS.items():
        page = sized.go(route)
        sized.reads(*texts)
        page.wait_for_function("() => !document.querySelector('main [data-state=loading]')")
        page.screenshot(path=tmp_path / f"{name}-{width}.png", full_page=True)
        if told := page.evaluate(FAULTS, width):
            found[name] = told
    assert found == {}
    assert len(list(tmp_path.glob("*.png"))) == len(FACTS)


@pytest.mark.parametrize(
    ("style", "complaint"),
    [
        ("main table { table-layout: fixed } main td { width: 9px }", "a column of"),
        ("main h2 { display: inline-block; width: 3px; overflow: hidden }", "cut: h2"),
        ("main { width: 2000px }", "the page is"),
        ("main .dot { width: 24px; white-space: normal; word-break: break-all }", "a broken word"),
        ("main td:first-child { position: relative; left: 60px }", "overlaps the next"),
    ],
)  # fmt: skip
def test_what_runs_out_is_found(seen: Watched, style: str, complaint: str) -> None:
    page = seen.go("jobs")
    seen.reads("50 of 100")
    page.evaluate(
        "text => { const sheet = new CSSStyleSheet(); sheet.replaceSync(text);"
        " document.adoptedStyleSheets = [sheet]; document.querySelector('main').append("
        "Object.assign(document.createElement('h2'), {textContent: 'A heading'})) }",
        style,
    )
    assert [one for one in page.evaluate(FAULTS, 1440) if one.startswith(complaint)]
