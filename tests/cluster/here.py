"""Workers in this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ckptctl.cluster import Answer, units
from ckptctl.cluster.workers import carried


class Here:
    """Does units one by one, each as often as it is told to."""

    name = "Here"
    count = 2

    def __init__(
        self, times: int = 1, around: Callable[[Callable[[], Answer]], Answer] | None = None
    ) -> None:
        self.times = times
        self.around = around or (lambda do: do())
        self.done = 0
        self.functions: Counter[str] = Counter()

    @contextmanager
    def run(self, sent: Iterable[bytes]) -> Iterator[Iterator[Answer]]:
        yield self._answers(sent)

    def _answers(self, sent: Iterable[bytes]) -> Iterator[Answer]:
        perform = carried()
        for unit in sent:
            for _ in range(self.times):
                answer = self.around(lambda unit=unit: perform(unit))  # type: ignore[misc]
            self.done += 1
            self.functions[units._decode_unit(unit).function] += 1
            yield answer

    def close(self) -> None:
        """Nothing was started."""
