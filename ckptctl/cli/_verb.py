"""How a verb is declared: a summary, examples, grouped options, exit codes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer
import typer.main
from msgspec import Struct
from typer.core import TyperCommand

from ckptctl.errors import ExitCode, UsageError
from ckptctl.report import formats

if TYPE_CHECKING:
    from ckptctl.cli._settings import Settings

P = ParamSpec("P")
R = TypeVar("R")

MEANINGS = {
    ExitCode.DONE: "done, or nothing to do; no finding at or above --fail-on",
    ExitCode.FINDINGS: "findings at or above --fail-on; --check found steps to do; "
    "no answer for some trial",
    ExitCode.USAGE: "usage: bad arguments, bad config, bad template, no terminal and no --yes",
    ExitCode.LOCATION: "a location cannot be read or written, and nothing was changed",
    ExitCode.JOURNAL: "locked by another run, or an interrupted apply is pending",
    ExitCode.STALE: "stale: the experiment changed in the meantime",
    ExitCode.STOPPED: "an apply stopped part-way; nothing is lost, the message says how to go on",
    ExitCode.REFUSED: "refused: the plan would be unsafe",
    ExitCode.BUG: "a bug in ckptctl",
    ExitCode.CANCELLED: "interrupted, or the answer was No",
}

WRITES = (0, 1, 2, 10, 11, 12, 13, 14)
_ALWAYS = (ExitCode.BUG, ExitCode.CANCELLED)
"""Codes that every verb may end with."""


class Declared(Struct, frozen=True, kw_only=True):
    """What a verb's help is made of, beside its options."""

    summary: str
    examples: tuple[str, ...]
    text: str
    exits: tuple[tuple[int, str], ...]
    """Exit codes, and what each means for this verb."""


DECLARED: dict[str, Declared] = {}
"""By verb, for the pages that are made of the app."""

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 96}


class Verb(TyperCommand):
    """A command whose options are listed in groups."""

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401
        """List the formats of this verb, instead of all that there are."""
        params = super().get_params(ctx)
        if any(param.name == "config" for param in params):
            place = next(n for n, param in enumerate(params) if param.name == "config")
            params.insert(place + 1, _show_config())
        for param in params:
            if param.name == "form":
                param.metavar = "|".join(formats.of(str(self.name)))
        return params

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Put what was set in files and variables behind what is on the command line."""
        words = args[: args.index("--")] if "--" in args else args
        if ctx.resilient_parsing or {"-h", "--help"} & set(words):
            return list(super().parse_args(ctx, args))
        from ckptctl.cli import _config

        settings = _config.load(_config.named_in(args))
        if _SHOW in words:
            return self._show(ctx, [word for word in args if word != _SHOW], settings)
        ctx.default_map = settings.defaults(str(self.name))
        return list(super().parse_args(ctx, args))

    def _show(self, ctx: Any, args: list[str], settings: Settings) -> list[str]:  # noqa: ANN401
        """Print the settings of a call instead of making it; what is missing does not matter."""
        from ckptctl.cli._settings import OPTIONS, Setting
        from ckptctl.cli._show_config import shown

        ctx.resilient_parsing = True
        super().parse_args(ctx, args)
        names = {option.param: key for key, option in OPTIONS.items()} | {"ignore": "ignore"}
        flags = {
            key: Setting(value=ctx.params[param], origin=f"--{key}")
            for param, key in names.items()
            if param in ctx.params and _source(ctx, param) == "COMMANDLINE"
        }
        print(shown(settings, flags), end="")
        raise typer.Exit

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        """Refuse a format that this verb has not, before anything is done."""
        if _source(ctx, "form") == "DEFAULT_MAP" and (ctx.params["json"] or ctx.params["quiet"]):
            ctx.params["form"] = formats.TEXT  # a flag comes before a setting
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

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Begin with the examples: who asks for help mostly wants a line to copy."""
        write_examples(formatter, DECLARED[str(self.name)].examples)
        super().format_help(ctx, formatter)

    def groups(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:  # noqa: ANN401
        """Give options and their help under the panel that each was declared for."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if _is_argument(param):
                record = (str(param.metavar), str(getattr(param, "help", "")))
            if record is not None:
                groups.setdefault(_group(param), []).append(record)
        return {name: groups[name] for name in sorted(groups, key=_rank)}

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """List options group by group."""
        for name, records in self.groups(ctx).items():
            with formatter.section(name):
                formatter.write_dl(records)


def write_examples(formatter: Any, examples: Sequence[str]) -> None:  # noqa: ANN401
    """Write lines that can be copied as they are: they are never wrapped."""
    formatter.write("Examples:\n")
    formatter.write("".join(f"  {example}\n" for example in examples))
    formatter.write_paragraph()


_SHOW = "--show-config"


@cache
def _show_config() -> Any:  # noqa: ANN401
    """Declare an option that every verb with settings has; its value is looked at before all."""
    app = typer.Typer(add_completion=False)

    @app.command()
    def _holder(
        *,
        show_config: Annotated[
            bool, typer.Option(_SHOW, help="Print the settings of this call, and where from.")
        ] = False,
    ) -> bool:
        return show_config

    command: Any = typer.main.get_command(app)
    (param,) = (p for p in command.params if p.name == "show_config")
    param.expose_value = False
    return param


def _source(ctx: Any, param: str) -> str:  # noqa: ANN401
    source = ctx.get_parameter_source(param)
    return "" if source is None else str(source.name)


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
    done: str = "done, or nothing to do",
    one: str = "--check found steps to do",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register a function as a verb; the first line of its docstring is the summary.

    `done` and `one` are what the exit codes 0 and 1 mean for it.
    """
    meanings = MEANINGS | {ExitCode.DONE: done, ExitCode.FINDINGS: one}

    def register(function: Callable[P, R]) -> Callable[P, R]:
        summary, _, rest = inspect.cleandoc(function.__doc__ or "").partition("\n")
        DECLARED[name] = Declared(
            summary=summary,
            examples=tuple(examples),
            text=rest.strip(),
            exits=tuple((code, meanings[ExitCode(code)]) for code in sorted({*exits, *_ALWAYS})),
        )
        parts = [summary, rest.strip()]
        codes = "\n".join(f"{code:>3}  {meaning}" for code, meaning in DECLARED[name].exits)
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
