"""Hands messages to the program for Node that verifies logs by the contract alone."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from components.runtime.kafka.intake import Message
from events.topics import BY_SHORT
from tests.foreign.node import HERE, run_program
from turbine.contract.document import Installation, document


def judged(messages: Iterable[Message], partitions: int, folder: Path) -> dict[str, Any]:
    """What it says of them; skips where there is no Node."""
    lines, contract = folder / "log.jsonl", folder / "contract.json"
    lines.write_text("".join(json.dumps(_line_of(one)) + "\n" for one in messages))
    contract.write_text(json.dumps(document(Installation(partitions=partitions))))
    said: dict[str, Any] = json.loads(
        run_program(HERE / "verify_log.mjs", str(lines), str(contract))
    )
    return said


def _line_of(message: Message) -> list[Any]:
    headers = [(name, _text(value)) for name, value in message.headers or ()]
    name, spot = BY_SHORT[message.topic].name, (message.partition, message.offset, message.at_ms)
    return [name, *spot, _text(message.key), _text(message.value), headers]


def _text(value: bytes | None) -> str:
    return base64.b64encode(value or b"").decode()
