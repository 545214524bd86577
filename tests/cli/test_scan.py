from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call, Copy, snapshot

BEHIND = "extra-folder-ahead--ray-2.54.1-function_topk"
CLEAN = "ray-2.54.1-function_topk"


def test_a_healthy_experiment_is_clean(ckptctl: Call, copy: Copy) -> None:
    answer = ckptctl("scan", copy(CLEAN))
    assert answer.code == 0
    assert answer.out.splitlines()[0].endswith("clean")
    assert answer.err == ""


def test_findings_exit_with_1_and_name_the_command_that_mends_them(
    ckptctl: Call, copy: Copy
) -> None:
    place = copy(BEHIND)
    answer = ckptctl("scan", place)
    assert answer.code == 1
    assert "error CKP101 index-behind-storage   02a88_00000   checkpoint_000010" in answer.out
    assert f"help: ckptctl reindex {place}\n" in answer.out
    assert answer.out.splitlines()[-1].startswith("1 error, 1 warning in 1 experiment.")


def test_scan_never_writes(ckptctl: Call, copy: Copy) -> None:
    place = copy(BEHIND)
    before = snapshot(place)
    ckptctl("scan", place)
    assert snapshot(place) == before
    assert not (place / ".ckptctl").exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--fail-on", "never"), 0),
        (("--fail-on", "warning"), 1),
        (("--ignore", "CKP101"), 0),
        (("--ignore", "CKP101", "--fail-on", "warning"), 1),
        (("--select", "CKP3"), 0),
        (("--select", "index-behind-storage"), 1),
        (("--select", "CKP999"), 2),
        (("--fail-on", "fatal"), 2),
        (("--format", "yaml"), 2),
        (("--color", "blue"), 2),
        (("--trial", "nobody"), 2),
    ],
)
def test_what_a_call_ends_with(
    ckptctl: Call, copy: Copy, arguments: tuple[str, ...], code: int
) -> None:
    assert ckptctl("scan", copy(BEHIND), *arguments).code == code


def test_a_format_that_is_not_there_names_those_that_are(ckptctl: Call, copy: Copy) -> None:
    assert "text, json" in ckptctl("scan", copy(CLEAN), "--format", "yaml").err


def test_the_exit_code_is_the_same_in_every_format(ckptctl: Call, copy: Copy) -> None:
    place = copy(BEHIND)
    answer = ckptctl("scan", place, "--json")
    assert answer.code == 1
    assert answer.json["summary"]["errors"] == 1
    assert answer.json["experiments"][0]["location"] == str(place)
    assert [f["code"] for f in answer.json["findings"]] == ["CKP116", "CKP101", "CKP105"]


def test_a_trial_can_be_picked_out(ckptctl: Call, copy: Copy) -> None:
    place = copy(BEHIND)
    answer = ckptctl("scan", place, "--trial", "*_00001", "--json")
    assert answer.code == 0
    assert [t["trial_id"] for t in answer.json["experiments"][0]["trials"]] == ["02a88_00001"]
    folder = next(place.glob("function_02a88_00000*"))
    answer = ckptctl("scan", folder, "--json")
    assert answer.code == 1
    assert [t["trial_id"] for t in answer.json["experiments"][0]["trials"]] == ["02a88_00000"]


def test_a_folder_of_experiments_is_scanned_whole(
    ckptctl: Call, copy: Copy, tmp_path: Path
) -> None:
    copy(BEHIND)
    copy(CLEAN)
    answer = ckptctl("scan", tmp_path, "-q")
    assert answer.out == f"{tmp_path / BEHIND}\n"
    assert answer.code == 1


def test_the_others_are_answered_before_a_location_that_cannot_be_read(
    ckptctl: Call, copy: Copy, tmp_path: Path
) -> None:
    answer = ckptctl("scan", tmp_path / "nowhere", copy(CLEAN))
    assert answer.code == 10
    assert "clean" in answer.out
    assert "nowhere" in answer.err


def test_an_error_with_json_is_one_object_on_stderr(ckptctl: Call, tmp_path: Path) -> None:
    answer = ckptctl("scan", tmp_path / "nowhere", "--json")
    assert (answer.code, answer.out) == (10, "")
    assert answer.error["code"] == "location"
    assert answer.error["exit_code"] == 10
    assert set(answer.error) >= {"code", "exit_code", "message", "hint", "location"}
    assert ckptctl("scan", "--json", "--nonsense").error["exit_code"] == 2


