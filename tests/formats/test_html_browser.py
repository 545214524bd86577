"""The page in a real browser: it fits every width, obeys light and dark, and nothing fails."""

from __future__ import annotations

import html as escaping
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ckptctl.model.checkpoint import TrialDir
from ckptctl.report import html
from tests.formats.scans import CORPUS, scan_of
from tests.unit.report.values import checkpoint, experiment, finding, trial

WIDTHS = (360, 700, 900, 1300)
DEMO = Path(__file__).parents[2] / "ckptctl" / "demo" / "tune_lr"

# One frame for each width: what is asked of the width is answered by the frame.
MEASURE = """
<!doctype html><meta charset="utf-8"><body>{frames}<pre id="measured"></pre><script>
const failed = [];
window.addEventListener("load", () => {{
  const measured = [...document.querySelectorAll("iframe")].map((frame) => {{
    const page = frame.contentDocument, root = page.documentElement, body = page.body;
    const style = frame.contentWindow.getComputedStyle(body);
    const inside = (e) => e.scrollWidth <= e.clientWidth + 1;
    return {{
      width: frame.clientWidth, wide: root.scrollWidth, tall: root.scrollHeight,
      background: style.backgroundColor, color: style.color,
      tables: [...page.querySelectorAll(".scroll")].map(inside),
      charts: [...page.querySelectorAll("svg")].map((e) => e.getBoundingClientRect().width),
      texts: page.querySelectorAll("tbody tr").length,
    }};
  }});
  document.getElementById("measured").textContent = JSON.stringify(measured);
}});
</script>
"""


def browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    return pytest.skip("no Chromium here")


def measured(page: str, widths: Sequence[int], folder: Path, *, dark: bool) -> list[Any]:
    (folder / "page.html").write_text(page, encoding="utf-8")
    frames = "".join(
        f'<iframe width="{width}" height="800" src="page.html"></iframe>' for width in widths
    )
    file = folder / "measure.html"
    file.write_text(MEASURE.format(frames=frames), encoding="utf-8")
    # 0 is dark and 1 is light: blink/public/mojom, PreferredColorScheme.
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    flags = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        "--allow-file-access-from-files",
        f"--user-data-dir={folder / 'profile'}",
        "--window-size=1500,900",
        scheme,
    ]
    done = subprocess.run(
        [browser(), *flags, "--virtual-time-budget=20000", "--dump-dom", file.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert "CONSOLE" not in done.stderr, "the page says something to the console"
    found = re.search(r'<pre id="measured">(.+?)</pre>', done.stdout, re.DOTALL)
    assert found
    answer: list[Any] = json.loads(escaping.unescape(found[1]))
    return answer


def light_of(color: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_fits_each_width_and_can_be_read(tmp_path: Path, dark: bool) -> None:
    scan = scan_of(DEMO)
    page = html.scan(scan.experiments, scan.findings, scan.rules)
    for view in measured(page, WIDTHS, tmp_path, dark=dark):
        assert view["wide"] <= view["width"], "the page scrolls sideways"
        assert view["tables"] and all(view["tables"]), f"a table is cut at {view['width']}"
        charts = [width for width in view["charts"] if width > 20]  # the others are signs
        assert len(charts) == 2 and all(200 < width <= view["width"] for width in charts)
        ground, text = light_of(view["background"]), light_of(view["color"])
        assert (ground < 0.1) == dark
        ratio = (max(ground, text) + 0.05) / (min(ground, text) + 0.05)
        assert ratio >= 7  # WCAG 2, level AAA


def test_five_hundred_trials_are_shown(tmp_path: Path) -> None:
    trials, found = [], []
    for number in range(500):
        dirname = TrialDir(f"train_{number:05d}_lr=0.0001,batch_size=64_2026-11-30_10-00-00")
        points = tuple(checkpoint(i, trial=dirname) for i in range(185, 200))
        trials.append(trial(number, dirname=dirname, trial_id=f"{number:05d}", checkpoints=points))
        found += [finding(trial=dirname)] if number % 5 == 0 else []
    whole = [replace(experiment(), trials=tuple(trials))]
    page = html.scan(whole, found, scan_of(CORPUS[0]).rules)
    (view,) = measured(page, [1300], tmp_path, dark=False)
    assert view["wide"] <= view["width"]
    assert view["texts"] >= 500
