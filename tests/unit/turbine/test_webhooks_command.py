"""`turbine webhooks` and what else reads their settings, as far as no broker is needed."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.unit.turbine.lines import NOWHERE, run
from tests.unit.webhooks.receiver import KEY, SECRET
from turbine.failures import Code
from turbine.ops.members import DECIDERS, Hosts, members
from turbine_client.signing import read_secret, sign
from turbine_client.subscribe import Subscriber, check_kinds

TABLE = f'[webhooks.pager]\nurl = "https://hooks.example.org/t0ken"\nsecret = "{SECRET}"\n'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def verified(body: bytes, *, now_s: int | None = None, **changed: str) -> list[str]:
    Path("body").write_bytes(body)
    Path("own").write_text(SECRET)
    at = now_s or int(time.time())
    given = {"id": "17", "timestamp": str(at), "signature": sign([KEY], "17", at, b"{}")} | changed
    flags = [part for name, value in given.items() for part in (f"--{name}", value)]
    return ["webhooks", "verify", "body", "--secret-file", "own", *flags]


def test_a_new_secret_is_one_and_another_each_time() -> None:
    made = {run("webhooks", "secret").out for _ in range(3)}
    assert len(made) == 3
    assert all(len(read_secret(one)) == 32 for one in made)


def test_a_request_that_is_ours_has_its_id() -> None:
    ended = run(*verified(b"{}"))
    assert (ended.code, ended.out) == (Code.OK, "17\n")


def test_one_that_is_not_has_the_reason() -> None:
    ended = run(*verified(b"{ }"))
    assert ended.code == Code.FAILED
    assert ended.sentence.startswith("no signature fits: the body, the id or the time were changed")
    old = verified(b"{}", now_s=int(time.time()) - 3_600)
    assert re.match(r"it was signed 36\d\d s from now, and 300 s are", run(*old).sentence)
    assert run(*old, "--tolerance", "2h").code == Code.OK


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("verify none", "none cannot be read (No such file or directory); name a file with the"),
        ("verify body --tolerance x", "--tolerance: 'x' is no span of time; write one such as"),
        ("verify body --secret-file none", "--secret-file: the secret_file none cannot be read ("),
        ("verify body --secret-file body", "--secret-file: a secret begins with whsec_; `turbine"),
    ],
)
def test_what_cannot_be_verified_at_all(line: str, sentence: str) -> None:
    given = verified(b"{}")
    del given[:3]
    ended = run("webhooks", *line.split()[:2], *given, *line.split()[2:])
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith(sentence)


def test_settings_show_neither_secrets_nor_the_paths_of_urls() -> None:
    Path("turbine.toml").write_text(TABLE + 'jobs = ["clicks"]\n')
    shown = run("config", "view", "--show-origin").out
    assert "webhooks.pager.jobs" in shown
    assert shown.count("(not shown)") == 2
    assert "t0ken" not in shown
    assert SECRET not in shown


@pytest.mark.parametrize("line", ["webhooks list", "webhooks rewind pager --to earliest"])
def test_without_a_broker_it_is_said(line: str) -> None:
    Path("turbine.toml").write_text(TABLE)
    ended = run(*line.split(), "--bootstrap", NOWHERE)
    assert ended.code == Code.FAILED
    assert ended.sentence.startswith(f"no broker answers at {NOWHERE}")


def test_up_tells_a_mistake_before_it_starts_anything() -> None:
    Path("turbine.toml").write_text(TABLE + "colour = 1\n")
    ended = run("up", "--bootstrap", NOWHERE)
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith("[webhooks.pager]: colour is no key; there are url, secret")


def test_a_fleet_has_them_where_there_are_any() -> None:
    with_hooks = members(Hosts(1), webhooks=True)
    assert [one.label for one in with_hooks[len(DECIDERS) :]] == ["webhooks", "container-0"]
    assert members(Hosts(0)) == DECIDERS
    [one] = [one for one in with_hooks if one.label == "webhooks"]
    assert (one.rank, one.command(Path())[-1]) == (1, "webhooks")


def test_a_kind_that_is_misspelt_would_be_waited_for_in_vain() -> None:
    assert check_kinds("alerts.v1", ["AlertRaised"]) == {"AlertRaised"}
    with pytest.raises(ValueError, match=r"'AlertRasied' is no kind of record on alerts\.v1"):
        check_kinds("alerts.v1", ["AlertRaised", "AlertRasied"])
    with pytest.raises(ValueError, match=r"topic is outcomes or alerts, not 'journal\.v1'"):
        Subscriber(topic="journal.v1")
