"""The command line on a real log: what it writes, exports, follows, audits, starts and stops."""

from __future__ import annotations

import base64
import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from components.runtime.kafka.clients import partitions_of
from events.generated.records import RECORDS
from events.topics import CHANGES, JOURNAL, place
from events.wire.framing import decode
from infra.waiting import until, within
from tests.conftest import PARTITIONS, Fleet
from tests.unit.turbine.lines import Ended, run
from turbine.failures import Code
from turbine.read.logics import AUDITED
from turbine_client.publish import Publisher, Rejected, TooLarge
from turbine_client.reading import ends_now

pytestmark = pytest.mark.broker

WAIT_S = within(60.0)
JOB = """\
job: {name}
operator: clicks.count:run
inputs: [{{topic: clicks}}]
package: {{name: clicks, version: "1"}}
checkpoint: {{root: /checkpoints}}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the machine that runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TURBINE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def turbine(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Runs a command that has to end with 0."""
    monkeypatch.setenv("TURBINE_BOOTSTRAP", fleet.bootstrap)

    def command(*arguments: str) -> Ended:
        ended = run(*arguments)
        assert ended.code == Code.OK, ended
        return ended

    return command


def create(turbine: Callable[..., Ended], name: str) -> None:
    Path(f"{name}.yaml").write_text(JOB.format(name=name))
    turbine("apply", "-f", f"{name}.yaml", "--author", "ana")


