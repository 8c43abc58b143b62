"""Verification of segmented translations: whether each segment is a translation of its source segment.

Equal citations or ids are no proof of equal content: an edition may number its sections in its own way. Evidence is the
language of each text, lengths along the document, and the words (mostly names and numbers) that a text shares with the
source and with the other translations.

Here: doubts about the pairs of one document. Not here: identification of languages (corpus.languages), texts that an
aligner divided (alignment.extent), what follows from a doubt (corpus.renderings).
"""

import math
import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate, groupby
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.languages import FEWEST, identifiable, identified, plain
from benchmark_assets.corpus.model import Document
from resources.errors import BadInput

Floats = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)

KINDS = ("copied", "language", "repeated", "duplicate", "shifted", "unlike", "swapped", "displaced", "merged", "length")

CALLED_WRONG = "wrong"
"""Kind of a doubt that a person has (corpus.corrections)."""

RUNS = ("shifted", "unlike")
"""Kinds of doubts about runs of segments."""

WHOLE = 400
"""Fewest characters of a translation that is refused because of its language."""

FARTHEST = 3
"""Farthest shift of a run of segments that is looked for."""

CHANGE = 10.0
"""Log-likelihood that a run of shifted segments has to gain at its beginning, and again at its end: with fewer than
e^7 segments and six shifts, less than one document in a thousand has such a run by chance, if segments are
independent. They are not, because neighbors share names."""

FOUND = {"source": 0.5, "translation": 0.3}
"""Least share, of those that occur in two texts, of names that a translation shares with its source at their place, and
of rare words that it shares with another translation."""

FEWEST_PLACES = 8
"""Segments from which on it is known which words are rare."""

CLOSER = 5.0
"""Log-likelihood that a text has to gain at a neighbor's place, two neighbors by an exchange of their texts, or a whole
document at other places."""

MERGED = 3.0, 1.0
"""Log-likelihood that a short text, and a longer one, has to gain if it is taken for that of two source segments, the
second without a text."""

CLEAR = 4.0
"""Largest log-likelihood ratio of one kind of evidence on one segment."""

SEPARATED = 0.3
"""Kinds of evidence count only if true pairs differ from pairs at other places by this share of a standard
deviation."""

SUPPORTED = 0.2
"""If the source supports a run by this log-likelihood ratio for each segment, other translations do not outweigh it."""

TIMES_OFF = 3.0, 2.0
"""A short segment, and a longer one, is doubted if it is this many times longer or shorter than its source lets expect,
and farther off than FAR_OFF standard deviations."""

FAR_OFF = 4.25
"""Standard deviations of logarithms of lengths, as the document's median deviation lets expect them."""

LONG_ENOUGH = 60
"""Characters from which on repetitions and languages count. Lengths count from 80 on; up to 120, a segment is short."""

FEW = 0.05
"""Largest share of segments with the text of another translator, outside of copied stretches, in independent work."""

ROW = 5
"""Fewest segments in a row with the text of another translator that are a copy. Four independent translations of the
New Testament into English agree word for word in 659 of 47,616 pairs of verses, at most in four in a row."""

ALIKE, DIFFERENT = 0.3, 0.1
"""Least shares of common words (Jaccard) of two sources that repeat each other, and that may have one translation."""

ONE_LANGUAGE = 0.9
"""Least share of the language of several short texts that are not looked at one by one."""

OTHER_LANGUAGE = 0.8
"""A translation is refused if this share of its text is in another language."""

RELATED = [
    {"en", "sco"}, {"no", "nb", "nn", "da", "sv"}, {"hr", "sr", "bs", "sh"}, {"id", "ms"}, {"cs", "sk"}, {"pt", "gl"},
    {"zh", "lzh", "yue"}, {"el", "grc"}, {"pi", "sa", "hi", "mr", "ne"}, {"bo", "dz"},
]  # fmt: skip
"""Languages that short texts do not tell apart, or whose tags are used for each other."""

