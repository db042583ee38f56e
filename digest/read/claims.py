"""What an item claims for its own work: each headline figure with metric, bound, baseline, setting and quote.

A figure counts as a claim when words beside it say what moved and which way. Which metric it is follows from the
nearest such word in its clause; whether training or inference, from the clause, the sentence, then the text around.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from digest.model import Claim, Direction, Entry, Metric
from digest.read import quantities
from digest.read.folding import signs
from digest.read.quantities import Quantity
from digest.text import sentence_spans

Scope = Literal["training", "inference", "other"]
_CUES: tuple[tuple[str, str], ...] = (
    ("memory", r"memory|显存|内存|vram|\bfootprint"),
    ("communication", r"communicat\w+|通信|all-?reduce|network traffic|bandwidth (?:usage|consumption)|transmission"),
    ("throughput", r"throughput|吞吐量?|\brequests\b|samples per second|experience collection|data loading|mfu\b|utili[sz]ation|利用率"),
    ("quality", r"performance improvement|accurac\w+|perplexit\w+|\bbleu\b|\bfid\b|\bf1\b|psnr|word error rate|\bwer\b|\bscores?\b|success rate|\bloss\b|\bgains?\b|得分|精度|准确率|损失|成功率|recall|precision\b|\berror\b|\bmiou\b|win rate|pass@\w|outperform\w*|beats"),
    ("other", r"energy|power consumption|(?<![bm][- ])parameters?\b|model size|larger|longer|batch size|sparsity|\bkernels?\b|smaller|能效|参数|能耗|compression|efficiency|token consumption|\blayer\b|context length|\bdata\b|prun\w+"),
    ("iterations", r"iterations?|\bsteps\b(?! time)|\bepochs?|迭代|步数|轮数|\bflops\b|compute cost|(?:training|less|of the|total) compute\b|training tokens|fewer tokens|(?:of the|fewer|less) (?:training )?tokens\b|training tokens|samples\b|rollouts\b|of the training\b|sample efficien\w+|数据量|算力开销"),
    ("speed", r"speed-?\s?ups?|speeds?\b|as fast\b|faster|accelerat\w+|speeding|quicker|提速|加速比?|速度|快|\bspeed up\b|more efficient\b|improvement in training"),
    ("time", r"\btime\b|wall-?clock|duration|\bcosts?\b|\bhours\b|时间|时长|耗时|成本|费用|开销|overheads?\b|\btrain(?:ed|s)?\b (?:in|for|on)|训练完成|完成(?:预?训练)|latency|延迟"),
)  # fmt: skip
_CUE = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _CUES))
_TRAINING = re.compile(
    r"(?<!post-)(?<!pre-)\btrain(?:ing|ed|s)?\b(?!-free|-aware| free| data\b| sets?\b| corpus| examples?\b)|pre-?train\w*|fine-?tun\w+|finetun\w+|backprop\w*|backward|optimi[sz]er|convergen\w+|gradient|rl\b|reinforcement learning|distillation|rollouts?|\bepoch|data-?parallel|pipeline parallel|pretrain|(?<!无需)(?<!无需再)(?<!免)训练(?!后量化|后压缩|数据|集)|微调|收敛|蒸馏|反向传播|强化学习|优化器"
)
_INFERENCE = re.compile(
    r"inference|decod\w+|\bserv(?:e|es|ing)\b|latency|time to first token|\bttft\b|prefill\w*|预填充|deploy\w*|\bgenerat(?:es?|ion|ing)\b|sampling steps?|denoising steps?|render\w+|on-device|edge devices?|post-training quanti|\bptq\b|training-free|kv[ -]cache|speculative|推理|解码|首字|延迟|部署|线上|手机|\bnfe\b|queries"
)
_BREAK = re.compile(r"[,;:](?!\d)|(?<!\d)[,;:]|、|\bwhile\b|\bwhereas\b|\bwith\b(?=[^,]{0,40}\bloss)|\s[(（]|[)）]|, and\b|并且|同时|且")
_LESS = re.compile(
    r"fell\b|falls?\b|went down|reduc\w+|decreas\w+|lower\w*|sav(?:e|es|ed|ing|ings)\b|less\b|fewer|cut(?:s|ting)?\b|shrink\w*|smaller|drop\w*|short\w+|minimi[sz]\w+|down to|减少|降低|下降|缩短|缩减|节省|省|少|压到|降到|降至|低"
)
_MORE = re.compile(
    r"r[io]ses?\b|grow\w*|climb\w*|went up|上升|increas\w+|improv\w+|boost\w*|rais\w+|gains?\b|higher|more\b|longer|larger|enhanc\w+|outperform\w*|提升|提高|增加|增长|达到|additional|extra|额外"
)
_GROWS = re.compile(
    r"r[io]ses?\b|grow\w*|climb\w*|went up|increas\w+|rais\w+|higher|more\b|longer|larger|additional|extra|上升|增加|增长|额外|更[多长大高]|多[花用出]"
)
_CHANGE = re.compile(
    _LESS.pattern
    + "|"
    + _MORE.pattern
    + r"|faster|speed|accelerat\w+|only|just|快|加速|提速|仅|只要|只需|相差|不到|翻|降|achiev\w+|attain\w+|require|within|under\b|vs\.?\s|use[sd]?\b|using"
)
_SLOWER = re.compile(r"slow(?:er|down|s)\b|overhead of|bottleneck|dominat\w+|account(?:s|ing)? for|suffer\w*|prohibitive|慢|占(?:总|到|比|据)|瓶颈")
_NO_CLAIM = re.compile(
    r"\b(?:prior|previous|existing|conventional) (?:work|methods?|approaches|studies)\b[^,.]{0,60}\b(?:require|need|suffer|incur|take)|\bcan take\b|\busually\b|\btypically\b"
)
_OF_BASELINE = re.compile(
    r"^\s{0,4}(?:of (?:the(?! time\b)|its|that|what|our|full)\b|the (?=training|original|cost|memory|number|steps|compute|time\b|parameters|data|size))|^\s(?:parameters|cost)\b"
)
_TO_SHARE = re.compile(r"(?:(?<!up )\bto|原来的|降到|缩减到|减少到|降至|压缩到|仅为)\s?(?:just |only |about |approximately |约\s?|原来的\s?|原方案的\s?)?$")
_IN_A_TIME = re.compile(
    r"(?:\b(?:in|within|under|takes?|for|to|only|just)|在|仅需?|只[要需]|到|至)\s{0,2}(?:just |only |under |about |around |approximately |less than |约 ?)?$"
)
_OF_MATERIAL = re.compile(r"^\s(?:of )?(?:\w+ ){0,2}(?:data|speech|audio|video|work|recordings|corpus|footage)\b")
_LEANS_LEFT = re.compile(
    r"(?:\bby|\bof|\bto|\bfrom|[\u3400-\u9fff])\s*(?:up[ -]to|over|about|around|nearly|more than|approximately|at least|[~>≈])?\s*(?:an?\s)?$"
)
_OTHER_TIME = re.compile(
    r"\b(?:selection|pre-?processing|review|search|label+ing|annotation|encoding|operation|planning|solv\w+|computation|execution|rendering) times?\b|标注时间|处理时间|审稿时间"
)
_BOUND_WORDS = re.compile(r"\b(?:less|more|fewer|lower|higher) than\b|不到|不超过")
_SPEEDS = re.compile(r"speed-?\s?up|faster|as fast\b|加速|快")
_PART = re.compile(r"\b(?:single|per)\b[^,;]{0,16}\blayers?\b|单个?算子|单层")
_TOOL = re.compile(
    r"\b(?:scores?|metrics?|measures?|detectors?|verifiers?|estimators?|evaluators?|evaluation|scoring|verification)\b(?: \w+){0,3}? (?:runs?|is|are)\b"
)
_BY_A_SHARE = re.compile(r"\b(?:by|halv\w*)\s(?:up to |more than |over |about |nearly )?$|[少降减快提增]\S{0,6}$|[\u3400-\u9fff]$")
_SHARED = re.compile(r"^\s*(?:,|and|or|,\s*and|/|和|与|、|及)\s*(?:up[ -]to |over |by |about |>\s?)?$")
_BASELINE = re.compile(
    r"(?:\bover\b|\bcompared (?:to|with)\b|\brelative to\b|\bversus\b|\bvs\.?|\bthan\b|\bagainst\b|\bcalculated by\b|\bthroughput of\b)\s+(?:with |the |an? |that of )?(?P<name>[^,;()，；。]{2,70}?)"
    r"(?=\s+(?:on|for|in|when|while|with|at|across|under|without|and|by|during|using|as|to|where|of up)\b|\.\s|[,;()]|\.?$)"
)  # fmt: skip
_BASELINE_BEFORE = re.compile(r"(?:compared (?:to|with)|relative to)\s+(?P<name>[^,;]{2,60}),")
_BASELINE_ZH = re.compile(
    r"(?:相比于?|相较于?|对比|与(?=[^,;，；。]{1,24}相[比较])|(?<!对)(?<!相)比(?![特例如率重值较])|较)\s?(?P<name>[^,;，；。、]{1,24}?)\s?(?=[,;，；。]|(?<!最)快|少|低|高|提升|降低|减少|缩短|提高|的?训练|节省|慢|多|加速|相比|相较)"
)
_SETTING = re.compile(
    r"\b(?:on|for|when|across)\s+(?P<name>(?:\w[\w.+/ ×-]{1,60}?))(?=[,;()]|\.(?!\d)|\s(?:while|and (?:up|over|\d)|compared|over|with(?!in)|relative|without|as)\b|$)"
)
_SETTING_ZH = re.compile(r"在\s?(?P<name>[^,;，；。、]{2,30}?)\s?(?:上|中|下|平台|任务)")
_BOTH = re.compile(r"\b(?:training|pre-?training) and inference\b|\binference and training\b|训练(?:和|与|、)推理|推理(?:和|与|、)训练")
_SCOPES: tuple[tuple[Scope, re.Pattern[str]], ...] = (("training", _TRAINING), ("inference", _INFERENCE))
FEW_WORDS = 2
_METRICS: dict[str, Metric] = {
    "memory": "memory",
    "communication": "communication",
    "throughput": "throughput",
    "quality": "quality",
    "other": "other",
    "iterations": "iterations",
    "speed": "training_speed",
    "time": "training_time",
}
_UNIT_METRICS: dict[str, Metric] = {"BLEU": "quality", "FID": "quality", "dB": "quality", "mIoU": "quality", "points": "quality", "km/h": "quality", "TOPS": "inference_speed", "PFLOPS": "throughput", "TFLOPS": "throughput", "GFLOPS": "throughput", "TFLOPS/GPU": "throughput", "GB/s": "throughput", "TiB/s": "throughput", "GB": "memory", "kW": "other", "tokens/s": "throughput"}  # fmt: skip
_DURATIONS = frozenset(("hours", "minutes", "seconds", "days", "weeks", "GPU-hours", "USD"))
QUOTE_LIMIT = 240
AROUND = 1500  # of a long post about training, not every paragraph is: so many characters before and after a sentence tell
SENTENCE_LIMIT = 1000
READ_LIMIT = 400_000
FIGURES_A_SENTENCE = 24
FIGURES_A_TEXT = 200  # more than any abstract or post states; a table of numbers is not read to its end
_MAY_HOLD_A_FIGURE = re.compile(r"\d|fold\b|times|magnitude|doubl|tripl|quadrupl|halv|half|third|quarter|tenth|fifth|twice|成|倍|分之|一半|翻|数量级")


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure with what was decided about it so far."""

    quantity: Quantity
    cue: str
    left: int
    right: int
    wide_left: int  # where the clause begins when earlier figures do not end it


