"""What no figure tells: negations, superlatives, promises, "all", wins and losses that the source does not carry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from digest.judge.complaints import Complaint
from digest.judge.facts import Reading
from digest.judge.names import names
from digest.phrase import Phrase

# Strong words, each with what the source must hold to carry them.
_CARRIED: tuple[tuple[str, str, str], ...] = (
    ("superlative", r"\bbest\b|state[- ]of[- ]the[- ]art|\bsota\b|\bleading\b|unbeaten|unmatched|\bstrongest\b|cutting[- ]edge|最优|最好|最佳|最强|最先进|(?:全球|业界|行业|国际|遥遥)领先|无敌|顶尖|业界第一", r"\bbest\b|state[- ]of[- ]the[- ]art|\bsota\b|\bleading\b|\bstrongest\b|superior\w*|\btop\b|highest|cutting[- ]edge|optimal|最优|最好|最佳|最强|最先进|领先|顶尖|最高平均"),
    ("superlative", r"\bfastest\b|\bquickest\b|最快(?![提达可约\s]|\d)", r"\bfastest\b|\bquickest\b|最快|speed record|state[- ]of[- ]the[- ]art speed"),
    ("superlative", r"\bcheapest\b|\bsmallest\b|\blargest\b|\bbiggest\b|\bmost (?:efficient|accurate|powerful|advanced)|最省|最便宜|最小|最大(?![\d可提])(?:的|规模)|最高效", r"\bcheapest\b|\bsmallest\b|\blargest\b|\bbiggest\b|\bmost\b|最"),
    ("superlative", r"\bthe first\b|first[- ]ever|(?<!time to )\bfirst (?:to(?! token)|system|method|framework|time|work|model|successful)|首个|首次|第一个|首款|首创|史上|前所未有|unprecedented|breakthrough|revolution\w*|革命性|颠覆", r"\bfirst\b(?! (?:we|analy|introduce|present|find|bridge))|\bnovel\b.{0,40}\bfirst|首个|首次|第一个|首款|首创|史上|前所未有|unprecedented|breakthrough|突破|pioneering|revolution\w*"),
    ("superlative", r"(?:业界|全球|世界|国内|行业|国际)(?:首|第一)|industry'?s first|world'?s first", r"(?:业界|全球|世界|国内|行业|国际)(?:首|第一)|industry|world|\bthe first\b"),
    ("superlative", r"\bever (?:reported|seen|published|trained|built|measured)\b|\b(?:new|sets? an?|world) (?:\w+ )?record\b|刷新[^，。]{0,8}[纪记]录|创[下造]?[^，。]{0,6}[纪记]录", r"\bever\b|\brecord\b|[纪记]录"),
    ("superlative", r"\brank(?:s|ed)? first|\bnumber one\b|排名第一|位居第一|登顶|夺冠", r"\brank(?:s|ed)? (?:first|top)|\bnumber one\b|\b1st\b|排名第一|位居第一|登顶|夺冠|\btop\b"),
    ("superlative", r"\bguarantee\w*|\bdefinitely\b|\bcertainly\b|once and for all|\bundoubtedly\b|\balways\b|\bsurely\b|\bwill (?:always|never)\b|必定|一定(?!程度|的|数量|条件)|必然|保证|肯定|毫无疑问|彻底|百分之百|永远|稳赢", r"\bguarante\w*|\balways\b|\bnever\b|\bprov(?:e|es|ably|en)\b|theoretical\w* bound|必定|必然|保证|彻底|理论上"),
    ("scope", r"\bevery\b|\ball\b(?!-)|\bany\b(?! (?:loss|extra|additional|accuracy|quality|training|further|change|drop))|\bwhole\b|\bentire\b|across the board|\buniversal\w*|\bregardless\b|所有|全部|任何|任意|每[个一种项]|各[类种项个]|一律|整体|全面|全都|无一例外|通吃", r"\bevery\b|\beach\b|\ball\b(?!-)|\bany\b|\bwhole\b|\bentire\b|\bper\b|consistent\w*|\bregardless\b|everywhere|所有|全部|任何|任意|每|一律|整体|均|都"),
    ("negation", r"\bproduction-ready\b|\bdrop-in\b|\bzero[- ](?:code|cost|overhead)\b|零成本|零代码|开箱即用", r"\bproduction\b|\bdrop-in\b|\bzero\b|\bno (?:code|extra|additional|manual)|without (?:code|modif|chang)|essentially no|seamless\w*|plug|零|无需|不用|即用|无缝"),
)  # fmt: skip
_GENERAL = r"across|various|variety|wide range|universal\w*|\bvarious\b|overall|稳定|普遍|通用|各"
_PARTIAL = r"\bmost(?! of the (?:time|compute))\b|\bmajority\b|\b(?:one|two|three|four|five|six|seven|eight|nine|\d+) (?:out )?of (?:the )?\w+|\bsome of\b|for (?:a |one )?(?:standard|single)|多数|大部分|部分"
_NOT_THE_WORD = re.compile(
    r"\bat all\b|\bin all\b|all-?reduce|all-?to-?all|once and for all|\ball[- ]in\b|整体物理|state-of-the-art (?:baselines?|methods?|systems?|frameworks?|approach\w*)"
)
_NO_LOSS = r"\b(?:no|without|zero|not any|with no)\s(?:\S+\s){0,3}(?:loss|degrad\w+|drops?|sacrific\w+|decrease|penalty|compromis\w+)|without (?:sacrific|compromis|degrad|los|hurt|harm)\w+|nothing (?:is |was )?lost|los(?:es|ing) no (?:\w+ )?(?:accuracy|quality|performance)|(?<!near[- ])(?<!nearly )\blossless|\bexact (?:gradients?|results?)|(?:精度|质量|画质|性能|准确率|效果|困惑度|收敛)[^,，。；]{0,6}(?:不降|不掉|不变|无损|不丢|不受影响|没有[^,，。]{0,6}(?:变差|损失|下降|降低)|零损失|未降|没有变差)|零(?:精度)?损失|毫无损失|不(?:损失|牺牲|影响)[^,，。]{0,6}(?:精度|质量|性能|效果|画质)|(?<!近乎)(?<!近)(?<!几乎)无损(?!检)|未出现[^,，。]{0,6}损失|没有变差|没有明显差异"
_SOFT = r"negligible|minimal|minor|near[- ]lossless|nearly lossless|little|slight\w*|marginal\w*|\bapproximat\w+ (?:the )?(?:back|gradient|full|exact)|几乎(?:不|没有|无)|基本(?:不|没)|略有|略微|轻微|近乎无损|近无损|极小|可忽略"
_SLIGHT_LOSS = r"costs? (?:a little|some|a bit of) (?:performance|accuracy|quality)|(?:at the price of|with) slightly (?:different|lower|worse)|slightly (?:lower|worse) (?:accuracy|quality|performance)|(?:精度|质量|效果|性能|准确率|输出)[^,，。；]{0,10}(?:略低|略差|稍低|稍差|略有(?:下降|差异|不同)|略微下降|低一点)"
_NO_CHANGE = r"without slowing|\bno slower\b|不(?:会)?(?:变|减|拖)慢|(?:速度|耗时|用时|时长)(?:不变|不受影响)|(?:吞吐量?|速度)[^,，。；]{0,4}(?:没有|并?未|不)(?:下降|变慢|降低|受影响)|\b(?:no|without(?: any)?) (?:\w+ )?(?:loss|drop|decrease) (?:of|in) (?:\w+ )?(?:throughput|speed)"
_CHANGE_WITH_FIGURE = r"\d%? (?:slower|longer)|[慢长]了?\s?(?:约|近)?\s?\d|(?:吞吐量?|速度)[^,，。；]{0,4}(?:下降|降低)[^,，。；]{0,6}\d|(?:throughput|speed) (?:\w+ )?(?:drops?|falls?|decreases?) (?:\w+ ){0,3}\d"
_SAME = r"comparabl\w+|on par|\bmatch\w*|maintain\w*|preserv\w+|similar|\bsame\b|retain\w*|competitive\w*|recover\w*|\bequal\w*|\bequivalent|keep\w*|相当|持平|相同|一致|保持|接近|不变|追平|不输|同样|同等|达到"
_BETTER = r"improv\w+|enhanc\w+|\bbetter\b|outperform\w*|superior\w*|surpass\w*|exceed\w*|higher|\bgains?\b|boost\w*|beat\w*|提升|提高|优于|超过|更好|更高|改善|胜过|领先|超越"
_LOSS = r"at (?:the|a|some) (?:cost|expense|price) (?:of|in) (?:\w+ ){0,3}(?:accuracy|quality|performance|convergence)|(?:accuracy|quality|performance|convergence) (?:\w+ )?(?:drops?|falls?|suffers?|degrad\w+|declines?|worsens?)|los(?:es|ing) (?:some |a little )?(?:accuracy|quality|performance)|with (?:some|a|an?) (?:\w+ )?(?:loss|drop) (?:in|of) (?:accuracy|quality|performance)|代价是[^,，。]{0,10}(?:精度|质量|性能|效果|准确率)|以牺牲|牺牲了|(?:精度|质量|性能|效果|准确率|画质)[^,，。]{0,4}(?:下降|变差|降低|受损|损失)"
_WIN = r"\bbeat\w*|outperform\w*|surpass\w*|\bbetter than\b|superior to|exceed\w*(?! (?:the |a |its )?(?:budget|limit|length|capacity))|\bwins?\b|优于|超过(?!\s?[约近]?\s?[\d一二两三四五六七八九十百千万半]|[^,，。]{2,12}的?一半)|胜过|超越|好于|领先|明显低于|明显高于|打败|击败"
_WON = rf"{_WIN}|{_BETTER}|\bless\b|\bfewer\b|reduc\w+|faster|lower|降低|减少|低于|快"
_UNIVERSAL = r"\ball\b(?! of the)|\bevery\b|\bany\b|所有|全部|任何|各类|一切"
_NO_TRAINING = r"training[- ]free|without (?:any |extra |additional |further |directly |the need for )*(?:re-?|fine-?)?(?:training|tuning)|\bno (?:re-?|extra |additional |further |fine-?)*(?:training|tuning)(?! (?:time|cost|overhead|data|steps?|signal))|no (?:additional |extra )?(?:re)?training (?:is )?(?:needed|required)|(?:not|n't) (?:need|require) (?:any |extra |additional |further )*(?:re-?)?training|无需(?:再|重新|额外|任何)?(?:训练|微调)|不(?:用|需要|需|必)(?:再|重新|额外)?(?:训练|微调)|免训练|(?<!从)零训练|(?<!监督)无训练"
_NEEDS_TRAINING = r"followed by (?:a |some )?(?:short |brief |round of )*(?:re-?training|fine-?tuning)|after (?:a |some )?(?:short |brief |little |light |quick |small |round of )*(?:re-?training|fine-?tuning|tuning)|after (?:a |some )(?:short |brief |little |light |quick |small |round of )+training|(?:re-?training|fine-?tuning) (?:run|pass|stage|step|phase)|(?:needs?|requires?) (?!no |not |little |less )(?:\w+ ){0,2}(?:re-?)?(?:training|fine-?tuning)|(?<!不)需要?(?:先|重新|额外|再|少量|简单|短暂)+(?:地|的)?(?:训练|重训|微调)|(?:短暂|少量|简单|简短|轻量)(?:的|地)?(?:重新|再)?(?:训练|重训|微调)"
_NEGATOR = re.compile(
    r"\b(?:not|n't|no|without|never|neither|nor|cannot|none|nothing|hardly|fails? to|failed to|fail to|lacks?|unable|free of|avoid\w*|instead of|rather than|untouched|unchanged|less than|little)\b|n't\b|[a-z]-free\b|不|没|未|无|非|免|零|仅支持|只支持|别"
)
_NEGATED = re.compile(
    r"(?:\b(?:does|do|did|is|are|was|were|can|could|will|would|has|have)(?: not|n't) (?:yet |significantly |directly |fully )?|\bnever |\bcannot |\bfail(?:s|ed)? to |\bwithout (?:any |the |further )?|\bno (?!more|less|fewer)(?:longer |new |further )?|\bnor |不(?:再|会|能)?|没有(?:任何)?|并?未(?:能|曾)?|无法|尚未)(?P<what>[^,;:.，；：。()（）]{2,160})"
)
_LIGHT = re.compile(r"^(?:使用|采用|引入|加入|用)?(?:了|过)?(?:任何|额外的?)?")
_CLAUSE = re.compile(r"[^,;:.，；：。()（）]+")
_STOP = frozenset(
    "that this with from into over than their they them have been were which when only also more most such other between under while where about using used uses".split()
)


def stances(told: Reading, held: Reading) -> Iterator[Complaint]:
    """The complaints about a sentence's words, as far as plain rules can tell."""
    yield from _strong_words(told, held)
    yield from _measured(told, held)
    yield from _quality(told, held)
    yield from _training_need(told, held)
    yield from _wins(told, held)
    yield from _lost_negations(told, held)


