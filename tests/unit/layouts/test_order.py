"""The order of the saves, against the plain way to put it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ckptctl.layouts.order import save_order
from ckptctl.model.names import natural_key


def plainly(names: list[str], rows: dict[str, int]) -> list[str]:
    """One by one: each that no row tells of goes right behind its natural predecessor."""
    ordered = sorted((n for n in names if n in rows), key=rows.__getitem__)
    for position, name in enumerate(names):
        if name not in rows:
            before = names[position - 1] if position else None
            ordered.insert(0 if before is None else ordered.index(before) + 1, name)
    return ordered


@given(st.sets(st.integers(0, 40)), st.data())
def test_each_stands_behind_its_predecessor(numbers: set[int], data: st.DataObject) -> None:
    names = sorted((f"checkpoint_{n:06d}" for n in numbers), key=natural_key)
    told = data.draw(st.permutations(names)) if names else []
    told = told[: data.draw(st.integers(0, len(told)))]
    rows = {name: line for line, name in enumerate(told)}
    assert save_order(names, rows) == {n: at for at, n in enumerate(plainly(names, rows))}
