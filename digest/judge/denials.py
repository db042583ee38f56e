"""What a source says is not needed, not there or not changed, and a sentence says is; in whichever of the two languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from digest.judge import lexicon
from digest.judge.complaints import Complaint
from digest.judge.facts import Reading
from digest.phrase import Phrase

# What works deny or demand, by its words in both languages.
CONCEPTS: tuple[tuple[str, str], ...] = (
    ("hyper-parameters", r"hyper-?parameters?(?: tuning| search)?|超参数?"),
    ("changes of code", r"refactor\w*|(?:model |training |source )?(?:code|model) (?:changes?|modifications?|refactoring)|chang\w+ (?:of |to )?(?:the )?(?:\w+ )?code|重构|[改动写][^,，。]{0,6}代码|代码[^,，。]{0,4}[改动]"),
    ("calibration", r"calibration(?: data| set| samples?)?|校准(?:数据|集|样本)?"),
    ("labels", r"labell?ed (?:data|examples|samples)|human (?:labels|annotations?)|人工标注|标注数据"),
    ("training data", r"(?:original )?training data|原始训练数据"),
    ("synthetic data", r"synthetic (?:data|samples)|合成数据"),
    ("rollbacks", r"roll-?backs?|回滚|回退"),
    ("overhead", r"(?:computational |communication |memory )?overheads?|(?:计算|通信|显存)?(?:额外)?开销"),
    ("retraining", r"re-?training|重新训练|重训"),
    ("extra parameters", r"(?:extra|additional|trainable) parameters|(?:额外|可训练)的?参数"),
    ("special hardware", r"speciali[sz]ed hardware|special hardware|专用硬件"),
    ("architecture changes", r"architectur\w+ (?:changes?|modifications?)|(?:改动|修改)(?:模型)?(?:结构|架构)"),
)  # fmt: skip
_DENIED = r"(?:\bno\b|\bwithout\b|\bnot\b|n't\b|\bzero\b|\bneglig\w+|\bnever\b|\bneither\b|\bnor\b|\beliminat\w+|\bavoid\w*|无需|无须|不需要?|不用|不必|没有|免|零|未|不改|不做)\W{0,3}(?:[\w-]+\W{1,2}){0,10}?[^,;.，；。]{0,8}"
_FREE = r"[- ]free\b"
_SAME = re.compile(
    r"\b(?:same|constant|unchanged|identical|no (?:extra|additional|more|increase)|does not (?:increase|grow|change)|without (?:increasing|extra|additional))\b|不变|相同|不增加|不随|没有增加|持平"
)
_CHANGES = re.compile(
    r"\b(?:more|higher|larger|ris(?:es|ing)|grow\w*|increas\w+|costs? more|sizeable|substantial)\b|更[多高大]|上升|增加|[上跟]?着?涨|升高|变大|变多"
)
_CLAUSE = re.compile(r"[^,;:.，；：。()（）]+")
_NEGATOR = re.compile(
    r"\b(?:no|not|without|never|nor|neither|zero|none|negligible|little|less|lower|fewer|reduc\w+|cut\w*|sav\w+)\b|n't\b|[a-z]-free\b|不|没|未|无|免|零|少|减|降|省|低"
)


def denials(told: Reading, held: Reading) -> Iterator[Complaint]:
    """The complaints about what a sentence demands, denies or lets grow against its source."""
    for concept, words in CONCEPTS:
        spoken = list(re.finditer(words, told.folded))
        known = list(re.finditer(words, held.folded))
        if not spoken or not known:
            continue
        is_denied = [_is_denied(words, held.folded, match) for match in known]
        is_told_denied = [_is_denied(words, told.folded, match) for match in spoken]
        word = told.text[spoken[0].start() : spoken[0].end()]
        if all(is_denied) and not any(is_told_denied):
            yield Complaint("negation", word, Phrase("the source does without this: %(what)s", what=(concept,)))
        elif all(is_told_denied) and not any(is_denied):
            yield Complaint("negation", word, Phrase("the source does not rule this out: %(what)s", what=(concept,)))
    yield from _grown(told, held)


def _is_denied(words: str, folded: str, match: re.Match[str]) -> bool:
    if re.search(r"不|无|没|免", match[0]):  # 代码不用改
        return True
    before = folded[max(0, match.start() - 90) : match.start()]
    if re.match(_FREE, folded[match.end() :]) or re.match(
        r"[^,;.，；。]{0,12}\bis (?:negligible|not (?:needed|required))|[^,，。]{0,6}(?:可忽略|为零|不变)", folded[match.end() :]
    ):
        return True
    return re.search(rf"{_DENIED}$", re.split(r"[.;。；]", before)[-1]) is not None


def _grown(told: Reading, held: Reading) -> Iterator[Complaint]:
    """A metric that rises in the sentence, without a figure, and stays the same in every clause of the source."""
    for clause in _CLAUSE.finditer(told.folded):
        start, end = clause.span()
        if not _CHANGES.search(clause[0]) or _NEGATOR.search(clause[0]) or any(start <= fact.numeral.start < end for fact in told.facts):
            continue
        for metric in {name for name, _, _ in lexicon.metrics(told.folded, start, end)} - {"quality", "size", "speed", "samples"}:
            kept = [part for part in _CLAUSE.finditer(held.folded) if metric in {name for name, _, _ in lexicon.metrics(held.folded, *part.span())}]
            if kept and all(_SAME.search(part[0]) for part in kept):
                yield Complaint("negation", told.text[start:end].strip(), Phrase("in the source the %(what)s stays the same", what=(metric,)))
                return
