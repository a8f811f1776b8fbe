"""Faust as it has to be so that nothing is lost: fail-stop, and with its known traps closed.

The one place that knows Faust's private names. Of Faust we use group membership, the live stream,
timers and commits; rows, recovery and emission are our own (components.runtime.faust.shell). Each
override says which defect of faust-streaming 0.15.3 it is for.
"""

from __future__ import annotations

import threading
import time  # noqa: TID251 - a watchdog watches real time
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import faust
import structlog
from aiokafka.consumer import fetcher
from aiokafka.errors import CorruptRecordException, IllegalStateError, KafkaError
from aiokafka.record.memory_records import _MemoryRecordsPy as Batches
from aiokafka.structs import ConsumerRecord
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from components.runtime.kafka.surveying import fail
from components.runtime.process.exits import (
    EXIT_EVICTED,
    EXIT_FAILED_HANDLER,
    EXIT_FAILED_JOIN,
    EXIT_STOP_DEADLINE,
    EXIT_STUCK,
    EXIT_UNREADABLE,
    STOP_DEADLINE_S,
    die,
    leave,
    too_late,
)
from turbine_client.settings import BadSettings, Settings

log = structlog.get_logger(__name__)

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
RAW = {
    "key_type": bytes,
    "value_type": bytes,
    "key_serializer": "raw",
    "value_serializer": "raw",
}
INFLATED_HERE, RECORDS_HERE = 16 * 1024, 1_000
"""Bytes of a compressed batch, and records of any. What is beyond is left to the other reader: it
is far faster, and holds a few messages at a time and not all of them twice."""


class Records(fetcher.PartitionRecords):  # type: ignore[misc]  # aiokafka's classes are untyped
    """What was fetched of one partition, with a stand-in for each batch that cannot be decoded.

    aiokafka has no codec but gzip by itself, and no name of a header that is not UTF-8; stock ends
    the worker at such a batch, and the next one again. The shell reads its offsets by librdkafka,
    which has the codecs, so that all readers see the same.
    """

    next_fetch_offset: int

    def _unpack_records(self) -> Iterator[Any]:
        while self._records.has_next():
            large = len(self._records._next_slice) > INFLATED_HERE
            batch = self._records.next_batch()
            if self._check_crcs and not batch.validate_crc():
                raise CorruptRecordException(f"wrong checksum in a batch of {self._tp}")
            many = batch.next_offset - self.next_fetch_offset > RECORDS_HERE
            if many or (large and batch.compression_type):
                yield self._stand_in(batch.next_offset)
            elif not batch.is_control_batch:
                try:
                    for record in batch:
                        if record.offset >= self.next_fetch_offset:
                            self.next_fetch_offset = record.offset + 1
                            yield self._consumer_record(self._tp, record)
                except (KafkaError, ValueError):  # UnicodeDecodeError is one
                    yield self._stand_in(batch.next_offset)
            self.next_fetch_offset = batch.next_offset

    def _stand_in(self, end: int) -> ConsumerRecord:
        missing, tp = range(self.next_fetch_offset, end), self._tp
        # Out of band: no header that a producer could write has this effect.
        return ConsumerRecord(
            tp.topic, tp.partition, end - 1, 0, 1, None, None, missing, -1, -1, ()
        )


class Thread(driver.AIOKafkaConsumerThread):  # type: ignore[misc]  # Faust's classes are untyped
    """The thread of Faust's consumer, with our fetcher and our assignor."""

    def _create_worker_consumer(self, transport: Any) -> Any:
        fetcher.PartitionRecords = Records
        fetcher.MemoryRecords = Batches
        client, app = super()._create_worker_consumer(transport), self.app
        client._fetch_max_wait_ms = app.fetch_wait_ms  # hard-coded to 1500 ms
        # Without a table Faust falls back to round robin, which splits one partition number of
        # several topics over two workers; its own assignor keeps them together.
        self._assignor = app.assignor
        client._partition_assignment_strategy = [app.assignor]
        if client._group_instance_id:
            # A static member that comes back with other topics gets its old assignment for ever.
            topics = zlib.crc32(repr(sorted(app.input_names)).encode())
            client._group_instance_id += f"-{topics:08x}"
        return client

    async def on_start(self) -> None:
        """An evicted member would rejoin with its old memory beside its successor: it dies."""
        await super().on_start()
        coordinator = self._consumer._coordinator
        forget = coordinator.reset_generation

        def evicted() -> None:
            if not self.app.should_stop:
                fail(EXIT_EVICTED, "evicted from the group; another may own the partitions")
            forget()

        coordinator.reset_generation = evicted


