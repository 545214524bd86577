"""Help begins with examples that could be run, and ends with the exit codes."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys

import pytest
import typer.main

from ckptctl.cli._pages import help_of, pages
from ckptctl.cli.app import app_of
from ckptctl.cli.main import main

PAGES = {page.name: page for page in pages()}
CODES = {0, 1, 2, 10, 11, 12, 13, 14, 70, 130}


def begins_and_ends_as_promised(verb: str, text: str) -> None:
    lines = text.splitlines()
    examples = PAGES[verb].declared.examples
    assert 2 <= len(examples) <= 3
    assert lines[: len(examples) + 2] == ["Examples:", *(f"  {e}" for e in examples), ""]
    assert all(example.startswith("ckptctl ") for example in examples)
    assert any(example.startswith(f"ckptctl {verb}") for example in examples)
    codes = [line for line in lines if re.match(r" +\d+  \S", line)]
    assert lines[-len(codes) - 1].strip() == "Exit codes:"
    assert lines[-len(codes) :] == codes
    told = [int(line.split()[0]) for line in codes]
    assert told == sorted(told)
    assert set(told) <= CODES
    assert {0, 2, 70, 130} <= set(told)


@pytest.mark.parametrize("verb", PAGES)
def test_examples_come_first_and_exit_codes_last(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, "--help"]) == 0
    begins_and_ends_as_promised(verb, capsys.readouterr().out)
    begins_and_ends_as_promised(verb, help_of(verb))


def at_a_terminal(*command: str, **more: str) -> str:
    """What a command prints where stdout is a terminal."""
    master, slave = pty.openpty()
    done = subprocess.Popen(command, stdout=slave, stdin=slave, env={**os.environ, **more})
    os.close(slave)
    seen = b""
    try:
        while read := os.read(master, 65536):
            seen += read
    except OSError:  # the other end is closed
        pass
    os.close(master)
    assert done.wait() == 0
    return seen.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", ["40", "200"])
def test_a_terminal_shows_the_same_in_its_own_width(columns: str) -> None:
    command = (sys.executable, "-m", "ckptctl", "rename", "--help")
    text = at_a_terminal(*command, TERM="xterm-256color", FORCE_COLOR="1", COLUMNS=columns)
    begins_and_ends_as_promised("rename", text)
    assert "\x1b" not in text


def test_the_help_of_all_begins_with_examples_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    bare = capsys.readouterr().out
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == bare
    assert bare.startswith("Examples:\n  ckptctl scan ")
    last = bare[bare.rindex("Exit codes") :]
    assert {int(code) for code in re.findall(r"\d+", last)} == CODES


EXAMPLES = [(verb, example) for verb, page in PAGES.items() for example in page.declared.examples]


@pytest.mark.parametrize(("verb", "example"), EXAMPLES)
def test_every_example_is_a_call_that_could_be_made(
    verb: str, example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = shlex.split(example.partition(" | ")[0])
    assert words[0] == "ckptctl"
    group = typer.main.get_command(app_of())
    command = group.commands[words[1]]  # type: ignore[attr-defined]
    context = command.make_context(words[1], words[2:])
    assert not context.args


@pytest.mark.parametrize("verb", PAGES)
def test_a_code_is_told_where_its_option_is(verb: str) -> None:
    options = {term for records in PAGES[verb].groups.values() for term, _ in records}
    told = dict(PAGES[verb].declared.exits)
    for option in ("--check", "--fail-on"):
        if any(option in term for term in options):
            assert option in told[1]
