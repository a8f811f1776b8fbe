"""A file or a command line says what is wished, or is refused with the line and the remedy."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from turbine.cli.documents import LayerWish, check_paths, parse_assignments, read_wishes
from turbine.failures import Code, code_of
from turbine_client.errors import TurbineError


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def wishes(text: str) -> list[LayerWish]:
    Path("job.yaml").write_text(text)
    return read_wishes("job.yaml")


def refusal(text: str) -> str:
    with pytest.raises(TurbineError) as failed:
        wishes(text)
    assert code_of(failed.value) is Code.USAGE
    return str(failed.value)


def test_a_job_with_its_config_is_the_whole_layer() -> None:
    assert wishes("job: clicks\ntasks: 2\n") == [
        LayerWish("clicks", "job.yaml, line 1", {"tasks": 2}, whole=True)
    ]


def test_set_and_clear_change_a_part() -> None:
    assert wishes("job: clicks\nset: {tasks: 2}\nclear: [resources.memory_mb]\n") == [
        LayerWish("clicks", "job.yaml, line 1", {"tasks": 2}, ("resources.memory_mb",))
    ]
    assert wishes("job: clicks\nclear: [tasks]\n")[0].set == {}
    assert wishes("job: clicks\nset:\n")[0].clear == ()


def test_several_documents_are_several_jobs() -> None:
    found = wishes("job: a\n---\njob: b\n---\n# nothing\n")
    assert [(one.job, one.where) for one in found] == [
        ("a", "job.yaml, line 1"),
        ("b", "job.yaml, line 2"),
    ]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"job: a\n")))
    assert read_wishes("-") == [LayerWish("a", "standard input, line 1", {}, whole=True)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "job.yaml holds no document; write `job: NAME` and its config"),
        ("tasks: 2", "job.yaml, line 1: a document begins with `job: NAME`; add it"),
        ("- job: a", "job.yaml, line 1: a document begins with `job: NAME`; add it"),
        ("job: Über", 'job.yaml, line 1: "Über" is no job\'s name; use up to 128 of'),
        ("job: 7", 'job.yaml, line 1: "7" is no job\'s name'),
        (
            "job: a\n---\njob: a\n",
            "job.yaml, line 2: the job a stands at job.yaml, line 1 already; ask for each job once",
        ),
        (
            "job: a\nset: {}\ntasks: 2",
            'job.yaml, line 1: "tasks" stands beside `set` and `clear`; put it under `set`',
        ),
        ("job: a\nset: [1]", "job.yaml, line 1: `set` is a mapping of config keys; write it so"),
        ("job: a\nclear: tasks", "job.yaml, line 1: `clear` is a list of dotted paths; write it"),
        ("job: a\nclear: [7]", "job.yaml, line 1: `clear` is a list of dotted paths; write it so"),
        ('job: a\nclear: [""]', "job.yaml, line 1: clear: an empty path names nothing"),
        (
            "job: a\ntasks: 9007199254740993",
            'job.yaml, line 1: the config at "tasks" is the number 9007199254740993, beyond 2^53',
        ),
        ("job: a\ntasks: 1e999", 'job.yaml, line 1: the config at "tasks" is Infinity'),
        ("job: a\nx: " + "y" * 70_000, "job.yaml, line 1: the config has 70009 bytes and may have"),
    ],
)
def test_a_refusal_names_the_line(text: str, sentence: str) -> None:
    assert refusal(text).startswith(sentence)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(TurbineError) as failed:
        read_wishes("none.yaml")
    assert str(failed.value) == (
        "none.yaml cannot be read (No such file or directory); -f names a YAML file"
    )


def test_assignments() -> None:
    given = [
        "tasks=4",
        "resources.memory_mb=512",
        "resources.cpu_cores=0.5",
        'a\\.b="x=y"',
        "c=null",
    ]
    assert parse_assignments(given) == {
        "tasks": 4,
        "resources": {"memory_mb": 512, "cpu_cores": 0.5},
        "a.b": "x=y",
        "c": None,
    }
    assert parse_assignments(['a={"b":1}', "a.c=2"]) == {"a": {"b": 1, "c": 2}}
    assert parse_assignments([]) == {}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["tasks"], '--set "tasks": write KEY=VALUE, such as --set tasks=4'),
        (["=4"], "--set: an empty path names nothing; name a field, such as resources.memory_mb"),
        (["a=1", "a=2"], '--set "a": another --set says what stands there; keep one of them'),
        (["a=1", "a.b=2"], '--set "a.b": another --set says what stands there; keep one of them'),
        (["a.b=1", "a=2"], '--set "a": another --set says what stands there; keep one of them'),
        (["v=1.4.2"], '--set v: "1.4.2" is not JSON; for text write \'v="1.4.2"\''),
        (["v="], '--set v: "" is not JSON; for text write \'v=""\''),
        (["v=NaN"], "--set v is NaN, which is no JSON number; leave it out"),
        (['v={"a":1,"a":2}'], '--set v has the key "a" twice; keep one of the two'),
    ],
)
def test_an_assignment_that_cannot_be_read(given: list[str], sentence: str) -> None:
    with pytest.raises(TurbineError) as failed:
        parse_assignments(given)
    assert str(failed.value) == sentence


def test_paths() -> None:
    assert check_paths(["tasks", "a\\.b.c"], "--clear") == ("tasks", "a\\.b.c")
    with pytest.raises(TurbineError, match=r"--clear: the path .* has a backslash"):
        check_paths(["a\\b"], "--clear")
