"""Glossary terms of chunks, and translations of the terms.

Here: finding a term in a text, rows of `glossary`, glossary entries for prompts.
Not here: reading terms from a person's file (literary.glossary_file), asking a model for terms (literary.extraction),
the adherence of outputs to the glossary (literary.adherence).
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.description import Literary
from benchmark_assets.corpus.registry import paths, sections
from resources.catalogue import schema
from resources.warehouse import Warehouse

GENDERS = ("feminine", "masculine", "neuter")

FILE, MODEL = "file", "model"
"""Origins of a term: a file that a person wrote or checked, or a model's reply."""

GLOSSARY = schema("glossary")

# Letters of scripts without spaces between words, or (hangul) with particles attached to words: Thai to Lao, Myanmar,
# hangul, Khmer, kana, Han. Next to such letters, word boundaries are not visible.
_UNPARTED = "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u30ff\u3131-\u318e\u3400-\u9fff\uac00-\ud7af"
_UNPARTED += "\u31f0-\u31ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_LETTER = rf"[^\W{_UNPARTED}]"


class Term(NamedTuple):
    """A term in the source language, its translation, and its gender (one of `GENDERS`, or None if not given)."""

    term: str
    translation: str
    gender: str | None


def found(phrase: str, text: str) -> re.Match[str] | None:
    """First occurrence of a phrase in a text, as a match in the case-folded text; None if it does not occur.

    The comparison ignores letter case, the shape of apostrophes and the composition of accents (NFC): 'dowager lady
    Chia' occurs in 'Dowager lady Chia hastened', and "Yü-ts'un" in 'Yü-ts’un'. White space, hyphens, accents and
    inflections must agree. In scripts that separate words by spaces, the phrase must begin and end at word boundaries:
    'ceremonial gate' does not occur in 'ceremonial gates'. Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese have
    no such rule.

    The data of tests/realdata states for each term whether the human translation contains it. One translation contains
    103 of 112 terms, the other 80 of 82. This function finds exactly these terms. In the first translation, a
    case-sensitive comparison finds 100 terms, and a comparison without word boundaries finds 104.
    """
    return _pattern(phrase).search(_folded(text))


@lru_cache(maxsize=10_000)
def _pattern(phrase: str) -> re.Pattern[str]:
    folded = _folded(phrase)
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, folded) else ""
    after = rf"(?!{_LETTER})" if re.match(_LETTER, folded[-1:]) else ""
    return re.compile(f"{before}{re.escape(folded)}{after}")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold()).replace("’", "'")


def literary(warehouse: Warehouse) -> dict[str, Literary]:
    """Literary settings by corpus, for corpora whose description names a human translation to compare with."""
    settings, descriptions = sections(warehouse, "literary", Literary), paths(warehouse)
    for corpus, section in settings.items():
        if section.glossary:  # stored relative to the description
            glossary = descriptions[corpus].parent / section.glossary
            settings[corpus] = section.model_copy(update={"glossary": glossary})
    return {corpus: section for corpus, section in settings.items() if section.human}


def rows(passage: str, terms: Iterable[Term], origin: str, source: str, human: str | None) -> pl.DataFrame:
    """Rows of `glossary` for the terms of a passage; each term is searched for in the source and human translation.

    Parameters
    ----------
    origin
        FILE or MODEL.
    source, human
        Source and human translation of the passage; without a human translation, `in_human` is null.
    """
    records = [
        (passage, *term, origin, found(term.term, source) is not None,
         None if human is None else found(term.translation, human) is not None)
        for term in terms
    ]  # fmt: skip
    return pl.DataFrame(records, schema=GLOSSARY, orient="row")


def entries(warehouse: Warehouse, passages: pl.DataFrame) -> dict[str, list[dict[str, str]]]:
    """Glossary entries of passages (column `passage`) for prompts.

    Returns
    -------
    Entries by passage: objects with `term`, `translation` and, if known, `gender`, in the order of the terms' first
    occurrence in the source. Terms that do not occur in the source are left out, because there is nothing to translate
    and adherence does not count them. Passages without terms are left out, too.
    """
    columns = ["passage", "term", "translation", "gender", "in_source"]
    terms = warehouse.read("glossary", passages.select("passage"), columns)
    terms = terms.filter("in_source").drop("in_source")
    if terms.is_empty():
        return {}
    sources = dict(warehouse.read("source_text", terms.select("passage"), ["passage", "text"]).iter_rows())
    places: dict[str, list[tuple[int, Term]]] = {}
    for passage, *fields in terms.iter_rows():
        term = Term(*fields)
        if match := found(term.term, sources.get(passage, "")):
            places.setdefault(passage, []).append((match.start(), term))
    return {
        passage: [
            {name: value for name, value in term._asdict().items() if value}
            for _, term in sorted(occurrences, key=lambda occurrence: (occurrence[0], occurrence[1].term))
        ]
        for passage, occurrences in places.items()
    }
