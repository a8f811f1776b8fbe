"""What a person reads who starts a container wrongly."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from components.task_manager.place import hold
from events.generated.records import ResourceAmount
from turbine.ops.container import CAPACITY, capacity_of, main, member_of
from turbine_client.settings import BadSettings


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("turbine: ")
    assert said.count("\n") == 1, "one sentence"
    return said


def test_a_capacity_names_resources() -> None:
    assert capacity_of("memory_bytes=64e9,cpu_cores=16") == (
        ResourceAmount("cpu_cores", 16.0),
        ResourceAmount("memory_bytes", 64e9),
    )
    assert len(capacity_of(CAPACITY)) == 2


@pytest.mark.parametrize(
    "text",
    ["", "cpu_cores", "cpu_cores=", "cpu_cores=x", "cpu_cores=0", "cpu_cores=-1", "cpu_cores=nan",
     "cpu_cores=inf", "=5", "CPU=5", "cpu_cores=1,cpu_cores=2", "cpu_cores=1,"],
)  # fmt: skip
def test_what_is_no_capacity_is_refused(text: str) -> None:
    with pytest.raises(BadSettings, match=r"is no capacity; write resources with their amounts"):
        capacity_of(text)


@pytest.mark.parametrize(
    ("name", "tier", "region", "what"),
    [
        ("C1", "default", "local", "the name of a container: 'C1'"),
        ("", "default", "local", "the name of a container: ''"),
        ("c" * 65, "default", "local", "the name of a container"),
        ("c1", "de fault", "local", "--tier: 'de fault'"),
        ("c1", "default", "-", "--region: '-'"),
    ],
)
def test_names_that_cannot_be_used_are_refused(
    name: str, tier: str, region: str, what: str
) -> None:
    with pytest.raises(BadSettings, match="cannot be used; it is up to 64 of a-z") as refused:
        member_of(name, tier, region, CAPACITY)
    assert what in str(refused.value)


def test_a_bad_start_is_one_sentence_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    place = ("--directory", str(tmp_path))
    assert "'C1' cannot be used" in refusal(capsys, "C1", *place)
    assert "'x' is no capacity" in refusal(capsys, "c1", *place, "--capacity", "x")
    assert "no module 'no.such'" in refusal(capsys, "c1", *place, "--engine", "no.such")
    assert "bootstrap is host:port" in refusal(capsys, "c1", *place, "--bootstrap", "a b")
    held = hold(tmp_path, "c1")
    assert "lives in" in refusal(capsys, "c1", *place)
    os.close(held.lock)
