"""What holds for every verb: streams, terminals, help, errors."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import pytest

from ckptctl.cli.main import main
from tests.cli.conftest import Call, Copy, at_terminal

CLEAN = "ray-2.54.1-function_topk"
BEHIND = "extra-folder-ahead--ray-2.54.1-function_topk"
HEAVY = ("fsspec", "s3fs", "gcsfs", "rich", "pydantic", "ckptctl.api", "ckptctl.codec")
EVERYTHING = (*HEAVY, "typer", "msgspec", "typing", "enum", "signal", "warnings")
VERBS = ("scan", "rename", "reindex", "apply", "undo", "resume", "history", "latest", "best",
         "rules", "demo")  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [(["--version"], EVERYTHING), (["--help"], HEAVY), (["scan", "--help"], HEAVY)],
)
def test_version_and_help_import_nothing_heavy(arguments: list[str], heavy: Sequence[str]) -> None:
    code = (
        "import sys; before = set(sys.modules); from ckptctl.cli.main import main;"
        "main(sys.argv[1:]);"
        f"print([m for m in {heavy!r} if m in set(sys.modules) - before])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_version(ckptctl: Call) -> None:
    answer = ckptctl("--version")
    assert (answer.code, answer.out) == (0, "ckptctl 0.1.0\n")


@pytest.mark.parametrize("arguments", [("--version", "-v"), ("-v", "--version")])
def test_version_with_what_reaches_storage(ckptctl: Call, arguments: tuple[str, str]) -> None:
    answer = ckptctl(*arguments)
    first, python, *drivers = answer.out.splitlines()
    assert (answer.code, first) == (0, "ckptctl 0.1.0")
    assert python.startswith(f"Python {platform.python_version()} on ")
    assert f"fsspec {version('fsspec')}" in drivers and f"s3fs {version('s3fs')}" in drivers


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_lines_of_a_readable_length(ckptctl: Call, verb: str) -> None:
    lines = ckptctl(verb, "--help").out.splitlines()
    assert f"Usage: ckptctl {verb}" in "\n".join(lines)
    assert all(len(line) <= 100 for line in lines)


def test_no_verb_is_help(ckptctl: Call) -> None:
    answer = ckptctl()
    assert answer.code == 0
    assert all(f"  {verb} " in answer.out for verb in VERBS)


def test_typing_errors_get_a_suggestion(ckptctl: Call) -> None:
    answer = ckptctl("scna")
    assert answer.code == 2
    assert answer.err == "error: no such command 'scna'\n  help: did you mean scan?\n"


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"NO_COLOR": "1"},
        {"TERM": "dumb"},
        {"COLUMNS": "40"},
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_a_pipe_gets_whole_names_and_nothing_else(
    process: Call, copy: Copy, more: dict[str, str]
) -> None:
    place = copy(BEHIND)
    answer = process("scan", place, **more)
    assert answer.code == 1
    assert answer.err == ""
    assert "\x1b" not in answer.out
    assert not set("│─┌┐└┘┃━╭╮") & set(answer.out)
    trial = next(place.glob("function_02a88_00000*")).name
    assert f"{trial}/checkpoint_000010" in answer.out
    if more.get("LC_ALL") == "C":
        assert answer.out.isascii()


@pytest.mark.parametrize(
    "arguments",
    [
        ("reindex", "-n"),
        ("reindex", "--by", "training_iteration", "-n"),
        ("rename", "--to", "checkpoint_{training_iteration:06d}-x", "-n"),
        ("rename", "--to", "checkpoint_{loss:.0f}"),
        ("rename", "--to", "checkpoint_{nothing}"),
        ("policy",),
        ("history",),
        ("latest",),
        ("best",),
    ],
    ids=" ".join,
)
def test_a_c_locale_is_told_in_ascii_by_every_verb(
    ckptctl: Call, copy: Copy, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    answer = ckptctl(arguments[0], copy(BEHIND), *arguments[1:])
    assert answer.out or answer.err
    assert answer.out.isascii() and answer.err.isascii(), answer


def test_force_color_colours_a_pipe(process: Call, copy: Copy) -> None:
    place = copy(BEHIND)
    assert "\x1b[1;31m" in process("scan", place, FORCE_COLOR="1").out
    assert "\x1b" not in process("scan", place, FORCE_COLOR="1", NO_COLOR="1").out
    assert "\x1b" in process("scan", place, "--color", "always", NO_COLOR="1").out


def test_a_closed_pipe_is_quiet(copy: Copy) -> None:
    read, write = os.pipe()
    os.close(read)
    for arguments, code in (
        (["scan", str(copy(BEHIND))], 1),
        (["--help"], 0),
        (["scan", "--help"], 0),
        (["--show-config"], 0),
        (["rules"], 0),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "ckptctl", *arguments],
            stdout=write,
            stderr=subprocess.PIPE,
            check=False,
        )
        assert done.stderr == b""
        assert done.returncode == code
    os.close(write)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_an_error_and_no_traceback(copy: Copy) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ckptctl", "scan", str(copy(CLEAN))],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 10
    assert done.stderr.startswith("error: cannot write the answer: ")


RENAME = ["--to", "checkpoint_{training_iteration:06d}-{loss:.4f}"]


def test_a_terminal_is_asked_and_no_is_the_default(copy: Copy) -> None:
    place = copy(CLEAN)
    answer = at_terminal(["rename", str(place), *RENAME], "\n")
    assert answer.code == 130
    assert "Apply? [y/N]" in answer.out
    assert "nothing was applied" in answer.out
    assert not (place / ".ckptctl").exists()


def test_yes_at_a_terminal_applies(copy: Copy) -> None:
    answer = at_terminal(["rename", str(copy(CLEAN)), *RENAME], "y\n")
    assert answer.code == 0
    assert "done and verified" in answer.out


def test_ctrl_c_at_the_prompt_applies_nothing(copy: Copy) -> None:
    place = copy(CLEAN)
    answer = at_terminal(["rename", str(place), *RENAME], "\x03")
    assert answer.code == 130
    assert not list(place.glob("*/checkpoint_000008-*"))


def test_a_terminal_has_colours_and_a_pipe_has_the_same_words(copy: Copy) -> None:
    answer = at_terminal(["scan", str(copy(BEHIND))], columns=400)
    assert answer.code == 1
    assert "\x1b[1;31merror CKP101" in answer.out


def test_forty_columns_cut_no_name(copy: Copy) -> None:
    answer = at_terminal(["scan", str(copy(CLEAN)), "--color", "never"], columns=40)
    assert answer.code == 0
    assert "  02a88_00000\n    status   TERMINATED\n" in answer.out
    assert "checkpoint_000007" in answer.out


def test_a_bug_leaves_a_report(
    process: Call, copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitecustomize = tmp_path / "sitecustomize.py"
    sitecustomize.write_text(
        "import ckptctl.scanner\n"
        "def broken(*args, **more):\n    raise KeyError('oh')\n"
        "ckptctl.scanner.scan = broken\n"
    )
    more = {"PYTHONPATH": str(tmp_path), "TMPDIR": str(tmp_path), "CKPTCTL_DEBUG": ""}
    answer = process("scan", "anywhere", **more)
    assert answer.code == 70
    assert "a bug in ckptctl: KeyError: 'oh'" in answer.err
    assert "Traceback" not in answer.err
    (report,) = tmp_path.glob("ckptctl-report-*.txt")
    assert "Traceback" in report.read_text()
    assert "Traceback" in process("scan", "anywhere", **{**more, "CKPTCTL_DEBUG": "1"}).err


def test_rules_are_listed_and_explained(ckptctl: Call) -> None:
    assert "CKP101  index-behind-storage" in ckptctl("rules").out
    page = ckptctl("rules", "ckp101").out
    assert "Why it matters" in page
    assert ckptctl("rules", "index-behind-storage").out == page
    assert ckptctl("rules", "CKP101", "--json").json["rules"][0]["code"] == "CKP101"
    assert "CKP101" in ckptctl("rules", "-q").out.splitlines()
    assert ckptctl("rules", "CKP999").code == 2


@pytest.mark.parametrize(
    ("value", "told"), [("x", "'x' is no number"), ("-1", "-1.0 is not in the range x>=0")]
)
def test_a_number_that_is_none_is_told_in_our_words(
    value: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reindex", "anywhere", f"--quiet-period={value}"]) == 2
    said = capsys.readouterr().err
    assert f"invalid value for '--quiet-period': {told}" in said


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_that_the_shell_has_closed_does_not_change_the_exit_code(
    copy: Copy, closed: str
) -> None:
    command = f'"$0" -m ckptctl scan "$1" {closed}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, str(copy("ray-2.54.1-function_topk"))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stdout + done.stderr
