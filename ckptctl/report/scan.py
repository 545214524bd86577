"""A scan as text: each experiment with its findings, and one sentence on all of it."""

from __future__ import annotations

from collections.abc import Sequence

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding
from ckptctl.report import findings as blocks
from ckptctl.report import inventory, overview
from ckptctl.report.closing import closing
from ckptctl.report.lines import BLANK, Line, Page, wrap


def render(
    experiments: Sequence[Experiment], findings: Sequence[Finding], page: Page
) -> list[Line]:
    """Lay out a whole scan."""
    lines: list[Line] = []
    for experiment in experiments:
        own = blocks.of(experiment, findings)
        title = experiment.name if len(experiments) == 1 else experiment.location
        lines += [BLANK] if lines else []
        lines += inventory.render(experiment, own, page, title)
        lines += blocks.render(own, overview.labels(experiment), page)
    sentence = closing(experiments, findings)
    return [*lines, BLANK, *wrap(sentence, page, indent=0)] if sentence else lines
