"""What `components.runtime.faust.app` leans on inside Faust, aiokafka and mode is there.

Their private names may change in any release: then it is found here, and not at night.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import aiokafka
import faust
from aiokafka.consumer import fetcher
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.structs import ConsumerRecord
from faust.agents.agent import Agent
from faust.streams import Stream
from faust.tables.recovery import Recovery
from faust.transport import consumer as stock
from faust.transport.drivers import aiokafka as driver
from faust.types.tuples import Message
from mode.services import Service
from mode.utils.queues import FlowControlQueue, ThrowableQueue
from mode.worker import Worker

from components.runtime.faust import app as faust_app

ROOT = Path(__file__).resolve().parents[2]

# What must be an attribute of what. Overridden, called or read by us.
ATTRIBUTES = [
    (driver.AIOKafkaConsumerThread, "_create_worker_consumer"),
    (driver.AIOKafkaConsumerThread, "on_start"),
    (driver.Consumer, "_new_consumer_thread"),
    (driver.Consumer, "_getmany"),
    (driver.Consumer, "_to_message"),
    (driver.Consumer, "getmany"),
    (driver.Consumer, "_wait_next_records"),
    (driver.Consumer, "_get_active_partitions"),
    (driver.Consumer, "_commit"),
    (driver.Consumer, "assignment"),
    (driver.Consumer, "perform_seek"),
    (driver.Consumer, "seek_wait"),
    (driver.Consumer, "stop_flow"),
    (driver.Consumer, "flow_active"),
    (driver.Transport, "Consumer"),
    (faust.App, "_new_transport"),
    (faust.App, "_new_producer_transport"),
    (faust.App, "_create_directories"),
    (faust.App, "_on_agent_error"),
    (faust.App, "_consumer"),
    (faust.App, "on_start"),
    (faust.App, "on_stop"),
    (faust.App, "on_rebalance_complete"),
    (faust.App, "on_partitions_revoked"),
    (faust.App, "consumer_generation_id"),
    (faust.App, "rebalancing"),
    (faust.App.BootStrategy, "enable_web"),
    (Service, "should_stop"),
    (Service, "crashed"),
    (Service, "crash_reason"),
    (faust.Worker, "spinner"),
    (Worker, "execute_from_commandline"),
    (Worker, "_shutdown_loop"),
    (Worker, "_signal_stop_time"),
    (GroupCoordinator, "reset_generation"),
    (fetcher, "PartitionRecords"),
    (fetcher, "MemoryRecords"),
    (fetcher.PartitionRecords, "_unpack_records"),
    (fetcher.PartitionRecords, "_consumer_record"),
    (ThrowableQueue, "get_nowait"),
    (FlowControlQueue, "maybe_endorse_pressure_drop"),
]

# Which text must stand in whose source: an attribute that is set when an object is made, or a call
# without which an override of ours would never be reached.
TEXTS = [
    (aiokafka.AIOKafkaConsumer, "self._fetch_max_wait_ms ="),
    (aiokafka.AIOKafkaConsumer, "self._partition_assignment_strategy ="),
    (aiokafka.AIOKafkaConsumer, "self._group_instance_id ="),
    (aiokafka.AIOKafkaConsumer, "self._coordinator ="),
    (aiokafka.AIOKafkaConsumer.start, "fetch_max_wait_ms=self._fetch_max_wait_ms"),
    (aiokafka.AIOKafkaConsumer.start, "assignors=self._partition_assignment_strategy"),
    (aiokafka.AIOKafkaConsumer.start, "group_instance_id=self._group_instance_id"),
    (GroupCoordinator, "self._pending_exception ="),
    (GroupCoordinator._do_heartbeat, "self.reset_generation()"),
    (fetcher.Fetcher, "= MemoryRecords("),
    (fetcher.Fetcher, "= PartitionRecords("),
    (fetcher.PartitionRecords.__init__, "self._records ="),
    (fetcher.PartitionRecords.__init__, "self._check_crcs ="),
    (fetcher.PartitionRecords.__init__, "self._tp ="),
    (faust_app.Batches.__init__, "self._next_slice:"),
    (fetcher.PartitionRecords.__init__, "self.next_fetch_offset ="),
    (fetcher.PartitionRecords.__init__, "self._records_iterator = self._unpack_records()"),
    (driver.AIOKafkaConsumerThread, "self._consumer = self._create_consumer("),
    (driver.AIOKafkaConsumerThread._create_consumer, "self._create_worker_consumer("),
    (driver.AIOKafkaConsumerThread._create_worker_consumer, "self._assignor ="),
    (stock.Consumer._drain_messages, "getmany(timeout="),
    (stock.Consumer.getmany, "or tp in self._buffered_partitions"),
    (Message.__init__, "self.checksum:"),
    (Message.__init__, "self.value:"),
    (stock.ThreadDelegateConsumer, "self._thread = self._new_consumer_thread()"),
    (stock.Consumer.getmany, "self._wait_next_records("),
    (stock.Consumer._wait_next_records, "self._getmany("),
    (Worker.stop_and_shutdown, "self._shutdown_loop()"),
    (Recovery._resume_streams, "await app.on_rebalance_complete.send()"),
    (faust.App._on_partitions_revoked, "self.on_partitions_revoked.send"),
    (faust.App.agent, "on_error=self._on_agent_error"),
    (Agent._execute_actor, "self._on_error"),
    (Stream.__init__, "self.channel ="),
    (FlowControlQueue.get_nowait, "self.maybe_endorse_pressure_drop()"),
]


Pairs = Sequence[tuple[Any, str]]


def lacks(owner: Any, name: str) -> str:
    """What is missing; nothing where the attribute is there, by itself or as an annotation."""
    annotated = any(name in vars(base).get("__annotations__", {}) for base in _bases(owner))
    return "" if hasattr(owner, name) or annotated else f"{owner!r} has no {name} any more"


def _bases(owner: Any) -> tuple[Any, ...]:
    return inspect.getmro(owner) if inspect.isclass(owner) else (owner,)


def lacks_text(owner: Any, text: str) -> str:
    return "" if text in inspect.getsource(owner) else f"{owner!r} does not say {text!r} any more"


def missing(attributes: Pairs, texts: Pairs) -> list[str]:
    """All that is not there any more."""
    found = [lacks(*one) for one in attributes] + [lacks_text(*one) for one in texts]
    return [one for one in found if one]


def test_every_private_name_and_use_is_there() -> None:
    found = missing(ATTRIBUTES, TEXTS)
    assert not found, "\n" + "\n".join(found)


def test_all_names_that_disappear_are_missed() -> None:
    gone = [(driver.Consumer, "_getmore"), (Service, "_stopped_for_ever")]
    found = missing([gone[0], *ATTRIBUTES, gone[1]], [*TEXTS, (Message.__init__, "self.more:")])
    assert [one.split()[-3] for one in found[:2]] == ["_getmore", "_stopped_for_ever"]
    assert len(found) == 3
    assert lacks(driver.Consumer, "_getmore") == f"{driver.Consumer!r} has no _getmore any more"
    assert lacks_text(driver.Consumer, "self._getmore(").endswith("'self._getmore(' any more")


OURS = {"_restore", "_revoked", "_watch", "_stand_in", "_seconds", "_tls"}
"""Private names that `faust_app` gives away itself, and does not find anywhere."""


def test_every_private_name_that_we_use_is_in_these_lists() -> None:
    tree = ast.parse(Path(inspect.getfile(faust_app)).read_text())
    used = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                used.add(name)
            case ast.Attribute(attr=name):
                used.add(name)
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
                used.add(name)
    private = {name for name in used if name.startswith("_") and not name.startswith("__")}
    assert private > OURS
    listed = {name for _, name in ATTRIBUTES}
    told = " ".join(text for _, text in TEXTS)
    assert {name for name in private - OURS if name not in listed and name not in told} == set()


def test_the_versions_are_those_that_the_overrides_were_written_for() -> None:
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split())
    for name in ("faust-streaming", "mode-streaming", "aiokafka"):
        assert version(name) == pins[name]


def test_a_record_of_aiokafka_is_made_as_it_always_was() -> None:
    fields = [
        "topic",
        "partition",
        "offset",
        "timestamp",
        "timestamp_type",
        "key",
        "value",
        "checksum",
        "serialized_key_size",
        "serialized_value_size",
        "headers",
    ]
    assert list(inspect.signature(ConsumerRecord).parameters) == fields


def test_faust_is_imported_from_nowhere_else() -> None:
    """`agents` names the app and the worker; private names are here alone."""
    source = inspect.getsource(importlib.import_module("components.runtime.faust.agents"))
    assert "faust._" not in source
    assert "aiokafka" not in source
