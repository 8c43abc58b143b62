"""Talk about the task in an output, by meaning: refusals, announcements, notes, reasoning.

A sentence is talk if its vector is closer to sentences by which models speak about their task than to everything that
belongs to the passage. The model of the vectors is multilingual, so the anchors are few and need no list for each
language. Here: anchors, vectors and the comparison. Not here: which sentences of an output are compared
and form (metrics.packaging), the model (metrics.meaning).

The thresholds belong to this model and were set on wordings in 12 languages and on outputs for Pali and Chinese;
docs/measurements.md has the counts on other wordings, languages and systems.
"""

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.metrics.meaning import vector

ANCHORS = {
    "refusal": (
        "I'm sorry, but I cannot translate this text.", "I can't help with this request.",
        "As an AI language model, I am not able to do that.", "Please provide the text that you want me to translate.",
        "There is no text to translate.", "This content violates my guidelines.", "I must decline this task.",
        "I don't have enough context to translate this sentence.",
        "Es tut mir leid, aber ich kann diesen Text nicht übersetzen.", "Dabei kann ich Ihnen leider nicht helfen.",
        "Sinto muito, mas não posso traduzir este texto.", "Não me é possível ajudar com esse pedido.",
        "Мне жаль, но я не могу перевести этот текст.", "Я не могу помочь с этой просьбой.",
        "آسف، لا يمكنني ترجمة هذا النص.", "لا أستطيع مساعدتك في هذا الطلب.",
        "मुझे खेद है, मैं इस पाठ का अनुवाद नहीं कर सकता।", "मैं इस काम में मदद नहीं कर सकता।",
        "对不起，我不能翻译这段文字。", "我无法帮助您完成这个要求。",
        "申し訳ありませんが、このテキストは翻訳できません。", "ご依頼にはお応えできません。",
        "죄송하지만 이 글을 번역할 수 없습니다.", "그 부탁은 들어드릴 수 없습니다.",
        "ขอโทษ ฉันแปลข้อความนี้ไม่ได้", "Samahani, siwezi kutafsiri maandishi haya.",
    ),
    "announcement": (
        "Here is the translation:", "Sure! Here is the translated text.", "Translation:", "English:", "Output:",
        "The passage can be translated as follows:", "Hier ist die Übersetzung:", "以下是译文：",
    ),
    "note": (
        "Note:", "Note: I kept the original terms.", "Translator's note: the word has two meanings.",
        "Explanation of key terms:", "This translation stays close to the original text.",
        "Let me know if you would like any changes.", "I hope this helps!", "Would you like another version?",
        "Anmerkung: Die Namen bleiben unübersetzt.", "注：译文保留了原文的术语。",
    ),
    "reasoning": (
        "The user wants me to translate this text.", "Okay, I need to translate this passage.",
        "Let me break down the sentence first.", "Thinking process:", "首先，我需要翻译这段文字。",
    ),
    "other": (
        "He said:", "John:", "The king answered them:", "Thank you very much.", "What do you think?",
        "I don't know what to say.", "Let me tell you a story.", "This is what I have heard.", "Listen, my friends!",
        "I cannot do it.", "First he went home.", "There was once a man.", "They train like this:", "If one wishes:",
        "In other words:", "Then he considers:", "Harvest time:", "At dawn:",
    ),
}  # fmt: skip
"""Sentences of talk by kind, and ordinary sentences that resemble them (`other`)."""

LIKE = 0.84
"""Cosine with an anchor from which a sentence may be talk. Unrelated texts have about 0.8 with this model."""

MARGIN = 0.02
"""By how much talk is closer to its anchor than to every sentence of the references and the source."""

WIDE_MARGIN = 0.05
"""The margin without references: a source in another language is less close to its translation."""


def kind_of_talk(text: str, kinds: Iterable[str], known: Iterable[str], margin: float = MARGIN) -> str:
    """Which of `kinds` of talk a sentence is; '' if none.

    Parameters
    ----------
    text
        A sentence, or a whole short text.
    kinds
        Keys of `ANCHORS`.
    known
        Texts and sentences of the passage, read only if the text resembles an anchor.
    margin
        Least difference of cosines between the nearest anchor and the nearest known text or ordinary sentence.
    """
    own = vector(text)
    likeness = {kind: float((_anchors(kind) @ own).max()) for kind in (*kinds, "other")}
    nearest = max(likeness, key=likeness.__getitem__)
    if nearest == "other" or likeness[nearest] < LIKE:
        return ""
    given = max((float(vector(each) @ own) for each in known), default=-1.0)
    return nearest if likeness[nearest] - given >= margin else ""


@cache
def _anchors(kind: str) -> NDArray[np.float32]:
    """Unit vectors of the anchors of a kind, shape (anchors, dimensions)."""
    return np.stack([vector(anchor) for anchor in ANCHORS[kind]])
