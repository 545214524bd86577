from __future__ import annotations

import re

from msgspec.structs import replace

from ckptctl.model.finding import Severity
from ckptctl.report import scan
from ckptctl.report.lines import ASCII_MARKS, Page
from ckptctl.report.plain import render
from ckptctl.report.text import render as as_text
from tests.unit.report.values import experiment, finding, trial

WIDE = Page(width=120)


def test_a_clean_experiment_takes_few_lines_and_says_so_once() -> None:
    text = render(scan.render([experiment()], [], WIDE))
    assert text.splitlines()[0].endswith("clean")
    assert len(text.splitlines()) == 5
    assert "Ray Tune 2.8+" in text
    assert "2 trials" in text
    assert "6 checkpoints" in text


def test_witnesses_stand_side_by_side() -> None:
    text = render(scan.render([experiment()], [], WIDE))
    head, row = text.splitlines()[2:4]
    assert head.split() == ["trial", "status", "folders", "trial", "session", "latest", "best",
                            "loss", "↓"]  # fmt: skip
    assert row.split() == ["c08b9_00000", "TERMINATED", "3", "…7", "7", "7", "checkpoint_000007",
                           "checkpoint_000005", "0.25", "█▄▁"]  # fmt: skip


def test_a_witness_that_is_behind_is_marked() -> None:
    behind = experiment(trial(0, recorded=5), trial(1))
    text = render(scan.render([behind], [finding()], WIDE))
    row = next(r for r in text.splitlines() if "c08b9_00000" in r)
    assert "5 ◂" in row
    assert "2 newer on storage" in row
    assert "◂" not in next(r for r in text.splitlines() if "c08b9_00001" in r)


def test_a_finding_is_a_block_with_aligned_evidence_and_a_line_to_paste() -> None:
    text = render(scan.render([experiment()], [finding()], WIDE))
    block = text[text.index("error CKP101") :].splitlines()
    assert block[0] == "error CKP101 index-behind-storage   c08b9_00000   checkpoint_000007"
    trial_line, storage_line = block[2:4]
    assert trial_line.index(" 5 ") == storage_line.index(" 7 ")
    assert trial_line.endswith("› trial_data[1][0] › storage › current_checkpoint_index")
    assert block[4] == "  help: ckptctl reindex runs/tune_lr"


def test_findings_of_one_kind_in_one_trial_are_one_block() -> None:
    several = [finding(checkpoint=f"checkpoint_00000{i}", message=f"m{i}") for i in (5, 6, 7)]
    text = render(scan.render([experiment()], several, Page()))
    assert text.count("error CKP101") == 1
    assert text.count("help:") == 1
    assert all(f"m{i}" in text for i in (5, 6, 7))


def test_infos_are_one_line_unless_asked_for() -> None:
    info = finding("CKP116", severity=Severity.INFO, message="records point elsewhere")
    text = render(scan.render([experiment()], [info], WIDE))
    assert text.splitlines()[0].endswith("clean")
    assert "help:" not in text
    assert "records point elsewhere" in text
    assert "help:" in render(scan.render([experiment()], [info], replace(WIDE, verbose=1)))


def test_the_last_line_tells_what_it_costs() -> None:
    behind = experiment(trial(0, recorded=5), trial(1))
    text = render(scan.render([behind], [finding()], Page()))
    assert text.splitlines()[-1] == (
        "1 error in 1 experiment. The next saves would overwrite 2 checkpoints. "
        "ckptctl reindex runs/tune_lr mends it."
    )


def test_several_experiments_are_told_apart_by_location() -> None:
    both = [experiment(name="one"), experiment(name="two")]
    text = render(scan.render(both, [], Page()))
    assert "runs/one" in text
    assert "runs/two" in text
    assert text.splitlines()[-1] == "2 experiments, all clean."


def test_forty_columns_stack_instead_of_cutting() -> None:
    long = experiment(trial(0, trial_id="train_fn_with_a_rather_long_name_c08b9_00000"))
    lines = render(scan.render([long], [], Page(width=40))).splitlines()
    assert "  train_fn_with_a_rather_long_name_c08b9_00000" in lines
    assert all("…" not in row or "…7" in row for row in lines)


def test_ascii_marks_leave_no_other_character() -> None:
    behind = experiment(trial(0, recorded=5), trial(1))
    assert render(scan.render([behind], [finding()], Page(marks=ASCII_MARKS))).isascii()


def test_colour_never_changes_the_words() -> None:
    lines = scan.render([experiment()], [finding()], WIDE)
    coloured = as_text(lines)
    assert "\x1b[1;31merror CKP101" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(lines)


def test_a_thousand_trials_are_more_than_a_person_can_take_in() -> None:
    many = experiment(*(trial(n) for n in range(1000)))
    found = [replace(finding(), trial=f"fn_{n:05d}") for n in range(500, 520)]
    text = render(scan.render([many], found, WIDE))
    assert len(text.splitlines()) < 120
    assert "c08b9_00500" in text
    assert "976 more trials not shown" in text
    assert len(render(scan.render([many], found, Page())).splitlines()) > 1000


def test_trials_of_one_id_go_by_their_folders() -> None:
    twins = experiment(trial(0, trial_id="same"), trial(1, trial_id="same"))
    text = render(scan.render([twins], [], WIDE))
    assert "fn_00000" in text
    assert "fn_00001" in text