class Consumer(driver.Consumer):  # type: ignore[misc]  # Faust's classes are untyped
    """The consumer's half in the main thread."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.passed_over = False  # something was fetched that nobody got

    def _new_consumer_thread(self) -> Thread:
        return Thread(self, loop=self.loop, beacon=self.beacon)

    async def perform_seek(self) -> None:
        """The stream begins where the shell ended. Stock goes back to what was committed, and not
        at all where nothing was: what it had fetched and thrown away there was lost."""
        await self.go_on_from(self.app.restored)

    async def go_on_from(self, positions: Mapping[tuple[str, int], int]) -> None:
        mine = self.assignment()
        begin = {TP(*at): offset for at, offset in positions.items() if TP(*at) in mine}
        with suppress(IllegalStateError):  # they are shared out anew, and sought again after it
            await self.seek_wait(begin)

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[Any, Any]]:
        """One message for all that was fetched at once: stock spends 0.2 ms on each record, and
        that is more than we need to read, fold and decide it."""
        if self.passed_over and self.flow_active:
            self.passed_over = False
            await self.go_on_from(await self.app.hooks.positions())
        fetched, active = await self._wait_next_records(timeout)
        if fetched is None or self.should_stop:
            return
        if not self.flow_active:
            # It had been asked for before the partitions were shared out anew.
            self.passed_over = self.passed_over or bool(fetched)
            return
        # Of a partition that was set aside for a full buffer, what was under way comes all the
        # same: left out, it would be read no more.
        wanted = {
            tp: come
            for tp, come in fetched.items()
            if active is None or tp in active or tp in self._buffered_partitions
        }
        self.passed_over = len(wanted) < len(fetched)
        records = [record for of_place in wanted.values() for record in of_place]
        if records:
            message = self._to_message(TP(records[-1].topic, records[-1].partition), records[-1])
            # Out of band, as a stand-in's gap: Faust would decode a value.
            message.value, message.checksum = None, records
            yield message.tp, message

    async def _getmany(self, active_partitions: set[Any] | None, timeout: float) -> Any:
        # Stock hands its live set to the other thread and then changes it: events vanish.
        wanted = None if active_partitions is None else set(active_partitions)
        return await super()._getmany(wanted, timeout)

    async def _wait_next_records(self, timeout: float) -> Any:
        # Stock sleeps a second whenever every buffer is full.
        if self.flow_active and not self._get_active_partitions():
            await self.sleep(0.005)
            return {}, set()
        return await super()._wait_next_records(timeout)


class Transport(driver.Transport):  # type: ignore[misc]  # Faust's classes are untyped
    """Our consumer, stock producer (which has nothing to say)."""

    Consumer = Consumer


class App(faust.App):  # type: ignore[misc]  # Faust's classes are untyped
    """An app that ends itself instead of going on with less than the truth."""

    fetch_wait_ms = 100
    stop_deadline_s = STOP_DEADLINE_S
    stuck_s = 60.0

    class BootStrategy(faust.App.BootStrategy):  # type: ignore[misc]  # Faust's classes are untyped
        """The command line would switch an unauthenticated web server on."""

        enable_web = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.input_names: list[str] = []
        self.settled = False  # assigned and restored
        self.restoring = 0
        self.restored: Mapping[tuple[str, int], int] = {}  # where the shell ended
        self.hooks: Any = None
        self.on_rebalance_complete.connect(self._restore)
        self.on_partitions_revoked.connect(self._revoked)

    def _new_transport(self) -> Transport:
        return Transport(self.conf.broker_consumer, self)

    def _new_producer_transport(self) -> Transport:
        return Transport(self.conf.broker_producer, self)

    def _create_directories(self) -> None:
        """Stock makes a directory where the process stands, for tables that we do not have."""

    async def on_start(self) -> None:
        """A thread, since a task of Faust's own would start only after the first recovery."""
        threading.Thread(target=self._watch, daemon=True).start()
        await super().on_start()

    async def on_stop(self) -> None:
        """Stock can wait for ever where the broker is gone."""
        timer = threading.Timer(
            self.stop_deadline_s, die, (EXIT_STOP_DEADLINE, too_late(self.stop_deadline_s))
        )
        timer.daemon = True
        timer.start()
        if self.restoring:
            # Nothing was said and nothing changed: there is nothing to wait for.
            log.info("stopped before it had caught up")
            leave(0)
        last = await self.hooks.stopping()
        if not self.crashed:  # the consumer's thread may be gone
            # The last positions too: a component that was stopped in order has no lag.
            await self.commit_positions(last)
        self.settled = False
        await super().on_stop()

    async def _on_agent_error(self, agent: Any, error: BaseException) -> None:
        # Stock logs, acknowledges the event and goes on: the event would be lost.
        log.error("agent failed", agent=str(agent), exc_info=error)
        fail(EXIT_FAILED_HANDLER, repr(error))

    async def _revoked(self, app: Any, revoked: Any, **_: Any) -> None:  # noqa: ARG002 - Faust's signature
        self.settled = False
        # The shell may be reading a long log for an assignment that is over by now, and whoever
        # lets the group wait for it is thrown out. It has changed nothing that could be kept.
        if not self.restoring:
            await self.hooks.revoked()

    async def _restore(self, app: Any, **_: Any) -> None:  # noqa: ARG002 - Faust's signature
        """Faust awaits this before it seeks and resumes the partitions."""
        # Stock resumes with the flow on and then clears the queues: the heads are lost.
        self.consumer.stop_flow()
        generation = self.consumer_generation_id
        self.restoring += 1
        try:
            await self.hooks.assigned({tp.partition for tp in self.consumer.assignment()})
            self.restored = await self.hooks.positions()
        except Exception as error:
            log.exception("restore failed")
            fail(EXIT_UNREADABLE, f"the partitions could not be restored: {error!r}")
        finally:
            self.restoring -= 1
        self.settled = generation == self.consumer_generation_id

    async def commit_positions(self, positions: Mapping[tuple[str, int], int]) -> None:
        """Commits what is kept, for lag tools and for where the stream goes on."""
        if not self.settled:
            return
        mine = self.consumer.assignment()
        offsets = {TP(*at): offset for at, offset in positions.items() if TP(*at) in mine}
        if offsets:
            await self.consumer._commit(offsets)

    def _watch(self) -> None:
        """Faust never collects the coordinator's errors: a failed join would wait for ever."""
        well = time.monotonic()
        while True:
            time.sleep(2)
            thread = getattr(self._consumer, "_thread", None)
            client = getattr(thread, "_consumer", None)
            error = getattr(getattr(client, "_coordinator", None), "_pending_exception", None)
            if error is not None:
                die(EXIT_FAILED_JOIN, f"could not join the group: {error!r}")
            # A long log takes its time; every step of a restore has a deadline of its own.
            restored = self.settled and not self.rebalancing
            if self.should_stop or self.restoring or restored:
                well = time.monotonic()
            elif time.monotonic() - well > self.stuck_s:
                die(EXIT_STUCK, f"no assignment in {self.stuck_s:g} s")


