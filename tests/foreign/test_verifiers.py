"""The verifiers on the webhooks' page, in Python and Node: what we sign is taken, and no more."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.foreign.node import run_program
from tests.unit.webhooks.receiver import KEY, SECRET
from turbine_client.signing import ID, SIGNATURE, TIMESTAMP, sign

PAGE = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text()
BODY = '{"id":"17","subject":"clicks","data":{"cause":"größer 漢"}}'
OTHER = b"another key of 32 bytes, as it is"


def program(language: str) -> str:
    [found] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def requests() -> list[tuple[bool, dict[str, str], str]]:
    """Whether it is to be taken, its headers, and its body."""
    now_s = int(time.time())

    def signed(at_s: int, *keys: bytes) -> dict[str, str]:
        told = sign(keys, "17", at_s, BODY.encode())
        return {ID: "17", TIMESTAMP: str(at_s), SIGNATURE: told}

    good = signed(now_s, KEY)
    return [
        (True, good, BODY),
        (True, signed(now_s, OTHER, KEY), BODY),
        (False, good, BODY.replace("clicks", "views")),
        (False, good | {ID: "18"}, BODY),
        (False, good | {TIMESTAMP: str(now_s + 1)}, BODY),
        (False, good | {SIGNATURE: "v1,AAAA"}, BODY),
        (False, signed(now_s, OTHER), BODY),
        (False, signed(now_s - 900, KEY), BODY),
    ]


def test_the_one_in_python() -> None:
    space: dict[str, Any] = {}
    exec(program("python"), space)  # noqa: S102 - it is the page's own program
    for taken, headers, body in requests():
        assert space["verify"](SECRET, headers, body.encode()) is taken


def test_the_one_in_node(tmp_path: Path) -> None:
    (tmp_path / "verify.mjs").write_text(program("js"))
    (tmp_path / "all.mjs").write_text(
        "import { verify } from './verify.mjs';\n"
        "import { text } from 'node:stream/consumers';\n"
        "const [secret, asked] = JSON.parse(await text(process.stdin));\n"
        "const told = asked.map(([headers, body]) => verify(secret, headers, Buffer.from(body)));\n"
        "process.stdout.write(JSON.stringify(told));\n"
    )
    asked = requests()
    given = json.dumps([SECRET, [[headers, body] for _, headers, body in asked]])
    told = json.loads(run_program(tmp_path / "all.mjs", given=given))
    assert told == [taken for taken, _, _ in asked]


def test_the_one_of_the_sdk_and_the_page_agree() -> None:
    from turbine import Tampered, verify_webhook

    for taken, headers, body in requests():
        if taken:
            assert verify_webhook([KEY], headers, body.encode(), time.time()) == "17"
        else:
            with pytest.raises(Tampered):
                verify_webhook([KEY], headers, body.encode(), time.time())
