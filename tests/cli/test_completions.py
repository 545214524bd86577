"""The completion scripts, run by the shells that they are for, and quickly."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "completions"

CASES = {
    "ckptctl re": {"rename", "reindex", "resume"},
    "ckptctl scan --fail": {"--fail-on"},
    "ckptctl scan --fail-on w": {"warning"},
    "ckptctl rules CKP20": {f"CKP20{n}" for n in range(1, 8)},
    "ckptctl reindex --by ray": {"ray-2.6"},
    "ckptctl rename --layout ray-tr": {"ray-train-v2"},
    "ckptctl scan --select CKP90": {"CKP901", "CKP902"},
}
PATHS = {"ckptctl scan some": {"some folder/", "some-file"}, "ckptctl apply pl": {"plan.json"}}


def bash(line: str, folder: Path) -> tuple[set[str], float]:
    """What bash would offer; of paths it is told to complete them itself."""
    script = (
        f"source {SCRIPTS / 'ckptctl.bash'}; complete -p ckptctl; COMP_WORDS=({line}); "
        'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _ckptctl; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    begun = time.monotonic()
    done = subprocess.run(
        ["bash", "--norc", "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    took = time.monotonic() - begun
    declared, *offered = done.stdout.split("\n")
    assert "-o bashdefault -o default" in declared
    return {word for word in offered if word}, took


def fish(line: str, folder: Path) -> tuple[set[str], float]:
    script = f"source {SCRIPTS / 'ckptctl.fish'}; complete -C '{line}'"
    begun = time.monotonic()
    done = subprocess.run(
        ["fish", "--no-config", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    took = time.monotonic() - begun
    assert done.stderr == ""
    return {row.partition("\t")[0] for row in done.stdout.splitlines()}, took


# Tells of every match that is added, and how long one press of the key took.
ZSH = """
PROMPT=; fpath=({scripts} $fpath); autoload -Uz compinit; compinit -D -u
zmodload zsh/datetime
compadd() {{
    if [[ " $* " == *" -"[OAD]" "* ]]; then builtin compadd "$@"; return; fi
    local -a hits; builtin compadd -O hits "$@"; print -rl -- $hits >>| {out}
    builtin compadd "$@"
}}
timed() {{
    local begun=$EPOCHREALTIME; zle complete-word
    print -r -- "took $((EPOCHREALTIME - begun))" >>| {out}
}}
zle -N timed; bindkey '^I' timed
"""


def zsh(line: str, folder: Path) -> tuple[set[str], float]:
    out, setup = folder.parent / "offered", folder.parent / "setup.zsh"
    out.unlink(missing_ok=True)
    setup.write_text(ZSH.format(scripts=SCRIPTS, out=out))
    child, master = pty.fork()
    if child == 0:  # pragma: no cover
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "LC_ALL": "C.UTF-8"})
    os.write(master, f"source {setup}; echo rea''dy\n".encode())
    seen = b""
    while b"ready" not in seen:
        seen += os.read(master, 65536)
    os.write(master, f"{line}\t".encode())
    for _ in range(600):
        if out.exists() and "took" in out.read_text():
            break
        time.sleep(0.05)
    os.write(master, b"\x15exit\n")
    try:
        while os.read(master, 65536):
            pass
    except OSError:
        pass
    os.close(master)
    os.waitpid(child, 0)
    *offered, took, _ = out.read_text().split("\n")
    return {word for word in offered if word}, float(took.removeprefix("took "))


SHELLS: Mapping[str, Callable[[str, Path], tuple[set[str], float]]] = {
    "bash": bash,
    "fish": fish,
    "zsh": zsh,
}


@pytest.fixture(params=SHELLS)
def complete(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[str], tuple[set[str], float]]:
    shell: str = request.param
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    folder = tmp_path / "work"
    (folder / "some folder").mkdir(parents=True)
    for name in ("some-file", "plan.json"):
        (folder / name).touch()
    return lambda line: SHELLS[shell](line, folder)


@pytest.mark.parametrize("line", CASES)
def test_words_are_completed(complete: Callable[[str], tuple[set[str], float]], line: str) -> None:
    assert complete(line)[0] == CASES[line]


@pytest.mark.parametrize("line", PATHS)
def test_paths_are_completed(
    complete: Callable[[str], tuple[set[str], float]],
    line: str,
    request: pytest.FixtureRequest,
) -> None:
    offered = {re.sub(r"\\(.)", r"\1", word) for word in complete(line)[0]}
    if "bash" in request.node.callspec.id:
        assert offered == set()  # bash completes paths where nothing else is offered
    else:
        assert {word.rstrip("/") for word in offered} == {w.rstrip("/") for w in PATHS[line]}


@pytest.mark.parametrize("line", ["ckptctl re", "ckptctl scan --fail", "ckptctl scan --fail-on "])
def test_a_completion_takes_no_longer_than_two_calls_for_help(
    complete: Callable[[str], tuple[set[str], float]], line: str
) -> None:
    def help_takes() -> float:
        begun = time.monotonic()
        command = [sys.executable, "-m", "ckptctl", "--help"]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return time.monotonic() - begun

    # On a busy machine single times say little.
    offers, helps = [complete(line)[1]], [help_takes()]
    while min(offers) > 2 * min(helps) and len(offers) < 12:
        offers.append(complete(line)[1])
        helps.append(help_takes())
    assert min(offers) <= 2 * min(helps)