def _has(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text)


def _strong_words(told: Reading, held: Reading) -> Iterator[Complaint]:
    spoken = _NOT_THE_WORD.sub(lambda match: match[0] if match[0].startswith(("once", "state")) else " " * len(match[0]), told.folded)
    source = _NOT_THE_WORD.sub(lambda match: match[0] if match[0].startswith("state") else " " * len(match[0]), held.folded)
    for kind, strong, carrier in _CARRIED:
        match = _has(strong, spoken)
        if match and kind == "scope" and _has(_GENERAL, source) and not _has(_PARTIAL, _nearest(told, held)):
            continue
        is_partial = (
            match and kind == "scope" and _has(_PARTIAL, _nearest(told, held)) and not _has(_PARTIAL, spoken) and not _has(carrier, _nearest(told, held))
        )
        if match and (is_partial or not _has(carrier, source)):
            word = told.text[match.start() : match.end()]
            yield Complaint(kind, word, Phrase("the source does not say “%(words)s”", words=word))


def _measured(told: Reading, held: Reading) -> Iterator[Complaint]:
    """An estimate or a simulation told as a measurement."""
    match = _has(r"\bmeasured\b|\broad tests?\b|\bfield tests?\b|real[- ]world (?:tests?|runs?)|in production|实测|路测|真机|实际部署", told.folded)
    if (
        match
        and _has(r"\bestimat\w+|theoretical|simulat\w+|projected|估算|理论|模拟|仿真|推算", _nearest(told, held))
        and not _has(r"measur|real[- ]world|production|wall-?clock|实测", _nearest(told, held))
    ):
        yield Complaint("scope", told.text[match.start() : match.end()], Phrase("the source speaks of an estimate or a simulation"))