class Worker(faust.Worker):  # type: ignore[misc]  # Faust's classes are untyped
    """Ends when all is stopped; stock sleeps a second after that, which is most of a restart."""

    def _shutdown_loop(self) -> None:
        if self._signal_stop_time and not self.crashed and not self.app.crashed:
            leave(0)
        super()._shutdown_loop()


def make_app(
    group: str, settings: Settings, instance: str | None, inputs: Iterable[str], **more: Any
) -> App:
    """An app over these topics, a static member of its group where `instance` is given."""
    session_s = _seconds(settings, "session.timeout.ms", 10.0)
    options: dict[str, Any] = {
        "broker": [f"kafka://{address}" for address in settings.bootstrap.split(",")],
        "broker_client_id": settings.kafka.get("client.id", group),
        "version": 1,
        "topic_allow_declare": False,
        "topic_disable_leader": True,
        "table_standby_replicas": 0,
        "key_serializer": "raw",
        "value_serializer": "raw",
        "broker_commit_interval": 1.0,
        "broker_session_timeout": session_s,
        "broker_heartbeat_interval": _seconds(settings, "heartbeat.interval.ms", session_s / 5),
        "broker_request_timeout": max(20.0, session_s),  # Faust demands the greater of them
        "broker_rebalance_timeout": 20.0,
        "consumer_auto_offset_reset": "earliest",
        "stream_buffer_maxsize": 4,  # of what was fetched at once
        "broker_max_poll_records": 500,
        "web_enabled": False,
        "worker_redirect_stdouts": False,
        "consumer_group_instance_id": instance,
        "broker_credentials": credentials(settings),
    }
    app = App(group, **(options | more))
    app.input_names = sorted(inputs)
    return app


