"""The contract as AsyncAPI's own parser reads it, with the official schemas of all its parts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from events.generated.records import RECORDS
from events.topics import TOPICS
from tests.foreign.node import LOCK, fetch, run_script
from turbine.contract.document import FILE, document

Spoil = Callable[[dict[str, Any]], object]


def parsed(contract: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(run_script("parse_contract.mjs", contract))
    return told


def test_the_official_parser_finds_nothing_wrong_and_all_that_is_there() -> None:
    told = parsed(FILE.read_text())
    assert told["wrong"] == []
    shown = [topic.name for topic in TOPICS if topic.kind != "rows"]
    assert told["channels"] == sorted(shown)
    assert len(told["operations"]) == len(shown)
    assert set(told["messages"]) == {f"turbine.{kind}" for kind in RECORDS} | {"DeadLetter"}


def _in_a_binding(contract: dict[str, Any]) -> None:
    contract["channels"]["journal.v1"]["bindings"]["kafka"]["partitions"] = 0


def _in_a_schema(contract: dict[str, Any]) -> None:
    contract["components"]["schemas"]["JobDeleted"]["schema"]["type"] = "recrod"


def _in_a_reference(contract: dict[str, Any]) -> None:
    contract["operations"]["send.journal.v1"]["channel"]["$ref"] = "#/channels/nope"


@pytest.mark.parametrize("spoil", [_in_a_binding, _in_a_schema, _in_a_reference])
def test_it_does_find_what_is_wrong(spoil: Spoil) -> None:
    contract = document()
    spoil(contract)
    assert parsed(json.dumps(contract))["wrong"] != []


def test_without_node_it_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(LOCK, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch(tmp_path).startswith("there is no Node with npm on this machine; install it")
