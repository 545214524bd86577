from __future__ import annotations

from ckptctl.report.markup import Markup, el, joined


def test_text_is_escaped_wherever_it_stands() -> None:
    made = el("a", "<b>&\x1b", href='"><i>', class_="x", data_n=None)
    assert made == '<a href="&quot;&gt;&lt;i&gt;" class="x">&lt;b&gt;&amp;\\x1b</a>'


def test_markup_is_not_escaped_again() -> None:
    assert el("p", el("br"), Markup("&amp;")) == "<p><br/>&amp;</p>"
    assert joined(["<", el("i", "x")], ", ") == "&lt;, <i>x</i>"