def test_an_answer_goes_to_a_file_only_if_there_is_one(
    ckptctl: Call, copy: Copy, tmp_path: Path
) -> None:
    out = tmp_path / "scan.json"
    assert ckptctl("scan", tmp_path / "nowhere", "--json", "-o", out).code == 10
    assert not out.exists()
    answer = ckptctl("scan", copy(CLEAN), "--json", "-o", out)
    assert (answer.code, answer.out) == (0, "")
    assert json.loads(out.read_text())["command"] == "scan"


def test_a_file_that_cannot_be_written_is_a_location_error(
    ckptctl: Call, copy: Copy, tmp_path: Path
) -> None:
    answer = ckptctl("scan", copy(CLEAN), "-o", tmp_path / "no" / "file")
    assert answer.code == 10
    assert "cannot write" in answer.err


def test_verbose_tells_why_and_lists_every_checkpoint(ckptctl: Call, copy: Copy) -> None:
    text = ckptctl("scan", copy(CLEAN), "-v").out
    assert "ray-tune: " in text
    assert text.count("    checkpoint_000005 ") == 2
    assert "recorded by" in text


def test_names_found_on_disk_are_shown_escaped(ckptctl: Call, copy: Copy) -> None:
    place = copy(CLEAN)
    trial = next(place.glob("function_02a88_00000*"))
    (trial / "checkpoint_000005").rename(trial / "checkpoint_\x1b[31m[bold]\nx")
    text = ckptctl("scan", place, "-v", "--fail-on", "never").out
    assert "\x1b" not in text
    assert "checkpoint_\\x1b[31m[bold]\\nx" in text


def test_a_log_that_cannot_be_read_does_not_keep_a_restore_from_working(
    ckptctl: Call, copy: Copy
) -> None:
    place = copy("ray-2.54.1-function_topk")
    log = min(place.glob("*/result.json"))
    log.write_bytes(b"\xef\xbb\xbf" + log.read_bytes())
    answer = ckptctl("scan", place)
    assert answer.code == 1
    assert answer.out.endswith("\n1 error in 1 experiment.\n")


@pytest.mark.parametrize("asked", [(), ("--for-ray", "2.54.1")])
@pytest.mark.parametrize("left", ["nothing", "zeros", "half"])
def test_settings_of_a_run_that_are_not_whole_are_told_once(
    ckptctl: Call, copy: Copy, left: str, asked: tuple[str, ...]
) -> None:
    place = copy("ray-2.54.1-function_topk")
    file = place / "tuner.pkl"
    data = file.read_bytes()
    lefts = {"nothing": b"", "zeros": bytes(len(data)), "half": data[: len(data) // 2]}
    file.write_bytes(lefts[left])
    findings = ckptctl("scan", place, "--json", *asked).json["findings"]
    assert [f["code"] for f in findings if f["severity"] == "error"] == [
        "CKP204" if left == "nothing" else "CKP201"
    ]
    answer = ckptctl("scan", place, *asked)
    assert answer.code == 1
    assert "tuner.pkl" in answer.out
    assert answer.out.endswith("The experiment cannot be restored as it is.\n")


@pytest.mark.parametrize(
    "storage", ["4e", "7d", "7d8c1863757272656e745f636865636b706f696e745f696e6465788c013773"]
)
def test_a_counter_that_cannot_be_read_is_told(ckptctl: Call, copy: Copy, storage: str) -> None:
    place = copy("ray-2.54.1-function_topk")
    (state,) = place.glob("experiment_state-*.json")
    document = json.loads(state.read_text())
    for pair in document["trial_data"]:
        trial = json.loads(pair[0])
        trial["storage"] = {"_type": "CLOUDPICKLE_FALLBACK", "value": f"8005{storage}2e"}
        pair[0] = json.dumps(trial)
    state.write_text(json.dumps(document))
    answer = ckptctl("scan", place)
    assert answer.code == 1
    assert "its storage tells no current_checkpoint_index" in answer.out


@pytest.mark.parametrize("which", ["*", "weights.bin"])
def test_files_that_are_linked_elsewhere_are_not_lost(
    ckptctl: Call, copy: Copy, tmp_path: Path, which: str
) -> None:
    place = copy("ray-2.54.1-function_topk")
    folder = min(place.glob("*/checkpoint_000007"))
    for path in list(folder.glob(which)):
        path.rename(tmp_path / path.name)
        path.symlink_to(tmp_path / path.name)
    assert ckptctl("scan", place, "--fail-on", "warning").code == 0
    assert ckptctl("latest", folder.parent).out == f"{folder}\n"
    assert ckptctl("reindex", place, "--quarantine", "--check").code == 0
