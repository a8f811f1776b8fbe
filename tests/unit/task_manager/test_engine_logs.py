"""What tasks of the process engine print lies in their files, however they end."""

from __future__ import annotations

import signal
from pathlib import Path

from tasks.core.protocol import FAILED, Ended
from tasks.task_log import ENGINE, OUTPUT, PrintedLine, file_of
from tests.unit.task_manager import test_engine
from tests.unit.task_manager.test_engine import Child, unfit
from tests.unit.task_manager.test_small_parts import work
from tests.unit.task_manager.test_task_logs import lines_in

child = test_engine.child


def said(place: Path, task: int) -> list[PrintedLine]:
    return lines_in(file_of(place, work().job, task))


def test_a_task_that_prints_and_then_fails(child: Child, tmp_path: Path) -> None:
    """Two at once: each has a file of its own."""
    for task in range(2):
        child.engine.start(work()._replace(run=task + 1, task=task, config_json=f'{{"{task}'))
    child.until(lambda: len(child.events) == 2, "both end")
    for task in range(2):
        first, *printed, last = said(tmp_path, task)
        assert {one.run for one in (first, *printed, last)} == {f"{work().epoch}.{task + 1}"}
        assert first.text.startswith("starts, generation ")
        assert {one.stream for one in printed} == {OUTPUT}
        text = "\n".join(one.text for one in printed)
        assert f'"task": "orders/{task}"' in text
        assert "Traceback" in text
        assert "JSONDecodeError" in text
        assert last.stream == ENGINE
        assert last.text.startswith("failed: defect: JSONDecodeError: ")
    assert {one.how for one in child.events if isinstance(one, Ended)} == {FAILED}


def test_a_task_that_is_killed_leaves_what_it_was_ended_by(child: Child, tmp_path: Path) -> None:
    child.engine.start(work()._replace(run=5, task=3))
    child.engine.ask_loads()
    child.until(lambda: child.events, "it runs")
    child.engine.kill(5)
    child.until(lambda: len(child.events) == 2, "it ends")
    last = said(tmp_path, 3)[-1]
    assert (last.stream, last.text[:16]) == (ENGINE, "failed: killed: ")
    assert f"signal {signal.SIGKILL.value}" in last.text


def test_a_place_that_cannot_be_written_stops_no_task(child: Child, tmp_path: Path) -> None:
    (tmp_path / "tasks").write_text("a file, where the directory should be")
    child.engine.start(unfit(1))
    child.until(lambda: child.events, "it goes on")
    assert (tmp_path / "tasks").is_file()
