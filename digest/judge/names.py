"""Names in a text: words with a capital inside, with a digit, or with a capital where no sentence begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from digest.text import is_han

_WORD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+]*(?:[-.'’_/][A-Za-z0-9+]+)*|(?<![A-Za-z0-9.])\d+[A-Za-z]{2,}\d*\b")
_INSIDE = re.compile(r"[A-Z].*[A-Z]|\d|[a-z][A-Z]")
_START = re.compile(r"(?:^|[.!?。！？：:；;“\"(（\n]\s*)$")
# Words that are written with capitals and name nothing.
COMMON = frozenset(
    "ai gpu gpus cpu cpus llm llms ml rl nlp moe api sota ok vs e2e pdf url faq qa it us tv pc i a id fp bf int vram hbm ram oom rlhf sft dpo ppo rlvr cot ocr asr tts usd cny rmb gb mb tb kb gib "
    "mfu transformer transformers english chinese github arxiv gpuhours january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday ai's".split()
)
_TITLE_CASE = 0.7  # in a headline with so many capitals, a capital names nothing
_UNITS = re.compile(
    r"^\d+(?:\.\d+)?(?:x|k|m|b|t|gb|mb|tb|kb|gbps|mbps|gib|tib|ms|s|h|hrs?|min|kw|mw|bit|bits|st|nd|rd|th|p)$|^(?:[pteg]|peta|tera|giga|exa)?flops?$",
    re.IGNORECASE,
)


# What a Chinese text calls otherwise: the Latin name (as compared) and its Chinese forms.
_KNOWN_AS = {
    "mri": "磁共振|核磁", "moe": "混合专家", "npu": "神经网络处理器", "imagenet": "图像网", "asr": "语音识别", "nvidia": "英伟达", "google": "谷歌", "microsoft": "微软", "meta": "脸书",
    "huawei": "华为", "alibaba": "阿里", "tencent": "腾讯", "bytedance": "字节", "baidu": "百度", "tsinghua": "清华", "stanford": "斯坦福", "amazon": "亚马逊", "intel": "英特尔",
    "vit": "(?i)vision transformer", "dit": "(?i)diffusion transformer", "ssd": "固态", "hdd": "机械硬盘", "lidar": "激光雷达", "gan": "生成对抗", "vae": "变分自编码", "kg": "知识图谱", "smc": "序贯蒙特卡洛", "hopper": "霍珀", "china": "中国|国产", "mars": "火星", "martian": "火星", "bayesian": "贝叶斯", "gaussian": "高斯", "adam": "亚当", "markov": "马尔可夫|马尔科夫",
}  # fmt: skip


def is_known_as(name: str, text: str) -> bool:
    """Whether the text has the Chinese form of a Latin name, or the words whose first letters it is made of (LRA: long-range arena)."""
    if name in _KNOWN_AS and re.search(_KNOWN_AS[name], text):
        return True
    return (
        3 <= len(name) <= 6
        and name.isalpha()
        and re.search(r"\b" + r"[a-z]+[\s-]+".join(name[:-1]) + r"[a-z]+[\s-]+" + name[-1] + "[a-z]+", text.lower()) is not None
    )


@dataclass(frozen=True, slots=True)
class Name:
    """A name as written and as compared (``key``: lower case, without signs and plural s)."""

    text: str
    key: str
    start: int


def key(text: str) -> str:
    """The form by which two spellings of a name are one."""
    lowered = re.sub(r"['’]s$", "", text).lower()
    bare = re.sub(r"[^a-z0-9+.]", "", lowered).strip(".")
    return bare[:-1] if len(bare) > 3 and bare.endswith("s") and (bare[-2].isdigit() or text[-2:-1].isupper()) else bare


def names(text: str, *, with_common: bool = False) -> Iterator[Name]:
    """The names of a text, by place; ``with_common``: also those that the whole field uses (GPU, RLVR)."""
    is_chinese = is_han(text)
    words = re.findall(r"(?<![A-Za-z0-9])[A-Za-z]{4,}", text)
    is_title = len(words) > 3 and sum(word[0].isupper() for word in words) >= _TITLE_CASE * len(words)
    for match in _WORD.finditer(text):
        word = match[0]
        if _UNITS.match(word) or len(word) < 2 or (key(word) in COMMON and not with_common):
            continue
        starts = bool(_START.search(text[max(0, match.start() - 3) : match.start()]))
        is_name = bool(_INSIDE.search(word)) or (word[0].isupper() and not is_title and (not starts or is_chinese))
        if is_name and key(word):
            yield Name(word, key(word), match.start())


def spelled(text: str, keys: Iterable[str]) -> tuple[str, ...]:
    """Names as the text writes them, by their keys, in order; a key that is no name of it stays as it is."""
    written = {name.key: name.text for name in reversed(list(names(text, with_common=True)))}
    return tuple(written.get(each, each) for each in sorted(keys))


def key_text(text: str) -> str:
    """A text in the form of ``names.key``."""
    return re.sub(r"[^a-z0-9+.]", "", text.lower())
