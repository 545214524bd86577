"""`ckptctl demo`: a damaged experiment to play with.

The experiment in `ckptctl/demo` is a real one: Ray 2.54.1, two trials, whose driver was killed
after the session had saved and logged more than the driver's last snapshot of its state knows.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import time
from importlib.resources import as_file, files
from typing import Annotated

import typer

from ckptctl.cli._verb import verb
from ckptctl.errors import ExitCode, LocationError

_NAME = "tune_lr"
_TEMPLATE = "checkpoint_{training_iteration:06d}-{loss:.4f}"

STEPS = (
    ("A driver was killed. What is there, and what do its records say?", ("scan", _NAME)),
    ("Make the records agree with the folders.", ("reindex", _NAME, "--yes")),
    ("Names that say what is in them.", ("rename", _NAME, "--to", _TEMPLATE, "--yes")),
    ("And back: every byte of every record is as it was.", ("undo", _NAME, "--yes")),
    ("Nothing is left to mend.", ("scan", _NAME)),
)


def register(app: typer.Typer) -> None:
    """Add the verb to the app."""
    verb(app, "demo", examples=("ckptctl demo", "ckptctl demo ./playground"), exits=(0, 2, 10))(
        demo
    )


def demo(
    folder: Annotated[
        str | None,
        typer.Argument(
            metavar="[DIR]",
            help="Where to put the experiment; without it a new temporary folder.",
            show_default=False,
        ),
    ] = None,
) -> ExitCode:
    """Make a small damaged experiment, and walk through scan, reindex, rename and undo on it."""
    from ckptctl.cli.main import main

    place = _unpack(folder)
    print(f"$ cd {shlex.quote(place)}", flush=True)
    back = os.getcwd()
    os.chdir(place)
    try:
        for number, (why, arguments) in enumerate(STEPS):
            print(f"\n# {why}\n$ {shlex.join(('ckptctl', *arguments))}", flush=True)
            code = main(list(arguments))
            # What counts as a failure may be set otherwise where the call was made.
            if code not in ((ExitCode.DONE, ExitCode.FINDINGS) if number == 0 else (0,)):
                return ExitCode(code)
    finally:
        os.chdir(back)
    print(f"\nThe experiment is in {os.path.join(place, _NAME)}; it is yours to break.", flush=True)
    return ExitCode.DONE


def _unpack(folder: str | None) -> str:
    try:
        place = os.path.abspath(folder) if folder else tempfile.mkdtemp(prefix="ckptctl-demo-")
        target = os.path.join(place, _NAME)
        if os.path.lexists(target):
            raise LocationError(f"{target} is there already", hint="name another folder")
        os.makedirs(place, exist_ok=True)
        with as_file(files("ckptctl") / "demo" / _NAME) as source:
            shutil.copytree(source, target)
        _age(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise LocationError(f"cannot write {folder or 'a demo folder'}: {reason}") from error
    return place


def _age(target: str) -> None:
    """Let the files look an hour old, or the run would look alive."""
    then = time.time() - 3600
    for parent, _, names in os.walk(target):
        for name in (*names, "."):
            os.utime(os.path.join(parent, name), (then, then))
