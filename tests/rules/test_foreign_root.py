from __future__ import annotations

from msgspec.structs import replace

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Severity
from tests.rules.builders import commands, experiment, one, run


def moved(recorded: str | None = "/old/exp", actual: str | None = "/new/exp") -> Experiment:
    return replace(experiment(), recorded_root=recorded, actual_root=actual)


def test_another_root_is_told() -> None:
    finding = one("CKP116", moved())
    assert finding.message == "the records point to /old/exp, but the experiment lies in /new/exp"
    assert finding.severity is Severity.INFO
    assert commands([finding]) == ["ckptctl reindex runs/exp --relocate"]


def test_it_is_a_warning_where_ray_goes_on_at_the_old_place() -> None:
    finding = one("CKP116", replace(moved(), roots_are_absolute=True))
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith(": Ray 2.7 and 2.8 would go on reading and writing there")


def test_the_same_root_and_an_unknown_one_are_quiet() -> None:
    assert run("CKP116", moved("/new/exp/")) == []
    assert run("CKP116", moved(None)) == []
    assert run("CKP116", moved(actual=None)) == []
