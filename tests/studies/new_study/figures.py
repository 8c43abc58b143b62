"""Figures of speech: one judge lists the figures in an output, with kind and origin.

Here: the judges, the question, valid replies, figures as rows.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from benchmark_assets.adjudication import outputs as on_trial
from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.outputs import OUTPUT, OutputStudy
from benchmark_assets.pairwise.rubric import rubrics
from benchmark_assets.studies.study import Group, Item
from resources import prompts
from resources.digest import digest
from resources.keys import CORPUS
from resources.provider.asking import Template, Verdict, fields
from resources.provider.reading import storable

KINDS = ("image", "sound", "irony", "wordplay")
ORIGINS = ("kept", "adapted", "added")
ANSWER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "figures": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "words": {"type": "string"},
                    "kind": {"type": "string", "enum": list(KINDS)},
                    "origin": {"type": "string", "enum": list(ORIGINS)},
                },
                "required": ["words", "kind", "origin"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["figures"],
    "additionalProperties": False,
}


class Figure(NamedTuple):
    """A figure of speech that a judge finds in an output."""

    words: str
    kind: str
    origin: str


def read_figures(values: Mapping[str, Any]) -> list[Figure]:
    """Read the fields of a reply; raises ValueError, in words, where they are no list of figures."""
    given = values.get("figures")
    if not isinstance(given, list):
        raise ValueError("figures is no list")  # noqa: TRY004 - a fault of the reply
    found = []
    for place, each in enumerate(given, start=1):
        if not isinstance(each, dict) or not isinstance(each.get("words"), str) or not each["words"].strip():
            raise ValueError(f"figure {place} has no words")
        if each.get("kind") not in KINDS or each.get("origin") not in ORIGINS:
            raise ValueError(f"figure {place} has an unknown kind or origin")
        found.append(Figure(storable(each["words"]), each["kind"], each["origin"]))
    return found


Listers = tuple[Template[list[Figure]], ...]


class Figures(OutputStudy[Listers]):
    """Figures of speech that each judge of the corpus finds in an output, with kind and origin.

    A judge is asked again only where the output, its source or the judge changed.
    """

    name = "figure"

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[Listers]]:
        """Outputs whose corpus names judges."""
        named = {corpus: rubric.judges for corpus, rubric in rubrics(self.warehouse).items() if rubric.judges}
        languages, prompt = self.languages(), prompts.load("figures")

        def seated(model: str, corpus: str) -> tuple[Listers, str]:
            judges = impartial(self.provider, named[corpus], model, f"corpus {corpus}", "rubric.judges")
            read = fields(ANSWER, read_figures)
            templates = tuple(Template(each, prompt, languages[corpus], "figures", ANSWER, read) for each in judges)
            return templates, digest(*((each.model.name, *each.determinants) for each in templates))

        return self.by_corpus(partitions.select(OUTPUT).filter(CORPUS.is_in(list(named))), seated)

    def items(self, partitions: pl.DataFrame, how: Listers) -> Iterator[Item]:
        """Each output once for each judge. A text of nothing but white space has no figure."""
        sources = self.texts("source_text", partitions.select("passage"))
        own = on_trial.texts(self.warehouse, partitions)
        for output in partitions.select(OUTPUT).iter_rows():
            if output in own and output[1] in sources:
                shown = {"source": sources[output[1]], "candidate": own[output]}
                settled = None if own[output].strip() else Verdict[list[Figure]](value=[])
                for template in how:
                    yield Item(output, {"judge": template.model.name}, template, shown, settled)

    def rows_of(self, item: Item, verdict: Verdict[list[Figure]]) -> Iterable[Mapping[str, object]]:
        """The figures in the judge's order, and where the output has each first."""
        for number, figure in enumerate(verdict.value or [], start=1):
            first = item.content["candidate"].find(figure.words)
            yield {**figure._asdict(), "number": number, "first": None if first < 0 else first}

    def fault(self, item: Item, verdict: Verdict[list[Figure]]) -> str:
        """An output whose figures could not be read is not taken for one without figures."""
        reason = verdict.error or verdict.abstention
        return f"{item.key['judge']}: {reason}" if reason else ""
