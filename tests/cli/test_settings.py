"""Flags, then variables, then the nearest file; and every value can be traced to its origin."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import Call, Copy

BEHIND = "extra-folder-ahead--ray-2.54.1-function_topk"
CLEAN = "ray-2.54.1-function_topk"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, two below one that may hold settings."""
    folder = tmp_path / "project" / "deep" / "down"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return tmp_path / "project"


def write(home: Path, text: str, name: str = "ckptctl.toml") -> Path:
    path = home / name
    path.write_text(text)
    return path


def test_the_nearest_file_upward_counts(ckptctl: Call, copy: Copy, home: Path) -> None:
    place = copy(BEHIND)
    assert ckptctl("scan", place).code == 1
    write(home, 'fail-on = "never"\n')
    assert ckptctl("scan", place).code == 0
    write(home / "deep", 'select = ["CKP105"]\nfail-on = "warning"\n')
    answer = ckptctl("scan", place, "--json")
    assert answer.code == 1
    assert [f["code"] for f in answer.json["findings"]] == ["CKP105"]


def test_flags_come_before_variables_and_these_before_files(
    ckptctl: Call, copy: Copy, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = copy(BEHIND)
    write(home, 'fail-on = "never"\n')
    monkeypatch.setenv("CKPTCTL_FAIL_ON", "warning")
    assert ckptctl("scan", place).code == 1
    assert ckptctl("scan", place, "--fail-on", "never").code == 0
    monkeypatch.setenv("CKPTCTL_FAIL_ON", "")
    assert ckptctl("scan", place).code == 0


def test_the_part_of_a_pyproject_counts_too(ckptctl: Call, copy: Copy, home: Path) -> None:
    place = copy(BEHIND)
    write(home, '[tool.ckptctl]\nfail-on = "never"\n', "pyproject.toml")
    write(home / "deep", "[tool.other]\n", "pyproject.toml")
    write(home / "deep" / "down", "not toml", "pyproject.toml")
    assert ckptctl("scan", place).code == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[tool.ckptctl]\nfail-on = "info"\n[broken', "cannot read"),
        ("[tool]\nckptctl = 3\n", "tool.ckptctl has to be a table"),
        ("[[tool.ckptctl]]\n", "tool.ckptctl has to be a table"),
    ],
)
def test_a_part_of_a_pyproject_that_cannot_be_read_is_not_passed_over(
    ckptctl: Call, copy: Copy, home: Path, text: str, told: str
) -> None:
    path = write(home, text, "pyproject.toml")
    place = copy(CLEAN)
    answer = ckptctl("scan", place)
    assert answer.code == 2
    assert str(path) in answer.err
    assert told in answer.err
    (home / "tuner.pkl").write_bytes(b"")  # it came with somebody's experiment
    assert ckptctl("scan", place).code == 0


def test_settings_beside_the_scanned_experiment_do_not_count(
    ckptctl: Call, copy: Copy, home: Path
) -> None:
    place = copy(BEHIND)
    write(place, 'fail-on = "never"\n')
    assert ckptctl("scan", place).code == 1


def test_a_file_can_be_named(
    ckptctl: Call, copy: Copy, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = copy(BEHIND)
    write(home, 'fail-on = "info"\n')
    other = write(home, 'fail-on = "never"\n', "other.toml")
    assert ckptctl("scan", place, "--config", other).code == 0
    assert ckptctl("scan", place, f"--config={other}").code == 0
    monkeypatch.setenv("CKPTCTL_CONFIG", str(other))
    assert ckptctl("scan", place).code == 0
    answer = ckptctl("scan", place, "--config", home / "nowhere.toml")
    assert answer.code == 2
    assert "cannot read" in answer.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fail-om = 'never'", "unknown key fail-om\n  help: did you mean fail-on?"),
        ("fail-on = 'fatal'", 'fail-on "fatal" is not available'),
        ("fail-on = 3", "fail-on 3 is not available"),
        ("format = 'yaml'", "choose one of text, json"),
        ("quiet-period = -1", "quiet-period has to be a number of seconds"),
        ("quiet-period = 'long'", "quiet-period has to be a number of seconds"),
        ("select = 'CKP1'", "select has to be a list of texts"),
        ("ignore = ['CKP116']", 'as in [ignore] and CKP116 = "the reason"'),
        ("[ignore]\nCKP116 = ''", "ignore.CKP116 needs a reason"),
        ("[severity]\nCKP107 = 'never'", "choose one of error, warning, info"),
        ("[checkpoint]\nrequird = []", "did you mean checkpoint.required?"),
        ("[policies]\nmine = 'my_code:function'", "a file names no code to run"),
        ("[template]\na = 'b'", "did you mean templates?"),
        ("[severity]\nCKP999 = 'info'", "unknown rule: CKP999"),
        ("[ignore]\nCKP999 = 'why'", "unknown rule: CKP999"),
        ("layout = ''", "layout has to be a text"),
        ("this is no toml", "cannot read"),
    ],
)
def test_what_cannot_be_is_told_with_the_file_that_says_it(
    ckptctl: Call, copy: Copy, home: Path, text: str, told: str
) -> None:
    path = write(home, text)
    answer = ckptctl("scan", copy(CLEAN))
    assert answer.code == 2
    assert str(path) in answer.err
    assert told in answer.err


