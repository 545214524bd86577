"""Properties of renames, over made-up experiments."""

from __future__ import annotations

import shlex
from collections import Counter
from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.names import index_of, ray_name
from ckptctl.model.plan import TreeFile
from ckptctl.model.policies import ByMetric, Policy, Ray26, Sequential
from ckptctl.model.template import Template, Values
from ckptctl.planner.assemble import _moves
from ckptctl.planner.draft import Draft, merge
from ckptctl.planner.reindex_by import plan_reindex_by
from ckptctl.planner.rename import plan_rename
from ckptctl.planner.routing import order_moves, route
from tests.property.strategies import done, experiments, moved

TEMPLATES = [
    "checkpoint_{training_iteration}-{loss:.2f}",
    "checkpoint_{training_iteration:06d}-{loss:.4f}",
    "checkpoint_{training_iteration:06d}",
    "checkpoint_{training_iteration:06d}-{index:06d}",
    "checkpoint_{index:06d}-{loss:.1f}",
    "checkpoint_{loss:.1f}",
    "checkpoint_{loss}",
]


@st.composite
def renames(draw: st.DrawFn) -> list[tuple[str, str]]:
    names = draw(st.lists(st.sampled_from("abcdefghABC"), unique=True, min_size=1))
    targets = draw(
        st.lists(st.sampled_from("abcdefghABCXYZ"), unique=True).filter(
            lambda t: len(t) >= len(names)
        )
        | st.permutations(names)
    )
    return list(zip(names, targets, strict=False))


@given(renames(), st.sets(st.sampled_from("mno")))
def test_moves_of_any_renaming_never_meet_a_name_that_is_there(
    pairs: list[tuple[str, str]], bystanders: set[str]
) -> None:
    moves = route(pairs)
    now = moved({source for source, _ in pairs} | bystanders, moves)
    assert now == dict(pairs) | {name: name for name in bystanders}


@given(renames(), st.randoms(use_true_random=False))
def test_moves_are_put_into_order_however_they_come(
    pairs: list[tuple[str, str]], rng: Random
) -> None:
    moves = list(route(pairs))
    rng.shuffle(moves)
    assert moved([source for source, _ in pairs], order_moves(moves)) == dict(pairs)


@given(st.permutations("abcdefgh"))
def test_a_permutation_needs_one_temporary_name_for_each_cycle(target: list[str]) -> None:
    pairs = list(zip("abcdefgh", target, strict=True))
    moves = route(pairs)
    temporary = {t for _, t in moves if t.startswith(".ckptctl/tmp/")}
    assert len(moves) == sum(s != t for s, t in pairs) + len(temporary)
    assert len(temporary) == _cycles(dict(pairs))


def _cycles(mapping: dict[str, str]) -> int:
    seen: set[str] = set()
    count = 0
    for start, target in mapping.items():
        if start in seen or target == start:
            continue
        count += 1
        name = start
        while name not in seen:
            seen.add(name)
            name = mapping[name]
    return count


@given(experiments(), st.sampled_from(TEMPLATES))
@settings(max_examples=150)
def test_a_rename_is_refused_or_keeps_every_promise(experiment: Experiment, text: str) -> None:
    template = Template.parse(text)
    draft = plan_rename(experiment, template)
    collides = _collides(experiment, template)
    assert any(r.code == "collision" for r in draft.refusals) == collides
    if draft.refusals:
        assert not draft.moves and not draft.edits
        return
    after = done(experiment, draft)
    _keeps_promises(experiment, after)
    assert plan_rename(after, template).is_empty


def _collides(experiment: Experiment, template: Template) -> bool:
    """Counted by brute force."""
    return any(
        n > 1
        for trial in experiment.trials
        for n in Counter(_rendered(template, trial, c) for c in trial.checkpoints).values()
    )


def _rendered(template: Template, trial: Trial, checkpoint: Checkpoint) -> str:
    values = Values(
        index=checkpoint.index,
        training_iteration=checkpoint.training_iteration,
        trial_id=trial.trial_id,
        metrics=checkpoint.metrics,
    )
    name = template.render(values)
    assert isinstance(name, str)
    return name.lower()


