"""Becomes a command that dies with its parent, however the parent ends.

Run as a program of its own, between the fork and the command, because code that runs in a forked
child of a threaded process (a `preexec_fn`) may hang on a lock that another thread held.

Arguments: process id of the parent, then the command.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # The parent may have died before the kernel was told.
        if os.getppid() != parent:
            sys.exit(1)
    os.execv(command[0], command)  # noqa: S606 - the command is our own, and there is no shell


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
