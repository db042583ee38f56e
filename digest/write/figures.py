"""A claim in words: metric, bound, figure, baseline, in one language; nothing more than the claim holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from digest.figures import BOUNDS, UNITS, figure, number
from digest.judge.facts import read
from digest.judge.numerals import numerals
from digest.model import Claim, Language, Metric
from digest.read.folding import signs
from digest.text import is_han, space_han
from digest.write.glossary import Glossary
from digest.write.phrases import FINER, METRICS

_NAMELIKE = re.compile(r"^(?:[A-Z0-9][\w.+/-]*)(?: (?:[A-Z0-9][\w.+/-]*|v?\d[\w.]*))*$")
_TELLABLE: tuple[Metric, ...] = ("training_speed", "training_time", "throughput", "iterations", "memory", "communication", "inference_speed")
_SETTING_LIMIT = 60
_NEEDS_AN_ARTICLE = re.compile(r"^(?:best|fastest|strongest|original|previous|standard)\b|\bbaseline$", re.IGNORECASE)
_NO_SETTING = re.compile(
    r"\d\s?(?:times|x\b|×|%|倍)|^(?:models?|tasks?|benchmarks?|datasets?|experiments?|average|模型|任务|实验|基准实验|基准|数据集|平均)$", re.IGNORECASE
)


def is_tellable(claim: Claim) -> bool:
    """Whether the patterns can say this claim without saying more; the others are left to their quote."""
    return claim.high > 1 and claim.metric in _TELLABLE and (claim.unit in ("x", "%", "%_of") or claim.unit in UNITS["zh"])


def metric_name(claim: Claim, language: Language) -> str:
    """The metric as the words right after the figure call it, else those before it; else the metric's own name. A name that means
    another metric (cost for time) is used only where the judge reads the figure so."""
    measured = _measured(claim)
    for words in _beside_the_figure(claim):
        for metric, meaning, pattern, chinese, english in FINER:
            if claim.metric == metric and (not meaning or meaning in measured) and re.search(pattern, words, re.IGNORECASE):
                return chinese if language == "zh" else english
    return METRICS[language][claim.metric]


def _measured(claim: Claim) -> frozenset[str]:
    """What the judge takes the figure for."""
    facts = [fact for fact in read(claim.quote).facts if (fact.numeral.low, fact.numeral.high) == (claim.low, claim.high)]
    return facts[0].metrics if facts else frozenset({"cost"} if claim.unit == "USD" else ())


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
    """For instance "training up to 2.37× faster" or "训练时间缩短 49.1%–71.2%", without baseline."""
    return _chinese(claim) if language == "zh" else _english(claim)


def _chinese(claim: Claim) -> str:
    name, bound, value = metric_name(claim, "zh"), BOUNDS["zh"][claim.bound], figure(claim, "zh")
    if claim.bound == "up_to" and claim.direction == "less":
        bound = "最多"
    if claim.unit == "%_of":
        return f"{name}{bound}为对比对象的 {value}"
    if claim.unit == "x" and claim.metric in ("training_speed", "inference_speed"):
        return f"{name.replace('速度', '')}{bound}快 {value}"
    if claim.unit == "x":
        return f"{name}{bound}{'提升' if claim.metric == 'throughput' or claim.direction == 'more' else '减少'} {value}"
    if claim.unit == "%":
        if claim.metric in ("training_speed", "inference_speed"):
            return f"{name.replace('速度', '')}{bound}提速 {value}"
        less = "缩短" if "时间" in name else "减少" if claim.metric == "iterations" else "降低"
        return f"{name}{bound}{less if claim.direction == 'less' else '提升' if claim.metric == 'throughput' else '增加'} {value}"
    return f"{name}{'降至' if claim.baseline and claim.direction == 'less' else ''}{bound} {value}"


def _english(claim: Claim) -> str:
    name, bound, value = metric_name(claim, "en"), BOUNDS["en"][claim.bound], figure(claim, "en")
    if claim.unit == "%_of":
        return f"{name} at {bound}{value} of the baseline"
    if claim.unit == "x" and claim.metric in ("training_speed", "inference_speed"):
        process = name.removesuffix(" speed")
        return f"{process} {value} faster on average" if claim.bound == "average" else f"{process} {bound}{value} faster"
    if claim.unit in ("x", "%"):
        word = "higher" if claim.direction in ("faster", "more") or claim.metric == "throughput" else _less(name)
        return f"{value} {word} {name} on average" if claim.bound == "average" else f"{bound}{value} {word} {name}"
    return f"{name} {'down to ' if claim.baseline and claim.direction == 'less' else 'of '}{bound}{value}"


def clause(claim: Claim) -> str:
    """The claim as an English clause: "training is up to 2.37× faster", "training time falls by 49.1%–71.2%"."""
    name, value = metric_name(claim, "en"), figure(claim, "en")
    bound, tail = ("", " on average") if claim.bound == "average" else (BOUNDS["en"][claim.bound], "")
    verb = "fall" if name.endswith("s") and not name.endswith("ss") else "falls"
    if claim.unit == "%_of":
        return f"{name} {'are' if verb == 'fall' else 'is'} {bound}{value} of the baseline{tail}"
    if claim.metric in ("training_speed", "inference_speed") and claim.unit in ("x", "%"):
        return f"{name.removesuffix(' speed')} is {bound}{value} faster{tail}"
    if claim.unit in ("x", "%"):
        if claim.metric == "throughput" or claim.direction == "more":
            return f"{name} {'rise' if verb == 'fall' else 'rises'} by {bound}{value}{tail}" if claim.unit == "%" else f"{name} is {bound}{value} higher{tail}"
        return f"{name} {verb} by {bound}{value}{tail}"
    return f"{name} {verb} to {bound}{value}{tail}" if claim.baseline and claim.direction == "less" else f"{name} is {bound}{value}{tail}"


def _less(name: str) -> str:
    """ "Fewer" steps, "less" time, "lower" use."""
    return "fewer" if name.endswith("s") else "less" if name.split()[-1] in ("time", "cost", "compute", "communication") else "lower"


def baseline(claim: Claim, language: Language, glossary: Glossary) -> str:
    """What the claim is compared with, in the language, such as "Megatron-LM" or "现有最优系统"; a description that cannot be carried
    is quoted. Empty when the source names none, or when it is the value that the figure came from (``origin`` has it)."""
    if not claim.baseline or origin(claim, language):
        return ""
    words = claim.baseline
    if language == "en":
        if not is_han(words):
            return f"the {words}" if _NEEDS_AN_ARTICLE.search(words) else words
        return glossary.to_english(words) or f"“{words}”"
    if is_han(words):
        return words
    return glossary.to_chinese(words) or (words if _NAMELIKE.match(words) else f"“{words}”")


@dataclass(frozen=True, slots=True)
class Against:
    """What a claim is compared with, or came from, in a language, as it is printed beside a figure; empty when the source names none."""

    glossary: Glossary

    def __call__(self, claim: Claim, language: Language) -> str:
        return origin(claim, language) or baseline(claim, language, self.glossary)


def origin(claim: Claim, language: Language) -> str:
    """The value that a figure came from, its unit in the reader's language; empty when there is none."""
    match = re.match(r"(?:约|about )?\s?\$?[\d.,]+\s?(?P<unit>\S*)$", claim.baseline or "")
    if not match or not claim.baseline:
        return ""
    value = claim.baseline
    if (found := numerals(signs(value))) and re.search(r"[万亿]", value):
        return f"{number(found[0].low)} {UNITS[language].get(claim.unit, claim.unit)}"
    for english, chinese in UNITS["zh"].items():
        if match["unit"] in (chinese, english, english.rstrip("s")):
            value = value.removesuffix(match["unit"]).strip() + " " + (chinese if language == "zh" else english)
    return value


def setting(claim: Claim, language: Language, glossary: Glossary) -> str:
    """Where it was measured, when that is a name or can be said in the language; else empty."""
    words = claim.setting
    if not words or len(words) > _SETTING_LIMIT or _NO_SETTING.search(words):
        return ""
    if cards := re.fullmatch(r"(?P<count>\d[\d,]*)\s?[xX×]?\s?(?:NVIDIA )?(?P<card>[A-Z]+\d+\w*)(?: GPUs?| 显卡)?", words):
        return f"{cards['count']} 张 {cards['card']}" if language == "zh" else f"{cards['count']} {cards['card']} GPUs"
    if language == "en":
        return "" if is_han(words) else words
    if is_han(words) or _NAMELIKE.match(words):
        return words
    return glossary.to_chinese(words) or ""


def listed(names: Sequence[str]) -> str:
    """Names in an English sentence: "A, B and C"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def spaced(text: str) -> str:
    """Chinese text with its spaces around Latin, no doubled ones, none beside full-width marks."""
    text = re.sub(r" {2,}", " ", space_han(text))
    return re.sub(r" ?([，。；：、（）！？「」《》“”]) ?", r"\1", text).strip()
