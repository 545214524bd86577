"""Times as the system accounts for them: CPU and peak memory of finished processes.

A machine has other work too, so wall times are never compared: commands run in turns, A B A B,
and what is told is the median of what the kernel charged each for.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one command cost."""

    cpu: float
    """Seconds of user and system time, the median."""
    peak: float
    """The most memory that it held, in MB."""


def in_turns(
    commands: Mapping[str, Sequence[str]], runs: int = 5, *, ok: Sequence[int] = (0, 1)
) -> dict[str, Cost]:
    """The cost of each command, by its name; a first run is not counted, unless it is the only."""
    found: dict[str, list[Cost]] = {name: [] for name in commands}
    for number in range(runs + 1):
        for name, command in commands.items():
            cost = _run(command, ok)
            if number or not runs:
                found[name].append(cost)
    return {
        name: Cost(cpu=statistics.median(c.cpu for c in costs), peak=max(c.peak for c in costs))
        for name, costs in found.items()
    }


def _run(command: Sequence[str], ok: Sequence[int]) -> Cost:
    # What is installed is compiled, so what is measured may be too.
    around = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    silent = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    child = os.posix_spawnp(command[0], list(command), around, file_actions=silent)
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in ok:
        raise RuntimeError(f"{' '.join(command)} ended with {code}")
    return Cost(cpu=usage.ru_utime + usage.ru_stime, peak=usage.ru_maxrss / 1024)
