"""Make ckptctl/model/rays.json, the table of what each Ray and pyarrow has.

python -m tests.judge.ray_table VERSION... asks installed Rays (`install_rays.py`), and reads with
ckptctl what they write. Rows of other versions stay as they are in everything but the names: those
have to be asked of every Ray anew, so all Rays of the table have to be installed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ckptctl.model.experiment import Experiment
from ckptctl.scanner import scan
from tests.judge.judge import REPOSITORY, SCRIPTS, Judge, rays_folder

TABLE = REPOSITORY / "ckptctl" / "model" / "rays.json"
RUNS: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("function", {"fail_at": 3}),
    ("class", {"fail_at": 3}),
    ("pbt", {}),
)
PLAIN = (bool, int, float, str, type(None))


def ask(version: str, **request: object) -> dict[str, Any]:
    """What the Ray itself says, in its own interpreter."""
    done = subprocess.run(
        [rays_folder() / f"ray-{version}" / "bin" / "python", "inventory.py"],
        cwd=SCRIPTS,
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        sys.exit(f"Ray {version}: {done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert answer["ray"] == version
    return answer


def experiments(version: str, folder: Path) -> list[Path]:
    """Experiments that the Ray made; those that are there already are not made again."""
    made = []
    with Judge(version) as judge:
        for scenario, options in RUNS:
            storage = folder / version / scenario
            experiment = storage / "as-made"
            if not experiment.is_dir():
                storage.mkdir(parents=True, exist_ok=True)
                judge.make(scenario, storage, "exp", **options).rename(experiment)
            made.append(experiment)
    return made


class Written:
    """What one Ray writes: the attributes of its objects and the keys of its state."""

    def __init__(self, places: Iterable[Path]) -> None:
        self.fields: dict[str, dict[str, list[object]]] = {}
        self.names: set[str] = set()
        self.keys: dict[str, dict[str, list[object]]] = {"runner": {}, "trial": {}}
        for place in places:
            (experiment,) = scan(str(place), collect_globals=True)
            self._read(place, experiment)

    def _read(self, place: Path, experiment: Experiment) -> None:
        for pickle in experiment.pickles:
            self.names.update(name for name in pickle.names if name.startswith("ray."))
            for stored in pickle.objects:
                held = self.fields.setdefault(stored.name, {})
                for field in stored.fields:
                    held.setdefault(field, []).append(stored.plain.get(field, ...))
        assert experiment.state_file is not None
        state = json.loads((place / experiment.state_file).read_text())
        parts = [("runner", state["runner_data"])]
        parts += [("trial", json.loads(trial)) for trial, _ in state["trial_data"]]
        for part, held in parts:
            for key, value in held.items():
                self.keys[part].setdefault(key, []).append(value)

    def default(self, part: str, key: str) -> dict[str, object]:
        """What a key always held, where that is plain and always the same."""
        values = self.keys[part][key]
        same = all(value == values[0] for value in values) and isinstance(values[0], PLAIN)
        return {"default": values[0]} if same else {}

    def field_default(self, name: str, field: str) -> dict[str, object]:
        """The same of an attribute; a text may be of this run only."""
        values = self.fields.get(name, {}).get(field, [...])
        same = all(value == values[0] for value in values)
        plain = values[0] is None or isinstance(values[0], bool | int | float)
        return {"default": values[0]} if same and plain else {}


def row(version: str, told: Mapping[str, Any], written: Written) -> dict[str, Any]:
    snapshot = told["snapshot"]
    return {
        "version": version,
        "pyarrow": told["pyarrow"],
        "numpy": told["numpy"],
        "stored": sorted(written.names),
        "counter": "next" if told["counter_starts"] == 0 else "last",
        "runner": {key: written.default("runner", key) for key in told["runner_keys"]},
        "trial": {key: written.default("trial", key) for key in sorted(written.keys["trial"])},
        "snapshot": None
        if snapshot is None
        else {
            name: {} if field["required"] else {"default": field["default"]}
            for name, field in snapshot.items()
        },
    }


def pyarrow_row(told: Mapping[str, Any]) -> dict[str, Any]:
    """The local filesystem's two forms, and what each call of a remote one takes."""
    full = {name.partition(":")[2]: name for name in told["pyarrow_names"]}
    # A class inherits what its base has; what is called is found at the one that has it.
    forms = [(full[f["call"]], f["args"]) for f in told["filesystems"]]
    return {
        "version": told["pyarrow"],
        "local": [{"call": call, "args": args} for call, args in forms[:2]],
        "takes": {call: sorted(args[0]) for call, args in forms[2:]},
    }


