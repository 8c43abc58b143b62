"""Adherence of outputs to the glossary: whether they contain its translations, and gender of pronouns near them.

Here: counts and shares. Not here: when a text contains a term (glossary.found).

Only terms that occur in the source count. The shares miss these cases: a translation that stands for something else or
is part of a longer name; a translation that occurs once but is needed five times; an inflected form or other spelling.
Empty outputs and refusals contain no term.

Gender of pronouns is a diagnostic, not a score, for English outputs only. References of pronouns are not resolved: in a
sentence that names one woman of the glossary, 'he' may be a man from the sentence before, or one who is not in the
glossary. A name may look like a pronoun (He Xiangu). Real human translations, where every pronoun is right, agree in
only 220 of 251 pronouns (Hongloumeng) and 37 of 59 (Botchan, whose narrator is an 'I'). So a single conflict means
little; compare a share with that of the human translation.
"""

import re
from collections.abc import Collection, Mapping
from itertools import pairwise

import numpy as np
import polars as pl

from benchmark_assets.adjudication.outputs import texts
from benchmark_assets.metrics import intervals
from benchmark_assets.metrics.intervals import bounded, sample_and_resamples
from benchmark_assets.references.glossary import GENDERS, found
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.warehouse import Warehouse

PRONOUNS: Mapping[str, re.Pattern[str]] = {
    "feminine": re.compile(r"\b(?:she|hers?|herself)\b", re.IGNORECASE),
    "masculine": re.compile(r"\b(?:he|him|his|himself)\b", re.IGNORECASE),
}

PERSONAL = (
    "i", "me", "my", "you", "your", "we", "us", "our", "he", "him", "his", "she", "her", "they", "them", "their",
)  # fmt: skip
"""Translations that are not names: a glossary may have the narrator, with a gender, as 'I'."""

SIGNATURE = (
    "terms that stand in the source, looked for in the text exactly but for letter case, curled apostrophes and the "
    "form of accents (NFC), not within words; none in a refusal; pronouns by sentence, in English; "
    f"{intervals.SIGNATURE}"
)

ADHERENCE = schema("term_adherence")
SUMMARY = schema("adherence_summary")

# End of a sentence: a stop with closing marks, unless it ends a title such as Mr; or the end of a line.
_END = re.compile(r"""(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.!?…]+["”’'»)\]]*\s+|\n+""")


def of_outputs(warehouse: Warehouse, due: pl.DataFrame, english: Collection[str]) -> pl.DataFrame:
    """Rows of `term_adherence` of these outputs (`model`, `passage`). A refusal has no text, and so no term. Parameters
    as for `adherence`."""
    given = [(*output, text) for output, text in texts(warehouse, due).items()]
    outputs = pl.DataFrame(given, schema=dict.fromkeys(["model", "passage", "text"], pl.String), orient="row")
    return adherence(outputs, warehouse.read("glossary", due.select("passage")), english)


def adherence(outputs: pl.DataFrame, terms: pl.DataFrame, english: Collection[str]) -> pl.DataFrame:
    """Which terms of its chunk each output contains: rows of `term_adherence` (columns of ADHERENCE).

    Parameters
    ----------
    outputs
        Columns `model`, `passage` and `text`.
    terms
        Rows of `glossary` for these passages.
    english
        Corpora whose outputs are in English; in other corpora pronouns are not counted.
    """
    by_passage: dict[str, list[dict[str, str | bool | None]]] = {}
    for term in terms.iter_rows(named=True):
        by_passage.setdefault(term["passage"], []).append(term)
    rows = []
    for model, passage, text in outputs.select("model", "passage", "text").iter_rows():
        named = [(str(term["translation"]), str(term["gender"] or "")) for term in by_passage.get(passage, [])]
        genders = [name for name in named if name[1] in GENDERS and name[0].casefold() not in PERSONAL]
        counted = pronouns(text, genders) if passage.partition("/")[0] in english else {}
        for term, name in zip(by_passage.get(passage, []), named, strict=True):
            if term["in_source"]:
                present = found(name[0], text) is not None
                rows.append((
                    model, passage, term["term"], name[0], term["gender"], term["in_human"], present,
                    *counted.get(name, (0, 0)),
                ))  # fmt: skip
    return pl.DataFrame(rows, schema=ADHERENCE, orient="row")


def pronouns(text: str, genders: Collection[tuple[str, str]]) -> dict[tuple[str, str], tuple[int, int]]:
    """Count third-person pronouns near the terms of an English text: for each term, agreeing and conflicting pronouns.

    The pronouns he, him, his, himself, she, her, hers and herself are counted in sentences that name the term and no
    term of another gender. Neuter counts as another gender, since a title may denote the person meant. A pronoun counts
    once for each term of its sentence. Neuter terms have no count.

    Parameters
    ----------
    genders
        Translation and gender (one of GENDERS) of each term that is a name with a gender.
    """
    counts = {name: (0, 0) for name in genders if name[1] in PRONOUNS}
    for sentence in sentences(text):
        names = {name for name in genders if found(name[0], sentence)}
        if len({gender for _, gender in names}) == 1:
            of = {gender: len(pattern.findall(sentence)) for gender, pattern in PRONOUNS.items()}
            for name in names & counts.keys():
                agreeing, conflicting = counts[name]
                right = of[name[1]]
                counts[name] = agreeing + right, conflicting + sum(of.values()) - right
    return counts


def sentences(text: str) -> list[str]:
    """The sentences of a text in a script with spaces between words, stripped; none for an empty text."""
    cuts = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    pieces = (text[start:end].strip() for start, end in pairwise(cuts))
    return [piece for piece in pieces if piece]


def summarize(rows: pl.DataFrame) -> pl.DataFrame:
    """Shares of terms in the outputs of each model, by corpus, and in the human translation on the same terms.

    Parameters
    ----------
    rows
        Columns of ADHERENCE. Terms of chunks without a human translation, where `in_human` is null, are left out.

    Returns
    -------
    Columns of SUMMARY, by model and corpus; no row without terms. Shares lie in [0, 1]. Intervals resample chunks,
    weighted by their number of terms. `agreement` is null without pronouns.
    """
    counted = rows.drop_nulls("in_human").with_columns(CORPUS)
    sums = counted.sort("model", "passage").group_by("model", "corpus", "passage", maintain_order=True).agg(
        pl.col("present", "in_human", "agreeing", "conflicting").sum().cast(pl.Int64), terms=pl.len()
    )  # fmt: skip
    found_rows = []
    for (model, corpus), chunks in sums.group_by("model", "corpus", maintain_order=True):
        counts = chunks.select("terms", "present", "in_human", "agreeing", "conflicting").to_numpy().astype(np.float64)
        resampled = sample_and_resamples(len(chunks)) @ counts[:, :2]
        share, low, high = bounded(resampled[:, 1] / resampled[:, 0])
        terms, present, human, agreeing, conflicting = (int(count) for count in counts.sum(axis=0))
        pronouns_all = agreeing + conflicting
        found_rows.append((
            model, corpus, terms, present, share, low, high, human, human / terms, agreeing, conflicting,
            agreeing / pronouns_all if pronouns_all else None, SIGNATURE,
        ))  # fmt: skip
    return pl.DataFrame(found_rows, schema=SUMMARY, orient="row").sort("model", "corpus")
