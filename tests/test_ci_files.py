"""The action, the hooks and the examples do what they promise: their shell is run as it stands."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import copy_of

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
CLEAN = "ray-2.54.1-function_topk"
BEHIND = "extra-folder-ahead--ray-2.54.1-function_topk"
RENAMED = "checkpoint_{training_iteration:06d}-{loss:.4f}"


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder to keep experiments in, as if their runs had ended an hour ago."""
    return tmp_path / "results"


def put(name: str, results: Path) -> Path:
    place = copy_of(name, results)
    then = time.time() - 3600
    for path in (place, *place.rglob("*")):
        os.utime(path, (then, then))
    return place


def shell(script: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a step as the runner does, with ckptctl on the path."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": "", **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def inputs(text: str, given: Mapping[str, str], declared: Mapping[str, Any]) -> str:
    values = {name: str(one.get("default", "")) for name, one in declared.items()} | dict(given)
    return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda m: values[m[1]], text)


def act(folder: Path, **given: str) -> tuple[int, str, str]:
    """Run the steps of the action behind the installation; code, output, and outputs."""
    action = load(ROOT / "action.yml")
    told = {name.replace("_", "-"): value for name, value in given.items()}
    outputs = folder / "outputs"
    outputs.touch()
    out, code = "", 0
    for step in action["runs"]["steps"]:
        wanted = step.get("if") is None or told.get("check") == "true"
        if step["name"] in ("Python", "Install") or not wanted:
            continue
        assert step["shell"] == "bash"
        env = {k: inputs(v, told, action["inputs"]) for k, v in step.get("env", {}).items()}
        assert "${{" not in step["run"], "what a user gives comes by the environment"
        done = shell(step["run"], folder, GITHUB_OUTPUT=str(outputs), **env)
        out += done.stdout + done.stderr
        code = done.returncode
        if code:
            break
    return code, out, outputs.read_text()


def test_the_action_scans_and_annotates(results: Path, tmp_path: Path) -> None:
    put(CLEAN, results)
    assert act(tmp_path, location="results")[::2] == (0, "exit-code=0\n")
    put(BEHIND, results)
    code, out, outputs = act(tmp_path, location="results")
    assert (code, outputs.splitlines()[-1]) == (1, "exit-code=1")
    assert "::error " in out
    assert act(tmp_path, location="results", fail_on="never")[0] == 0


def test_the_action_takes_several_places_options_and_a_baseline(
    results: Path, tmp_path: Path
) -> None:
    put(CLEAN, results / "with a space")
    put(BEHIND, results)
    places = f"results/with a space\nresults/{BEHIND}\n"
    assert act(tmp_path, location=places)[0] == 1
    assert act(tmp_path, location=places, args="--ignore CKP101 --deep")[0] == 0
    shell(f"ckptctl scan results/{BEHIND} --write-baseline old.json", tmp_path)
    assert act(tmp_path, location=places, baseline="old.json")[0] == 0
    assert act(tmp_path, location=places, baseline="old.json", check="true")[0] == 1


def test_the_inputs_of_the_action_are_all_used() -> None:
    action = load(ROOT / "action.yml")
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    for name, one in action["inputs"].items():
        assert re.search(rf"inputs\.{name}\b", text), name
        assert one["description"]


@pytest.mark.parametrize("hook", load(ROOT / ".pre-commit-hooks.yaml"), ids=lambda h: h["id"])
def test_hooks_fail_on_what_is_damaged(hook: dict[str, Any], results: Path, tmp_path: Path) -> None:
    put(CLEAN, results)
    command = f"{hook['entry']} results/"
    assert shell(command, tmp_path).returncode == 0
    place = put(BEHIND, results)
    assert shell(command, tmp_path).returncode == 1
    files = [p.relative_to(tmp_path).as_posix() for p in place.rglob("*") if p.is_file()]
    assert any(re.search(hook["files"], name) for name in files)
    assert not re.search(hook["files"], "src/train.py")
    assert hook["language"] == "python"


def steps(name: str) -> Iterator[str]:
    document = load(EXAMPLES / name)
    if name == "gitlab-ci.yml":
        yield from document["checkpoints"]["script"]
        return
    for step in document["jobs"]["scan"]["steps"]:
        if "run" in step and step["name"] != "Install":
            yield step["run"]


@pytest.mark.parametrize("name", ["github.yml", "gitlab-ci.yml"])
def test_workflows_pass_on_what_is_clean_and_fail_on_the_rest(
    name: str, results: Path, tmp_path: Path
) -> None:
    more = {"RESULTS": "results", "GITHUB_ENV": str(tmp_path / "env")}
    put(CLEAN, results)
    assert [shell(step, tmp_path, **more).returncode for step in steps(name)] == [
        0 for _ in steps(name)
    ]
    assert (tmp_path / ("ckptctl.sarif" if name == "github.yml" else "ckptctl.xml")).read_text()
    if name == "github.yml":
        assert re.fullmatch(r"CHECKPOINT=results/\S+\n", (tmp_path / "env").read_text())
    put(BEHIND, results)
    codes = [shell(step, tmp_path, **more).returncode for step in steps(name)]
    assert codes.count(1) == 2
    assert set(codes) == {0, 1}


def test_check_says_what_it_found(results: Path, tmp_path: Path) -> None:
    put(CLEAN, results)
    script = shlex.quote(str(EXAMPLES / "check.sh"))
    done = shell(f"{script} results", tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "clean")
    put(BEHIND, results)
    done = shell(f"{script} results", tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "run: ckptctl reindex results"
    done = shell(f"{script} nowhere", tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (10, "cannot be read")


def test_rename_tells_old_and_new_names(results: Path, tmp_path: Path) -> None:
    place = put(CLEAN, results)
    script = shlex.quote(str(EXAMPLES / "rename.sh"))
    done = shell(f"{script} {place} '{RENAMED}'", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "checkpoint_000007 checkpoint_000008-0.4000" in done.stdout.splitlines()
    done = shell(f"{script} {place} 'checkpoint_{{nothing}}'", tmp_path)
    assert done.returncode == 14
    assert "refused: the message above says which template would pass" in done.stderr


SCRIPTS = [*sorted(EXAMPLES.glob("*.sh")), ROOT / ".ci" / "run"]


def shellcheck() -> str:
    found = shutil.which("shellcheck", path=os.path.dirname(sys.executable))
    return found or shutil.which("shellcheck") or pytest.skip("no shellcheck here")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.name)
def test_scripts_are_clean(script: Path) -> None:
    done = subprocess.run([shellcheck(), script], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert os.access(script, os.X_OK)


def test_steps_are_clean() -> None:
    blocks = [s["run"] for s in load(ROOT / "action.yml")["runs"]["steps"] if "run" in s]
    blocks += [*steps("github.yml"), *steps("gitlab-ci.yml")]
    for block in blocks:
        done = subprocess.run(
            [shellcheck(), "--shell=bash", "-"],
            input=block,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == ""


def test_the_completion_for_bash_is_clean() -> None:
    path = ROOT / "completions" / "ckptctl.bash"
    done = subprocess.run(
        [shellcheck(), "--shell=bash", "--severity=warning", "--exclude=SC2207", path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == ""
