"""Faults in the text around a translation or in place of it: chat, reasoning, markup, refusals, mojibake.

Here: which parts of an output are examined, and rules on form. What also occurs in a reference or in the source is not
a fault. Not here: the meaning of sentences (metrics.talk), comparison of the translation itself (metrics.fidelity).
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from re import Pattern

from benchmark_assets.metrics.fidelity import NOTHING, UNREAD, ComparedPassage, Finding
from benchmark_assets.metrics.meaning import signature
from benchmark_assets.metrics.talk import MARGIN, WIDE_MARGIN, kind_of_talk
from benchmark_assets.metrics.texts import MeasuredText, content, parts, words

UNRELATED = 0.3
"""A reply may be a refusal if the overlap of its content words with the references is below this limit."""

REPLY = 600
"""Maximum number of characters of a refusal, for passages without references."""

STRANGE_PART = 0.25
"""A part of an output may be talk if less than this share of its content words occurs in source or references."""

LABELED = 80
"""Number of characters before a colon that are examined as a label, such as "Translation:"."""

LINES = 8
"""Maximum number of lines of an output that are examined, half of them at each end."""

MARKUP: dict[str, Pattern[str]] = {
    "a code fence": re.compile(r"^\s*(?:```|~~~)", re.MULTILINE),
    "JSON": re.compile(r'\A\s*[\[{]\s*(?:"|\{\s*")|\{\s*"[\w -]+"\s*:|"\s*[\]}]\s*\Z'),
    "HTML or XML tags": re.compile(
        r"</[a-z][\w:-]*\s*>|<(?:br|p|div|span|b|i|em|strong|h[1-6]|ul|ol|li|blockquote|html|body|q|sup|sub)\b[^<>]*>",
        re.IGNORECASE,
    ),
    "HTML entities": re.compile(r"&(?:[a-z]{2,8}|#\d{2,5}|#x[0-9a-f]{2,5});", re.IGNORECASE),
    "Markdown": re.compile(
        r"\*\*[^*\n]+\*\*|__[^_\n]+__|^\s{0,3}#{1,6}\s\S|^\s*>\s|^\s*[-*+•]\s+\S|^\s*(?:-{3,}|\*{3,}|_{3,})\s*$|^\s*\|.*\|\s*$"
        r"|\[[^\]\n]+\]\(\S+\)|(?<![\w*])\*[^*\s][^*\n]*\*(?![\w*])|(?<![\w_])_[^_\s][^_\n]*_(?![\w_])",
        re.MULTILINE,
    ),
    "LaTeX": re.compile(r"\\(?:text\w*|boxed|begin|emph|item|section)\b"),
    "tokens of a chat template": re.compile(
        r"<\|[\w ]+\|>|</?s>|\[/?INST\]|<(?:eos|bos|pad|start_of_turn|end_of_turn)>"
    ),
}
"""Kinds of markup."""

PLACEHOLDER = re.compile(
    r"\s*(?:[\[(<{【（][^\])>}】）]{0,120}[\])>}】）]|n/?a|null|none|nil|undefined|error\b.{0,80}|untranslatable|-+|tbd|todo)[\s.]*",
    re.IGNORECASE,
)
"""A text that is nothing but a remark in brackets, or a word such as "none"."""

_PAGES = ("cp1252", "mac_roman", "cp437", "cp1251", "cp1250", "gbk", "cp932")
"""Code pages in which UTF-8 is often misread."""

_LABEL = re.compile(rf"\A[^:：\n{{<\[]{{1,{LABELED}}}[:：]")
_BRACKETED = re.compile(r"[(\[（【][^()\[\]（）【】]{12,}[)\]）】]\W*\Z")
_TAG = re.compile(
    r"</?\W?(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad|(?:inner|internal)_?monologue|plan|draft|cot)\b[^<>]{0,40}>"
    r"|[◁◀<]/?think[▷▶>]|\[/?think\]|<\|?(?:channel|begin_of_thought|end_of_thought|start_thinking|end_thinking)\|?>|<\|(?:start|end)\|>",
    re.IGNORECASE,
)
"""A tag of reasoning."""

_TALK = {
    "announcement": ("preamble", "announces the translation"),
    "note": ("preamble", "has notes or closing words of a chat"),
    "reasoning tag": ("thinking", "has a tag of reasoning"),
    "reasoning": ("thinking", "reasons about its task"),
}
"""Fault and evidence by kind of talk."""

_LOST = re.compile(
    r"\ufffd|[\x00-\x08\x0e-\x1f\x80-\x84\x86-\x9f]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|â€|ï»¿|\?{4,}|[^\W\d_]\?[^\W\d_A-Z]"
    r"|[a-zß-ÿ][À-ÖØ-Þ]|[A-Z][À-ÖØ-Þ][a-z]"
)
"""Replacement and control characters, escapes, the start of a misread quotation mark; also question marks and capitals
that stand within a word."""


def talk(text: MeasuredText, passage: ComparedPassage) -> dict[str, Finding]:
    """Whether there is text about the task around the translation (`preamble`), or reasoning (`thinking`)."""
    kinds = set()
    if not any(_TAG.search(known.text) for known in passage.known) and _TAG.search(text.text):
        kinds.add("reasoning tag")
    strange = [part for part in _outer_parts(text.text) if _strange(part, passage)]
    if strange and not signature():
        return {"preamble": UNREAD, "thinking": (True, _TALK["reasoning tag"][1]) if kinds else UNREAD}
    margin = MARGIN if passage.references else WIDE_MARGIN
    given = [*passage.pieces, *(label for piece in passage.pieces for label in _LABEL.findall(piece))]
    for part in strange:
        kind = kind_of_talk(part, ("announcement", "note", "reasoning"), given, margin)
        kinds.add("note" if kind == "reasoning" and text.text.rstrip().endswith(part) else kind)
    found: dict[str, list[str]] = {"preamble": [], "thinking": []}
    for fault, evidence in (_TALK[kind] for kind in _TALK if kind in kinds):
        found[fault].append(evidence)
    return {name: (True, ", ".join(evidence)) if evidence else NOTHING for name, evidence in found.items()}


def markup(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether the text contains markup or is wrapped in it."""
    body = _TAG.sub("", text.text)  # tags of reasoning are a separate fault
    kinds = [
        kind
        for kind, pattern in MARKUP.items()
        if pattern.search(body) and not any(pattern.search(known.text) for known in passage.known)
    ]
    return (True, f"contains {', '.join(kinds)}") if kinds else NOTHING


