"""Markdown as GitHub renders it: for step summaries, issues and comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.model.plan import Outcome, Plan
from ckptctl.report import findings as blocks
from ckptctl.report import inventory, places, words
from ckptctl.report import plans as plan_text
from ckptctl.report.cells import Table
from ckptctl.report.closing import closing
from ckptctl.report.escape import shown
from ckptctl.report.lines import Page

_PAGE = Page()
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&])")
_MENTION = re.compile(r"@(?=\w)|(?<=:)//|(?<=\bwww)\.|#(?=\d)", re.IGNORECASE)
_FENCE = re.compile(r"`+")
