"""What counts and where it was set, as a file that could be used as ``ckptctl.toml``."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ckptctl.cli._settings import OPTIONS, TABLES, Setting, Settings


def shown(settings: Settings, flags: Mapping[str, Setting]) -> str:
    """Lay the settings out, with the origin of each; `flags` come before all others."""
    lines = [f"# file: {settings.file or 'none found upward from the working folder'}"]
    values = {**settings.values, **flags}
    for key, option in OPTIONS.items():
        setting = values.get(key)
        if setting is not None:
            lines.append(_line(key, setting))
        elif option.default is not None:
            lines.append(_line(key, Setting(value=option.default, origin="default")))
    if "ignore" in values:
        lines.append(f"# of {_origin(values['ignore'])}: ignore {_value(values['ignore'].value)}")
    for table in (*TABLES, "checkpoint"):
        if table == "ignore" and "ignore" in values:
            continue
        own = {k: v for k, v in values.items() if k.startswith(f"{table}.")}
        lines += ["", f"[{table}]"] if own else []
        lines += [_line(key.partition(".")[2], setting) for key, setting in own.items()]
    return "\n".join(lines) + "\n"


def _line(key: str, setting: Setting) -> str:
    name = key if key.replace("-", "").replace("_", "").isalnum() and key.isascii() else _value(key)
    return f"{name} = {_value(setting.value)}  # {_origin(setting)}"


def _origin(setting: Setting) -> str:
    return setting.origin.encode("unicode_escape").decode()


def _value(value: object) -> str:
    """Write a value as TOML, which texts, numbers and lists have in common with JSON."""
    return json.dumps(list(value) if isinstance(value, tuple) else value)
