"""Running text in Chinese, Japanese or Korean: its sentences, chunks of them, and what stands around a chunk.

Here: cutting a text that is in memory. Not here: files and their paragraphs (corpus.readers.chunks), what is asked
about a chunk (translation.requests).

A text is paragraphs with a line break between them. Source of the sizes: LiTERatE, Evaluation Units.
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
"""Which straight quotation mark each of them may be paired with, and whether it opens."""

Cost = tuple[int, int]


class Chunk(NamedTuple):
    """A chunk of a text, `text[start:end]` but for the blanks around it, with its sentences and its contexts.

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

    Han, kana and hangul, and with them everything that their writing sets as wide as a character: its punctuation,
    fullwidth letters and digits, quotation marks, dashes, ellipses, signs such as □ for a character that is lost. Not
    blanks, nor letters, digits and punctuation of ASCII, nor letters of other writing.
    """
    return sum(map(_counts, text))


def sentence_ends(text: str) -> list[int]:
    """Offsets behind each sentence, the marks that close it and the blanks that follow; the last is the text's length.

    A sentence ends with its paragraph, and with one of `ENDS`, after the closing quotation marks and brackets that
    stand right there. A straight quotation mark closes where one is open in the paragraph. No end is a mark before the
    first letter of a sentence, one that a clause mark follows, and a stop between digits. A text of blanks has none.

    Korean parts words by blanks and has the stop of ASCII. So behind a hangul letter `.` is a mark, too, and any mark
    is an end only where a blank or nothing follows: in '"가자!"고 했다.' the sentence goes on.
    """
    found: list[int] = []
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
            found.append(at)
            letter, filled = "", False
    return [*found, at] if filled else found


def closed(line: str) -> bool:
    """Whether a line ends with a sentence, or with a mark that closes a quotation or a bracket."""
    bare = line.rstrip("\"'")
    return line[-1:] in ENDS | CLOSING or (bare[-1:] in _KOREAN_ENDS and hangul(last_letter(bare)))


def last_letter(text: str) -> str:
    """The last letter or digit of a text; '' where it has none."""
    return next((sign for sign in reversed(text) if sign.isalnum()), "")


@cache
def hangul(sign: str) -> bool:
    """Whether a sign, or '', is a letter of Korean."""
    return sign != "" and unicodedata.name(sign, "").startswith("HANGUL ")


def chunks(text: str, rule: Chunks) -> list[Chunk]:
    """Cut a text at ends of sentences into chunks, each with its contexts. A text of blanks has none.

    Every chunk is in the rule's range wherever any cut makes that possible. Where none does, the CJK characters that
    chunks have too many or too few are as few as possible in sum. Of such cuts, one is taken that ends chunks with
    paragraphs and keeps sizes near the middle of the range: squares of distances are added, and a chunk that ends
    within a paragraph counts like one at the edge of the range. The same text is always cut alike.
    """
    ends = sentence_ends(text)
    starts = [0, *ends][:-1]
    sentences = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    whole = ["\n" in sentence[len(sentence.rstrip()) :] for sentence in sentences]
    found = []
    for first, last in _cut([count(sentence) for sentence in sentences], whole, rule.least, rule.most):
        start, end = starts[first], ends[last]
        own = tuple(sentence.strip() for sentence in sentences[first : last + 1])
        around = before(text, start, starts, rule.context), after(text, end, ends, rule.context)
        found.append(Chunk(start, end, text[start:end].strip(), own, *around))
    return found


def before(text: str, at: int, starts: Sequence[int], bounds: tuple[int, int]) -> str:
    """What stands before an offset: at least and at most so many CJK characters, fewer only where the text begins.

    The longest that begins with a sentence, else behind a clause mark, else the longest.

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
    """What stands behind an offset, as `before` has it; `ends` are the offsets behind sentences."""
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
    """The farthest of the offsets, which are in order of distance, that cuts no sentence, else no clause, else any."""
    for whole in (sentences, [each for each in fitting if text[each - 1 : each] in CLAUSES]):
        if found := [each for each in fitting if each in whole]:
            return found[-1]
    return fitting[-1]


def _cut(sizes: Sequence[int], whole: Sequence[bool], least: int, most: int) -> list[tuple[int, int]]:
    """First and last sentence of each chunk; `whole` says after which sentences a paragraph begins."""
    edge = max(1, most - least)
    totals = [0, *accumulate(sizes)]
    best: list[tuple[Cost, int]] = [((0, 0), 0)]
    for end in range(1, len(totals)):
        found: tuple[Cost, int] | None = None
        within = 0 if whole[end - 1] else edge**2
        tail = 0
        for start in range(end - 1, -1, -1):
            size = totals[end] - totals[start]
            # Once it can be cut in two with fewer characters out of range, it need not grow: at more than `least` and
            # `most` together, wherever both parts have more than half of `least`.
            if size > least + most and 2 * tail > least and 2 * (size - tail) > least:
                break
            tail = size if 2 * tail <= least else tail
            (out, uneven), _ = best[start]
            out += max(0, least - size, size - most)
            cost = out, uneven + (2 * size - least - most) ** 2 + within
            if found is None or cost < found[0]:
                found = cost, start
        assert found is not None  # the last sentence alone is a chunk
        best.append(found)
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
    """Note that a quotation is opened or closed by a sign; a straight one closes what is open."""
    if sign == "\n":
        opened.clear()
    elif sign in "\"'":
        opened ^= {sign}
    elif sign in _QUOTES:
        kind, opens = _QUOTES[sign]
        (opened.add if opens else opened.discard)(kind)
