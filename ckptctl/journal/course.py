"""What each path must hold after each step of a plan, so that a state tells where it stands.

Steps that touch the same paths form a *strand*; strands do not depend on one another. A
strand of n steps has the positions 0 (nothing done) to n (all done). For each path of a
strand, spans say what it holds from one position to another. Whatever is found on storage
fits some positions and not others, and that tells how far an interrupted apply has come.

Where a path is in a strand more than once (a swap), two positions can look alike by their
names. Between the two lies a *mark*: a step after which the journal notes that it was done,
so that the position is known whatever the disk, the machine or the copy it is found on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from ckptctl.errors import RefusedError
from ckptctl.journal.paths import parents
from ckptctl.model.plan import MoveTree, Plan, ReplaceFile, Step


class Tree(Struct, frozen=True, kw_only=True):
    """A folder that a plan moves, known by what was in it."""

    origin: str
    """Where it was before the first step."""
    files: Mapping[str, int]
    """Sizes by path relative to it."""
    rewritten: frozenset[str]
    """Records in it that the plan rewrites, so that their sizes may be others."""
    file_id: str | None


class Span(Struct, frozen=True, kw_only=True):
    """What one path holds from one position of its strand to another, both included."""

    path: str
    first: int
    last: int
    tree: Tree | None = None
    digest: str | None = None
    """Of a record's content. With neither a tree nor a digest the path holds nothing."""


class Strand(Struct, frozen=True, kw_only=True):
    """Steps that touch one another's paths, in order."""

    steps: tuple[int, ...]
    """Their places in the plan."""
    spans: tuple[Span, ...]
    starts: tuple[str, ...]
    """For each step: where what it acts on was before the first step."""

    def at(self, position: int) -> Iterator[Span]:
        """What holds at a position."""
        return (s for s in self.spans if s.first <= position <= s.last)


class Course(Struct, frozen=True, kw_only=True):
    """A plan with what must hold between its steps."""

    plan: Plan
    strands: tuple[Strand, ...]
    places: tuple[tuple[int, int], ...]
    """For each step of the plan: its strand, and its place in it."""
    marks: frozenset[int]
    """Steps that the journal notes when they, and all before them, are done."""
    identities: frozenset[str] = field(default_factory=frozenset)
    """The file ids of all trees: one found at another tree's place is the wrong one."""

    def records(self, position: int) -> Iterator[str]:
        """Where records are at the first (0) or the last (-1) position of every strand."""
        for strand in self.strands:
            at = position if position >= 0 else len(strand.steps)
            yield from (span.path for span in strand.at(at) if span.digest)

    def start_of(self, step: int) -> str:
        """Where what a step acts on was before the first step."""
        strand, place = self.places[step]
        return self.strands[strand].starts[place]


def course_of(plan: Plan, *, atomic: bool = True) -> Course:
    """Work out what must hold between the steps of a plan.

    Args:
        plan: whose steps.
        atomic: whether a folder moves in one act; if not, half-done moves need marks too.

    Raises:
        RefusedError: a step needs what an earlier one has taken away, moves overlap, or a
            record is rewritten twice.
    """
    groups = _groups(plan.steps)
    strands = tuple(_Weaver(plan.steps, group).strand() for group in groups)
    places = [(0, 0)] * len(plan.steps)
    for number, group in enumerate(groups):
        for place, step in enumerate(group):
            places[step] = (number, place)
    return Course(
        plan=plan,
        strands=strands,
        places=tuple(places),
        marks=_marks(plan.steps, strands, atomic=atomic),
        identities=frozenset(m.file_id for m in plan.moves if m.file_id is not None),
    )


def _groups(steps: Sequence[Step]) -> list[list[int]]:
    """The steps of each strand, joined by the paths that they share."""
    moved = {p for s in steps if isinstance(s, MoveTree) for p in (s.source, s.target)}
    leader: dict[str, str] = {}

    def find(path: str) -> str:
        while leader.setdefault(path, path) != path:
            leader[path] = path = leader[leader[path]]
        return path

    for step in steps:
        if isinstance(step, MoveTree):
            for path in (step.source, step.target):
                if around := next((p for p in parents(path) if p in moved), None):
                    raise _unsafe(f"{path}: moves, and so does {around}")
            leader[find(step.source)] = find(step.target)
        elif inside := _moved_around(step.file, moved):
            leader[find(step.file)] = find(inside)
    groups: dict[str, list[int]] = {}
    for number, step in enumerate(steps):
        path = step.source if isinstance(step, MoveTree) else step.file
        groups.setdefault(find(path), []).append(number)
    return sorted(groups.values())


def _moved_around(path: str, moved: set[str]) -> str | None:
    return next((p for p in (path, *parents(path)) if p in moved), None)


