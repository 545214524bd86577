"""Errors as the user sees them: a sentence and what to do next, or one JSON object."""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import traceback

import typer

from ckptctl._version import __version__
from ckptctl.cli._console import Console, put
from ckptctl.errors import CkptctlError, InternalError, RefusedError, UsageError
from ckptctl.model.plan import Plan

_NEAR = re.compile(r"\.? (?:Did you mean:? |\(Possible options: )'?(?P<name>[^'?)]+)'?[?)]")
_SHAPE = re.compile(r"is not a valid (?:float|integer)(?: range)?")
"""What typer says of a number that is none, in Python's words."""


def fail(error: CkptctlError, argv: list[str]) -> int:
    """Print an error to stderr, in the format that the command line asked for."""
    report(error, _console(argv))
    return int(error.exit_code)


def report(error: CkptctlError, console: Console) -> None:
    """Print an error where the call goes on."""
    from ckptctl.report import document, errors, json

    try:
        if console.json:
            put(sys.stderr, json.render_line(document.error_document(error)), console.form)
        elif console.form == "github":
            from ckptctl.report import github

            put(sys.stderr, github.error(error), console.form)
        else:
            console.note(errors.render(error, console.page(sys.stderr)))
    except (CkptctlError, OSError, ValueError, AttributeError):
        pass  # stderr is closed: the exit code has to do


def refuse(plan: Plan, console: Console) -> None:
    """Print why a plan is not applied."""
    from ckptctl.report import plans

    if console.form == "github":
        return  # the answer tells of them
    if not console.json:
        console.note(plans.refusals(plan.refusals, console.page(sys.stderr)))
        return
    first = plan.refusals[0]
    reasons = tuple(reason.message for reason in plan.refusals)
    hint = "; ".join(first.help) or None
    report(RefusedError(first.message, reasons=reasons, hint=hint, location=plan.location), console)


def _console(argv: list[str]) -> Console:
    """Read the output options from the bare arguments: an error may come before they are parsed."""
    words = argv[: argv.index("--")] if "--" in argv else argv
    text = f"{' '.join(words)} ".replace("=", " ")
    set_form, set_color = _set(words)
    form = "json" if "--json" in words else _after("--format", text) or set_form
    color = _after("--color", text) or set_color
    return Console(
        form=form if form in ("json", "jsonl", "github") else "text",
        color=color if color in ("always", "never") else "auto",
    )


def _after(option: str, text: str) -> str | None:
    found = re.search(rf"{option} (\S+) ", text)
    return found[1] if found else None


def _set(words: list[str]) -> tuple[str, str]:
    """Find the format and colour of the settings, where those can be read."""
    from ckptctl.cli import _config

    try:
        values = _config.load(_config.named_in(words)).values
    except CkptctlError:
        return "text", "auto"
    form, color = (values.get(key) for key in ("format", "color"))
    return str(form.value) if form else "text", str(color.value) if color else "auto"


def usage(error: typer.TyperException) -> UsageError:
    """Take over typer's own usage errors."""
    describe = getattr(error, "format_message", None)
    message = str(describe() if describe else error)
    message = _SHAPE.sub("is no number", message)
    command = getattr(getattr(error, "ctx", None), "command_path", "ckptctl")
    hint = f"{command} --help"
    if near := _NEAR.search(message):
        message, hint = message[: near.start()], f"did you mean {near['name']}?"
    return UsageError(message[:1].lower() + message[1:].rstrip("."), hint=hint)


def bug(error: Exception) -> InternalError:
    """Write a report file, and say where it is."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" ({os.path.basename(last[0].filename)}:{last[0].lineno})" if last else ""
    message = f"a bug in ckptctl: {type(error).__name__}: {error}{where}"
    report = _report(error)
    hint = "CKPTCTL_DEBUG=1 shows the traceback"
    return InternalError(message, hint=f"{hint}; a report is in {report}" if report else hint)


def _report(error: Exception) -> str | None:
    lines = [
        f"ckptctl {__version__}, Python {platform.python_version()}, {platform.platform()}\n\n",
        *traceback.format_exception(error),
    ]
    try:
        handle, path = tempfile.mkstemp(prefix="ckptctl-report-", suffix=".txt")
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(lines)
    except OSError:
        return None
    return path
