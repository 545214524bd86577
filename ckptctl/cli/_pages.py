"""What pages about the verbs are made of: the help, in parts."""

from __future__ import annotations

from collections.abc import Iterator

import typer.main
from msgspec import Struct

from ckptctl.cli._verb import DECLARED, Declared


class Page(Struct, frozen=True, kw_only=True):
    """One verb."""

    name: str
    declared: Declared
    usage: str
    groups: dict[str, list[tuple[str, str]]]
    """Arguments and options with their help, by heading."""


def pages() -> Iterator[Page]:
    """Every verb, in the order of the help."""
    from ckptctl.cli.app import app_of

    group = typer.main.get_command(app_of())
    above = group.make_context("ckptctl", [], resilient_parsing=True, terminal_width=88)
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        context = command.make_context(name, [], parent=above, resilient_parsing=True)
        pieces = command.collect_usage_pieces(context)
        yield Page(
            name=name,
            declared=DECLARED[name],
            usage=" ".join(["ckptctl", name, *pieces]),
            groups=command.groups(context),
        )


def help_of(name: str | None = None) -> str:
    """Give the help as a terminal of 88 columns shows it."""
    from ckptctl.cli.app import app_of

    command = typer.main.get_command(app_of())
    context = command.make_context("ckptctl", [], resilient_parsing=True, terminal_width=88)
    if name is not None:
        command = command.commands[name]  # type: ignore[attr-defined]
        context = command.make_context(
            name, [], parent=context, resilient_parsing=True, terminal_width=88
        )
    return command.get_help(context)
