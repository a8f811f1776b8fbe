"""`turbine check` without Spark: what is found before it, and that nothing it asks can keep it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.runtime.process.local import LocalFailed
from tests.unit.turbine.lines import run
from turbine.failures import Code
from turbine.ops.checked import ConfigMistake, FirstTask, trial_of, try_all

JOB = {
    "operator": "clicks.count:run",
    "inputs": [{"topic": "clicks", "format": "json"}, {"topic": "views", "partitions": 4}],
    "package": {"name": "clicks", "version": "1"},
    "checkpoint": {"root": "/checkpoints"},
    "arguments": ["--task", "${task}"],
    "tasks": 2,
}

# Answers as the real one does, at once; what it does with a job stands in the job's name.
FAKE = """
import json, os, sys, time
jobs = json.load(sys.stdin)["jobs"]
if any(job["job"] == "unready" for job in jobs):
    sys.stderr.write("noise\\nturbine: there is no java\\nmore noise\\n"); os._exit(3)
print(json.dumps({"what": "ready"}), flush=True)
for job in jobs:
    if job["job"] == "hangs":
        time.sleep(600)
    if job["job"] == "dies":
        sys.stderr.write("it was   too much\\n"); os._exit(9)
    row = {"job": job["job"], "stateful": False, "columns": []}
    if job["job"] == "wrong":
        row = {"job": "wrong", "explanation": "no such function"}
    print(json.dumps(row), flush=True)
"""
COMMAND = (sys.executable, "-c", FAKE)


@pytest.fixture(autouse=True)
def _nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    for name in ("TURBINE_BOOTSTRAP", "TURBINE_CONFIG", "TURBINE_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    return iter(())


def trial(job: str) -> FirstTask:
    return FirstTask(job, "a:b", (), (("clicks", (0,)),), "{}")


def test_a_trial_is_what_the_first_task_would_be_told() -> None:
    found = trial_of("clicks", JOB)
    assert isinstance(found, FirstTask)
    assert (found.operator, found.argv) == ("clicks.count:run", ("--task", "0"))
    assert found.inputs == (("clicks", (0,)), ("views", (0, 2)))
    first = json.loads(found.config_json)["inputs"][0]
    assert first == {"format": "json", "topic": "clicks", "partitions": 2}
    query = trial_of("clicks", {**JOB, "operator": {"sql": "SELECT 1"}})
    assert isinstance(query, FirstTask)
    assert (query.operator, json.loads(query.config_json)["sql"]) == ("sql", "SELECT 1")


@pytest.mark.parametrize(
    ("changed", "path", "sentence"),
    [
        ({"operator": "count"}, "operator", "operator: expected a function such as"),
        ({"taks": 2}, "taks", "taks: expected "),
        (
            {"policy": {"name": "keda", "settings": {"lag_threshold": 0}}},
            "policy.settings.lag_threshold",
            "policy.settings.lag_threshold: expected a whole number from 1 to ",
        ),
        (
            {"output": {"topic": "turbine.operator.v1"}},
            "output.topic",
            "output.topic: expected a topic of your own",
        ),
        ({"arguments": ["${tsk}"]}, "arguments.0", 'arguments.0: "${tsk}" is not known, perhaps'),
    ],
)
def test_a_config_is_looked_at_first(changed: dict[str, object], path: str, sentence: str) -> None:
    found = trial_of("clicks", {**JOB, **changed})
    assert isinstance(found, ConfigMistake)
    assert found.path == path
    assert found.explanation.startswith(sentence)


def test_each_job_has_its_answer() -> None:
    found = list(try_all([trial("one"), trial("wrong"), trial("two")], {}, 30, COMMAND))
    assert [getattr(one, "explanation", "ok") for one in found] == ["ok", "no such function", "ok"]


def test_who_hangs_or_dies_costs_itself_alone() -> None:
    jobs = ["dies", "one", "hangs", "two"]
    found = list(try_all([trial(one) for one in jobs], {}, 1, COMMAND))
    assert [getattr(one, "explanation", "ok") for one in found] == [
        "the process ended (it was too much) while it was tried",
        "ok",
        "nothing came of it in 1 s while it was tried",
        "ok",
    ]


def test_without_spark_nothing_is_known() -> None:
    with pytest.raises(LocalFailed) as failed:
        list(try_all([trial("unready")], {}, 30, COMMAND))
    assert str(failed.value) == (
        "no Spark started to try the jobs in: the process ended (there is no java)"
    )


def test_a_finding_that_needs_no_spark() -> None:
    Path("job.yaml").write_text("---\njob: clicks\noperator: count\n")
    found = run("check", "job.yaml", "-o", "json")
    [row] = json.loads(found.out)
    assert (found.code, row["verdict"], row["path"]) == (Code.FAILED, "wrong", "checkpoint")
    told = run("check", "job.yaml")
    assert told.out.startswith("clicks: wrong, job.yaml, line 1: checkpoint: expected ")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("job: clicks\nset: {tasks: 4}\n", "job.yaml, line 1: `set` and `clear` change a job that"),
        ("operator: a:b\n", "job.yaml, line 1: a document begins with `job: NAME`; add it"),
        ("", "job.yaml holds no document; write `job: NAME` and its config"),
    ],
)
def test_a_wrong_file(text: str, sentence: str) -> None:
    Path("job.yaml").write_text(text)
    ended = run("check", "job.yaml")
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith(sentence)
    assert run("check", "none.yaml").code == Code.USAGE
    assert run("check", "job.yaml", "--timeout", "soon").sentence.startswith("--timeout: 'soon'")
