"""Diagnoses of outputs: plain defects that can be seen without judging the meaning, with evidence.

Here: rules that compare an output with its source, with the references of its passage and with the model's other
outputs. They use no other input, in particular no references of other passages, so that fixing one passage leaves all
other diagnoses alone. Not here: nearness in meaning (metrics.drift), rates over a corpus (metrics.summary).

Thresholds were set on 7 models' outputs for 1,700 passages of Pali, with one English reference; docs/measurements.md
has the counts. Ending at the limit of tokens is no rule here: from a cut reply only passages whose text was closed
before the cut become outputs (translation.asking), and for imported outputs it is unknown.
"""

import unicodedata
from collections import Counter
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.trigrams import jaccard, normalized, trigrams

DIAGNOSES = ["empty", "copied", "wrong_script", "wrong_language", "repeated", "truncated"]

STRETCH = 12
"""Fewest consecutive letters shared with the source that count as copied: most names that a translation keeps are
shorter."""

COPIED = 0.3
"""Share of copied letters from which an output counts as copied. Real outputs reach 0.22 by names and formulas; outputs
with the source's text in their second half begin at 0.32."""

FEWEST_LETTERS = 4
"""With fewer letters the script is not diagnosed."""

OWN_SCRIPT = 0.05
"""Share of the references' letters from which a script is one of theirs, and not that of a quoted word."""

WRONG_SCRIPT = 0.2
"""Share of an output's letters in scripts foreign to the references from which its script is wrong."""

FEWEST_WORDS = 10
"""Fewest words of the output, and distinct words of the references, for a diagnosis: fewer may share none by chance."""

STRANGE = 0.1
"""Share of an output's words that also occur in the references, below which it is in another language. Pali and Latin
against English have 0.00 on average and less than 0.12 in 95 of 100; English against other English of the passage has
0.27 or more in 99 of 100."""

FAMILIAR = 0.2
"""Share of an output's words that also occur in the references, from which it is in their language."""

LOOP = 4
"""Immediate repetitions of a stretch from which a text is looped; no real output reached 3."""

LOOP_CHARACTERS = 40
"""Fewest characters of all repetitions together: 'no, no, no, no' is a translation."""

ALIKE = 0.5
"""Jaccard similarity of two sources' trigrams from which they may have the same translation."""

SHORT = 0.8
"""Length relative to the shortest reference below which a text without an end counts as cut."""

_GRAM = 16
_CLOSING = "\"'`"  # besides Unicode's closing brackets and quotation marks
_INSIDE = ",，،、·"  # punctuation that ends no sentence

Finding = tuple[bool | None, str]
"""Whether the output has the defect (None: undecidable), and the evidence, '' without a defect."""


