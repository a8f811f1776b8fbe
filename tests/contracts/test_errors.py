"""The error tree: each exception of the product is of one of its kinds, or a signal with a reason.

Files are read, not imported: no part of the product has to be installed to be held to the rule.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

import turbine_client
from turbine.failures import ENDINGS, Failed, ending_of
from turbine_client import Api, Publisher, Subscriber
from turbine_client.errors import BadRequest, Corrupt, TurbineError, Unavailable

ROOT = Path(__file__).parents[2]
ROOMS = {"client/turbine_client": "turbine_client"} | {
    room: room
    for room in ("components", "events", "projections", "spark_streaming", "tasks", "turbine")
}
TREE = "turbine_client.errors."
KINDS = {TREE + kind.__name__ for kind in (BadRequest, Unavailable, Corrupt)}

SIGNALS = {
    "components.auto_scaler.core.evaluation.NoVerdict": "becomes a verdict that says why",
    "spark_streaming.sink.Closed": "stops a batch in the middle; whoever stopped the task waits",
    "tasks.session.Over": "carries the verdict on a run to the record that tells it",
    "turbine.api.desk.NotModified": "ends a request with 304: the asker has the answer",
    "turbine.api.problems.RequestRefused": "ends a request with its problem, as Failed a command",
    "turbine.cli.options.NotElsewhere": "sends a line back to be run where it was typed",
    "turbine.cli.remote.RemoteUnanswered": "has a line run here instead of by an API",
    "turbine.contract.registry.RegistryRefusal": "ends a request by the registry's own protocol",
    "turbine.story.stage.NotAsTold": "ends the story at the step that came otherwise",
}
"""Exceptions that are no errors: one caller raises, one catches, and no kind says what helps."""
OWN = {
    TREE + "TurbineError": "is the root",
    "turbine.failures.Failed": "has an exit code of its own",
    "turbine_client.api.ApiProblem": "has a status of its own; its children have their kinds",
}
"""Those of the tree that have no kind themselves."""

Bases = Mapping[str, tuple[str, ...]]


def bases_in(source: str, module: str) -> dict[str, tuple[str, ...]]:
    """The classes of a module, each with the full names of its bases."""
    tree = ast.parse(source)
    homes = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    homes |= {node.name: f"{module}.{node.name}" for node in classes}
    return {
        f"{module}.{node.name}": tuple(
            homes.get(base.id, base.id) for base in node.bases if isinstance(base, ast.Name)
        )
        for node in classes
    }


def above(name: str, bases: Bases) -> set[str]:
    """A class and all above it."""
    return {name}.union(*(above(base, bases) for base in bases.get(name, ())))


def misplaced(bases: Bases, reasons: Iterable[str]) -> list[str]:
    """What breaks the rule of the tree, in sentences."""
    found, reasons = [], set(reasons)
    for name in sorted(bases):
        family = above(name, bases)
        if not any(is_exception(one) for one in family):
            continue
        kinds = len(family & KINDS)
        if name in reasons and kinds:
            found.append(f"{name} has a kind; take it out of the list")
        elif name not in reasons and kinds != 1:
            found.append(f"{name} is of {kinds} kinds; let it inherit from one of errors.py")
    return found + [f"{name} is not there; take it out" for name in sorted(reasons - set(bases))]


def is_exception(name: str) -> bool:
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, BaseException)


@pytest.fixture(scope="module")
def product() -> Bases:
    found = dict[str, tuple[str, ...]]()
    for folder, package in ROOMS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            found |= bases_in(path.read_text(), ".".join((package, *parts)))
    return found


def test_every_exception_has_one_kind_or_a_reason(product: Bases) -> None:
    assert misplaced(product, [*SIGNALS, *OWN]) == []


def test_the_tree_has_the_errors_that_everybody_meets(product: Bases) -> None:
    """So that the rule is not kept because nothing was read."""
    assert TREE + "BadRequest" in above("turbine_client.settings.BadSettings", product)
    assert TREE + "Unavailable" in above("turbine_client.errors.LoginRefused", product)
    assert TREE + "Corrupt" in above("turbine.read.sources.log_lines.BadFile", product)


@pytest.mark.parametrize(
    ("body", "reasons", "complaint"),
    [
        ("class Bad(ValueError): ...", [], "m.Bad is of 0 kinds; let it inherit from one"),
        ("class A(OSError): ...\nclass B(A): ...", ["m.A"], "m.B is of 0 kinds"),
        ("class Bad(TurbineError): ...", [], "m.Bad is of 0 kinds"),
        ("class Both(BadRequest, Corrupt): ...", [], "m.Both is of 2 kinds"),
        ("class Bad(BadRequest): ...", ["m.Bad"], "m.Bad has a kind; take it out of the list"),
        ("class Fine(BadRequest, ValueError): ...\nclass Row: ...", [], ""),
        ("class Signal(Exception): ...", ["m.Signal"], ""),
        ("", ["m.Gone"], "m.Gone is not there; take it out"),
    ],
)
def test_what_is_misplaced_is_seen(body: str, reasons: list[str], complaint: str) -> None:
    tree = dict.fromkeys(KINDS, (TREE + "TurbineError",)) | {TREE + "TurbineError": ("Exception",)}
    source = f"from {TREE[:-1]} import BadRequest, Corrupt, TurbineError\n{body}"
    found = misplaced(tree | bases_in(source, "m"), [*reasons, TREE + "TurbineError"])
    assert [one[: len(complaint)] for one in found] == [complaint] * bool(complaint)


def test_every_kind_has_its_ending() -> None:
    assert set(TurbineError.__subclasses__()) >= {BadRequest, Unavailable, Corrupt, Failed}
    for kind in (BadRequest, Unavailable, Corrupt):
        assert ending_of(kind("x")) is ENDINGS[kind]


def test_the_clients_page_names_what_each_call_raises() -> None:
    """Every public call, and every error that the client exports and has a kind."""
    page = (ROOT / "client" / "README.md").read_text().partition("## Errors")[2]
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("| `")]
    calls = {word.removesuffix("(…)") for row in rows for word in re.findall(r"`([^`]+)`", row[0])}
    for one in (Publisher, Subscriber, Api):
        public = {name for name in vars(one) if not name.startswith("_")} - {"close", "positions"}
        assert {one.__name__, *public} <= calls, one
    exported = {name: getattr(turbine_client, name) for name in turbine_client.__all__}
    for kind, column in ((BadRequest, 1), (Unavailable, 2), (Corrupt, 3)):
        told = {word for row in rows for word in re.findall(r"`(\w+)`", row[column])}
        ours = {
            name
            for name, one in exported.items()
            if isinstance(one, type) and issubclass(one, kind) and one is not kind
        }
        assert told == ours
