"""The document is true: whatever is asked by it is answered by it. Generated, bounded, the same."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.unit.turbine.api.world import TOKEN, World, world_of
from turbine.api.app import make_app
from turbine.api.desk import Desk
from turbine.api.guard import GuardRules, RequestGuard

EXAMPLES = 8
THERE = {"job": "clicks", "task": 1, "tier": "default", "container": "container-0"}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A fleet of this module's own."""
    return world_of(directory=tmp_path_factory.mktemp("views"))


def document_of(guard: RequestGuard) -> dict[str, Any]:
    """The document of the app behind a guard."""
    assert isinstance(guard.app, FastAPI)
    return guard.app.openapi()


def operations() -> list[str]:
    """Each by its method and path; a stream has no end to wait for."""
    world = make_app(Desk.__new__(Desk), GuardRules(""), page=Path("nowhere"))
    return [
        f"{method.upper()} {path}"
        for path, some in document_of(world)["paths"].items()
        for method in some
        if not path.endswith("/stream")
    ]


def hold(served: World, operation: str) -> None:
    """Asks by the document, every other time about what is there; holds the answers against it."""
    turn = count()
    method, _, path = operation.partition(" ")
    schema = schemathesis.openapi.from_dict(document_of(served.app))
    schema.app = served.app

    @given(case=schema[path][method].as_strategy())
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def asked(case: schemathesis.Case) -> None:
        if next(turn) % 2:
            case.path_parameters |= {
                name: THERE[name] for name in case.path_parameters if name in THERE
            }
        case.headers["Host"] = "127.0.0.1"
        if method != "GET":
            case.headers["Authorization"] = f"Bearer {TOKEN}"
        case.call_and_validate(base_url="http://127.0.0.1", checks=CHECKS)

    asked()


@pytest.mark.parametrize("operation", operations())
def test_an_answer_is_what_the_document_says(served: World, operation: str) -> None:
    hold(served, operation)


@pytest.mark.parametrize("told", [{}, {"jobs": "many"}])
def test_an_answer_that_is_not_would_be_found(
    served: World, told: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turbine.read.answers.fleet.totals", lambda _: told)
    with pytest.raises(FailureGroup), pytest.warns(UserWarning, match="serializer warnings"):
        hold(served, "GET /api/v1/fleet")


def test_every_operation_is_told(served: World, tmp_path: Path) -> None:
    document = document_of(served.app)
    operations = [one for some in document["paths"].values() for one in some.values()]
    assert len(operations) >= 28
    for one in operations:
        assert one["summary"]
        assert one["description"]
        for parameter in one.get("parameters", ()):
            assert parameter["schema"]
    names = [one["operationId"] for one in operations]
    assert len(names) == len(set(names))
    gets = [some["get"] for some in document["paths"].values() if "get" in some]
    atless = {"policies", "policy", "topics", "contract", "scoreboard", "stream", "task_log"}
    for one in gets:
        has_at = any(each["name"] == "at" for each in one.get("parameters", ()))
        assert has_at == (one["operationId"] not in atless), one["operationId"]
