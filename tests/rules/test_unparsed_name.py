from __future__ import annotations

from msgspec.structs import replace

from tests.rules.builders import a_trial, experiment, one, run


def test_a_name_of_no_known_format_is_told() -> None:
    finding = one("CKP001", replace(experiment(a_trial()), unparsed=("t1/checkpoint_best",)))
    assert finding.message == "1 folder matches no known name format: checkpoint_best"
    assert (finding.trial, finding.checkpoint) == ("t1", "checkpoint_best")


def test_a_trial_has_one_finding_for_all_and_markup_stays_as_it_is() -> None:
    names = ("t1/checkpoint_[red]x", "t1/checkpoint\nb", "t2/checkpoint_best", "checkpoint_x")
    findings = run("CKP001", replace(experiment(), unparsed=names))
    assert [f.trial for f in findings] == ["t1", "t2", "."]
    assert findings[0].message == (
        "2 folders match no known name format: checkpoint_[red]x and checkpoint\nb"
    )
    assert findings[2].evidence[0].file == "checkpoint_x"


def test_known_names_are_quiet() -> None:
    assert run("CKP001", a_trial(1, 2)) == []
