"""What the page for strangers shows beside examples/, as it stands there, against a fleet."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from events.generated.records import AlertRaised
from events.wire.codec import encode
from infra.waiting import until
from tests.integration.alerts import say_alert
from tests.integration.changes import proposal
from tests.integration.processes import ROOT
from tests.unit.turbine.lines import run
from turbine.failures import Code

if TYPE_CHECKING:
    from tests.integration.conftest import Fleet

PAGE = (Path(__file__).parents[2] / "docs" / "contract.md").read_text()
KCAT = re.findall(r"^    (kcat (?:.*\\\n)*.*)$", PAGE, re.MULTILINE)
pytestmark = pytest.mark.broker


def kcat(fleet: Fleet, folder: Path, line: str, *more: str) -> str:
    """What a line of the page prints, with the broker of these tests."""
    words = shlex.split(line.replace("\\\n", " ").replace("127.0.0.1:9092", fleet.bootstrap))
    done = subprocess.run(
        [*words, *more], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def _kcat() -> None:
    if shutil.which("kcat") is None:
        pytest.skip("there is no kcat on this machine; install it to run this test")


@pytest.mark.usefixtures("_kcat")
def test_kcat_sends_a_change_and_shows_keys_and_headers(fleet: Fleet, tmp_path: Path) -> None:
    follow, send, _ = KCAT
    body = proposal("stranger-kcat")
    (tmp_path / "change.bin").write_bytes(encode(body))
    kcat(fleet, tmp_path, send.replace("-k clicks", "-k stranger-kcat"))

    def shown() -> bool:
        # -e leaves at the end of the topic.
        lines = kcat(fleet, tmp_path, follow, "-e").splitlines()
        told = [line for line in lines if f"ce_causationid={body.change_id}" in line]
        return (
            bool(told)
            and re.match(r"\d+:\d+ stranger-kcat ce_specversion=1.0,", told[0]) is not None
        )

    until(shown, "kcat shows the verdict", pause_s=0.5)


@pytest.mark.usefixtures("_kcat")
def test_kcat_fetches_what_was_not_understood_and_the_check_says_why(
    fleet: Fleet, tmp_path: Path
) -> None:
    _, send, fetch = KCAT
    bare = encode(proposal("stranger-bare"))[5:]
    (tmp_path / "change.bin").write_bytes(bare)
    kcat(fleet, tmp_path, send.replace("-k clicks", "-k stranger-bare"))
    line, _, name = fetch.partition(" > ")

    def fetched() -> bool:
        words = shlex.split(line.replace("127.0.0.1:9092", fleet.bootstrap))
        done = subprocess.run(words, capture_output=True, timeout=60, check=True)
        (tmp_path / name).write_bytes(done.stdout)
        return done.stdout == bare

    until(fetched, "the letter is there", pause_s=0.5)
    ended = run("contract", "check", str(tmp_path / name), "--key", "stranger-bare")
    assert ended.code == Code.FINDINGS
    assert "in Avro without its prefix; put 0x00 and its schema's id" in ended.out


def test_the_subscriber_of_the_page_keeps_its_place(fleet: Fleet, tmp_path: Path) -> None:
    [program] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "alerts.py").write_text(program)
    body = AlertRaised("page-alert", "lag", "warning", "it lags", "docs/runbooks/lag.md")
    say_alert(fleet.settings, body)
    command = [sys.executable, "-u", tmp_path / "alerts.py"]
    settings = {"TURBINE_BOOTSTRAP": fleet.bootstrap, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=tmp_path, env=os.environ | settings, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        try:
            assert next(line for line in child.stdout if line.startswith("page-alert AlertRaised("))
            until((tmp_path / "position").exists, "its place is kept")
        finally:
            child.kill()
