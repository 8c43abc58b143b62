"""What is plainly wrong with an output, seen without judging its meaning, and by what evidence.

Here: rules that compare an output with its source, with the references of its passage and with the model's other
outputs. Nothing else goes in, least of all other passages' references, so that a fix of one of them leaves all other
diagnoses alone. Not here: how near it is in meaning (metrics.drift), rates over a corpus (metrics.summary).

Thresholds were set on 7 models' outputs for 1,700 passages of Pali, beside one English reference; docs/measurements.md
has the counts. That a model ended at its limit of tokens is no rule here: of a reply that was cut off, only passages
whose text was closed before the cut become outputs (translation.asking), and of imported outputs nobody knows it.
"""

import unicodedata
from collections import Counter
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.trigrams import jaccard, normalized, trigrams

DIAGNOSES = ["empty", "copied", "wrong_script", "wrong_language", "repeated", "truncated"]

STRETCH = 12
"""Letters that an output must share with its source in one piece, before they count as copied: names that a translation
keeps are shorter, for the most part."""

COPIED = 0.3
"""Share of an output's letters that are copied. Real outputs reach 0.22 by names and formulas; those whose second half
was replaced by that of the source begin at 0.32."""

FEWEST_LETTERS = 4
"""In fewer the script tells nothing."""

OWN_SCRIPT = 0.05
"""Share of the references' letters from which on a script is one of theirs, and not that of a word they quote."""

WRONG_SCRIPT = 0.2
"""Share of an output's letters in scripts that are not the references'."""

FEWEST_WORDS = 10
"""Of the output, and distinct ones of the references: with fewer, that they share none tells nothing."""

STRANGE = 0.1
"""Share of an output's words that are also the references', below which it is not in their language. Pali and Latin
beside English have 0.00 on average and less than 0.12 in 95 of 100; English beside other English of the passage has
0.27 or more in 99 of 100."""

FAMILIAR = 0.2
"""The same share, from which on it is."""

LOOP = 4
"""Times that a stretch stands in immediate succession; no real output reached 3."""

LOOP_CHARACTERS = 40
"""Length of all of them together, at least: 'no, no, no, no' is a translation."""

ALIKE = 0.5
"""Jaccard similarity of two sources' trigrams, from which on they may have the same translation."""

SHORT = 0.8
"""Length beside the shortest reference, below which a text without an end was cut."""

_GRAM = 16
_CLOSING = "\"'`"  # and whatever Unicode calls a closing bracket or a quotation mark
_INSIDE = ",，،、·"  # punctuation that ends no sentence

Finding = tuple[bool | None, str]
"""Whether something is wrong (None: it cannot be told), and the evidence, '' where nothing is."""


class Loop(NamedTuple):
    """A stretch in immediate succession: how often, and how many characters in all."""

    times: float
    characters: int