def _quality(told: Reading, held: Reading) -> Iterator[Complaint]:
    """Losses where the source keeps quality, and "no loss" where the source has a small one or says nothing."""
    if (
        (match := _has(_LOSS, told.folded))
        and not _has(_NO_LOSS, match[0])
        and not _NEGATOR.search(told.folded, max(0, match.start() - 12), match.end())
        and not _has(_LOSS, held.folded)
    ):
        yield Complaint("negation", told.text[match.start() : match.end()], Phrase("the source speaks of no such loss"))
    kept = _has(rf"{_NO_LOSS}|\bidentical\b|完全一致", held.folded)
    if (
        (match := _has(_SLIGHT_LOSS, told.folded))
        and kept
        and not _has(rf"{_SOFT}|{_SLIGHT_LOSS}|{_LOSS}", held.folded[slice(*held.sentence_at(kept.start()))])
    ):
        yield Complaint("negation", told.text[match.start() : match.end()], Phrase("the source says that nothing is lost"))
    if (match := _has(_NO_CHANGE, told.folded)) and (measured := _has(_CHANGE_WITH_FIGURE, held.folded)) and not _has(_NO_CHANGE, held.folded):
        yield Complaint(
            "negation",
            told.text[match.start() : match.end()],
            Phrase("the source gives a figure: %(where)s", where=held.text[measured.start() : measured.end()]),
        )
    if (match := _has(_NO_LOSS, told.folded)) and not _has(_SOFT, told.folded):
        if not _has(_NO_LOSS, held.folded) and (_has(f"{_SOFT}|{_LOSS}", held.folded) or not _has(f"{_SAME}|{_BETTER}", held.folded)):
            yield Complaint("negation", told.text[match.start() : match.end()], Phrase("the source does not say that nothing is lost"))


