"""Diagnoses of outputs: defects that are visible without judging the meaning, with evidence.

Here: rules that compare an output with its source, the references of its passage, and the model's other outputs. No
rule uses references of other passages, so that correcting one passage leaves all other diagnoses alone. Not here:
similarity in meaning (metrics.drift), rates over a corpus (metrics.summary).

Thresholds were tuned on the outputs of 7 models for 1,700 Pali passages with one English reference;
docs/measurements.md has the counts. No rule asks whether a reply reached the token limit: a truncated reply yields
outputs only for passages that were complete before the cut (translation.asking), and the limit of imported outputs is
unknown.
"""

import unicodedata
from collections import Counter
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.trigrams import jaccard, normalized, trigrams

DIAGNOSES = ["empty", "copied", "wrong_script", "wrong_language", "repeated", "truncated"]

STRETCH = 12
"""Fewest consecutive letters shared with the source that count as copied. Most names that translations retain are
shorter."""

COPIED = 0.3
"""An output with at least this share of copied letters counts as copied. In real outputs, names and formulas amount to
0.22 at most; outputs whose second half is the source's text have 0.32 or more."""

FEWEST_LETTERS = 4
"""Fewest letters in an output, and in foreign scripts, for a diagnosis of a wrong script."""

OWN_SCRIPT = 0.05
"""A script with at least this share of the references' letters is one of theirs; quoted words have less."""

WRONG_SCRIPT = 0.2
"""An output with at least this share of letters in scripts foreign to the references is in a wrong script."""

FEWEST_WORDS = 10
"""Fewest words in the output, and distinct words in the references, for a diagnosis of another language. With fewer,
there may be no common words by chance."""

STRANGE = 0.1
"""An output with less than this share of its words in the references is in another language. With English references,
Pali and Latin have 0.00 on average and below 0.12 in 95 % of cases; English has 0.27 or more in 99 % of cases."""

FAMILIAR = 0.2
"""An output with at least this share of its words in the references is in their language."""

LOOP = 4
"""Fewest immediate repetitions of a stretch that count as a loop; no real output reached 3."""

LOOP_CHARACTERS = 40
"""Fewest characters in a loop, all repetitions together: 'no, no, no, no' may be a translation."""

ALIKE = 0.5
"""Two sources whose trigrams have at least this Jaccard similarity may have the same translation."""

SHORT = 0.8
"""A text that ends mid-sentence is truncated if it is shorter than this share of the shortest reference."""

_GRAM = 16
_CLOSING = "\"'`"  # besides Unicode's closing brackets and quotation marks
_INSIDE = ",，،、·"  # punctuation that ends no sentence

Finding = tuple[bool | None, str]
"""Whether the output has the defect (None: undecidable), and the evidence ('' without a defect)."""


class Loop(NamedTuple):
    """A string repeated back to back in a text: how many times it occurs, and the characters of all occurrences."""

    times: float
    characters: int


