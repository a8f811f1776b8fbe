"""A client that is not ours, in another language, gets its schemas from our registry."""

from __future__ import annotations

import json
import threading

import pytest

from events.generated.records import ConfigChangeProposed
from events.wire.codec import encode
from tests.foreign.node import run_script
from turbine.contract.registry import RegistryServer

BODY = ConfigChangeProposed("1767225600000.a", "clicks", "me", set_json='{"tasks":4}')


@pytest.mark.parametrize("subject", [BODY.SCHEMA, "turbine.changes.oncall.v1-value"])
def test_a_client_in_node_writes_the_bytes_that_we_write(subject: str) -> None:
    with RegistryServer(0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        asked = {"url": server.url, "subject": subject, "body": BODY.to_plain()}
        try:
            told = json.loads(
                run_script("write_and_read.mjs", json.dumps(asked | {"foreign": "000000ff0000"}))
            )
        finally:
            server.shutdown()
            thread.join()
    assert bytes.fromhex(told["value"]) == encode(BODY)
    assert told["body"] == BODY.to_plain()
    assert told["unknown"].endswith("Schema 65280 not found")
