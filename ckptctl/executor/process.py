"""This process as a holder of the lock, and whether another one still lives."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

from ckptctl.journal.lock import Holder

_START_FIELD = 19
"""Of ``/proc/<pid>/stat``, counted after the name in brackets, which may hold spaces."""


def this_process() -> Holder:
    """The holder that we are."""
    pid = os.getpid()
    return Holder(
        host=socket.gethostname(),
        pid=pid,
        started=_started(pid) or "",
        boot=_text("/proc/sys/kernel/random/boot_id"),
        space=_pid_space(),
    )


def is_dead(holder: Holder, me: Holder) -> bool:
    """Whether a holder is known to have ended. Of another machine nothing is known."""
    if holder.host != me.host:
        return False
    if holder.boot != me.boot:
        return True
    if holder.space != me.space:
        return False
    if os.path.isdir("/proc/self"):
        return _started(holder.pid) != holder.started
    return not _exists(holder.pid)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _started(pid: int) -> str | None:
    """When a process started, in clock ticks since its machine did; None if there is none."""
    text = _text(f"/proc/{pid}/stat")
    fields = text.rpartition(")")[2].split()
    return fields[_START_FIELD] if len(fields) > _START_FIELD else None


def _pid_space() -> str:
    with suppress(OSError):
        return os.readlink("/proc/self/ns/pid")
    return ""


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return ""
