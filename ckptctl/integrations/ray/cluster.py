"""Units of work on the workers of Ray: ``--executor ray``."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from ckptctl.cluster.workers import Answer, carried, in_order
from ckptctl.errors import ClusterError

_PATIENCE = 30.0
"""Seconds for units that are on their way to come to their end."""
_AHEAD = 2
"""Units for each worker that are on their way."""
_ADDRESS = "RAY_ADDRESS"


class RayCluster:
    """The Ray that this process is connected to, the one at RAY_ADDRESS, or our own."""

    name = "Ray"

    def __init__(self) -> None:
        self._connected = False
        """By us."""

    @cached_property
    def _unit(self) -> Any:
        if not ray.is_initialized():
            self._connect()
        return ray.remote(carried()).options(scheduling_strategy="SPREAD")

    def _connect(self) -> None:
        address = os.environ.get(_ADDRESS)
        quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
        if not address:
            # No unit has to do with accelerators, and Ray would warn of them.
            os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
            ray.init(address="local", include_dashboard=False, **quiet)
        else:
            try:
                ray.init(address=address, **quiet)
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise ClusterError(
                    f"cannot reach the Ray at {address}: {error}",
                    hint=f"check {_ADDRESS} and `ray status`, or use --executor local",
                ) from error
        self._connected = True

    @cached_property
    def count(self) -> int:
        """The CPUs of all nodes."""
        _ = self._unit
        return int(ray.cluster_resources().get("CPU", 0)) or 1

    def run(self, units: Iterable[bytes]) -> AbstractContextManager[Iterator[Answer]]:
        """Have units done, and give what comes of them, in their order."""
        return in_order(self._submit, _result, _settle, units, at_once=_AHEAD * self.count)

    def close(self) -> None:
        """Leave it, which stops it where we started it."""
        if self._connected:
            ray.shutdown()

    def _submit(self, unit: bytes) -> Any:
        return self._unit.remote(unit)


def _result(reference: Any) -> Answer:
    try:
        answer: Answer = ray.get(reference)
    except RayTaskError:
        raise
    except RayError as error:
        first = str(error).strip().splitlines()[0]
        raise ClusterError(
            f"Ray gave a unit of work up: {first}",
            hint="look into the logs of Ray, for the memory of its workers above all",
        ) from error
    return answer


def _settle(references: list[Any]) -> None:
    """Begun units come to their end: a copy may not go on behind our back."""
    ray.wait(references, num_returns=len(references), timeout=_PATIENCE)
