from __future__ import annotations

from ckptctl.model.deferred import Deferred


def test_parts_are_called_once_and_only_when_somebody_asks() -> None:
    calls = []

    def part(number: int) -> list[int]:
        calls.append(number)
        return [number, number + 10]

    items = Deferred([lambda: part(1), lambda: part(2)])
    assert not calls
    assert list(items) == [1, 11, 2, 12] and len(items) == 4 and items[1:3] == (11, 2)
    assert items == (1, 11, 2, 12) and calls == [1, 2]


def test_an_empty_one_is_false() -> None:
    assert not Deferred[int]([])
