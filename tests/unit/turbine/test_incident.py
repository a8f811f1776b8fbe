"""Incidents as tests: what was decided is decided again, and another logic is caught."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.turbine import logs
from tests.unit.turbine.lines import run
from turbine.failures import Code
from turbine.ops.incident import NoIncident, write_test
from turbine.read.sources.log import Log
from turbine.read.sources.log_file import LogFile

ROOT = Path(__file__).parents[3]
SPITEFUL = """
from dataclasses import replace

import turbine.ops.incident

def spiteful(one):
    '''Decides as it did, but for the numbers in what it says.'''
    def decide(row, now_ms):
        for body in one.decide(row, now_ms):
            yield replace(body, explanation="no reason") if hasattr(body, "explanation") else body
    return replace(one, decide=decide)

turbine.ops.incident.NEWEST = tuple(spiteful(one) for one in turbine.ops.incident.NEWEST)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return logs.write(tmp_path_factory.mktemp("incidents") / "log.gz", logs.told())


def played(folder: Path, *, other_logic: bool = False) -> subprocess.CompletedProcess[str]:
    """What pytest says of the tests there, in a process of its own."""
    (folder / "conftest.py").write_text(SPITEFUL if other_logic else "")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        cwd=folder,
    )


def test_an_incident_is_a_test_that_passes_and_that_another_logic_fails(
    path: Path, tmp_path: Path
) -> None:
    log = Log(source=LogFile(path))
    [decision] = [
        one.read.record
        for one in log.decisions(job="clicks")
        if one.stands and one.read.record.kind == "ScalingDecided"
    ][:1]
    written = tmp_path / "test_clicks.py"
    ended = run(
        "--log", str(path), "log", "export", "--as-test", str(written), "--job", "clicks",
        "--decision", decision.id,
    )  # fmt: skip
    assert (ended.code, ended.out) == (Code.OK, "")
    assert ended.err == (
        f"ScalingDecided {decision.id} written as {written}, with its records in"
        f" {tmp_path / 'test_clicks.log.gz'}; run `pytest {written}`\n"
    )
    good = played(tmp_path)
    assert (good.returncode, "1 passed" in good.stdout) == (0, True), good.stdout
    bad = played(tmp_path, other_logic=True)
    assert (bad.returncode, "1 failed" in bad.stdout) == (1, True), bad.stdout
    assert "no reason" in bad.stdout
    # Without its records, too, it says what is the matter.
    (tmp_path / "test_clicks.log.gz").unlink()
    assert "there is no file" in played(tmp_path).stdout


def test_every_decision_that_stands_can_be_written_out(path: Path, tmp_path: Path) -> None:
    """The test's own text: Python that names what was decided, and no record too many."""
    log = Log(source=LogFile(path))
    written = 0
    for number, one in enumerate(log.decisions()):
        record = one.read.record
        test, beside = tmp_path / f"test_{number}.py", tmp_path / f"test_{number}.log.gz"
        if not one.stands:
            continue
        kind = write_test(log, record.key, record.id, test, beside)
        assert kind == f"{record.kind} {record.id}"
        names = {
            target.id: ast.literal_eval(node.value)
            for node in ast.walk(ast.parse(test.read_text(encoding="utf-8")))
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name) and target.id == "DECIDED"
        }
        assert record.body is not None
        assert names["DECIDED"] == record.body.to_plain()
        found = LogFile(beside)
        assert all(
            message.offset < record.evidence[message.place]
            for poll in found.spans(dict.fromkeys(found.head.ends, (0, None)))
            for message in poll
        )
        written += 1
    assert written > 50


def test_a_decision_that_this_build_does_not_make_is_refused(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from turbine.ops import incident

    log = Log(source=LogFile(path))
    test, beside = tmp_path / "test_x.py", tmp_path / "test_x.log.gz"
    mute = tuple(replace(one, decide=lambda *_: iter(())) for one in incident.NEWEST)
    monkeypatch.setattr(incident, "NEWEST", mute)
    with pytest.raises(NoIncident, match="comes out otherwise in this build, so its test would"):
        write_test(log, "clicks", None, test, beside)
    other = tuple(replace(one, logic="another/9") for one in incident.NEWEST)
    monkeypatch.setattr(incident, "NEWEST", other)
    with pytest.raises(NoIncident, match="which this build does not run; use the build that does"):
        write_test(log, "clicks", None, test, beside)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_stays(path: Path, tmp_path: Path) -> None:
    for name in ("test_x.py", "test_x.log.gz"):
        (tmp_path / name).write_text("mine")
        ended = run(
            "--log", str(path), "log", "export", "--as-test", str(tmp_path / "test_x.py"),
            "--job", "clicks",
        )  # fmt: skip
        assert ended.code == Code.USAGE
        assert ended.sentence.startswith(f"{tmp_path / name} is there already")
        (tmp_path / name).unlink()
