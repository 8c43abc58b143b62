"""Faults in the text around a translation or in place of it: chat, reasoning, markup, refusals, mojibake.

Here: rules on form and wording. Wording that also occurs in a reference or in the source is not a fault. Not here: the
word lists (metrics.wordings), comparison of the translation itself (metrics.fidelity).
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from re import Pattern

from benchmark_assets.metrics.fidelity import NOTHING, ComparedPassage, Finding
from benchmark_assets.metrics.texts import MeasuredText
from benchmark_assets.metrics.wordings import (
    ABOUT_ITSELF,
    APOLOGY,
    CLOSING,
    DENIAL,
    LABEL,
    NOTE,
    OPENING,
    REQUEST,
    TASK,
    THOUGHT,
    THOUGHT_TAG,
    TRANSLATION,
)

UNRELATED = 0.3
"""A reply may be a refusal if the overlap of its content words with the references is below this limit."""

REPLY = 600
"""Maximum number of characters of a refusal, for passages without references."""

END = 300
"""Number of characters at the end of a text that are searched for closing words of a chat."""

START = 600
"""Number of characters at the start of a text that are searched for reasoning in words."""

LABELED = 60
"""Number of characters before a colon that are searched for a label of notes, such as "Note"."""

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

_COLON = re.compile("[:：]")
_LOST = re.compile(
    r"\ufffd|[\x00-\x08\x0e-\x1f\x80-\x84\x86-\x9f]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|â€|ï»¿|\?{4,}|[^\W\d_]\?[^\W\d_A-Z]"
    r"|[a-zß-ÿ][À-ÖØ-Þ]|[A-Z][À-ÖØ-Þ][a-z]"
)
"""Replacement and control characters, escapes, the start of a misread quotation mark; also question marks and capitals
that stand within a word."""


def preamble(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether there is text around the translation: an announcement, a label, notes, closing words of a chat."""
    if _new(LABEL.match, text, passage):
        return True, "starts with a label"
    if _new(OPENING.match, text, passage):
        return True, "starts like a chat reply"
    if passage.references and _new(_translation, text, passage):
        return True, "mentions a translation, unlike source and references"
    if _new(_note, text, passage):
        return True, "has a label of notes"
    return (True, "ends like a chat reply") if _new(_closing, text, passage) else NOTHING


def thinking(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether the text contains reasoning about the task."""
    if _new(THOUGHT_TAG.search, text, passage):
        return True, "has a tag or heading of reasoning"
    return (True, "reasons about its task") if _new(_thought, text, passage) else NOTHING


def markup(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether the text contains markup or is wrapped in it."""
    body = THOUGHT_TAG.sub("", text.text)  # tags of reasoning are a separate fault
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
    plain = text.plain
    if _new(PLACEHOLDER.fullmatch, text, passage):
        return True, "is a remark or a word for no value instead of a translation"
    if ABOUT_ITSELF.search(plain):
        return True, "speaks of itself as a model"
    for language, denial in DENIAL.items():
        if TASK[language].search(plain) and (denial.search(plain) or APOLOGY.search(plain)):
            return True, f"declines the task, in words of {language}"
    return (True, "asks for a text") if REQUEST.search(plain) else NOTHING


def mojibake(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether characters are garbled: misread encodings, replacement characters, visible escapes."""
    known = " ".join(each.text for each in passage.known)
    number = sum(run not in known for run in (*_LOST.findall(text.text), *_misread(text.text, known)))
    return (True, f"{number} garbled characters") if number else NOTHING


def _new(find: Callable[[str], object], text: MeasuredText, passage: ComparedPassage) -> bool:
    """Whether `find` finds something in a text, but nothing in the source and references of the passage."""
    return bool(find(text.plain)) and not any(find(known.plain) for known in passage.known)


def _translation(plain: str) -> bool:
    """Whether a text mentions a translation. Mentions in a key or a tag do not count."""
    return any(stem in plain for stem in TRANSLATION) and any(
        plain[place - 1 : place] not in {'"', "<", "/", "_"} for stem in TRANSLATION for place in _places(plain, stem)
    )


def _places(plain: str, stem: str) -> Iterator[int]:
    place = plain.find(stem)
    while place >= 0:
        yield place
        place = plain.find(stem, place + 1)


def _closing(plain: str) -> bool:
    return bool(CLOSING.search(plain[-END:]))


def _thought(plain: str) -> bool:
    return bool(THOUGHT.search(plain[:START]))


def _note(plain: str) -> bool:
    return any(NOTE.search(plain, max(0, colon.start() - LABELED), colon.end()) for colon in _COLON.finditer(plain))


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
