"""Ids are hashes of content, and a request's id says until when it is valid."""

from __future__ import annotations

import uuid

import pytest

from turbine_client.identity import change_id, decision_id, effect_id, valid_until_ms


def test_the_id_of_a_decision_is_fixed_for_ever() -> None:
    # Another value here would give every decision of every log another id.
    assert decision_id("root", "payments", "JobDeleted", b"\0\0\0\0\1x") == (
        "ecbe606c-c4e3-5331-98d8-4fe15c0bddd7"
    )
    assert effect_id("d", "alert") == "0650100e-40db-5ef3-a6bf-f41d975eb7d8"


def test_it_is_an_ordinary_uuid_of_version_five() -> None:
    namespace = uuid.uuid5(uuid.NAMESPACE_URL, "urn:turbine:decision")
    said = "root\0JobDeleted\0" + "8\0payments" + "\0\0\0\0\1x"
    assert decision_id("root", "payments", "JobDeleted", b"\0\0\0\0\1x") == str(
        uuid.uuid5(namespace, said)
    )
    for number in range(64):  # every digit stands where the variant is
        said = f"{number}\0k\0001\0jv"
        assert decision_id(str(number), "j", "k", b"v") == str(uuid.uuid5(namespace, said))


def test_each_part_of_a_decision_matters() -> None:
    parts = [
        ("root", "payments", "JobDeleted", b"x"),
        ("other", "payments", "JobDeleted", b"x"),
        ("root", "clicks", "JobDeleted", b"x"),
        ("root", "payments", "JobConfigChanged", b"x"),
        ("root", "payments", "JobDeleted", b"y"),
        ("root", "paymentsx", "JobDeleted", b""),
        ("root", "payments", "JobDeletedx", b""),
    ]
    assert len({decision_id(*one) for one in parts}) == len(parts)


def test_what_a_decision_owes_has_ids_of_its_own() -> None:
    ids = {effect_id("a", "x"), effect_id("a", "y"), effect_id("b", "x"), effect_id("ax", "")}
    assert len(ids) == 4


def test_a_change_id_is_an_instant_and_a_token() -> None:
    assert change_id(1_763_476_000_000, "7f3a") == "1763476000000.7f3a"
    assert valid_until_ms("1763476000000.7f3a") == 1_763_476_000_000
    assert valid_until_ms("17.a.b") == 17


@pytest.mark.parametrize(
    ("until_ms", "token"),
    [(0, "a"), (-1, "a"), (10**15, "a"), (1, ""), (1, "a" * 199)],
)
def test_what_makes_no_change_id_is_refused(until_ms: int, token: str) -> None:
    with pytest.raises(ValueError, match="is no change id: give an instant in milliseconds"):
        change_id(until_ms, token)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "17",
        "17.",
        ".a",
        "-17.a",
        "+17.a",
        " 17.a",
        "1_7.a",
        "\u0661\u0667.a",
        "\u00b27.a",
        "x17.a",
        "1" * 16 + ".a",
        "17." + "a" * 198,
    ],
)
def test_an_id_that_says_no_instant_is_never_valid(text: str) -> None:
    assert valid_until_ms(text) == 0


def test_both_sides_of_the_limits() -> None:
    assert valid_until_ms("9" * 15 + ".a") == 10**15 - 1
    assert valid_until_ms("17." + "a" * 197) == 17
    assert len(change_id(17, "a" * 197)) == 200
