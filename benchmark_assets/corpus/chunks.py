"""Cutting running text in Chinese, Japanese or Korean into chunks of whole sentences, with the context of each chunk.

Here: cutting a text in memory. Not here: files and their paragraphs (corpus.readers.chunks), requests about a chunk
(translation.requests).

The paragraphs of a text are separated by line breaks. Source of the sizes: LiTERatE, Evaluation Units.
"""

import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from benchmark_assets.corpus.description import Chunks

ENDS = frozenset("。｡！？．…‥!?")
_KOREAN_ENDS = ENDS | {"."}
CLOSING = frozenset("」』）】〉》〕〗〙〛｣］｝〞〟”’)]}")
FINAL = frozenset("也矣焉哉乎耳歟邪耶兮")
"""Particles that end a clause of Classical Chinese."""
CLAUSES = frozenset("、，；：､,;:")

_QUOTES = {"“": ('"', True), "”": ('"', False), "‘": ("'", True), "`": ("'", True), "’": ("'", False)}
"""For each quotation mark, the straight mark that may be its counterpart, and whether it opens a quotation."""

Cost = tuple[int, int]
"""Cost of a cut: the number of characters by which chunks are too long or too short, then the penalty (see
`chunks`)."""


class Chunk(NamedTuple):
    """A chunk of a text: the part from offset `start` to `end`, its sentences, and its context on both sides.

    `text` and `sentences` have no surrounding white space. `previous` and `following` are the context before and after
    the chunk, '' at the beginning or end of the text.
    """

    start: int
    end: int
    text: str
    sentences: tuple[str, ...]
    previous: str
    following: str


def count(text: str) -> int:
    """Number of CJK characters in a text.

    Counts Han, kana and hangul, and all other wide characters: CJK punctuation, fullwidth letters and digits, quotation
    marks, dashes, ellipses, symbols such as □ for a lost character. Does not count white space, ASCII characters, or
    letters of other scripts.
    """
    return sum(map(_counts, text))


def sentence_ends(text: str) -> list[int]:
    """Offsets at which the sentences of a text end; each sentence includes the white space that follows it.

    A sentence ends where its paragraph ends, or after one of the marks in `ENDS`. Closing quotation marks and brackets
    that directly follow the mark belong to the sentence. A straight quotation mark is a closing quotation mark if a
    quotation is open in the paragraph. A mark does not end a sentence if no letter precedes it in the sentence, if a
    clause mark follows it, or if it is a full stop between digits. White space alone is not a sentence.

    Korean separates words by spaces and uses the ASCII full stop. Therefore, if the last letter before a mark is
    hangul, `.` also counts as a mark, and the mark ends the sentence only before white space or at the end of the text.
    In '"가자!"고 했다.' the sentence continues after the exclamation mark.
    """
    offsets: list[int] = []
    opened: set[str] = set()
    at, letter, filled = 0, "", False
    while at < len(text):
        sign = text[at]
        _track_quotation(sign, opened)
        at += 1
        letter, filled = sign if sign.isalnum() else letter, filled or not sign.isspace()
        korean = hangul(letter)
        marks = _KOREAN_ENDS if korean else ENDS
        if sign in marks and letter and not _between_digits(text, at - 1):
            while at < len(text) and (
                text[at] in marks or text[at] in CLOSING or (text[at] in "\"'" and text[at] in opened)
            ):
                _track_quotation(text[at], opened)
                at += 1
            ended = at == len(text) or (text[at].isspace() if korean else text[at] not in CLAUSES)
        else:
            ended = sign == "\n" and filled
        if ended:
            while at < len(text) and text[at].isspace():
                _track_quotation(text[at], opened)
                at += 1
            offsets.append(at)
            letter, filled = "", False
    return [*offsets, at] if filled else offsets


def closed(line: str) -> bool:
    """Whether a line ends with a sentence-final mark, a closing quotation mark or a closing bracket."""
    bare = line.rstrip("\"'")
    return line[-1:] in ENDS | CLOSING or (bare[-1:] in _KOREAN_ENDS and hangul(last_letter(bare)))


def last_letter(text: str) -> str:
    """The last letter or digit of a text; '' if it has neither."""
    return next((sign for sign in reversed(text) if sign.isalnum()), "")


@cache
def hangul(sign: str) -> bool:
    """Whether a character is a Korean letter; False for ''."""
    return sign != "" and unicodedata.name(sign, "").startswith("HANGUL ")


