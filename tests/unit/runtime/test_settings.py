"""Which setting wins, where it came from, and the sentence about each that cannot be used."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from turbine_client.settings import (
    FLEET,
    KEPT,
    OURS,
    PREFIX_LONGEST,
    BadSettings,
    Settings,
    load_settings,
)

TOML = """
bootstrap = "file:1"
partitions = 8
[kafka]
"security.protocol" = "SASL_PLAINTEXT"
sasl.username = "from the file"
"linger.ms" = 7
"check.crcs" = true
"""


def load(
    directory: Path,
    text: str | None = None,
    flags: Mapping[str, object] | None = None,
    **environment: str,
) -> Settings:
    """Settings from a file with that text, those flags, and those variables alone."""
    path = directory / "turbine.toml"
    if text is not None:
        path.write_text(text)
        environment = {"TURBINE_CONFIG": str(path)} | environment
    return load_settings(flags or {}, environment=environment)


def sentence(directory: Path, text: str | None = None, **environment: str) -> str:
    with pytest.raises(BadSettings) as refused:
        load(directory, text, **environment)
    return str(refused.value)


def test_without_anything_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = load_settings(environment={})
    assert found == Settings(directory=tmp_path / ".turbine")
    assert found.origins == {}


def test_flags_win_over_variables_over_the_file_over_defaults(tmp_path: Path) -> None:
    file = str(tmp_path / "turbine.toml")
    found = load(tmp_path, TOML)
    assert (found.bootstrap, found.partitions, found.replication) == ("file:1", 8, 1)
    assert (found.origins["bootstrap"], found.origins["partitions"]) == (file, file)
    assert "replication" not in found.origins
    found = load(tmp_path, TOML, TURBINE_BOOTSTRAP="variable:2")
    assert (found.bootstrap, found.origins["bootstrap"]) == ("variable:2", "TURBINE_BOOTSTRAP")
    found = load(tmp_path, TOML, {"bootstrap": "flag:3"}, TURBINE_BOOTSTRAP="variable:2")
    assert (found.bootstrap, found.origins["bootstrap"]) == ("flag:3", "flag")
    found = load(tmp_path, TOML, {"bootstrap": None}, TURBINE_BOOTSTRAP="variable:2")
    assert found.bootstrap == "variable:2"


def test_a_file_lies_where_the_variable_says_or_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "turbine.toml").write_text('directory = "here"')
    monkeypatch.chdir(tmp_path)
    assert load_settings(environment={}).directory == tmp_path / "here"
    (tmp_path / "more").mkdir()
    other, there = tmp_path / "more" / "other.toml", tmp_path / "more" / "there"
    other.write_text('directory = "there"')
    assert load_settings(environment={"TURBINE_CONFIG": str(other)}).directory == there
    assert load_settings(path=other, environment={"TURBINE_CONFIG": "x"}).directory == there
    assert load_settings(path=Path("more/other.toml"), environment={}).directory == there


def test_every_path_is_absolute_from_where_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in a file from where the file lies, every other from where its reader stands."""
    monkeypatch.chdir(tmp_path)
    assert load_settings(environment={}).directory == tmp_path / ".turbine"
    (tmp_path / "more").mkdir()
    file = tmp_path / "more" / "turbine.toml"
    file.write_text('directory = "d"\n[spark]\njars = "../jars"\n[webhooks.w]\nsecret_file = "s"\n')
    said = load_settings({"directory": Path("by/flag")}, path=Path("more/turbine.toml"))
    assert said.directory == tmp_path / "by" / "flag"
    assert said.spark["jars"] == str(tmp_path / "jars")
    assert said.webhooks["w"]["secret_file"] == str(tmp_path / "more" / "s")
    by_variable = {"TURBINE_DIRECTORY": "v/../w", "TURBINE_SPARK__JARS": "j"}
    found = load_settings(path=file, environment=by_variable)
    assert (found.directory, found.spark["jars"]) == (tmp_path / "w", str(tmp_path / "j"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"bootstrap": 1}', '{"bootstrap": "a b"}'])
def test_who_stands_in_a_fleets_directory_means_its_broker(tmp_path: Path, text: str) -> None:
    directory = tmp_path / "fleet"
    directory.mkdir()
    said: dict[str, object] = {"directory": directory}
    (directory / FLEET).write_text('{"bootstrap": "127.0.0.1:20001", "members": []}')
    found = load_settings(said, environment={})
    assert found.bootstrap == "127.0.0.1:20001"
    assert found.origins["bootstrap"] == str(directory / FLEET)
    named = load_settings({"bootstrap": "flag:3", **said}, environment={})
    assert (named.bootstrap, named.origins["bootstrap"]) == ("flag:3", "flag")
    assert load_settings(said, environment={"TURBINE_BOOTSTRAP": "v:1"}).bootstrap == "v:1"
    (directory / FLEET).write_text(text)
    assert load_settings(said, environment={}).bootstrap == "127.0.0.1:9092"


def test_a_fleet_that_does_not_run_is_not_taken_for_another(tmp_path: Path) -> None:
    """Whose broker is kept in the directory means that one, on the port that it had: what has the
    usual port may be another fleet's."""
    said: dict[str, object] = {"directory": tmp_path}
    kept = tmp_path / KEPT
    kept.parent.mkdir()
    kept.write_text('{"broker": 20001, "controller": 20002}')
    found = load_settings(said, environment={})
    assert (found.bootstrap, found.origins["bootstrap"]) == ("127.0.0.1:20001", str(kept))
    assert load_settings(said, environment={"TURBINE_BOOTSTRAP": "v:1"}).bootstrap == "v:1"
    (tmp_path / FLEET).write_text('{"bootstrap": "127.0.0.1:20003"}')
    assert load_settings(said, environment={}).bootstrap == "127.0.0.1:20003"
    (tmp_path / FLEET).unlink()
    for text in ("", "[]", "{}", '{"broker": "1"}', '{"broker": true}', '{"broker": 0}'):
        kept.write_text(text)
        assert load_settings(said, environment={}).bootstrap == "127.0.0.1:9092", text


def test_the_kafka_table_is_passed_on_as_it_is(tmp_path: Path) -> None:
    """In quotes or not: TOML takes a dot without quotes for a table in a table."""
    found = load(tmp_path, TOML)
    assert found.kafka == {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.username": "from the file",
        "linger.ms": "7",
        "check.crcs": "true",
    }
    assert found.origins["kafka.sasl.username"] == str(tmp_path / "turbine.toml")


def test_variables_of_the_kafka_table_win_over_the_file(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        TOML,
        TURBINE_KAFKA__SASL_USERNAME="from a variable",
        TURBINE_KAFKA__SSL_CA_LOCATION="/ca.pem",
    )
    assert found.kafka["sasl.username"] == "from a variable"
    assert found.kafka["ssl.ca.location"] == "/ca.pem"
    assert found.origins["kafka.sasl.username"] == "TURBINE_KAFKA__SASL_USERNAME"


def test_an_empty_variable_is_none(tmp_path: Path) -> None:
    """A compose file that passes on what nobody has set passes on an empty text."""
    found = load(tmp_path, TOML, TURBINE_BOOTSTRAP="", TURBINE_KAFKA__SASL_USERNAME="")
    assert (found.bootstrap, found.kafka["sasl.username"]) == ("file:1", "from the file")


def test_nothing_may_be_changed_afterwards(tmp_path: Path) -> None:
    found = load(tmp_path, TOML)
    with pytest.raises(TypeError):
        found.kafka["linger.ms"] = "8"  # type: ignore[index]  # what is shown
    with pytest.raises(AttributeError):
        found.bootstrap = "x"  # type: ignore[misc]  # what is shown


@pytest.mark.parametrize(
    "bootstrap",
    ["a:1,b:2,c:3", "broker", "kafka.example.org:9092", "[::1]:9092", "10.0.0.1:9092"],
)
def test_brokers_may_be_several(tmp_path: Path, bootstrap: str) -> None:
    assert load(tmp_path, TURBINE_BOOTSTRAP=bootstrap).bootstrap == bootstrap


@pytest.mark.parametrize("bootstrap", ["http://broker:9092", "a:1;b:2", "a:", ":9092", "a b:1"])
def test_what_is_no_broker_is_told(tmp_path: Path, bootstrap: str) -> None:
    assert sentence(tmp_path, TURBINE_BOOTSTRAP=bootstrap) == (
        "TURBINE_BOOTSTRAP: bootstrap is host:port, or several with commas between them, not"
        f" {bootstrap!r}"
    )


@pytest.mark.parametrize("name", ["partitions", "replication"])
@pytest.mark.parametrize("number", ["0", "-1", "many", "1.5", "²", "9999999999"])
def test_what_is_no_number_is_told(tmp_path: Path, name: str, number: str) -> None:
    variable = f"TURBINE_{name.upper()}"
    told = sentence(tmp_path, **{variable: number})
    assert told == f"{variable}: {name} is a whole number above 0, not {number!r}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("partitions = true", "partitions is a whole number above 0, not True"),
        ("bootstrap = 9092", "bootstrap is host:port"),
        ("bootstap = 'a:1'", "bootstap is not a setting; remove it or move it to [kafka]"),
        ("kafka = 3", "kafka is a table; write [kafka] and its keys below it"),
        ("bootstrap = ", "not TOML: "),
        ("[kafka]\nacks = 1", "acks is not to be set: what was acknowledged would be lost"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_name(
    tmp_path: Path, text: str, told: str
) -> None:
    said = sentence(tmp_path, text)
    assert said.startswith(f"{tmp_path / 'turbine.toml'}: ")
    assert told in said


@pytest.mark.parametrize("key", sorted(OURS))
def test_a_key_that_a_promise_rests_on_is_not_to_be_set(tmp_path: Path, key: str) -> None:
    variable = f"TURBINE_KAFKA__{key.upper().replace('.', '_')}"
    told = sentence(tmp_path, **{variable: "x"})
    assert told == f"{variable}: {key} is not to be set: {OURS[key]}"


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "turbine.toml"
    missing = sentence(tmp_path, TURBINE_CONFIG=str(path))
    assert missing == f"{path}: no such file; TURBINE_CONFIG or --config names it"
    path.mkdir()
    folder = sentence(tmp_path, TURBINE_CONFIG=str(path))
    assert folder == f"{path}: cannot be read (Is a directory); name another file"
    path.rmdir()
    path.write_bytes(b'bootstrap = "\xff"')
    assert sentence(tmp_path, TURBINE_CONFIG=str(path)).startswith(f"{path}: not TOML: ")


def test_a_prefix_begins_every_name_at_the_broker(tmp_path: Path) -> None:
    assert load(tmp_path).prefix == "turbine"
    found = load(tmp_path, 'prefix = "staging_2"')
    assert found.topic("journal.v1") == "staging_2.journal.v1"
    assert found.group("publisher") == "staging_2-publisher"
    assert found.job_group("orders") == "staging_2-job.orders"
    assert load(tmp_path, 'prefix = "staging_2"', TURBINE_PREFIX="blue").prefix == "blue"
    longest = "x" * PREFIX_LONGEST
    assert load(tmp_path, TURBINE_PREFIX=longest).prefix == longest


@pytest.mark.parametrize(
    "bad", ["a.b", "a-b", "a b", "_a", "1a", "\u00e4", "a/b", "a\n", "x" * (PREFIX_LONGEST + 1)]
)
def test_a_prefix_that_could_be_mistaken_is_refused(tmp_path: Path, bad: str) -> None:
    told = sentence(tmp_path, TURBINE_PREFIX=bad)
    assert told.startswith(
        "TURBINE_PREFIX: prefix is a letter, then letters, digits and _, at most 100 characters,"
        " such as staging, not '"
    )


def test_an_empty_prefix_in_a_file_is_refused(tmp_path: Path) -> None:
    assert "prefix is a letter" in sentence(tmp_path, 'prefix = ""')
    assert "prefix is a letter" in sentence(tmp_path, "prefix = 7")
