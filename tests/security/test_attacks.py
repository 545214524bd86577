"""Plans, journals, templates and records made to reach out: refused, and nothing is touched."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ckptctl.journal.format import canonical
from tests.security.verbs import TEMPLATE, change, run
from tests.support import DAMAGED, HEALTHY, copy_of

NAME = "ray-2.54.1-function_topk"


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below a folder, links not followed, with its bytes and the time it changed."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = (str(path.readlink()).encode(), 0)
        elif path.is_file():
            found[str(path)] = (path.read_bytes(), path.stat().st_mtime_ns)
        else:
            found[str(path)] = (b"", 0)
    return found


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an experiment in it, and with what an attack would like to reach."""
    made = tmp_path / "world"
    place = copy_of(NAME, made)
    shutil.copytree(place, made / "neighbour")
    (made / "secret").write_text("secret")
    (made / "home" / "checkpoint_000001").mkdir(parents=True)
    (made / "home" / "checkpoint_000001" / "weights").write_text("weights")
    monkeypatch.setenv("HOME", str(made / "home"))
    monkeypatch.chdir(made / "home")
    return made


@contextmanager
def untouched(world: Path, *, inside: bool = True) -> Iterator[None]:
    """Nothing changes; without `inside`, nothing outside the experiment."""
    before = everything(world)
    yield
    after = everything(world)
    if not inside:
        own = str(world / NAME) + "/"
        before, after = (
            {p: v for p, v in found.items() if not p.startswith(own)} for found in (before, after)
        )
    assert after == before


def sealed(plan: dict[str, Any]) -> dict[str, Any]:
    """With the id that its content gives: whoever edits a plan can work that out."""
    content = {key: value for key, value in plan.items() if key != "plan_id"}
    return {**plan, "plan_id": hashlib.sha256(canonical(content)).hexdigest()[:12]}


def saved(world: Path) -> dict[str, Any]:
    """A good plan of the experiment."""
    out = world.parent / "plan.json"
    assert run("rename", world / NAME, "--to", TEMPLATE, "-n", "--plan-out", out).code == 0
    plan: dict[str, Any] = json.loads(out.read_bytes())
    assert sealed(plan) == plan
    return plan


def first(plan: dict[str, Any], kind: str) -> dict[str, Any]:
    found: dict[str, Any] = next(s for s in plan["steps"] if s["kind"] == kind)
    return found


Edit = Callable[[dict[str, Any], Path], object]


def _elsewhere(plan: dict[str, Any], world: Path) -> None:
    plan["location"] = str(world / "neighbour")


def _read_up(plan: dict[str, Any], world: Path) -> None:
    plan["reads"][0]["file"] = "../secret"


def _inner_up(plan: dict[str, Any], world: Path) -> None:
    first(plan, "move")["files"][0]["path"] = "../../x"


def _target(path: str) -> Edit:
    return lambda plan, world: first(plan, "move").update({"to": path.format(world=world)})


def _source(path: str) -> Edit:
    return lambda plan, world: first(plan, "move").update({"from": path.format(world=world)})


def _file(path: str) -> Edit:
    return lambda plan, world: first(plan, "rewrite").update({"file": path.format(world=world)})


REACHING: dict[str, Edit] = {
    "target_up": _target("../neighbour/checkpoint_000099"),
    "target_up_inside": _target("a/../../neighbour/x"),
    "target_absolute": _target("{world}/taken"),
    "target_dot": _target("./x"),
    "target_empty": _target(""),
    "target_nul": _target("x\0y"),
    "target_journal": _target(".ckptctl/journal/0001-000000000000"),
    "target_lock": _target(".ckptctl/lock.json"),
    "target_own_case": _target(".CKPTCTL/journal/x"),
    "target_nested_own": _target("a/.ckptctl/journal/x"),
    "target_through_link": _target("link/taken"),
    "source_up": _source("../home/checkpoint_000001"),
    "source_absolute": _source("{world}/home/checkpoint_000001"),
    "source_through_link": _source("link/home"),
    "source_own": _source(".ckptctl"),
    "file_up": _file("../secret"),
    "file_absolute": _file("{world}/secret"),
    "file_through_link": _file("link/secret"),
    "file_is_link": _file("secret-link"),
    "read_up": _read_up,
    "inner_up": _inner_up,
}


@pytest.mark.parametrize("case", REACHING)
@pytest.mark.parametrize("seal", [False, True], ids=["edited", "sealed"])
def test_a_plan_that_reaches_out_touches_nothing(world: Path, case: str, seal: bool) -> None:
    plan = saved(world)
    (world / NAME / "link").symlink_to(world)
    (world / NAME / "secret-link").symlink_to(world / "secret")
    REACHING[case](plan, world)
    path = world.parent / "evil.json"
    path.write_text(json.dumps(sealed(plan) if seal else plan))
    with untouched(world):
        done = run("apply", path, "--yes", "--allow-live")
        # Of a path that may be named, and holds something else, the plan is stale.
        assert done.code in ((10, 12, 14) if seal else (14,)), done
        assert done.err


