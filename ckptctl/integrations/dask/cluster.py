"""Units of work on the workers of Dask."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from multiprocessing import resource_tracker
from typing import Any

import dask.config
from distributed import CancelledError, Client, LocalCluster, default_client
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from ckptctl.cluster.workers import Answer, carried, in_order
from ckptctl.errors import ClusterError

_PATIENCE = 30.0
"""Seconds for a scheduler to answer, and for a first worker."""
_ALONE = 60.0
"""Seconds after which a cluster without a worker is lost: one that ended may be started again."""
_BEAT = 5.0
"""Seconds between two looks at the workers while a unit is waited for."""
_AHEAD = 2
"""Units for each worker that are on their way."""


class DaskCluster:
    """The cluster of this process's client, the one that Dask is configured for, or our own."""

    name = "Dask"

    @cached_property
    def _client(self) -> Client:
        try:
            return default_client()
        except ValueError:
            pass
        address = dask.config.get("scheduler-address", None)
        if address is None:
            with _interrupts_held():
                self._started = LocalCluster(
                    threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
                )
                self._opened = Client(self._started, set_as_default=False)
        else:
            try:
                self._opened = Client(address, timeout=_PATIENCE, set_as_default=False)
            except (OSError, ValueError) as error:
                raise ClusterError(
                    f"cannot reach the Dask scheduler at {address}: {error}",
                    hint="check DASK_SCHEDULER_ADDRESS, or use --executor local",
                ) from error
        return self._opened

    _started: LocalCluster | None = None
    _opened: Client | None = None
    _unit: Any = staticmethod(carried())

    @cached_property
    def count(self) -> int:
        """The threads of all workers."""
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            raise ClusterError(
                f"the Dask cluster at {self._client.scheduler.address} has no worker",
                hint="start one, or use --executor local",
            ) from error
        return sum(self._client.nthreads().values()) or 1

    def run(self, units: Iterable[bytes]) -> AbstractContextManager[Iterator[Answer]]:
        """Have units done, and give what comes of them, in their order."""
        return in_order(self._submit, self._result, _settle, units, at_once=_AHEAD * self.count)

    def close(self) -> None:
        """Leave it, and stop it where we started it."""
        if self._opened is not None:
            self._opened.close()
        if self._started is not None:
            self._started.close()

    def _submit(self, unit: bytes) -> Any:
        return self._client.submit(self._unit, unit, pure=False)

    def _result(self, future: Any) -> Answer:
        try:
            self._wait_for(future)
            answer: Answer = future.result()
        except KilledWorker as error:
            raise ClusterError(
                "Dask gave a unit of work up: each worker that began it ended: "
                f"{error.last_worker}",
                hint="look into the logs of the workers, for their memory above all",
            ) from error
        except (CancelledError, CommClosedError, TimeoutError) as error:
            raise ClusterError(
                f"the Dask cluster is lost: {error}", hint="run it again when it is back"
            ) from error
        return answer

    def _wait_for(self, future: Any) -> None:
        """Dask would wait for ever, also where nothing is left that could start a worker."""
        alone: float | None = None
        while True:
            with suppress(TimeoutError):
                future.exception(timeout=_BEAT)
                return
            now = time.monotonic()
            if self._client.nthreads():
                alone = None
            elif alone is None:
                alone = now
            elif now - alone > _ALONE:
                raise ClusterError(
                    f"the Dask cluster at {self._client.scheduler.address} has had no worker for "
                    f"{_ALONE:.0f} s",
                    hint="start one, or use --executor local",
                )


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait for a moment; what is started in it never sees one.

    It goes to all processes of a terminal, and workers would die of it, and say so.
    """
    resource_tracker.ensure_running()  # it would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _settle(futures: list[Any]) -> None:
    """Begun units come to their end: a copy may not go on behind our back."""
    until = time.monotonic() + _PATIENCE
    for future in futures:
        # What became of it nobody asks any more; a cluster that is lost has nothing to settle.
        with suppress(Exception, CancelledError):
            future.exception(timeout=max(0.0, until - time.monotonic()))
