"""What the judge takes for one idea, in both languages: what a figure measures, what it is about, who is compared.

Patterns read text folded by ``read.folding.signs``. The first of two ideas at the same place wins, so compounds stand first.
"""

from __future__ import annotations

import re

# What a figure measures.
METRICS: tuple[tuple[str, str], ...] = (
    ("optimizer-memory", r"optimi[sz]er(?: states?)? memory(?: costs?| usage| footprint)?|优化器(?:状态)?(?:占用)?的?(?:显存|内存)"),
    ("total-memory", r"total (?:\w+ )?memory(?: costs?| usage| footprint)?|总(?:显存|内存)"),
    ("communication-time", r"communication (?:time|latency)|通信(?:耗时|时间|延迟)"),
    ("communication-volume", r"communication (?:volume|data|traffic)|(?:volume|amount) of communication|通信量|通信数据量"),
    ("communication", r"communicat\w+(?: costs?| overheads?)?|通信(?:开销|成本)?|network traffic"),
    ("time", r"short\w+ (?:[a-z0-9-]+ ){0,3}(?:iterations?|training)"),
    ("communication-volume", r"(?:sends?|transmits?|exchang\w+) (?:[\w.]+ ){0,4}(?:less|fewer) data"),
    ("memory", r"memory(?: costs?| overheads?| time)?(?! (?:limits?|constraints?|budget))|显存(?!限制|约束|预算|不足|紧)(?:开销|成本)?|内存(?:开销|成本)?|\bvram\b|footprint"),
    ("compute", r"\bflops?\b(?! utili)|(?:computational|computation|compute)[ -](?:costs?|budget|overheads?)|(?:less|fewer|lower|reduced) computation\b|\bcompute\b|算力|计算量|计算(?:开销|成本)|computational complexity"),
    ("throughput", r"throughput|吞吐量?|tokens per second|samples per second|\bmfu\b|利用率|utili[sz]ation"),
    ("size", r"(?:spatial )?compress\w*|压缩率|压缩|smaller|缩小|larger|更大|increase in size|(?:base )?model size|batch size|sparsity|稀疏度|sequence lengths?|序列长度(?!预热)|context length|(?<=fewer )parameters?|(?<=% )(?:of (?:its|the|their) )?(?:trainable |total )?parameters?|参数量|参数(?=[约也只]{0,2}[少减多])|trainable parameters?"),
    ("energy", r"energy|power\b|能耗|能效|功率|功耗|电费"),
    ("quality", r"accurac\w+|perplexit\w+|\bppl\b|\bbleu\b|\bfid\b|\bf1\b|psnr|word error rates?|\bwer\b|\bscores?\b|success rates?|\bloss\b(?! (?:of|in) )|error rates?|win rates?|pass@\w|\bmiou\b|recall\b|(?<!equal )(?<!same )(?<!high-)(?<!high )(?<!low-)quality(?![- ]equivalent)|词错误率|错误率|准确率|(?<![全半单低合双整])精度|困惑度|得分|分数|成绩|损失(?!了?\s?[约近]?\s?\d)|成功率|召回率|胜率|画质|(?<!同等)(?<!同样)(?<!相同)(?<!高)质量|效果|性能提升|平均性能|performance (?:improvement|gain)s?"),
    ("steps", r"iterations?|\bsteps\b(?! time)|(?<!per )\bepochs?\b|迭代(?:次数)?|步数|轮数|训练轮|\d ?步|(?<!进)[一二三四五六七八九十]步"),
    ("samples", r"(?:training|fewer|less|visual|generated|output|supervised) (?:samples|tokens|examples|data)\b|tokens? (?:consumption|usage|count)|rollouts\b|of the (?:tokens|samples|examples)\b|样本(?!吞吐)|视觉 token|token(?= ?(?:用量|消耗|数))|数据量|训练数据|token 数|sample efficien\w+"),
    ("latency", r"latency|delay|延迟|时延|首字"),
    ("cost", r"costs?\b|cheaper\b|expens\w+|\$(?=\d)|成本|费用|花费|开销|overheads?\b|budget|预算"),
    ("time", r"\btimes?\b(?! (?:as|the|more|less|fewer|smaller|faster|higher|lower))|wall-?clock(?! (?:\w+ ){0,2}(?:speed|throughput|gain|decod))|duration|时间|用时|耗时|时长|gpu[ -]?hours?|gpu ?(?:时|小时)"),
    ("speed", r"\bspeed-?\s?ups?|\bspeeds?\b|speeding|\bas fast\b|faster|fastest|slower|\bslows?\b|accelerat\w+|quicker|quick\b|sooner|提速|加速比?|速度|[更最要还]?快|[更还]?慢|\bspeeds? up\b|\bruns?\b(?= [\d])"),
)  # fmt: skip
# Metrics that may stand for each other: a multiple of speed is also less time.
SAME: tuple[frozenset[str], ...] = (
    frozenset(("speed", "time")),
    frozenset(("latency", "time", "speed")),
    frozenset(("memory", "optimizer-memory")),
    frozenset(("memory", "total-memory")),
    frozenset(("communication", "communication-time")),
    frozenset(("communication", "communication-volume")),
    frozenset(("cost", "compute")),
    frozenset(("communication", "cost")),
    frozenset(("communication-time", "time")),
)
# What is done: a speedup of one is none of another.
PROCESSES: tuple[tuple[str, str], ...] = (
    ("unlearning", r"unlearn\w*|遗忘"),
    ("collection", r"experience (?:collection|generation)|(?:data|experience) collection|经验(?:收集|采集)|采集"),
    ("preprocessing", r"pre-?processing|预处理"),
    ("kernel", r"\bkernels?\b|attention operations?|microbenchmarks?|all-to-all itself|matrix multiplications?|\bmatmuls?\b|\bgemms?\b|算子|内核|微基准"),
    ("whole-model", r"whole[- ]model|entire model|整个模型|全模型(?!稀疏)"),
    ("end-to-end", r"end[- ]to[- ]end|端到端"),
    ("block", r"(?:single|standard|one|per)[ -][\w -]{0,14}(?:layers?|blocks?)\b(?!-)|(?:单|标准)[^,，。]{0,14}[层块]"),
    ("backpropagation", r"back-?prop\w*|backward|反向传播|反向"),
    ("rendering", r"render\w*|渲染"),
    ("generation", r"(?:image|video|text|token) generation|\bgenerat(?:es?|ing) (?:a |an )?(?:\w+ )?(?:images?|videos?|text|tokens?)|decod\w+|生图|图像生成|视频生成|解码"),
    ("inference", r"inference|\binfers?\b|\bserv(?:e|es|ing)\b|推理(?!模型|能力|任务|基准|性能|链|数据|大模型|训练)|线上(?:服务)?|部署|deploy\w*|on-device|\bon (?:\w+ )?edge devices|across (?:\w+ )?edge devices|端侧(?!训练|微调)"),
    ("training", r"(?<!post-)\b(?:pre-?)?train(?:ing|ed|s)?\b(?![ -]free|-aware| data| sets?\b)|pre-?train\w*|fine-?tun\w+|(?<!无需)(?<!不用)(?<!免)(?:预)?训练(?!后量化|后剪枝|数据)|微调|训"),
)  # fmt: skip
# Processes that do not contradict each other.
COMPATIBLE: tuple[frozenset[str], ...] = (
    frozenset(("training", "backpropagation")),
    frozenset(("training", "end-to-end")),
    frozenset(("training", "whole-model")),
    frozenset(("end-to-end", "whole-model")),
    frozenset(("training", "block")),
    frozenset(("end-to-end", "block")),
    frozenset(("inference", "end-to-end")),
    frozenset(("inference", "generation")),
    frozenset(("generation", "end-to-end")),
    frozenset(("inference", "kernel")),
    frozenset(("kernel", "backpropagation")),
    frozenset(("inference", "rendering")),
    frozenset(("generation", "rendering")),
)
# What figures of one sentence may be told of apart.
SUBJECTS: tuple[tuple[str, str], ...] = (
    ("image", r"\bimages?\b|图像|图片|生图"), ("video", r"\bvideos?\b|视频"), ("text", r"\btexts?\b|文本"), ("audio", r"\b(?:audio|speech)\b|音频|语音"), ("agent", r"\bagent\w*|智能体|代理"),
    ("code", r"\bcod(?:e|ing)\b|代码"), ("math", r"\bmath\w*|数学"), ("reasoning", r"\breasoning\b|推理任务|推理能力"), ("chat", r"\bchat\w*|对话"), ("prefill", r"\bprefill\w*|预填充"),
    ("decode", r"\bdecod\w+|解码"), ("forward", r"\bforward\b|前向"), ("backward", r"\bbackward\b|反向"), ("compile", r"\bcompil\w+|编译"), ("search", r"\bsearch\w*|搜索|检索"),
    ("small", r"\bsmall(?:er)?\b|小模型"), ("large", r"\blarge(?:r)?\b|大模型"), ("classification", r"\bclassif\w+|分类"), ("detection", r"\bdetect\w+|检测"), ("segmentation", r"\bsegmentation\b|分割"),
    ("translation", r"\btranslat\w+|翻译"), ("weights", r"\bweights?\b|权重"), ("gradients", r"\bgradients?\b|梯度"), ("activations", r"\bactivations?\b|激活"), ("optimizer", r"\boptimi[sz]er\b|优化器"),
    ("rollout", r"rollout\w*|采样阶段"), ("training-step", r"training step\b|训练步(?!数)"),
    ("single", r"\bsingle[- ](?:gpu|node|card)\b|单[卡机节]"), ("multi", r"\bmulti[- ]?(?:gpu|node)\b|多[卡机节]"), ("pre-training", r"pre-?train\w*|预训练"), ("fine-tuning", r"fine-?tun\w+|微调"),
)  # fmt: skip
# What a work is compared with, where that is no name.
OPPONENTS: tuple[tuple[str, str], ...] = (
    ("synchronous", r"\bsynchronous\w*|(?<!异)同步"),
    ("asynchronous", r"\basynchronous\w*|异步"),
    ("autoencoder", r"auto-?encod\w+|自编码"),
    ("full-precision", r"full[- ]precision|全精度"),
    ("heuristic", r"heuristic\w*|启发式"),
    ("retraining", r"re-?train\w*|重训|重新训练"),
    ("full-parameter", r"full[- ]parameter|full fine-?tuning|全参数|全量微调"),
    ("per-sample", r"per-sample|逐样本"),
    ("quantized", r"quanti[sz]\w+|量化"),
    ("single-node", r"single[- ]node|单(?:节点|机)"),
    ("no-masking", r"no[- ]masking|不做掩码"),
    ("random", r"\brandom\w*|随机"),
    ("uniform", r"\buniform\w*|均匀"),
    ("dense", r"\bdense\b|稠密"),
    ("previous-version", r"previous (?:version|generation|release)|last (?:version|generation)|predecessor|上一?[版代]|前代|旧版"),
    ("best", r"state[- ]of[- ]the[- ]art|\bsota\b|\bbest\b|strongest|最优|最好|最强|最先进"),
    ("fastest", r"\bfastest\b|最快"),
)  # fmt: skip
_FLAGS = re.IGNORECASE


