"""The tables of webhooks: what they mean, and the sentence about each mistake."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest

from components.webhooks.config import HOOKS_MAX, NAMES_MAX, Hook, hooks_of
from components.webhooks.core.outbox import RetryLimits
from tests.unit.webhooks.receiver import KEY, SECRET
from turbine_client.settings import BadSettings, Settings, load_settings
from turbine_client.signing import read_secret, show_secret

URL = "https://hooks.example.org/turbine"
FULL = f"""
[webhooks.pager]
url = "{URL}?team=a"
secret = ["{SECRET}", "{show_secret(bytes(32))}"]
topics = ["alerts"]
jobs = ["clicks", "orders.*"]
kinds = ["AlertRaised"]
start = "earliest"
timeout_s = 3
attempts = 5
parallel = 2
pause_max_s = 30
give_up_s = 600
"""


def load(folder: Path, text: str, **environment: str) -> Settings:
    path = folder / "turbine.toml"
    path.write_text(text)
    return load_settings(environment={"TURBINE_CONFIG": str(path)} | environment)


def table(lines: str, name: str = "pager") -> str:
    given = "" if "url =" in lines else f'url = "{URL}"\n'
    given += "" if "secret" in lines else f'secret = "{SECRET}"\n'
    return f"[webhooks.{name}]\n{given}{lines}"


def test_all_keys(tmp_path: Path) -> None:
    [found] = hooks_of(load(tmp_path, FULL))
    assert found == Hook(
        name="pager",
        url=f"{URL}?team=a",
        keys=(KEY, bytes(32)),
        topics=("alerts.v1",),
        jobs=("clicks", "orders.*"),
        kinds=frozenset({"AlertRaised"}),
        start="earliest",
        timeout_s=3,
        limits=RetryLimits(5, 600_000, 1_000, 30_000, 2),
    )
    assert found.address == "https://hooks.example.org"
    assert found.group(Settings(prefix="staging")) == "staging-webhook-pager"


def test_what_is_not_said_is_as_usual(tmp_path: Path) -> None:
    [found] = hooks_of(load(tmp_path, table("")))
    assert found == Hook("pager", URL, (KEY,))
    assert hooks_of(load(tmp_path, "")) == ()


def test_a_secret_lies_in_a_file_beside_the_settings_or_in_a_variable(tmp_path: Path) -> None:
    (tmp_path / "own").write_text(f"{show_secret(bytes(24))}\n{SECRET}\n")
    text = table('secret_file = "own"', "on-call")
    assert hooks_of(load(tmp_path, text))[0].keys == (bytes(24), KEY)
    given = load(tmp_path, text, TURBINE_WEBHOOKS__ON_CALL__SECRET=SECRET)
    assert hooks_of(given)[0].keys == (KEY,)
    assert given.origins["webhooks.on-call.secret"] == "TURBINE_WEBHOOKS__ON_CALL__SECRET"


def test_settings_never_show_a_secret(tmp_path: Path) -> None:
    found = load(tmp_path, FULL)
    assert SECRET not in repr(found)
    assert repr(KEY) not in repr(hooks_of(found))
    assert "team=a" not in repr(hooks_of(found))


@pytest.mark.parametrize(
    ("kind", "key", "wanted"),
    [
        ("SyncCommitted", "clicks", True),
        ("SyncCommitted", "orders.daily", True),
        ("SyncCommitted", "orders", False),
        ("SyncFailed", "clicks", False),
    ],
)
def test_what_it_wants(kind: str, key: str, wanted: bool) -> None:
    one = Hook("a", URL, (KEY,), jobs=("clicks", "orders.*"), kinds=frozenset({"SyncCommitted"}))
    assert one.wants(kind, key) is wanted
    assert Hook("a", URL, (KEY,)).wants(kind, key)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (table("", "Pager"), "[webhooks.Pager]: a name is 1 to 40 of a-z, 0-9 and '-'; choose"),
        (table("", "a" * 41), f"[webhooks.{'a' * 41}]: a name is 1 to 40"),
        (table("colour = 1"), "[webhooks.pager]: colour is no key; there are url, secret, "),
        (table("url = 5"), "[webhooks.pager]: url is missing; give the receiver's, such as"),
        (table('url = "ftp://a/b"'), "[webhooks.pager]: url is http:// or https://, a host and a"),
        (table('url = "https:///x"'), "[webhooks.pager]: url is http:// or https://, a host"),
        (table('url = "http://a:x/"'), "[webhooks.pager]: url is http:// or https://, a host"),
        (table('url = "http://[a"'), "[webhooks.pager]: url is http:// or https://, a host"),
        (table('url = "http://a/b c"'), "[webhooks.pager]: url has to be 2000 characters of"),
        (table('url = "http://ä/"'), "[webhooks.pager]: url has to be 2000 characters of ASCII"),
        (table(f'url = "http://a/{"b" * 2000}"'), "[webhooks.pager]: url has to be 2000"),
        (table('url = "http://me:pw@a/"'), "[webhooks.pager]: url holds a user or a fragment; re"),
        (table('url = "http://a/#b"'), "[webhooks.pager]: url holds a user or a fragment"),
        (table('secret = "hunter2"'), "[webhooks.pager]: a secret begins with whsec_; `turbine"),
        (table("secret = []"), "[webhooks.pager]: there are 0 secrets; give the one, or up to 4"),
        (
            table(f'secret = "{" ".join([SECRET] * 5)}"'),
            "[webhooks.pager]: there are 5 secrets; give the one, or up to 4 while receivers",
        ),
        (table("secret = 5"), "[webhooks.pager]: secret is a list of texts, such as"),
        (
            f'[webhooks.on-call]\nurl = "{URL}"',
            (
                "[webhooks.on-call]: give the secret once, as secret_file or secret, or in the"
                " variable TURBINE_WEBHOOKS__ON_CALL__SECRET; `turbine webhooks secret` makes one"
            ),
        ),
        (
            table(f'secret = "{SECRET}"\nsecret_file = "x"'),
            "[webhooks.pager]: give the secret once, as secret_file or secret, or in the variable",
        ),
        (table("secret_file = 5"), "[webhooks.pager]: secret_file is the name of a file, not 5"),
        (table('topics = ["journal"]'), "[webhooks.pager]: topics are outcomes and alerts, not"),
        (table('jobs = "clicks"'), '[webhooks.pager]: jobs is a list of texts, such as ["clicks"]'),
        (table(f"jobs = {['a'] * (NAMES_MAX + 1)}"), "[webhooks.pager]: jobs has 101 texts; give"),
        (
            table('topics = ["alerts"]\nkinds = ["SyncFailed"]'),
            "[webhooks.pager]: kinds has 'SyncFailed'; on these topics are AlertCleared, Alert",
        ),
        (table('start = "now"'), "[webhooks.pager]: start is latest or earliest, not 'now'"),
        (table("timeout_s = 0"), "[webhooks.pager]: timeout_s is a whole number from 1 to 60, not"),
        (table("timeout_s = 61"), "[webhooks.pager]: timeout_s is a whole number from 1 to 60"),
        (table("attempts = true"), "[webhooks.pager]: attempts is a whole number from 1 to 100"),
        (table("parallel = 33"), "[webhooks.pager]: parallel is a whole number from 1 to 32, not"),
        (table('give_up_s = "1d"'), "[webhooks.pager]: give_up_s is a whole number from 1 to 259"),
    ],
)
def test_each_mistake_has_its_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(BadSettings) as refused:
        hooks_of(load(tmp_path, text))
    assert str(refused.value).startswith(sentence)
    assert "hunter2" not in str(refused.value)


def test_a_secrets_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadSettings) as refused:
        hooks_of(load(tmp_path, table('secret_file = "none"')))
    assert str(refused.value) == (
        f"[webhooks.pager]: the secret_file {tmp_path}/none cannot be read (No such file or"
        " directory); correct its name or rights"
    )
    (tmp_path / "own").write_bytes(b"\xff\xfe")
    with pytest.raises(BadSettings, match="cannot be read \\(it is no text\\)"):
        hooks_of(load(tmp_path, table('secret_file = "own"')))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("webhooks = 5", "webhooks is a table; write [webhooks] and its keys below it"),
        ("webhooks.pager = 5", "webhooks.pager is a table; write [webhooks.pager] and its keys"),
    ],
)
def test_what_is_no_table(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(BadSettings) as refused:
        load(tmp_path, text)
    assert sentence in str(refused.value)


def test_there_is_a_bound_to_how_many() -> None:
    one = MappingProxyType({"url": URL, "secret": SECRET})
    many = {f"hook-{n}": one for n in range(HOOKS_MAX)}
    assert len(hooks_of(Settings(webhooks=many))) == HOOKS_MAX
    with pytest.raises(BadSettings, match="there are 33 webhooks and at most 32 are served; run"):
        hooks_of(Settings(webhooks=many | {"one-more": one}))


def test_the_key_of_the_receiver_is_the_one_of_the_file() -> None:
    assert read_secret(SECRET) == KEY
