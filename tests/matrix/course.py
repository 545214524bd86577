"""One scenario of Ray Tune with one Ray: made, scanned, renamed, damaged, mended, gone on with."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.judge.checks import assert_sound, trials
from tests.judge.experiments import checkpoint_names, state_file, tree, trial_folders
from tests.judge.judge import Judge, Option
from tests.matrix import damages
from tests.matrix.command import call, codes, findings, write
from tests.matrix.killer import Doomed
from tests.matrix.scenarios import Scenario
from tests.matrix.seen import (
    NUMBERED,
    Answer,
    checkpoints,
    from_path_agrees,
    iteration_in,
    latest_state,
    same_books,
    went_on,
)
from tests.matrix.told import Broken, Told, must, told

TEMPLATE = "checkpoint_{training_iteration:06d}-{loss:.4f}"
# Ray 2.6 numbers the next folder of a function by the iteration that it goes on from, so that the
# iteration of a save is one too many.
BY_INDEX = "checkpoint_{index:06d}-{loss:.4f}"


def run(judge: Judge, scenario: Scenario, root: Path) -> list[Told]:
    """Every phase of a scenario; one that fails does not keep the others from being run."""
    course = Course(judge, scenario, root)
    made = told("made", course.made)
    if made.state != "ok":
        return [made]
    phases: tuple[tuple[str, Callable[[], str]], ...] = (
        ("renamed", course.renamed),
        ("older state", course.older_state),
        ("folders and index", course.folders_and_index),
    )
    seen = [made, told("scanned", course.scanned)]
    seen += [told(name, phase) for name, phase in phases]
    return [*seen, course.undone()]


class Course:
    """One scenario under way."""

    def __init__(self, judge: Judge, scenario: Scenario, root: Path) -> None:
        self.judge = judge
        self.scenario = scenario
        self.root = root
        # Each phase has the experiment where it was made: Ray 2.7 and 2.8 keep that place.
        self.place = root / "exp"
        self.kept = root / "as-made"
        self.before: Answer = {}
        self.renamed_state: bytes | None = None
        self.renamed_read: Answer = {}
        self.then: dict[str, Option] = dict(scenario.then)
        self.last: dict[str, Option] = dict(scenario.last)
        self.live = ("--allow-live",) if scenario.killed else ()
        self.taken_back: list[bool] = []
        self.as_killed = ""

    @property
    def legacy(self) -> bool:
        return self.judge.release < (2, 7)

    # --- made

    def made(self) -> str:
        """Make it, and keep it."""
        if self.scenario.killed:
            self._made_and_killed()
        else:
            self.judge.make(self.scenario.base, self.root, self.place.name, **self.scenario.options)
        if self.scenario.again is not None:
            resumed = self.judge.resume(self.place, **self.scenario.again)
            must(resumed["errors"], "the restored run did not break off")
        self.before = self.judge.read(self.place)
        shutil.copytree(self.place, self.kept, symlinks=True)
        ends = Counter(trial["status"] for trial in self.before["trials"])
        folders = [len(checkpoints(folder)) for folder in trial_folders(self.place)]
        if self.scenario.killed:
            steps = [iteration_in(c) for f in trial_folders(self.place) for c in checkpoints(f)]
            self.then, self.last = {"steps": max(steps) + 2}, {"steps": max(steps) + 4}
        how = ", ".join(f"{count} {status}" for status, count in sorted(ends.items()))
        if self.scenario.options.get("retry_at"):
            errors = [(folder / "error.txt").read_text() for folder in trial_folders(self.place)]
            must(all("to be retried" in error for error in errors), "Ray retried nothing")
        count = sum(is_foreign(trial) for trial in self.before["trials"])
        foreign = f"; {count} latest of another trial" if count else ""
        return f"{how}; {'+'.join(map(str, folders))} checkpoints{foreign}{self.as_killed}"

    def _made_and_killed(self) -> None:
        """Kill the driver once it is ahead of its state, and mend what is left."""
        with Doomed(self.judge.version) as doomed:
            options = self.scenario.options
            doomed.train_until(worth_a_kill, self.scenario.base, self.root, "exp", **options)
        found = findings(self.place)
        must(codes(found, "error"), "a scan finds no error in what the kill left")
        self._write("reindex", self.place, "--quarantine")
        after = self.judge.read(self.place)
        assert_sound(after)
        for trial in after["trials"]:
            state, newest = latest_state(trial), self._newest_known(self.place, trial, after)
            got = state and state["iteration"]
            must(got == newest, f"the latest is of iteration {got}, and the newest known {newest}")
        self.as_killed = f"; as the kill left it: {said(found)}; mended"

    def scanned(self) -> str:
        """A scan finds no error but Ray's own."""
        self._fresh()
        found = findings(self.place)
        allowed = set()
        if self.judge.release == (2, 7) and self.scenario.is_class:
            allowed.add("CKP106")
        if self.scenario.base.startswith("pbt"):
            allowed.add("CKP108")
        errors = set(codes(found, "error"))
        must(errors <= allowed, f"a scan finds {said(found)}")
        own = f" ({', '.join(sorted(errors))}: Ray's own fault)" if errors else ""
        return said(found, "error", "warning") + own

    # --- renamed

    def renamed(self) -> str:
        """Rename; Ray finds the same, and goes on behind it."""
        experiment = self._fresh()
        template, options, remark = TEMPLATE, list[str](), ""
        if unknown := self._unknown(experiment):
            # A folder whose metrics no record tells keeps its number, and so must the others.
            template, options = BY_INDEX, ["--on-missing", "skip"]
            remark = f"; by `{{index}}`, without {unknown} whose metrics nothing tells"
        elif self.legacy and not self.scenario.is_class:
            template, remark = BY_INDEX, "; by `{index}`, since `{training_iteration}` is refused"
        if template is BY_INDEX:
            call("rename", experiment, "--to", TEMPLATE, "--yes", *self.live, expect=14)
        plan = self._write("rename", experiment, "--to", template, *options)
        moves = sum(step["kind"] == "move" for step in plan["steps"])
        after = self.judge.read(experiment)
        same_books(self.before, after)
        self._named(after, template)
        from_path_agrees(after, experiment)
        self.renamed_state, self.renamed_read = state_file(experiment).read_bytes(), after
        resumed = self.judge.resume(experiment, **self.then)
        way = went_on(resumed, after, experiment, self.then, evicts=self.scenario.ranked)
        return f"{moves} folders; went on {way}{remark}"

    def _unknown(self, experiment: Path) -> int:
        """How many folders there are that Ray does not list."""
        listed = sum(len(trial["checkpoints"]) for trial in self.before["trials"])
        return sum(len(checkpoints(f)) for f in trial_folders(experiment)) - listed

    def _named(self, read: Answer, template: str) -> None:
        for trial in read["trials"]:
            for each in trial["checkpoints"]:
                number = each["state"]["iteration"] - (template is BY_INDEX)
                name = f"checkpoint_{number:06d}-{each['metrics']['loss']:.4f}"
                must(each["name"] == name, f"{each['name']} should be {name}")

    # --- damaged and mended

    def older_state(self) -> str:
        """What went on after the rename, with the state from before it went on."""
        if self.renamed_state is None:
            raise Broken("not run, since the rename failed")
        experiment = self.place
        damages.older_state(experiment, self.renamed_state)
        found = findings(experiment)
        must(codes(found, "error"), "a scan finds no error")
        self._write("reindex", experiment)
        call("scan", experiment)
        after = self.judge.read(experiment)
        assert_sound(after)
        for trial in damages.unfinished(after):
            newest = self._newest_known(experiment, trial, self.renamed_read)
            got = latest_state(trial)
            assert got is not None
            iteration = int(got["iteration"])
            # The rows of a class trainable do not say which folder they were saved in.
            exactly = self.legacy or not self.scenario.is_class
            must(
                iteration == newest or (iteration > newest and not exactly),
                f"the latest is of iteration {iteration}, and the newest known {newest}",
            )
        resumed = self.judge.resume(experiment, **self.last)
        way = went_on(resumed, after, experiment, self.last, evicts=self.scenario.ranked)
        return f"{said(found, 'error', 'warning')}; mended; went on {way}"

    def folders_and_index(self) -> str:
        """Folders removed and an index set behind, in different trials where there are three."""
        made = self._fresh()
        as_made, experiment, options = tree(made), made, []
        if self.scenario.moved:
            experiment = self.root / "elsewhere" / "exp"
            shutil.copytree(made, experiment, symlinks=True)
            options = ["--relocate"] if self.judge.release < (2, 9) else []
        wanted = self._damage(experiment)
        found = findings(experiment)
        must(codes(found, "error"), "a scan finds no error")
        self._write("reindex", experiment, *options)
        call("scan", experiment)
        after = self.judge.read(experiment)
        assert_sound(after)
        for trial_id, iteration in wanted.items():
            got = latest_state(trials(after)[trial_id])
            must(
                got is not None and got["iteration"] == iteration,
                f"the latest of {trial_id} is {got}, and that of iteration {iteration} is there",
            )
        resumed = self.judge.resume(experiment, **self.then)
        way = went_on(resumed, after, experiment, self.then, evicts=self.scenario.ranked)
        if experiment != made:
            must(tree(made) == as_made, "the place it was copied from was written to")
        moved = f"copied{', `--relocate`' if options else ''}; " if self.scenario.moved else ""
        return f"{moved}{said(found, 'error', 'warning')}; mended; went on {way}"

    def _damage(self, experiment: Path) -> dict[str, int]:
        """Damage it, and say which iteration each trial must go on from."""
        going = damages.unfinished(self.before)
        wanted = {t["trial_id"]: int(t["latest"]["state"]["iteration"]) for t in going}
        first, second, third = going[0], going[1], going[-1]
        damages.remove_latest(experiment, first)
        wanted[first["trial_id"]] = self._newest_known(experiment, first, self.before)
        damages.remove_oldest(experiment / second["dirname"])
        if not self.legacy:
            damages.set_index_behind(experiment, third["trial_id"])
        return wanted

    # --- helpers

    def _fresh(self) -> Path:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.kept, self.place, symlinks=True)
        return self.place

    def _write(self, verb: str, experiment: Path, *options: str) -> Answer:
        """Write, take it back, see that every byte is as it was, and write again."""
        before = tree(experiment)
        write(verb, experiment, *options, *self.live)
        must(tree(experiment) != before, f"{verb} changed nothing")
        call("undo", experiment, "--yes", *self.live)
        same = tree(experiment) == before
        self.taken_back.append(same)
        must(same, f"undo of {verb} did not give every byte back")
        plan: Answer = write(verb, experiment, *options, *self.live)
        return plan

    def undone(self) -> Told:
        """What became of the writes that were taken back."""
        count = len(self.taken_back)
        if not self.taken_back or not all(self.taken_back):
            return Told("undone", "failed", f"{sum(self.taken_back)} of {count} taken back")
        return Told("undone", "ok", f"{count} of {count}")

    def _newest_known(self, experiment: Path, trial: Answer, read: Answer) -> int:
        """The iteration of the newest folder whose metrics a record or a row knows.

        A trial of a population may go on from a foreign checkpoint, which is newer still.
        """
        folder = experiment / trial["dirname"]
        recorded = trials(read)[trial["trial_id"]]["checkpoints"]
        known = {each["name"] for each in recorded} | rows_name(folder)
        names = checkpoint_names(experiment)[folder.name]
        there = [name for name in names if NUMBERED.match(name)]
        if self.legacy:
            known |= {name for name in there if (folder / name / ".tune_metadata").is_file()}
        newest = max(iteration_in(folder / name) for name in there if name in known)
        was = trials(self.before or read)[trial["trial_id"]]
        if is_foreign(was):
            return max(newest, int(was["latest"]["state"]["iteration"]))
        return newest


