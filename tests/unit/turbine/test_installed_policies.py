"""A scaling policy of another distribution: it sizes a job, is audited, and is missed by name."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from components.auto_scaler.core.catalogue import POLICIES, BadPolicy, install
from components.auto_scaler.core.verdict import ScalingVerdict
from events.generated.records import (
    JobConfigChanged,
    JobConfigRejected,
    ScalingDecided,
    ScalingDeclined,
)
from events.job_config.config import Invalid, JobConfig, validate_config
from events.job_config.policies.settings import PolicySettings
from events.job_config.policies.table import BUILT_IN
from events.job_config.text import config_of, proposed
from projections.scaling.actions import JobSize
from tests.kit.steps import (
    MISSING,
    STEPS,
    audited,
    counts_of,
    distribution,
    forget,
    played,
    run,
)
from tests.unit.auto_scaler.desk import Desk
from tests.unit.events.test_config import SMALLEST
from tests.unit.job_service.desk import Desk as JobDesk
from tests.unit.turbine.lines import NOWHERE
from turbine.failures import Code
from turbine.installed import add_policies
from turbine.read.sources.log import Log
from turbine.read.sources.log_file import LogFile


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The distribution is on the path of this process, which has found it."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(distribution(folder)))
    forget()
    assert add_policies() == ()
    yield folder
    forget()


def newer(folder: Path) -> Path:
    """The same distribution with the policy's next version."""
    folder.mkdir()
    module = distribution(folder) / "steps.py"
    module.write_text(module.read_text().replace("ClassVar[int] = 1", "ClassVar[int] = 2"))
    return folder


def bodies(path: Path) -> list[Any]:
    """Of all that was decided about jobs."""
    return [one.read.record.body for one in Log(source=LogFile(path)).decisions()]


def refused() -> str:
    """Of a request that was refused for something else, and here for its policy."""
    return (
        "which policies were installed where it was made is not in the log; here they are"
        f" {', '.join(BUILT_IN)}"
    )


# --- a fleet that uses it


