"""The peer of the shard manager: reads and decodes what containers say, and keeps nothing.

Argument: bootstrap address. It follows the topic of containers from its end until it is ended, with
the client of the components, as the bare loop of `replay` reads.
"""

from __future__ import annotations

import io
import signal
import sys

from fastavro import parse_schema, schemaless_reader

from components.runtime.kafka.clients import partitions_of
from components.runtime.process.garbage import collect_seldom
from events.topics import CONTAINERS, place
from events.wire.lock import read_lock
from turbine_client.clients import (
    consumer,
    spot,
)
from turbine_client.reading import ends_now
from turbine_client.settings import Settings

AT_ONCE, WAIT_S = 500, 0.05


def main(bootstrap: str) -> None:
    stop: list[bool] = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    settings = Settings(bootstrap=bootstrap)
    schemas = {one.id: parse_schema(one.schema) for one in read_lock()}
    places = [place(CONTAINERS, p) for p in range(partitions_of(settings)[CONTAINERS])]
    client = consumer(settings)
    client.assign([spot(settings, at, end) for at, end in ends_now(settings, places).items()])
    collect_seldom()
    print('"ready"', flush=True)
    while not stop:
        for message in client.consume(AT_ONCE, WAIT_S):
            error = message.error()
            assert error is None, error.str()
            value = message.value() or b""
            schemaless_reader(
                io.BytesIO(value[5:]), schemas[int.from_bytes(value[1:5], "big")], None
            )
    client.close()


if __name__ == "__main__":
    main(sys.argv[1])