def chunks(text: str, rule: Chunks) -> list[Chunk]:
    """Cut a text into chunks of whole sentences, each with its context on both sides. White space alone is not a chunk.

    The cut minimizes the total number of CJK characters by which chunks are longer than `rule.most` or shorter than
    `rule.least`. This total is 0 if some cut keeps every chunk in the range. Cuts with the same total are compared by a
    penalty, so that chunks end with a paragraph and have sizes near the middle of the range. The penalty is the sum of
    the squared distances of sizes from the middle; each chunk that ends within a paragraph adds the squared distance
    from the middle to the edge of the range. Cutting is deterministic.

    A sentence of more than `rule.most` characters without any mark, as in Classical Chinese without punctuation, is cut
    into equal parts of at most `rule.most`, each after the final particle that is near its end, if there is one.
    """
    whole = sentence_ends(text)
    ends = [end for at, last in zip([0, *whole], whole, strict=False) for end in _parts(text, at, last, rule.most)]
    starts = [0, *ends][:-1]
    sentences = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    ends_paragraph = ["\n" in sentence[len(sentence.rstrip()) :] for sentence in sentences]
    cut_chunks = []
    for first, last in _cut([count(sentence) for sentence in sentences], ends_paragraph, rule.least, rule.most):
        start, end = starts[first], ends[last]
        parts = tuple(sentence.strip() for sentence in sentences[first : last + 1])
        around = before(text, start, starts, rule.context), after(text, end, ends, rule.context)
        cut_chunks.append(Chunk(start, end, text[start:end].strip(), parts, *around))
    return cut_chunks


def before(text: str, at: int, starts: Sequence[int], bounds: tuple[int, int]) -> str:
    """The context before an offset of a text, without surrounding white space.

    The context ends at the offset, and its number of CJK characters is within the bounds. Of all such stretches of
    text, the longest one that begins where a sentence begins is chosen. If there is none, the longest stretch that
    begins after a clause mark is chosen; if there is none either, the longest stretch of all. If the text before the
    offset is shorter than the lower bound, all of this text is the context.

    Parameters
    ----------
    starts
        Offsets at which sentences begin.
    bounds
        Minimum and maximum number of CJK characters.
    """
    signs = ((start, text[start]) for start in range(at - 1, -1, -1))
    return text[_context_edge(text, at, signs, set(starts), bounds) : at].strip()


def after(text: str, at: int, ends: Sequence[int], bounds: tuple[int, int]) -> str:
    """The context after an offset of a text, chosen as in `before`; `ends` are the offsets at which sentences end."""
    signs = ((end, text[end - 1]) for end in range(at + 1, len(text) + 1))
    return text[at : _context_edge(text, at, signs, set(ends), bounds)].strip()


def _context_edge(
    text: str, at: int, signs: Iterable[tuple[int, str]], sentences: Collection[int], bounds: tuple[int, int]
) -> int:
    """The far edge of the context on one side of an offset (see `before`).

    `signs` yields the characters in one direction from the offset, as pairs (edge, character). Here, `edge` is the far
    edge that the context has if the character is its outermost one.
    """
    least, most = bounds
    size, edge, fitting = 0, at, [at] if least == 0 else []
    for edge, sign in signs:
        size += _counts(sign)
        if size > most:
            break
        if size >= least:
            fitting.append(edge)
    if not fitting:
        return edge
    for boundaries in (sentences, [offset for offset in fitting if text[offset - 1 : offset] in CLAUSES]):
        if at_boundary := [offset for offset in fitting if offset in boundaries]:
            return at_boundary[-1]
    return fitting[-1]


def _parts(text: str, start: int, end: int, most: int) -> list[int]:
    """Ends of the parts of a sentence: its own, unless it is too long and has no mark."""
    places = [at for at in range(start, end) if _counts(text[at])]
    if len(places) <= most or any(sign in ENDS or sign in CLAUSES for sign in text[start:end]):
        return [end]
    number = -(-len(places) // most)
    size = len(places) // number
    cuts = []
    for part in range(1, number):
        middle = part * len(places) // number
        near = [at for at in range(middle - size // 8, middle + 1) if text[places[at - 1]] in FINAL]
        cuts.append(places[near[-1] if near else middle])
    return [*cuts, end]


def _cut(sizes: Sequence[int], ends_paragraph: Sequence[bool], least: int, most: int) -> list[tuple[int, int]]:
    """Indices of the first and last sentence of each chunk, by dynamic programming over the ends of chunks.

    `sizes` has each sentence's number of CJK characters; `ends_paragraph` is true for the last sentence of a paragraph.
    """
    edge = max(1, most - least)
    totals = [0, *accumulate(sizes)]
    best: list[tuple[Cost, int]] = [((0, 0), 0)]
    for end in range(1, len(totals)):
        cheapest: tuple[Cost, int] | None = None
        within = 0 if ends_paragraph[end - 1] else edge**2
        tail = 0
        for start in range(end - 1, -1, -1):
            size = totals[end] - totals[start]
            # Stop when a cut in two would leave fewer characters out of range than this chunk: when it has more than
            # `least + most` characters and can be cut into parts of more than half of `least`.
            if size > least + most and 2 * tail > least and 2 * (size - tail) > least:
                break
            tail = size if 2 * tail <= least else tail
            (excess, unevenness), _ = best[start]
            excess += max(0, least - size, size - most)
            cost = excess, unevenness + (2 * size - least - most) ** 2 + within
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


def _track_quotation(sign: str, opened: set[str]) -> None:
    """Update the straight marks of the open quotations in `opened` after a character.

    A line break closes all quotations.
    """
    if sign == "\n":
        opened.clear()
    elif sign in "\"'":
        opened ^= {sign}
    elif sign in _QUOTES:
        kind, opens = _QUOTES[sign]
        (opened.add if opens else opened.discard)(kind)
