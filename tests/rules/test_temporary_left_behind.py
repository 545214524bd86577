from __future__ import annotations

from tests.rules.builders import TEMPORARY, a_trial, commands, folder, one, run


def test_a_temporary_folder_is_told() -> None:
    finding = one("CKP005", a_trial(7, folder("checkpoint_tmpccbce4", TEMPORARY)))
    assert finding.message == (
        "1 temporary folder of an interrupted save is left: checkpoint_tmpccbce4"
    )
    assert commands([finding]) == ["ckptctl reindex runs/exp --quarantine"]


def test_several_are_one_finding() -> None:
    names = [f"checkpoint_tmp00000{i}" for i in range(7)]
    finding = one("CKP005", a_trial(*(folder(n, TEMPORARY) for n in names)))
    assert finding.message.startswith("7 temporary folders of an interrupted save are left: ")
    assert finding.message.endswith("checkpoint_tmp000003 and 3 more")
    assert finding.checkpoints == tuple(names)


def test_whole_folders_are_quiet() -> None:
    assert run("CKP005", a_trial(1, 2)) == []