def extract(entry: Entry) -> tuple[Claim, ...]:
    """The claims of an entry's text, else of its title, in order; the quotes are substrings of that text."""
    claims = extract_from(entry.text, title=entry.title)
    if not claims and entry.title:
        claims = extract_from(entry.title)
    return tuple(replace(claim, entry_key=entry.key) for claim in claims)


def extract_from(text: str, title: str = "") -> tuple[Claim, ...]:
    """The claims of a text; ``title`` helps to tell training from inference."""
    text = text[:READ_LIMIT]
    folded = signs(text)
    whole: Scope | None = None
    claims: list[Claim] = []
    figures = 0
    for start, end in _pieces(text):
        if figures >= FIGURES_A_TEXT:
            break
        if not _MAY_HOLD_A_FIGURE.search(folded, start, end):
            continue
        if found := quantities.find(folded[start:end])[:FIGURES_A_SENTENCE]:
            figures += len(found)
            whole = whole or _lean(f"{signs(title)}\n{folded}")
            around = _lean(folded[max(0, start - AROUND) : end + AROUND]) if whole == "training" and len(folded) > 2 * AROUND else whole
            claims += _of_sentence(text[start:end], folded[start:end], found, around)
    return tuple(dict.fromkeys(claims))


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """The sentences, those without end cut at white space: work grows with the square of a piece, never of a text."""
    for start, end in sentence_spans(text):
        while end - start > SENTENCE_LIMIT:
            space = text.rfind(" ", start + 1, start + SENTENCE_LIMIT)
            cut = space if space > 0 else start + SENTENCE_LIMIT
            yield start, cut
            start = cut
        yield start, end


