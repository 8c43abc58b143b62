"""Running text in Chinese, Japanese or Korean: its sentences, chunks of sentences, and contexts of chunks.

Here: cutting a text in memory. Not here: files and their paragraphs (corpus.readers.chunks), requests about a chunk
(translation.requests).

A text consists of paragraphs separated by line breaks. Source of the sizes: LiTERatE, Evaluation Units.
"""

import unicodedata
from collections.abc import Collection, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from benchmark_assets.corpus.description import Chunks

ENDS = frozenset("。｡！？．…‥!?")
_KOREAN_ENDS = ENDS | {"."}
CLOSING = frozenset("」』）】〉》〕〗〙〛｣］｝〞〟”’)]}")
CLAUSES = frozenset("、，；：､,;:")

_QUOTES = {"“": ('"', True), "”": ('"', False), "‘": ("'", True), "`": ("'", True), "’": ("'", False)}
"""The straight quotation mark that each mark may be paired with, and whether it opens."""

Cost = tuple[int, int]


class Chunk(NamedTuple):
    """A chunk of a text, `text[start:end]` without the blanks around it, with its sentences and contexts.

    `previous` and `following` are '' where the text begins or ends.
    """

    start: int
    end: int
    text: str
    sentences: tuple[str, ...]
    previous: str
    following: str


def count(text: str) -> int:
    """CJK characters of a text.

    Counts Han, kana and hangul, and all signs that are as wide as these: their punctuation, fullwidth letters and
    digits, quotation marks, dashes, ellipses, signs such as □ for a lost character. Does not count blanks, ASCII
    letters, digits and punctuation, or letters of other scripts.
    """
    return sum(map(_counts, text))


def sentence_ends(text: str) -> list[int]:
    """Offsets after each sentence, its closing marks and the following blanks; the last is the text's length.

    A sentence ends with its paragraph, and with one of `ENDS`, after the closing quotation marks and brackets that
    follow directly. A straight quotation mark closes if one is open in the paragraph. A mark is no end before the first
    letter of a sentence, before a clause mark, or as a stop between digits. A text of blanks has no sentence.

    Korean separates words by blanks and has the full stop of ASCII. So `.` after a hangul letter is a mark, too, and
    any mark is an end only before a blank or at the end of the text: in '"가자!"고 했다.' the sentence continues.
    """
    offsets: list[int] = []
    opened: set[str] = set()
    at, letter, filled = 0, "", False
    while at < len(text):
        sign = text[at]
        _turn(sign, opened)
        at += 1
        letter, filled = sign if sign.isalnum() else letter, filled or not sign.isspace()
        korean = hangul(letter)
        marks = _KOREAN_ENDS if korean else ENDS
        if sign in marks and letter and not _between_digits(text, at - 1):
            while at < len(text) and (text[at] in marks or text[at] in CLOSING or _closes(text[at], opened)):
                _turn(text[at], opened)
                at += 1
            ended = at == len(text) or (text[at].isspace() if korean else text[at] not in CLAUSES)
        else:
            ended = sign == "\n" and filled
        if ended:
            while at < len(text) and text[at].isspace():
                _turn(text[at], opened)
                at += 1
            offsets.append(at)
            letter, filled = "", False
    return [*offsets, at] if filled else offsets


def closed(line: str) -> bool:
    """Whether a line ends with a sentence, or with a mark that closes a quotation or a bracket."""
    bare = line.rstrip("\"'")
    return line[-1:] in ENDS | CLOSING or (bare[-1:] in _KOREAN_ENDS and hangul(last_letter(bare)))


def last_letter(text: str) -> str:
    """The last letter or digit of a text; '' if it has none."""
    return next((sign for sign in reversed(text) if sign.isalnum()), "")


@cache
def hangul(sign: str) -> bool:
    """Whether a sign, or '', is a letter of Korean."""
    return sign != "" and unicodedata.name(sign, "").startswith("HANGUL ")


