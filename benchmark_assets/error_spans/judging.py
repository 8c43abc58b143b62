"""Error spans: judges mark the errors in an output, and score the output (GEMBA-MQM, ESA).

Here: the judges of a corpus, the question, valid replies, the score of an output, how judges are examined. Not here:
positions of words in a text (location), scores of models (summary), retries (resources.provider.asking), sentinels and
rounds (examination).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import polars as pl

from benchmark_assets.adjudication import outputs as on_trial
from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.outputs import OUTPUT, OutputStudy
from benchmark_assets.corpus.description import ErrorSpans
from benchmark_assets.corpus.registry import sections
from benchmark_assets.error_spans.location import located
from benchmark_assets.examination import hidden
from benchmark_assets.examination.sample import Direction, other_references
from benchmark_assets.examination.sentinels import Sound
from benchmark_assets.examination.study import Examinee, TextExam
from benchmark_assets.people.mqm import BEST, CATEGORIES, MOST_POINTS, OMISSION, WEIGHTS, mqm
from benchmark_assets.references.texts import complete_texts
from benchmark_assets.studies.study import Answered, Group, Item
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import quoted
from resources.keys import CORPUS
from resources.provider.asking import Template, Verdict, template_of
from resources.provider.marks import MarkedForm
from resources.provider.names import Names, normal
from resources.provider.reading import storable
from resources.provider.registry import Model
from resources.provider.replies import TEXT, choice_of, object_of

TABLE = "error_span"

_ERROR = object_of({"text": TEXT, "category": choice_of(CATEGORIES), "severity": choice_of(WEIGHTS)})
ANSWER = object_of({"errors": {"type": "array", "items": _ERROR}, "score": {"type": "number"}})
"""JSON schema of a reply."""


_LEAVES = {normal(name.rpartition("/")[2]): name for name in CATEGORIES}
_SEVERITIES = {
    "minor": "mineur mineure menor minore geringfügig gering незначительная 轻微 軽微 경미",
    "major": "majeur majeure mayor maior maggiore значительная",
    "critical": "kritisch critique crítico crítica critico critica критическая 致命 致命的",
}
MARKS = MarkedForm(
    "text",
    {
        "category": Names(CATEGORIES, _LEAVES | {"accuracy/untranslated text": "accuracy/untranslated"}),
        "severity": Names(
            tuple(WEIGHTS), {word: name for name, words in _SEVERITIES.items() for word in words.split()}
        ),
    },
    dict.fromkeys(("span", "quote", "words", "phrase", "errortext", "errorspan", "fragment", "excerpt"), "text")
    | dict.fromkeys(("type", "errortype", "errorcategory", "class", "kind", "label"), "category")
    | dict.fromkeys(("level", "gravity", "errorseverity"), "severity")
    | dict.fromkeys(("spans", "mistakes", "issues", "annotations", "errorspans", "errorlist"), "errors")
    | dict.fromkeys(("overallscore", "overall", "rating", "finalscore"), "score"),
)
"""Other forms and names in which judges mark errors. A word that may mean two severities, such as 'severe', is none."""


class MarkedError(NamedTuple):
    """An error that a judge marks: the erroneous words as the judge quotes them, a category and a severity; and where
    the words begin, if the judge gives an offset."""

    text: str
    category: str
    severity: str
    start: int | None = None

    @property
    def side(self) -> str:
        """The text that contains the error: 'source' if the output omits something, else 'output'."""
        return "source" if self.category == OMISSION else "output"


class Annotation(NamedTuple):
    """The errors that a judge marks in an output, and the judge's overall score, 0 to 100."""

    errors: Sequence[MarkedError]
    score: float


def read_annotation(values: Mapping[str, Any]) -> Annotation:
    """Read the fields of a reply.

    Raises
    ------
    ValueError
        If the errors are not a list of objects with words, a known category and a known severity, or the score is not a
        number from 0 to 100.
    """
    errors, score = values.get("errors"), values.get("score")
    if not isinstance(errors, list):
        raise ValueError("errors is not a list")  # noqa: TRY004 - a fault of the reply
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= BEST:
        raise ValueError(f"score {quoted(score)} is not a number from 0 to {BEST}")
    return Annotation([_read_error(place, error) for place, error in enumerate(errors, start=1)], float(score))


