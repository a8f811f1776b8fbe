"""A job is made where that is meant, and who mistypes a name reads the nearest one."""

from __future__ import annotations

from typing import Any

import pytest

from components.job_service.decide import REQUIRED
from tests.unit.turbine.decided import CLICKS
from turbine_client import creating, known_jobs
from turbine_client.creating import (
    LISTS,
    MAKES,
    makes_a_job,
    nearest,
    no_such_tier,
    not_meant,
    with_nearest,
)
from turbine_client.errors import NoTopic
from turbine_client.known_jobs import hinted, unmeant
from turbine_client.settings import Settings
from turbine_client.verdicts import Rejected, Unknown


class Shelf:
    """Stands in for a Journal."""

    def __init__(self, _: Settings) -> None:
        pass

    def living(self, job: str | None = None) -> set[str]:
        return {"clicks"} if job in (None, "clicks") else set()


@pytest.fixture
def journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turbine_client.known_jobs.Journal", Shelf)


@pytest.fixture
def no_right(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Settings) -> None:
        raise NoTopic("you may not read it")

    monkeypatch.setattr("turbine_client.known_jobs.Journal", refuse)


@pytest.mark.parametrize("lacking", REQUIRED)
def test_only_what_says_all_that_a_job_has_to_say_makes_one(lacking: str) -> None:
    assert creating.REQUIRED == REQUIRED
    whole: dict[str, Any] = dict(CLICKS)
    assert makes_a_job(whole)
    assert not makes_a_job({name: one for name, one in whole.items() if name != lacking})
    assert not makes_a_job(whole | {lacking: None})


@pytest.mark.parametrize(
    ("name", "found"),
    [("clickz", "clicks"), ("clicks", "cliques"), ("x" * 100_000, ""), ("zebra", "")],
)
def test_the_nearest_name_is_another_one_or_none(name: str, found: str) -> None:
    assert nearest(name, ["orders", "cliques", "clicks"]) == found


def test_a_sentence_gets_the_name_where_it_speaks_of_the_job() -> None:
    said = with_nearest(not_meant("clickz"), "clickz", ["clicks"])
    assert said == "there is no job clickz, perhaps clicks; say `create` if one is to be made"
    assert with_nearest("too late", "clickz", ["clicks"]) == "too late"


@pytest.mark.usefixtures("journal")
def test_a_job_that_is_there_is_no_matter() -> None:
    assert unmeant(Settings(), "clicks") is None
    for name in ("nobody", "gone"):
        assert unmeant(Settings(), name) == Rejected("", name, "no-such-job", not_meant(name))


@pytest.mark.usefixtures("journal")
def test_a_verdict_about_no_job_names_the_nearest_that_lives() -> None:
    told = hinted(Settings(), Rejected("1.x", "clickz", "no-such-job", "there is no job clickz"))
    assert isinstance(told, Rejected)
    assert told.explanation == "there is no job clickz, perhaps clicks"
    asked = Rejected("1.x", "clickz", "no-such-job", f"there is no job clickz; {MAKES}")
    told = hinted(Settings(), asked)
    assert isinstance(told, Rejected)
    assert told.explanation == f"there is no job clickz, perhaps clicks; {LISTS}"
    deleted = Rejected("1.x", "gon", "no-such-job", "there is no job gon")
    assert hinted(Settings(), deleted) == deleted
    for other in (Rejected("1.x", "clickz", "stale", "late"), Unknown("1.x", "clickz", "none")):
        assert hinted(Settings(), other) is other


@pytest.mark.usefixtures("no_right")
def test_who_may_not_read_the_journal_says_so_and_loses_no_verdict() -> None:
    refused = unmeant(Settings(), "clicks")
    assert refused is not None
    assert refused.explanation == (
        "whether there is a job clicks cannot be seen (you may not read it);"
        " say `create` if it may be made"
    )
    told = Rejected("1.x", "clickz", "no-such-job", "there is no job clickz")
    assert hinted(Settings(), told) == told


class Held:
    """Stands in for a Journal with these tiers."""

    reads = 0
    names: tuple[str, ...] = ("default",)

    def __init__(self, _: Settings) -> None:
        pass

    def tiers(self) -> set[str]:
        Held.reads += 1
        return set(self.names)


def test_an_author_is_told_of_a_tier_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_jobs, "Journal", Held)
    tiers = known_jobs.KnownTiers(Settings())
    refusal = tiers.refusal("clicks", "defualt")
    assert refusal == Rejected(
        "", "clicks", "no-such-tier", no_such_tier("defualt", ["default"]), "tier"
    )
    assert tiers.refusal("clicks", "default") is None
    assert tiers.refusal("clicks", "") is None
    assert Held.reads == 1, "what is known to be there is not looked up again"
    monkeypatch.setattr(Held, "names", ("default", "defualt"))
    assert tiers.refusal("clicks", "defualt") is None, "made since"
    monkeypatch.setattr(Held, "names", ())
    assert known_jobs.KnownTiers(Settings()).refusal("clicks", "any") is None


def test_who_may_not_see_tiers_is_not_held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []

    def refuses(_: Settings) -> Held:
        looks.append(1)
        raise NoTopic("no right to read")

    monkeypatch.setattr(known_jobs, "Journal", refuses)
    tiers = known_jobs.KnownTiers(Settings())
    assert [tiers.refusal("clicks", "defualt") for _ in range(2)] == [None, None]
    assert looks == [1], "and looks once"
