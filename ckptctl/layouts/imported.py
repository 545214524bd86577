"""What a Ray has to find to load an experiment: all pickles that it reads, looked into.

A restore reads the state, the settings of the run and what searcher and callbacks left; where one
class of any of them is missing, it raises or starts from scratch (seen in Ray 2.7 to 2.60).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from msgspec.structs import replace

from ckptctl.codec.contents import contents_of
from ckptctl.codec.errors import CodecError, Malformed, PickleError, Truncated
from ckptctl.codec.json_records import decode_fallback, load_json
from ckptctl.codec.pickle_reader import Doc, decode
from ckptctl.codec.pointer import Pointer
from ckptctl.layouts.base import Source
from ckptctl.layouts.tree import Tree
from ckptctl.model.experiment import RecordKind, RecordRole, Unreadable
from ckptctl.model.pickles import Pickle, StateKeys

TUNER_FILES = ("tuner.pkl", "trainer.pkl")
_PICKLES = (
    *TUNER_FILES,
    "basic-variant-state-*.json",
    "search_gen_state-*.json",
    "searcher-state-*.pkl",
    "callback-states-*.pkl",
)
"""Of each the one with the greatest name is read (Ray 2.54 ``tune/execution``)."""


def imported(
    tree: Tree, source: Source, state_file: str | None
) -> tuple[tuple[Pickle, ...], tuple[StateKeys, ...]]:
    """The pickles of each file, and the keys of its state; nothing of what cannot be read."""
    found: list[Pickle] = []
    keys: list[StateKeys] = []
    if state_file is not None and (data := source.peek(state_file)) is not None:
        for value, pointer in _documents(data):
            if isinstance(value, Mapping):
                keys += _state_keys(state_file, value, pointer)
            elif isinstance(value, Pickle):
                found.append(value)
    found = [replace(pickle, file=state_file or "") for pickle in found]
    for name in _read_files(tree):
        pickle = _file(source, name)
        if pickle is not None:
            found.append(pickle)
    return tuple(found), tuple(keys)


def _read_files(tree: Tree) -> Iterator[str]:
    for pattern in _PICKLES:
        name = max((n for n in tree.file_names() if fnmatchcase(n, pattern)), default=None)
        if name is not None:
            yield name


def _file(source: Source, name: str) -> Pickle | None:
    data = source.peek(name)
    if data is None:
        return None
    role = RecordRole.TUNER if name in TUNER_FILES else RecordRole.SEARCHER
    source.remember(name, RecordKind.PICKLE, role, data)
    found = look_into(source, name, role, data)
    try:
        return None if found is None else replace(contents_of(found, Pointer.of((), ())), file=name)
    except CodecError:
        return None


def look_into(source: Source, name: str, role: RecordRole, data: bytes) -> Doc | None:
    """The pickle in a file; one that is cut off or damaged is noted, since a restore fails on it.

    None too where it is whole, and only this reader cannot take it apart.
    """
    try:
        return decode(data) if data else None
    except (Truncated, Malformed) as error:
        source.problems.append(Unreadable(file=name, reason=str(error), role=role))
    except PickleError:
        pass
    return None


def _state_keys(file: str, value: Mapping[object, object], pointer: Pointer) -> Iterator[StateKeys]:
    part = {
        (1, "runner_data"): "runner",
        (2, None): "trial",
    }.get((len(pointer.levels), pointer.last))
    if part == "trial" and pointer.levels[0][-1:] != ("0",):
        return
    if part is not None:
        yield StateKeys(file=file, pointer=str(pointer), part=part, keys=frozenset(map(str, value)))


def _documents(data: bytes) -> Iterator[tuple[object, Pointer]]:
    """Every object of a state file and of the JSON texts in it, and every pickle."""
    try:
        waiting = [(load_json(data), Pointer())]
    except CodecError:
        return
    while waiting:
        value, pointer = waiting.pop()
        try:
            pickled = decode_fallback(value)
            if pickled is not None:
                yield contents_of(pickled, pointer.enter()), pointer
                continue
            if isinstance(value, str) and value.startswith("{"):
                waiting.append((load_json(value), pointer.enter()))
        except CodecError:
            continue
        if isinstance(value, Mapping):
            yield value, pointer
            waiting.extend((inner, pointer / str(key)) for key, inner in value.items())
        elif isinstance(value, list):
            waiting.extend((inner, pointer / at) for at, inner in enumerate(value))