def _lean(folded: str) -> Scope:
    """What a text is about as a whole; "other" when it hardly speaks of training or inference at all."""
    training, inference = len(_TRAINING.findall(folded)), len(_INFERENCE.findall(folded))
    if 1.2 * training >= inference and training >= FEW_WORDS:
        return "training"
    return "inference" if inference > 1.2 * training else "other"


def _of_sentence(original: str, sentence: str, found: Sequence[Quantity], lean: Scope) -> list[Claim]:
    figures: list[_Figure] = []
    for number, quantity in enumerate(found):
        figure = _figure(sentence, found, number)
        if not figure.cue and figures and figures[-1].quantity.unit == quantity.unit and _inherits(sentence, figures[-1], quantity):
            bound = quantity.bound if quantity.bound != "exact" else figures[-1].quantity.bound
            figure = replace(figure, cue=figures[-1].cue, quantity=replace(quantity, bound=bound))
        elif figures and _SHARED.match(sentence[figures[-1].quantity.end : quantity.start]) and quantity.bound == "exact":
            figure = replace(figure, quantity=replace(quantity, bound=figures[-1].quantity.bound))
        figures.append(figure)
    claims = []
    for figure in figures:
        claims += _claims(original, sentence, figure, figures, lean)
    return claims


def _inherits(sentence: str, earlier: _Figure, quantity: Quantity) -> bool:
    between = sentence[earlier.quantity.end : quantity.start]
    return len(between) < 90 and bool(re.search(r"\band\b|,|/|和|、|及", between)) and not re.search(r"[.;；。]", between)


