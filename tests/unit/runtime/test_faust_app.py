"""What we lean on inside Faust, aiokafka and mode is there, and what we make of the settings."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import CorruptRecordException, IllegalStateError
from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy as Builder
from aiokafka.record.memory_records import _MemoryRecordsPy as MemoryRecords
from aiokafka.structs import TopicPartition
from faust.types import TP

from components.runtime.faust import app as faust_app
from components.runtime.faust.app import Consumer, Records, credentials, make_app
from turbine_client.settings import BadSettings, Settings

ROOT = Path(__file__).resolve().parents[3]
FULL = range(3, 6)

# --- what cannot be decoded


def batch(codec: int, first: int, *names: str) -> bytes:
    """A batch as a broker sends it, one record for each name of a header."""
    builder = Builder(2, codec, False, -1, -1, -1, 10_000)
    for at, name in enumerate(names):
        builder.append(at, 1, b"key", b"value", [(name, b"")])
    raw = bytearray(builder.build())
    raw[:8] = first.to_bytes(8, "big")  # not under the checksum, since brokers set it
    return bytes(raw)


def spoilt(raw: bytes) -> bytes:
    """The same with a name that is not UTF-8, and the checksum that belongs to it."""
    from aiokafka.record.util import calc_crc32c

    changed = bytearray(raw.replace(b"~", b"\xff"))
    changed[17:21] = calc_crc32c(bytes(changed[21:])).to_bytes(4, "big")
    return bytes(changed)


def fetched(*batches: bytes, first: int = 3) -> list[tuple[int, Any]]:
    """Offset, and the gap that it stands for, of each record that comes out."""
    at = TopicPartition("turbine.journal.v1", 3)
    records = Records(at, MemoryRecords(b"".join(batches)), None, first, None, None, True, 0)
    found = [(one.offset, one.checksum) for one in records]
    assert records.next_fetch_offset == 9
    return found


def test_whole_batches_come_through_as_in_stock() -> None:
    assert fetched(batch(0, 3, "a", "b", "c"), batch(1, 6, "d", "e", "f")) == [
        (offset, None) for offset in range(3, 9)
    ]


def test_the_beginning_of_a_batch_that_was_read_before_is_left_out() -> None:
    assert fetched(batch(0, 3, "a", "b", "c"), batch(1, 6, "d", "e", "f"), first=5)[0] == (5, None)


@pytest.mark.parametrize("most", [2, 3])
def test_a_batch_of_very_many_records_is_left_to_the_other_reader(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(faust_app, "RECORDS_HERE", most)
    found = fetched(batch(0, 3, "a", "b", "c"), batch(1, 6, "d", "e", "f"))
    assert found == (
        [(5, FULL), (8, range(6, 9))] if most < 3 else [(n, None) for n in range(3, 9)]
    )


def test_a_batch_that_cannot_be_decoded_has_a_stand_in_and_the_next_comes_through() -> None:
    bad = spoilt(batch(0, 3, "~~", "b", "c"))
    assert fetched(bad, batch(0, 6, "d", "e", "f")) == [
        (5, FULL),
        *((offset, None) for offset in range(6, 9)),
    ]


def test_what_came_before_the_bad_record_is_not_read_again() -> None:
    bad = spoilt(batch(0, 3, "a", "~~", "c"))
    assert fetched(bad, batch(0, 6, "d", "e", "f"))[:2] == [(3, None), (5, range(4, 6))]


@pytest.mark.parametrize("codec", [2, 3, 4])
def test_codecs_that_aiokafka_lacks_have_a_stand_in(codec: int) -> None:
    """Snappy, LZ4 and Zstandard: what foreign producers use most."""
    other = bytearray(batch(0, 3, "a", "b", "c"))
    other[22] |= codec
    assert fetched(spoilt(bytes(other)), batch(0, 6, "d", "e", "f"))[0] == (5, FULL)


def test_a_wrong_checksum_is_no_gap_but_an_end() -> None:
    """A disk that spoils what it keeps is nothing to read on from."""
    raw = bytearray(batch(0, 3, "a", "b", "c"))
    raw[-1] ^= 1
    with pytest.raises(CorruptRecordException, match="wrong checksum"):
        fetched(bytes(raw))


# --- what is fetched at once

ONE, TWO, GONE = TP("turbine.journal.v1", 1), TP("turbine.journal.v1", 2), TP("turbine.clock.v1", 1)


class Fetching(SimpleNamespace):
    """A consumer that has fetched something of three partitions at once."""

    def __init__(
        self,
        active: set[TP] | None,
        *,
        buffered: frozenset[TP] = frozenset(),
        flow: bool = True,
        ended: bool = False,
    ) -> None:
        self.active, self.sought = active, list[Mapping[tuple[str, int], int]]()
        super().__init__(
            should_stop=ended, flow_active=flow, _buffered_partitions=buffered, passed_over=False
        )
        self.app = SimpleNamespace(hooks=self)

    async def positions(self) -> Mapping[tuple[str, int], int]:
        return {(ONE.topic, ONE.partition): 7}

    async def go_on_from(self, positions: Mapping[tuple[str, int], int]) -> None:
        self.sought.append(positions)

    async def _wait_next_records(self, _: float) -> Any:
        come = {
            tp: [SimpleNamespace(topic=tp.topic, partition=tp.partition)] for tp in (ONE, TWO, GONE)
        }
        return come, self.active

    def _to_message(self, tp: TP, record: Any) -> Any:
        return SimpleNamespace(tp=tp, value=b"its last record", checksum=None, record=record)


def delivered(fetching: Any) -> list[tuple[TP, list[Any]]]:
    """What comes of what was fetched, as messages of Faust's."""

    async def collect() -> list[tuple[TP, list[Any]]]:
        found = []
        async for tp, one in Consumer.getmany(fetching, 1.0):
            assert one.value is None
            found.append((tp, [TP(record.topic, record.partition) for record in one.checksum]))
        return found

    return asyncio.run(collect())


