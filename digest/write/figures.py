"""A claim in words: metric, bound, figure, baseline, in one language; nothing more than the claim holds."""

from __future__ import annotations

import re

from digest.figures import BOUNDS, UNITS, figure
from digest.model import Claim, Language, Metric
from digest.text import is_han, space_han
from digest.write.phrases import BASELINES, FINER, METRICS

_NAMELIKE = re.compile(r"^(?:[A-Z0-9][\w.+/-]*)(?: (?:[A-Z0-9][\w.+/-]*|baselines?|v?\d[\w.]*))*$")
_TELLABLE: tuple[Metric, ...] = ("training_speed", "training_time", "throughput", "iterations", "memory", "communication", "inference_speed")


def is_tellable(claim: Claim) -> bool:
    """Whether the patterns can say this claim without saying more; the others are left to their quote."""
    return claim.high > 1 and claim.metric in _TELLABLE and (claim.unit in ("x", "%", "%_of") or claim.unit in UNITS["zh"])


def metric_name(claim: Claim, language: Language) -> str:
    """The metric as the words right after the figure call it, else those before it; else the metric's own name."""
    for words in _beside_the_figure(claim):
        for metric, pattern, chinese, english in FINER:
            if claim.metric == metric and re.search(pattern, words, re.IGNORECASE):
                return chinese if language == "zh" else english
    return METRICS[language][claim.metric]


def _beside_the_figure(claim: Claim) -> tuple[str, ...]:
    """Some forty characters of the quote after the figure and before it; the whole quote where the figure is in words."""
    for value in (claim.high, claim.low):
        written = f"{value:.10g}"
        place = claim.quote.find(written)
        if place >= 0:
            end = place + len(written)
            return claim.quote[end : end + 45], claim.quote[max(0, place - 45) : place]
    return (claim.quote,)


def phrase(claim: Claim, language: Language) -> str:
    """For instance "training speed up to 2.37×" or "训练时间缩短 49.1%–71.2%", without baseline."""
    return _chinese(claim) if language == "zh" else _english(claim)


def _chinese(claim: Claim) -> str:
    name, bound, value = metric_name(claim, "zh"), BOUNDS["zh"][claim.bound], figure(claim, "zh")
    if claim.unit == "%_of":
        return f"{name}{bound}为对照的 {value}"
    if claim.unit == "x":
        if claim.metric in ("training_speed", "inference_speed"):
            return f"{name.replace('速度', '')}加速{bound} {value}"
        verb = "提升" if claim.metric == "throughput" or claim.direction == "more" else "减少"
        return f"{name}{bound}{verb} {value}"
    if claim.unit == "%":
        verb = {"faster": "提升", "more": "提升" if claim.metric == "throughput" else "增加", "less": "缩短" if "时间" in name else "降低"}[claim.direction]
        return f"{name}{bound}{verb} {value}"
    return f"{name}{'降至' if claim.baseline and claim.direction == 'less' else ''}{bound} {value}"


def _english(claim: Claim) -> str:
    name, bound, value = metric_name(claim, "en"), BOUNDS["en"][claim.bound], figure(claim, "en")
    if claim.unit == "%_of":
        return f"{name} at {bound}{value} of the baseline"
    if claim.unit == "x":
        if claim.metric in ("training_speed", "inference_speed"):
            return (
                f"{name.removesuffix(' speed')} {bound}{value} faster"
                if claim.bound != "average"
                else f"{name.removesuffix(' speed')} {value} faster on average"
            )
        word = "higher" if claim.metric == "throughput" or claim.direction == "more" else _less(name)
        return f"{bound}{value} {word} {name}"
    if claim.unit == "%":
        word = {"faster": "higher", "more": "higher", "less": _less(name)}[claim.direction]
        return f"{bound}{value} {word} {name}"
    return f"{name} {'down to ' if claim.baseline and claim.direction == 'less' else 'of '}{bound}{value}"


def _less(name: str) -> str:
    """ "Fewer" steps, "less" time, "lower" use."""
    return "fewer" if name.endswith("s") else "less" if name.split()[-1] in ("time", "cost", "compute", "communication") else "lower"


def baseline(claim: Claim, language: Language) -> str:
    """ " over X" or "（相比 X）"; empty when the source names none. A description in the other language is quoted."""
    if not claim.baseline:
        return ""
    if match := re.match(r"(?:约|about )?\s?\$?[\d.,]+\s?(?P<unit>\S*)$", claim.baseline):
        return _origin(claim.baseline, match["unit"], language)
    named = _in_language(claim.baseline, language)
    return f"（相比{named}）" if language == "zh" else f" against {named}"


def _origin(value: str, unit: str, language: Language) -> str:
    """The value that a figure came from, its unit in the reader's language."""
    for english, chinese in UNITS["zh"].items():
        if unit in (chinese, english, english.rstrip("s")):
            value = value.removesuffix(unit).strip() + " " + (chinese if language == "zh" else english)
    return f"（此前 {value}）" if language == "zh" else f" (from {value})"


def setting(claim: Claim, language: Language) -> str:
    """Where it was measured, when that is a name or in the reader's language; else empty."""
    if not claim.setting or len(claim.setting) > 60:
        return ""
    if language == "zh":
        return f"在 {claim.setting} 上" if _NAMELIKE.match(claim.setting) or is_han(claim.setting) else ""
    return "" if is_han(claim.setting) else f" on {claim.setting}"


def _in_language(words: str, language: Language) -> str:
    if language == "en":
        return words if not is_han(words) else f"“{words}”"
    if is_han(words):
        return words
    for pattern, chinese in BASELINES:
        if re.fullmatch(pattern, words, re.IGNORECASE):
            return chinese
    return f" {words}" if _NAMELIKE.match(words) else f"原文所说的 “{words}”"


def spaced(text: str) -> str:
    """Chinese text with its spaces around Latin, no doubled ones, none beside full-width marks."""
    text = re.sub(r" {2,}", " ", space_han(text))
    return re.sub(r" ?([，。；：、（）！？「」《》]) ?", r"\1", text).strip()
