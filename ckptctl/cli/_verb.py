"""How a verb is declared: a summary, examples, grouped options, exit codes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import typer
from typer.core import TyperCommand

from ckptctl.errors import ExitCode, UsageError
from ckptctl.report import formats

P = ParamSpec("P")
R = TypeVar("R")

MEANINGS = {
    ExitCode.DONE: "done, or nothing to do; no finding at or above --fail-on",
    ExitCode.FINDINGS: "findings at or above --fail-on; --check found steps to do; "
    "no answer for some trial",
    ExitCode.USAGE: "usage: bad arguments, bad template, no terminal and no --yes",
    ExitCode.LOCATION: "a location cannot be read or written, and nothing was changed",
    ExitCode.JOURNAL: "locked by another run, or an interrupted apply is pending",
    ExitCode.STALE: "stale: the experiment changed in the meantime",
    ExitCode.STOPPED: "an apply stopped part-way; nothing is lost, the message says how to go on",
    ExitCode.REFUSED: "refused: the plan would be unsafe",
    ExitCode.BUG: "a bug in ckptctl",
    ExitCode.CANCELLED: "interrupted, or the answer was No",
}

WRITES = (0, 1, 2, 10, 11, 12, 13, 14, 130)

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 96}


class Verb(TyperCommand):
    """A command whose options are listed in groups."""

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401
        """List the formats of this verb, instead of all that there are."""
        params = super().get_params(ctx)
        for param in params:
            if param.name == "form":
                param.metavar = "|".join(formats.of(str(self.name)))
        return params

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        """Refuse a format that this verb has not, before anything is done."""
        form, own = ctx.params.get("form"), formats.of(str(self.name))
        if form in formats.ALL and form not in own:
            raise UsageError(
                f"{self.name} has no --format {form}", hint=f"choose one of {', '.join(own)}"
            )
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer has no names
        """Write arguments as they were declared."""
        arguments = [p for p in self.get_params(ctx) if _is_argument(p)]
        return ["[OPTIONS]", *(str(p.metavar) for p in arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """List options under the panel that each was declared for."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if _is_argument(param):
                record = (str(param.metavar), str(getattr(param, "help", "")))
            if record is not None:
                groups.setdefault(_group(param), []).append(record)
        for name in sorted(groups, key=_rank):
            with formatter.section(name):
                formatter.write_dl(groups[name])


_ORDER = ("Arguments", "Names", "Indices", "Ranking", "Selection", "Safety", "Output", "Options")


def _group(param: Any) -> str:  # noqa: ANN401
    if _is_argument(param):
        return "Arguments"
    return getattr(param, "rich_help_panel", None) or "Options"


def _is_argument(param: Any) -> bool:  # noqa: ANN401
    return getattr(param, "param_type_name", "") == "argument"


def _rank(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def verb(
    app: typer.Typer,
    name: str,
    *,
    examples: Sequence[str],
    exits: Sequence[int] = (0, 2, 10),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register a function as a verb; the first line of its docstring is the summary."""

    def register(function: Callable[P, R]) -> Callable[P, R]:
        summary, _, rest = inspect.cleandoc(function.__doc__ or "").partition("\n")
        parts = [summary, "\b\n" + "\n".join(examples), rest.strip()]
        codes = "\n".join(f"{code:>3}  {MEANINGS[ExitCode(code)]}" for code in exits)
        app.command(
            name,
            cls=Verb,
            help="\n\n".join(part for part in parts if part),
            short_help=summary,
            epilog=f"\b\nExit codes:\n{codes}",
            context_settings=SETTINGS,
        )(function)
        return function

    return register
