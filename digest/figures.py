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


def is_cost(claim: Claim) -> bool:
    """Whether the figure is what the work costs (time, memory or traffic that grows) and not what it gains."""
    return claim.direction == "more" and claim.metric in ("training_time", "memory", "communication", "iterations")


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


def change(claim: Claim, language: Language) -> str:
    """The figure with its bound beside it and the way it moves: "up to 43% less", "最高减少 43%", "约 2 倍"."""
    value, bound = figure(claim, language), BOUNDS[language][claim.bound]
    if language == "zh" and claim.bound == "up_to" and claim.direction == "less":
        bound = "最多"
    if claim.unit == "%_of":
        return f"{bound}为对比对象的 {value}" if language == "zh" else f"{bound}{value} of the baseline"
    moves = claim.metric not in ("quality", "other") and (claim.unit == "%" or (claim.unit == "x" and claim.direction == "less"))
    if language == "zh":
        verb = {"less": "减少", "more": "增加", "faster": "提升"}[claim.direction] if moves else ""
        return f"{bound}{verb} {value}".strip()
    way = "fewer" if claim.metric == "iterations" and claim.direction == "less" else claim.direction
    return f"{bound}{value} {way}" if moves else f"{bound}{value}"