_WORD = re.compile(r"[^\W\d_]{3,}|\d+")
_ELLIPSIS = re.compile(r"…|\.\s?\.\s?\.|\betc\b")
_EMPTY = re.compile(r"[\W_]*|[\[(<{].*[\])>}]")
_MARKS = re.compile(r"[\u0300-\u036f]")


class Doubt(NamedTuple):
    """A reason to doubt that a translator's segment translates the source segment with its id.

    `kind` is one of KINDS: 'copied' (the source in place of a translation), 'language' (another language), 'repeated'
    (the text of a neighbor), 'duplicate' (the text of another translator), 'shifted' (in a run of segments whose texts
    belong to segments before or after them), 'unlike' (in a run of segments whose texts share neither names with the
    source nor words with other translations), 'swapped' (with a neighbor), 'displaced' (fits a neighbor better),
    'merged' (holds the text of the next segment, too) or 'length'.
    `evidence` is the same for all segments of a run.
    """

    translator: str
    segment: str
    kind: str
    evidence: str


def other_language(text: str, declared: str) -> str | None:
    """The language of a text, if it is plainly not the declared one; None if it may be, or if this is not known."""
    if not identifiable(declared) or sum(map(str.isalpha, text)) < FEWEST:
        return None
    found = identified(text)
    if found is None or not found.reliable or found.share < OTHER_LANGUAGE:
        return None
    return None if _related(found.tag, declared) else found.tag


def _related(tag: str, declared: str) -> bool:
    """Whether a text in the language `tag` may be in the declared one."""
    same = {plain(declared), tag}
    return len(same) == 1 or any(same <= group for group in RELATED)


def doubts(
    ids: Sequence[str], sources: Sequence[str], translations: Mapping[str, Sequence[str | None]], language: str
) -> Iterator[Doubt]:
    """Doubts about the pairs of a document, at most one for each segment of a translator, in order of the segments.

    Parameters
    ----------
    ids, sources
        Ids and texts of the document's segments.
    translations
        By translator, the text of each segment; None or '' where there is none.
    language
        Tag of the language of the translations.

    Notes
    -----
    With σ² the variance of the length of a translation for a character of source, the logarithm of the ratio of lengths
    has a variance of about σ²/length (Gale and Church 1993). A run is the path of offsets with the greatest sum of
    log-likelihood ratios (Viterbi) of two normal distributions with one variance: that of true pairs, at the offset at
    which most of the document matches, and that of pairs that are farther apart than any shift that is looked for.
    """
    if not any(map(any, translations.values())):
        return
    words, vectors, number = _vectors([sources, *translations.values()])
    lengths = np.array([len(text) for text in sources], dtype=float)
    names = [name for name, texts in translations.items() if any(texts)]
    filled = {name: np.array([bool(text and text.strip()) for text in translations[name]]) for name in names}
    present = {name: filled[name] & (lengths > 0) for name in names if (filled[name] & (lengths > 0)).any()}
    rare = dict(zip(translations, vectors[1:], strict=True))
    plains = dict(zip(translations, words[1:], strict=True))
    long = {name: np.array([len(text or "") for text in translations[name]], dtype=float) for name in present}
    by_source = _ratios({name: _evidence(vectors[0], rare[name], present[name]) for name in present})
    gains = {
        name: by_source[name] + _ratios({name: _fit(lengths, long[name], present[name])})[name] for name in present
    }
    duplicates = _duplicates(translations, plains)
    copies = {name for name, of in duplicates.items() if 2 * len(of) >= present[name].sum()}
    pairs = [(one, other) for one in present for other in present if one != other and other not in copies]
    sound = {
        name: present[name] & ~_marked(len(ids), _runs(ids, gains[name], gains[name], present[name]))
        for name in {other for _, other in pairs}
    }
    agreement = _ratios({
        (one, other): _evidence(rare[other], rare[one], present[one], sound[other]) for one, other in pairs
    })  # fmt: skip
    for name in present:
        others = [agreement[pair] for pair in pairs if pair[0] == name]
        alone = gains[name]
        along = alone + np.max(others, axis=0) if others else alone
        placed = [
            _placed(rare[other], rare[one], present[one] & present[other], FOUND["translation"])
            for one, other in pairs
            if one == name
        ]
        found: dict[int, tuple[str, str]] = {}
        for k, kind, evidence in (
            *_single(words[0], plains[name], translations[name], language, lengths >= LONG_ENOUGH / 2),
            *duplicates.get(name, ()),
            *_runs(ids, along, alone, present[name]),
            *_elsewhere(ids, vectors[0], rare[name], _names(translations[name], number), placed, present[name]),
            *_closer(ids, along, alone, present[name]),
            *_lengths(ids, sources, words[0], lengths, translations[name], long[name], present[name]),
        ):
            found.setdefault(k, (kind, evidence))
        yield from (Doubt(name, ids[k], *found[k]) for k in sorted(found))


