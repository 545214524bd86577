"""What a Ray has to import to load an experiment: the globals of all pickles that it reads.

A restore reads the state, the settings of the run and what the searcher left; where one class of
any of them is missing, it starts from scratch (seen in Ray 2.40, 2.54 and 2.60).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from ckptctl.codec.errors import CodecError
from ckptctl.codec.json_records import decode_fallback, load_json
from ckptctl.codec.pickle_reader import decode
from ckptctl.layouts.base import Source
from ckptctl.layouts.tree import Tree

_PICKLES = (
    "tuner.pkl",
    "trainer.pkl",
    "basic-variant-state-*.json",
    "search_gen_state-*.json",
    "searcher-state-*.pkl",
    "callback-states-*.pkl",
)
"""Of each the one with the greatest name is read (Ray 2.54 ``tune/execution``)."""


def imported(tree: Tree, source: Source, state_file: str | None) -> dict[str, frozenset[str]]:
    """The globals of each file, as ``module:name``; nothing of what cannot be read."""
    found: dict[str, frozenset[str]] = {}
    if state_file is not None and (data := source.peek(state_file)) is not None:
        found[state_file] = frozenset(_in_json(data))
    for pattern in _PICKLES:
        name = max((n for n in tree.file_names() if fnmatchcase(n, pattern)), default=None)
        if name is None or (data := source.peek(name)) is None:
            continue
        try:
            found[name] = decode(data).globals
        except CodecError:
            continue
    return found


def _in_json(data: bytes) -> Iterator[str]:
    """Of every pickle in a state file, which keeps JSON texts inside its JSON."""
    try:
        waiting = [load_json(data)]
    except CodecError:
        return
    while waiting:
        value = waiting.pop()
        try:
            pickled = decode_fallback(value)
            if pickled is None and isinstance(value, str) and value.startswith("{"):
                waiting.append(load_json(value))
        except CodecError:
            continue
        if pickled is not None:
            yield from pickled.globals
        elif isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
