"""The words that patterns are made of, as data: metrics, audiences, glossary, in both languages."""

from __future__ import annotations

from digest.model import ItemKind, Language, Metric

METRICS: dict[Language, dict[Metric, str]] = {
    "zh": {
        "training_speed": "训练速度",
        "training_time": "训练时间",
        "throughput": "吞吐量",
        "iterations": "训练步数",
        "memory": "内存占用",
        "communication": "通信开销",
        "inference_speed": "推理速度",
    },
    "en": {
        "training_speed": "training speed",
        "training_time": "training time",
        "throughput": "throughput",
        "iterations": "training steps",
        "memory": "memory use",
        "communication": "communication",
        "inference_speed": "inference speed",
    },
}
# What a metric is called when the quote itself says it more exactly: (metric, what the judge must read it as or "", pattern, Chinese, English).
FINER: tuple[tuple[Metric, str, str, str, str], ...] = (
    ("iterations", "compute", r"flops|compute|算力|计算", "计算量", "training compute"),
    ("iterations", "", r"budget|预算", "训练预算", "training budget"),
    ("iterations", "steps", r"epoch|轮", "训练轮数", "training epochs"),
    ("iterations", "samples", r"tokens?\b", "训练 token 数", "training tokens"),
    ("iterations", "samples", r"samples?\b|样本|数据", "训练样本量", "training samples"),
    ("iterations", "steps", r"iteration|迭代", "训练迭代次数", "training iterations"),
    ("training_time", "compute", r"comput|算力|计算", "计算成本", "compute cost"),
    ("training_time", "cost", r"cost|费用|成本|\$|usd|美元", "训练成本", "training cost"),
    ("training_time", "time", r"gpu[ -]hours?", "GPU 时", "GPU hours"),
    ("training_time", "time", r"单步|per[- ](?:step|iteration)", "单步时间", "time per step"),
    ("memory", "", r"optimi[sz]er (?:state|memory)|优化器状态|优化器显存", "优化器状态内存", "optimizer-state memory"),
    ("memory", "", r"gpu memory|vram|显存", "显存占用", "GPU memory use"),
    ("memory", "", r"peak memory|峰值", "峰值内存", "peak memory"),
    ("memory", "", r"activation|激活", "激活值内存", "activation memory"),
    ("communication", "", r"communication (?:time|latency)|通信(?:耗时|时间)", "通信耗时", "communication time"),
    ("communication", "", r"rounds", "通信轮数", "communication rounds"),
    ("communication", "", r"volume|通信量", "通信量", "communication volume"),
    ("communication", "", r"compress", "通信压缩比", "communication compression"),
    ("throughput", "", r"training throughput|训练吞吐", "训练吞吐量", "training throughput"),
)
KINDS: dict[Language, dict[ItemKind, str]] = {
    "zh": {"paper": "论文", "model": "模型", "product": "产品", "code": "开源", "tutorial": "教程", "news": "动态"},
    "en": {"paper": "paper", "model": "model", "product": "product", "code": "open-source project", "tutorial": "tutorial", "news": "report"},
}
# Who cares, by sub-topic; the first of an article's tags that stands here is used.
AUDIENCES: dict[Language, dict[str, str]] = {
    "zh": {
        "rl-post-training": "做强化学习后训练的团队",
        "moe": "训练 MoE 模型的团队",
        "low-precision": "想用低精度训练的团队",
        "communication": "受通信拖累的多机训练团队",
        "parallelism": "做大规模并行训练的工程师",
        "optimizer": "在选优化器的研究者",
        "memory": "显存吃紧的训练者",
        "data-pipeline": "负责训练数据的人",
        "long-context": "训练长上下文模型的团队",
        "attention-kernels": "关心注意力算子的工程师",
        "distillation": "做蒸馏的团队",
        "peft": "做参数高效微调的人",
        "diffusion": "训练扩散模型的团队",
        "vision-language": "训练视觉与多模态模型的团队",
        "speech-audio": "训练语音模型的团队",
        "recommender-graph": "训练推荐与图模型的团队",
        "sparse-training": "研究稀疏训练的人",
        "hardware-systems": "负责训练基础设施的工程师",
        "convergence": "想少走训练弯路的研究者",
        "architecture": "设计模型架构的人",
        "": "关心训练成本的团队",
    },
    "en": {
        "rl-post-training": "teams doing RL post-training",
        "moe": "teams that train MoE models",
        "low-precision": "anyone moving to low-precision training",
        "communication": "teams whose multi-node training waits for the network",
        "parallelism": "engineers of large parallel training runs",
        "optimizer": "anyone choosing an optimizer",
        "memory": "anyone short of GPU memory while training",
        "data-pipeline": "whoever feeds the training run with data",
        "long-context": "teams that train long-context models",
        "attention-kernels": "engineers who care about attention kernels",
        "distillation": "teams that distil models",
        "peft": "anyone fine-tuning with few parameters",
        "diffusion": "teams that train diffusion models",
        "vision-language": "teams that train vision and multimodal models",
        "speech-audio": "teams that train speech models",
        "recommender-graph": "teams that train recommenders or graph models",
        "sparse-training": "anyone studying sparse training",
        "hardware-systems": "engineers who run training infrastructure",
        "convergence": "researchers who want to converge sooner",
        "architecture": "model architects",
        "": "teams that watch their training bill",
    },
}
# What a gain does not cost: (key, its words).
KEPT_NOUNS: tuple[tuple[str, str], ...] = (
    ("accuracy", r"accuracy|accuracies|精度|准确率"),
    ("quality", r"(?:generation |image |sample |model |output )?quality|生成质量|画质|质量"),
    ("convergence", r"(?:model )?convergence|收敛"),
    ("performance", r"(?:zero-shot |downstream |task |model )?(?:performance|evaluations)|性能|效果|成绩"),
    ("perplexity", r"perplexity|ppl|困惑度"),
    ("loss", r"(?:final |training |validation )?loss|损失"),
)  # fmt: skip
KEPT: dict[Language, dict[str, dict[str, str]]] = {
    "zh": {
        "accuracy": {"kept": "精度不降", "nearly": "精度几乎不受影响", "same": "精度相当"},
        "quality": {"kept": "质量不降", "nearly": "质量几乎不受影响", "same": "质量相当"},
        "convergence": {"kept": "不影响收敛", "nearly": "收敛几乎不受影响", "same": "收敛情况相近"},
        "performance": {"kept": "效果不降", "nearly": "效果几乎不受影响", "same": "效果相当"},
        "perplexity": {"kept": "困惑度不升", "nearly": "困惑度几乎不受影响", "same": "困惑度相当"},
        "loss": {"kept": "损失不变", "nearly": "损失几乎不变", "same": "损失相近"},
    },
    "en": {
        noun: {"kept": f"without giving up {noun}", "nearly": f"with negligible impact on {noun}", "same": f"at comparable {noun}"}
        for noun in ("accuracy", "quality", "convergence", "performance", "perplexity", "loss")
    },
}