def _training_need(told: Reading, held: Reading) -> Iterator[Complaint]:
    if (match := _has(_NEEDS_TRAINING, told.folded)) and _has(_NO_TRAINING, held.folded):
        yield Complaint("negation", told.text[match.start() : match.end()], Phrase("the source's method needs no training"))
    if (match := _has(_NO_TRAINING, told.folded)) and not _has(_NO_TRAINING, held.folded):
        yield Complaint("negation", told.text[match.start() : match.end()], Phrase("the source does not say that no training is needed"))


def _wins(told: Reading, held: Reading) -> Iterator[Complaint]:
    match = _has(_WIN, told.folded)
    if not match:
        return
    word = told.text[match.start() : match.end()]
    nearest = _nearest(told, held)
    if _has(_UNIVERSAL, told.folded[match.start() : match.end() + 24]) and not any(
        _has(_UNIVERSAL, held.folded[slice(*span)]) for span in held.sentences if _has(_WIN, held.folded[slice(*span)])
    ):
        if any(_has(_WIN, held.folded[slice(*span)]) for span in held.sentences):
            yield Complaint("superlative", word, Phrase("the source does not say that it wins against all"))
            return
    is_of_quality = _has(r"效果|精度|准确率|质量|得分|performance|accuracy|quality|scores?", told.folded[max(0, match.start() - 12) : match.end() + 12])
    if nearest and is_of_quality and _has(_SAME, nearest) and not _has(rf"{_WIN}|{_BETTER}", nearest) and not _has(_SAME, told.folded):
        yield Complaint("superlative", word, Phrase("the source says equal, not better"))
        return
    if nearest and _has(_SAME, nearest) and not _has(_WON, nearest) and not _has(_SAME, told.folded):
        yield Complaint("superlative", word, Phrase("the source says equal, not better"))
    elif not _has(_WON, held.folded):
        yield Complaint("superlative", word, Phrase("the source does not say that it wins"))
    elif nearest and _is_only_equal(told.folded[match.end() : match.end() + 60], nearest):
        yield Complaint("superlative", word, Phrase("the source says equal to that, not better"))
    elif _is_reversed(told, match, held):
        yield Complaint("negation", word, Phrase("in the source the other side is ahead"))