def _read_error(place: int, error: Any) -> MarkedError:
    if not isinstance(error, dict) or error.keys() - {"start"} != _ERROR["properties"].keys():
        raise ValueError(f"error {place} is not an object of text, category and severity")
    text, category, severity, start = (error.get(name) for name in MarkedError._fields)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"error {place} has no text")
    if category not in CATEGORIES:
        raise ValueError(f"error {place} has the unknown category {quoted(category)}")
    if severity not in tuple(WEIGHTS):  # the value may not be hashable
        raise ValueError(f"error {place} has the unknown severity {quoted(severity)}")
    return MarkedError(storable(text.strip()), category, severity, start if type(start) is int else None)


def annotating(judge: Model, languages: Mapping[str, str]) -> Template[Annotation]:
    """The question template of a judge; `languages` maps variables of the prompt to names of languages."""
    return template_of(judge, "error_spans", languages, ANSWER, read_annotation, listed="errors", marks=MARKS)


Jury = tuple[bool, tuple[Template[Annotation], ...]]
"""A flag that tells whether the judges see the references; and the question templates of the judges."""


class SpanVotes(OutputStudy[Jury]):
    """Errors that each judge of the corpus marks in an output, with category and severity, and an overall score.

    The judge sees the source and, if the corpus description requests it, the references. A judge is asked again only if
    one of the following changes: the output, its source, the references that the judge sees, or the judge itself.
    """

    name = "span_vote"
    tables = (TABLE, hidden.TABLE)

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[Jury]]:
        """Outputs of the corpora that name judges. If the judges see references, passages without a complete reference
        are left out."""
        settings = sections(self.warehouse, "spans", ErrorSpans)
        with_judges = {corpus: section for corpus, section in settings.items() if section.judges}
        outputs = partitions.select(OUTPUT).filter(CORPUS.is_in(list(with_judges)))
        with_references = CORPUS.is_in([corpus for corpus, section in with_judges.items() if section.references])
        references = self.warehouse.read("reference", outputs.select("passage"), ["passage", "complete"])
        complete = references.filter("complete")["passage"].unique().implode()
        outputs = outputs.filter(~with_references | pl.col("passage").is_in(complete))
        languages = self.languages()

        def jury_of(model: str, corpus: str) -> tuple[Jury, str]:
            section = with_judges[corpus]
            judges = impartial(self.provider, section.judges, model, f"corpus {corpus}", "spans.judges")
            jury = tuple(annotating(judge, languages[corpus]) for judge in judges)
            determinants = ((template.model.name, *template.determinants) for template in jury)
            return (section.references, jury), digest(section.references, *determinants)

        return self.by_corpus(outputs, jury_of)

    def items(self, partitions: pl.DataFrame, how: Jury) -> Iterator[Item]:
        """One item for each output and judge. Judges do not learn the names of models and translators. A blank output
        counts as one critical omission, without a question."""
        with_references, jury = how
        passages = partitions.select("passage")
        sources, outputs = self.texts("source_text", passages), on_trial.texts(self.warehouse, partitions)
        references = complete_texts(self.warehouse, passages) if with_references else {}
        for output in partitions.select(OUTPUT).iter_rows():
            passage = output[1]
            if output not in outputs or passage not in sources or (with_references and passage not in references):
                continue
            content: dict[str, Any] = {"source": sources[passage]}
            if with_references:
                content["references"] = [text for _, text in sorted(references[passage].items())]
            content["candidate"] = outputs[output]
            omission = Annotation([MarkedError(sources[passage].strip(), OMISSION, "critical")], 0)
            settled = None if outputs[output].strip() else Verdict(value=omission)
            for template in jury:
                yield Item(output, {"judge": template.model.name}, template, content, settled)

    def exam(self) -> TextExam:
        """The exam of the study's judges."""
        return SpanExam(self.warehouse, self.provider)

    def rows_of(self, item: Item, verdict: Verdict[Annotation]) -> Iterable[Mapping[str, object]]:
        """One row: the scores of the output and its numbers of errors by severity, or the reason for an abstention."""
        if not verdict.value:
            yield {"abstention": verdict.abstention}
            return
        rows = span_rows(item, verdict.value)
        severities, positions = [str(row["severity"]) for row in rows], [row["span_start"] for row in rows]
        yield {
            "mqm": mqm(severities), "esa": verdict.value.score, "unlocated": positions.count(None),
            **{severity: severities.count(severity) for severity in WEIGHTS},
        }  # fmt: skip

    def rows(self, judged: Sequence[Answered]) -> Mapping[str, pl.DataFrame]:
        """Rows of the votes, and rows of the errors that the judges mark."""
        spans = [
            {**dict(zip(self.dims, item.partition, strict=True)), **item.key, **row}
            for item, verdict in judged if verdict.value and not item.kind for row in span_rows(item, verdict.value)
        ]  # fmt: skip
        return {**super().rows(judged), TABLE: pl.DataFrame(spans, schema=schema(TABLE))}


