"""Moves of folders in an order in which no move finds its target taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ckptctl.errors import InternalError
from ckptctl.model.names import fold

__all__ = ["TEMPORARY_ROOT", "Move", "order_moves", "route"]

Move: TypeAlias = tuple[str, str]
"""(source, target), relative to the experiment."""

TEMPORARY_ROOT = ".ckptctl/tmp"
"""Outside every trial: inside one, Ray 2.6 would take the folder for a checkpoint."""


def route(renames: Sequence[Move]) -> tuple[Move, ...]:
    """The moves that make `renames` true, chains from their free end, cycles over a temporary name.

    Sources are distinct, and so are targets. A name that changes only in case goes over a
    temporary name too, since a disk that ignores case finds its target taken.
    """
    key = _key(renames)
    waiting = {key(move[0]): move for move in renames if move[0] != move[1]}
    ordered: list[Move] = []
    temporary = 0
    for first in renames:
        chain = _chain(first, waiting, key)
        if not chain:
            continue
        for move in chain:
            del waiting[key(move[0])]
        if key(chain[-1][1]) != key(first[0]):
            ordered.extend(reversed(chain))
            continue
        temporary += 1
        aside = f"{TEMPORARY_ROOT}/{temporary}-{first[0].rpartition('/')[2]}"
        ordered += [(first[0], aside), *reversed(chain[1:]), (aside, first[1])]
    return tuple(ordered)


def _key(renames: Sequence[Move]) -> Callable[[str], str]:
    """Folded names, but for a disk that tells apart what folding makes equal."""
    ends = zip(*renames, strict=True)
    return fold if all(len({fold(end) for end in side}) == len(renames) for side in ends) else str


def _chain(first: Move, waiting: Mapping[str, Move], key: Callable[[str], str]) -> list[Move]:
    """`first` and the moves it has to wait for, each of which frees the target before it."""
    chain: list[Move] = []
    move: Move | None = waiting.get(key(first[0]))
    while move is not None:
        chain.append(move)
        following = waiting.get(key(move[1]))
        move = None if following is chain[0] else following
    return chain


def order_moves(moves: Sequence[Move]) -> tuple[Move, ...]:
    """The same moves, each behind those it needs; otherwise in the order given.

    A move needs the one that frees its target, and from a temporary name the one that took it.
    `InternalError` where they need each other.
    """
    leaving = {s: number for number, (s, _) in enumerate(moves) if not _is_temporary(s)}
    arriving = {t: number for number, (_, t) in enumerate(moves) if _is_temporary(t)}
    done: set[int] = set()
    ordered: list[Move] = []
    for number in range(len(moves)):
        for ready in _needed_first(number, moves, leaving, arriving, done):
            done.add(ready)
            ordered.append(moves[ready])
    return tuple(ordered)


def _is_temporary(path: str) -> bool:
    return path.startswith(f"{TEMPORARY_ROOT}/")


def _needed_first(
    number: int,
    moves: Sequence[Move],
    leaving: Mapping[str, int],
    arriving: Mapping[str, int],
    done: set[int],
) -> Iterator[int]:
    stack, open_moves = [number], set[int]()
    while stack:
        current = stack[-1]
        if current in done:
            stack.pop()
            continue
        source, target = moves[current]
        needs = (leaving.get(target), arriving.get(source))
        missing = [n for n in needs if n is not None and n != current and n not in done]
        if not missing:
            stack.pop()
            yield current
        elif current in open_moves:
            raise InternalError(f"moves that wait for each other: {source} → {target}")
        else:
            open_moves.add(current)
            stack.extend(missing)
