"""Options that several verbs share: one meaning each, everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

from ckptctl.cli._console import Console
from ckptctl.cli._settings import COLORS, EXECUTORS, Settings
from ckptctl.errors import UsageError
from ckptctl.report import formats

_PLACE = "A path or URL of a trial, an experiment, or a folder with experiments in it."

Location = Annotated[str, typer.Argument(metavar="LOCATION", help=_PLACE)]
Locations = Annotated[list[str], typer.Argument(metavar="LOCATION...", help=_PLACE)]

# --- what to look at ----------------------------------------------------------------------------

LayoutName = Annotated[
    str | None,
    typer.Option(
        "--layout",
        metavar="NAME",
        help="Read it as this layout instead of the one that fits best.",
        rich_help_panel="Selection",
    ),
]
TrialGlob = Annotated[
    str | None,
    typer.Option(
        "--trial",
        metavar="GLOB",
        help="Only trials whose folder or id matches.",
        rich_help_panel="Selection",
    ),
]
Select = Annotated[
    str | None,
    typer.Option(
        "--select",
        metavar="CODE,...",
        help="Only these findings, by code, beginning of a code, or rule name.",
        rich_help_panel="Selection",
    ),
]
Ignore = Annotated[
    str | None,
    typer.Option(
        "--ignore",
        metavar="CODE,...",
        help="Leave these findings out.",
        rich_help_panel="Selection",
    ),
]
FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on",
        metavar="LEVEL",
        help="Exit 1 from this severity on: error, warning, info or never.",
        rich_help_panel="Selection",
    ),
]

ForRay = Annotated[
    str | None,
    typer.Option(
        "--for-ray",
        metavar="VERSION",
        help="Ask whether this Ray could go on from here (CKP207).",
        rich_help_panel="Selection",
    ),
]
ForPyarrow = Annotated[
    str | None,
    typer.Option(
        "--for-pyarrow",
        metavar="VERSION",
        help="Ask whether this pyarrow could load the state (CKP207).",
        rich_help_panel="Selection",
    ),
]
Deep = Annotated[
    bool,
    typer.Option(
        "--deep",
        help="Look into the headers of zip, safetensors and JSON files of checkpoints too.",
        rich_help_panel="Selection",
    ),
]

# --- what may happen ----------------------------------------------------------------------------

DryRun = Annotated[
    bool,
    typer.Option("--dry-run", "-n", help="Stop after printing the plan.", rich_help_panel="Safety"),
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        "-y",
        help="Apply without asking; needed without a terminal.",
        rich_help_panel="Safety",
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Exit 1 if the plan has steps, and apply nothing.",
        rich_help_panel="Safety",
    ),
]
AllowLive = Annotated[
    bool,
    typer.Option("--allow-live", help="Go on where a run looks alive.", rich_help_panel="Safety"),
]
QuietPeriod = Annotated[
    float,
    typer.Option(
        "--quiet-period",
        metavar="SECONDS",
        min=0,
        help="How long nothing may have changed for a running trial to count as dead.",
        rich_help_panel="Safety",
    ),
]
Unsafe = Annotated[
    bool,
    typer.Option("--unsafe", help="Allow remedies marked unsafe.", rich_help_panel="Safety"),
]
Quarantine = Annotated[
    bool,
    typer.Option(
        "--quarantine",
        help="Move partial, empty and temporary folders aside, into .ckptctl/quarantine/.",
        rich_help_panel="Safety",
    ),
]
NoLock = Annotated[
    bool,
    typer.Option(
        "--no-lock",
        help="Go on where the storage cannot lock; make sure that nothing else writes there.",
        rich_help_panel="Safety",
    ),
]
KeepGoing = Annotated[
    bool,
    typer.Option(
        "--keep-going",
        help="With several experiments: one that is refused does not hold back the others.",
        rich_help_panel="Safety",
    ),
]
PlanOut = Annotated[
    str | None,
    typer.Option(
        "--plan-out",
        metavar="FILE",
        help="Save the plan as JSON, for `ckptctl apply`.",
        rich_help_panel="Safety",
    ),
]
OnMissing = Annotated[
    str,
    typer.Option(
        "--on-missing",
        metavar="error|skip",
        help="What to do about a checkpoint that lacks the metric.",
        rich_help_panel="Names",
    ),
]
AllowReorder = Annotated[
    bool,
    typer.Option(
        "--allow-reorder",
        help="Accept names that do not sort in the order of the saves.",
        rich_help_panel="Names",
    ),
]

# --- who does it --------------------------------------------------------------------------------

Executor = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="|".join(EXECUTORS),
        help="Who lists, reads and copies: this process, or the workers of a cluster.",
    ),
]

# --- how to say it ------------------------------------------------------------------------------

Format = Annotated[
    str,
    typer.Option(
        "--format", metavar="|".join(formats.ALL), help="How to print it.", rich_help_panel="Output"
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="The same as --format json.", rich_help_panel="Output")
]
OutFile = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write the answer to a file.",
        rich_help_panel="Output",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "-q", "--quiet", help="Only bare paths or ids, one a line.", rich_help_panel="Output"
    ),
]
Verbose = Annotated[
    int,
    typer.Option(
        "-v",
        "--verbose",
        count=True,
        help="Everything, and why.",
        show_default=False,
        rich_help_panel="Output",
    ),
]
Color = Annotated[
    str,
    typer.Option(
        "--color", metavar="auto|always|never", help="When to colour.", rich_help_panel="Output"
    ),
]

Config = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Take settings from this file, not from the nearest ckptctl.toml or pyproject.toml.",
    ),
]


def one_of(option: str, value: str, allowed: tuple[str, ...]) -> str:
    """Check a choice; the message names what there is."""
    if value not in allowed:
        raise UsageError(
            f"{option} {value} is not available", hint=f"choose one of {', '.join(allowed)}"
        )
    return value


def console(  # noqa: PLR0917 - in the order of the help
    form: str, json: bool, out: str | None, quiet: bool, verbose: int, color: str
) -> Console:
    """Gather the output options."""
    one_of("--format", form, formats.ALL)
    if json and form not in ("text", "json"):
        raise UsageError(f"--json and --format {form} ask for two formats")
    one_of("--color", color, COLORS)
    return Console(
        form="json" if json else form, out=out, quiet=quiet, verbose=verbose, color=color
    )


def executor(name: str) -> str:
    """See that an executor is there, before anything is read."""
    one_of("--executor", name, EXECUTORS)
    if name != "local":
        from ckptctl import api

        api.check_executor(name)
    return name


def settings(config: str | None) -> Settings:
    """Gather what was set outside of the command line."""
    from ckptctl.cli import _config

    return _config.load(config)


def codes(text: str | None) -> tuple[str, ...]:
    """Take a comma-separated list apart."""
    return tuple(part for part in (p.strip() for p in (text or "").split(",")) if part)
