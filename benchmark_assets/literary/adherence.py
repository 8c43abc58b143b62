"""Adherence of outputs to the glossary: whether outputs contain the glossary's translations, and whether the
pronouns near these translations agree with the glossary in gender.

Here: counts and shares. Not here: the search for a term in a text (references.glossary).

Only terms that occur in the source count. The shares have known errors: a translation may refer to something else or be
part of a longer name; it counts as present if it occurs once, even where the source has the term five times; an
inflected form or a different spelling counts as absent. Empty outputs and refusals contain no term.

The gender of pronouns is a diagnostic, not a score, and is computed for English outputs only. Pronouns are not
resolved: in a sentence that names one woman of the glossary, 'he' may refer to a man from the previous sentence or to a
man who is not in the glossary. A name may look like a pronoun (He Xiangu). Even in real human translations only 220 of
251 pronouns (Hongloumeng) and 37 of 59 (Botchan, which has a first-person narrator) agree with the glossary. A single
conflict therefore means little; compare an output's share with the share of the human translation.
"""

import re
from collections.abc import Collection, Mapping
from itertools import pairwise

import polars as pl

from benchmark_assets.adjudication.outputs import texts
from benchmark_assets.literary.works import numbered
from benchmark_assets.metrics import intervals
from benchmark_assets.metrics.intervals import rate_interval
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
"""Translations that are pronouns, not names: a glossary may list the narrator as 'I', with a gender."""

SIGNATURE = (
    "terms that stand in the source, looked for in the text exactly but for letter case, curled apostrophes and the "
    "form of accents (NFC), not within words; none in a refusal; pronouns by sentence, in English; "
    f"{intervals.SIGNATURE}"
)

ADHERENCE = schema("term_adherence")
SUMMARY = schema("adherence_summary")

# End of a sentence: a stop with closing marks, unless it ends a title such as Mr; or the end of a line.
_END = re.compile(r"""(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.!?…]+["”’'»)\]]*\s+|\n+""")


def of_outputs(warehouse: Warehouse, keys: pl.DataFrame, english: Collection[str]) -> pl.DataFrame:
    """Rows of `term_adherence` for the outputs in `keys` (columns `model` and `passage`). A refusal counts as an empty
    text. `english` has the same meaning as in `adherence`."""
    rows = [(*output, text) for output, text in texts(warehouse, keys).items()]
    outputs = pl.DataFrame(rows, schema=dict.fromkeys(["model", "passage", "text"], pl.String), orient="row")
    return adherence(outputs, warehouse.read("glossary", keys.select("passage")), english)


def adherence(outputs: pl.DataFrame, terms: pl.DataFrame, english: Collection[str]) -> pl.DataFrame:
    """Rows of `term_adherence` (columns of ADHERENCE): one for each output and each term in the source of its chunk.

    Parameters
    ----------
    outputs
        Columns `model`, `passage` and `text`.
    terms
        Rows of `glossary` for the passages of the outputs.
    english
        Names of the corpora whose outputs are in English. In other corpora, pronouns are not counted.
    """
    by_passage: dict[str, list[dict[str, str | bool | None]]] = {}
    for term in terms.iter_rows(named=True):
        by_passage.setdefault(term["passage"], []).append(term)
    rows = []
    for model, passage, text in outputs.select("model", "passage", "text").iter_rows():
        names = [(str(term["translation"]), str(term["gender"] or "")) for term in by_passage.get(passage, [])]
        gendered = [name for name in names if name[1] in GENDERS and name[0].casefold() not in PERSONAL]
        counts = pronouns(text, gendered) if passage.partition("/")[0] in english else {}
        for term, name in zip(by_passage.get(passage, []), names, strict=True):
            if term["in_source"]:
                present = found(name[0], text) is not None
                rows.append((
                    model, passage, term["term"], name[0], term["gender"], term["in_human"], present,
                    *counts.get(name, (0, 0)),
                ))  # fmt: skip
    return pl.DataFrame(rows, schema=ADHERENCE, orient="row")


def pronouns(text: str, genders: Collection[tuple[str, str]]) -> dict[tuple[str, str], tuple[int, int]]:
    """Count the third-person pronouns near the names in an English text.

    The pronouns he, him, his, himself, she, her, hers and herself are counted in sentences whose names all have the
    same gender. A sentence with a neuter name and a feminine or masculine name is left out, because the neuter name may
    be a title, and the pronoun may refer to the person with this title. A pronoun counts once for each name in its
    sentence.

    Parameters
    ----------
    genders
        Pairs of a name's translation and its gender (one of GENDERS).

    Returns
    -------
    Numbers of agreeing and of conflicting pronouns, by name; neuter names are left out.
    """
    counts = {name: (0, 0) for name in genders if name[1] in PRONOUNS}
    for sentence in sentences(text):
        names = {name for name in genders if found(name[0], sentence)}
        if len({gender for _, gender in names}) == 1:
            occurrences = {gender: len(pattern.findall(sentence)) for gender, pattern in PRONOUNS.items()}
            for name in names & counts.keys():
                agreeing, conflicting = counts[name]
                matching = occurrences[name[1]]
                counts[name] = agreeing + matching, conflicting + sum(occurrences.values()) - matching
    return counts


def sentences(text: str) -> list[str]:
    """Sentences of a text, without surrounding white space; none for an empty text. The text's script must put spaces
    between words."""
    cuts = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    pieces = (text[start:end].strip() for start, end in pairwise(cuts))
    return [piece for piece in pieces if piece]


def summarize(rows: pl.DataFrame) -> pl.DataFrame:
    """Shares of the terms that occur in a model's outputs and in the human translation, by model and corpus.

    Parameters
    ----------
    rows
        Columns of ADHERENCE, and the columns that `works.with_works` adds. Rows of chunks without a human translation
        (`in_human` is null) are left out.

    Returns
    -------
    Columns of SUMMARY, one row for each model and corpus with terms. Shares are in [0, 1]. `agreement` is null if there
    are no pronouns.
    """
    comparable = rows.drop_nulls("in_human").with_columns(CORPUS)
    summaries = []
    for (model, corpus), terms in comparable.group_by("model", "corpus", maintain_order=True):
        units, kind = numbered(terms)
        interval = rate_interval(terms["present"].to_numpy(), units)
        present, human, agreeing, conflicting = (
            int(terms[name].sum()) for name in ("present", "in_human", "agreeing", "conflicting")
        )
        pronoun_count = agreeing + conflicting
        summaries.append((
            model, corpus, len(terms), present, present / len(terms), *interval, human, human / len(terms), agreeing,
            conflicting, agreeing / pronoun_count if pronoun_count else None, f"{SIGNATURE}; units: {kind}",
        ))  # fmt: skip
    return pl.DataFrame(summaries, schema=SUMMARY, orient="row").sort("model", "corpus")
