"""What arguments become, and the sentence about each that cannot be filled in."""

from __future__ import annotations

import pytest

from components.task_service.core.substitution import ARGUMENT_CHARS, KNOWN, Unfit, substitute

VALUES = {"job": "clicks", "task": "3", "package.version": "1.4.2", "odd": "${job} $$ $(rm) ; x"}


def filled(argument: str) -> str:
    found = substitute([argument], VALUES)
    assert isinstance(found, tuple), str(found)
    [one] = found
    return one


def refused(*arguments: str, **more: str) -> Unfit:
    found = substitute(arguments, VALUES | more)
    assert isinstance(found, Unfit)
    return found


@pytest.mark.parametrize(
    ("argument", "becomes"),
    [
        ("", ""),
        ("--tasks", "--tasks"),
        ("${job}", "clicks"),
        ("--id=${job}/${task}", "--id=clicks/3"),
        ("${package.version}", "1.4.2"),
        ("${job}${job}", "clicksclicks"),
        # What a value holds is text: it is neither filled in nor split.
        ("[${odd}]", "[${job} $$ $(rm) ; x]"),
    ],
)
def test_names_become_values(argument: str, becomes: str) -> None:
    assert filled(argument) == becomes


@pytest.mark.parametrize(
    ("argument", "becomes"),
    [
        ("$$", "$"),
        ("$$$$", "$$"),
        ("$${job}", "${job}"),
        ("$$$${job}", "$${job}"),
        ("$$${job}", "$clicks"),
        ("$$job", "$job"),
    ],
)
def test_two_dollars_are_one(argument: str, becomes: str) -> None:
    assert filled(argument) == becomes


@pytest.mark.parametrize(
    "argument",
    [
        "$",
        "^a+$",
        "$.path",
        "$job",
        "$(rm -rf /)",
        "`id`; id | id && id > x",
        "{{job}} {job} %(job)s $ {job}",
        "../..",
        "\uff04{job} \u0440${",
        "~ * ? [a]\n\t\\",
    ],
)
def test_nothing_else_means_anything(argument: str) -> None:
    text = argument.replace("${", "{")
    assert filled(text) == text


@pytest.mark.parametrize(
    ("argument", "name", "explanation"),
    [
        ("${jbo}", "jbo", '"${jbo}" is not known, perhaps ${job}; known are *'),
        ("${JOB}", "JOB", '"${JOB}" is not known; known are *'),
        ("${}", "", '"${}" is not known; known are *'),
        ("${ job }", " job ", '"${ job }" is not known, perhaps ${job}; known are *'),
        ("${job:-x}", "job:-x", '"${job:-x}" is not known*'),
        ("a ${zzzz} b", "zzzz", '"${zzzz}" is not known; known are job, task, *'),
        # A letter of another script that looks the same.
        ("${j\u043eb}", "j\u043eb", '"${j\u043eb}" is not known*'),
        ("${", "", '${ must be followed by a name and }, found ""*'),
        ("x${job", "job", '${ must be followed by a name and }, found "job"*'),
        ("${a${job}}", "a${job}}", '${ must be followed by a name and }, found "a${job}}"*'),
        ("${a$$}", "a$$}", '${ must be followed by a name and }, found "a$$}"*'),
        ("${\x1b[2J}", "\x1b[2J", '"${\\u001b[2J}" is not known*'),
    ],
)
def test_what_is_not_known_is_told(argument: str, name: str, explanation: str) -> None:
    found = refused("fine", argument, "${alsobad}")
    assert (found.argument, found.name, found.known) == (1, name, tuple(VALUES))
    told = str(found)
    assert told.startswith("arguments.1: " + explanation.rstrip("*"))
    assert explanation.endswith("*") or told.endswith(explanation)
    assert told.endswith("; write $${ for the characters themselves")


def test_the_sentence_stays_short() -> None:
    many = {f"input.{at}.topic": "t" for at in range(1000)}
    told = str(refused("${" + "x" * 4000 + "}", **many))
    assert len(told) < 600
    assert "known are job, task, package.version, odd, input.0.topic, " in told
    assert "input.15.topic …; write" in told


def test_an_argument_may_be_as_long_as_in_the_config() -> None:
    assert len(filled("x" * (ARGUMENT_CHARS - 6) + "${job}")) == ARGUMENT_CHARS
    found = refused("", "x" * (ARGUMENT_CHARS - 5) + "${job}")
    assert str(found) == (
        "arguments.1: has 4097 characters once it is filled in, and may have 4096; shorten it or"
        " make it two"
    )
    assert found.argument == 1


def test_a_flood_is_counted_and_never_built() -> None:
    found = refused("${big}" * 600, big="x" * 10**6)
    assert "has 600000000 characters" in str(found)


def test_every_known_name_is_described() -> None:
    assert all(len(doc) > 10 for doc in KNOWN.values())
