"""What can be set in a file or a variable, and what it has to look like."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from ckptctl.errors import UsageError
from ckptctl.model.finding import Severity
from ckptctl.report import formats

LEVELS = ("error", "warning", "info", "never")
EXECUTORS = ("local", "ray", "dask")
COLORS = ("auto", "always", "never")


class Bad(Exception):
    """A key or value that cannot be; whoever reads it knows where it stands."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class Setting(Struct, frozen=True, kw_only=True):
    """One value, and where it was set."""

    value: object
    origin: str


class Settings(Struct, frozen=True, kw_only=True):
    """All that was set outside of the command line, by key: ``fail-on``, ``templates.loss``."""

    values: Mapping[str, Setting] = field(default_factory=dict)
    file: str | None = None

    def defaults(self, verb: str) -> dict[str, object]:
        """The defaults of a verb's options, by the names of their parameters."""
        found = {}
        for key, option in OPTIONS.items():
            value = self.values[key].value if key in self.values else None
            if value is None or (key == "format" and value not in formats.of(verb)):
                continue
            found[option.param] = ",".join(value) if isinstance(value, tuple) else value
        if ignored := self.ignored:
            found["ignore"] = ",".join(ignored)
        return found

    @property
    def ignored(self) -> tuple[str, ...]:
        """The findings to leave out."""
        if "ignore" in self.values:
            return _words(self.values["ignore"].value)
        return tuple(self.reasons)

    @property
    def reasons(self) -> Mapping[str, str]:
        """Why each finding is left out."""
        return self._table("ignore")

    @property
    def severities(self) -> Mapping[str, Severity]:
        """The severities that findings get instead of their own."""
        return {code: Severity(level) for code, level in self._table("severity").items()}

    @property
    def required(self) -> tuple[str, ...]:
        """Patterns of the files that every checkpoint has to have."""
        found = self.values.get("checkpoint.required")
        return _words(found.value) if found else ()

    def template(self, to: str) -> str:
        """Look up ``@name`` among the templates; anything else is a template itself."""
        return self._named("templates", "--to", to)

    def policy(self, by: str) -> str:
        """Look up ``@name`` among the policies; anything else is a policy itself."""
        return self._named("policies", "--by", by)

    def _named(self, table: str, option: str, word: str) -> str:
        if not word.startswith("@"):
            return word
        known = self._table(table)
        if word[1:] in known:
            return known[word[1:]]
        from difflib import get_close_matches

        near = get_close_matches(word[1:], known, n=1)
        hint = f"did you mean @{near[0]}?" if near else f"{table} are set in ckptctl.toml"
        raise UsageError(f"{option} {word}: no such name under [{table}]", hint=hint)

    def _table(self, name: str) -> Mapping[str, str]:
        start = f"{name}."
        return {
            key.removeprefix(start): str(setting.value)
            for key, setting in self.values.items()
            if key.startswith(start)
        }


Check = Callable[[str, object], object]
"""Takes a key and what stands there; gives the value, or raises Bad."""


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Bad(f"{key} has to be a text")
    return value


def _one_of(*allowed: str) -> Check:
    def check(key: str, value: object) -> str:
        if value not in allowed:
            hint = f"choose one of {', '.join(allowed)}"
            raise Bad(f"{key} {json.dumps(value, default=str)} is not available", hint)
        return str(value)

    return check


def _seconds(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise Bad(f"{key} has to be a number of seconds")
    return float(value)


def _list(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
        raise Bad(f'{key} has to be a list of texts, as in ["CKP1"]')
    return tuple(value)


def _reason(key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Bad(f"{key} needs a reason", f'as in {key.rpartition(".")[2]} = "runs are archived"')
    return value


def _built_in(key: str, value: object) -> str:
    if ":" in _text(key, value):
        raise Bad(
            f"{key} is a function, and a file names no code to run",
            "write --by module:function on the command line",
        )
    return str(value)


class Option(Struct, frozen=True, kw_only=True):
    """An option whose default can be set."""

    param: str
    check: Check
    default: object = None


OPTIONS: Mapping[str, Option] = {
    "format": Option(param="form", check=_one_of(*formats.ALL), default="text"),
    "color": Option(param="color", check=_one_of(*COLORS), default="auto"),
    "fail-on": Option(param="fail_on", check=_one_of(*LEVELS), default="error"),
    "quiet-period": Option(param="quiet_period", check=_seconds, default=60.0),
    "layout": Option(param="layout", check=_text),
    "select": Option(param="select", check=_list),
    "baseline": Option(param="baseline", check=_text),
    "executor": Option(param="executor", check=_one_of(*EXECUTORS), default="local"),
}

TABLES: Mapping[str, Check] = {
    "ignore": _reason,
    "severity": _one_of(*(str(s) for s in Severity)),
    "templates": _text,
    "policies": _built_in,
}
"""Tables with names of the user's own."""

_CHECKPOINT = {"checkpoint.required": _list}


def from_table(table: Mapping[str, object], path: str) -> dict[str, Setting]:
    """Check what a file says. Raises Bad."""
    found = dict(_values(table))
    if "baseline" in found:  # it lies where the file lies that names it
        found["baseline"] = os.path.join(os.path.dirname(path), str(found["baseline"]))
    return {key: Setting(value=value, origin=path) for key, value in found.items()}


def _values(table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if key in OPTIONS:
            yield key, OPTIONS[key].check(key, value)
        elif key == "checkpoint" and isinstance(value, Mapping):
            for inner, own in value.items():
                if f"checkpoint.{inner}" not in _CHECKPOINT:
                    raise _unknown(f"checkpoint.{inner}", tuple(_CHECKPOINT))
                yield f"checkpoint.{inner}", _CHECKPOINT[f"checkpoint.{inner}"](inner, own)
        elif key in TABLES:
            if not isinstance(value, Mapping):
                raise Bad(f"{key} has to be a table", _AS_IN[key])
            for name, own in value.items():
                yield f"{key}.{name}", TABLES[key](f"{key}.{name}", own)
        else:
            raise _unknown(key, (*OPTIONS, *TABLES, "checkpoint"))


_AS_IN = {
    "ignore": 'as in [ignore] and CKP116 = "the reason"',
    "severity": 'as in [severity] and CKP107 = "info"',
    "templates": 'as in [templates] and loss = "checkpoint_{index:06d}-{loss:.4f}"',
    "policies": 'as in [policies] and by_step = "training_iteration"',
}


def _unknown(key: str, known: Sequence[str]) -> Bad:
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1)
    return Bad(
        f"unknown key {key}",
        f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}",
    )


def from_text(key: str, text: str) -> object:
    """Check what a variable says. Raises Bad."""
    if key in ("select", "ignore"):
        return _words(text)
    if key == "quiet-period":
        try:
            return _seconds(key, float(text))
        except ValueError:
            raise Bad(f"{key} has to be a number of seconds") from None
    return OPTIONS[key].check(key, text)


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return value
    return tuple(word for word in (w.strip() for w in str(value).split(",")) if word)
