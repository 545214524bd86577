"""The app: every verb, in the order of the help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ckptctl._version import __version__
from ckptctl.cli._verb import SETTINGS, write_examples
from ckptctl.errors import UsageError

HOMES: Mapping[str, str] = {
    "scan": "scan",
    "rename": "rename",
    "reindex": "reindex",
    "migrate": "migrate",
    "apply": "apply",
    "undo": "undo",
    "resume": "undo",
    "history": "history",
    "diff": "diff",
    "latest": "pick",
    "best": "pick",
    "policy": "policy",
    "rules": "rules",
    "demo": "demo",
}
"""The module of each verb, in the order of the help."""

_EXAMPLES = (
    "ckptctl scan ~/ray_results/tune_lr",
    "ckptctl reindex ~/ray_results/tune_lr",
    "ckptctl rename ~/ray_results/tune_lr --to 'checkpoint_{training_iteration:06d}-{loss:.4f}'",
)


class _Verbs(TyperGroup):
    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        write_examples(formatter, _EXAMPLES)
        super().format_help(ctx, formatter)


def app_of(argv: Iterable[str] = ()) -> typer.Typer:
    """Build the app; of a call that begins with a verb, only that one: the others cost time."""
    verb = next(iter(argv), "")
    app = typer.Typer(
        name="ckptctl",
        cls=_Verbs,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=SETTINGS,
        epilog="Exit codes are the same for every verb: 0 done, 1 findings, 2 usage, "
        "10 location, 11 locked or pending, 12 stale, 13 stopped part-way, 14 refused, 70 a bug, "
        "130 interrupted.",
    )
    for home in (HOMES[verb],) if verb in HOMES else dict.fromkeys(HOMES.values()):
        import_module(f"ckptctl.cli.{home}").register(app)
    app.callback(invoke_without_command=True)(_main)
    return app


def _version(asked: bool) -> None:
    if asked:
        print(f"ckptctl {__version__}")
        raise typer.Exit


def _main(
    context: typer.Context,
    *,
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="With --show-config: the settings of this file, not of the nearest.",
        ),
    ] = None,
    show_config: Annotated[
        bool,
        typer.Option(
            "--show-config",
            help="Print the settings, and where each comes from.",
        ),
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Print the version; with -v also those of Python and the drivers.",
        ),
    ] = False,
) -> None:
    """Inspect and mend Ray Tune experiment folders: checkpoint names, indices, and the records."""
    if show_config:
        from ckptctl.cli import _config
        from ckptctl.cli._show_config import shown

        print(shown(_config.load(config), {}), end="")
        raise typer.Exit
    verb = context.invoked_subcommand
    if verb is not None and config is not None:
        raise UsageError(
            f"--config {config} stands before the verb, where it holds for --show-config alone",
            hint=f"ckptctl {verb} … --config {config}",
        )
    if verb is None:
        raise UsageError("no verb is given", hint="ckptctl --help")