def _seconds(settings: Settings, key: str, default: float) -> float:
    text = settings.kafka.get(key)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and int(text)):
        raise BadSettings(f"[kafka] {key} is a number of milliseconds above 0, not {text!r}")
    return int(text) / 1000


def credentials(settings: Settings) -> Any:
    """The security keys of the [kafka] table as Faust wants them."""
    table = settings.kafka
    protocol = table.get("security.protocol", "plaintext").upper()
    context = _tls(table) if protocol.endswith("SSL") else None
    if protocol == "PLAINTEXT":
        return None
    if protocol == "SSL":
        return faust.SSLCredentials(context=context)
    if not protocol.startswith("SASL_"):
        raise BadSettings(
            f"[kafka] security.protocol: {protocol} is none that Kafka knows; it is PLAINTEXT,"
            " SSL, SASL_PLAINTEXT or SASL_SSL"
        )
    mechanism = table.get("sasl.mechanism", table.get("sasl.mechanisms", "GSSAPI")).upper()
    if mechanism not in MECHANISMS:
        raise BadSettings(
            f"[kafka] sasl.mechanism: {mechanism} is not to be had here; it is one of"
            f" {', '.join(MECHANISMS)}"
        )
    return faust.SASLCredentials(
        username=table.get("sasl.username", ""),
        password=table.get("sasl.password", ""),
        mechanism=mechanism,
        ssl_context=context,
    )


def _tls(table: Mapping[str, str]) -> Any:
    """What librdkafka makes of the same keys."""
    import ssl  # noqa: PLC0415 - only where it is asked for

    try:
        context = ssl.create_default_context(
            cafile=table.get("ssl.ca.location"), cadata=table.get("ssl.ca.pem")
        )
        certificate = table.get("ssl.certificate.location")
        if certificate is not None:
            context.load_cert_chain(
                certificate, table.get("ssl.key.location"), table.get("ssl.key.password")
            )
    except (OSError, ValueError) as bad:  # ssl.SSLError is an OSError
        raise BadSettings(f"[kafka] ssl.*: a certificate or key cannot be used: {bad}") from None
    verified = table.get("enable.ssl.certificate.verification", "true") == "true"
    named = table.get("ssl.endpoint.identification.algorithm", "https") != "none"
    context.check_hostname = verified and named
    if not verified:
        context.verify_mode = ssl.CERT_NONE
    return context