def diagnose(outputs: pl.DataFrame, references: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Diagnose each output.

    Parameters
    ----------
    outputs
        Columns `model`, `passage`, `text` and `twins` (list of passages, as from `twins`; null or empty where none).
    references
        Columns `passage` and `text`: complete references, any number of a passage.
    sources
        Columns `passage` and `text`, one row for each passage of `outputs`.

    Returns
    -------
    Columns `model`, `passage`, `DIAGNOSES` (boolean, null where it cannot be told: without references, or of a text
    that is too short) and `evidence` (words, '' where nothing is wrong; never a reference's text), a row an output.
    """
    human = references.group_by("passage").agg(references=pl.col("text"))
    rows = outputs.join(sources.select("passage", source="text"), on="passage", maintain_order="left")
    rows = rows.join(human, on="passage", how="left", maintain_order="left")
    found = [
        _diagnosed(text, source, references or [], twins or [])
        for text, source, references, twins in rows.select("text", "source", "references", "twins").iter_rows()
    ]
    schema = {**dict.fromkeys(DIAGNOSES, pl.Boolean()), "evidence": pl.String()}
    return pl.concat(
        [rows.select("model", "passage"), pl.DataFrame(found, schema=schema, orient="row")], how="horizontal"
    )


def twins(outputs: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Outputs that a model gave for several passages whose sources differ.

    Parameters
    ----------
    outputs
        Columns `model`, `passage`, `text`: whole rows of models.
    sources
        Columns `passage`, `text`; an output without a source is nobody's twin.

    Returns
    -------
    Columns `model`, `passage`, `twins`: the other passages, in order; only outputs that have some.
    """
    equal = outputs.with_columns(pl.col("text").str.strip_chars()).filter(pl.struct("model", "text").is_duplicated())
    known = sources.select("passage", "text").join(equal, on="passage", how="semi")
    grams = {passage: trigrams(text) for passage, text in known.iter_rows()}
    equal = equal.join(known, on="passage", how="semi", maintain_order="left")
    rows = [
        (model, passage, unlike)
        for (model, _), own in equal.group_by("model", "text", maintain_order=True)
        for passage in own["passage"]
        if (unlike := sorted(o for o in own["passage"] if jaccard(grams[passage], grams[o]) < ALIKE))
    ]
    schema = {"model": pl.String(), "passage": pl.String(), "twins": pl.List(pl.String)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def copied_share(text: str, source: str) -> float:
    """Share of a text's letters and digits in stretches of `STRETCH` or more that stand in the source, in [0, 1].

    Case, punctuation and spaces do not count. Of a source shorter than that, the whole is looked for.
    """
    text, source = normalized(text), normalized(source)
    width = min(STRETCH, len(source))
    if not text or not width:
        return 0.0
    stretches = {source[i : i + width] for i in range(len(source) - width + 1)}
    covered = reached = 0
    for i in range(len(text) - width + 1):
        if text[i : i + width] in stretches:
            covered += i + width - max(reached, i)
            reached = i + width
    return covered / len(text)


def scripts(text: str) -> Counter[str]:
    """How many letters a text has of each script, called by the first word of the letters' names in Unicode.

    Fullwidth and other forms of compatibility count as the letters that they stand for; modifiers do not count.
    """
    found: Counter[str] = Counter()
    for letter, count in Counter(unicodedata.normalize("NFKC", text)).items():
        if letter.isalpha() and (script := _SCRIPT[letter]):
            found[script] += count
    return found


def words(text: str) -> list[str]:
    """Words in lower case, without digits; in scripts that set no spaces between words, each letter of its own."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_WORDS).split()


def longest_loop(text: str) -> Loop:
    """The stretch that stands most often in immediate succession, as the times and the characters of all together.

    White space and case do not count. (1, 0) where nothing of 16 characters recurs.
    """
    text = " ".join(text.casefold().split())
    latest: dict[str, int] = {}
    best, run, period = Loop(1.0, 0), 0, 0
    for i in range(len(text) - _GRAM + 1):
        gram = text[i : i + _GRAM]
        since = i - latest.get(gram, i)
        latest[gram] = i
        run = run + 1 if since == period else 1
        period = since
        if period:
            length = run - 1 + _GRAM + period
            best = max(best, Loop(length / period, length))
    return best


def ends_open(text: str) -> bool:
    """Whether a text ends otherwise than by punctuation that ends a sentence; quotes and brackets after it are passed
    over."""
    end = text.rstrip()
    while end and (end[-1] in _CLOSING or unicodedata.category(end[-1]) in ("Pe", "Pf", "Pi")):
        end = end[:-1].rstrip()
    return not end or end[-1] in _INSIDE or unicodedata.category(end[-1]) != "Po"


def _diagnosed(text: str, source: str, references: list[str], others: list[str]) -> tuple[bool | str | None, ...]:
    if not any(letter.isalnum() for letter in text):
        return True, None, None, None, None, None, "no letter and no digit"
    findings = [
        _copied(text, source, references),
        _wrong_script(text, references),
        _wrong_language(text, references),
        _repeated(text, references, others),
        _truncated(text, references),
    ]
    evidence = "; ".join(words for _, words in findings if words)
    return False, *(found for found, _ in findings), evidence


def _copied(text: str, source: str, references: list[str]) -> Finding:
    share = copied_share(text, source)
    if share < COPIED or share <= max((copied_share(each, source) for each in references), default=0):
        return False, ""
    return True, f"{share:.0%} of its letters stand in the source in stretches of {STRETCH} and more"


def _wrong_script(text: str, references: list[str]) -> Finding:
    own, human = scripts(text), scripts(" ".join(references))
    if own.total() < FEWEST_LETTERS or not human:
        return None, ""
    known = {script for script, count in human.items() if count >= OWN_SCRIPT * human.total()}
    foreign = own.total() - sum(own[script] for script in known)
    if foreign < max(FEWEST_LETTERS, WRONG_SCRIPT * own.total()):
        return False, ""
    others = ", ".join(script for script, _ in own.most_common() if script not in known)
    return True, f"{foreign / own.total():.0%} of its letters are {others}, the references' {', '.join(sorted(known))}"


def _wrong_language(text: str, references: list[str]) -> Finding:
    own, known = words(text), {word for each in references for word in words(each)}
    if not own or not known:
        return None, ""
    share = sum(word in known for word in own) / len(own)
    if share >= FAMILIAR:
        return False, ""
    if share >= STRANGE or min(len(own), len(known)) < FEWEST_WORDS:
        return None, ""
    return True, f"{share:.0%} of its {len(own)} words are words of the references: another language, or another text"


def _repeated(text: str, references: list[str], others: list[str]) -> Finding:
    loop = longest_loop(text)
    looped = loop.times >= LOOP and loop.characters >= LOOP_CHARACTERS
    if looped and all(longest_loop(each).times < loop.times for each in references):
        return True, f"the same again and again: {round(loop.times)} times within {loop.characters} characters"
    if others:
        return True, f"the same text also for {', '.join(others[:3])}{' and others' if len(others) > 3 else ''}"
    return False, ""


def _truncated(text: str, references: list[str]) -> Finding:
    if not references or any(ends_open(each) for each in references):
        return None, ""
    ratio = len(text.strip()) / min(len(each.strip()) for each in references)
    if ratio >= SHORT or not ends_open(text):
        return False, ""
    return True, f"ends within a sentence, at {ratio:.0%} of the shortest reference's length"


class _Scripts(dict[str, str]):
    def __missing__(self, letter: str) -> str:
        name = "" if unicodedata.category(letter) == "Lm" else unicodedata.name(letter, "").partition(" ")[0]
        return self.setdefault(letter, name)


class _Words(dict[int, str]):
    """What becomes of a character: letters and marks stay, ideographs, kana and letters of scripts without spaces stand
    apart, anything else separates."""

    def __missing__(self, point: int) -> str:
        letter = chr(point)
        kept = letter if unicodedata.category(letter)[0] in "LM" else " "
        if kept != " " and unicodedata.name(letter, "").partition(" ")[0] in _UNSPACED:
            kept = f" {letter} "
        return self.setdefault(point, kept)


_UNSPACED = {"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"}
_SCRIPT, _WORDS = _Scripts(), _Words()
