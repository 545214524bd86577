"""Help begins with examples that could be run, and ends with the exit codes."""

from __future__ import annotations

import re
import shlex

import pytest
import typer.main

from ckptctl.cli._pages import help_of, pages
from ckptctl.cli.app import app

PAGES = {page.name: page for page in pages()}


@pytest.mark.parametrize("verb", PAGES)
def test_examples_come_first_and_exit_codes_last(verb: str) -> None:
    lines = [line for line in help_of(verb).splitlines() if line.strip()]
    examples = PAGES[verb].declared.examples
    first = next(n for n, line in enumerate(lines) if line.startswith(f"  ckptctl {verb}"))
    assert first <= 3  # behind the usage and one sentence
    assert 2 <= len(examples) <= 3
    codes = [line for line in lines if re.match(r" +\d+  \S", line)]
    assert lines[-len(codes) - 1].strip() == "Exit codes:"
    assert [int(line.split()[0]) for line in codes] == [c for c, _ in PAGES[verb].exits]


EXAMPLES = [(verb, example) for verb, page in PAGES.items() for example in page.declared.examples]


@pytest.mark.parametrize(("verb", "example"), EXAMPLES)
def test_every_example_is_a_call_that_could_be_made(
    verb: str, example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = shlex.split(example.partition(" | ")[0])
    assert words[0] == "ckptctl"
    group = typer.main.get_command(app)
    command = group.commands[words[1]]  # type: ignore[attr-defined]
    context = command.make_context(words[1], words[2:])
    assert not context.args


@pytest.mark.parametrize("verb", PAGES)
def test_every_verb_can_be_interrupted_or_never_asks(verb: str) -> None:
    """A verb that can ask names the code of a No."""
    options = {term for records in PAGES[verb].groups.values() for term, _ in records}
    asks = any("--yes" in term for term in options)
    assert asks <= (130 in [code for code, _ in PAGES[verb].exits])
