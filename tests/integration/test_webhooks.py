"""Webhooks on a real broker: receivers that fail, hang and restart, senders that are killed."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from components.webhooks.agents import REASON
from events.generated.records import AlertCleared, AlertRaised
from events.topics import OUTCOMES
from infra.waiting import until
from tests.integration.alerts import say_alert
from tests.integration.changes import SMALLEST
from tests.integration.hooks import Server, serving
from tests.unit.turbine.lines import run
from tests.unit.webhooks.receiver import HANG, Request, receiving
from turbine.failures import Code
from turbine.read.sources.log import Log
from turbine_client.publish import Accepted, Publisher

if TYPE_CHECKING:
    from tests.conftest import Fleet

pytestmark = pytest.mark.broker


def ask(fleet: Fleet, jobs: list[str], changes: int) -> dict[str, list[str]]:
    """That many changes of each job; the ids of their outcomes, as the log has them."""
    with Publisher(fleet.settings, author="webhooks") as publisher:
        for number in range(changes):
            pending = [
                publisher.propose(job, SMALLEST | {"tasks": number + 1}, create=True)
                for job in jobs
            ]
            for one in pending:
                assert isinstance(publisher.verdict(one), Accepted)
    return {job: outcomes(fleet, job) for job in jobs}


def outcomes(fleet: Fleet, job: str) -> list[str]:
    log = Log(fleet.settings)
    return [read.record.id for read in log.read([OUTCOMES]) if read.record.key == job]


def test_nothing_is_lost_and_order_is_kept_through_everything(fleet: Fleet, tmp_path: Path) -> None:
    jobs = [f"hooked-{name}" for name in "abc"]
    tries: Counter[str] = Counter()

    def moody(request: Request) -> int:
        """The first attempt of each hangs or fails, in turns."""
        name = request.headers["webhook-id"]
        tries[name] += 1
        if tries[name] > 1:
            return 204
        return HANG if len(tries) % 5 == 1 else 503

    with receiving(moody) as receiver:
        table = (
            f'[webhooks.moody]\nurl = "{receiver.url}"\nsecret_file = "hooks"\n'
            f'jobs = ["hooked-*"]\ntimeout_s = 1\npause_max_s = 1\n'
        )
        with serving(fleet.bootstrap, tmp_path, table) as server:
            first = ask(fleet, jobs, 2)
            until(lambda: all(receiver.told(job) == first[job] for job in jobs), "all are told")
            receiver.stop()
            ask(fleet, jobs, 1)
            until(lambda: "takes nothing" in server.said, "it is seen to be down")
            server.end(signal.SIGKILL)
            asked = ask(fleet, jobs, 1)
            receiver.start()
            server.start()
            until(lambda: all(receiver.told(job) == asked[job] for job in jobs), "the rest is told")
            assert server.end(signal.SIGTERM) == 0
    assert receiver.forged == []
    assert all(receiver.told(job) == asked[job] and asked[job] for job in jobs)


def test_what_is_refused_for_good_is_a_dead_letter_and_stops_nobody(
    fleet: Fleet, tmp_path: Path
) -> None:
    def picky(request: Request) -> int:
        return 410 if request.event["subject"] == "picked-a" else 200

    with receiving(picky) as receiver:
        table = (
            f'[webhooks.picky]\nurl = "{receiver.url}"\nsecret_file = "hooks"\n'
            f'jobs = ["picked-*"]\nkinds = ["JobConfigChanged"]\n'
        )
        with serving(fleet.bootstrap, tmp_path, table) as server:
            asked = ask(fleet, ["picked-a", "picked-b"], 1)
            until(lambda: receiver.told("picked-b"), "the other one is told")
            until(lambda: given_up(fleet, "picky"), "the letter is there")
            assert server.end(signal.SIGTERM) == 0
    [sentence] = given_up(fleet, "picky")
    assert "the webhook picky at http://127.0.0.1:" in sentence
    assert f"did not take JobConfigChanged {asked['picked-a'][0]}, asked once" in sentence
    assert "the last time: 410 Gone; put the receiver right, then" in sentence
    assert receiver.told("picked-b") == asked["picked-b"]


def given_up(fleet: Fleet, hook: str) -> list[str]:
    log = Log(fleet.settings)
    found = []
    for message in log.messages(["dead-letters.v1"]):
        headers = dict(message.headers or ())
        if headers.get("dead_letter_reason") == REASON.encode():
            found.append((headers["dead_letter_sentence"] or b"").decode())
    return [one for one in found if f"the webhook {hook} " in one]


def test_lists_how_far_behind_it_is_and_tells_again_what_it_is_asked_to(
    fleet: Fleet, tmp_path: Path
) -> None:
    with receiving() as receiver:
        table = (
            f'[webhooks.again]\nurl = "{receiver.url}"\nsecret_file = "hooks"\n'
            f'topics = ["outcomes"]\njobs = ["again"]\n'
        )
        with serving(fleet.bootstrap, tmp_path, table) as server:
            [first] = ask(fleet, ["again"], 1)["again"]
            until(lambda: receiver.told("again") == [first], "it is told")
            assert server.end(signal.SIGTERM) == 0
            config = ("--config", str(tmp_path / "turbine.toml"))
            [row] = json.loads(run(*config, "webhooks", "list", "-o", "json").out)
            assert (row["name"], row["at"]) == ("again", receiver.url.removesuffix("/hook"))
            assert row["behind"] == 0
            for where in ("latest", "1h ago", "outcomes.v1/0:0"):
                moved = run(*config, "webhooks", "rewind", "again", "--to", where)
                assert moved.code == Code.OK
                assert moved.out.startswith("outcomes.v1/0:")
            moved = run(*config, "webhooks", "rewind", "again", "--to", "earliest")
            assert moved.out.startswith("outcomes.v1/0:0 outcomes.v1/1:0")
            [row] = json.loads(run(*config, "webhooks", "list", "-o", "json").out)
            assert row["behind"] == len(list(Log(fleet.settings).messages([OUTCOMES])))
            server.start()
            until(lambda: len(receiver.taken) == 2, "it is told again")
            assert {one.headers["webhook-id"] for one in receiver.taken} == {first}
            ended = run(*config, "webhooks", "rewind", "agian", "--to", "earliest")
            assert ended.code == Code.NOT_FOUND
            assert ended.sentence.endswith(
                "no webhook 'agian' in the settings; it is one of: again"
            )
            ended = run(*config, "webhooks", "rewind", "again", "--to", "alerts.v1/0:0")
            assert ended.sentence.startswith("none of these positions is of a topic of again; name")


def test_a_new_one_that_dies_before_its_first_message_is_told_of_it(
    fleet: Fleet, tmp_path: Path
) -> None:
    ask(fleet, ["newly"], 1)
    with receiving() as receiver:
        table = (
            f'[webhooks.newly]\nurl = "{receiver.url}"\nsecret_file = "hooks"\njobs = ["newly"]\n'
        )
        with serving(fleet.bootstrap, tmp_path, table) as server:
            server.end(signal.SIGKILL)
            _, second = ask(fleet, ["newly"], 1)["newly"]
            server.start()
            until(lambda: receiver.told("newly") == [second], "what came meanwhile, and no more")


def test_alerts_are_told_as_well_and_to_those_who_want_them(fleet: Fleet, tmp_path: Path) -> None:
    with receiving() as receiver:
        table = (
            f'[webhooks.alerts]\nurl = "{receiver.url}"\nsecret_file = "hooks"\n'
            f'topics = ["alerts"]\njobs = ["hook-alert"]\nkinds = ["AlertRaised"]\n'
        )
        with serving(fleet.bootstrap, tmp_path, table):
            body = AlertRaised("hook-alert", "lag", "critical", "it lags", "docs/runbooks/lag.md")
            say_alert(fleet.settings, AlertCleared("hook-alert", "lag", "not yet"))
            say_alert(fleet.settings, body)
            until(lambda: receiver.taken, "the alert is told")
    [event] = [one.event for one in receiver.taken]
    assert (event["type"], event["data"]) == ("turbine.AlertRaised", body.to_plain())


def test_without_any_it_says_how_to_write_one(fleet: Fleet, tmp_path: Path) -> None:
    server = Server(fleet.bootstrap, tmp_path, "")
    server.start()
    assert server.child is not None
    assert server.child.wait(60) == Code.USAGE
    [sentence] = [line for line in server.said.splitlines() if line.startswith("turbine: ")]
    assert sentence == (
        "turbine: there are no webhooks; write [webhooks.NAME] with url and secret_file into the"
        " settings, and see docs/webhooks.md"
    )
