"""A brief in Chinese: headline, summary of two to four sentences, one line for whom and what."""

from __future__ import annotations

import re
from collections.abc import Sequence

from digest.figures import UNITS
from digest.model import Claim
from digest.write import figures
from digest.write.brief import Brief
from digest.write.phrases import KEPT, KINDS

_HEADS = (
    (r"(?:系统|框架|平台|方案|软件栈|基础设施)$", "一套"),
    (r"(?:方法|策略|技术|算法|优化器|架构|机制|范式|并行|流程|损失函数)$", "一种"),
    (r"(?:库|工具包?|引擎|编译器|模型|基准|数据集|变体|模块|调度器|算子)$", "一个"),
    (r"(?:研究|分析|综述)$", "一项"),
)  # fmt: skip


def headline(brief: Brief) -> str:
    """The name of the work and its first figure, else what it is; empty when only the source's own title can say it."""
    subject = brief.subject or _short_title(brief)
    if brief.claims:
        return figures.spaced(f"{subject or brief.topic['zh']}：{figures.phrase(brief.claims[0], 'zh')}")
    if brief.what["zh"]:
        return figures.spaced(f"{brief.subject}：{brief.what['zh']}" if brief.subject else brief.what["zh"])
    return ""


def _short_title(brief: Brief) -> str:
    name = re.split(r"[:：]", brief.entry.title)[0].strip()
    return name if 0 < len(name) <= 64 else ""


def summary(brief: Brief, own: Sequence[str], untold: Sequence[int]) -> str:
    """What it is, what it claims, what that does not cost, whether there is code. ``own`` are the source's sentences in Chinese, and
    ``untold`` the places of the claims that they do not tell."""
    if own:
        return figures.spaced("".join([*own, *(part + "。" for part in results(brief, untold))]))
    parts = [_opening(brief), *results(brief, untold)]
    if not brief.claims and len(brief.means["zh"]) > 1:
        parts.append(brief.choose("涉及的技术有", "原文谈到") + "、".join(brief.means["zh"]))
    if len(parts) < 3 and (names := [*brief.models, *brief.hardware]):
        parts.append(f"文中提到 {'、'.join(names)}")
    if brief.code:
        parts.append("代码已公开" if brief.code == "open" else "作者称代码将公开")
    return figures.spaced("".join(part + "。" for part in parts if part))


def _measured(what: str) -> str:
    measure = next((word for pattern, word in _HEADS if re.search(pattern, what)), "")
    return f"{measure}{what}" if measure else ""


def _opening(brief: Brief) -> str:
    subject, what = brief.subject, brief.what["zh"]
    is_paper = brief.kind == "paper"
    if subject and (noun := _measured(what)):
        return brief.choose(
            f"{subject} 是{noun}",
            f"论文提出 {subject}，{noun}" if is_paper else f"{brief.entry.source_name} 介绍了 {subject}，{noun}",
            f"作者给出的 {subject} 是{noun}",
            f"{subject}，{noun}",
        )
    if subject and what:
        return brief.choose(f"{subject} 讲的是{what}", f"{subject} 的主题是{what}")
    if subject:
        aim = brief.topic["zh"]
        paper = f"这篇论文介绍 {subject}，方向是{aim}" if is_paper else f"{brief.entry.source_name} 介绍了 {subject}，方向是{aim}"
        return brief.choose(f"{subject} 的方向是{aim}", paper, f"{subject} 关注{aim}")
    if what:
        return brief.choose(f"论文讨论{what}" if is_paper else f"这篇文章讨论{what}", f"主题是{what}")
    kind = "篇论文" if is_paper else f"条{KINDS['zh'][brief.kind]}"
    return f"{brief.entry.source_name} 的这{kind}关注{brief.topic['zh']}"


def results(brief: Brief, places: Sequence[int]) -> list[str]:
    """The figures at those places: those with one baseline in one sentence."""
    told: list[str] = []
    groups: list[tuple[str, list[int]]] = []
    for place in places:
        against = brief.baselines["zh"][place]
        if groups and (groups[-1][0] == against or not against):
            groups[-1][1].append(place)
        else:
            groups.append((against, [place]))
    for number, (against, members) in enumerate(groups):
        phrases = [_placed(brief, place) for place in members]
        joined = "，".join([phrases[0], *(("同时" if place == 0 else "") + phrase for place, phrase in enumerate(phrases[1:]))])
        told.append(_compared(brief, joined, against, number))
    if told and brief.kept:
        noun, way = brief.kept
        told[-1] += "，" + KEPT["zh"][noun][way]
    return told