def test_its_decisions_are_made_again_where_it_is_installed_and_told_as_such_where_not(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = played(tmp_path / "log.jsonl.gz", monkeypatch)
    said = [
        one
        for one in bodies(log)
        if isinstance(one, ScalingDecided | ScalingDeclined) and one.policy == "steps"
    ]
    assert any(isinstance(one, ScalingDecided) for one in said)
    logics = {json.loads(one.evidence_json).get("policy_logic") for one in said}
    assert "steps/1" in logics

    code, found = audited(installed, "--log", str(log))
    assert (code, found["differences"], found["not_checkable"]) == (Code.OK, [], [])
    assert counts_of(found, "auto-scaler")["same"] >= len(said)

    code, found = audited(newer(tmp_path / "newer"), "--log", str(log))
    assert (code, found["differences"]) == (Code.OK, [])
    assert {one["sentence"] for one in found["not_checkable"]} == {
        "made with steps/1, and steps/2 is installed here"
    }

    code, found = audited(None, "--log", str(log))
    assert found["differences"] == []
    assert code == Code.OK
    told = {(one["component"], one["sentence"]): one["count"] for one in found["not_checkable"]}
    assert told.keys() - {("job-service", refused())} == {
        ("auto-scaler", MISSING),
        ("job-service", MISSING),
    }
    assert told["auto-scaler", MISSING] == counts_of(found, "auto-scaler")["not_checkable"] > 0
    assert counts_of(found, "task-service")["not_checkable"] == 0, "lists do not rest on it"


# --- what a config may say of it


def test_a_config_may_choose_it_where_it_is_installed(installed: Path) -> None:
    config = validate_config({**SMALLEST, **STEPS})
    assert isinstance(config, JobConfig), str(config)
    assert config.policy.settings == {"busy_most": 0.7}
    wrong = validate_config({**SMALLEST, "policy": {"name": "steps", "settings": {"busy_most": 2}}})
    assert str(wrong) == "policy.settings.busy_most: expected a number from 0.1 to 1, found 2"
    code, out, err = run("describe", "policy", "steps", "-o", "json", site=installed)
    assert (code, err) == (Code.OK, "")
    assert [row["setting"] for row in json.loads(out)["settings"]] == ["busy_most", "busy_least"]


def test_where_it_is_not_one_sentence_names_those_there_are() -> None:
    known = ", ".join(BUILT_IN)
    wrong = validate_config({**SMALLEST, **STEPS})
    assert isinstance(wrong, Invalid)
    assert str(wrong) == f'policy.name: expected one of {known}, found "steps"'
    code, _, err = run("backtest", "--scenario", "spike", "--policy", "steps")
    assert code == Code.USAGE
    assert err == f"turbine: --policy: there is no policy 'steps'; use one of {known}\n"


def test_a_config_that_stood_is_read_without_it_and_one_that_is_proposed_is_not() -> None:
    stood = validate_config({**SMALLEST, **STEPS}, stood=True)
    assert isinstance(stood, JobConfig)
    text = json.dumps({**SMALLEST, **STEPS})
    assert config_of(text) == stood
    assert isinstance(proposed(text), Invalid)
    paused = json.dumps({**SMALLEST, **STEPS, "paused": True})
    assert isinstance(proposed(paused, text), JobConfig), "it stands already"
    other = json.dumps({**SMALLEST, "policy": {"name": "steps", "settings": {"busy_most": 0.9}}})
    assert isinstance(proposed(other, text), Invalid)
    bad = {**SMALLEST, "policy": {"name": "turbine", "settings": {"margin": 7}}}
    assert isinstance(validate_config(bad, stood=True), Invalid), "these every installation has"
    for name in (5, "", "../a", None):
        wrong = validate_config({**SMALLEST, "policy": {"name": name}}, stood=True)
        assert isinstance(wrong, Invalid)


def test_a_job_whose_policy_is_gone_can_be_paused_and_given_another(installed: Path) -> None:
    desk = JobDesk()
    chosen = {"policy": {"name": "steps"}}
    assert isinstance(desk.ask("base", expected_version=1, set_=chosen), JobConfigChanged)
    forget()
    sys.path.remove(str(installed))
    assert add_policies() == ()
    another = {"policy": {"name": "turbine", "settings": {}}}
    later = desk.now_ms + 60_000
    said = desk.ask("oncall", expected_version=0, set_={"paused": True}, expires_ms=later)
    assert isinstance(said, JobConfigChanged), said
    said = desk.ask("oncall", expected_version=1, set_=another, expires_ms=later)
    assert isinstance(said, JobConfigChanged), said
    said = desk.ask("base", expected_version=2, set_={"policy": {"settings": {"busy_most": 0.9}}})
    assert isinstance(said, JobConfigRejected)


# --- the laboratory


def test_it_is_back_tested(installed: Path) -> None:
    line = ("backtest", "--scenario", "spike", "--policy", "steps", "-o", "json")
    code, out, err = run(*line, "--set", "busy_most=0.9", site=installed)
    assert (code, err) == (Code.OK, "")
    found = json.loads(out)
    assert found["policy"] == {
        "name": "steps",
        "version": 1,
        "settings": {"busy_most": 0.9, "busy_least": 0.3},
    }
    assert found["actions"], "it changed the job"


# --- what cannot be used


UNUSABLE = {
    "steps = steps:Nothing": "it cannot be imported (AttributeError: *)",
    "steps = steps:StepsSettings": "it does not derive from turbine.policies.ScalingPolicy*",
    "steps = steps:ScalingPolicy": "it does not derive from turbine.policies.ScalingPolicy*",
}


@pytest.mark.parametrize("points", UNUSABLE)
def test_what_is_no_policy_is_told_and_stops_who_decides(points: str, tmp_path: Path) -> None:
    distribution(tmp_path, points=points)
    said = re.escape(
        f"turbine: policy steps of steps-policy: {UNUSABLE[points]}; mend it, or uninstall"
        " steps-policy\n"
    ).replace(r"\*", ".*")
    code, _, err = run("describe", "policy", "keda", site=tmp_path)
    assert code == Code.OK
    assert re.fullmatch(said, err), err
    nowhere = ("job-service", "--bootstrap", NOWHERE)
    code, _, err = run(*nowhere, module="turbine.serve", site=tmp_path)
    assert code == Code.USAGE
    assert re.fullmatch(said, err), err


BENT = {
    'name: ClassVar[str] = "Steps!"': "its name is 'Steps!', and has to be up to 32 of a-z, 0-9*",
    'name: ClassVar[str] = "keda"': "there is a policy keda of Turbine already; give yours another",
    "model: ClassVar[type] = int": "the model of policy steps does not derive from *PolicySettings",
    "version: ClassVar[int] = 0": "the version of policy steps is 0, and has to be 1 or more",
}


@pytest.mark.parametrize("line", BENT)
def test_a_class_that_lacks_something_is_refused_with_what_it_lacks(
    line: str, installed: Path
) -> None:
    steps = POLICIES.pop("steps")
    name, _, value = line.partition(": ")
    bent = type("Bent", (steps,), {name: eval(value.partition(" = ")[2])})  # noqa: S307 - above
    with pytest.raises(BadPolicy) as refused:
        install(bent)
    assert re.match(re.escape(BENT[line]).replace(r"\*", ".*"), str(refused.value))


def test_a_setting_without_a_default_or_a_description_is_refused(installed: Path) -> None:
    class Bare(PolicySettings):
        limit: int = 5

    class Needed(PolicySettings):
        limit: int = Field(description="of something")

    for model, lacks in ((Bare, "description"), (Needed, "default")):
        with pytest.raises(BadPolicy, match=f"setting limit of policy other has no {lacks}"):
            install(type("Other", (POLICIES["steps"],), {"name": "other", "model": model}))


# --- what it does wrong


def test_its_faults_are_those_of_its_jobs_alone(installed: Path) -> None:
    for does, said in FAULTS.items():
        forget()
        add_policies()
        bent = type("Bent", (POLICIES.pop("steps"),), {"resolve": does})
        install(bent)
        desk = Desk().runs(policy={"name": "steps"})
        desk.minutes(3, 4_000.0, busy_share=0.95)
        declined = desk.last(ScalingDeclined)
        assert (declined.reason, declined.symptom) == ("policy-failed", "blind")
        assert said in declined.explanation


def raises(*_: object) -> Any:
    raise KeyError("x")


def answers(_: object, memory: Any, *__: object) -> Any:
    return memory, "up"


def wants(size: Any) -> Any:
    return lambda _, memory, *__: (memory, ScalingVerdict("scale-up", "s", "d", "e", 1, size))


FAULTS = {
    raises: "it raised KeyError",
    answers: "it answered with str, and not with a ScalingVerdict",
    wants(JobSize(0, 1, 1.0, 512)): "its size have to be whole numbers above 0",
    wants(JobSize(2**31, 1, 1.0, 512)): "its size have to be whole numbers above 0",
    wants(JobSize(2, 1, float("nan"), 512)): "its cores of a task have to be above 0",
}


def test_a_job_whose_policy_is_gone_stays_as_it_is_and_that_is_told() -> None:
    desk = Desk().runs(policy={"name": "steps"})
    desk.minutes(3, 4_000.0, busy_share=0.95)
    declined = desk.last(ScalingDeclined)
    assert (declined.reason, declined.action) == ("policy-missing", "stay")
    assert declined.explanation.startswith("there is no policy 'steps'; use one of turbine, ")
    assert declined.explanation.endswith(
        "install it where the auto scaler runs, or choose another policy"
    )