def marked(versions: list[str], having: Mapping[str, set[str]], own: Mapping[str, set[str]]) -> Any:
    """By module and by which versions have it: `w` writes it, `h` has it, `.` has it not."""
    found: dict[str, dict[str, list[str]]] = {}
    for name in sorted(set().union(*own.values())):
        marks = "".join(
            "w" if name in own[v] else "h" if name in having[v] else "." for v in versions
        )
        module, _, called = name.partition(":")
        found.setdefault(module, {}).setdefault(marks, []).append(called)
    return found


def that_differ(fields: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each row those attributes that not every row with a class of that name asks for."""
    asked: dict[str, list[set[str]]] = {}
    for row_fields in fields:
        by_name: dict[str, set[str]] = {}
        for name, attributes in row_fields.items():
            by_name.setdefault(name.partition(":")[2], set()).update(attributes)
        for called, attributes in by_name.items():
            asked.setdefault(called, []).append(attributes)
    common = {called: set.intersection(*sets) for called, sets in asked.items()}
    kept = []
    for row_fields in fields:
        own = {
            name: {a: how for a, how in sorted(held.items()) if a not in common[_called(name)]}
            for name, held in sorted(row_fields.items())
        }
        kept.append({name: held for name, held in own.items() if held})
    return kept


def _called(name: str) -> str:
    return name.partition(":")[2]


def order(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def make(versions: list[str], folder: Path) -> dict[str, Any]:
    told = {version: ask(version, ask="written") for version in versions}
    written = {version: Written(experiments(version, folder)) for version in versions}
    own = {version: set(told[version]["names"]) for version in versions}
    stored = {name for w in written.values() for name in w.fields}
    names = sorted(set().union(*own.values()) | stored)
    arrows = sorted(set().union(*(told[v]["pyarrow_names"] for v in versions)))
    rows: list[dict[str, Any]] = []
    needed: list[dict[str, Any]] = []
    having, arrow_rows, arrow_names = {}, {}, {}
    for version in versions:
        fields = {
            name: sorted(written[version].fields.get(name, ()))
            for name in {*own[version], *written[version].fields}
        }
        has = ask(version, ask="has", names=[*names, *arrows], fields=fields)
        having[version] = set(has["has"])
        made = row(version, told[version], written[version])
        needed.append(
            {
                name: {f: how or written[version].field_default(name, f) for f, how in need.items()}
                for name, need in has["needed"].items()
                if need is not None
            }
        )
        rows.append(made)
        arrow = told[version]["pyarrow"]
        arrow_rows[arrow] = pyarrow_row(told[version])
        arrow_names[arrow] = set(has["has"]) & set(arrows)
        print(f"Ray {version}, pyarrow {arrow}: {len(own[version])} names", flush=True)
    for made, fields in zip(rows, that_differ(needed), strict=True):
        made["fields"] = fields
    trial_keys = set.intersection(*(set(made["trial"]) for made in rows))
    for made in rows:
        made["trial"] = {k: how for k, how in made["trial"].items() if k not in trial_keys}
    pyarrows = sorted(arrow_rows, key=order)
    return {
        "rays": rows,
        "pyarrows": [arrow_rows[version] for version in pyarrows],
        "ray_names": marked(versions, having, own),
        "pyarrow_names": marked(pyarrows, arrow_names, arrow_names),
    }


def dump(table: Mapping[str, Any]) -> str:
    """JSON with a line for each row and each module, so that changes can be read."""
    parts = []
    for key, value in table.items():
        if isinstance(value, list):
            lines = [json.dumps(item) for item in value]
            parts.append(f"{json.dumps(key)}: [\n  " + ",\n  ".join(lines) + "\n ]")
        else:
            lines = [f"{json.dumps(name)}: {json.dumps(item)}" for name, item in value.items()]
            parts.append(f"{json.dumps(key)}: {{\n  " + ",\n  ".join(lines) + "\n }")
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", metavar="VERSION")
    parser.add_argument("--experiments", type=Path, help="where they are kept, or made and left")
    given = parser.parse_args()
    known = [r["version"] for r in json.loads(TABLE.read_text())["rays"]] if TABLE.exists() else []
    versions = sorted({*known, *given.versions}, key=order)
    with tempfile.TemporaryDirectory(prefix="ray-table-") as folder:
        TABLE.write_text(dump(make(versions, given.experiments or Path(folder))))


if __name__ == "__main__":
    main()