EDITED: dict[str, Edit] = {
    "another_name": _target("function_x/checkpoint_000099"),
    "another_value": lambda p, w: first(p, "rewrite")["edits"][0].update({"after": "elsewhere"}),
    "another_digest": lambda p, w: first(p, "rewrite").update({"sha256_after": "0" * 64}),
    "another_place": lambda p, w: p.update({"location": str(w / "neighbour")}),
    "a_step_less": lambda p, w: p["steps"].pop(),
    "another_order": lambda p, w: p["steps"].reverse(),
    "a_refusal_less": lambda p, w: p.update({"unsafe": True}),
    "a_step_twice": lambda p, w: p["steps"].append(p["steps"][0]),
}


@pytest.mark.parametrize("case", EDITED)
def test_a_plan_edited_by_hand_is_refused(world: Path, case: str) -> None:
    plan = saved(world)
    EDITED[case](plan, world)
    path = world.parent / "edited.json"
    path.write_text(json.dumps(plan))
    with untouched(world):
        done = run("apply", path, "--yes", "--allow-live")
        assert done.code == 14 and "make the plan again" in done.err, done


@pytest.mark.parametrize("case", ["a_step_twice", "another_digest", "another_value"])
def test_a_plan_that_was_edited_and_sealed_is_not_followed(world: Path, case: str) -> None:
    plan = saved(world)
    EDITED[case](plan, world)
    path = world.parent / "edited.json"
    path.write_text(json.dumps(sealed(plan)))
    with untouched(world):
        done = run("apply", path, "--yes", "--allow-live")
        assert done.code in (12, 14) and done.err, done


def journal_of(world: Path) -> Path:
    [entry] = (world / NAME / ".ckptctl" / "journal").iterdir()
    return entry


@pytest.mark.parametrize("case", [*REACHING, "elsewhere"])
@pytest.mark.parametrize("verb", ["undo", "resume", "history", "scan"])
def test_a_journal_that_reaches_out_touches_nothing_outside(
    world: Path, case: str, verb: str
) -> None:
    assert change("rename", world / NAME, "--to", TEMPLATE).code == 0
    (world / NAME / "link").symlink_to(world)
    (world / NAME / "secret-link").symlink_to(world / "secret")
    entry = journal_of(world)
    intent = json.loads((entry / "plan.json").read_bytes())
    {**REACHING, "elsewhere": _elsewhere}[case](intent["plan"], world)
    intent["plan"] = sealed(intent["plan"])
    (entry / "plan.json").write_text(json.dumps(intent))
    if verb == "resume":
        (entry / "commit.json").unlink()
    moved = entry.with_name("0001-" + intent["plan"]["plan_id"])
    entry.rename(moved)
    with untouched(world, inside=verb in ("history", "scan")):
        words = ("--yes", "--allow-live") if verb == "undo" else ("--yes",) * (verb == "resume")
        done = run(verb, world / NAME, *words)
        if case == "elsewhere" and verb in ("undo", "resume"):
            assert done.code == 0 and (world / NAME / ".ckptctl/journal").is_dir()
        elif verb == "undo":
            assert done.code in (10, 11, 12, 13, 14) and done.err, done
        elif verb == "resume":  # what has left its place has left it, whatever that was
            assert done.code in (0, 10, 11, 12, 13), done
        else:
            assert done.code in (0, 1, 11), done


OUTWARD = ("made", "unmakes")


@pytest.mark.parametrize("field", OUTWARD)
@pytest.mark.parametrize("path", ["../neighbour", "../home", "/", "link/home", ".ckptctl/journal"])
def test_folders_that_a_journal_would_remove_lie_inside(world: Path, field: str, path: str) -> None:
    (world / "home" / "checkpoint_000001" / "weights").unlink()
    assert change("rename", world / NAME, "--to", TEMPLATE).code == 0
    (world / NAME / "link").symlink_to(world)
    entry = journal_of(world)
    intent = json.loads((entry / "plan.json").read_bytes())
    intent[field] = [path, f"{path}/checkpoint_000001"]
    (entry / "plan.json").write_text(json.dumps(intent))
    (entry / "commit.json").unlink()
    with untouched(world, inside=False):
        for words in (("resume", "--yes"), ("undo", "--yes", "--allow-live")):
            run(words[0], world / NAME, *words[1:])


VALUES = ("../../home/x", "/etc/x", "a/b", "..", "x\ny", "\0", "~", "x" * 300)


@pytest.mark.parametrize("value", VALUES)
def test_a_metric_that_would_lead_out_is_refused(world: Path, value: str) -> None:
    for log in (world / NAME).glob("*/result.json"):
        rows = [json.loads(line) for line in log.read_text().splitlines()]
        log.write_text("".join(json.dumps({**row, "tag": value}) + "\n" for row in rows))
    for state in (world / NAME).glob("experiment_state-*"):
        state.write_text(state.read_text().replace("02a88_00000", "../../up"))
    with untouched(world):
        for template in ("checkpoint_{index:06d}-{tag}", "checkpoint_{index:06d}-{trial_id}"):
            done = change("rename", world / NAME, "--to", template)
            assert done.code in (2, 14), done