def _compiled(table: tuple[tuple[str, str], ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(pattern, _FLAGS)) for name, pattern in table)


_METRIC_PATTERNS, _PROCESS_PATTERNS, _OPPONENT_PATTERNS, _SUBJECT_PATTERNS = _compiled(METRICS), _compiled(PROCESSES), _compiled(OPPONENTS), _compiled(SUBJECTS)


def _spans(patterns: tuple[tuple[str, re.Pattern[str]], ...], folded: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """Name, start and end of each idea, none inside an earlier one of the table; by place."""
    taken: list[tuple[int, int]] = []
    found = []
    for name, pattern in patterns:
        for match in pattern.finditer(folded, start, end):
            if all(match.end() <= left or match.start() >= right for left, right in taken):
                found.append((name, match.start(), match.end()))
                taken.append(match.span())
    return sorted(found, key=lambda span: span[1])


def metrics(folded: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """What is measured in a part of a text."""
    return _spans(_METRIC_PATTERNS, folded, start, end)


def processes(folded: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """What is done in a part of a text."""
    return _spans(_PROCESS_PATTERNS, folded, start, end)


def opponents(folded: str, start: int, end: int) -> frozenset[str]:
    """The nameless things to compare with in a part of a text."""
    return frozenset(name for name, pattern in _OPPONENT_PATTERNS if pattern.search(folded, start, end))


def subjects(folded: str, start: int, end: int) -> frozenset[str]:
    """What is spoken of in a part of a text, as far as figures are told of it apart."""
    return frozenset(name for name, pattern in _SUBJECT_PATTERNS if pattern.search(folded, start, end))


def is_same_metric(one: str, other: str) -> bool:
    """Whether a figure of one may be told as the other."""
    return not one or not other or one == other or any(one in group and other in group for group in SAME)


def is_same_process(one: str, other: str) -> bool:
    """Whether a figure of one process may be told of the other."""
    return not one or not other or one == other or any(one in group and other in group for group in COMPATIBLE)
