"""Faust as it has to be so that nothing is lost: fail-stop, and with its known traps closed.

The one place that knows Faust's private names. Of Faust we use group membership, the live stream,
timers and commits; rows, recovery and emission are our own (components.runtime.shell). Each
override says which defect of faust-streaming 0.15.3 it is for.
"""

from __future__ import annotations

import os
import sys
import threading
import time  # noqa: TID251 - a watchdog watches real time
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import faust
import structlog
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from components.runtime.settings import BadSettings, Settings

log = structlog.get_logger(__name__)

EXIT_FAILED_HANDLER = 70
EXIT_REFUSED_WRITE = 71
EXIT_FAILED_JOIN = 72
EXIT_STUCK = 73
EXIT_FAILED_RESTORE = 74
EXIT_STOP_DEADLINE = 75
EXIT_EVICTED = 77

RAW = {
    "key_type": bytes,
    "value_type": bytes,
    "key_serializer": "raw",
    "value_serializer": "raw",
}


def die(code: int, sentence: str) -> None:
    """Ends the process at once: nothing is committed, so nothing is lost."""
    log.critical("fail-stop", code=code, why=sentence)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Thread(driver.AIOKafkaConsumerThread):  # type: ignore[misc]  # Faust's classes are untyped
    """The consumer's thread."""

    def _create_worker_consumer(self, transport: Any) -> Any:
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
                die(EXIT_EVICTED, "evicted from the group; another may own the partitions")
            forget()

        coordinator.reset_generation = evicted


class Consumer(driver.Consumer):  # type: ignore[misc]  # Faust's classes are untyped
    """The consumer's half in the main thread."""

    def _new_consumer_thread(self) -> Thread:
        return Thread(self, loop=self.loop, beacon=self.beacon)

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
    stop_deadline_s = 20.0
    stuck_s = 60.0

    class BootStrategy(faust.App.BootStrategy):  # type: ignore[misc]  # Faust's classes are untyped
        """The command line would switch an unauthenticated web server on."""

        enable_web = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.input_names: list[str] = []
        self.settled = False  # assigned and restored
        self.hooks: Any = None
        self.on_rebalance_complete.connect(self._restore)
        self.on_partitions_revoked.connect(self._revoked)

    def _new_transport(self) -> Transport:
        return Transport(self.conf.broker_consumer, self)

    def _new_producer_transport(self) -> Transport:
        return Transport(self.conf.broker_producer, self)

    async def on_start(self) -> None:
        """A thread, since a task of Faust's own would start only after the first recovery."""
        threading.Thread(target=self._watch, daemon=True).start()
        await super().on_start()

    async def on_stop(self) -> None:
        """Stock can wait for ever where the broker is gone."""
        self.settled = False
        timer = threading.Timer(
            self.stop_deadline_s, die, (EXIT_STOP_DEADLINE, "could not stop in time")
        )
        timer.daemon = True
        timer.start()
        await self.hooks.stopping()
        await super().on_stop()

    async def _on_agent_error(self, agent: Any, error: BaseException) -> None:
        # Stock logs, acknowledges the event and goes on: the event would be lost.
        log.error("agent failed", agent=str(agent), exc_info=error)
        die(EXIT_FAILED_HANDLER, repr(error))

    async def _revoked(self, app: Any, revoked: Any, **_: Any) -> None:  # noqa: ARG002 - Faust's signature
        self.settled = False
        await self.hooks.revoked()

    async def _restore(self, app: Any, **_: Any) -> None:  # noqa: ARG002 - Faust's signature
        """Faust awaits this before it seeks and resumes the partitions."""
        # Stock resumes with the flow on and then clears the queues: the heads are lost.
        self.consumer.stop_flow()
        generation = self.consumer_generation_id
        try:
            await self.hooks.assigned({tp.partition for tp in self.consumer.assignment()})
        except Exception as error:
            log.exception("restore failed")
            die(EXIT_FAILED_RESTORE, repr(error))
        self.settled = generation == self.consumer_generation_id

    async def commit_positions(self, positions: Mapping[tuple[str, int], int]) -> None:
        """Commits what is kept, for lag tools and for where the stream goes on."""
        mine = self.consumer.assignment()
        offsets = {TP(*at): offset for at, offset in positions.items() if TP(*at) in mine}
        if offsets and self.settled:
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
            if self.should_stop or (self.settled and not self.rebalancing):
                well = time.monotonic()
            elif time.monotonic() - well > self.stuck_s:
                die(EXIT_STUCK, f"no assignment in {self.stuck_s:g} s")


def make_app(
    group: str, settings: Settings, instance: str | None, inputs: Iterable[str], **more: Any
) -> App:
    """An app over these topics, a static member of its group where `instance` is given."""
    options: dict[str, Any] = {
        "broker": f"kafka://{settings.bootstrap}",
        "version": 1,
        "topic_allow_declare": False,
        "topic_disable_leader": True,
        "table_standby_replicas": 0,
        "key_serializer": "raw",
        "value_serializer": "raw",
        "broker_commit_interval": 1.0,
        "broker_session_timeout": 10.0,
        "broker_heartbeat_interval": 2.0,
        "broker_request_timeout": 20.0,
        "broker_rebalance_timeout": 20.0,
        "consumer_auto_offset_reset": "earliest",
        "stream_buffer_maxsize": 1024,
        "broker_max_poll_records": 500,
        "web_enabled": False,
        "worker_redirect_stdouts": False,
        "consumer_group_instance_id": instance,
        "broker_credentials": credentials(settings),
    }
    app = App(group, **(options | more))
    app.input_names = sorted(inputs)
    return app


def credentials(settings: Settings) -> Any:
    """The security keys of the [kafka] table as Faust wants them."""
    table = settings.kafka
    protocol = table.get("security.protocol", "plaintext").upper()
    context = None
    if protocol.endswith("SSL"):
        import ssl  # noqa: PLC0415 - only where it is asked for

        context = ssl.create_default_context(cafile=table.get("ssl.ca.location"))
        if "ssl.certificate.location" in table:
            context.load_cert_chain(
                table["ssl.certificate.location"], table.get("ssl.key.location")
            )
    if protocol == "PLAINTEXT":
        return None
    if protocol == "SSL":
        return faust.SSLCredentials(context=context)
    if not protocol.startswith("SASL_"):
        raise BadSettings(f"[kafka] security.protocol: {protocol} is none that Kafka knows")
    return faust.SASLCredentials(
        username=table.get("sasl.username", ""),
        password=table.get("sasl.password", ""),
        mechanism=table.get("sasl.mechanism", table.get("sasl.mechanisms", "PLAIN")),
        ssl_context=context,
    )