def in_its_language(
    document: Document, description: Description, right: Collection[tuple[str, str]]
) -> tuple[Document, list[BadInput]]:
    """The document without translations that are as a whole in another language, and a fault for each of them.

    `right` has ids of documents and translators whose texts are right by hand.
    """
    texts = {prose.translator: prose.text for prose in document.prose}
    for name in description.references:
        of = (r.segments for passage in document.passages for r in passage.references if r.translator == name)
        texts.setdefault(name, " ".join(text for segments in of for text in segments if text))
    faults = []
    for name, text in texts.items():
        found = other_language(text, description.target_language) if len(text) >= WHOLE else None
        if found and (document.id, name) not in right:
            problem = f"is in the language {found}, not in {description.target_language}"
            if found == plain(description.source.language):
                problem += ": the source in place of a translation"
            shares = name in description.segmented and description.layout in ("table", "jsonl", "tmx", "conllu")
            first = "drop this reference" if shares else "remove this file"
            remedy = f"{first} or correct the reference's `language`; until then, the text is left out"
            faults.append(BadInput(_file(document, name), f"{document.id} {name}", problem, remedy))
    wrong = {fault.key.rpartition(" ")[2] for fault in faults}
    if not wrong:
        return document, faults
    passages = tuple(
        replace(passage, references=tuple(each for each in passage.references if each.translator not in wrong))
        for passage in document.passages
    )
    prose = tuple(each for each in document.prose if each.translator not in wrong)
    asides = tuple(each for each in document.asides if each.translator not in wrong)
    return replace(document, passages=passages, prose=prose, asides=asides), faults


def _file(document: Document, translator: str) -> Path:
    return next((prose.file for prose in document.prose if prose.translator == translator), document.file)


# Single segments


def _single(
    sources: Sequence[Sequence[str]], words: Sequence[Sequence[str]], texts: Sequence[str | None], language: str,
    long: NDArray[np.bool_],
) -> Iterator[tuple[int, str, str]]:  # fmt: skip
    """Copies of the source, texts in another language, and repetitions.

    `words` are of the texts. `long` says which sources are long: one text may be the answer to many short ones.
    """
    plains = [" ".join(each) for each in words]
    known = [frozenset(each) for each in sources]
    others = _other_languages(texts, language)
    for k, text in enumerate(texts):
        if not text or not plains[k]:
            continue
        own = frozenset(words[k])
        if len(own) >= 4 and len(own & known[k]) >= 0.8 * len(own):
            yield k, "copied", "repeats the source"
        elif k in others:
            yield k, "language", f"is in the language {others[k]}"
        for near in (k - 1, k - 2):
            if near >= 0 and _repeats(plains[k], plains[near]) and not _alike(known[k], known[near]):
                yield k, "repeated", f"repeats {'the text before it' if near == k - 1 else 'the text two before it'}"
    for same, times in Counter(texts).items():
        if times < 3 or not same or not same.strip():
            continue
        equal = [k for k, text in enumerate(texts) if text == same]
        if _unlike(known[k] for k in equal if long[k] or _EMPTY.fullmatch(same)) >= 3:
            yield from ((k, "repeated", f"is the same in {len(equal)} segments") for k in equal)


