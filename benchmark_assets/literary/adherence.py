"""How outputs keep to the glossary: whether they have its translations, and pronouns of the right gender near them.

Here: counts and shares. Not here: what counts as standing in a text (glossary.found).

Only terms that stand in the source are counted. What the shares do not see: a translation that stands in the output for
something else, or as a part of a longer name; one that is there once where it was due five times; one that is inflected
or spelt otherwise. An output without text, or one that a model declined to make, has no term.

The gender of pronouns is a diagnostic, not a score, and of English outputs only. Nobody resolves what a pronoun refers
to: in a sentence that names one woman of the glossary, 'he' may be a man who is not in it, or of whom the sentence
before spoke. A name may also be a pronoun (He Xiangu). The real human translations, in which every pronoun is right,
agree in 220 of 251 pronouns (Hongloumeng) and 37 of 59 (Botchan, whose teller is an 'I') only. So a single conflict
means little, and no share is to be read by itself: the human translation's own is the one to hold it against.
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
"""Translations that are no names: a glossary may say that the teller, who has a gender, is 'I'."""

SIGNATURE = (
    "terms that stand in the source, looked for in the text exactly but for letter case, curled apostrophes and the "
    "form of accents (NFC), not within words; none in a refusal; pronouns by sentence, in English; "
    f"{intervals.SIGNATURE}"
)

ADHERENCE = schema("term_adherence")
SUMMARY = schema("adherence_summary")

# Where a sentence ends: at its stop with what closes after it, unless the stop is that of an address; at a line's end.
_END = re.compile(r"""(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.!?…]+["”’'»)\]]*\s+|\n+""")


def of_outputs(warehouse: Warehouse, due: pl.DataFrame, english: Collection[str]) -> pl.DataFrame:
    """Rows of `term_adherence` of these outputs (`model`, `passage`); one that the model declined to make has no text,
    and so no term. Parameters as for `adherence`."""
    given = [(*output, text) for output, text in texts(warehouse, due).items()]
    outputs = pl.DataFrame(given, schema=dict.fromkeys(["model", "passage", "text"], pl.String), orient="row")
    return adherence(outputs, warehouse.read("glossary", due.select("passage")), english)


def adherence(outputs: pl.DataFrame, terms: pl.DataFrame, english: Collection[str]) -> pl.DataFrame:
    """Which terms of its chunk each output has: rows of `term_adherence` (columns of ADHERENCE).

    Parameters
    ----------
    outputs
        Columns `model`, `passage` and `text`.
    terms
        Rows of `glossary`, of these passages.
    english
        Corpora whose outputs are in English; of others no pronouns are counted.
    """
    own: dict[str, list[dict[str, str | bool | None]]] = {}
    for term in terms.iter_rows(named=True):
        own.setdefault(term["passage"], []).append(term)
    rows = []
    for model, passage, text in outputs.select("model", "passage", "text").iter_rows():
        named = [(str(term["translation"]), str(term["gender"] or "")) for term in own.get(passage, [])]
        genders = [name for name in named if name[1] in GENDERS and name[0].casefold() not in PERSONAL]
        counted = pronouns(text, genders) if passage.partition("/")[0] in english else {}
        for term, name in zip(own.get(passage, []), named, strict=True):
            if term["in_source"]:
                present = found(name[0], text) is not None
                rows.append((
                    model, passage, term["term"], name[0], term["gender"], term["in_human"], present,
                    *counted.get(name, (0, 0)),
                ))  # fmt: skip
    return pl.DataFrame(rows, schema=ADHERENCE, orient="row")


def pronouns(text: str, genders: Collection[tuple[str, str]]) -> dict[tuple[str, str], tuple[int, int]]:
    """Pronouns of the third person near the terms of an English text: how many agree with a term and how many do not.

    Looked at are, for each term, the sentences that name it and no term of another gender, neuter included, for a title
    may be that of the person meant. There he, him, his and himself, she, her, hers and herself are counted; a pronoun
    counts once for each term of its sentence. Terms of neuter gender have no count.

    Parameters
    ----------
    genders
        Translation and gender, one of GENDERS, of the terms that have one and are names.
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
    """The sentences of a text in a script that parts words by spaces, stripped; none of an empty text."""
    cuts = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    pieces = (text[start:end].strip() for start, end in pairwise(cuts))
    return [piece for piece in pieces if piece]


def summarize(rows: pl.DataFrame) -> pl.DataFrame:
    """Shares of terms that the outputs of each model have, by corpus, and the human translation's on the same terms.

    Parameters
    ----------
    rows
        Columns of ADHERENCE. Terms of chunks without a human translation, where `in_human` is null, are left out.

    Returns
    -------
    Columns of SUMMARY, by model and corpus; none without terms. Shares lie in [0, 1]; the interval is that of resampled
    chunks, of which one with many terms weighs more. `agreement` is null without pronouns.
    """
    counted = rows.drop_nulls("in_human").with_columns(CORPUS)
    sums = counted.sort("model", "passage").group_by("model", "corpus", "passage", maintain_order=True).agg(
        pl.col("present", "in_human", "agreeing", "conflicting").sum().cast(pl.Int64), terms=pl.len()
    )  # fmt: skip
    found_rows = []
    for (model, corpus), own in sums.group_by("model", "corpus", maintain_order=True):
        counts = own.select("terms", "present", "in_human", "agreeing", "conflicting").to_numpy().astype(np.float64)
        resampled = sample_and_resamples(len(own)) @ counts[:, :2]
        share, low, high = bounded(resampled[:, 1] / resampled[:, 0])
        terms, present, human, agreeing, conflicting = (int(count) for count in counts.sum(axis=0))
        pronouns_all = agreeing + conflicting
        found_rows.append((
            model, corpus, terms, present, share, low, high, human, human / terms, agreeing, conflicting,
            agreeing / pronouns_all if pronouns_all else None, SIGNATURE,
        ))  # fmt: skip
    return pl.DataFrame(found_rows, schema=SUMMARY, orient="row").sort("model", "corpus")
