"""How a command and a request end by an error: the exit codes, and what each kind stands for."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from http import HTTPStatus
from typing import NamedTuple

from turbine_client.errors import BadRequest, Corrupt, LoginRefused, TurbineError, Unavailable
from turbine_client.settings import BadSettings


class Code(IntEnum):
    """What a script can tell without reading; the names stand in the help and in docs/cli.md."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFLICT = 4
    FINDINGS = 5
    TIMEOUT = 124
    INTERRUPTED = 130


MEANINGS = {
    Code.OK: "done; a change was accepted",
    Code.FAILED: "failed; a change was rejected",
    Code.USAGE: "wrong usage, settings or file",
    Code.NOT_FOUND: "no such job, container, id or schema, or nothing runs here",
    Code.CONFLICT: "conflict: the change or the plan was made for what is stale",
    Code.FINDINGS: "findings: the audit, the topics, the schemas or what runs differ",
    Code.TIMEOUT: "not in time: no verdict (the change may yet stand), or a wait in vain",
    Code.INTERRUPTED: "interrupted",
}


class Ending(NamedTuple):
    """How an error of one kind ends a command, and a request to the API."""

    code: Code
    status: HTTPStatus
    problem: str


_AWAY = HTTPStatus.SERVICE_UNAVAILABLE
ENDINGS: Mapping[type[TurbineError], Ending] = {
    BadRequest: Ending(Code.USAGE, HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-request"),
    Unavailable: Ending(Code.FAILED, _AWAY, "log-unavailable"),
    Corrupt: Ending(Code.USAGE, _AWAY, "log-unavailable"),
    # A server's settings are its own: whoever asks it has nothing to put right in the request.
    BadSettings: Ending(Code.USAGE, _AWAY, "log-unavailable"),
    # No later try with the same password succeeds.
    LoginRefused: Ending(Code.USAGE, _AWAY, "log-unavailable"),
}
"""By the kinds of the error tree, with the classes that end otherwise than their kind."""


class Failed(TurbineError):
    """Ends the command with a code and one sentence: the place and the remedy."""

    def __init__(self, code: Code, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def ending_of(error: TurbineError) -> Ending:
    """How it ends what was asked, by its own class or the nearest one above it."""
    return next(ENDINGS[kind] for kind in type(error).__mro__ if kind in ENDINGS)


def code_of(error: TurbineError) -> Code:
    """The exit code of a command that ends by it."""
    return error.code if isinstance(error, Failed) else ending_of(error).code


def end_process(error: TurbineError) -> Code:
    """Tells the sentence to whoever started this process; the exit code."""
    sys.stderr.write(f"turbine: {error}\n")
    return code_of(error)


@contextmanager
def named(option: str) -> Iterator[None]:
    """Puts the option before the sentence of what is wrong with its value."""
    try:
        yield
    except (BadRequest, Corrupt) as bad:
        raise Failed(code_of(bad), f"{option}: {bad}") from None


def code_of_rejection(reason: str) -> Code:
    """The exit code for a verdict's reason."""
    match reason:
        case "stale":
            return Code.CONFLICT
        case "no-such-job":
            return Code.NOT_FOUND
        case _:
            return Code.FAILED
