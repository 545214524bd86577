"""Everything that is generated from the app: `python -m ckptctl.cli._generate write|check`.

Regions of README.md and of the pages in docs/ between markers, the pages of verbs and findings,
the manual page, the completion scripts, and the JSON schemas.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Mapping

from ckptctl.cli import _completions, _docs, _man

_MARKER = re.compile(
    r"(?P<begin><!-- generated: (?P<name>[a-z-]+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL
)
_FOLDERS = ("docs/commands", "docs/findings")
"""Folders that hold nothing else: a page of a verb that is gone goes too."""


def main(arguments: list[str]) -> int:
    """Write the generated files below the working folder, or say which are out of date."""
    if arguments not in (["write"], ["check"]):
        print("usage: python -m ckptctl.cli._generate write|check", file=sys.stderr)
        return 2
    stale = 0
    for path, (before, after) in changes(os.getcwd()).items():
        if arguments == ["check"]:
            diff = difflib.unified_diff(
                before.splitlines(), (after or "").splitlines(), path, "generated"
            )
            print("\n".join(diff), file=sys.stderr)
            stale = 1
        elif after is None:
            os.unlink(path)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(after)
    if stale:
        print("out of date: run `make docs`", file=sys.stderr)
    return stale


def changes(root: str) -> Mapping[str, tuple[str, str | None]]:
    """Each file that is not as it should be: its content, and what it should be, or None."""
    found: dict[str, tuple[str, str | None]] = {}
    for name, make in _makers(root).items():
        path = os.path.join(root, name)
        before = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                before = file.read()
        if (after := make(before)) != before:
            found[path] = (before, after)
    expected = set(_docs.files())
    for name in (f"{f}/{n}" for f in _FOLDERS for n in _names(os.path.join(root, f))):
        if name not in expected:
            found[os.path.join(root, name)] = ("", None)
    return found


def _makers(root: str) -> Mapping[str, Callable[[str], str]]:
    from ckptctl import api
    from ckptctl.report import schema

    verbs = _completions.verbs([rule.code for rule in api.rules()])
    texts = {
        "completions/ckptctl.bash": _completions.bash(verbs),
        "completions/_ckptctl": _completions.zsh(verbs),
        "completions/ckptctl.fish": _completions.fish(verbs),
        "man/ckptctl.1": _man.page(),
        **_docs.files(),
        **{f"ckptctl/{name}": text for name, text in schema.files().items()},
    }
    written = ("README.md", *(f"docs/{n}" for n in _names(os.path.join(root, "docs"))))
    return {
        **{name: _always(text) for name, text in texts.items()},
        **dict.fromkeys(written, _with_regions),
    }


def _names(folder: str) -> list[str]:
    if not os.path.isdir(folder):
        return []
    return sorted(name for name in os.listdir(folder) if name.endswith(".md"))


def _always(text: str) -> Callable[[str], str]:
    return lambda _: text


def _with_regions(text: str) -> str:
    def region(match: re.Match[str]) -> str:
        return f"{match['begin']}{_docs.REGIONS[match['name']]()}{match['end']}"

    return _MARKER.sub(region, text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
