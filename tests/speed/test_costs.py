"""What a process costs against its floor: CPU time, in turns. ``make speed``."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import cases
from benchmarks.generate import generate
from benchmarks.measure import in_turns
from benchmarks.template import SOURCE

pytestmark = pytest.mark.speed


def ratios(rows: list[cases.Row]) -> dict[str, float]:
    return {row.case: row.ratio for row in rows if row.goal}


def test_start_up(tmp_path: Path) -> None:
    found = list(ratios(list(cases.start_up(tmp_path))).values())
    print(found)
    assert found[0] <= 2 and found[1] <= 12 and found[2] <= 20


def test_renames_take_no_more_than_three_times_the_bare_ones(tmp_path: Path) -> None:
    [found] = ratios(list(cases.renames(tmp_path))).values()
    print(found)
    assert found <= 3


def test_the_codec_does_two_million_opcodes_a_second(tmp_path: Path) -> None:
    from time import process_time

    from ckptctl.codec.json_records import fallback_bytes, load_json
    from ckptctl.codec.pickle_reader import decode

    path = generate(tmp_path / "one", trials=1, checkpoints=50, files=1, state=True)
    [state] = path.glob("experiment_state-*.json")
    document: dict[str, list[list[str]]] = load_json(state.read_bytes())  # type: ignore[assignment]
    run: dict[str, object] = load_json(document["trial_data"][0][1])  # type: ignore[assignment]
    data = fallback_bytes(run["checkpoint_manager"]) or b""
    speeds = []
    for _ in range(5):
        began, opcodes = process_time(), 0
        for _ in range(200):
            opcodes += decode(data).nops
        speeds.append(opcodes / (process_time() - began))
    print(max(speeds))
    assert max(speeds) >= 2_000_000


def test_a_scan_is_no_more_than_three_times_its_listing(tmp_path: Path) -> None:
    """Less than the goal that `make bench` tells of, so that a slip is seen at once."""
    path = generate(tmp_path / "made", trials=300, checkpoints=50, size=16)
    two = generate(tmp_path / "two", trials=2, checkpoints=4, state=True)
    scan = [*cases.CKPTCTL, "scan", "--json"]
    costs = in_turns(
        {
            "start": [*scan, str(two)],
            "scan": [*scan, str(path)],
            "imports": cases.floor("nothing", path),
            "floor": cases.floor("listing", path),
        }
    )
    ours = costs["scan"].cpu - costs["start"].cpu
    least = costs["floor"].cpu - costs["imports"].cpu
    print(ours / least)
    assert ours <= 3 * least


def test_the_template_is_a_real_trial() -> None:
    assert (SOURCE / "tuner.pkl").exists()
