"""What a reader of the pages has before them: their own files, and names of the fleet that runs."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import sys
import time
from pathlib import Path

from infra.kafka.directory import free_port
from tests.integration.pages import lines
from tests.integration.processes import ROOT
from turbine_client.signing import show_secret, sign

DAYS = 2
KEY = bytes(range(32))


def fenced(page: str, form: str) -> str:
    """What a page shows in full: the first program or file of that form."""
    text = (ROOT / page).read_text()
    return re.findall(rf"```{form}\n(.*?)```", text, re.DOTALL)[0]


def trace() -> bytes:
    """Two days of a site, by the minute, with busy evenings."""
    rates = (600 + 300 * (minute % 1440 > 1000) for minute in range(1440 * DAYS))
    text = "minute_index,rate\n" + "".join(f"{at},{rate}\n" for at, rate in enumerate(rates))
    return gzip.compress(text.encode())


def lay_out(desk: Path) -> dict[str, str]:
    """Writes the reader's files, and tells what the line that checks a webhook is given."""
    (desk / "recorded").mkdir(parents=True)
    (desk / "site.csv.gz").write_bytes(trace())
    (desk / "recorded" / "site.csv.gz").write_bytes(trace())
    (desk / "job.yaml").write_text(fenced("docs/cli.md", "yaml"))
    (desk / "change.bin").write_bytes(bytes.fromhex(fenced("docs/contract.md", "hex")))
    for name in ("page", "notify"):
        (desk / name).write_text("#!/bin/sh\ncat\n")
        (desk / name).chmod(0o755)
    (desk / "turbine.toml").write_text(fenced("docs/webhooks.md", "toml"))
    (desk / "pager.secret").write_text(show_secret(KEY))
    body, at_s = b'{"id": "17"}', int(time.time())
    (desk / "body.json").write_bytes(body)
    signature = sign([KEY], "17", at_s, body)
    given = f"--id 17 --timestamp {at_s} --signature {shlex.quote(signature)}"
    return {
        "--id ID --timestamp T --signature S": given,
        "--id … --timestamp … --signature …": given,
    }


def found(address: str, decision: str, plan: str, place: str) -> dict[str, str]:
    """What the fleet calls its own, and what this machine has free."""
    port, other = free_port(), free_port()
    return {
        "http://127.0.0.1:8090": address,
        "ID": decision,
        "PLAN": f"'{plan}'",
        "--plan P": f"--plan '{plan}'",
        "POSITION": place,
        "--metrics-port 9464": f"--metrics-port {port}",
        "localhost:9464/readyz": f"localhost:{port}/readyz",
        "--metrics-port 9101": f"--metrics-port {other}",
        "localhost:9101/metrics": f"localhost:{other}/metrics",
        "pytest": f"{shlex.quote(sys.executable)} -m pytest -p no:cacheprovider",
    }


def asked_as_plan() -> str:
    """The page's own way to ask for the plan of a change, whose id `$PLAN` is."""
    return next(one.text for one in lines() if "/api/v1/changes'" in one.text)


def plan_in(answer: str) -> str:
    """Its id."""
    return str(json.loads(answer)["plan"])
