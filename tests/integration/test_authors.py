"""Authors hear of their changes without a publisher of outcomes, or at once that they cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from events.topics import BY_SHORT, CHANGES, OUTCOMES, TOPICS, place
from infra.kafka.directory import free_port
from infra.topics import apply_topics
from infra.waiting import until, within
from tests.integration.changes import SMALLEST
from tests.integration.processes import PARTITIONS, Fleet, fleet_on
from tests.unit.turbine.lines import run
from turbine.failures import Code
from turbine_client import reading
from turbine_client.clients import admin, producer
from turbine_client.errors import BrokerUnreachable
from turbine_client.publish import Accepted, Publisher, Rejected, Unheard, Unknown
from turbine_client.reading import ends_now, times_now
from turbine_client.settings import Settings

pytestmark = pytest.mark.broker

WAIT_S = within(60.0)
ASKED = [place(CHANGES["base"], p) for p in range(PARTITIONS)]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A clock and a job service: what is decided is told to nobody."""
    with fleet_on(tmp_path_factory.mktemp("authors")) as fleet:
        fleet.start("clock")
        fleet.worker("w0")
        yield fleet


def test_the_journal_tells_what_nobody_publishes(fleet: Fleet) -> None:
    with Publisher(fleet.settings, author="ana") as ana:
        made = ana.change("quiet", SMALLEST, create=True, wait_s=WAIT_S)
        assert isinstance(made, Accepted)
        assert (made.job, made.layer, made.version) == ("quiet", "base", 1)
        assert made.position.startswith("journal.v1/")
        refused = ana.change("quiet", {"tasks": 99}, wait_s=WAIT_S)
        assert isinstance(refused, Rejected)
        assert refused.path == "tasks"
        assert ana.ask(made.change_id, wait_s=WAIT_S) == made
        # Sent again under its id it counts once, and its verdict is not published once more.
        assert (
            ana.change("quiet", SMALLEST, create=True, change_id=made.change_id, wait_s=WAIT_S)
            == made
        )
        gone = ana.delete("quiet", reason="no longer needed", wait_s=WAIT_S)
        assert isinstance(gone, Accepted)
        assert isinstance(ana.ask("1.nobody", wait_s=0.1), Unknown)


def test_the_command_line_hears_it_too(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["publish", "change", "nobody", "--layer", "scaler", "--set", "tasks=2"]
    ended = run(*line, "--bootstrap", fleet.broker.bootstrap, "--timeout", str(WAIT_S))
    assert ended.code == Code.NOT_FOUND
    assert ended.out.startswith("nobody: rejected, no-such-job: ")


@pytest.fixture
def forsake(fleet: Fleet) -> Callable[[], None]:
    """Makes the outcomes end before what was read of them already: a log that is another one."""
    name = BY_SHORT[OUTCOMES].name
    speaker = producer(fleet.settings)
    for partition in range(PARTITIONS):
        speaker.produce(name, b"nothing that can be read", partition=partition)
    assert speaker.flush(WAIT_S) == 0

    def forsake() -> None:
        client = admin(fleet.settings)
        client.delete_topics([name])[name].result(WAIT_S)
        until(lambda: name not in client.list_topics(timeout=WAIT_S).topics, "the topic is gone")
        apply_topics({"bootstrap.servers": fleet.broker.bootstrap}, TOPICS, PARTITIONS)

    return forsake


def test_who_waits_and_who_asks_is_told_when_verdicts_cannot_be_heard(
    fleet: Fleet, forsake: Callable[[], None]
) -> None:
    with Publisher(fleet.settings, author="ana") as ana:
        pending = ana.propose("loud", SMALLEST, create=True)
        forsake()
        with pytest.raises(Unheard) as told:  # and not Unknown after the time
            pending.wait(WAIT_S)
        assert str(told.value).startswith("no verdict can be heard any more: outcomes.v1/"), (
            told.value
        )
        assert str(told.value).endswith(
            f"; the change may yet stand, ask a new Publisher for {pending.change_id}"
        )
        before = ends_now(fleet.settings, ASKED)
        with pytest.raises(Unheard, match="nothing was sent, make a new Publisher"):
            ana.change("loud", {"tasks": 2}, wait_s=WAIT_S)
        assert ends_now(fleet.settings, ASKED) == before


def test_a_closed_publisher_says_so(fleet: Fleet) -> None:
    ana = Publisher(fleet.settings, author="ana")
    pending = ana.propose("closed", SMALLEST, create=True)
    ana.close()
    with pytest.raises(Unheard, match="this Publisher was closed; the change may yet stand"):
        pending.wait(WAIT_S)
    with pytest.raises(Unheard, match="this Publisher was closed; nothing was sent"):
        ana.propose("closed", {"tasks": 2})


def test_a_time_is_asked_of_a_broker_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PATIENCE_S", 1.0)
    settings = Settings(bootstrap=f"127.0.0.1:{free_port()}")
    with pytest.raises(BrokerUnreachable, match=f"no broker answers at {settings.bootstrap} "):
        times_now(settings, ["journal.v1/0"], 1)


def test_a_time_is_found_in_each_place(fleet: Fleet) -> None:
    places = [place("clock.v1", 0), place(CHANGES["provisioner"], 0)]
    assert times_now(fleet.settings, places, 1) == {places[0]: 0, places[1]: 0}
    ends = ends_now(fleet.settings, places)
    late = times_now(fleet.settings, places, 1 << 50)
    assert late[places[1]] == 0
    assert late[places[0]] >= ends[places[0]]