def _figure(sentence: str, found: Sequence[Quantity], number: int) -> _Figure:
    quantity = found[number]
    last = number
    while last + 1 < len(found) and _SHARED.match(sentence[found[last].end : found[last + 1].start]):
        last += 1
    first = number
    while first and _SHARED.match(sentence[found[first - 1].end : found[first].start]):
        first -= 1
    wide_left = max((match.end() for match in _BREAK.finditer(sentence, 0, found[first].start)), default=0)
    left = max(wide_left, found[first - 1].end if first else 0)
    right = next((match.start() for match in _BREAK.finditer(sentence, found[last].end)), len(sentence))
    right = min(right, found[last + 1].start if last + 1 < len(found) else len(sentence))
    cue = _nearest_cue(sentence, left, found[first].start, found[last].end, right)
    if not cue and quantity.unit == "x":
        cue = _cue_before(sentence, left)
    return _Figure(quantity, cue, left, right, wide_left)


def _nearest_cue(sentence: str, left: int, start: int, end: int, right: int) -> str:
    """The word that says what moved: after "by", "of" or in Chinese rather before the figure, else rather after it."""
    leans_left = bool(_LEANS_LEFT.search(sentence[left:start]))
    best, best_distance = "", 1e9
    for cue, cue_start, cue_end in _cues(sentence, left, right):
        if cue_end <= start:
            distance = (start - cue_end) * (0.4 if leans_left else 1.6) + 4
        elif end <= cue_start <= end + 90:
            distance = (cue_start - end) * (1.5 if leans_left else 0.8)
        else:
            continue
        if distance < best_distance:
            best, best_distance = cue, distance
    return best


