"""Rubric marks from 1 to 5: a judge marks one output and sees one reference (JP-TL-Bench, section 5.3, appendix C).

Here: the judges of a corpus, the question, valid replies, how judges are examined, the summary of marks. Not here:
comparing two texts (comparing), retries (resources.provider.asking), sentinels and rounds (examination).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import polars as pl

from benchmark_assets.adjudication import outputs as on_trial
from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.adjudication.outputs import OUTPUT, OutputStudy
from benchmark_assets.corpus.description import Rubric
from benchmark_assets.corpus.registry import sections
from benchmark_assets.examination.sample import Direction, other_references
from benchmark_assets.examination.sentinels import Sound
from benchmark_assets.examination.study import Examinee, TextExam
from benchmark_assets.metrics.intervals import SIGNATURE, mean_interval, rate_interval
from benchmark_assets.metrics.measures import Estimate, numbered_units
from benchmark_assets.metrics.missing import before
from benchmark_assets.references.texts import complete_texts
from benchmark_assets.studies.study import Group, Item
from resources.digest import digest
from resources.errors import quoted
from resources.keys import CORPUS
from resources.provider.asking import Template, Verdict, template_of
from resources.provider.reading import storable
from resources.provider.registry import Model
from resources.provider.replies import TEXT, object_of
from resources.warehouse import Warehouse

ANSWER = object_of(
    {"justification": TEXT, "mark": {"type": "integer", "enum": [1, 2, 3, 4, 5]}, "perfect": {"type": "boolean"}}
)
"""JSON schema of a reply."""

USEFUL, BEST = 3, 5
"""The lowest mark that counts as useful, and the mark that counts as perfect (table 5)."""

_COUNTS = ("ones", "twos", "threes", "fours", "fives")

WORST, PERFECT = {"mark": 1, "perfect": False}, {"mark": BEST, "perfect": True}
"""The lowest and the highest values of a vote."""

SUMMARY = before("rubric_summary", "judge_standing")


class RubricMark(NamedTuple):
    """A judge's mark of an output, 1 to 5; whether the judge calls the output perfect; and the justification."""

    mark: int
    perfect: bool
    justification: str


def rubrics(warehouse: Warehouse) -> dict[str, Rubric]:
    """The section `rubric` of each corpus's description, by corpus. Without the section, the defaults apply."""
    return sections(warehouse, "rubric", Rubric)


def reference_of(passage: str, references: Mapping[str, str]) -> str:
    """The reference that judges see with every output of a passage; `references` maps translators to texts.

    A hash of passage and translator chooses the reference. Within a corpus, every translator is therefore chosen about
    equally often. All models and judges get the same reference. A new translator changes the reference of a passage
    only if the hash chooses the new translator.
    """
    return references[min(references, key=lambda translator: digest(passage, translator))]


def read_mark(values: Mapping[str, Any]) -> RubricMark:
    """Read the fields of a reply; a justification that is missing or not text becomes ''.

    Raises
    ------
    ValueError
        If `mark` is not an integer from 1 to 5, or `perfect` is not a boolean, or an output with a lower mark than 5 is
        called perfect: the prompt's marks below 5 name a fault, and a perfect output has none.
    """
    mark, perfect, why = (values.get(name) for name in ("mark", "perfect", "justification"))
    if type(mark) is not int or not 1 <= mark <= BEST:
        raise ValueError(f"mark {quoted(mark)} is not an integer from 1 to {BEST}")
    if perfect is not True and perfect is not False:
        raise ValueError(f"perfect {quoted(perfect)} is neither true nor false")
    if perfect and mark < BEST:
        raise ValueError(f"perfect contradicts mark {mark}")
    return RubricMark(mark, perfect, storable(why.strip()) if isinstance(why, str) else "")


def marking(judge: Model, languages: Mapping[str, str]) -> Template[RubricMark]:
    """The question template of a judge; `languages` maps variables of the prompt to names of languages."""
    return template_of(judge, "rubric", languages, ANSWER, read_mark)