def test_all_that_is_fetched_at_once_is_one_message() -> None:
    assert delivered(Fetching(None)) == [(GONE, [ONE, TWO, GONE])]


def test_what_came_of_a_partition_that_is_ours_no_more_is_left_out() -> None:
    assert delivered(Fetching({ONE, TWO})) == [(TWO, [ONE, TWO])]
    assert delivered(Fetching(set())) == []


def test_what_was_under_way_when_a_buffer_was_full_still_comes() -> None:
    """Left out, it would be read no more: the client's position is behind it already."""
    assert delivered(Fetching({TWO}, buffered=frozenset({ONE}))) == [(TWO, [ONE, TWO])]


def test_what_came_while_the_group_is_shared_out_anew_is_read_again() -> None:
    """The client's position is behind it already, in its new assignment as well."""
    fetching = Fetching(None, flow=False)
    assert delivered(fetching) == delivered(fetching) == []
    assert fetching.sought == []
    fetching.flow_active = True
    assert delivered(fetching) == [(GONE, [ONE, TWO, GONE])]
    assert fetching.sought == [{(ONE.topic, ONE.partition): 7}]
    assert delivered(fetching) == [(GONE, [ONE, TWO, GONE])]
    assert len(fetching.sought) == 1


def test_what_is_left_out_is_read_again() -> None:
    """The partition may be ours again by now."""
    fetching = Fetching({TWO})
    assert delivered(fetching) == [(TWO, [TWO])]
    fetching.active = None
    assert delivered(fetching) == [(GONE, [ONE, TWO, GONE])]
    assert len(fetching.sought) == 1


def test_who_ends_takes_nothing_more() -> None:
    assert delivered(Fetching(None, ended=True)) == []


def test_the_stream_goes_on_where_the_shell_ended_whatever_was_committed() -> None:
    """Of what is ours by now; and if it is not by then, it is sought again after the next time."""
    sought: list[dict[TP, int]] = []

    async def seek_wait(positions: dict[TP, int]) -> None:
        sought.append(positions)
        raise IllegalStateError

    stub: Any = SimpleNamespace(assignment=lambda: {ONE, TWO}, seek_wait=seek_wait)
    found = {(tp.topic, tp.partition): offset for tp, offset in ((ONE, 0), (TWO, 5), (GONE, 9))}
    asyncio.run(Consumer.go_on_from(stub, found))
    assert sought == [{ONE: 0, TWO: 5}]


# --- settings


def app_of(bootstrap: str = "127.0.0.1:9092", instance: str | None = None, **kafka: str) -> Any:
    table = {key.replace("_", "."): value for key, value in kafka.items()}
    return make_app("group", Settings(bootstrap=bootstrap, kafka=table), instance, ["b", "a"])


def test_an_app_asks_all_brokers_that_are_named() -> None:
    assert [str(url) for url in app_of("a:1,b:2").conf.broker] == ["kafka://a:1", "kafka://b:2"]


def test_an_app_takes_the_keys_that_it_knows_from_the_kafka_table() -> None:
    conf = app_of(session_timeout_ms="45000", heartbeat_interval_ms="3000", client_id="me").conf
    assert (conf.broker_session_timeout, conf.broker_heartbeat_interval) == (45.0, 3.0)
    assert conf.broker_client_id == "me"
    # Faust refuses to start otherwise.
    assert conf.broker_request_timeout >= conf.broker_session_timeout


def test_an_app_without_them_has_what_was_measured() -> None:
    conf = app_of(instance="w0").conf
    assert (conf.broker_session_timeout, conf.broker_heartbeat_interval) == (10.0, 2.0)
    assert conf.consumer_group_instance_id == "w0"
    assert conf.broker_credentials is None


