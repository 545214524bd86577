"""What tells one finding from another, wherever its experiment lies: for services and baselines."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding


def names_of(finding: Finding) -> tuple[str, ...]:
    """List the checkpoints that a finding is about."""
    return finding.checkpoints or ((finding.checkpoint,) if finding.checkpoint else ())


def fingerprints(findings: Sequence[Finding], experiments: Sequence[Experiment]) -> tuple[str, ...]:
    """Identify findings wherever the experiment lies; equal ones are numbered."""
    homes = {e.location: e for e in experiments}
    seen: Counter[str] = Counter()
    prints = []
    for finding in findings:
        key = json.dumps(_identity(finding, homes.get(finding.experiment)))
        seen[key] += 1
        prints.append(
            hashlib.sha256(f"{key}#{seen[key]}".encode(errors="surrogatepass")).hexdigest()[:32]
        )
    return tuple(prints)


def _identity(finding: Finding, home: Experiment | None) -> list[object]:
    """What stays the same when the experiment is moved and when its run goes on."""
    root = (home.recorded_root or home.name) if home else ""
    # A restore begins a new state file, so files name a finding only where no trial does.
    files = [] if finding.trial else [e.file for e in finding.evidence]
    name = root.rstrip("/").rpartition("/")[2]
    return [finding.code, name, finding.trial, list(names_of(finding)), files]
