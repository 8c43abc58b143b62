"""Where the terms of a chunk come from: the corpus's file, or a model that reads source and human translation.

Here: which of the two, what determines the terms, what the model is asked and what its answer must be, the calls of a
run. Not here: the file's form (glossary_file), rows (glossary), asking again (resources.provider.asking).
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.corpus.description import Literary
from benchmark_assets.corpus.renderings import renderings
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.literary.glossary_file import read
from benchmark_assets.references.glossary import FILE, GENDERS, GLOSSARY, MODEL, Term, literary, rows
from benchmark_assets.translation.systems import language_name
from resources import prompts
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.provider.asking import Task, Told, at_once, estimate_asking, insist
from resources.provider.client import complete
from resources.provider.estimate import Estimate
from resources.provider.provider import Provider
from resources.provider.reading import storable
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.literary")

PURPOSE = "glossary"

UNKNOWN = "unknown"
"""What the model says where the passage does not show a gender: some providers refuse a schema with an empty value."""

ANSWER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "terms": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "term": {"type": "string"},
                    "translation": {"type": "string"},
                    "gender": {"type": "string", "enum": [*GENDERS, UNKNOWN]},
                },
                "required": list(Term._fields),
                "additionalProperties": False,
            },
        }
    },
    "required": ["terms"],
    "additionalProperties": False,
}
"""JSON schema of an answer."""

_FAILURE = {"passage": pl.String, "error": pl.String}
_CALL = {"passage": pl.String, "call": pl.String}

Way = list[Term] | Task | BadInput | None
"""How a passage comes by its terms: a person wrote them, a model is asked with this, not at all for this reason, or
there are none."""


class Chunk(NamedTuple):
    """A passage of a literary corpus; `human` is None where it has no human translation."""

    passage: str
    source: str
    human: str | None
    way: Way


@dataclass(frozen=True)
class Plan:
    """How the passages of one corpus come by their terms: `said` has those of the file, or its fault, `asking` what a
    model is asked with about the others."""

    human: str
    said: Mapping[str, list[Term]] | BadInput
    asking: Task | BadInput | None

    def way(self, passage: str) -> Way:
        """How one passage comes by them."""
        if isinstance(self.said, BadInput):
            return self.said
        return self.said.get(passage, self.asking)

    def fingerprint(self, passage: str) -> str:
        """Hash of what determines a passage's terms besides its texts; of a fault, its words."""
        way = self.way(passage)
        if isinstance(way, BadInput):
            return str(way)
        return digest(self.human, way) if isinstance(way, list) else self._of_asking

    @cached_property
    def _of_asking(self) -> str:
        return digest(self.human, *(self.asking.determinants if isinstance(self.asking, Task) else ()))


def plans(warehouse: Warehouse, provider: Provider, passages: pl.DataFrame) -> dict[str, Plan]:
    """The plans of those of the passages' corpora that are literary; a fault of one is a part of its plan."""
    corpora = literary(warehouse)
    wanted = [corpus for (corpus,) in passages.select(CORPUS).unique().sort("corpus").iter_rows() if corpus in corpora]
    languages: dict[str, tuple[str, str]] = {}
    if wanted:
        rows = warehouse.read("corpus", columns=["corpus", "source_language", "target_language"]).iter_rows()
        languages = {corpus: (source, target) for corpus, source, target in rows}
    return {corpus: _plan(provider, corpus, corpora[corpus], languages[corpus]) for corpus in wanted}


def read_terms(values: Mapping[str, Any]) -> list[Term]:
    """Read the fields that a reply holds. A term that occurs twice, alike, is one.

    Raises
    ------
    ValueError
        In words, where they are no list of terms, each with translation and gender and nothing else, or a term occurs
        twice, and not alike.
    """
    given = values.get("terms")
    if not isinstance(given, list):
        raise ValueError("terms is no list")  # noqa: TRY004 - a fault of the answer
    found: dict[str, Term] = {}
    for place, each in enumerate(given, start=1):
        if not isinstance(each, dict) or each.keys() != set(Term._fields):
            raise ValueError(f"term {place} is no object of term, translation and gender")
        term, translation, gender = (each[name] for name in Term._fields)
        if not all(isinstance(text, str) and text.strip() for text in (term, translation)):
            raise ValueError(f"term {place} lacks its text or its translation")
        if gender not in (*GENDERS, UNKNOWN):
            raise ValueError(f"gender {gender!r} of term {place} is none of {', '.join((*GENDERS, UNKNOWN))}")
        own = Term(storable(term.strip()), storable(translation.strip()), None if gender == UNKNOWN else gender)
        if found.setdefault(own.term, own) != own:
            raise ValueError(f"term {place} occurs twice, and not alike")
    return list(found.values())