class Loop(NamedTuple):
    """A stretch that repeats immediately: the number of repetitions, and their characters in all."""

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
    One row an output: columns `model`, `passage`, `DIAGNOSES` (boolean, null where undecidable: without references, or
    with too short a text) and `evidence` (words, '' without a defect; never a reference's text).
    """
    human = references.group_by("passage").agg(references=pl.col("text"))
    rows = outputs.join(sources.select("passage", source="text"), on="passage", maintain_order="left")
    rows = rows.join(human, on="passage", how="left", maintain_order="left")
    findings = [
        _diagnosed(text, source, references or [], twins or [])
        for text, source, references, twins in rows.select("text", "source", "references", "twins").iter_rows()
    ]
    schema = {**dict.fromkeys(DIAGNOSES, pl.Boolean()), "evidence": pl.String()}
    return pl.concat(
        [rows.select("model", "passage"), pl.DataFrame(findings, schema=schema, orient="row")], how="horizontal"
    )


def twins(outputs: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Outputs with the same text for several passages of one model whose sources differ.

    Parameters
    ----------
    outputs
        Columns `model`, `passage`, `text`: all outputs of the models.
    sources
        Columns `passage`, `text`; an output without a source has no twins and is no twin.

    Returns
    -------
    Columns `model`, `passage`, `twins`: the other passages, in order; only outputs that have twins.
    """
    equal = outputs.with_columns(pl.col("text").str.strip_chars()).filter(pl.struct("model", "text").is_duplicated())
    texts = sources.select("passage", "text").join(equal, on="passage", how="semi")
    grams = {passage: trigrams(text) for passage, text in texts.iter_rows()}
    equal = equal.join(texts, on="passage", how="semi", maintain_order="left")
    rows = [
        (model, passage, unlike)
        for (model, _), group in equal.group_by("model", "text", maintain_order=True)
        for passage in group["passage"]
        if (unlike := sorted(other for other in group["passage"] if jaccard(grams[passage], grams[other]) < ALIKE))
    ]
    schema = {"model": pl.String(), "passage": pl.String(), "twins": pl.List(pl.String)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def copied_share(text: str, source: str) -> float:
    """Share of a text's letters and digits in stretches of `STRETCH` or more that occur in the source, in [0, 1].

    Case, punctuation and spaces do not count. A source shorter than `STRETCH` is searched for as a whole.
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
    """Number of a text's letters in each script, named by the first word of the letters' Unicode names.

    Fullwidth and other compatibility forms count as the letters that they stand for; modifiers do not count.
    """
    counts: Counter[str] = Counter()
    for letter, count in Counter(unicodedata.normalize("NFKC", text)).items():
        if letter.isalpha() and (script := _SCRIPT[letter]):
            counts[script] += count
    return counts


def words(text: str) -> list[str]:
    """Words in lower case, without digits; in scripts without spaces between words, each letter is a word."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_WORDS).split()


def longest_loop(text: str) -> Loop:
    """The stretch with the most immediate repetitions: their number, and their characters in all.

    White space and case do not count. (1, 0) if no 16 characters recur.
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
    """Whether a text ends without punctuation that ends a sentence; closing quotes and brackets are ignored."""
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
    return False, *(defect for defect, _ in findings), evidence


def _copied(text: str, source: str, references: list[str]) -> Finding:
    share = copied_share(text, source)
    if share < COPIED or share <= max((copied_share(reference, source) for reference in references), default=0):
        return False, ""
    return True, f"{share:.0%} of its letters stand in the source in stretches of {STRETCH} and more"


def _wrong_script(text: str, references: list[str]) -> Finding:
    letters, human = scripts(text), scripts(" ".join(references))
    if letters.total() < FEWEST_LETTERS or not human:
        return None, ""
    expected = {script for script, count in human.items() if count >= OWN_SCRIPT * human.total()}
    foreign = letters.total() - sum(letters[script] for script in expected)
    if foreign < max(FEWEST_LETTERS, WRONG_SCRIPT * letters.total()):
        return False, ""
    others = ", ".join(script for script, _ in letters.most_common() if script not in expected)
    share, theirs = foreign / letters.total(), ", ".join(sorted(expected))
    return True, f"{share:.0%} of its letters are {others}, the references' {theirs}"


def _wrong_language(text: str, references: list[str]) -> Finding:
    tokens, vocabulary = words(text), {word for reference in references for word in words(reference)}
    if not tokens or not vocabulary:
        return None, ""
    share = sum(word in vocabulary for word in tokens) / len(tokens)
    if share >= FAMILIAR:
        return False, ""
    if share >= STRANGE or min(len(tokens), len(vocabulary)) < FEWEST_WORDS:
        return None, ""
    evidence = f"{share:.0%} of its {len(tokens)} words are words of the references: another language, or another text"
    return True, evidence


def _repeated(text: str, references: list[str], others: list[str]) -> Finding:
    loop = longest_loop(text)
    looped = loop.times >= LOOP and loop.characters >= LOOP_CHARACTERS
    if looped and all(longest_loop(reference).times < loop.times for reference in references):
        return True, f"the same again and again: {round(loop.times)} times within {loop.characters} characters"
    if others:
        return True, f"the same text also for {', '.join(others[:3])}{' and others' if len(others) > 3 else ''}"
    return False, ""


def _truncated(text: str, references: list[str]) -> Finding:
    if not references or any(ends_open(reference) for reference in references):
        return None, ""
    ratio = len(text.strip()) / min(len(reference.strip()) for reference in references)
    if ratio >= SHORT or not ends_open(text):
        return False, ""
    return True, f"ends within a sentence, at {ratio:.0%} of the shortest reference's length"


class _Scripts(dict[str, str]):
    def __missing__(self, letter: str) -> str:
        name = "" if unicodedata.category(letter) == "Lm" else unicodedata.name(letter, "").partition(" ")[0]
        return self.setdefault(letter, name)


class _Words(dict[int, str]):
    """Replacement of each character: letters and marks stay; ideographs, kana and letters of scripts without spaces get
    spaces around them; any other character becomes a space."""

    def __missing__(self, point: int) -> str:
        letter = chr(point)
        kept = letter if unicodedata.category(letter)[0] in "LM" else " "
        if kept != " " and unicodedata.name(letter, "").partition(" ")[0] in _UNSPACED:
            kept = f" {letter} "
        return self.setdefault(point, kept)


_UNSPACED = {"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"}
_SCRIPT, _WORDS = _Scripts(), _Words()
