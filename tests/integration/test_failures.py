"""The broker dies, stops, and fills its disk: nothing acknowledged is lost, and all comes back."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.integration.changes import Load, all_answered, all_derive, all_published
from tests.integration.processes import Fleet, fleet_on, until

pytestmark = pytest.mark.broker

CODES = {71, 72, 73, 74, 75, 77}
DEADLINE_S = 20.0


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with fleet_on(tmp_path_factory.mktemp("failures")) as fleet:
        _start_all(fleet)
        yield fleet


def _start_all(fleet: Fleet) -> None:
    fleet.start("clock")
    fleet.publisher()
    fleet.worker("w0")
    for process in fleet.processes:
        process.kept = True


def _all_told(fleet: Fleet, load: Load, ended: list[tuple[str, int, str]]) -> None:
    assert load.sent
    all_answered(fleet.settings, load.author.taken, 120, lambda: ended.extend(fleet.revive()))
    all_published(fleet.settings, 120, lambda: ended.extend(fleet.revive()))
    all_derive(fleet.settings)
    for name, code, why in ended:
        assert code in CODES, (name, code, why)
        assert why, (name, code)


@pytest.mark.parametrize("down_s", [3.0, 20.0])
def test_the_broker_is_killed_under_load(fleet: Fleet, down_s: float) -> None:
    ended: list[tuple[str, int, str]] = []
    with Load(fleet.settings, f"killed-{down_s:g}") as load:
        until(lambda: load.sent > 100, "load")
        fleet.broker.kill()
        time.sleep(down_s)
        fleet.broker.start_again()
        began, at = time.monotonic(), load.sent
        until(lambda: ended.extend(fleet.revive()) or load.sent > at + 50, "load again", 90)
    _all_told(fleet, load, ended)
    print(f"down {down_s:g} s: all told {time.monotonic() - began:.1f} s after; ended: {ended}")  # noqa: T201 - a figure to read


def test_the_broker_is_stopped_in_order_and_started_again(fleet: Fleet) -> None:
    ended: list[tuple[str, int, str]] = []
    with Load(fleet.settings, "stopped") as load:
        until(lambda: load.sent > 100, "load")
        fleet.broker.stop()
        fleet.broker.start_again()
        began, at = time.monotonic(), load.sent
        until(lambda: ended.extend(fleet.revive()) or load.sent > at + 50, "load again", 90)
    _all_told(fleet, load, ended)
    print(f"stopped: all told {time.monotonic() - began:.1f} s after; ended: {ended}")  # noqa: T201 - a figure to read


def test_all_end_at_a_signal_while_the_broker_is_down(fleet: Fleet) -> None:
    ended: list[tuple[str, int, str]] = []
    with Load(fleet.settings, "signalled") as load:
        until(lambda: load.sent > 100, "load")
        fleet.broker.kill()
        mine = [process for process in fleet.processes if process.alive]
        began = time.monotonic()
        for process in mine:
            process.child.terminate()
        codes = {process.name: process.ends(DEADLINE_S + 5) for process in mine}
        took_s = time.monotonic() - began
        for process in mine:
            assert codes[process.name] == 0 or process.why(), process.text()
        print(f"signalled: {codes} in {took_s:.1f} s")  # noqa: T201 - a figure to read
        fleet.broker.start_again()
        fleet.revive()
        at = load.sent
        until(lambda: ended.extend(fleet.revive()) or load.sent > at + 50, "load again", 90)
    _all_told(fleet, load, ended)
