"""Runs the command line in this process, as a person's shell would, and tells what came of it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest

from turbine.cli import main

# Nothing listens here: ports below 1024 are not given to programs of users.
NOWHERE = "127.0.0.1:1"


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one sentence of a failure, without the name of the program."""
        assert self.err.startswith("turbine: "), self.err
        assert self.err.count("\n") == 1, self.err
        return self.err.removeprefix("turbine: ").rstrip("\n")


def run(*arguments: str) -> Ended:
    """One command line."""
    return run_all(arguments)


def run_all(arguments: Sequence[str]) -> Ended:
    """The same, of a list."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    return Ended(code, out.getvalue(), err.getvalue())


def put_for(monkeypatch: pytest.MonkeyPatch, name: str, value: object, *modules: str) -> None:
    """Puts a value in the place of what these modules of the command line import by that name."""
    for module in modules:
        monkeypatch.setattr(f"turbine.cli.{module}.{name}", value)
