"""What a cluster has to be able to do, and what is the same for all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeVar, runtime_checkable

Answer = bytes | str
"""What a unit gives, or why its worker has no ckptctl that could do it."""
H = TypeVar("H")


@runtime_checkable
class Workers(Protocol):
    """A cluster that does units of work."""

    @property
    def name(self) -> str:
        """What it is called in messages: ``Ray``."""

    @property
    def count(self) -> int:
        """How many units it does at once, more or less.

        Raises:
            ClusterError: it cannot be reached, or has no worker.
        """

    def run(self, units: Iterable[bytes]) -> AbstractContextManager[Iterator[Answer]]:
        """Have units done by `carried()`, and give what comes of them, in the order of the units.

        A unit whose worker ends is done again by another one. Units are asked for when there is
        room for them, and those on their way when the context is left come to their end.

        Raises:
            ClusterError: the cluster is lost, or a unit ends each worker that begins it.
        """


def carried() -> Callable[[bytes], Answer]:
    """The function that a cluster carries to its workers.

    It stands inside another one, so that whoever carries it sends its code and not its name: it
    can tell that ckptctl is missing where nothing of ckptctl can be imported.
    """

    def unit(data: bytes) -> bytes | str:
        try:
            from ckptctl.cluster.units import perform
        except ImportError as error:
            import socket

            return f"{socket.gethostname()}: {error}"
        return perform(data)

    return unit


@contextmanager
def in_order(
    submit: Callable[[bytes], H],
    result: Callable[[H], Answer],
    settle: Callable[[list[H]], None],
    units: Iterable[bytes],
    *,
    at_once: int,
) -> Iterator[Iterator[Answer]]:
    """`Workers.run` by a cluster whose units are handed in one by one.

    Args:
        submit: begins a unit.
        result: waits for one.
        settle: waits for all that are on their way, and forgets them.
        units: what is to be done.
        at_once: how many are on their way, at most.
    """
    waiting: deque[H] = deque()

    def answers() -> Iterator[Answer]:
        for unit in units:
            waiting.append(submit(unit))
            if len(waiting) >= at_once:
                yield result(waiting.popleft())
        while waiting:
            yield result(waiting.popleft())

    try:
        yield answers()
    finally:
        if waiting:
            settle(list(waiting))
