"""Error spans: one judge marks what is wrong in an output, with severity and category (GEMBA-MQM, ESA).

Here: who marks, what is asked, what counts as an answer, spans as rows. Not here: what spans amount to.
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

SEVERITIES = ("minor", "major", "critical")
CATEGORIES = ("accuracy", "fluency", "terminology", "style")
ANSWER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "span": {"type": "string"},
                    "severity": {"type": "string", "enum": list(SEVERITIES)},
                    "category": {"type": "string", "enum": list(CATEGORIES)},
                },
                "required": ["span", "severity", "category"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["errors"],
    "additionalProperties": False,
}


class ErrorSpan(NamedTuple):
    """A stretch of an output that a judge marks."""

    span: str
    severity: str
    category: str


def read_errors(values: Mapping[str, Any]) -> list[ErrorSpan]:
    """Read the fields of a reply; raises ValueError, in words, where they are no list of error spans."""
    given = values.get("errors")
    if not isinstance(given, list):
        raise ValueError("errors is no list")  # noqa: TRY004 - a fault of the reply
    found = []
    for place, each in enumerate(given, start=1):
        if not isinstance(each, dict) or not isinstance(each.get("span"), str) or not each["span"].strip():
            raise ValueError(f"error {place} has no span")
        if each.get("severity") not in SEVERITIES or each.get("category") not in CATEGORIES:
            raise ValueError(f"error {place} has an unknown severity or category")
        found.append(ErrorSpan(storable(each["span"]), each["severity"], each["category"]))
    return found


Markers = tuple[Template[list[ErrorSpan]], ...]


class ErrorSpans(OutputStudy[Markers]):
    """Error spans that each judge of the corpus marks in an output, with severity and category.

    A judge is asked again only where the output, its source or the judge changed.
    """

    name = "error_span"

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[Markers]]:
        """Outputs whose corpus names judges."""
        named = {corpus: rubric.judges for corpus, rubric in rubrics(self.warehouse).items() if rubric.judges}
        languages, prompt = self.languages(), prompts.load("error_spans")

        def seated(model: str, corpus: str) -> tuple[Markers, str]:
            judges = impartial(self.provider, named[corpus], model, f"corpus {corpus}", "rubric.judges")
            read = fields(ANSWER["required"], read_errors)
            templates = tuple(Template(each, prompt, languages[corpus], "error_spans", ANSWER, read) for each in judges)
            return templates, digest(*((each.model.name, *each.determinants) for each in templates))

        return self.by_corpus(partitions.select(OUTPUT).filter(CORPUS.is_in(list(named))), seated)

    def items(self, partitions: pl.DataFrame, how: Markers) -> Iterator[Item]:
        """Each output once for each judge. A text of nothing but white space has no span to mark."""
        sources = self.texts("source_text", partitions.select("passage"))
        own = on_trial.texts(self.warehouse, partitions)
        for output in partitions.select(OUTPUT).iter_rows():
            if output in own and output[1] in sources:
                shown = {"source": sources[output[1]], "candidate": own[output]}
                settled = None if own[output].strip() else Verdict[list[ErrorSpan]](value=[])
                for template in how:
                    yield Item(output, {"judge": template.model.name}, template, shown, settled)

    def rows_of(self, item: Item, verdict: Verdict[list[ErrorSpan]]) -> Iterable[Mapping[str, object]]:
        """The spans in the judge's order, and where the output has each first."""
        for number, error in enumerate(verdict.value or [], start=1):
            first = item.content["candidate"].find(error.span)
            yield {**error._asdict(), "number": number, "first": None if first < 0 else first}

    def fault(self, item: Item, verdict: Verdict[list[ErrorSpan]]) -> str:
        """An output whose spans could not be read is not taken for one without errors."""
        reason = verdict.error or verdict.abstention
        return f"{item.key['judge']}: {reason}" if reason else ""