_ROUND = r"(?:and|,|;|\.|while|but)\s"


def _is_only_equal(beaten: str, nearest: str) -> bool:
    """Whether the source sentence calls the work only comparable to what the sentence says it beats."""
    beaten = re.split(_ROUND, beaten)[0]
    equal = re.search(r"(?:comparable|competitive|similar|on par|equal)\w*\s(?:performance\s)?(?:to|with)\s(.{3,60})", nearest)
    better = re.search(rf"(?:{_WIN})\s(.{{3,60}})", nearest)
    if not equal:
        return False
    words = stems(beaten)
    ahead = stems(re.split(_ROUND, better[1])[0]) if better else frozenset()
    return len(words & (stems(re.split(_ROUND, equal[1])[0]) - ahead)) >= 1 and not words & (ahead - stems(equal[1]))


def _nearest(told: Reading, held: Reading) -> str:
    """The sentence of the source that shares most with the told one; empty when none shares much."""
    spoken = {name.key for name in names(told.text)}
    values = {(fact.numeral.low, fact.numeral.high) for fact in told.facts if not fact.numeral.is_word}
    best, most = "", 2.0
    for start, end in held.sentences:
        shared = 2.0 * len(values & {(fact.numeral.low, fact.numeral.high) for fact in held.facts if fact.sentence == (start, end)})
        shared += len(spoken & {name.key for name in names(held.text[start:end])})
        shared += 0.5 * len(stems(told.folded) & stems(held.folded[start:end]))
        if shared > most:
            best, most = held.folded[start:end], shared
    return best