def span_rows(item: Item, annotation: Annotation) -> list[dict[str, object]]:
    """Rows of the errors that a judge marks, in the judge's order. An error that repeats the words, the place, the
    category and the severity of an earlier one is left out.

    The rows lack the columns that identify the output and the judge. Positions are null if the text does not contain
    the words.
    """
    texts = {"source": item.content["source"], "output": item.content["candidate"]}
    positions = {}
    for side, text in texts.items():
        of_side = [error for error in annotation.errors if error.side == side]
        positions[side] = iter(located((error.text for error in of_side), text, (error.start for error in of_side)))
    rows: dict[tuple[object, ...], dict[str, object]] = {}
    for place, error in enumerate(annotation.errors, start=1):
        start, end = span = next(positions[error.side]) or (None, None)
        row = {"place": place, "side": error.side, "span_start": start, "span_end": end, "text": error.text}
        row |= {"category": error.category, "severity": error.severity}
        rows.setdefault((span if start is not None else error.text, error.category, error.severity), row)
    return list(rows.values())


REFERENCES = "references"
"""Option of an examinee that sees references."""


class SpanExam(TextExam):
    """The exam of the judges of error spans. A judge sees references if all corpora in the direction show them."""

    purpose = SpanVotes.name
    best: ClassVar[str] = "no errors, score 100"

    def seats(self) -> Mapping[str, Iterable[tuple[str, str]]]:
        """The judges of error spans, by corpus."""
        return {corpus: [(judge, "") for judge in section.judges] for corpus, section in self._sections().items()}

    def template(self, judge: Model, direction: Direction) -> Template[Annotation]:
        """The template of the question about an output."""
        return annotating(judge, direction.languages)

    def options(self, judge: str, direction: Direction) -> tuple[str, ...]:
        """Whether the judge sees references."""
        of_judge = [section for name, section in self._sections().items() if name in direction.corpora]
        return (REFERENCES,) if all(section.references for section in of_judge if judge in section.judges) else ()

    def contexts(self, examinee: Examinee, texts: Sequence[Sound]) -> Mapping[str, Mapping[str, Any]]:
        """The source of each passage, and its references if the judge sees references.

        The sound text is not among the references. If the judge sees references, passages without any other reference
        are left out.
        """
        if REFERENCES not in examinee.options:
            return {text.passage: {"source": text.material.source} for text in texts}
        references = other_references(self.warehouse, texts)
        return {
            text.passage: {"source": text.material.source, "references": [other for _, other in sorted(others.items())]}
            for text in texts if (others := references[text.passage])
        }  # fmt: skip

    def worth(self, value: Annotation) -> float:
        """The MQM score, on a scale from 0 to 1. Equal errors count once, because the text is not at hand."""
        return 1 + mqm(error.severity for error in dict.fromkeys(value.errors)) / MOST_POINTS

    def _sections(self) -> Mapping[str, ErrorSpans]:
        return sections(self.warehouse, "spans", ErrorSpans)