@pytest.mark.parametrize("text", ["soon", "0", "-1", "1.5", "²"])
def test_a_time_that_is_none_is_told(text: str) -> None:
    with pytest.raises(BadSettings, match="a number of milliseconds above 0"):
        app_of(session_timeout_ms=text)


def made(**kafka: str) -> Any:
    return credentials(Settings(kafka={key.replace("_", "."): v for key, v in kafka.items()}))


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "scram-sha-512"])
def test_a_login_is_passed_on(mechanism: str) -> None:
    found = made(
        security_protocol="sasl_plaintext",
        sasl_mechanism=mechanism,
        sasl_username="alice",
        sasl_password="horse",  # noqa: S106 - nobody's
    )
    assert (found.username, found.password) == ("alice", "horse")
    assert found.mechanism.value == mechanism.upper()
    assert found.protocol.value == "SASL_PLAINTEXT"


def test_tls_is_verified_unless_it_is_told_otherwise() -> None:
    context = made(security_protocol="SSL").context
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    context = made(security_protocol="SSL", ssl_endpoint_identification_algorithm="none").context
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, False)
    context = made(
        security_protocol="SASL_SSL",
        sasl_mechanism="PLAIN",
        enable_ssl_certificate_verification="false",
    ).ssl_context
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_NONE, False)


@pytest.mark.parametrize(
    ("kafka", "told"),
    [
        ({"security_protocol": "TLS"}, "security.protocol: TLS is none that Kafka knows"),
        ({"security_protocol": "SASL_PLAINTEXT"}, "sasl.mechanism: GSSAPI is not to be had here"),
        ({"security_protocol": "SSL", "ssl_ca_location": "/nowhere"}, "cannot be used"),
        ({"security_protocol": "SSL", "ssl_ca_pem": "nonsense"}, "cannot be used"),
        ({"security_protocol": "SSL", "ssl_certificate_location": "/nowhere"}, "cannot be used"),
    ],
)
def test_security_that_cannot_be_had_is_told(kafka: dict[str, str], told: str) -> None:
    with pytest.raises(BadSettings, match=f"\\[kafka\\] .*{told}"):
        made(**kafka)


# --- an app that ends itself


def test_an_app_makes_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app_of()._create_directories()
    assert list(tmp_path.iterdir()) == []


def test_a_revocation_in_the_middle_of_a_restore_waits_for_nobody() -> None:
    app, asked = app_of(), []

    async def revoked() -> None:
        asked.append(app.restoring)

    app.hooks = SimpleNamespace(revoked=revoked)
    app.settled, app.restoring = True, 1
    asyncio.run(app._revoked(app, set()))
    assert (asked, app.settled) == ([], False)
    app.restoring = 0
    asyncio.run(app._revoked(app, set()))
    assert asked == [0]


def run(code: str) -> subprocess.CompletedProcess[str]:
    head = """
from types import SimpleNamespace
from components.runtime.faust import agents
from components.runtime.faust import app as faust_app
from components.runtime.process.logs import configure_logs
from turbine_client.settings import Settings
configure_logs()
app = faust_app.make_app("group", Settings(bootstrap="127.0.0.1:1"), None, ["topic"])
async def stopping(): return {}
app.hooks = SimpleNamespace(stopping=stopping)
"""
    return subprocess.run(
        [sys.executable, "-c", head + code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_whatever_ends_faust_is_told_in_one_line() -> None:
    done = run("agents.work(app)")
    assert done.returncode == 70
    assert "Faust gave up: KafkaConnectionError" in done.stderr.splitlines()[-1]


def test_a_failed_agent_ends_the_process_before_its_event_is_acknowledged() -> None:
    done = run(
        "import asyncio; asyncio.run(app._on_agent_error('agent', ValueError('no such row')))"
    )
    assert done.returncode == 70
    assert "ValueError('no such row')" in done.stderr.splitlines()[-1]


REFUSED = (
    "SimpleNamespace(_thread=SimpleNamespace(_consumer=SimpleNamespace("
    "_coordinator=SimpleNamespace(_pending_exception=ValueError('denied')))))"
)


@pytest.mark.parametrize(
    ("state", "code", "told"),
    [
        (f"app._consumer = {REFUSED}", 72, "denied"),
        ("app.stuck_s = 0.1", 73, "no assignment in 0.1 s"),
    ],
)
def test_a_worker_without_partitions_does_not_wait_for_ever(
    state: str, code: int, told: str
) -> None:
    done = run(f"{state}\napp._watch()")
    assert done.returncode == code
    assert told in done.stderr.splitlines()[-1]


def test_a_long_restore_is_not_taken_for_a_worker_that_is_stuck() -> None:
    done = run(
        "import threading, time\napp.stuck_s = 0.1\napp.restoring = 1\n"
        "threading.Thread(target=app._watch, daemon=True).start()\ntime.sleep(5)\nprint('lives')"
    )
    assert (done.returncode, done.stdout) == (0, "lives\n")
