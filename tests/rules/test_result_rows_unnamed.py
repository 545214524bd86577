from __future__ import annotations

from ckptctl.model.finding import Applicability
from tests.rules.builders import MISSING, a_trial, claims, experiment, folder, one, rows, run

BARE = rows(None, None, None, has_name=False)


def test_a_log_without_names_is_told() -> None:
    finding = one("CKP107", a_trial(0, 1, records=[0, 1], log=BARE))
    assert finding.message == (
        "no result row has the key checkpoint_dir_name, though 2 checkpoints exist: "
        "Result.from_path fails"
    )
    assert claims(finding)[0] == ("session", "3 rows without the key")
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.SAFE


def test_without_records_nobody_knows_the_names() -> None:
    finding = one("CKP107", a_trial(0, log=BARE, in_state=False))
    assert "though 1 checkpoint exists" in finding.message
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.MANUAL


def test_one_row_with_the_key_is_enough() -> None:
    assert run("CKP107", a_trial(0, log=(*BARE, *rows(None)))) == []


def test_without_folders_or_rows_there_is_nothing_to_look_up() -> None:
    assert run("CKP107", a_trial(folder(0, MISSING), log=BARE)) == []
    assert run("CKP107", a_trial(0)) == []


def test_older_rays_do_not_write_the_key_that_way() -> None:
    for layout in ("ray-tune-2.7", "ray-legacy"):
        assert run("CKP107", experiment(a_trial(0, log=BARE), layout=layout)) == []
