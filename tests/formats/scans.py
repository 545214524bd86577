"""Scans for the formats to show: of every corpus experiment, and of one whose names are hostile."""

from __future__ import annotations

import math
from functools import cache

from msgspec.structs import replace

from ckptctl import api
from ckptctl.model.checkpoint import CheckpointName, TrialDir
from ckptctl.model.experiment import Best, CheckpointRef, Row
from ckptctl.model.finding import Applicability, Evidence, Remedy
from ckptctl.report.renderers import Plans, Scan
from tests.support import DAMAGED, HEALTHY, corpus
from tests.unit.report.values import checkpoint, experiment, finding, rename_plan, trial

CORPUS = [*HEALTHY, *DAMAGED]

NASTY = (
    "=cmd|' /C calc'!A0",
    "+1,2;3\"4'5",
    'a;"=cmd',
    "@someone #12 www.example.org https://example.org",
    "-a\tb\r\nc",
    "::error::x%0A::warning file=a,line=1::y",
    "##[error]x",
    "<script>alert(1)</script><!-- ]]>",
    "[bold]x[/] [a](http://b) ![i](j) `code` *e* _f_ | g \\| h \\",
    "\x00\x07\x1b[31m\x85\u2028\u202e\u200b\ufffe\uffff",
    "\udcff",
    "\ud800",
    "{0} {{x}} %s %25",
    "``` `` `",
    " ",
    "|",
)


@cache
def scan_of(name: str) -> Scan:
    """What `ckptctl scan` has to show of a corpus experiment."""
    pairs = api.audit(str(corpus(name)))
    return Scan(
        experiments=tuple(e for e, _ in pairs),
        findings=tuple(f for _, found in pairs for f in found),
        rules=api.rules(),
    )


def hostile_scan(text: str) -> Scan:
    """A scan with `text` in every place that can hold one."""
    dirname, name = TrialDir(f"{text}/1"), CheckpointName(text)
    ref = CheckpointRef(trial=dirname, name=name)
    best = Best(name=name, metric=text, mode="min", value=0.5)
    point = checkpoint(5, trial=dirname, name=name, metrics={text: 0.5, "not finite": math.nan})
    row = Row(line=0, has_name=True, name=text, training_iteration=1, metrics={text: 2.0})
    one = trial(
        0,
        dirname=dirname,
        trial_id=text,
        checkpoints=(point,),
        rows=(row,),
        latest=ref,
        best=best,
    )
    home = replace(
        experiment(one, trial(1)),
        location=text,
        name=text,
        state_file=text,
        recorded_root=text,
        ray_version=text,
        pending=text,
    )
    evidence = Evidence(witness=text, claim=text, file=text, pointer=text)
    remedy = Remedy(applicability=Applicability.MANUAL, command=text, note=text)
    found = [
        replace(
            finding(trial=t, checkpoint=c, message=text),
            experiment=text,
            evidence=(evidence, evidence),
            remedy=remedy,
        )
        for t, c in ((dirname, name), (dirname, None), (None, None), (f"{text}-other", None))
    ]
    return Scan(experiments=(home,), findings=tuple(found), rules=api.rules())


def hostile_plans(text: str) -> Plans:
    """A plan with `text` in every place that can hold one."""
    from ckptctl.model.experiment import RecordKind
    from ckptctl.model.plan import Edit, MoveTree, Outcome, Refusal, ReplaceFile

    move = MoveTree(source=text, target=text, files=())
    edits = tuple(
        Edit(op=op, pointer=text, before={text: [text]}, after=text)
        for op in ("set", "insert", "remove")
    )
    rewrite = ReplaceFile(file=text, kind=RecordKind.JSON, before="0", after="1", edits=edits)
    refusal = Refusal(code=text, message=text, details=(text,), help=(text,))
    plan = replace(
        rename_plan(),
        location=text,
        steps=(move, rewrite),
        renames=((text, text, text),),
        notes=(text,),
    )
    done = Outcome(applied=True, steps_done=1, verified=False)
    refused = replace(plan, refusals=(refusal,))
    return Plans(command="rename", planned=((plan, done), (refused, None)))
