"""Names in an entry: the entities of the settings, the method it presents, the address of its code, its kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from digest.classify.expressions import Lexicon, Node
from digest.model import Entry, ItemKind, Mention, MentionKind, SourceKind
from digest.read.folding import fold

_CODE = re.compile(r"https?://(?:www\.)?(?:github\.com|gitlab\.com|huggingface\.co|gitee\.com)/[\w.~-]+(?:/[\w.~-]+)?")
_NAME = r"(?:[A-Z][\w+]*[-–]?[A-Z0-9][\w+-]*|[A-Z]{2,}[\w+-]*|[A-Z][a-z]+[A-Z]\w*)(?:[ -](?:v?\d[\w.]*|[A-Z]{2,}\w*))?"
_IN_TITLE = re.compile(rf"^({_NAME}|[A-Z][\w+-]{{2,24}}|[a-z]+-[\w+-]{{2,20}})\s*[:：]")
_WORD = r"[A-Z][A-Za-z0-9+-]{2,30}"
_IN_TEXT = (
    re.compile(
        rf"\b(?:propose|introduce|present|develop|release|unveil|open-source|describe)s?d?\s(?:\\\w+\{{)?({_NAME}|{_WORD}(?: [A-Z][A-Za-z]+)?)\}}?(?:\s\([^()]{{2,60}}\))?,\s(?:an?|the|which|our)\b"
    ),
    re.compile(rf"\b(?:approach|method|framework|system|algorithm|optimizer|architecture|technique|library|model),\s({_NAME}|{_WORD}),"),
    re.compile(rf"\b(?:called|named|dubbed|termed)\s(?:``|\"|“)({_NAME}|{_WORD})(?:''|\"|”)"),
    re.compile(rf"\b(?:propose|introduce|present|develop|release|unveil|open-source)s?d?\s(?:the |a |an )?({_NAME})\s*[,(:]"),
    re.compile(rf"\b(?:called|named|dubbed|termed)\s+({_NAME})\b"),
    re.compile(rf"\b[Ww]e (?:propose|introduce|present|develop)\b[^.;:]{{0,80}}\(({_NAME})\)"),
    re.compile(r"(?:提出|推出|发布|开源|介绍)(?:了)?(?:一种|一个|一款)?(?:名为)?\s?([A-Z][A-Za-z0-9+-]{2,30}(?: [A-Z][A-Za-z0-9+-]{1,20})?)"),
)
_NOT_METHODS = frozenset(
    "LLM LLMs GPU GPUs CPU CPUs AI ML RL MLLM MLLMs VLM VLMs NLP API DNN DNNs CNN CNNs RNN RNNs MoE SGD Adam AdamW FP8 FP4 BF16 FP16 INT8 "
    "RLHF RLVR SFT DPO PPO GRPO LoRA PTQ QAT KV CUDA NVIDIA AMD Google Meta OpenAI IID SOTA VRAM HBM PDE PDEs ODE ODEs GNN GNNs ViT ViTs "
    "Transformer Transformers DiT DiTs SSM SSMs MLP MLPs DRL MARL FL TTS ASR OCR QA RAG BERT GPT Llama Qwen Mamba ImageNet".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How items of a kind are recognised: by the kind of source, a part of the address, or words in the title."""

    kind: ItemKind
    sources: tuple[SourceKind, ...] = ()
    links: tuple[str, ...] = ()
    find: tuple[str, ...] = ()


class NameReader:
    """Recognises names and kinds by the lists of the settings (``Name = other spelling = …``)."""

    def __init__(self, entities: Mapping[MentionKind, Sequence[str]], kinds: Sequence[Kind]) -> None:
        self._lexicon = Lexicon()
        self._entities: list[tuple[MentionKind, str, Node]] = []
        for kind, lines in entities.items():
            for line in lines:
                names = [name.strip() for name in line.split("=")]
                self._entities.append((kind, names[0], self._lexicon.any_of(names)))
        self._kinds = [(kind, self._lexicon.any_of(kind.find)) for kind in kinds]

    def mentions(self, entry: Entry) -> tuple[Mention, ...]:
        """Each name once, by first place; the quote is the words as the entry has them."""
        reading = self._lexicon.read(entry.title, entry.text)
        found = []
        for kind, name, node in self._entities:
            if spans := reading.spans(node):
                start, end = spans[0]
                found.append((start, Mention(kind=kind, text=name, quote=reading.joined[start:end], entry_key=entry.key)))
        found.sort(key=lambda pair: pair[0])
        known = [mention for _, mention in found]
        return tuple(_methods(entry, known) + known + _code(entry))

    def kind(self, entry: Entry, source_kind: SourceKind) -> ItemKind:
        """The first kind of the settings that fits; news when none does."""
        if entry.ids.arxiv:
            return "paper"
        reading = self._lexicon.read(entry.title, "")
        for kind, node in self._kinds:
            if source_kind in kind.sources or any(part in entry.url for part in kind.links) or reading.spans(node):
                return kind.kind
        return "news"


def _methods(entry: Entry, known: Sequence[Mention]) -> list[Mention]:
    """The name of what the entry presents, where it says so plainly; at most one."""
    taken = {fold(mention.text) for mention in known} | {fold(mention.quote) for mention in known}
    for pattern, words in ((_IN_TITLE, entry.title), *((pattern, entry.text[:3000]) for pattern in _IN_TEXT)):
        if match := pattern.search(words):
            name = match[1].strip(" -")
            if name not in _NOT_METHODS and fold(name) not in taken:
                return [Mention(kind="method", text=name, quote=name, entry_key=entry.key)]
    return []


def _code(entry: Entry) -> list[Mention]:
    if match := _CODE.search(entry.text):
        url = match[0].rstrip(".-")
        return [Mention(kind="code", text=url, quote=url, entry_key=entry.key)]
    return []
