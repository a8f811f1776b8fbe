"""`subscribe` on a real log: where it goes on, and alerts as well as outcomes."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from events.generated.records import AlertCleared, AlertRaised
from infra.waiting import until
from tests.conftest import Fleet
from tests.integration.alerts import say_alert
from tests.integration.changes import SMALLEST
from tests.unit.turbine.lines import Ended, run
from turbine.failures import Code
from turbine_client.bookmark import BadBookmark, Bookmark
from turbine_client.publish import Accepted, Publisher
from turbine_client.subscribe import Subscriber

pytestmark = pytest.mark.broker


@pytest.fixture
def turbine(fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Runs a command that has to end with 0, with no settings but the fleet's."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TURBINE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TURBINE_BOOTSTRAP", fleet.bootstrap)

    def command(*arguments: str) -> Ended:
        ended = run(*arguments)
        assert ended.code == Code.OK, ended
        return ended

    return command


def change(fleet: Fleet, job: str, tasks: int) -> None:
    with Publisher(fleet.settings, author="ana") as publisher:
        assert isinstance(publisher.change(job, SMALLEST | {"tasks": tasks}, create=True), Accepted)


def test_a_file_keeps_the_position_and_the_next_one_goes_on(
    turbine: Callable[..., Ended], fleet: Fleet
) -> None:
    change(fleet, "kept", 2)
    change(fleet, "kept", 3)
    command = ["subscribe", "outcomes", "--job", "kept", "--resume", "position", "-o", "jsonl"]
    first = turbine(*command, "--from", "earliest", "--count", "1")
    assert json.loads(first.out)["body"]["version"] == 1
    Path("fail.py").write_text("import sys\nsys.exit(1)\n")
    failed = run(*command, "--exec", shlex.join([sys.executable, "fail.py"]))
    assert failed.code == Code.FAILED
    assert failed.err.startswith("go on with --resume position\n")
    again = turbine(*command, "--from", "earliest", "--count", "1")  # the file goes before
    assert json.loads(again.out)["body"]["version"] == 2
    change(fleet, "kept", 4)
    third = json.loads(turbine(*command, "--kind", "JobConfigChanged", "--count", "1").out)
    assert (third["kind"], third["body"]["version"]) == ("JobConfigChanged", 3)


def test_a_file_of_another_topic_or_log_is_refused(
    turbine: Callable[..., Ended], fleet: Fleet
) -> None:
    change(fleet, "elsewhere", 2)
    turbine("subscribe", "outcomes", "--from", "earliest", "--count", "1", "--resume", "position")
    ended = run("subscribe", "alerts", "--resume", "position")
    assert ended.code == Code.USAGE
    assert ended.sentence == (
        "--resume position: the file is about outcomes.v1/0 and not about alerts.v1; name another"
    )
    Path("position").write_text("outcomes.v1/0:99999999\n")
    ended = run("subscribe", "outcomes", "--resume", "position")
    assert ended.sentence.startswith("--resume position: outcomes.v1/0 ends at ")
    Path("position").write_text("outcomes.v1/77:1\n")
    ended = run("subscribe", "outcomes", "--resume", "position")
    assert ended.sentence.startswith("--resume position: this log has no place outcomes.v1/77")


def test_alerts_are_followed_like_outcomes(
    turbine: Callable[..., Ended], fleet: Fleet, tmp_path: Path
) -> None:
    say_alert(
        fleet.settings, AlertRaised("alerted", "lag", "warning", "it lags", "docs/runbooks/lag.md")
    )
    say_alert(fleet.settings, AlertCleared("alerted", "lag", "it does not"))
    command = ["subscribe", "alerts", "--job", "alerted", "--from", "earliest"]
    both = turbine(*command, "--count", "2", "-o", "jsonl").out.splitlines()
    assert [json.loads(one)["kind"] for one in both] == ["AlertRaised", "AlertCleared"]
    table = turbine(*command, "--count", "1", "--kind", "AlertCleared").out
    assert "AlertCleared" in table
    assert "it does not" in table
    with closing(
        Subscriber(fleet.settings, topic="alerts", start="earliest", job="alerted",
                   resume=tmp_path / "own")
    ) as one:  # fmt: skip
        until(one.poll, "the alerts")
        one.keep()
    assert Bookmark(tmp_path / "own").read() == one.positions


def test_who_keeps_the_position_amid_a_batch_gets_the_rest_of_it_again(
    fleet: Fleet, tmp_path: Path
) -> None:
    for tasks in (2, 3, 4):
        change(fleet, "halfway", tasks)

    def seen(count: int) -> list[int]:
        """The versions that so many turns of a loop show, after which it dies."""
        found = []
        with closing(
            Subscriber(fleet.settings, start="earliest", job="halfway", resume=tmp_path / "at")
        ) as one:
            for outcome in one:
                found.append(outcome.body.to_plain()["version"])
                one.keep()
                if len(found) == count:
                    return found
        raise AssertionError("a subscriber goes on and on")

    assert seen(1) + seen(2) == [1, 2, 3]
    with pytest.raises(
        BadBookmark, match=r"holds positions of something else than alerts\.v1; name"
    ):
        Subscriber(fleet.settings, topic="alerts", resume=tmp_path / "at")
    with closing(Subscriber(fleet.settings)) as one, pytest.raises(ValueError, match="no file to"):
        one.keep()