def _other_languages(texts: Sequence[str | None], declared: str) -> dict[int, str]:
    """The languages of texts that are plainly in another than the declared one.

    Consecutive short texts are judged together: many at once, and where these are not in one language, a few.
    """
    found: dict[int, str] = {}
    if not identifiable(declared):
        return found
    short: list[tuple[int, str]] = []
    for k, text in enumerate(texts):
        if text and len(text) < LONG_ENOUGH:
            short.append((k, text))
        elif text and (other := other_language(text, declared)):
            found[k] = other
    sizes = list(accumulate((len(text) for _, text in short), initial=0))
    first = 0
    while first < len(short):
        last = _until(sizes, first, 6 * LONG_ENOUGH)
        block = identified(" ".join(text for _, text in short[first:last]))
        if block is None or not block.reliable or block.share < ONE_LANGUAGE or not _related(block.tag, declared):
            for at in range(first, last):
                few = short[at : _until(sizes, at, LONG_ENOUGH)]
                if other := other_language(" ".join(text for _, text in few), declared):
                    found |= dict.fromkeys((k for k, _ in few), other)
        first = last
    return found


def _until(sizes: Sequence[int], first: int, characters: int) -> int:
    """The number after that of the last of the texts from `first` on that have so many characters."""
    return min(bisect_left(sizes, sizes[first] + characters), len(sizes) - 1)


def _unlike(sources: Iterable[frozenset[str]]) -> int:
    """How many of the sources, at most three, have different words."""
    chosen: list[frozenset[str]] = []
    for words in sources:
        if words and len(chosen) < 3 and not any(_alike(words, other, DIFFERENT) for other in chosen):
            chosen.append(words)
    return len(chosen)


def _duplicates(
    translations: Mapping[str, Sequence[str | None]], words: Mapping[str, Sequence[Sequence[str]]]
) -> dict[str, list[tuple[int, str, str]]]:
    """Segments with the text of a translator before, by translator: half of a translation or more, or a stretch.

    Single equal segments are no copy. In a revision, they stand everywhere between others.
    """
    found: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for later, (name, texts) in enumerate(translations.items()):
        for other in list(translations)[:later]:
            both = [k for k, text in enumerate(texts) if text and translations[other][k]]
            same = {k for k in both if words[name][k] and words[name][k] == words[other][k]}
            long = [k for k in both if len(texts[k] or "") >= LONG_ENOUGH / 2]
            stretches = [list(of) for is_same, of in groupby(long, same.__contains__) if is_same]
            equal = sum(map(len, stretches))
            copied = [k for of in stretches if len(of) >= min(ROW, max(3, len(long))) for k in of]
            if copied and 2 * equal >= len(long):
                evidence = f"has the text of {other}, as have {equal} of {len(long)} segments"
                found[name] += ((k, "duplicate", evidence) for k in sorted(same))
            elif equal - len(copied) <= FEW * len(long):
                evidence = f"has the text of {other}, in {ROW} segments or more in a row"
                found[name] += ((k, "duplicate", evidence) for k in copied)
    return found


def _alike(one: frozenset[str], other: frozenset[str], least: float = ALIKE) -> bool:
    """Whether source segments repeat each other, so that their translations may."""
    return len(one & other) >= least * len(one | other)


