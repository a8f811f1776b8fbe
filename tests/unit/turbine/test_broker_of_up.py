"""Which broker `turbine up` takes: its directory's own, on the port that it had or a free one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turbine.cli.fleet import _prepare_broker
from turbine_client.settings import KEPT, load_settings


class Broker:
    """Stands in for the program that keeps brokers, and for who answers at a port."""

    def __init__(self, *, answers: bool, data: int, taken: bool) -> None:
        self.kept = {"answers": answers, "data_bytes": data, "bootstrap": "127.0.0.1:20001"}
        self.taken = taken
        self.started: list[int | None] = []

    def ask(self, action: str, directory: Path, port: int | None = None) -> dict[str, Any]:
        del directory
        if action == "start":
            self.started.append(port)
            return {"bootstrap": f"127.0.0.1:{port or 20009}", "started": True}
        return self.kept

    def knock(self, _: object) -> str:
        return "" if self.taken else "Connection refused"


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize(
    ("answers", "data", "taken", "started", "bootstrap"),
    [
        (True, 1, True, [], "127.0.0.1:20001"),  # it runs
        (False, 1, True, [None], "127.0.0.1:20009"),  # its port is another's by now
        (False, 1, False, [None], "127.0.0.1:20009"),
    ],
)
def test_the_directorys_own_is_taken_or_started(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    kept: bool,
    answers: bool,
    data: int,
    taken: bool,
    started: list[int | None],
    bootstrap: str,
) -> None:
    """Whether its ports are written down, as from the second start on, or not."""
    broker = Broker(answers=answers, data=data, taken=taken)
    monkeypatch.setattr("turbine.cli.fleet.ask_broker", broker.ask)
    monkeypatch.setattr("turbine.cli.fleet.knock", broker.knock)
    if kept:
        (tmp_path / KEPT).parent.mkdir()
        (tmp_path / KEPT).write_text('{"broker": 20001, "controller": 20002}')
    found, ours = _prepare_broker(load_settings({"directory": tmp_path}, environment={}))
    assert (found.bootstrap, ours, broker.started) == (bootstrap, bool(started), started)


def test_one_that_is_named_is_taken_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = Broker(answers=False, data=1, taken=True)
    monkeypatch.setattr("turbine.cli.fleet.ask_broker", broker.ask)
    monkeypatch.setattr("turbine.cli.fleet.knock", broker.knock)
    said = {"TURBINE_BOOTSTRAP": "127.0.0.1:20005"}
    settings = load_settings({"directory": tmp_path}, environment=said)
    assert _prepare_broker(settings) == (settings, False)
    assert broker.started == []