_AHEAD = re.compile(
    r"(?P<winner>[^,;.]{3,80}?)\s(?:remains?|is|are|stays?)\s(?:still |generally |clearly )?(?:superior|better|ahead)\b(?P<rest>[^;.]{0,120})|(?P<first>[^,;.]{3,80}?)\s(?:outperform\w*|beats?|surpass\w*)\s(?P<second>[^;.]{3,80})"
)


def _is_reversed(told: Reading, match: re.Match[str], held: Reading) -> bool:
    """Whether the source has the loser of the sentence ahead, in the same respect."""
    start, end = told.sentence_at(match.start())
    winner, loser = stems(told.folded[start : match.start()]), stems(told.folded[match.end() : end])
    for other in _AHEAD.finditer(held.folded):
        ahead = stems(other["winner"] or other["first"] or "")
        rest = stems(other["rest"] or other["second"] or "")
        if len(ahead & loser) >= 2 and not ahead & winner and (len(rest & loser) >= 2 or rest & winner):
            return True
    return False


def stems(text: str) -> frozenset[str]:
    """What a text speaks of: Latin words by their first five letters, Chinese by pairs of characters."""
    words = {word[:5] for word in re.findall(r"[a-z][a-z0-9-]{3,}", text) if word not in _STOP}
    han = {text[place : place + 2] for place in range(len(text) - 1) if "\u3400" <= text[place] <= "\u9fff" and "\u3400" <= text[place + 1] <= "\u9fff"}
    return frozenset(words | han)


def _lost_negations(told: Reading, held: Reading) -> Iterator[Complaint]:
    """What the source denies and the sentence affirms, in the same language or by the same names."""
    clauses = [(clause[0], clause.start()) for clause in _CLAUSE.finditer(told.folded)]
    for match in _NEGATED.finditer(held.folded):
        denied = stems(match["what"][:60]) | stems(
            re.split(r"[,;:.，；：。]", held.folded[max(0, match.start() - 8) : match.start()])[-1] if match["what"][0] >= "\u3400" else ""
        )
        thing = stems(_LIGHT.sub("", match["what"][:30])) if match["what"][0] >= "\u3400" else frozenset()
        own = {name.key for name in names(held.text[match.start("what") : match.end("what")])}
        for clause, start in clauses:
            if _NEGATOR.search(clause):
                continue
            shared = denied & stems(clause)
            is_most = len(denied) >= 2 and len(shared) >= max(2, 0.6 * len(denied))
            is_same = (is_most or (len(thing) >= 3 and thing <= stems(clause))) and not _is_affirmed(held, shared, match)
            spoken = {name.key for name in names(told.text[start : start + len(clause)])}
            is_about_names = (
                bool(own & spoken)
                and bool(_has(r"提升|提高|改善|improv\w+|boost\w*|enhanc\w+", clause))
                and bool(_has(r"improv\w+|boost|enhanc|提升|提高|改善", match["what"]))
            )
            if is_same or is_about_names:
                yield Complaint(
                    "negation",
                    told.text[start : start + len(clause)].strip(),
                    Phrase("the source denies it: %(where)s", where=held.text[match.start() : match.end()].strip()),
                )
                return


def _is_affirmed(held: Reading, shared: frozenset[str], denial: re.Match[str]) -> bool:
    """Whether the source says the same elsewhere without denying it."""
    for clause in _CLAUSE.finditer(held.folded):
        if clause.start() <= denial.start("what") < clause.end() or _NEGATOR.search(clause[0]):
            continue
        if len(shared & stems(clause[0])) >= 0.8 * len(shared):
            return True
    return False