def settings(warehouse: Warehouse, provider: Provider, asked: pl.DataFrame) -> pl.DataFrame:
    """What determines the terms of each passage besides its texts: columns `passage` and `settings`.

    '' for passages of corpora that are not literary: they have no terms, whatever their texts are.
    """
    known = plans(warehouse, provider, asked)
    own = asked.filter(CORPUS.is_in(list(known)))["passage"]
    hashes = {passage: known[passage.partition("/")[0]].fingerprint(passage) for passage in own}
    return asked.select(
        "passage", settings=pl.col("passage").replace_strict(hashes, default="", return_dtype=pl.String)
    )


def cost_of(warehouse: Warehouse, provider: Provider, due: pl.DataFrame) -> Estimate | None:
    """What the terms of passages would ask of models; None where they are asked nothing."""
    work = _work(_chunks(warehouse, provider, due))
    return estimate_asking(provider.ledger, ((task, shown(chunk)) for task, chunk in work)) if work else None


def glossaries(warehouse: Warehouse, provider: Provider, due: pl.DataFrame, run: str) -> Computed:
    """The terms of passages, from the file or from a model. The run pays.

    What the model says is kept as it is; whether its terms and translations stand in the texts is looked at and noted,
    for a person to check. A passage has failed where the file or the extractor's name has a fault, a call failed, or
    the model gave no terms that could be read: it is not taken for one without terms.
    """
    chunks = _chunks(warehouse, provider, due)
    work = _work(chunks)
    told = dict(zip((chunk.passage for _, chunk in work), _ask(provider, work, run), strict=True))
    found, calls, failed = [pl.DataFrame(schema=GLOSSARY)], [], []
    for chunk in chunks:
        passage, way = chunk.passage, chunk.way
        if isinstance(way, BadInput):
            failed.append((passage, str(way)))
        elif isinstance(way, list):
            found.append(rows(passage, way, FILE, chunk.source, chunk.human))
        elif passage in told:
            said = told[passage]
            if said.value is None:
                failed.append((passage, said.error or _advice(said)))
                continue
            found.append(rows(passage, said.value, MODEL, chunk.source, chunk.human))
            calls.append((passage, said.call))
    return Computed(
        {"glossary": pl.concat(found)},
        pl.DataFrame(failed, schema=_FAILURE, orient="row"),
        {"glossary_call": pl.DataFrame(calls, schema=_CALL, orient="row")},
    )


def shown(chunk: Chunk) -> dict[str, str]:
    """A chunk as the model sees it."""
    return {"source": chunk.source, "human_translation": chunk.human or ""}


def _plan(provider: Provider, corpus: str, described: Literary, languages: tuple[str, str]) -> Plan:
    said: Mapping[str, list[Term]] | BadInput = {}
    if described.glossary:
        try:
            said = read(described.glossary, corpus)
        except BadInput as fault:
            said = fault
    name = described.extractor
    if not name:
        return Plan(described.human, said, None)
    judges = provider.registry().judges
    if name not in judges:
        problem = f"is missing, but corpus {corpus} names it as its extractor"
        remedy = f"add it, or name one of {sorted(judges)} there"
        return Plan(described.human, said, BadInput(provider.registry_path, f"judges.{name}", problem, remedy))
    source, target = map(language_name, languages)
    task = Task(provider.model(name), prompts.load("glossary"), source, target, PURPOSE, ANSWER)
    return Plan(described.human, said, task)


def _chunks(warehouse: Warehouse, provider: Provider, due: pl.DataFrame) -> list[Chunk]:
    """Those of the passages that are of a literary corpus; nothing is read where none is."""
    known = plans(warehouse, provider, due)
    wanted = due.filter(CORPUS.is_in(list(known))).select("passage")
    if wanted.is_empty():
        return []
    sources = dict(warehouse.read("source_text", wanted, ["passage", "text"]).iter_rows())
    humans = {corpus: plan.human for corpus, plan in known.items()}
    rendered = renderings(warehouse, wanted).filter(pl.col("translator") == CORPUS.replace_strict(humans))
    texts = {passage: text for passage, text in rendered.select("passage", "text").iter_rows() if text.strip()}
    return [
        Chunk(passage, sources[passage], texts.get(passage), known[passage.partition("/")[0]].way(passage))
        for passage in wanted["passage"]
        if passage in sources
    ]


def _work(chunks: Iterable[Chunk]) -> list[tuple[Task, Chunk]]:
    return [(each.way, each) for each in chunks if isinstance(each.way, Task) and each.human is not None]


def _ask(provider: Provider, work: Sequence[tuple[Task, Chunk]], run: str) -> list[Told[list[Term]]]:
    if not work:
        return []
    logger.info("glossary: %s", estimate_asking(provider.ledger, ((task, shown(chunk)) for task, chunk in work)))

    async def ask_all() -> list[Told[list[Term]]]:
        async with provider.opened(run) as client:

            async def one(case: tuple[Task, Chunk]) -> Told[list[Term]]:
                task, chunk = case
                return await insist(client.ask, task, shown(chunk), read_terms)

            return await at_once(client, one, work, (task.model for task, _ in work), "glossary")

    return complete(ask_all())


def _advice(said: Told[list[Term]]) -> str:
    return f"the extractor gave no terms ({said.abstention}): write them into the glossary's file, or a row without any"
