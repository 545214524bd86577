from __future__ import annotations

import os
import re
import signal
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile(
    "ci", deadline=None, max_examples=500, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

GROUPS = {
    "judge": "ray",
    "matrix": "ray",
    "policies": "ray",
    "upgrades": "ray",
    "backends": "servers",
    "cluster": "servers",
}
"""Tests that share what is dear to start: with several workers, one works through each group."""
_RAY = re.compile(r"\[(\d+\.\d+\.\d+)")
"""The Ray that a test asks, as the first of its parameters: each Ray is a group of its own."""


SLOW = 90
"""Seconds from which on a test is told as slow."""


def pytest_configure(config: pytest.Config) -> None:
    """A job in the background ignores Ctrl-C, and so would all that the tests start."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Told(config))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        with suppress(ValueError):  # outside of the main thread
            signal.signal(signal.SIGINT, signal.default_int_handler)


class Told:
    """Says what fails as soon as it does: who is ended half-way would not know it else."""

    def __init__(self, config: pytest.Config) -> None:
        self._plugins = config.pluginmanager

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        slow = report.when == "call" and report.duration > SLOW
        terminal = self._plugins.get_plugin("terminalreporter")
        if not (report.failed or slow) or terminal is None:
            return
        crash = getattr(report.longrepr, "reprcrash", None)
        why = str(getattr(crash, "message", "")).partition("\n")[0]
        word = "FAILS" if report.failed else "SLOW"
        terminal.ensure_newline()
        terminal.write_line(f"{word} {report.nodeid} ({report.duration:.0f} s) {why}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Groups by folder; `--dist loadgroup` of xdist 3.8 does nothing under pytest 9."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFolder(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            folders = nodeid.partition("::")[0].split("/")
            group = next((GROUPS[f] for f in folders if f in GROUPS), nodeid)
            asked = _RAY.search(nodeid) if group == "ray" else None
            return f"ray-{asked[1]}" if asked else group

        def remove_node(self, node: object) -> str | None:
            """What ended its worker is not given to the next one, and the next one, and so on."""
            units = self.assigned_work[node].values()
            left = [(unit, test) for unit in units for test, done in unit.items() if not done]
            for unit, ended in left[:1]:
                unit[ended] = True
            super().remove_node(node)
            return left[0][1] if left else None

    return ByFolder(config, log)
