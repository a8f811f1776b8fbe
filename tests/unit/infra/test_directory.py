"""A broker's directory has one owner, keeps its ports, and is never confused with others'."""

import os
from pathlib import Path

import pytest

from infra.kafka import kept
from infra.kafka.directory import (
    PORTS,
    SETTINGS,
    Ports,
    crashed,
    format_directory,
    free_port,
    holder,
    is_free,
    read_cluster,
    read_ports,
    take_lock,
    write_controller,
    write_ports,
    write_properties,
)
from infra.kafka.errors import BrokerFailed, BrokerInUse


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    made = tmp_path / "template.checkpoint"
    made.write_text("features")
    return made


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "broker"
    made.mkdir()
    return made


def test_a_lock_has_one_owner_at_a_time(place: Path) -> None:
    assert holder(place) is None
    lock = take_lock(place)
    assert lock is not None
    assert take_lock(place) is None
    assert holder(place) == 0
    os.pwrite(lock, b"4711", 0)
    assert holder(place) == 4711
    os.close(lock)
    assert holder(place) is None
    # The next owner must not pass for the former one.
    second = take_lock(place)
    assert second is not None
    assert holder(place) == 0
    os.close(second)


def test_ports_are_kept(place: Path) -> None:
    assert read_ports(place) is None
    write_ports(place, Ports(20_001, 20_002))
    assert read_ports(place) == Ports(20_001, 20_002)
    assert [path.name for path in place.iterdir()] == ["ports.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"broker": 1}', '{"broker": "x"}', "null"])
def test_damaged_ports_are_named(place: Path, text: str) -> None:
    (place / "ports.json").write_text(text)
    with pytest.raises(BrokerFailed, match=r"ports\.json is damaged: delete it"):
        read_ports(place)


def test_a_free_port_is_below_the_kernels_own() -> None:
    port = free_port()
    assert port in PORTS
    assert is_free(port)


def test_a_format_is_made_once(place: Path, checkpoint: Path) -> None:
    cluster = format_directory(place, checkpoint)
    assert (place / "data" / "bootstrap.checkpoint").read_text() == "features"
    assert len(cluster) == 22
    assert format_directory(place, checkpoint) == cluster == read_cluster(place)


def test_two_directories_are_two_clusters(tmp_path: Path, checkpoint: Path) -> None:
    made = [format_directory(tmp_path / name, checkpoint) for name in ("one", "other")]
    assert made[0] != made[1]


def test_a_format_that_was_cut_short_is_finished(place: Path, checkpoint: Path) -> None:
    (place / "data").mkdir()
    (place / "data" / "bootstrap.checkpoint").write_text("feat")
    format_directory(place, checkpoint)
    assert (place / "data" / "bootstrap.checkpoint").read_text() == "features"


def test_a_foreign_directory_is_neither_formatted_nor_wiped(place: Path, checkpoint: Path) -> None:
    (place / "data").mkdir()
    (place / "data" / "thesis.txt").write_text("years of work")
    with pytest.raises(BrokerFailed, match="holds no broker's data: name another directory"):
        format_directory(place, checkpoint)
    with pytest.raises(BrokerFailed, match="holds no broker's data: nothing was deleted"):
        kept.wipe(place)
    assert (place / "data" / "thesis.txt").exists()


def test_a_damaged_cluster_id_is_named(place: Path, checkpoint: Path) -> None:
    format_directory(place, checkpoint)
    (place / "data" / "meta.properties").write_text("version=1\n")
    with pytest.raises(BrokerFailed, match=r"meta\.properties is damaged \(no cluster\.id\)"):
        format_directory(place, checkpoint)


def test_extra_settings_replace_ours(place: Path) -> None:
    written = write_properties(place, Ports(1, 2), {"broker.session.timeout.ms": "9000"})
    lines = written.read_text().splitlines()
    assert "broker.session.timeout.ms=9000" in lines
    assert len([line for line in lines if line.startswith("broker.session.timeout.ms=")]) == 1
    assert "listeners=PLAINTEXT://127.0.0.1:1,CONTROLLER://127.0.0.1:2" in lines
    assert len(lines) == len(SETTINGS) + 7


def test_a_crash_is_a_log_without_the_mark_of_an_end(place: Path, checkpoint: Path) -> None:
    format_directory(place, checkpoint)
    assert not crashed(place)
    (place / "data" / "__cluster_metadata-0").mkdir()
    assert crashed(place)
    (place / "data" / ".kafka_cleanshutdown").touch()
    assert not crashed(place)


def test_a_controller_alone_is_the_same_node_and_listens_to_no_client(place: Path) -> None:
    ports = Ports(1, 2)
    alone = write_controller(place, ports, 200).read_text().splitlines()
    both = write_properties(place, ports, {}).read_text().splitlines()
    assert sorted(set(alone) - set(both)) == [
        "broker.session.timeout.ms=200",
        "listener.security.protocol.map=CONTROLLER:PLAINTEXT",
        "listeners=CONTROLLER://127.0.0.1:2",
        "process.roles=controller",
    ]


def test_wipe_deletes_what_a_broker_left_and_nothing_else(place: Path, checkpoint: Path) -> None:
    format_directory(place, checkpoint)
    write_ports(place, Ports(1, 2))
    write_properties(place, Ports(1, 2), {})
    write_controller(place, Ports(1, 2), 200)
    (place / "broker.log").write_text("started")
    (place / "notes.txt").write_text("mine")
    assert kept.wipe(place)
    assert sorted(path.name for path in place.iterdir()) == ["lock", "notes.txt"]
    assert not kept.wipe(place)


def test_a_wipe_that_was_cut_short_is_finished(place: Path) -> None:
    (place / "data.wiped" / "journal-0").mkdir(parents=True)
    assert kept.wipe(place)
    assert not (place / "data.wiped").exists()


def test_a_directory_in_use_is_not_wiped(place: Path, checkpoint: Path) -> None:
    format_directory(place, checkpoint)
    lock = take_lock(place)
    assert lock is not None
    with pytest.raises(BrokerInUse, match="stop it before its data is deleted"):
        kept.wipe(place)
    assert read_cluster(place)
    # It has an owner but no ports yet: nobody can talk to it, and nobody knows what to stop.
    assert kept.kept_broker(place) is None
    with pytest.raises(BrokerInUse, match="just being started"):
        kept.stop_kept(place)
    os.close(lock)


def test_where_nothing_is_nothing_runs(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert kept.kept_broker(nowhere) is None
    assert not kept.stop_kept(nowhere)
    assert not kept.wipe(nowhere)
    assert kept.kept_status(nowhere) == kept.Status(
        nowhere, None, None, answers=False, data_bytes=0
    )
