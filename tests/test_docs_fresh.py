"""What is generated is what the app would generate now, and what the README shows is real."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

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


def test_the_changelog_knows_the_version() -> None:
    from ckptctl import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_completions_are_whole_shell_scripts() -> None:
    scripts = {"bash": "ckptctl.bash", "zsh": "_ckptctl", "fish": "ckptctl.fish"}
    for shell, name in scripts.items():
        if shutil.which(shell):
            subprocess.run([shell, "-n", str(ROOT / "completions" / name)], check=True)


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash here")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["ckptctl", "re"], {"rename", "reindex", "resume"}),
        (["ckptctl", "scan", "--fail"], {"--fail-on"}),
        (["ckptctl", "scan", "--fail-on", "w"], {"warning"}),
        (["ckptctl", "rules", "CKP10"], None),
        (["ckptctl", "scan", "some"], set()),
    ],
)
def test_bash_completes(typed: list[str], expected: set[str] | None) -> None:
    words = " ".join(typed)
    script = (
        f"source completions/ckptctl.bash; COMP_WORDS=({words}); "
        f'COMP_CWORD={len(typed) - 1}; _ckptctl; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = set(done.stdout.split())
    if expected is None:
        assert found
        assert all(re.fullmatch(r"CKP10\d", code) for code in found)
    else:
        assert found == expected
