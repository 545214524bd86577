"""The app: every verb, in the order of the help."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ckptctl._version import __version__
from ckptctl.cli import apply, demo, diff, history, pick, reindex, rename, rules, scan, undo
from ckptctl.cli._verb import SETTINGS, write_examples

_EXAMPLES = (
    "ckptctl scan ~/ray_results/tune_lr",
    "ckptctl reindex ~/ray_results/tune_lr",
    "ckptctl rename ~/ray_results/tune_lr --to 'checkpoint_{training_iteration:06d}-{loss:.4f}'",
)


class _Verbs(TyperGroup):
    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        write_examples(formatter, _EXAMPLES)
        super().format_help(ctx, formatter)


app = typer.Typer(
    name="ckptctl",
    cls=_Verbs,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
    epilog="Exit codes are the same for every verb: 0 done, 1 findings, 2 usage, 10 location, "
    "11 locked or pending, 12 stale, 13 stopped part-way, 14 refused, 70 a bug, 130 interrupted.",
)

for _module in (scan, rename, reindex, apply, undo, history, diff, pick, rules, demo):
    _module.register(app)


def _version(asked: bool) -> None:
    if asked:
        print(f"ckptctl {__version__}")
        raise typer.Exit


def _settings(asked: bool) -> None:
    if asked:
        from ckptctl.cli import _config
        from ckptctl.cli._show_config import shown

        print(shown(_config.load(), {}), end="")
        raise typer.Exit


@app.callback()
def _main(
    *,
    show_config: Annotated[
        bool,
        typer.Option(
            "--show-config",
            callback=_settings,
            is_eager=True,
            help="Print the settings, and where each comes from.",
        ),
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Inspect and mend Ray Tune experiment folders: checkpoint names, indices, and the records."""
