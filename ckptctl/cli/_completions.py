"""Completion scripts for bash, zsh and fish, made from the app."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import typer.main
from msgspec import Struct

LAYOUTS = ("ray-legacy", "ray-tune-2.7", "ray-tune", "ray-train-v2", "plain")
POLICIES = ("sequential", "training_iteration", "ray-2.6")
LEVELS = ("error", "warning", "info", "never")

# What programs read stays the same for a release, so that completion starts no Python.
_VALUES = {"--layout": LAYOUTS, "--by": POLICIES, "--fail-on": LEVELS}


class Option(Struct, frozen=True):
    """An option as a shell has to know it."""

    names: tuple[str, ...]
    help: str
    takes_value: bool
    choices: tuple[str, ...] = ()


class Verb(Struct, frozen=True):
    """A verb with its options."""

    name: str
    help: str
    options: tuple[Option, ...]
    choices: tuple[str, ...] = ()
    """What its first argument can be, where that is no path."""


def verbs(codes: Sequence[str]) -> tuple[Verb, ...]:
    """Read the app; `codes` are those of all rules."""
    from ckptctl.cli.app import app_of

    group = typer.main.get_command(app_of())
    found = []
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        context = command.make_context(name, [], resilient_parsing=True)
        options = tuple(
            _option(p, codes)
            for p in command.get_params(context)
            if getattr(p, "param_type_name", "") == "option"
        )
        choices = tuple(codes) if name == "rules" else ()
        found.append(Verb(name, command.short_help or "", options, choices))
    return tuple(found)


def _option(param: object, codes: Sequence[str]) -> Option:
    names = tuple(sorted(getattr(param, "opts", ()), key=len))  # of --help they come in any order
    takes = not (getattr(param, "is_flag", False) or getattr(param, "count", False))
    long = names[-1] if names[-1].startswith("--") else names[0]
    metavar = str(getattr(param, "metavar", None) or "")
    choices = _VALUES.get(long, tuple(metavar.split("|")) if "|" in metavar else ())
    if long in ("--select", "--ignore"):
        choices = tuple(codes)
    return Option(names, str(getattr(param, "help", "")), takes, choices if takes else ())


def bash(found: Sequence[Verb]) -> str:
    """Write ``completions/ckptctl.bash``."""
    lines = [
        "# bash completion for ckptctl; generated, do not edit",
        "_ckptctl() {",
        '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words=""',
        "    if [[ $COMP_CWORD -eq 1 ]]; then",
        f'        words="{" ".join(v.name for v in found)} --version --help"',
        "    else",
        '        case "$prev" in',
        *_bash_values(found),
        "        esac",
        "        if [[ -z $words && $cur == -* ]]; then",
        '            case "${COMP_WORDS[1]}" in',
        *(f'                {v.name}) words="{" ".join(_names(v))}" ;;' for v in found),
        "            esac",
        *(
            line
            for v in found
            if v.choices
            for line in (
                f"        elif [[ -z $words && ${{COMP_WORDS[1]}} == {v.name} ]]; then",
                f'            words="{" ".join(v.choices)}"',
            )
        ),
        "        fi",
        "    fi",
        '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "}",
        "# Without a word of its own the shell completes paths.",
        "complete -o bashdefault -o default -F _ckptctl ckptctl",
    ]
    return "\n".join(lines) + "\n"


def _names(verb: Verb) -> Iterator[str]:
    for option in verb.options:
        yield from option.names


def _bash_values(found: Sequence[Verb]) -> Iterator[str]:
    """An option has one meaning everywhere, so all that any verb takes is offered."""
    known: dict[tuple[str, ...], dict[str, None]] = {}
    for option in (o for v in found for o in v.options if o.choices):
        known.setdefault(option.names, {}).update(dict.fromkeys(option.choices))
    for names, choices in known.items():
        yield f'            {"|".join(names)}) words="{" ".join(choices)}" ;;'


def zsh(found: Sequence[Verb]) -> str:
    """Write ``completions/_ckptctl``."""
    lines = [
        "#compdef ckptctl",
        "# zsh completion for ckptctl; generated, do not edit",
        "_ckptctl() {",
        "    local -a verbs",
        "    verbs=(",
        *(f"        {_quoted(f'{v.name}:{v.help}')}" for v in found),
        "    )",
        "    if (( CURRENT == 2 )); then",
        "        _describe verb verbs",
        "        _arguments '--version[Print the version.]' '--help[Show help.]'",
        "        return",
        "    fi",
        '    local verb="$words[2]"',
        "    shift words",
        "    (( CURRENT-- ))",
        '    case "$verb" in',
    ]
    for verb in found:
        rest = f"({' '.join(verb.choices)})" if verb.choices else "_files"
        lines += [f"        {verb.name})", "            _arguments -s \\"]
        lines += [f"                {spec} \\" for o in verb.options for spec in _zsh_specs(o)]
        lines += [f"                '*:argument:{rest}'", "            ;;"]
    return "\n".join([*lines, "    esac", "}", '_ckptctl "$@"']) + "\n"


def _zsh_specs(option: Option) -> Iterator[str]:
    help_text = option.help.replace("[", "(").replace("]", ")").replace(":", " -")
    action = f"({' '.join(option.choices)})" if option.choices else "_files"
    value = f":value:{action}" if option.takes_value else ""
    for name in option.names:
        yield _quoted(f"{name}[{help_text}]{value}")


def fish(found: Sequence[Verb]) -> str:
    """Write ``completions/ckptctl.fish``."""
    lines = [
        "# fish completion for ckptctl; generated, do not edit",
        "complete -c ckptctl -n __fish_use_subcommand -l version -d 'Print the version.'",
    ]
    for verb in found:
        start = f"complete -c ckptctl -n __fish_use_subcommand -f -a {verb.name}"
        lines.append(f"{start} -d {_quoted(verb.help)}")
    for verb in found:
        seen = f"complete -c ckptctl -n '__fish_seen_subcommand_from {verb.name}'"
        if verb.choices:
            lines.append(f"{seen} -f -a {_quoted(' '.join(verb.choices))}")
        lines += [f"{seen} {_fish_option(option)}" for option in verb.options]
    return "\n".join(lines) + "\n"


def _fish_option(option: Option) -> str:
    parts = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
    if option.choices:
        parts.append(f"-x -a {_quoted(' '.join(option.choices))}")
    elif option.takes_value:
        parts.append("-r")
    return " ".join([*parts, "-d", _quoted(option.help)])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