class RubricVotes(OutputStudy[tuple[Template[RubricMark], ...]]):
    """Marks of an output by each judge of the corpus's rubric. The judge also sees the source and one reference.

    A judge is asked again only if the output, the source, the reference or the judge changes.
    """

    name = "rubric_vote"

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[tuple[Template[RubricMark], ...]]]:
        """Outputs for passages with a complete reference, in the corpora whose rubric names judges."""
        judges_of = {corpus: rubric.judges for corpus, rubric in rubrics(self.warehouse).items() if rubric.judges}
        outputs = partitions.select(OUTPUT).filter(CORPUS.is_in(list(judges_of)))
        references = self.warehouse.read("reference", outputs.select("passage"), ["passage", "complete"])
        outputs = outputs.join(references.filter("complete"), on="passage", how="semi", maintain_order="left")
        languages = self.languages()

        def jury_of(model: str, corpus: str) -> tuple[tuple[Template[RubricMark], ...], str]:
            judges = impartial(self.provider, judges_of[corpus], model, f"corpus {corpus}", "rubric.judges")
            jury = tuple(marking(judge, languages[corpus]) for judge in judges)
            return jury, digest(*((template.model.name, *template.determinants) for template in jury))

        return self.by_corpus(outputs, jury_of)

    def items(self, partitions: pl.DataFrame, how: tuple[Template[RubricMark], ...]) -> Iterator[Item]:
        """One item for each output and judge. Judges do not learn the names of models and translators. A blank output
        gets the mark 1, and no judge is asked about it."""
        passages = partitions.select("passage")
        sources, references = self.texts("source_text", passages), complete_texts(self.warehouse, passages)
        outputs = on_trial.texts(self.warehouse, partitions)
        for output in partitions.select(OUTPUT).iter_rows():
            passage = output[1]
            if output in outputs and passage in sources and passage in references:
                content = {
                    "source": sources[passage], "reference": reference_of(passage, references[passage]),
                    "candidate": outputs[output],
                }  # fmt: skip
                settled = None if outputs[output].strip() else Verdict(value=RubricMark(1, False, "the text is empty"))
                for template in how:
                    yield Item(output, {"judge": template.model.name}, template, content, settled)

    def exam(self) -> TextExam:
        """The exam of the study's judges."""
        return RubricExam(self.warehouse, self.provider)

    def rows_of(self, item: Item, verdict: Verdict[RubricMark]) -> Iterable[Mapping[str, object]]:
        """One row: the judge's mark, or the reason for an abstention."""
        yield (verdict.value._asdict() if verdict.value else {}) | {"abstention": verdict.abstention}


class RubricExam(TextExam):
    """The exam of the judges of rubrics. An answer is a mark."""

    purpose = RubricVotes.name
    best: ClassVar[str] = f"mark {BEST}"

    def seats(self) -> Mapping[str, Iterable[tuple[str, str]]]:
        """The rubric's judges, by corpus."""
        return {corpus: [(judge, "") for judge in rubric.judges] for corpus, rubric in rubrics(self.warehouse).items()}

    def template(self, judge: Model, direction: Direction) -> Template[RubricMark]:
        """The template of the question about an output."""
        return marking(judge, direction.languages)

    def contexts(self, examinee: Examinee, texts: Sequence[Sound]) -> Mapping[str, Mapping[str, Any]]:
        """The source and one reference, for each passage that has a reference other than the sound text."""
        references = other_references(self.warehouse, texts)
        return {
            text.passage: {"source": text.material.source, "reference": reference_of(text.passage, others)}
            for text in texts if (others := references[text.passage])
        }  # fmt: skip

    def worth(self, value: RubricMark) -> float:
        """The mark, on a scale from 0 to 1."""
        return (value.mark - 1) / (BEST - 1)


def summarize(votes: pl.DataFrame) -> pl.DataFrame:
    """Summarize the marks of each model by corpus and judge.

    Parameters
    ----------
    votes
        Columns `model`, `passage`, `unit`, `unit_kind`, `judge`, `mark` and `perfect`. `mark` and `perfect` are null if
        the judge abstained.

    Returns
    -------
    Columns of `SUMMARY`, one row for each model, corpus and judge. `outputs` counts all votes, `abstained` the votes
    without a mark, and `missing_share` is their share. All other numbers are about votes with a mark. The shares are in
    [0, 1]: `useful` for marks of 3 or more, `perfect` for marks of 5, `flagged` for outputs that the judge calls
    perfect (table 5). Shares and mean are null if there is no mark. `perfect_corrected` is null.
    """
    groups = votes.sort("model", "passage", "judge").group_by("model", CORPUS, "judge", maintain_order=True)
    rows = [
        {"model": model, "corpus": corpus, "judge": judge, **_summary(group)}
        for (model, corpus, judge), group in groups
    ]
    return pl.DataFrame(rows, schema=SUMMARY).sort("model", "corpus", "judge")


def _summary(votes: pl.DataFrame) -> dict[str, object]:
    """Columns of `SUMMARY` for one model and one judge in a corpus. Their `votes` must be sorted by passage."""
    marked = votes.drop_nulls("mark")
    mark, count = marked["mark"], len(marked)
    row: dict[str, object] = {
        "outputs": len(votes), "abstained": len(votes) - count,
        "missing_share": (len(votes) - count) / len(votes), "median": mark.median(),
        "signature": f"{SIGNATURE}; units: {votes['unit_kind'][0]}",
        **{name: int((mark == value).sum()) for value, name in enumerate(_COUNTS, start=1)},
    }  # fmt: skip
    if count:
        values, units = mark.to_numpy().astype(float), numbered_units(marked["unit"])
        row |= Estimate(float(values.mean()), *mean_interval(values, units, 1, BEST)).columns("mean")
        flags = {"useful": mark >= USEFUL, "perfect": mark == BEST, "flagged": marked["perfect"]}
        for name, flag in flags.items():
            row |= Estimate(int(flag.sum()) / count, *rate_interval(flag.to_numpy(), units)).columns(name)
    return row
