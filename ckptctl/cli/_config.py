"""Where settings are found: ``CKPTCTL_*``, then the nearest file upward from the working folder.

The scanned location is never looked into, and nothing that a file says is run as code.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ckptctl.cli._settings import OPTIONS, Bad, Setting, Settings, from_table, from_text
from ckptctl.errors import UsageError

NAME = "ckptctl.toml"
_RAYS_OWN = frozenset({"tuner.pkl", "checkpoint_manager_snapshot.json", ".validate_storage_marker"})
"""What Ray keeps in the folder of an experiment, beside its state files."""
PREFIX = "CKPTCTL_"
_OWN = b"tool.ckptctl"
"""What a file that is not for us does not mention."""

_VARIABLES = {f"{PREFIX}{key.upper().replace('-', '_')}": key for key in (*OPTIONS, "ignore")}
_OTHERS = ("CKPTCTL_CONFIG", "CKPTCTL_DEBUG")


def load(config: str | None = None) -> Settings:
    """Gather the settings of this call.

    Raises:
        UsageError: a file or variable cannot be read, or has a key that is not known.
    """
    named = config or os.environ.get("CKPTCTL_CONFIG")
    found = (_named(named), named) if named else _nearest(os.getcwd())
    values: dict[str, Setting] = {}
    if found is not None:
        table, path = found
        try:
            values |= from_table(table, path)
        except Bad as error:
            raise UsageError(f"{path}: {error}", hint=error.hint, location=path) from error
    own = dict(_environment(os.environ))
    if "ignore" in own:  # what comes first replaces the whole list
        values = {key: value for key, value in values.items() if not key.startswith("ignore.")}
    return Settings(values={**values, **own}, file=found[1] if found else None)


def named_in(arguments: Sequence[str]) -> str | None:
    """Find the file after ``--config``, before the arguments are parsed."""
    words = list(arguments)
    words = words[: words.index("--")] if "--" in words else words
    for number, word in enumerate(words):
        if word == "--config" and number + 1 < len(words):
            return words[number + 1]
        if word.startswith("--config="):
            return word.partition("=")[2]
    return None


def _named(path: str) -> Mapping[str, object]:
    table = _read(path)
    if os.path.basename(path) == "pyproject.toml":
        return _own_part(table, path) or {}
    return table


def _is_experiment(folder: str) -> bool:
    """Whether Ray keeps an experiment here, which may have come from anywhere."""
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(n in _RAYS_OWN or n.startswith("experiment_state-") for n in names)


def _upward(folder: str) -> Iterator[str]:
    yield folder
    while folder != (folder := os.path.dirname(folder)):
        yield folder


def _nearest(start: str) -> tuple[Mapping[str, object], str] | None:
    for folder in _upward(start):
        path = os.path.join(folder, NAME)
        if os.path.isfile(path) and not _is_in_experiment(folder):
            return _read(path), path
        path = os.path.join(folder, "pyproject.toml")
        if not os.path.isfile(path):
            continue
        try:
            part = _own_part(_read(path, lenient=True), path)
        except UsageError:
            if not _is_in_experiment(folder):
                raise
            continue
        if part is not None and not _is_in_experiment(folder):
            return part, path
    return None


def _is_in_experiment(folder: str) -> bool:
    """Whether what lies here may have come with somebody else's experiment."""
    return any(map(_is_experiment, _upward(folder)))


def _own_part(table: Mapping[str, object], path: str) -> Mapping[str, object] | None:
    tool = table.get("tool")
    part = tool.get("ckptctl") if isinstance(tool, Mapping) else None
    if part is None or isinstance(part, Mapping):
        return part
    raise UsageError(f"{path}: tool.ckptctl has to be a table", location=path)


def _read(path: str, *, lenient: bool = False) -> Mapping[str, object]:
    """Read a file; with `lenient` one that is broken and not for us is as good as none."""
    content = b""
    try:
        with open(path, "rb") as file:
            content = file.read()
        # Most projects have no table for us, and to import a parser for that takes its time too.
        if lenient and b"ckptctl" not in content:
            return {}
        return _parsed(content)
    except OSError as error:
        if lenient:
            return {}
        reason = error.strerror or str(error)
        raise UsageError(f"cannot read {path}: {reason}", location=path) from error
    except (ValueError, RecursionError) as error:  # it is no TOML, or no text
        if lenient and _OWN not in content:
            return {}
        from ckptctl.api import reason_of

        raise UsageError(f"cannot read {path}: {reason_of(error)}", location=path) from error


@lru_cache(maxsize=2)
def _parsed(content: bytes) -> Mapping[str, object]:
    """What a file says; a call asks for its settings more than once."""
    import tomllib

    return tomllib.loads(content.decode())


def _environment(variables: Mapping[str, str]) -> Iterator[tuple[str, Setting]]:
    for name in sorted(n for n in variables if n.startswith(PREFIX)):
        key = _VARIABLES.get(name)
        if key is None:
            _refuse_misspelt(name)
        elif variables[name]:
            try:
                yield key, Setting(value=from_text(key, variables[name]), origin=name)
            except Bad as error:
                raise UsageError(f"{name}: {error}", hint=error.hint) from error


def _refuse_misspelt(name: str) -> None:
    """Refuse a variable that is nearly one of ours; others may be somebody else's."""
    if name in _OTHERS:
        return
    from difflib import get_close_matches

    if near := get_close_matches(name, (*_VARIABLES, *_OTHERS), n=1, cutoff=0.8):
        raise UsageError(f"unknown variable {name}", hint=f"did you mean {near[0]}?")
