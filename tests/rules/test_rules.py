from __future__ import annotations

import inspect
import re
from importlib import import_module

import pytest

from ckptctl.errors import InternalError, UsageError
from ckptctl.model.finding import Severity
from ckptctl.rules import ALL, by_code, expand, selected
from ckptctl.rules.base import HEADINGS, Rule, parse_explanation
from ckptctl.rules.remedies import command
from ckptctl.rules.wording import count, in_words, listing
from tests.rules.builders import experiment

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
CONTRACT = {
    "CKP001": ("unparsed-name", INFO),
    "CKP002": ("duplicate-index", WARNING),
    "CKP003": ("text-order-differs", WARNING),
    "CKP004": ("unexplained-gap", INFO),
    "CKP005": ("temporary-left-behind", WARNING),
    "CKP006": ("unsafe-name", INFO),
    "CKP101": ("index-behind-storage", ERROR),
    "CKP102": ("index-ahead-of-storage", INFO),
    "CKP103": ("latest-missing", ERROR),
    "CKP104": ("recorded-missing", ERROR),
    "CKP105": ("unrecorded-checkpoint", WARNING),
    "CKP106": ("result-row-disagrees", ERROR),
    "CKP107": ("result-rows-unnamed", WARNING),
    "CKP108": ("name-reused", ERROR),
    "CKP109": ("duplicate-record", ERROR),
    "CKP110": ("foreign-latest", INFO),
    "CKP111": ("stale-state", ERROR),
    "CKP112": ("stale-result-log", WARNING),
    "CKP113": ("iteration-disagrees", ERROR),
    "CKP114": ("best-disagrees", WARNING),
    "CKP115": ("latest-not-recorded", ERROR),
    "CKP116": ("foreign-root", INFO),
    "CKP117": ("retention-overrun", WARNING),
    "CKP201": ("unreadable-record", ERROR),
    "CKP202": ("truncated-log", WARNING),
    "CKP203": ("superseded-state", INFO),
    "CKP204": ("empty-state-file", ERROR),
    "CKP205": ("foreign-trial", INFO),
    "CKP206": ("missing-state", ERROR),
    "CKP207": ("needs-another-ray", ERROR),
    "CKP301": ("empty-checkpoint", ERROR),
    "CKP302": ("partial-checkpoint", ERROR),
    "CKP303": ("mixed-generations", ERROR),
    "CKP401": ("retention-conflict", WARNING),
    "CKP402": ("setting-not-applicable", WARNING),
    "CKP403": ("metric-missing-at-save", WARNING),
    "CKP404": ("mode-suspect", INFO),
    "CKP901": ("pending-journal", ERROR),
    "CKP902": ("foreign-lock", WARNING),
}


def test_codes_names_and_severities_are_the_contracts() -> None:
    assert {r.code: (r.name, r.severity) for r in ALL} == CONTRACT
    assert [r.code for r in ALL] == sorted(CONTRACT)


@pytest.mark.parametrize("rule", ALL, ids=lambda r: r.code)
def test_a_rule_is_one_file_called_by_its_slug_with_a_page_of_its_own(rule: Rule) -> None:
    module = import_module(type(rule).__module__)
    assert module.__name__ == f"ckptctl.rules.{rule.name.replace('-', '_')}"
    assert (module.__doc__ or "").startswith(f"{rule.code}: ")
    page = rule.explanation
    assert tuple(heading for heading, _ in page.sections) == HEADINGS
    assert all(text for _, text in page.sections)
    assert "\n" not in page.summary
    assert len(page.summary) <= 72
    assert rule.since == "0.1"


@pytest.mark.parametrize("rule", ALL, ids=lambda r: r.code)
def test_pages_only_name_codes_that_exist(rule: Rule) -> None:
    assert set(re.findall(r"CKP\d{3}", inspect.getdoc(rule) or "")) <= set(CONTRACT)


def test_a_page_without_its_headings_is_a_bug() -> None:
    with pytest.raises(InternalError):
        parse_explanation("Something.\n\n## Example\nx")


def test_rules_are_found_by_code_and_slug() -> None:
    assert by_code("ckp101") is by_code("index-behind-storage") is by_code(" CKP101 ")


def test_codes_prefixes_and_slugs_are_expanded() -> None:
    assert expand(["CKP20", "latest-missing"]) == {*(f"CKP20{i}" for i in range(1, 8)), "CKP103"}
    assert expand(["ckp"]) == set(CONTRACT)
    assert expand([]) == frozenset()


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("CKP3011", "did you mean CKP301?"),
        ("index-behind", "did you mean index-behind-storage?"),
        ("Latest-Mising", "did you mean latest-missing?"),
        ("", "ckptctl rules lists what there is"),
        ("CK", "ckptctl rules lists what there is"),
        ("zzzz", "ckptctl rules lists what there is"),
    ],
)
def test_an_unknown_word_is_a_usage_error_with_the_nearest(word: str, near: str) -> None:
    for ask in (by_code, lambda w: expand([w])):
        with pytest.raises(UsageError) as error:
            ask(word)
        assert error.value.message == f"unknown rule: {word}"
        assert error.value.hint == near


def test_what_is_ignored_is_not_selected() -> None:
    assert selected() == ALL
    assert [r.code for r in selected(["CKP10"], ["CKP101", "duplicate-record"])] == [
        f"CKP10{i}" for i in range(2, 9)
    ]


@pytest.mark.parametrize(
    ("location", "pasted"),
    [
        ("s3://runs/ppo_sweep", "ckptctl reindex s3://runs/ppo_sweep"),
        ("my runs/it's", "ckptctl reindex 'my runs/it'\"'\"'s'"),
        ("a\nb; rm -r x", "ckptctl reindex 'a\nb; rm -r x'"),
        ("-n", "ckptctl reindex ./-n"),
    ],
)
def test_commands_can_be_pasted(location: str, pasted: str) -> None:
    from msgspec.structs import replace

    assert command("reindex", replace(experiment(), location=location)) == pasted


def test_wording() -> None:
    assert [count(n, "row") for n in (0, 1, 2, 1024)] == ["0 rows", "1 row", "2 rows", "1,024 rows"]
    assert count(2, "copy", "copies") == "2 copies"
    assert [in_words(n) for n in (1, 10, 11, 1500)] == ["one", "ten", "11", "1,500"]
    assert listing([]) == ""
    assert listing("a") == "a"
    assert listing("abcde") == "a, b, c, d and e"
    assert listing("abcdef") == "a, b, c, d and 2 more"
