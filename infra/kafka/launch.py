"""Becomes the broker: says its own process id in the lock's file, then turns into java.

Run as a program of its own, between the fork and java, because code that runs in a forked child
of a threaded process (a `preexec_fn`) may hang on a lock that another thread held.

Arguments: descriptor of the lock's file, process id of the parent whose death ends this
process (0: nobody's), then the command.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(lock: int, parent: int, command: list[str]) -> None:
    # Who holds the lock and is named in its file is one and the same process, also when the
    # parent is killed at the worst moment: `exec` keeps the process id.
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    if parent and sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # The parent may have died before the kernel was told.
        if os.getppid() != parent:
            sys.exit(1)
    os.execv(command[0], command)  # noqa: S606 - the command is our own, and there is no shell


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