def diagnose(outputs: pl.DataFrame, references: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Diagnose each output.

    Parameters
    ----------
    outputs
        Columns `model`, `passage`, `text` and `twins` (list of passages as returned by `twins`; may be null or empty).
    references
        Columns `passage` and `text`: complete references, any number per passage.
    sources
        Columns `passage` and `text`, one row for each passage of `outputs`.

    Returns
    -------
    One row per output: columns `model`, `passage`, `DIAGNOSES` (boolean; null where undecidable, because there are no
    references or the text is too short) and `evidence` ('' without a defect; never quotes a reference).
    """
    texts = references.group_by("passage").agg(references=pl.col("text"))
    rows = outputs.join(sources.select("passage", source="text"), on="passage", maintain_order="left")
    rows = rows.join(texts, on="passage", how="left", maintain_order="left")
    findings = [
        _diagnosed(text, source, references or [], twins or [])
        for text, source, references, twins in rows.select("text", "source", "references", "twins").iter_rows()
    ]
    schema = {**dict.fromkeys(DIAGNOSES, pl.Boolean()), "evidence": pl.String()}
    return pl.concat(
        [rows.select("model", "passage"), pl.DataFrame(findings, schema=schema, orient="row")], how="horizontal"
    )


def twins(outputs: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Find equal outputs by the same model for passages whose sources differ.

    `outputs` has columns `model`, `passage`, `text`, with all outputs of each model; `sources` has columns `passage`,
    `text`. Returns columns `model`, `passage`, `twins` (the other passages, sorted), one row per output that has twins.
    Outputs without a source are ignored.
    """
    equal = outputs.with_columns(pl.col("text").str.strip_chars()).filter(pl.struct("model", "text").is_duplicated())
    texts = sources.select("passage", "text").join(equal, on="passage", how="semi")
    grams = {passage: trigrams(text) for passage, text in texts.iter_rows()}
    equal = equal.join(texts, on="passage", how="semi", maintain_order="left")
    rows = [
        (model, passage, others)
        for (model, _), group in equal.group_by("model", "text", maintain_order=True)
        for passage in group["passage"]
        if (others := sorted(other for other in group["passage"] if jaccard(grams[passage], grams[other]) < ALIKE))
    ]
    schema = {"model": pl.String(), "passage": pl.String(), "twins": pl.List(pl.String)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def copied_share(text: str, source: str) -> float:
    """Share of a text's letters and digits that lie in stretches copied from the source, in [0, 1].

    Copied stretches count from a length of `STRETCH` characters or, if the source is shorter, of the whole source.
    Case, punctuation and spaces are ignored.
    """
    text, source = normalized(text), normalized(source)
    width = min(STRETCH, len(source))
    if not text or not width:
        return 0.0
    stretches = {source[i : i + width] for i in range(len(source) - width + 1)}
    covered = end = 0
    for i in range(len(text) - width + 1):
        if text[i : i + width] in stretches:
            covered += i + width - max(end, i)
            end = i + width
    return covered / len(text)


def scripts(text: str) -> Counter[str]:
    """Number of a text's letters in each script. The name of a script is the first word of its letters' Unicode names.

    Compatibility forms, such as fullwidth letters, are normalized (NFKC). Modifier letters are ignored.
    """
    counts: Counter[str] = Counter()
    for letter, count in Counter(unicodedata.normalize("NFKC", text)).items():
        if letter.isalpha() and (script := _SCRIPT[letter]):
            counts[script] += count
    return counts


def words(text: str) -> list[str]:
    """The words of a text in lower case, without digits. In scripts without spaces, each letter is a word."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_WORDS).split()


def longest_loop(text: str) -> Loop:
    """The string that is repeated back to back most often in a text.

    Case and the amount of white space are ignored. Returns `Loop(1, 0)` if no sequence of 16 characters recurs.
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
    """Whether a text lacks sentence-final punctuation at its end; closing quotes and brackets are ignored."""
    end = text.rstrip()
    while end and (end[-1] in _CLOSING or unicodedata.category(end[-1]) in ("Pe", "Pf", "Pi")):
        end = end[:-1].rstrip()
    return not end or end[-1] in _INSIDE or unicodedata.category(end[-1]) != "Po"


def _diagnosed(text: str, source: str, references: list[str], others: list[str]) -> tuple[bool | str | None, ...]:
    if not any(letter.isalnum() for letter in text):
        return True, None, None, None, None, None, "no letters or digits"
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
    return True, f"{share:.0%} of its letters are copied from the source, in stretches of {STRETCH} or more"


def _wrong_script(text: str, references: list[str]) -> Finding:
    letters, human = scripts(text), scripts(" ".join(references))
    if letters.total() < FEWEST_LETTERS or not human:
        return None, ""
    expected = {script for script, count in human.items() if count >= OWN_SCRIPT * human.total()}
    foreign = letters.total() - sum(letters[script] for script in expected)
    if foreign < max(FEWEST_LETTERS, WRONG_SCRIPT * letters.total()):
        return False, ""
    foreign_scripts = ", ".join(script for script, _ in letters.most_common() if script not in expected)
    share = foreign / letters.total()
    return (
        True,
        f"{share:.0%} of its letters are {foreign_scripts}, but the references are in {', '.join(sorted(expected))}",
    )


def _wrong_language(text: str, references: list[str]) -> Finding:
    tokens, vocabulary = words(text), {word for reference in references for word in words(reference)}
    if not tokens or not vocabulary:
        return None, ""
    share = sum(word in vocabulary for word in tokens) / len(tokens)
    if share >= FAMILIAR:
        return False, ""
    if share >= STRANGE or min(len(tokens), len(vocabulary)) < FEWEST_WORDS:
        return None, ""
    evidence = f"{share:.0%} of its {len(tokens)} words occur in the references: another language or another text"
    return True, evidence


def _repeated(text: str, references: list[str], others: list[str]) -> Finding:
    loop = longest_loop(text)
    looped = loop.times >= LOOP and loop.characters >= LOOP_CHARACTERS
    if looped and all(longest_loop(reference).times < loop.times for reference in references):
        return True, f"repeats a stretch {round(loop.times)} times within {loop.characters} characters"
    if others:
        return True, f"same text as for {', '.join(others[:3])}{' and other passages' if len(others) > 3 else ''}"
    return False, ""


def _truncated(text: str, references: list[str]) -> Finding:
    if not references or any(ends_open(reference) for reference in references):
        return None, ""
    ratio = len(text.strip()) / min(len(reference.strip()) for reference in references)
    if ratio >= SHORT or not ends_open(text):
        return False, ""
    return True, f"ends mid-sentence at {ratio:.0%} of the shortest reference's length"


class _Scripts(dict[str, str]):
    """Script of each letter; '' for modifier letters."""

    def __missing__(self, letter: str) -> str:
        name = "" if unicodedata.category(letter) == "Lm" else unicodedata.name(letter, "").partition(" ")[0]
        return self.setdefault(letter, name)


class _Words(dict[int, str]):
    """Replacement of each character, by code point: letters and marks remain, with spaces around letters of scripts
    without spaces; any other character becomes a space."""

    def __missing__(self, point: int) -> str:
        letter = chr(point)
        replacement = letter if unicodedata.category(letter)[0] in "LM" else " "
        if replacement != " " and unicodedata.name(letter, "").partition(" ")[0] in _UNSPACED:
            replacement = f" {letter} "
        return self.setdefault(point, replacement)


_UNSPACED = {"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"}
_SCRIPT, _WORDS = _Scripts(), _Words()
