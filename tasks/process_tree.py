"""How the processes of one container hang together: none outlives the one that started it.

On Linux the kernel ends a process when its parent ends, however that ends. Elsewhere only an
orderly end is passed on.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

PR_SET_PDEATHSIG, PR_SET_NAME, PR_SET_CHILD_SUBREAPER = 1, 15, 36
NAME_CHARS = 15
"""The kernel keeps as many of a process's name."""
EXIT_ORPHANED = 76


def _tell_kernel(what: int, value: object) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(what, value, 0, 0, 0)


def die_with(parent: int) -> None:
    """From now on the parent's end is ours. It is the end of the *thread* that started us: a
    supervisor starts its processes from its main thread."""
    _tell_kernel(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the kernel was told
        os._exit(EXIT_ORPHANED)


def adopt_orphans() -> None:
    """Grandchildren whose parent ends become our children: so we know when the last of them is
    gone."""
    _tell_kernel(PR_SET_CHILD_SUBREAPER, 1)


def name_process(name: str) -> None:
    """How `top` and `ps -o comm` call this process; what is typical of a name is at its end."""
    _tell_kernel(PR_SET_NAME, name[-NAME_CHARS:].encode())


def signal_group(group: int, number: signal.Signals) -> bool:
    """To all of a process group; False: nobody is in it."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def end_group(group: int) -> None:
    """Kills a process group of our children, and returns when none of them is left.

    The leader is reaped here too, after the kill: until then its number cannot be another's.
    """
    if not signal_group(group, signal.SIGKILL):
        return
    with suppress(ChildProcessError):  # what this waits for
        while True:
            os.waitpid(-group, 0)
