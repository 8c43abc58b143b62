"""Obtain a chunk's terms from the corpus's glossary file, or from a model that reads source and human translation.

Here: the choice between file and model, the fingerprint of terms, the question and the form of its reply. Not here: the
form of the file (glossary_file), the table's rows (references.glossary), retries (resources.provider.asking).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.corpus.renderings import renderings
from benchmark_assets.literary.glossary_file import read
from benchmark_assets.references.glossary import FILE, GENDERS, MODEL, Term, literary, rows
from benchmark_assets.studies.study import Group, Item, ItemStudy
from benchmark_assets.translation.systems import language_names
from resources.digest import digest
from resources.errors import BadInput, one_of, quoted
from resources.keys import CORPUS
from resources.provider.asking import Template, Verdict, template_of
from resources.provider.reading import storable
from resources.provider.registry import Model
from resources.provider.replies import TEXT, choice_of, object_of

UNKNOWN = "unknown"
"""The value with which the model states that the passage does not reveal the gender. The value is not '', because some
providers refuse a schema with an empty value."""

_TERM = object_of({"term": TEXT, "translation": TEXT, "gender": choice_of([*GENDERS, UNKNOWN])})
ANSWER = object_of({"terms": {"type": "array", "items": _TERM}})
"""JSON schema of a reply."""


def read_terms(values: Mapping[str, Any]) -> list[Term]:
    """Read the fields of a reply. Identical duplicates of a term are merged.

    Raises
    ------
    ValueError
        If the reply is not a list of objects with exactly the fields term, translation and gender, if a value is not
        valid, or if a term occurs twice with different values.
    """
    entries = values.get("terms")
    if not isinstance(entries, list):
        raise ValueError("terms is not a list")  # noqa: TRY004 - a fault of the reply
    terms: dict[str, Term] = {}
    for place, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict) or entry.keys() != set(Term._fields):
            raise ValueError(f"term {place} is not an object of term, translation and gender")
        term, translation, gender = (entry[name] for name in Term._fields)
        if not all(isinstance(text, str) and text.strip() for text in (term, translation)):
            raise ValueError(f"term {place} lacks its text or its translation")
        if gender not in (*GENDERS, UNKNOWN):
            raise ValueError(f"gender {quoted(gender)} of term {place} is not one of {', '.join((*GENDERS, UNKNOWN))}")
        read = Term(storable(term.strip()), storable(translation.strip()), None if gender == UNKNOWN else gender)
        if terms.setdefault(read.term, read) != read:
            raise ValueError(f"term {place} occurs twice with different values")
    return list(terms.values())


def extracting(judge: Model, languages: Mapping[str, str]) -> Template[list[Term]]:
    """The question template of an extractor; `languages` maps variables of the prompt to names of languages."""
    return template_of(judge, "glossary", languages, ANSWER, read_terms)


Extraction = Mapping[str, list[Term]] | Template[list[Term]] | None
"""The origin of a corpus's terms: a mapping from passages to terms if they are in the glossary file, or the question
template of a model, or None if the corpus names neither a file nor a model."""


class Glossary(ItemStudy[tuple[str, Extraction]]):
    """Terms of a chunk, with translation and gender: from the corpus's glossary file, or extracted by a model.

    A person writes or checks the glossary file. The model extracts the terms from source and human translation; it is
    asked again only if one of the two texts, the chunk's rows in the file, or the model changes. Corpora that are not
    literary have no terms.
    """

    name = "glossary"
    dims = ("passage",)
    sparse = False

    def settings(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """One row for each passage. `settings` is '' for passages of corpora that are not literary; these passages have
        no terms."""
        settings = super().settings(partitions)
        rows = partitions.select("passage").join(settings, on="passage", how="left", maintain_order="left")
        return rows.with_columns(pl.col("settings").fill_null(""))

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[tuple[str, Extraction]]]:
        """The passages of each literary corpus in two groups: passages in the glossary file, and all other passages."""
        sections = literary(self.warehouse)
        for (name,), group in partitions.group_by(CORPUS, maintain_order=True):
            corpus = str(name)
            if corpus not in sections:
                continue
            human, passages = sections[corpus].human, group.select("passage")
            try:
                file = sections[corpus].glossary
                terms = read(file, corpus) if file else {}
            except BadInput as fault:
                yield Group(passages, fault, str(fault))
                continue
            in_file = passages.filter(pl.col("passage").is_in(list(terms)))
            hashes = [digest(human, terms[passage]) for passage in in_file["passage"]]
            yield Group(in_file, (human, terms), pl.Series(hashes, dtype=pl.String))
            others = passages.join(in_file, on="passage", how="anti", maintain_order="left")
            try:
                template = self._template(corpus, sections[corpus].extractor)
                yield Group(others, (human, template), digest(human, *(template.determinants if template else ())))
            except BadInput as fault:
                yield Group(others, fault, str(fault))

    def items(self, partitions: pl.DataFrame, how: tuple[str, Extraction]) -> Iterator[Item]:
        """One item for each passage, with its source and human translation. No question is asked if the passage is in
        the glossary file, if it has no human translation, or if the corpus has no extractor."""
        human, extraction = how
        sources = dict(self.warehouse.read("source_text", partitions, ["passage", "text"]).iter_rows())
        rendered = renderings(self.warehouse, partitions).filter(translator=human)
        texts = {passage: text for passage, text in rendered.select("passage", "text").iter_rows() if text.strip()}
        for passage in partitions["passage"]:
            if passage not in sources:
                continue
            content = {"source": sources[passage], "human_translation": texts.get(passage, "")}
            if isinstance(extraction, Template) and passage in texts:
                yield Item((passage,), {}, extraction, content)
            else:
                terms = extraction[passage] if isinstance(extraction, Mapping) else []
                yield Item((passage,), {}, None, content, Verdict(value=terms))

    def rows_of(self, item: Item, verdict: Verdict[list[Term]]) -> Iterable[Mapping[str, object]]:
        """One row for each term, with flags for people who check it: whether source and translation contain it."""
        source, human = item.content.values()
        origin = FILE if item.settled else MODEL
        (passage,) = item.partition
        return rows(passage, verdict.value or [], origin, source, human or None).iter_rows(named=True)

    def fault(self, item: Item, verdict: Verdict[list[Term]]) -> str:
        """The error of a passage without a usable reply; '' if there is no error. The error is needed because the
        passage would otherwise count as a passage that has no terms."""
        if verdict.value is not None:
            return ""
        advice = "add its terms to the glossary file, or a row with only the passage if it has no terms"
        reason = "it refused" if verdict.refused else verdict.abstention  # a refusal may quote the text
        return verdict.error or f"the extractor gave no usable reply ({reason}): {advice}"

    def _template(self, corpus: str, extractor: str | None) -> Template[list[Term]] | None:
        """The question template of a corpus's extractor; None if the corpus has no extractor."""
        if not extractor:
            return None
        judges = self.provider.registry().judges
        if extractor not in judges:
            problem = f"is missing, but the description of corpus {corpus} names it as `extractor`"
            remedy = f"add it to the registry, or name {one_of(sorted(judges))} in the description"
            raise BadInput(self.provider.registry_path, f"judges.{extractor}", problem, remedy)
        languages = language_names(*corpus_languages(self.warehouse)[corpus])
        return extracting(self.provider.model(extractor), languages)