def _placed(brief: Brief, place: int) -> str:
    claim, where = brief.claims[place], brief.settings["zh"][place]
    phrase = figures.phrase(claim, "zh")
    if earlier := figures.origin(claim, "zh"):
        phrase += f"（此前 {earlier}）"
    shown = {brief.settings["zh"][earlier] for earlier in range(place)}
    return f"在{_spaced(where)}上，{phrase}" if where and where not in shown and not where.endswith(("上", "时")) else phrase


def _spaced(words: str) -> str:
    return (" " if re.match(r"[A-Za-z0-9]", words) else "") + words + (" " if re.search(r"[A-Za-z0-9]$", words) else "")


def _compared(brief: Brief, told: str, against: str, number: int) -> str:
    if against:
        other = _spaced(against)
        if number:
            return f"相比{other}，{told}"
        if against.startswith(("基线", "对比", "对照")):
            return f"与{other}相比，{told}"
        return brief.choose(f"与{other}相比，{told}", f"相比{other}，{told}", f"{told}，对比对象是{other}", f"以{other}为对比对象，{told}")
    if number:
        return told
    who = {"official": "官方给出的数字是", "aggregator": "据转述，"}.get(brief.trust, "") if brief.kind != "paper" else ""
    return (who or brief.choose("原文给出的结果是", "据作者实验，", "原文报告", "按原文的说法，")) + told


def blurb(brief: Brief) -> str:
    """For whom, what they gain, and the caveat that matters, in one sentence."""
    audience = brief.audience["zh"]
    if not brief.claims:
        tail = "，代码已公开" if brief.code == "open" else ""
        what = brief.what["zh"]
        if brief.subject and what:
            return figures.spaced(
                brief.choose(
                    f"{audience}可以了解这个思路：{what}{tail}",
                    f"给{audience}做参考：{brief.subject}，{what}{tail}",
                    f"关心{brief.topic['zh']}的话，可以看看 {brief.subject}{tail}",
                )
                + "。"
            )
        return figures.spaced(
            brief.choose(f"{audience}可以了解这个思路{tail}", f"适合{audience}参考{tail}", f"想跟进{brief.topic['zh']}的话可以一读{tail}") + "。"
        )
    claim = brief.claims[0]
    gain = figures.phrase(claim, "zh") + _against(brief)
    subject = _spaced(brief.subject).lstrip() if brief.subject else ""
    by = f"{subject}让" if subject and not re.search(r"^(?:内存|显存|优化器|激活|峰值)", gain) and claim.unit not in UNITS["zh"] else ""
    caveat = _caveat(brief, claim)
    return figures.spaced(
        brief.choose(
            f"{audience}可以看看：{by}{gain}{caveat}。",
            f"推荐给{audience}：{gain}{caveat}。",
            f"{by}{gain}，{audience}可以在自己的任务上试试{caveat}。",
            f"{audience}值得一读：{gain}{caveat}。",
            f"对{audience}来说，{by}{gain}{caveat}。",
            f"{gain}，适合{audience}参考{caveat}。",
            f"{audience}不妨细看：{gain}{caveat}。",
        )
    )


def _against(brief: Brief) -> str:
    if earlier := figures.origin(brief.claims[0], "zh"):
        return f"（此前 {earlier}）"
    against = brief.baselines["zh"][0]
    return f"（对比{_spaced(against)}）" if against else ""


def _caveat(brief: Brief, claim: Claim) -> str:
    """The first that holds: a best case, a place where it was measured, what is kept, code."""
    where = brief.settings["zh"][0]
    if claim.bound == "up_to":
        return brief.choose("；这是上限，不是平均值", "，注意这是最高值")
    if where:
        return f"，条件是{_spaced(where)}"
    if brief.kept:
        noun, way = brief.kept
        return "，" + KEPT["zh"][noun][way]
    return {"open": "，代码已公开", "promised": "，代码还未公开", "": ""}[brief.code]
