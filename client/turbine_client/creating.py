"""Whether a change would make a job, and which job its author may have meant. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from turbine_client.texts import printable, shorten

LISTS = "`turbine get jobs --deleted` lists all"
"""The remedy for a job that is not there."""
MAKES = "a base change creates it"
"""The end of what deciders say of one."""
REQUIRED = ("checkpoint", "inputs", "operator", "package")
"""What every job has to say, as the job service has it."""
NAME_CHARS = 128
"""Of what is compared: no job's name is longer, and comparing takes the square of it."""


def makes_a_job(set_: Mapping[str, Any]) -> bool:
    """Does it say by itself all that a job has to say? A change that does not makes none."""
    return all(set_.get(name) is not None for name in REQUIRED)


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that is most like this one; "" where none is."""
    others = sorted(one for one in names if one != name)
    return next(iter(get_close_matches(name[:NAME_CHARS], others, 1)), "")


def perhaps(name: str, names: Iterable[str]) -> str:
    """What follows a name that is not there: the one that may have been meant."""
    found = nearest(name, names)
    return f", perhaps {found}" if found else ""


def with_nearest(sentence: str, name: str, names: Iterable[str]) -> str:
    """A sentence about a job that is not there, with the name that may have been meant."""
    absent = f"there is no job {name}"
    return sentence.replace(absent, absent + perhaps(name, names), 1)


def in_words(sentence: str, name: str, names: Iterable[str]) -> str:
    """The same of a verdict, with the remedy that every command has for it: who pauses or deletes a
    job wants none made."""
    return with_nearest(sentence.replace(MAKES, LISTS), name, names)


def tier_of(set_: Mapping[str, Any]) -> str:
    """The tier that a change names; "" where it names none."""
    tier = set_.get("tier")
    return tier if isinstance(tier, str) else ""


def no_such_tier(tier: str, tiers: Collection[str]) -> str:
    """What whoever names a tier that is not there is told; "" where it is, and where there is none
    at all, as in a log that nobody has containers for yet."""
    if not tier or tier in tiers or not tiers:
        return ""
    remedy = f"`turbine tier create {tier} --shards N` makes one"
    return printable(f"tier: there is no tier {shorten(tier)}{perhaps(tier, tiers)}; {remedy}")


def not_meant(name: str) -> str:
    """What whoever did not say that a job is to be made is told."""
    return f"there is no job {name}; say `create` if one is to be made"


def unseen(name: str, why: object) -> str:
    """The same, where nobody can tell whether there is such a job."""
    return f"whether there is a job {name} cannot be seen ({why}); say `create` if it may be made"
