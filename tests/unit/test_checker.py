from __future__ import annotations

import pytest
from msgspec.structs import replace

from ckptctl.checker import check
from ckptctl.errors import UsageError
from ckptctl.model.finding import Severity
from tests.rules.builders import EMPTY, MISSING, PARTIAL, a_trial, experiment, folder

BROKEN = replace(
    experiment(
        a_trial(
            folder(9, PARTIAL, lacks=("x",)),
            folder(10, PARTIAL, lacks=("x",)),
            folder(11, MISSING),
            records=[9, 10, 11],
            latest=10,
            index=8,
            dirname="b",
        ),
        a_trial(folder(1, EMPTY), records=[1], latest=1, dirname="a"),
    ),
    recorded_root="/old",
    actual_root="/new",
)


def test_findings_are_in_order_of_trial_checkpoint_and_code() -> None:
    found = check(BROKEN)
    assert [(f.trial, f.checkpoint, f.code) for f in found] == [
        (None, None, "CKP116"),
        ("a", "checkpoint_000001", "CKP301"),
        ("b", "checkpoint_000009", "CKP101"),
        ("b", "checkpoint_000009", "CKP302"),
        ("b", "checkpoint_000010", "CKP302"),
        ("b", "checkpoint_000011", "CKP104"),
    ]


def test_numbers_in_names_are_in_natural_order() -> None:
    trial = a_trial(folder("checkpoint_9", PARTIAL), folder("checkpoint_10", PARTIAL), records=())
    found = check(experiment(trial), select=("CKP302",))
    assert [f.checkpoint for f in found] == ["checkpoint_9", "checkpoint_10"]


def test_rules_are_selected_and_ignored() -> None:
    codes = [f.code for f in check(BROKEN, select=("CKP3", "CKP104"), ignore=("empty-checkpoint",))]
    assert codes == ["CKP302", "CKP302", "CKP104"]
    with pytest.raises(UsageError):
        check(BROKEN, select=("CKP999",))
    with pytest.raises(UsageError):
        check(BROKEN, ignore=("nonsense",))


def test_severities_are_set_by_the_longest_word_that_fits() -> None:
    levels = {"CKP302": Severity.INFO, "CKP3": Severity.WARNING, "foreign-root": Severity.ERROR}
    found = {f.code: f.severity for f in check(BROKEN, severities=levels)}
    assert found["CKP302"] is Severity.INFO
    assert found["CKP301"] is Severity.WARNING
    assert found["CKP116"] is Severity.ERROR
    assert found["CKP104"] is Severity.ERROR


def test_a_healthy_experiment_has_no_findings() -> None:
    assert check(experiment(a_trial(1, 2, records=[1, 2], latest=2, index=2))) == ()