def chunks(text: str, rule: Chunks) -> list[Chunk]:
    """Cut a text at ends of sentences into chunks, each with its contexts. A text of blanks has no chunk.

    Every chunk is in the rule's range if any cut makes that possible. Otherwise the cut minimizes the sum of excess and
    missing CJK characters. Among equal cuts, the one is chosen that ends chunks with paragraphs and keeps sizes near
    the middle of the range: it minimizes the sum of squared distances from the middle, and a chunk that ends within a
    paragraph counts like one at the edge of the range. Cutting is deterministic.
    """
    ends = sentence_ends(text)
    starts = [0, *ends][:-1]
    sentences = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    whole = ["\n" in sentence[len(sentence.rstrip()) :] for sentence in sentences]
    cut_chunks = []
    for first, last in _cut([count(sentence) for sentence in sentences], whole, rule.least, rule.most):
        start, end = starts[first], ends[last]
        parts = tuple(sentence.strip() for sentence in sentences[first : last + 1])
        around = before(text, start, starts, rule.context), after(text, end, ends, rule.context)
        cut_chunks.append(Chunk(start, end, text[start:end].strip(), parts, *around))
    return cut_chunks


def before(text: str, at: int, starts: Sequence[int], bounds: tuple[int, int]) -> str:
    """The text before an offset, with a number of CJK characters within `bounds`; fewer only at the text's beginning.

    The longest such text that begins with a sentence, else after a clause mark, else the longest.

    Parameters
    ----------
    starts
        Offsets of sentences.
    """
    least, most = bounds
    size, fitting = 0, [at] if least == 0 else []
    for start in range(at - 1, -1, -1):
        size += _counts(text[start])
        if size > most:
            break
        if size >= least:
            fitting.append(start)
    if not fitting:
        return text[:at].strip()
    return text[_best(fitting, set(starts), text) : at].strip()


def after(text: str, at: int, ends: Sequence[int], bounds: tuple[int, int]) -> str:
    """The text after an offset, chosen as in `before`; `ends` are the offsets after sentences."""
    least, most = bounds
    size, fitting = 0, [at] if least == 0 else []
    for end in range(at + 1, len(text) + 1):
        size += _counts(text[end - 1])
        if size > most:
            break
        if size >= least:
            fitting.append(end)
    if not fitting:
        return text[at:].strip()
    return text[at : _best(fitting, set(ends), text)].strip()


def _best(fitting: Sequence[int], sentences: Collection[int], text: str) -> int:
    """The farthest of the offsets (in order of distance) that cuts no sentence, else no clause, else the farthest."""
    for whole in (sentences, [offset for offset in fitting if text[offset - 1 : offset] in CLAUSES]):
        if uncut := [offset for offset in fitting if offset in whole]:
            return uncut[-1]
    return fitting[-1]


def _cut(sizes: Sequence[int], whole: Sequence[bool], least: int, most: int) -> list[tuple[int, int]]:
    """First and last sentence of each chunk; `whole` is true for sentences at the end of a paragraph."""
    edge = max(1, most - least)
    totals = [0, *accumulate(sizes)]
    best: list[tuple[Cost, int]] = [((0, 0), 0)]
    for end in range(1, len(totals)):
        cheapest: tuple[Cost, int] | None = None
        within = 0 if whole[end - 1] else edge**2
        tail = 0
        for start in range(end - 1, -1, -1):
            size = totals[end] - totals[start]
            # A chunk need not grow once cutting it in two leaves fewer characters out of range: at more than `least`
            # and `most` together, if both parts have more than half of `least`.
            if size > least + most and 2 * tail > least and 2 * (size - tail) > least:
                break
            tail = size if 2 * tail <= least else tail
            (out, uneven), _ = best[start]
            out += max(0, least - size, size - most)
            cost = out, uneven + (2 * size - least - most) ** 2 + within
            if cheapest is None or cost < cheapest[0]:
                cheapest = cost, start
        assert cheapest is not None  # the last sentence alone is a chunk
        best.append(cheapest)
    cuts, end = [], len(sizes)
    while end:
        start = best[end][1]
        cuts.append((start, end - 1))
        end = start
    return cuts[::-1]


@cache
def _counts(character: str) -> bool:
    width, kind = unicodedata.east_asian_width(character), unicodedata.category(character)[0]
    return (width in "WFH" and kind not in "MZC") or (width == "A" and kind in "PS")


def _between_digits(text: str, at: int) -> bool:
    return text[at] == "．" and text[at - 1 : at].isdigit() and text[at + 1 : at + 2].isdigit()


def _closes(sign: str, opened: set[str]) -> bool:
    return sign in "\"'" and sign in opened


def _turn(sign: str, opened: set[str]) -> None:
    """Record that a sign opens or closes a quotation; a straight mark closes an open one."""
    if sign == "\n":
        opened.clear()
    elif sign in "\"'":
        opened ^= {sign}
    elif sign in _QUOTES:
        kind, opens = _QUOTES[sign]
        (opened.add if opens else opened.discard)(kind)