@pytest.mark.parametrize(
    "template",
    [
        "../checkpoint_{index:06d}",
        "/tmp/checkpoint_{index:06d}",
        "checkpoint_{index:06d}/../../x",
        "checkpoint_{index.__class__}",
        "checkpoint_{index[0]}",
        "checkpoint_{index!r}",
        "checkpoint_{index:{index}}",
        "checkpoint_{index:999999999d}",
        "checkpoint_{index:06d}\x1b[31m",
        "..",
        ".ckptctl",
    ],
)
def test_a_template_that_would_lead_out_is_refused(world: Path, template: str) -> None:
    with untouched(world):
        done = change("rename", world / NAME, "--to", template)
        assert done.code in (2, 14), done


def _links(place: Path, world: Path) -> None:
    """Everything that a run might have is a link to the neighbour."""
    theirs = world / "neighbour"
    for path in sorted(place.rglob("*"), reverse=True):
        if path.name.startswith("checkpoint_") and path.is_dir() and path.name.endswith("7"):
            shutil.rmtree(path)
            path.symlink_to(next(theirs.glob("*/checkpoint_000007")))


def _linked_logs(place: Path, world: Path) -> None:
    for name in ("result.json", "progress.csv"):
        for path in place.glob(f"*/{name}"):
            path.unlink()
            path.symlink_to(next((world / "neighbour").glob(f"*/{name}")))


def _linked_state(place: Path, world: Path) -> None:
    for path in (*place.glob("experiment_state-*"), *place.glob("checkpoint_manager_*")):
        path.unlink()
        path.symlink_to(next((world / "neighbour").glob("experiment_state-*")))


def _linked_trials(place: Path, world: Path) -> None:
    for path in [p for p in place.iterdir() if p.is_dir() and not p.name.startswith("checkpoint")]:
        shutil.rmtree(path)
        path.symlink_to(next(p for p in (world / "neighbour").iterdir() if p.is_dir()))


def _own_folder(place: Path, world: Path) -> None:
    (place / ".ckptctl").symlink_to(world / "home")


def _own_journal(place: Path, world: Path) -> None:
    (place / ".ckptctl").mkdir()
    for name in ("journal", "tmp", "quarantine"):
        (place / ".ckptctl" / name).symlink_to(world / "home")


def _own_lock(place: Path, world: Path) -> None:
    (place / ".ckptctl").mkdir()
    (place / ".ckptctl" / "lock.json").symlink_to(world / "secret")


def _beside(place: Path, world: Path) -> None:
    """The names under which a record is written before it takes its place."""
    from ckptctl.storage.local_files import beside

    for path in [p for p in place.rglob("*") if p.is_file()]:
        Path(beside(str(path))).symlink_to(world / "secret")


HOSTILE: dict[str, Callable[[Path, Path], None]] = {
    "as_it_is": lambda place, world: None,
    "linked_checkpoints": _links,
    "linked_logs": _linked_logs,
    "linked_state": _linked_state,
    "linked_trials": _linked_trials,
    "own_folder_is_a_link": _own_folder,
    "own_folders_are_links": _own_journal,
    "lock_is_a_link": _own_lock,
    "links_beside_records": _beside,
}
NAMES = (
    NAME,
    "ray-2.54.1-train_v2_topk",
    "ray-2.6.3-class_freq",
    "renumbered-by-hand--ray-2.54.1-function_topk",
)


def walk(place: Path) -> None:
    """Every verb that writes, as far as it goes."""
    for words in (
        ("reindex", "--unsafe", "--quarantine"),
        ("reindex", "--relocate"),
        ("rename", "--to", TEMPLATE, "--on-missing", "skip"),
        ("undo",),
        ("undo",),
        ("reindex", "--by", "sequential"),
        ("undo",),
        ("migrate", "--to-ray", "2.40.0", "--to-pyarrow", "18.0.0", "--unsafe"),
        ("undo",),
    ):
        change(words[0], place, *words[1:])
    run("history", place, "--prune", "--yes")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", HOSTILE)
def test_nothing_outside_a_hostile_experiment_is_written(
    world: Path, name: str, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = world / NAME
    shutil.rmtree(place)
    shutil.copytree(copy_of(name, world.parent / "origin"), place)
    HOSTILE[case](place, world)
    with untouched(world, inside=False):
        walk(place)


@pytest.mark.parametrize("name", [*HEALTHY, *DAMAGED])
def test_nothing_outside_an_experiment_of_the_corpus_is_written(world: Path, name: str) -> None:
    place = world / NAME
    shutil.rmtree(place)
    shutil.copytree(copy_of(name, world.parent / "origin"), place)
    with untouched(world, inside=False):
        walk(place)
