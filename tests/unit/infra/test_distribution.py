"""Java and the jars are found, fetched once and never half, or a sentence says what to do."""

import json
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.kafka.archive import class_flags
from infra.kafka.broker import start_broker
from infra.kafka.distribution import Distribution, kafka_version, obtain
from infra.kafka.errors import JavaUnavailable

JAVA = """#!/bin/sh
if [ "$1" = -version ]; then echo 'openjdk version "{version}" 2025-04-15' >&2; exit 0; fi
echo "$@" >> "{calls}"
for last; do :; done
data=$(sed -n 's/^log.dirs=//p' "$last")
mkdir -p "$data" && echo features > "$data/bootstrap.checkpoint"
"""
# Fails as often as `failures` says, then copies two jars.
MAVEN = """#!/bin/sh
echo "$@" >> "{calls}"
if [ "$(grep -c . "{calls}")" -le {failures} ]; then
  echo '[ERROR] Could not resolve kafka_2.13'; exit 1
fi
for one in "$@"; do case "$one" in -Djars.directory=*) into="${{one#*=}}";; esac; done
echo broker > "$into/kafka.jar"; echo log > "$into/log4j.jar"
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """A search path with programs that only pretend, and what they were called with."""

    root: Path

    def install(self, name: str, script: str, **values: object) -> None:
        program = self.root / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(script.format(calls=self.root / f"{name}.calls", **values))
        program.chmod(0o755)

    def calls(self, name: str) -> list[str]:
        calls = self.root / f"{name}.calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def obtain(self) -> Distribution:
        path = str(self.root / "bin")
        return obtain(pom=self.root / "pom.xml", target=self.root / "target", search_path=path)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    (tmp_path / "pom.xml").write_text("<project/>")
    made.install("java", JAVA, version="17.0.15")
    made.install("mvn", MAVEN, failures=0)
    return made


def test_jars_are_fetched_once(machine: Machine) -> None:
    first = machine.obtain()
    assert [jar.name for jar in first.jars] == ["kafka.jar", "log4j.jar"]
    assert first.class_path == f"{first.home}/kafka.jar:{first.home}/log4j.jar"
    assert first.bootstrap_checkpoint.read_text() == "features\n"
    assert machine.obtain() == first
    assert (len(machine.calls("mvn")), len(machine.calls("java"))) == (1, 1)


def test_two_who_ask_at_once_fetch_once(machine: Machine) -> None:
    got: list[Distribution] = []
    threads = [threading.Thread(target=lambda: got.append(machine.obtain())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [got[0]] * 4
    assert len(machine.calls("mvn")) == 1


def test_another_pom_fetches_other_jars_and_leaves_the_former_to_who_runs_on_them(
    machine: Machine,
) -> None:
    former = machine.obtain()
    (machine.root / "pom.xml").write_text("<project><!-- another version --></project>")
    assert machine.obtain().home != former.home
    assert len(machine.calls("mvn")) == 2
    assert all(jar.is_file() for jar in former.jars)


@pytest.mark.parametrize("damage", ["missing jar", "short jar", "no stamp", "half a stamp"])
def test_a_damaged_set_is_fetched_again(machine: Machine, damage: str) -> None:
    first = machine.obtain()
    match damage:
        case "missing jar":
            first.jars[0].unlink()
        case "short jar":
            first.jars[0].write_text("b")
        case "no stamp":
            (first.home / "stamp.json").unlink()
        case "half a stamp":
            (first.home / "stamp.json").write_text('{"pom": "')
    again = machine.obtain()
    assert again == first
    assert again.jars[0].read_text() == "broker\n"
    assert len(machine.calls("mvn")) == 2


def test_a_failed_look_up_is_asked_again_with_u(machine: Machine) -> None:
    machine.install("mvn", MAVEN, failures=1)
    assert len(machine.obtain().jars) == 2
    first, second = machine.calls("mvn")
    assert " -U" not in first
    assert second.endswith(" -U")


def test_maven_that_fails_twice_is_quoted(machine: Machine) -> None:
    machine.install("mvn", MAVEN, failures=2)
    with pytest.raises(JavaUnavailable) as failed:
        machine.obtain()
    pom = machine.root / "pom.xml"
    assert str(failed.value) == (
        "Maven could not fetch Kafka's jars (Could not resolve kafka_2.13): "
        f"see that `mvn -f {pom} dependency:copy-dependencies` works here."
    )
    # The next one asks anew, and half a set is nowhere.
    assert len(machine.obtain().jars) == 2


def test_maven_that_copies_nothing_is_no_success(machine: Machine) -> None:
    machine.install("mvn", "#!/bin/sh\nexit 0\n")
    with pytest.raises(JavaUnavailable, match="copied no jar"):
        machine.obtain()


def test_without_maven_a_sentence_says_what_to_install(machine: Machine) -> None:
    (machine.root / "bin" / "mvn").unlink()
    with pytest.raises(
        JavaUnavailable, match=r"^There is no mvn on the PATH .*: install Maven 3\.6"
    ):
        machine.obtain()


def test_maven_is_not_needed_when_the_jars_are_there(machine: Machine) -> None:
    first = machine.obtain()
    (machine.root / "bin" / "mvn").unlink()
    assert machine.obtain() == first


def test_without_java_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(JavaUnavailable) as failed:
        start_broker(tmp_path / "broker", search_path=str(tmp_path))
    assert str(failed.value) == (
        "There is no java on the PATH: install a JDK 17 or newer "
        "(Debian: apt install openjdk-17-jre-headless)."
    )


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_292", "16"])
def test_an_old_java_is_named(machine: Machine, version: str) -> None:
    machine.install("java", JAVA, version=version)
    with pytest.raises(
        JavaUnavailable, match=f"is Java {version}, Kafka needs 17: install a JDK 17"
    ):
        machine.obtain()


@pytest.mark.parametrize("version", ["17", "17.0.15", "21.0.1", "25-ea"])
def test_a_new_java_is_taken(machine: Machine, version: str) -> None:
    machine.install("java", JAVA, version=version)
    assert version in machine.obtain().java_version


def test_a_java_that_tells_nothing_is_named(machine: Machine) -> None:
    machine.install("java", "#!/bin/sh\nexit 3\n")
    with pytest.raises(JavaUnavailable, match="does not tell its version"):
        machine.obtain()


def test_a_java_that_is_no_program_is_named(machine: Machine) -> None:
    machine.install("java", "#!/no/such/interpreter\n")
    with pytest.raises(JavaUnavailable, match="does not run"):
        machine.obtain()


def test_a_failing_storage_tool_is_quoted(machine: Machine) -> None:
    tells_its_version = JAVA.partition("data=")[0]
    machine.install("java", tells_its_version + "echo broken >&2; exit 1\n", version="17")
    with pytest.raises(JavaUnavailable, match=r"storage tool failed \(broken\): delete "):
        machine.obtain()


def test_a_target_that_cannot_be_written_is_named(machine: Machine) -> None:
    (machine.root / "target").write_text("a file stands where the directory should be")
    with pytest.raises(JavaUnavailable, match=r"cannot be kept in .*: make it writable"):
        machine.obtain()


def test_an_archive_that_cannot_be_made_is_done_without_and_not_tried_again(
    machine: Machine,
) -> None:
    distribution = machine.obtain()
    # This Java ends at once, so the broker that should load the classes never answers.
    assert class_flags(distribution) == ()
    tried = len(machine.calls("java"))
    assert class_flags(distribution) == ()
    assert len(machine.calls("java")) == tried


def test_an_archive_that_was_cut_short_is_not_used(machine: Machine) -> None:
    """Java trusts its length and would crash."""
    distribution = machine.obtain()
    class_flags(distribution)
    (verdict,) = distribution.home.glob("classes-*.json")
    archive = verdict.with_suffix(".jsa")
    verdict.write_text(json.dumps({"bytes": 10}))
    archive.write_bytes(b"9 bytes..")
    assert class_flags(distribution) == ()
    archive.write_bytes(b"10 bytes..")
    assert class_flags(distribution)[0] == f"-XX:SharedArchiveFile={archive}"


def test_the_pom_names_one_version_and_no_repository() -> None:
    pom = Path(__file__).parents[3] / "infra" / "kafka" / "pom.xml"
    assert kafka_version() == "4.3.1"
    assert "repositor" not in pom.read_text().replace("names no repository", "")
