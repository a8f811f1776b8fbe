"""How a command ends: the exit codes, and the one sentence of each failure."""

from __future__ import annotations

from enum import IntEnum


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


class Failed(Exception):
    """Ends the command with a code and one sentence: the place and the remedy."""

    def __init__(self, code: Code, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def code_of_rejection(reason: str) -> Code:
    """The exit code for a verdict's reason."""
    match reason:
        case "stale":
            return Code.CONFLICT
        case "no-such-job":
            return Code.NOT_FOUND
        case _:
            return Code.FAILED
