"""A claim's figure and bound as people write them, in both languages."""

from __future__ import annotations

from digest.model import Bound, Claim, Language

BOUNDS: dict[Language, dict[Bound, str]] = {
    "zh": {"up_to": "最高", "at_least": "至少", "about": "约", "average": "平均", "exact": ""},
    "en": {"up_to": "up to ", "at_least": "at least ", "about": "about ", "average": "on average ", "exact": ""},
}
UNITS: dict[Language, dict[str, str]] = {
    "zh": {"hours": "小时", "minutes": "分钟", "seconds": "秒", "days": "天", "weeks": "周", "GPU-hours": "GPU 时", "USD": "美元", "steps": "步"},
    "en": {"steps": "steps", "GPU-hours": "GPU hours"},
}


def number(value: float) -> str:
    """The figure as people write it: 2.37, 49.1, 6,326."""
    return f"{value:,.10g}" if value >= 10_000 or value != int(value) else f"{int(value):,}"


def figure(claim: Claim, language: Language) -> str:
    """The value or range with its unit, without bound."""
    sign = "%" if claim.unit in ("%", "%_of") else ""
    value = number(claim.low) + sign
    if claim.low != claim.high:
        value += f"–{number(claim.high)}{sign}"
    if claim.unit == "x":
        return f"{value} 倍" if language == "zh" else f"{value}×"
    if sign:
        return value
    unit = UNITS[language].get(claim.unit, claim.unit)
    if language == "en" and value == "1":
        unit = unit.rstrip("s")
    return f"{value} {unit}"
