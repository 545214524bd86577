"""What is generated is what the app would generate now, and what the README shows is real."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from ckptctl.cli._config import load
from ckptctl.cli._generate import changes, main

ROOT = Path(__file__).parents[1]


def test_everything_generated_is_fresh() -> None:
    stale = {Path(path).name for path in changes(str(ROOT))}
    assert not stale, f"run `make docs`: {stale}"


def test_check_mode_says_what_is_out_of_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "completions").mkdir()
    (tmp_path / "README.md").write_text("<!-- generated: rules -->\nold\n<!-- end -->\n")
    monkeypatch.chdir(tmp_path)
    assert main(["check"]) == 1
    assert "-old" in capsys.readouterr().err
    assert main(["write"]) == 0
    assert main(["check"]) == 0
    assert "CKP101" in (tmp_path / "README.md").read_text()
    assert main([]) == 2


def test_the_readme_shows_real_exit_codes_and_verbs() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "| 14 | refused: the plan would be unsafe |" in text
    assert text.count("<!-- generated: ") == text.count("<!-- end -->") == 4


def test_a_page_of_something_that_is_gone_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs" / "findings").mkdir(parents=True)
    (tmp_path / "docs" / "findings" / "CKP999.md").write_text("gone")
    monkeypatch.chdir(tmp_path)
    assert main(["check"]) == 1
    assert main(["write"]) == 0
    assert main(["check"]) == 0
    assert not (tmp_path / "docs" / "findings" / "CKP999.md").exists()
    assert (tmp_path / "docs" / "findings" / "CKP101.md").exists()


PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        goal = (page.parent / path) if path else page
        assert goal.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", goal.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {
                re.sub(r"[^\w\- ]", "", h).lower().replace(" ", "-") for h in headings
            }


def test_the_manual_page_is_clean_roff() -> None:
    page = ROOT / "man" / "ckptctl.1"
    if not shutil.which("groff"):
        pytest.skip("no groff here")
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-Kutf8", str(page)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    text = re.sub(r"\x1b\[\d*m|.\x08", "", done.stdout)
    assert "ckptctl rename" in text
    assert "--fail-on LEVEL" in text


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The experiment of the demo in the working folder, as if its run had ended an hour ago."""
    place = tmp_path / "tune_lr"
    shutil.copytree(ROOT / "ckptctl" / "demo" / "tune_lr", place)
    then = time.time() - 3600
    for path in (place, *place.rglob("*")):
        os.utime(path, (then, then))
    monkeypatch.chdir(tmp_path)
    return place


@pytest.mark.parametrize("name", ["python.md", "extending.md"])
def test_examples_of_the_python_pages_are_true(demo: Path, name: str) -> None:
    failed, tried = doctest.testfile(
        str(ROOT / "docs" / name), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert tried
    assert not failed


def test_the_file_in_the_page_on_settings_is_one(demo: Path) -> None:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    Path("ckptctl.toml").write_text(block)
    settings = load()
    assert settings.template("@loss").startswith("checkpoint_")
    assert settings.required == ("state.json", "*.pt")
    assert settings.reasons == {"CKP116": "runs are archived in another bucket"}


def test_the_changelog_knows_the_version() -> None:
    from ckptctl import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_completions_are_whole_shell_scripts() -> None:
    scripts = {"bash": "ckptctl.bash", "zsh": "_ckptctl", "fish": "ckptctl.fish"}
    for shell, name in scripts.items():
        if shutil.which(shell):
            subprocess.run([shell, "-n", str(ROOT / "completions" / name)], check=True)