def _cues(sentence: str, left: int, right: int) -> list[tuple[str, int, int]]:
    """The cues of a region; in a compound such as "communication time" the first word decides."""
    found: list[tuple[str, int, int]] = []
    for match in _CUE.finditer(sentence, left, right):
        cue = match.lastgroup or ""
        if found and found[-1][0] in ("memory", "communication", "throughput", "iterations") and cue in ("time", "other") and match.start() - found[-1][2] <= 1:
            cue = found[-1][0]
        found.append((cue, match.start(), match.end()))
    return found


def _cue_before(sentence: str, left: int) -> str:
    """For a multiple without a cue in its clause ("23x on CIFAR-10"): the last of speed, time or memory before it."""
    cues = [cue for cue, _, _ in _cues(sentence, 0, left) if cue in ("speed", "time", "memory", "communication", "throughput", "iterations")]
    return cues[-1] if cues else ""


def _claims(original: str, sentence: str, figure: _Figure, figures: Sequence[_Figure], lean: Scope) -> list[Claim]:
    quantity = figure.quantity
    clause = sentence[figure.left : figure.right]
    if not _counts(sentence, clause, figure):
        return []
    claims = []
    for scope in _scopes(sentence, figure, figures, lean):
        metric = _metric(figure, clause, scope)
        unit = quantity.unit
        if unit == "%" and _is_share(sentence, quantity):
            unit = "%_of"
        claims.append(
            Claim(
                metric=metric,
                low=quantity.low,
                high=quantity.high,
                unit=unit,
                direction=_direction(metric, clause),
                bound=quantity.bound,
                baseline=quantity.before or _baseline(original, sentence, figure, figures),
                setting=_setting(original, sentence, figure),
                quote=_quote(original, figure),
            )
        )
    return claims


def _counts(sentence: str, clause: str, figure: _Figure) -> bool:
    quantity = figure.quantity
    before = sentence[max(0, quantity.start - 40) : quantity.start]
    if _SLOWER.search(clause) or _NO_CLAIM.search(sentence):
        return False
    if quantity.unit in _DURATIONS or quantity.unit == "steps":
        if _OF_MATERIAL.match(sentence[quantity.end : quantity.end + 40]):
            return False
        return bool(quantity.before or (_IN_A_TIME.search(before) and (figure.cue or _TRAINING.search(sentence) or _INFERENCE.search(clause))))
    if sentence[quantity.start].isalpha() and quantity.unit == "%":
        return _is_share(sentence, quantity) or bool(_BY_A_SHARE.search(before))
    if quantity.unit == "GB":
        return bool(quantity.before or _LESS.search(before))
    if quantity.unit in _UNIT_METRICS:
        return True
    if not figure.cue:
        return False
    if quantity.unit == "x":
        return not re.match(r"\s{0,3}\d", sentence[quantity.end : quantity.end + 4])
    is_change = _CHANGE.search(sentence[figure.wide_left : figure.right]) is not None
    return bool(quantity.before) or figure.cue in ("speed", "quality") or is_change or (figure.cue == "iterations" and _is_share(sentence, quantity))


def _is_share(sentence: str, quantity: Quantity) -> bool:
    """Whether a percentage is what is left ("only 25% of the original") and not what moved."""
    after = sentence[quantity.end : quantity.end + 30]
    before = sentence[max(0, quantity.start - 40) : quantity.start]
    if quantity.before or re.search(r"\bby\b[^,]{0,14}$", before):
        return False
    return bool(_TO_SHARE.search(before) or _OF_BASELINE.match(after))


def _scopes(sentence: str, figure: _Figure, figures: Sequence[_Figure], lean: Scope) -> list[Scope]:
    """What the figure is about, from its clause, its sentence, then the text around it; two when it holds for both."""
    quantity = figure.quantity
    both = _BOTH.search(sentence, quantity.end, quantity.end + 80)
    if both and figure.cue in ("speed", "time"):
        chain = [other for other in figures if other.right == figure.right and other.quantity.unit == quantity.unit]
        order: list[Scope] = ["training", "inference"] if both[0].startswith(("train", "pre", "训练")) else ["inference", "training"]
        return [order[chain.index(figure)]] if len(chain) == 2 else order
    for start, end in ((figure.left, figure.right), (0, len(sentence))):
        near = {scope: [abs(match.start() - quantity.start) for match in pattern.finditer(sentence, start, end)] for scope, pattern in _SCOPES}
        found = [(min(places), scope) for scope, places in near.items() if places]
        if found:
            return [min(found, key=lambda pair: pair[0])[1]]
    return [lean]


