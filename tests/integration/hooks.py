"""`turbine serve webhooks` as a process, with receivers of a test's own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.waiting import until
from tests.integration.processes import ROOT
from tests.unit.webhooks.receiver import SECRET


class Server:
    """`turbine serve webhooks` as its supervisor would keep it."""

    def __init__(self, bootstrap: str, folder: Path, tables: str) -> None:
        (folder / "hooks").write_text(f"{SECRET}\n")
        self._file, self._log = folder / "turbine.toml", folder / "webhooks.log"
        self._file.write_text(f'bootstrap = "{bootstrap}"\n{tables}')
        self.child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "turbine", "--config", self._file, "serve", "webhooks"]
        with self._log.open("ab") as out:
            self.child = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out)

    def end(self, number: signal.Signals) -> int:
        assert self.child is not None
        os.kill(self.child.pid, number)
        code, self.child = self.child.wait(60), None
        return code

    @property
    def said(self) -> str:
        return self._log.read_text()


@contextmanager
def serving(bootstrap: str, folder: Path, tables: str) -> Iterator[Server]:
    one = Server(bootstrap, folder, tables)
    one.start()
    try:
        until(lambda: '"event": "webhook"' in one.said, "it serves")
        yield one
    finally:
        if one.child is not None:
            one.end(signal.SIGKILL)
