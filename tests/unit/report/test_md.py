from __future__ import annotations

from ckptctl.report import md


def test_prose_has_no_markup() -> None:
    assert md.text("_a_ b_c *d* [e](f) <g>") == r"\_a\_ b_c \*d\* \[e\](f) \<g\>"


def test_prose_links_and_mentions_nothing() -> None:
    assert md.text("@me") == "@<!-- -->me"
    assert md.text("#12") == "\\#<!-- -->12"
    assert md.text("https://x") == "https:<!-- -->//x"


def test_code_holds_any_number_of_backticks() -> None:
    assert md.code("checkpoint_000001") == "`checkpoint_000001`"
    assert md.code("a`b") == "``a`b``"
    assert md.code("`") == "`` ` ``"
    assert md.code("") == "–"


def test_a_pipe_in_code_does_not_end_a_cell() -> None:
    assert md.code("a|b") == "<code>a&#124;b</code>"
    assert md.table(["x"], [[md.code("a|b")]])[2].count("|") == 2