def _metric(figure: _Figure, clause: str, scope: Scope) -> Metric:
    unit = figure.quantity.unit
    if unit == "steps":
        return "iterations" if scope == "training" else "inference_speed"
    metric = _UNIT_METRICS.get(unit) or _METRICS.get(figure.cue, "other")
    if unit in _DURATIONS:
        metric = "training_time"
    elif metric == "training_time" and unit == "x" and _SPEEDS.search(clause):
        metric = "training_speed"
    elif metric == "quality" and unit == "x" and "performance improvement" in clause:
        metric = "training_speed"  # a multiple of performance is speed
    elif metric == "training_speed" and (_PART.search(clause) or _TOOL.search(clause)):
        metric = "other"
    if metric == "training_time" and _OTHER_TIME.search(clause):
        return "other"
    if metric == "iterations" and scope == "inference":
        return "other"
    if metric in ("training_speed", "training_time", "throughput") and scope != "training":
        return "inference_speed" if scope == "inference" else "other"
    return metric


def _direction(metric: Metric, clause: str) -> Direction:
    if metric in ("training_speed", "inference_speed"):
        return "faster"
    if metric == "throughput":
        return "more"
    if metric == "training_time" or metric in ("memory", "communication", "iterations"):
        return "more" if _GROWS.search(clause) and not _LESS.search(clause) and metric != "iterations" else "less"
    return "less" if _LESS.search(_BOUND_WORDS.sub(" ", clause)) else "more"


def _baseline(original: str, sentence: str, figure: _Figure, figures: Sequence[_Figure]) -> str | None:
    end = figure.quantity.end
    if match := _BASELINE.search(sentence, end, min(len(sentence), end + 160)):
        if match.end() == len(sentence) and not sentence.endswith((".", "!", "?")):
            return None  # the text was cut off in the name
        if "respectively" in sentence[match.start() : match.end() + 90]:
            return _own_baseline(original, sentence, figure, figures, match.start("name"))
        return original[match.start("name") : match.end("name")].strip()
    matches = [*_BASELINE_ZH.finditer(sentence, max(0, figure.quantity.start - 50), figure.quantity.start)] or [
        *_BASELINE_BEFORE.finditer(sentence, max(0, end - 200), end)
    ]
    if matches:
        return original[matches[-1].start("name") : matches[-1].end("name")].strip() or None
    return None


def _own_baseline(original: str, sentence: str, figure: _Figure, figures: Sequence[_Figure], start: int) -> str | None:
    """Of "compared to A, B and C, respectively" the one that stands where the figure stands; None when the numbers differ."""
    end = sentence.find("respectively", start)
    names = [name for name in re.split(r",\s*(?:and\s+)?|\s+and\s+", original[start:end].strip(" ,")) if name]
    chain = [other for other in figures if other.right == figure.right]
    return names[chain.index(figure)] if len(names) == len(chain) else None


def _setting(original: str, sentence: str, figure: _Figure) -> str | None:
    end = figure.quantity.end
    stop = min(len(sentence), end + 110)
    match = _SETTING.search(sentence, end, stop)
    if match and match.end() == stop < len(sentence):
        match = None  # cut off in a word
    match = match or _SETTING_ZH.search(sentence)
    return original[match.start("name") : match.end("name")].strip() if match else None


def _quote(original: str, figure: _Figure) -> str:
    """The sentence of the figure, or of a long one the part around it; at most ``QUOTE_LIMIT`` characters."""
    if len(original) <= QUOTE_LIMIT:
        return original
    left, right = figure.left, max(figure.right, figure.quantity.end)
    if right - left > QUOTE_LIMIT:
        left = max(left, figure.quantity.start - QUOTE_LIMIT // 2)
        right = min(right, left + QUOTE_LIMIT)
    return original[left:right].strip(" ,;，；、.")
