"""The place of a container: one life at a time, and no number twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from components.task_manager.place import hold
from turbine_client.settings import BadSettings


def test_a_new_place_has_no_last_life_and_keeps_the_number_of_the_next(tmp_path: Path) -> None:
    place = hold(tmp_path / "c1", "c1")
    assert place.epoch == 0
    place.begin(7)
    os.close(place.lock)
    again = hold(tmp_path / "c1", "c1")
    assert again.epoch == 7
    os.close(again.lock)


def test_two_lives_cannot_hold_it(tmp_path: Path) -> None:
    place = hold(tmp_path, "c1")
    with pytest.raises(BadSettings, match=rf"\(process {os.getpid()}\) lives in .*; end it, or"):
        hold(tmp_path, "c1")
    os.close(place.lock)


def test_it_is_held_until_the_last_process_of_a_life_is_gone(tmp_path: Path) -> None:
    """Also where the supervisor has ended and a child of it lives."""
    code = (
        "import os, sys, time; from pathlib import Path\n"
        "from components.task_manager.place import hold\n"
        "hold(Path(sys.argv[1]), 'c1')\n"
        "child = os.fork() or time.sleep(60)\n"
        "print(child, flush=True)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.wait()
        try:
            with pytest.raises(BadSettings, match="lives in"):
                hold(tmp_path, "c1")
        finally:
            os.kill(child, signal.SIGKILL)


def test_it_belongs_to_one_container(tmp_path: Path) -> None:
    place = hold(tmp_path, "c1")
    place.begin(1)
    os.close(place.lock)
    with pytest.raises(BadSettings, match="is the place of c1; name another directory for c2"):
        hold(tmp_path, "c2")
    os.close(hold(tmp_path, "c1").lock)  # who was refused holds nothing


@pytest.mark.parametrize("text", ["", "{", "[]", '{"container": "c1"}', '{"epoch": 1}'])
def test_a_number_that_cannot_be_read_is_not_guessed(tmp_path: Path, text: str) -> None:
    (tmp_path / "life.json").write_text(text)
    with pytest.raises(BadSettings, match="cannot be read; give the container another name"):
        hold(tmp_path, "c1")


def test_a_place_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadSettings, match="cannot be used"):
        hold(tmp_path / "file", "c1")


def test_the_number_is_kept_whole(tmp_path: Path) -> None:
    place = hold(tmp_path, "c1")
    place.begin(3)
    assert json.loads((tmp_path / "life.json").read_text()) == {"container": "c1", "epoch": 3}
    assert not (tmp_path / "life.json.new").exists()
    os.close(place.lock)
