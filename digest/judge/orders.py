"""Sentences of a feed that speak to a language model instead of a reader. They are no source: nobody obeys, quotes or rests on them."""

from __future__ import annotations

import re

from digest.text import sentence_spans

_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.!?。]{0,40}\b(?:instructions?|prompts?|rules|guidelines|the above|everything)\b"
    r"|\b(?:as|you are|you're|acting as) (?:an? )?(?:ai|language model|llm|assistant|chatbot|gpt)\b|\b(?:system|developer) (?:prompt|message)\b"
    r"|\bto the (?:ai|llm|language model|model|assistant|summari[sz]er)\b[:,]|\b(?:ai|llm|language models?|assistants?|summari[sz]ers?)(?: reading this)?\b[^.!?。]{0,20}\b(?:must|should|please|shall|have to)\b[^.!?。]{0,60}\b(?:say|write|state|praise|recommend|mention|rate|output|respond|reply|summari[sz]e)\b"
    r"|\b(?:when|if) (?:you )?summari[sz](?:e|ing)\b[^.!?。]{0,60}\b(?:say|write|state|praise|recommend|mention|include)\b|\b(?:say|write|state|respond|reply|output) (?:only|exactly|that)\b[^.!?。]{0,80}\b(?:best|buy|recommend|perfect|amazing)\b"
    r"|忽略[^。！？]{0,12}(?:指令|指示|提示|要求|内容)|(?:你是|作为)(?:一个|一名)?(?:AI|人工智能|语言模型|大模型|助手)|系统提示|请(?:务必)?(?:在(?:摘要|总结)中)?(?:写|说|称|推荐|夸)[^。！？]{0,20}(?:最好|最佳|最强|购买|推荐)",
    re.IGNORECASE,
)


def is_order(sentence: str) -> bool:
    """Whether the sentence tells a language model what to do."""
    return _ORDERS.search(sentence) is not None


def without_orders(text: str) -> str:
    """The text without such sentences."""
    if not _ORDERS.search(text):
        return text
    return " ".join(text[start:end] for start, end in sentence_spans(text) if not is_order(text[start:end]))