def start(*arguments: str) -> subprocess.Popen[str]:
    """A command as a process of its own, whose output can be read line by line."""
    return subprocess.Popen(
        [sys.executable, "-m", "turbine", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def line_of(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline()


# --- asking


def test_several_jobs_have_each_their_verdict(turbine: Callable[..., Ended]) -> None:
    names = [f"many-{number}" for number in range(5)]
    Path("jobs.yaml").write_text("---\n".join(JOB.format(name=name) for name in names))
    rows = json.loads(turbine("apply", "-f", "jobs.yaml", "-o", "json").out)
    assert [(row["job"], row["verdict"], row["version"]) for row in rows] == [
        (name, "accepted", 1) for name in names
    ]
    assert turbine("get", "jobs", *names, "-o", "name").out.split() == names


def test_a_change_that_nobody_waits_for_can_be_asked_about(turbine: Callable[..., Ended]) -> None:
    create(turbine, "unhurried")
    sent = turbine("publish", "change", "unhurried", "--set", "tasks=3", "--no-wait").out
    found = re.fullmatch(r"unhurried: sent \(change (\S+)\)\n", sent)
    assert found is not None
    until(lambda: run("why", found[1]).code == Code.OK, "the change has its verdict")
    assert "+ tasks: 3" in turbine("why", found[1]).out


def test_a_file_that_was_overtaken_is_stale(turbine: Callable[..., Ended]) -> None:
    create(turbine, "overtaken")
    turbine("publish", "change", "overtaken", "--set", "tasks=3")
    ended = run("apply", "-f", "overtaken.yaml", "--expected-version", "1")
    assert ended.code == Code.CONFLICT
    assert "expected version 1 of the base layer, but it is 2" in ended.out


# --- too much


@pytest.fixture
def asked(fleet: Fleet) -> Callable[[], dict[str, int]]:
    """How many records lie on the topics of changes."""
    places = [place(topic, p) for topic in CHANGES.values() for p in range(PARTITIONS)]
    return lambda: ends_now(fleet.settings, places)


PART = "job: {name}\nset: {{operator: 'a:b'}}\nclear: [{clear}]\n"
LONG = ", ".join(f"key-{number:05}" for number in range(30_000))
NO_MESSAGE = r"too-2: the value has \d{6} bytes, and 262144 are allowed; say less in one record; "


def test_no_job_of_a_file_is_asked_for_when_one_is_too_large_for_a_message(
    turbine: Callable[..., Ended], asked: Callable[[], dict[str, int]]
) -> None:
    parts = [PART.format(name="too-1", clear="a"), PART.format(name="too-2", clear=LONG)]
    Path("large.yaml").write_text("---\n".join(parts))
    before = asked()
    for line in ("apply -f large.yaml", "apply -f large.yaml --dry-run"):
        ended = run(*line.split())
        assert ended.code == Code.USAGE
        assert re.fullmatch(NO_MESSAGE + "nothing was sent", ended.sentence)
    clears = [part for number in range(30_000) for part in ("--clear", f"key-{number:05}")]
    ended = run("publish", "change", "too-2", *clears)
    assert ended.code == Code.USAGE
    assert re.fullmatch(NO_MESSAGE + "nothing was sent", ended.sentence)
    ended = run("delete", "job", "too-2", "--yes", "--reason", "x" * 300_000)
    assert ended.code == Code.USAGE
    assert re.fullmatch(NO_MESSAGE + "nothing was sent", ended.sentence)
    assert asked() == before


def test_a_config_that_no_layer_can_hold_is_not_sent(
    turbine: Callable[..., Ended], asked: Callable[[], dict[str, int]]
) -> None:
    Path("large.yaml").write_text(JOB.format(name="large") + f"args: ['{'x' * 70_000}']\n")
    before = asked()
    ended = run("apply", "-f", "large.yaml")
    assert ended.code == Code.USAGE
    assert re.fullmatch(
        r"large.yaml, line 1: the config has 70\d{3} bytes and may have 65536;"
        " make it shorter or split the change",
        ended.sentence.removeprefix("too-large: "),
    )
    assert asked() == before


def test_what_makes_a_layer_too_large_is_rejected(
    turbine: Callable[..., Ended], fleet: Fleet
) -> None:
    create(turbine, "grown")
    half = f"arguments={json.dumps(['x' * 4_000] * 10)}"
    rest = f"inputs={json.dumps([{'topic': f'clicks-{n:024}'} for n in range(650)])}"
    turbine("publish", "change", "grown", "--set", half)
    ended = run("publish", "change", "grown", "--set", rest)
    assert ended.code == Code.FAILED
    assert "grown: rejected, too-large: the base layer would be over 65536 bytes" in ended.out
    ended = run("publish", "change", "grown", "--set", half, "--set", rest)
    assert ended.code == Code.FAILED
    assert re.search("grown: rejected, .* bytes and may have 65536; make it shorter", ended.out)


def test_the_sdk_says_what_is_too_large(fleet: Fleet, asked: Callable[[], dict[str, int]]) -> None:
    with Publisher(fleet.settings, author="ana") as ana:
        before = asked()
        with pytest.raises(TooLarge, match=NO_MESSAGE + "nothing was sent"):
            ana.change("too-2", {"arguments": {"a": "x" * 300_000}}, wait_s=WAIT_S)
        assert asked() == before
        refused = ana.change("too-3", {"arguments": {"a": "x" * 70_000}}, wait_s=WAIT_S)
    assert isinstance(refused, Rejected)
    assert refused.explanation.startswith("set_json has 70")


# --- following


def test_exec_gets_the_outcome_on_its_input_and_no_shell(
    turbine: Callable[..., Ended], tmp_path: Path
) -> None:
    create(turbine, "hooked")
    evil = "$(touch pwned); `touch pwned` | touch pwned"
    turbine("publish", "change", "hooked", "--set", "tasks=3", "--reason", evil)
    save = Path("save.py")
    save.write_text("import sys\nopen('seen.jsonl', 'a').write(sys.stdin.read())\n")
    turbine(
        "subscribe", "outcomes", "--job", "hooked", "--from", "earliest", "--count", "2",
        "--exec", shlex.join([sys.executable, str(save)]),
    )  # fmt: skip
    seen = [json.loads(line) for line in Path("seen.jsonl").read_text().splitlines()]
    assert [one["body"]["version"] for one in seen] == [1, 2]
    assert seen[1]["body"]["reason"] == evil
    assert not (tmp_path / "pwned").exists()


def test_a_subscriber_goes_on_from_the_position_where_its_command_failed(
    turbine: Callable[..., Ended],
) -> None:
    create(turbine, "resumed")
    turbine("publish", "change", "resumed", "--set", "tasks=3")
    fail_on_2 = Path("fail.py")
    fail_on_2.write_text(
        "import json, sys\nsys.exit(json.load(sys.stdin)['body']['version'] == 2)\n"
    )
    failed = run(
        "subscribe", "outcomes", "--job", "resumed", "--from", "earliest",
        "--exec", shlex.join([sys.executable, str(fail_on_2)]),
    )  # fmt: skip
    assert failed.code == Code.FAILED
    [position] = re.findall(r"^go on with --from (\S+)$", failed.err, re.MULTILINE)
    again = turbine(
        "subscribe", "outcomes", "--job", "resumed", "--from", position, "--count", "1",
        "-o", "jsonl",
    )  # fmt: skip
    assert json.loads(again.out)["body"]["version"] == 2


@pytest.mark.parametrize(
    "line", ["log tail -f -n 0 --job {name}", "subscribe outcomes --job {name} --from earliest"]
)
def test_ctrl_c_ends_what_follows(turbine: Callable[..., Ended], line: str) -> None:
    name = "followed-" + line.partition(" ")[0]
    create(turbine, name)
    arguments = line.format(name=name).split()
    with start(*arguments) as child:
        if "tail" in line:  # it shows what comes after its start, so something has to come
            until(lambda: _is_seen(turbine, child, name), "a followed record")
        else:
            assert "version 1 of base by ana" in line_of(child)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=WAIT_S)
    assert child.returncode == Code.INTERRUPTED
    assert "Traceback" not in err


def _is_seen(turbine: Callable[..., Ended], child: subprocess.Popen[str], name: str) -> bool:
    turbine("publish", "change", name, "--set", f"priority={time.time_ns() % 100}")
    assert child.stdout is not None
    return bool(select.select([child.stdout], [], [], 0.2)[0]) and name in line_of(child)


def test_a_reader_that_goes_away_is_no_error_of_ours(turbine: Callable[..., Ended]) -> None:
    create(turbine, "piped")
    with start("log", "export", "--out", "-") as child:
        assert line_of(child).startswith('{"format": "turbine-log/2"')
        assert child.stdout is not None
        child.stdout.close()
        assert child.stderr is not None
        err = child.stderr.read()
    assert (child.returncode, err) == (Code.FAILED, "")


# --- the log as a whole


def test_the_log_is_counted(turbine: Callable[..., Ended], fleet: Fleet) -> None:
    create(turbine, "counted")
    rows = {row["topic"]: row for row in json.loads(turbine("log", "stats", "-o", "json").out)}
    assert {topic: row["partitions"] for topic, row in rows.items()} == partitions_of(
        fleet.settings
    )
    journal = rows[JOURNAL]
    assert journal["standing"] + journal["void"] == journal["records"]
    assert sum(journal["kinds"].values()) == journal["records"]
    assert journal["kinds"]["JobConfigChanged"] >= 1
    assert 0 < journal["first_ms"] <= journal["last_ms"]
    assert rows["clock.v1"]["kinds"].keys() == {"ClockTicked"}
    at_first = turbine("log", "stats", "--at", "2020-01-01T00:00:00Z", "-o", "json").out
    assert {row["records"] for row in json.loads(at_first)} == {0}


def test_the_log_is_exported_with_every_byte(turbine: Callable[..., Ended]) -> None:
    create(turbine, "exported")
    ended = turbine("log", "export", "--out", "log.jsonl")
    head, *rest = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
    lines = [line for line in rest if "place" in line]
    assert rest[-1]["end"]["records"] == len(lines)
    assert (
        ended.err == f"{len(lines)} records of {len(head['topics'])} topics written to log.jsonl\n"
    )
    assert head["format"] == "turbine-log/2"
    assert not [topic for topic in head["topics"] if topic.startswith("rows.")]
    [created] = [
        line for line in lines if line["place"].startswith(JOURNAL) and line["key"] == "exported"
    ]
    body = decode(base64.b64decode(created["value_base64"]))
    assert body.to_plain() == created["body"]
    assert isinstance(body, RECORDS[created["kind"]])
    headers = dict(created["headers"])
    assert (headers["ce_subject"], headers["ce_parent"]) == ("exported", "root")
    by_place: dict[str, list[int]] = {}
    for line in lines:
        by_place.setdefault(line["place"], []).append(line["offset"])
    assert all(offsets == sorted(offsets) for offsets in by_place.values())


def test_a_part_of_the_log_is_exported(turbine: Callable[..., Ended]) -> None:
    create(turbine, "in-part")
    turbine("publish", "change", "in-part", "--set", "tasks=3")
    why = json.loads(turbine("why", _last_id(turbine, "in-part"), "-o", "json").out)
    place, _, offset = why["position"].partition(":")
    end = f"{place}:{int(offset) + 1}"
    turbine("log", "export", "--out", "part.jsonl", "--from", why["position"], "--to", end)
    head, *lines = [json.loads(line) for line in Path("part.jsonl").read_text().splitlines()]
    assert (head["begins"][place], head["ends"][place]) == (int(offset), int(offset) + 1)
    assert [
        f"{line['place']}:{line['offset']}"
        for line in lines
        if "place" in line and line["offset"] >= head["begins"].get(line["place"], 0)
    ] == [why["position"]]


def _last_id(turbine: Callable[..., Ended], job: str) -> str:
    tail = turbine("log", "tail", "--topic", "journal", "--job", job, "-n", "1", "-o", "jsonl").out
    return str(json.loads(tail)["id"])


def test_an_export_never_overwrites(turbine: Callable[..., Ended]) -> None:
    Path("log.jsonl").write_text("mine")
    ended = run("log", "export", "--out", "log.jsonl")
    assert (ended.code, Path("log.jsonl").read_text()) == (Code.USAGE, "mine")
    assert ended.sentence == "log.jsonl is there already; name a new file, or remove it"
    ended = run("log", "export", "--out", "none/log.jsonl")
    assert (ended.code, ended.sentence) == (
        Code.FAILED,
        "none/log.jsonl cannot be written (No such file or directory); name another file",
    )


def test_a_position_shows_the_job_as_it_was(turbine: Callable[..., Ended]) -> None:
    create(turbine, "as-it-was")
    turbine("publish", "change", "as-it-was", "--set", "tasks=3")
    why = json.loads(turbine("why", _last_id(turbine, "as-it-was"), "-o", "json").out)
    for at, tasks in ((why["position"], None), (_after(why["position"]), 3)):
        row = json.loads(turbine("get", "jobs", "as-it-was", "--at", at, "-o", "json").out)[0]
        assert row["expected"].get("tasks") == tasks


def _after(position: str) -> str:
    place, _, offset = position.partition(":")
    return f"{place}:{int(offset) + 1}"


def test_all_decisions_of_the_fleet_come_out_again(turbine: Callable[..., Ended]) -> None:
    create(turbine, "audited")
    found = json.loads(turbine("audit", "-o", "json").out)
    rows = {row["component"]: row for row in found["components"]}
    assert set(rows) == {one[0].name for one in AUDITED}
    assert found["differences"] == []
    assert not any(row["differs"] for row in rows.values())
    row = rows["job-service"]
    assert row["same"] > 0
    told = turbine("audit").out.splitlines()
    assert told[0].split() == ["COMPONENT", "SAME", "DIFFERS", "IMPOSSIBLE", "NOT", "CHECKABLE"]
    assert told[1].split() == [str(count) for count in row.values()]