def is_foreign(trial: Answer) -> bool:
    """Whether the latest checkpoint of a trial lies in the folder of another."""
    latest = trial["latest"]
    return latest is not None and Path(latest["path"]).parent.name != trial["dirname"]


def said(found: Counter[tuple[str, str]], *severities: str) -> str:
    """Codes of a scan, with how often each was given."""
    severities = severities or ("error", "warning")
    wanted = {code: n for (severity, code), n in sorted(found.items()) if severity in severities}
    return ", ".join(f"{code} ×{n}" for code, n in sorted(wanted.items())) or "nothing"


def rows_name(folder: Path) -> set[str]:
    log = folder / "result.json"
    lines = log.read_text().splitlines() if log.is_file() else []
    rows = [json.loads(line) for line in lines if line.endswith("}")]
    return {row["checkpoint_dir_name"] for row in rows if row.get("checkpoint_dir_name")}


def worth_a_kill(experiment: Path) -> bool:
    """Both trials have checkpoints in the state, and newer ones that are not in it."""
    if not list(experiment.glob("experiment_state-*.json")):
        return False
    try:
        (document,) = call("scan", experiment, "--fail-on", "never")["experiments"]
    except Broken:
        return False  # read while it was written
    counts = [
        (len((trial["books"]["trial"] or {}).get("checkpoints") or []), len(trial["checkpoints"]))
        for trial in document["trials"]
    ]
    return len(counts) == 2 and all(2 <= known <= there - 2 for known, there in counts)
