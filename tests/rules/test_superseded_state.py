from __future__ import annotations

from msgspec.structs import replace

from ckptctl.model.experiment import RecordFile, RecordKind, RecordRole
from tests.rules.builders import STATE, experiment, one, run

OLD = "experiment_state-2020-01-01_00-00-00.json"
OLDER = "experiment_state-2019-01-01_00-00-00.json"


def state(path: str, role: RecordRole) -> RecordFile:
    return RecordFile(path=path, kind=RecordKind.JSON, role=role, sha256="", size=1)


def test_older_states_are_one_finding() -> None:
    files = (
        state(OLD, RecordRole.SUPERSEDED_STATE),
        state(OLDER, RecordRole.SUPERSEDED_STATE),
        state(STATE, RecordRole.STATE),
    )
    finding = one("CKP203", replace(experiment(), records=files))
    assert finding.message == f"2 older state files lie beside {STATE}: {OLDER} and {OLD}"
    single = one("CKP203", replace(experiment(), records=files[:1]))
    assert single.message == f"1 older state file lies beside {STATE}: {OLD}"


def test_the_state_that_counts_is_quiet() -> None:
    whole = replace(experiment(), records=(state(STATE, RecordRole.STATE),))
    assert run("CKP203", whole) == []