def _keeps_promises(before: Experiment, after: Experiment) -> None:
    for old, new in zip(before.trials, after.trials, strict=True):
        saved = [c.name for c in new.saves]
        assert saved == sorted(saved)
        assert new.latest_record and new.latest_record.ref
        assert new.latest_record.ref.name == saved[-1]
        assert new.counted_index is not None and old.counted_index is not None
        upcoming = ray_name(new.counted_index + 1)
        assert all(name != upcoming for name in saved)
        if old.status != "TERMINATED":
            assert all(name < upcoming for name in saved)
        highest = max((i for name in saved if (i := index_of(name)) is not None), default=-1)
        assert new.counted_index >= highest
        _mentions_agree(old.dirname, before, after)


def _mentions_agree(trial: str, before: Experiment, after: Experiment) -> None:
    """Every place names the folder that it named before, or none; evicted rows name no live one."""
    old_trial, new_trial = before.trial(trial), after.trial(trial)
    assert old_trial and new_trial
    by_save = {c.saved: c.name for c in new_trial.checkpoints}
    now = {c.name: by_save[c.saved] for c in old_trial.checkpoints}
    places = {(m.provenance.file, m.provenance.pointer): m for m in after.mentions}
    for mention in before.mentions:
        if mention.ref.trial != trial or "11-29" in mention.provenance.file:
            continue
        found = places.get((mention.provenance.file, mention.provenance.pointer))
        if mention.ref.name in now:
            assert found and found.ref.name == now[mention.ref.name]
        else:
            assert found is None or found.ref.name not in by_save.values()


@given(experiments(), st.sampled_from([Sequential(), ByMetric("training_iteration"), Ray26()]))
@settings(max_examples=100)
def test_renumbering_keeps_every_promise_and_is_done_once(
    experiment: Experiment, policy: Policy
) -> None:
    draft = plan_reindex_by(experiment, policy)
    assert not draft.refusals
    after = done(experiment, draft)
    _keeps_promises(experiment, after)
    for trial in after.trials:
        highest = max(c.index for c in trial.checkpoints if c.index is not None)
        assert trial.counted_index == highest
    assert plan_reindex_by(after, policy).is_empty


REFUSED = [
    *TEMPLATES,
    "model_{training_iteration:06d}",
    "checkpoint_{los:.2f}",
    "checkpoint_{zzz}-{training_iteration}",
    "checkpoint_{training_iteration:06d}/{loss:.1f}",
    "checkpoint_{loss:06d}\n",
    ".",
    "",
]


@given(experiments(), st.sampled_from(REFUSED))
@settings(max_examples=100)
def test_each_template_that_a_refusal_proposes_passes(experiment: Experiment, text: str) -> None:
    draft = plan_rename(experiment, Template.parse(text))
    assume(draft.refusals)
    for refusal in draft.refusals:
        assert refusal.help
        assert not plan_rename(experiment, Template.parse(_to(refusal.help[-1]))).refusals


def _to(line: str) -> str:
    words = shlex.split(line)
    assert words[:3] == ["ckptctl", "rename", "runs/exp"]
    return words[words.index("--to") + 1]


@given(experiments())
def test_merging_a_draft_with_itself_edits_no_place_twice(experiment: Experiment) -> None:
    draft = plan_reindex_by(experiment, Sequential())
    twice = merge(draft, Draft(edits=draft.edits))
    assert twice.edits == draft.edits


@given(renames())
def test_a_moved_folder_keeps_its_files_over_a_temporary_name(
    pairs: list[tuple[str, str]],
) -> None:
    trees = {source: (TreeFile(path=source, size=1),) for source, _ in pairs}
    steps = _moves(route(pairs), trees, {source: f"id {source}" for source, _ in pairs})
    ends = {step.target: step for step in steps}
    for source, target in pairs:
        if source != target:
            assert ends[target].files == trees[source]
            assert ends[target].file_id == f"id {source}"