def refused(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether the text declines to translate, asks for a text, or is a placeholder.

    A text that resembles the references is not a refusal. Without references, a long text is not a refusal.
    """
    if passage.similarity(text) >= UNRELATED if passage.references else len(text.text) > REPLY:
        return NOTHING
    if PLACEHOLDER.fullmatch(text.text) and not any(PLACEHOLDER.fullmatch(known.text) for known in passage.known):
        return True, "is a remark or a word for no value instead of a translation"
    if not signature():
        return UNREAD
    margin = MARGIN if passage.references else WIDE_MARGIN
    for part in dict.fromkeys([text.text, *parts(text.text)[:1]]):
        if kind_of_talk(part, ["refusal"], passage.pieces, margin):
            return True, "declines the task or asks for a text, unlike source and references"
    return NOTHING


def mojibake(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether characters are garbled: misread encodings, replacement characters, visible escapes."""
    known = " ".join(each.text for each in passage.known)
    number = sum(run not in known for run in (*_LOST.findall(text.text), *_misread(text.text, known)))
    return (True, f"{number} garbled characters") if number else NOTHING


def _outer_parts(text: str) -> list[str]:
    """Parts of a text that may stand around a translation: lines at both ends, the first and the last sentence, a
    label, a remark in brackets. A text of one part has none."""
    lines = text.strip().splitlines()
    lines = lines if len(lines) <= LINES else [*lines[: LINES // 2], *lines[-LINES // 2 :]]
    sentences = parts(text)
    outer = [*lines, *sentences[:1], *sentences[-1:], *_LABEL.findall(text.lstrip()), *_BRACKETED.findall(text)]
    whole = text.strip()
    distinct = dict.fromkeys(part.strip() for part in outer)
    return [part for part in distinct if part != whole and any(letter.isalnum() for letter in part)]


def _strange(part: str, passage: ComparedPassage) -> bool:
    """Whether a part has hardly any content words in common with source and references."""
    stems = content(words(part))
    return sum(stem in passage.stems for stem in stems) <= STRANGE_PART * len(stems)


def _misread(text: str, known: str) -> Iterator[str]:
    """Stretches of a text that are UTF-8 decoded with a wrong code page."""
    for run in re.findall(r"[^\x00-\x7f]+", text):
        if any(all(letter in known or _common(letter) for letter in reading) for reading in _readings(run)):
            yield run


@lru_cache(maxsize=4096)
def _readings(run: str) -> frozenset[str]:
    """The texts whose UTF-8, decoded with one of the code pages, gives this stretch."""
    found = set()
    for page in _PAGES:
        try:
            data = b"".join(bytes([ord(c)]) if 0x80 <= ord(c) <= 0x9F else c.encode(page) for c in run)
            found.add(data.decode("utf-8"))
        except UnicodeError:
            continue
    return frozenset(reading for reading in found if len(reading) <= len(run) and reading != run)


def _common(letter: str) -> bool:
    """Whether a character is a Latin letter or a typographic mark, like most characters that become garbled."""
    return letter <= "\u017f" or "\u1e00" <= letter <= "\u1eff" or "\u2010" <= letter <= "\u2044"
