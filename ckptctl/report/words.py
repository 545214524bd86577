"""Numbers, plurals, times and labels as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

from ckptctl.model.wording import count

__all__ = ["LAYOUTS", "ago", "count", "joined", "layout", "moment", "size", "value"]

LAYOUTS = {
    "ray-legacy": "Ray up to 2.6",
    "ray-tune-2.7": "Ray Tune 2.7",
    "ray-tune": "Ray Tune 2.8+",
    "ray-train-v2": "Ray Train V2",
    "plain": "folders without records",
}


def size(number: int) -> str:
    """``270 B``, ``4.1 GB``: powers of 1000, as storage is sold and listed."""
    amount = float(number)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 999.95 or unit == "TB":
            break
        amount /= 1000
    return f"{number} B" if unit == "B" else f"{amount:.1f} {unit}"


def value(number: float) -> str:
    """Show a metric: four significant digits are enough to tell two checkpoints apart."""
    if isinstance(number, int):
        return str(number)
    text = f"{number:.4g}"
    return text if float(text) != 0 or number == 0 else repr(number)


def layout(name: str) -> str:
    """Say which convention an experiment follows."""
    return LAYOUTS.get(name, name)


def moment(seconds: float) -> str:
    """Give a time for programs and pipes: RFC 3339 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def ago(seconds: float, now: float) -> str:
    """Give a time for a person at a terminal."""
    passed = now - seconds
    if passed < 0:
        return moment(seconds)
    if passed < 60:
        return "just now"
    for unit, length, limit in (("min", 60, 60), ("h", 3600, 48), ("days", 86400, 60)):
        if passed < length * limit:
            number = int(passed // length)
            return f"{number} {'day' if unit == 'days' and number == 1 else unit} ago"
    return moment(seconds)[:10]


def joined(items: tuple[str, ...], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"
