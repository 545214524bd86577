"""Everything that is generated from the app: `python -m ckptctl.cli._generate write|check`.

The regions of README.md between markers, the completion scripts, and the JSON schemas.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Mapping

import typer.main

from ckptctl.cli import _completions
from ckptctl.cli._verb import MEANINGS

_MARKER = re.compile(
    r"(?P<begin><!-- generated: (?P<name>[a-z-]+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL
)


def main(arguments: list[str]) -> int:
    """Write the generated files below the working folder, or say which are out of date."""
    if arguments not in (["write"], ["check"]):
        print("usage: python -m ckptctl.cli._generate write|check", file=sys.stderr)
        return 2
    stale = 0
    for path, (before, after) in changes(os.getcwd()).items():
        if arguments == ["write"]:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(after)
        else:
            diff = difflib.unified_diff(before.splitlines(), after.splitlines(), path, "generated")
            print("\n".join(diff), file=sys.stderr)
            stale = 1
    if stale:
        print("out of date: run `make docs`", file=sys.stderr)
    return stale


def changes(root: str) -> Mapping[str, tuple[str, str]]:
    """Each file that is not as it should be: its content, and what it should be."""
    from ckptctl import api
    from ckptctl.report import schema

    verbs = _completions.verbs([rule.code for rule in api.rules()])
    makers: dict[str, Callable[[str], str]] = {
        "README.md": lambda text: _MARKER.sub(_region, text),
        "completions/ckptctl.bash": lambda _: _completions.bash(verbs),
        "completions/_ckptctl": lambda _: _completions.zsh(verbs),
        "completions/ckptctl.fish": lambda _: _completions.fish(verbs),
    }
    makers |= {f"ckptctl/{name}": _always(text) for name, text in schema.files().items()}
    found = {}
    for name, make in makers.items():
        path = os.path.join(root, name)
        before = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                before = file.read()
        if (after := make(before)) != before:
            found[path] = (before, after)
    return found


def _always(text: str) -> Callable[[str], str]:
    return lambda _: text


def _region(match: re.Match[str]) -> str:
    makers = {"help": _help, "verbs": _verbs, "rules": _rules, "exit-codes": _exit_codes}
    return f"{match['begin']}{makers[match['name']]()}{match['end']}"


def _help() -> str:
    return _fenced(_help_of([]))


def _verbs() -> str:
    from ckptctl.cli.app import app

    group = typer.main.get_command(app)
    parts = []
    for name in group.commands:  # type: ignore[attr-defined]
        text = _fenced(_help_of([name]))
        parts.append(
            f"<details><summary><code>ckptctl {name}</code></summary>\n\n{text}\n</details>\n"
        )
    return "\n".join(parts)


def _help_of(arguments: list[str]) -> str:
    from ckptctl.cli.app import app

    command = typer.main.get_command(app)
    context = command.make_context("ckptctl", [], resilient_parsing=True, terminal_width=88)
    if arguments:
        command = command.commands[arguments[0]]  # type: ignore[attr-defined]
        context = command.make_context(
            arguments[0], [], parent=context, resilient_parsing=True, terminal_width=88
        )
    return command.get_help(context)


def _fenced(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


def _rules() -> str:
    from ckptctl import api

    rows = [
        f"| {rule.code} | {rule.name} | {rule.severity} | {rule.explanation.summary} |"
        for rule in api.rules()
    ]
    return "\n".join(["| code | rule | severity | what it finds |", "|---|---|---|---|", *rows, ""])


def _exit_codes() -> str:
    rows = [f"| {int(code)} | {meaning} |" for code, meaning in MEANINGS.items()]
    return "\n".join(["| code | meaning |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
