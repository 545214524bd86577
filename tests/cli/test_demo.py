from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_the_demo_walks_from_damage_to_clean(process: Call, tmp_path: Path) -> None:
    answer = process("demo", tmp_path / "play")
    assert answer.code == 0
    assert answer.err == ""
    commands = [row[2:] for row in answer.out.splitlines() if row.startswith("$ ")]
    assert [c.split()[1] for c in commands[1:]] == ["scan", "reindex", "rename", "undo", "scan"]
    assert "error CKP101" in answer.out
    last = answer.out[answer.out.rindex("$ ckptctl scan") :]
    assert last.splitlines()[1].endswith("clean")
    assert (tmp_path / "play" / "tune_lr").is_dir()


def test_the_demo_overwrites_nothing(process: Call, tmp_path: Path) -> None:
    (tmp_path / "tune_lr").mkdir()
    answer = process("demo", tmp_path)
    assert answer.code == 10
    assert "is there already" in answer.err


def test_the_template_names_no_machine() -> None:
    import ckptctl.cli

    template = Path(ckptctl.cli.__path__[0]).parent / "demo"
    texts = [p.read_bytes() for p in template.rglob("*") if p.is_file()]
    assert texts
    for place in (b"/home/", b"/root/", b"/tmp/", b"/work/"):
        assert not any(place in text or place.hex().encode() in text for text in texts)
