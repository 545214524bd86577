from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from ckptctl.model.checkpoint import TrialDir
from ckptctl.model.experiment import Row
from ckptctl.report import html
from ckptctl.report.renderers import Scan
from tests.formats.scans import CORPUS, NASTY, hostile_scan, scan_of
from tests.unit.report.values import checkpoint, experiment, finding, trial

VOID = {"meta", "br"}


class Reader(HTMLParser):
    """Collects elements, texts and attributes, and checks that elements nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def page(scan: Scan) -> str:
    return html.scan(scan.experiments, scan.findings, scan.rules)


def read(text: str) -> Reader:
    text.encode()
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def check_alone(reader: Reader, text: str) -> None:
    """The page asks nobody for anything, and its links stay on it."""
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(reader.elements)
    names = {name for name, _ in reader.attributes}
    assert not [n for n in names if n.startswith("on") or n in ("src", "style", "xlink:href")]
    targets = [value or "" for name, value in reader.attributes if name == "href"]
    ids = {value for name, value in reader.attributes if name == "id"}
    assert all(t.startswith("#") and t[1:] in ids for t in targets)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


@pytest.mark.parametrize("name", CORPUS)
def test_the_page_needs_nothing_else(name: str) -> None:
    scan = scan_of(name)
    text = page(scan)
    reader = read(text)
    check_alone(reader, text)
    assert all(f.message in reader.text for f in scan.findings)
    assert all(e.claim in reader.text for f in scan.findings for e in f.evidence)
    commands = [f.remedy.command for f in scan.findings if f.remedy and f.remedy.command]
    assert all(command in reader.text for command in commands)
    for trial_ in (t for e in scan.experiments for t in e.trials):
        assert all(c.name in reader.text for c in trial_.checkpoints)


@pytest.mark.parametrize("text", NASTY)
def test_a_name_is_text_on_the_page(text: str) -> None:
    made = page(hostile_scan(text))
    reader = read(made)
    check_alone(reader, made)
    assert reader.elements == read(page(hostile_scan("x" * len(text)))).elements


def test_five_hundred_trials_stay_usable() -> None:
    trials, found = [], []
    for number in range(500):
        dirname = TrialDir(
            f"train_{number:05d}_lr=0.0001,batch_size=64,layers=3_2026-11-30_10-00-00"
        )
        rows = tuple(
            Row(
                line=i,
                has_name=True,
                name=f"checkpoint_{i:06d}",
                training_iteration=i + 1,
                metrics={"loss": 1 / (i + 1)},
            )
            for i in range(200)
        )
        points = tuple(checkpoint(i, trial=dirname) for i in range(185, 200))
        trials.append(
            trial(number, dirname=dirname, trial_id=f"{number:05d}", rows=rows, checkpoints=points)
        )
        found += [finding(trial=dirname)] if number % 5 == 0 else []
    made = html.scan([replace(experiment(), trials=tuple(trials))], found, scan_of(CORPUS[0]).rules)
    reader = read(made)
    check_alone(reader, made)
    assert len(made.encode()) < 5_000_000
    assert reader.elements.count("svg") >= 500