class _Weaver:
    """Follows the steps of one strand and notes what each path holds when."""

    def __init__(self, steps: Sequence[Step], numbers: Sequence[int]) -> None:
        self._numbers = numbers
        self._steps = [steps[n] for n in numbers]
        self._last = len(numbers)
        moves = [s for s in self._steps if isinstance(s, MoveTree)]
        self._moved = {p for m in moves for p in (m.source, m.target)}
        self._holds: dict[str, str | None] = {}
        """For each moved path, the origin of the tree in it now, or None."""
        self._since: dict[str, int] = {}
        self._stays: dict[str, list[tuple[str, int, int]]] = {}
        """For each origin: where its tree is, from which position to which."""
        self._gaps: list[tuple[str, int, int]] = []
        self._first: dict[str, MoveTree] = {}
        self._records: dict[tuple[str, str], tuple[int, ReplaceFile]] = {}

    def strand(self) -> Strand:
        """Follow all steps."""
        starts: list[str] = []
        for position, step in enumerate(self._steps):
            if isinstance(step, MoveTree):
                starts.append(self._move(position, step))
            else:
                starts.append(self._rewrite(position, step))
        for path in tuple(self._holds):
            self._close(path, self._last)
        spans = (*self._tree_spans(), *self._record_spans())
        return Strand(steps=tuple(self._numbers), spans=spans, starts=tuple(starts))

    def _move(self, position: int, step: MoveTree) -> str:
        origin = self._holds.setdefault(step.source, step.source)
        if origin is None:
            raise _unsafe(f"{step.source}: nothing is there when it is to move")
        if self._holds.setdefault(step.target, None) is not None:
            raise _unsafe(f"{step.target}: taken when {step.source} is to move there")
        self._first.setdefault(origin, step)
        for path, holds in ((step.source, None), (step.target, origin)):
            self._close(path, position)
            self._holds[path], self._since[path] = holds, position + 1
        return origin

    def _rewrite(self, position: int, step: ReplaceFile) -> str:
        around = _moved_around(step.file, self._moved)
        if around is None:
            origin, inner = "", step.file
        else:
            found = self._holds.setdefault(around, around)
            if found is None:
                raise _unsafe(f"{step.file}: not there when it is to be rewritten")
            origin, inner = found, step.file[len(around) + 1 :]
        if (origin, inner) in self._records:
            raise _unsafe(f"{step.file}: rewritten twice")
        self._records[origin, inner] = (position, step)
        return _join(origin, inner)

    def _close(self, path: str, position: int) -> None:
        """Note what `path` held up to and including `position`."""
        origin, since = self._holds[path], self._since.get(path, 0)
        if origin is None:
            self._gaps.append((path, since, position))
        else:
            self._stays.setdefault(origin, []).append((path, since, position))

    def _tree_spans(self) -> Iterator[Span]:
        for path, first, last in self._gaps:
            yield Span(path=path, first=first, last=last)
        for origin, stays in self._stays.items():
            step = self._first[origin]
            tree = Tree(
                origin=origin,
                files={f.path: f.size for f in step.files},
                rewritten=frozenset(inner for start, inner in self._records if start == origin),
                file_id=step.file_id,
            )
            for path, first, last in stays:
                yield Span(path=path, first=first, last=last, tree=tree)

    def _record_spans(self) -> Iterator[Span]:
        for (origin, inner), (position, step) in self._records.items():
            for folder, first, last in self._stays.get(origin, [("", 0, self._last)]):
                path = _join(folder, inner)
                if first <= position:
                    until = min(last, position)
                    yield Span(path=path, first=first, last=until, digest=step.before)
                if last > position:
                    since = max(first, position + 1)
                    yield Span(path=path, first=since, last=last, digest=step.after)


def _join(folder: str, inner: str) -> str:
    return f"{folder}/{inner}" if folder and inner else folder or inner


def _marks(steps: Sequence[Step], strands: Sequence[Strand], *, atomic: bool) -> frozenset[int]:
    """The fewest steps that part every two states which look alike."""
    ranges = [r for strand in strands for r in _lookalikes(steps, strand, atomic=atomic)]
    marks: list[int] = []
    for first, last in sorted(ranges, key=lambda r: r[1]):
        if not marks or marks[-1] < first:
            marks.append(last)
    return frozenset(marks)


def _lookalikes(
    steps: Sequence[Step], strand: Strand, *, atomic: bool
) -> Iterator[tuple[int, int]]:
    """For each two states that look alike: the steps one of which must be marked.

    The mark must be written after the earlier state is left, and before the later one begins.
    """
    look, seen, torn = 0, {0: 0}, dict[int, int]()
    for place, number in enumerate(strand.steps):
        step = steps[number]
        if isinstance(step, MoveTree):
            half = look ^ _trace(step.target)
            if not atomic and half in torn:
                yield strand.steps[torn[half]], strand.steps[place - 1]
            torn[half] = place
            look = half ^ _trace(step.source)
        elif step.before != step.after:
            look ^= _trace(f"{step.file}\0{step.before}") ^ _trace(f"{step.file}\0{step.after}")
        position = place + 1
        if look in seen and position - seen[look] > 1:
            yield strand.steps[seen[look]], strand.steps[position - 2]
        seen[look] = position


def _trace(text: str) -> int:
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(data).digest()[:16])


def _unsafe(cause: str) -> RefusedError:
    return RefusedError(f"plan is unsafe: {cause}", hint="make the plan again")