def test_help_works_whatever_the_settings_are(ckptctl: Call, home: Path) -> None:
    write(home, "broken")
    assert ckptctl("scan", "--help").code == 0


def test_misspelt_variables_are_told_and_those_of_others_are_not(
    ckptctl: Call, copy: Copy, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = copy(CLEAN)
    monkeypatch.setenv("CKPTCTL_MIRROR_HOST", "x")
    assert ckptctl("scan", place).code == 0
    monkeypatch.setenv("CKPTCTL_FAILON", "never")
    answer = ckptctl("scan", place)
    assert answer.code == 2
    assert "did you mean CKPTCTL_FAIL_ON?" in answer.err
    monkeypatch.delenv("CKPTCTL_FAILON")
    monkeypatch.setenv("CKPTCTL_QUIET_PERIOD", "soon")
    assert "CKPTCTL_QUIET_PERIOD: " in ckptctl("scan", place).err


def test_ignored_findings_have_a_reason(ckptctl: Call, copy: Copy, home: Path) -> None:
    place = copy(BEHIND)
    write(home, '[ignore]\nCKP101 = "these runs are archived"\n')
    assert ckptctl("scan", place).code == 0
    assert "CKP101 is left out: these runs are archived (" in ckptctl("scan", place, "-v").err
    assert ckptctl("scan", place, "--ignore", "CKP105").code == 1


def test_severities_are_set(ckptctl: Call, copy: Copy, home: Path) -> None:
    place = copy(BEHIND)
    write(home, '[severity]\nCKP101 = "info"\n')
    assert ckptctl("scan", place).code == 0
    assert ckptctl("scan", place, "--fail-on", "info").code == 1


def test_a_format_counts_only_where_a_verb_has_it(ckptctl: Call, copy: Copy, home: Path) -> None:
    place = copy(CLEAN)
    write(home, 'format = "sarif"\n')
    assert ckptctl("scan", place).json["version"] == "2.1.0"
    assert "tool" in ckptctl("scan", place, "--json").json
    assert ckptctl("scan", place, "-q").out == ""
    assert ckptctl("history", place).out == "nothing was applied here\n"


def test_errors_come_in_the_format_that_is_set(
    ckptctl: Call, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CKPTCTL_FORMAT", "json")
    assert ckptctl("scan", "nowhere").error["exit_code"] == 10
    assert ckptctl("scan", "nowhere", "--format", "text").err.startswith("error: ")
    assert ckptctl("scan", "--nonsense").error["exit_code"] == 2


def test_no_baseline_is_written_of_half_an_answer(ckptctl: Call, copy: Copy, home: Path) -> None:
    file = home / "baseline.json"
    assert ckptctl("scan", copy(CLEAN), "nowhere", "--write-baseline", file).code == 10
    assert not file.exists()


def test_templates_and_policies_have_names(ckptctl: Call, copy: Copy, home: Path) -> None:
    place = copy(CLEAN)
    write(
        home,
        '[templates]\nloss = "checkpoint_{training_iteration:06d}-{loss:.4f}"\n'
        '[policies]\nsteps = "training_iteration"\n',
    )
    answer = ckptctl("rename", place, "--to", "@loss", "-n")
    assert answer.code == 0
    assert "checkpoint_000008-0.4000" in answer.out
    assert ckptctl("reindex", place, "--by", "@steps", "--check").code == 1
    answer = ckptctl("rename", place, "--to", "@los", "-n")
    assert answer.code == 2
    assert "did you mean @loss?" in answer.err
    assert ckptctl("reindex", place, "--by", "@nothing", "-n").code == 2


def test_show_config_says_where_everything_comes_from(
    ckptctl: Call, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(
        home,
        'fail-on = "warning"\n[ignore]\nCKP116 = "moved"\n[templates]\n"my name" = "checkpoint_x"\n'
        '[checkpoint]\nrequired = ["state.json"]\n',
    )
    monkeypatch.setenv("CKPTCTL_COLOR", "never")
    text = ckptctl("--show-config").out
    assert f'fail-on = "warning"  # {path}\n' in text
    assert 'color = "never"  # CKPTCTL_COLOR\n' in text
    assert 'format = "text"  # default\n' in text
    assert f'[checkpoint]\nrequired = ["state.json"]  # {path}\n' in text
    assert tomllib.loads(text)["ignore"] == {"CKP116": "moved"}
    assert tomllib.loads(text)["templates"] == {"my name": "checkpoint_x"}
    text = ckptctl("scan", "--show-config", "--fail-on", "info").out
    assert 'fail-on = "info"  # --fail-on\n' in text
    assert tomllib.loads(ckptctl("rename", "--show-config").out)["fail-on"] == "warning"


def test_what_show_config_prints_is_a_file_that_means_the_same(ckptctl: Call, home: Path) -> None:
    write(home, 'select = ["CKP1"]\n[severity]\nCKP107 = "info"\n')
    text = ckptctl("--show-config").out
    write(home / "deep", text)
    again = tomllib.loads(ckptctl("--show-config").out)
    assert again == tomllib.loads(text)


def test_a_baseline_leaves_old_findings_out(
    ckptctl: Call, copy: Copy, home: Path, tmp_path: Path
) -> None:
    place = copy(BEHIND)
    file = home / "baseline.json"
    assert ckptctl("scan", place, "--baseline", file).code == 2
    written = ckptctl("scan", place, "--write-baseline", file)
    assert written.code == 0
    assert f"{file} has 3 findings now" in written.err
    assert "CKP101 " in file.read_text()
    answer = ckptctl("scan", place, "--baseline", file, "--fail-on", "info")
    assert answer.code == 0
    assert f"3 findings of before left out, by {file}" in answer.err
    assert ckptctl("scan", place, "--baseline", file, "--json").json["findings"] == []
    write(home, 'baseline = "baseline.json"\nfail-on = "info"\n')
    assert ckptctl("scan", place).code == 0
    (tmp_path / "moved").mkdir()
    moved = place.rename(tmp_path / "moved" / place.name)
    assert ckptctl("scan", moved).code == 0
    (trial,) = moved.glob("function_02a88_00001*")
    (trial / "checkpoint_000012").mkdir()
    new = ckptctl("scan", moved, "--json")
    assert new.code == 1
    assert {f["checkpoint"] for f in new.json["findings"]} == {"checkpoint_000012"}


def test_what_is_no_longer_found_is_told(ckptctl: Call, copy: Copy, home: Path) -> None:
    place = copy(BEHIND)
    file = home / "baseline.json"
    ckptctl("scan", place, "--write-baseline", file)
    ckptctl("reindex", place, "--yes", "-q")
    answer = ckptctl("scan", place, "--baseline", file)
    assert f"2 findings of before left out, by {file}\n" in answer.err
    assert f"1 finding of {file} found no more\n" in answer.err


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"format": 1}', "\0"])
def test_what_is_no_baseline(ckptctl: Call, copy: Copy, home: Path, text: str) -> None:
    file = write(home, text, "baseline.json")
    answer = ckptctl("scan", copy(CLEAN), "--baseline", file)
    assert answer.code == 2
    assert "is no baseline" in answer.err


def test_a_baseline_is_the_same_for_the_same_findings(
    ckptctl: Call, copy: Copy, home: Path
) -> None:
    place = copy(BEHIND)
    texts = []
    for name in ("a.json", "b.json"):
        ckptctl("scan", place, "--write-baseline", home / name)
        texts.append((home / name).read_text())
    assert texts[0] == texts[1]
    assert str(place) not in texts[0]
    assert json.loads(texts[0])["format"] == 1


@pytest.mark.parametrize("where", ["", "trial"])
def test_a_file_that_came_with_an_experiment_is_passed_over(
    ckptctl: Call, copy: Copy, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    place = copy("killed--ray-2.54.1")
    trial = next(p for p in place.iterdir() if p.is_dir())
    monkeypatch.chdir(trial if where else place)
    for folder in (place, trial):
        (folder / "pyproject.toml").write_text('[tool.ckptctl]\nfail-on = "never"\n')
        assert ckptctl("scan", place).code == 1
        (folder / "ckptctl.toml").write_text("broken = [")
        assert ckptctl("scan", place).code == 1
    (place.parent / "ckptctl.toml").write_text('fail-on = "never"\n')
    assert ckptctl("scan", place).code == 0
    assert str(place.parent / "ckptctl.toml") in ckptctl("--show-config").out


def test_a_file_can_be_named_with_show_config_alone(ckptctl: Call, home: Path) -> None:
    other = home / "other.toml"
    other.write_text('fail-on = "info"\n')
    named = ("--config", str(other))
    assert tomllib.loads(ckptctl(*named, "--show-config").out)["fail-on"] == "info"
    assert tomllib.loads(ckptctl("--show-config", *named).out)["fail-on"] == "info"
    assert ckptctl(*named).code == 2
    assert ckptctl(*named, "scan", home).code == 2


def test_an_unknown_layout_is_a_wrong_argument(ckptctl: Call, copy: Copy) -> None:
    answer = ckptctl("scan", copy("killed--ray-2.54.1"), "--layout", "zzz")
    assert answer.code == 2 and "ray-tune" in answer.err