def _repeats(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= LONG_ENOUGH / 2 and shorter in longer


def _lengths(
    ids: Sequence[str], sources: Sequence[str], words: Sequence[Sequence[str]], lengths: Floats,
    texts: Sequence[str | None], long: Floats, present: NDArray[np.bool_],
) -> Iterator[tuple[int, str, str]]:  # fmt: skip
    """Texts that are as long as their own and the next source segment together, and those too long or too short.

    A text that is too short because of an ellipsis, or too long because of one in its source, is not; nor is a formula.
    """
    usual = float(np.median(_ratio(lengths, long)[present]))
    scale = max(1.4826 * float(np.median(np.abs(_deviations(lengths, long, usual)[present]))), 0.3)
    off, z = _ratio(lengths, long) - usual, _deviations(lengths, long, usual) / scale
    size = np.maximum(long, lengths * math.exp(usual))
    counted, short = present & (size >= 4 / 3 * LONG_ENOUGH), size < 2 * LONG_ENOUGH
    alone = np.append((long[1:] == 0) & (lengths[1:] > 0), False)
    both = _deviations(lengths + np.append(lengths[1:], 0), long, usual) / scale
    for k in map(int, np.flatnonzero(counted & alone & (z > 0) & ((z**2 - both**2) / 2 > np.where(short, *MERGED)))):
        yield k, "merged", f"is as long as the texts of its own and {ids[k + 1]}, which has none"
    for k in map(
        int, np.flatnonzero(counted & (np.abs(off) > np.log(np.where(short, *TIMES_OFF))) & (np.abs(z) > FAR_OFF))
    ):
        own = frozenset(words[k])
        formula = (other == texts[k] and j != k and _alike(own, frozenset(words[j])) for j, other in enumerate(texts))
        if not _ELLIPSIS.search((sources[k] if off[k] > 0 else texts[k]) or "") and not any(formula):
            times = math.exp(abs(off[k]))
            yield k, "length", f"is {times:.1f} times too {'long' if off[k] > 0 else 'short'} for its source"


def _ratio(sources: Floats, texts: Floats) -> Floats:
    return np.log((texts + 10) / (sources + 10))


def _deviations(sources: Floats, texts: Floats, usual: float) -> Floats:
    """How far logarithms of ratios are from the usual one, in standard deviations at the length of the source."""
    return (_ratio(sources, texts) - usual) / _spread(sources)


def _spread(sources: Floats) -> Floats:
    return np.sqrt(0.02 + 5 / (sources + 10))


# Along the document


class _Evidence(NamedTuple):
    """One kind of evidence on a number of segments: places and values by near offset, and values of far offsets."""

    segments: int
    near: dict[int, tuple[NDArray[np.int64], Floats]]
    apart: Floats


def _look(likeness: Callable[[int], Floats], present: NDArray[np.bool_], sources: NDArray[np.bool_]) -> _Evidence:
    """The likeness of the texts of `sources` to the present texts, by `likeness` for all segments at an offset."""
    left, count = np.flatnonzero(sources), len(present)

    def at(offset: int) -> tuple[NDArray[np.int64], Floats]:
        i = left[(left + offset >= 0) & (left + offset < count)]
        i = i[present[i + offset]]
        return i, likeness(offset)[i] if len(i) else np.empty(0)

    far = [at(offset)[1] for offset in range(-FARTHEST - 5, FARTHEST + 6) if abs(offset) > FARTHEST]
    return _Evidence(count, {offset: at(offset) for offset in range(-FARTHEST, FARTHEST + 1)}, np.concatenate(far))


def _evidence(
    others: "_RareWords", own: "_RareWords", present: NDArray[np.bool_], witnesses: NDArray[np.bool_] | None = None
) -> _Evidence:
    """The share of rare words that texts have in common; `witnesses` limits the other texts."""
    filled = np.bincount(others.rows, minlength=len(present)) > 0
    filled = filled if witnesses is None else filled & witnesses
    return _look(lambda offset: _shared(others, own, offset, len(present)), present, filled)


def _fit(lengths: Floats, long: Floats, present: NDArray[np.bool_]) -> _Evidence:
    """How well lengths fit, in standard deviations below 0."""
    usual = float(np.median(_ratio(lengths[present], long[present])))
    expected, own, spread = np.log(lengths + 10) + usual, np.log(long + 10), _spread(lengths)
    return _look(lambda offset: -np.abs(np.roll(own, -offset) - expected) / spread, present, lengths > 0)


def _ratios(evidence: Mapping[Key, _Evidence]) -> dict[Key, Floats]:
    """Log-likelihood ratios that source segment i is translated by text i + d, shape (segments, 2 FARTHEST + 1).

    The columns are the offsets d from -FARTHEST to FARTHEST; a missing text has the ratio 0. All texts are compared
    with the distributions of the one that matches best, so that a text that matches nowhere shows.
    """
    best: tuple[float, float, float] | None = None
    for one in evidence.values():
        parts = [part for _, values in one.near.values() for part in np.array_split(values, 3) if len(part) >= 4]
        if len(one.apart) < 8 or not parts:
            continue
        together = max(parts, key=lambda part: float(part.mean()))
        variance = (float(one.apart.var()) + float(together.var())) / 2 + 1e-9
        gap = float(together.mean() - one.apart.mean())
        if gap >= SEPARATED * math.sqrt(variance) and (best is None or gap / variance > best[0]):
            best = gap / variance, (float(together.mean()) + float(one.apart.mean())) / 2, gap
    ratios = {}
    for key, one in evidence.items():
        ratios[key] = np.zeros((one.segments, 2 * FARTHEST + 1))
        if best is not None:
            for offset in range(1, FARTHEST + 1):  # there is no text beyond the ends
                ratios[key][-offset:, FARTHEST + offset] = ratios[key][:offset, FARTHEST - offset] = -CLEAR
            for offset, (i, values) in one.near.items():
                ratios[key][i, offset + FARTHEST] = np.clip((values - best[1]) * best[0], -CLEAR, CLEAR)
    return ratios


def _marked(count: int, found: Iterable[tuple[int, str, str]]) -> NDArray[np.bool_]:
    marked = np.zeros(count, dtype=bool)
    marked[[k for k, _, _ in found]] = True
    return marked


def _runs(
    ids: Sequence[str], gains: Floats, alone: Floats, present: NDArray[np.bool_]
) -> Iterator[tuple[int, str, str]]:
    """Runs of at least three segments whose texts belong to other segments.

    `alone` has the log-likelihood ratios without the other translations. A run is sound if the source says so: then
    the other translations are wrong.
    """
    # A change of the offset costs more if it is far: texts with refrains resemble themselves at a distance.
    steps = np.append(np.abs(np.arange(2 * FARTHEST + 1) - FARTHEST), 1)
    cost = np.maximum(1, (1 + steps) / 2)
    for state, run in _stretches(np.column_stack([gains, alone[:, FARTHEST]]), cost, FARTHEST):
        offset = state - FARTHEST
        shift = 0 if offset > FARTHEST else offset
        # A source segment i is translated by text i + shift: the texts of these places are the wrong ones.
        wrong = range(max(run.start + min(shift, 0), 0), min(run.stop + max(shift, 0), len(ids)))
        texts = [k for k in wrong if present[k]]
        support = alone[run, FARTHEST].mean() - alone[run, FARTHEST + shift if shift else slice(None)].mean()
        if len(texts) < 3 or support > (0 if shift else SUPPORTED):
            continue
        yield from _doubted(ids, run, texts, shift, "other translations differ from it")


def _doubted(
    ids: Sequence[str], run: range, texts: Iterable[int], shift: int, reason: str
) -> Iterator[tuple[int, str, str]]:
    """A finding for each of the texts of a run, which are shifted, or unlike for a reason."""
    place = f"from {ids[run.start]} " + ("on" if run.stop == len(ids) else f"to {ids[run.stop - 1]}")
    kind, evidence = "unlike", f"{place} it has the text of other segments: {reason}"
    if shift:
        steps, where = "one" if abs(shift) == 1 else abs(shift), "after" if shift > 0 else "before"
        kind, evidence = "shifted", f"{place} shifted by {steps}: the text stands {abs(shift)} {where} its place"
    yield from ((k, kind, evidence) for k in texts)


def _elsewhere(
    ids: Sequence[str], source: "_RareWords", own: "_RareWords", names: Callable[[], NDArray[np.bool_]],
    placed: Sequence[Floats], present: NDArray[np.bool_],
) -> Iterator[tuple[int, str, str]]:  # fmt: skip
    """Runs of texts that share names with the source, or words with other translations, only at other places.

    `placed` has the evidence of the other translations. A run is sound if the source or one of them says so.
    """
    by_source = _placed(source, own, present, FOUND["source"])
    if _drops(by_source):
        by_source = _placed(source, own, present, FOUND["source"], names())
    for number, ratios in enumerate((by_source, *placed)):
        if not _drops(ratios):
            continue
        runs = [run for _, run in _stretches(np.column_stack([ratios, np.zeros(len(ids))]), np.ones(2), 0)]
        for run in runs or [range(len(ids))] * bool(ratios.sum() <= -CLOSER):
            # A run with no sound segment before it begins with the document; with none after it, it ends with it.
            sound = ratios > 0
            run = range(run.start if sound[: run.start].any() else 0, run.stop if sound[run.stop :].any() else len(ids))
            texts = [k for k in run if present[k]]
            if len(texts) >= 3 and all(each[run].sum() <= 0 for each in (by_source, *placed)):
                shift = 0 if number else _offset(source, own, run, names())
                witness = "other translations have their words" if number else "names and numbers of the source stand"
                yield from _doubted(ids, run, texts, shift, f"{witness} at other places")


def _drops(ratios: Floats) -> bool:
    """Whether a stretch of segments, or all together, have log-likelihood ratios far below 0."""
    sums = np.cumsum(-ratios)
    return bool(sums[-1] >= CLOSER or (sums - np.minimum(np.minimum.accumulate(sums), 0)).max() >= CHANGE)


def _placed(
    others: "_RareWords",
    own: "_RareWords",
    present: NDArray[np.bool_],
    least: float,
    names: NDArray[np.bool_] | None = None,
) -> Floats:
    """Log-likelihood ratios that texts stand at their places, by the rare words that occur in both translations.

    A word of one text is in the other at its place with a probability of at least `least` if both are sound, and else
    with that of any place. `names` limits the words.
    """
    one, other = (of.keys[present[of.rows]] for of in (others, own))
    counts = [np.bincount(keys % own.width, minlength=own.width) for keys in (one, other)]
    total = int(present.sum())
    rare = (counts[0] > 0) & (counts[1] > 0) & (np.maximum(*counts) <= max(2, total / 5))
    one = one[(rare if names is None else rare & names)[one % own.width]]
    if not len(one) or total < FEWEST_PLACES:
        return np.zeros(len(present))
    first, second = (of[one % own.width] for of in counts)
    anywhere = second / total
    here = anywhere + least * (np.minimum(first, second) / first - anywhere)
    shared = np.isin(one, other, assume_unique=True)
    ratios = np.where(shared, np.log(here / anywhere), np.log((1 - here) / (1 - anywhere)))
    return np.clip(np.bincount(one // own.width, ratios, len(present)), -CLEAR, CLEAR)


def _offset(source: "_RareWords", own: "_RareWords", run: range, names: NDArray[np.bool_]) -> int:
    """The offset at which texts share a third of the rare names of the sources of a run; 0 if there is none."""
    places: dict[int, list[int]] = defaultdict(list)
    for row, word in (divmod(int(key), own.width) for key in own.keys):
        if names[word]:
            places[word].append(row)
    offsets: Counter[int] = Counter()
    sought = 0
    for row, word in (divmod(int(key), source.width) for key in source.keys):
        if row in run and 0 < len(places.get(word, ())) <= 10:
            sought += 1
            offsets.update(at - row for at in places[word])
    ((offset, shared),) = offsets.most_common(1) or [(0, 0)]
    return offset if shared >= max(5, sought / 3) else 0


def _stretches(gains: Floats, costs: Floats, home: int) -> Iterator[tuple[int, range]]:
    """The stretches of segments that are not in the state `home`, on the path of states with the greatest gain.

    A change to another state costs `costs` times CHANGE.
    """
    count, states = gains.shape
    if np.maximum(gains.max(axis=1) - gains[:, home], 0).sum() < CHANGE:
        return
    cost = CHANGE * (1 - np.eye(states)) * costs
    score = gains[0] - cost[home]
    back = np.zeros((count, states), dtype=np.int64)
    for k in range(1, count):
        options = score[:, None] - cost
        back[k] = options.argmax(axis=0)
        score = options.max(axis=0) + gains[k]
    state = int(score.argmax())
    path = []
    for k in range(count - 1, -1, -1):
        path.append(state)
        state = int(back[k, state])
    at = 0
    for state, group in groupby(reversed(path)):
        run = range(at, at + len(list(group)))
        at = run.stop
        if state != home:
            yield state, run


def _closer(
    ids: Sequence[str], gains: Floats, alone: Floats, present: NDArray[np.bool_]
) -> Iterator[tuple[int, str, str]]:
    """Texts that fit a neighbor's place better, also without the other translations; two neighbors first."""
    later = np.array([of[1:, FARTHEST - 1] - of[:-1, FARTHEST] for of in (gains, alone)])
    earlier = np.array([of[:-1, FARTHEST + 1] - of[1:, FARTHEST] for of in (gains, alone)])
    least = np.array([[CLOSER], [0.0]])
    for k in map(int, np.flatnonzero((later + earlier >= least).all(axis=0) & present[:-1] & present[1:])):
        yield k, "swapped", f"fits {ids[k + 1]} better, whose text fits it"
        yield k + 1, "swapped", f"fits {ids[k]} better, whose text fits it"
    for k in map(int, np.flatnonzero((later >= least).all(axis=0) & present[:-1])):
        yield k, "displaced", f"fits {ids[k + 1]} better than its own source"
    for k in map(int, np.flatnonzero((earlier >= least).all(axis=0) & present[1:])):
        yield k + 1, "displaced", f"fits {ids[k]} better than its own source"


# Words


class _RareWords(NamedTuple):
    """The rare words of texts, as unit vectors: the text and the weight of each word, ordered by `keys`.

    A key is the number of the text times `width`, plus the number of the word.
    """

    keys: NDArray[np.int64]
    rows: NDArray[np.int64]
    weights: Floats
    width: int


def _vectors(texts: Sequence[Sequence[str | None]]) -> tuple[list[list[list[str]]], list[_RareWords], dict[str, int]]:
    """For each list of texts, the words of each text, and its rare words; the numbers of words.

    A word counts by its first five letters, because endings differ between languages and cases.
    """
    number: dict[str, int] = {}
    lists: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    words = [[_WORD.findall(_plain(text)) if text else [] for text in of] for of in texts]
    for of in words:
        numbers = [sorted({number.setdefault(word[:5], len(number)) for word in own}) for own in of]
        rows = np.repeat(np.arange(len(of)), [len(own) for own in numbers])
        lists.append((rows, np.array([each for own in numbers for each in own], dtype=np.int64)))
    counts = np.bincount(np.concatenate([columns for _, columns in lists]), minlength=len(number))
    weight = np.maximum(np.log(sum(map(len, texts)) / 4 / np.maximum(counts, 1)), 0)
    vectors = []
    for rows, columns in lists:
        norm = np.sqrt(np.bincount(rows, weight[columns] ** 2, len(texts[0])))
        weights = weight[columns] / np.maximum(norm[rows], 1e-9)
        vectors.append(_RareWords(rows * len(number) + columns, rows, weights, len(number)))
    return words, vectors, number


def _names(texts: Sequence[str | None], number: Mapping[str, int]) -> Callable[[], NDArray[np.bool_]]:
    """A function that says, by number, which words never begin with a small letter in the texts."""

    @cache
    def names() -> NDArray[np.bool_]:
        found = np.ones(len(number), dtype=bool)
        lower = {word[:5] for text in texts if text for word in _WORD.findall(_unmarked(text)) if word[0].islower()}
        found[[number[word] for word in lower if word in number]] = False
        return found

    return names


def _shared(others: _RareWords, own: _RareWords, offset: int, count: int) -> Floats:
    """The product of the vectors of text i of `others` and text i + `offset` of `own`, for each i below `count`."""
    wanted = own.keys - offset * own.width
    at = np.minimum(np.searchsorted(others.keys, wanted), max(len(others.keys) - 1, 0))
    same = others.keys[at] == wanted if len(others.keys) else np.zeros(len(wanted), dtype=bool)
    at = at[same]
    return np.bincount(others.rows[at], others.weights[at] * own.weights[same], count).astype(float)


def _plain(text: str) -> str:
    """Lower case without marks: the Latin names of a translation often lack them."""
    return _unmarked(text.lower())


def _unmarked(text: str) -> str:
    return _MARKS.sub("", unicodedata.normalize("NFD", text))
