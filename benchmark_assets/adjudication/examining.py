"""The examination of the audit's judges. It asks the questions that judges also answer when they vote on outputs.

Here: the examined judges, the content of a question, and the effect of failed judges on the panel's verdicts. Not here:
sentinels and rounds (examination), verdicts themselves (verdicts).
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from benchmark_assets.adjudication.judging import Opinion, judging, shown
from benchmark_assets.adjudication.labels import ERRORS, VALID
from benchmark_assets.adjudication.triage import audits
from benchmark_assets.examination.flags import FAILED, Standing, of_judges, worst
from benchmark_assets.examination.sample import other_references
from benchmark_assets.examination.sentinels import Sound
from benchmark_assets.examination.study import Examinee, TextExaminations
from resources.keys import CORPUS
from resources.provider.asking import Template
from resources.provider.registry import Model
from resources.warehouse import Warehouse

PURPOSE = "judge_vote"


class JudgeSentinels(TextExaminations):
    """Verdicts of the audit's judges on human translations and on texts with known errors.

    A judge is examined once for each language direction of the corpora whose descriptions request an examination, and
    again if the judge, its served version or a text changes. An examination ends as soon as its verdict is clear.
    """

    name = "judge_sentinel"
    best: ClassVar[str] = f"the label {VALID}"

    def juries(self) -> Mapping[str, Sequence[str]]:
        """The names of each panel's judges, by corpus."""
        return {corpus: audit.judges for corpus, audit in audits(self.warehouse).items()}

    def template(self, judge: Model, languages: Mapping[str, str]) -> Template[Opinion]:
        """The template of the question about an output."""
        return judging(judge, languages)

    def contexts(self, examinee: Examinee, texts: Sequence[Sound]) -> Mapping[str, Mapping[str, Any]]:
        """The source and the other references of each passage that has a reference besides the sound text."""
        references = other_references(self.warehouse, texts)
        return {
            text.passage: shown(text.material.source, [other for _, other in sorted(others.items())], "")
            for text in texts if (others := references[text.passage])
        }  # fmt: skip

    def worth(self, value: Opinion) -> float | None:
        """1 for a label without an error, 0 for an error, None for a label that does not rate the translation."""
        label = value.judgement.label
        return 1.0 if label == VALID else 0.0 if label in ERRORS else None


def counted(votes: pl.DataFrame, warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `judge_vote`, with the votes of judges that failed their examination turned into abstentions."""
    failed = [seat for seat, standing in _standings(warehouse).items() if standing.verdict == FAILED]
    seats = pl.DataFrame(failed, schema={"corpus": pl.String, "judge": pl.String}, orient="row")
    marked = votes.with_columns(CORPUS).join(
        seats.with_columns(failed=True), on=["corpus", "judge"], how="left", maintain_order="left"
    )
    counts = pl.when(pl.col("failed").is_null())
    abstaining = marked.with_columns(counts.then(name).alias(name) for name in ("label", "error_category"))
    return abstaining.select(votes.columns)


def of_panels(warehouse: Warehouse) -> dict[str, Standing]:
    """The verdict on the panel of each corpus: the worst verdict on any judge whose votes count.

    A panel fails if half or more of its judges failed; it then has no verdicts on outputs. `problem` names all judges
    that failed.
    """
    panels = {}
    standings = _standings(warehouse)
    for corpus, audit in audits(warehouse).items():
        of_seats = [standings[corpus, judge] for judge in audit.judges]
        passing = [standing for standing in of_seats if standing.verdict != FAILED]
        problems = [standing.problem for standing in of_seats if standing.verdict == FAILED]
        majority = 2 * len(passing) > len(of_seats)
        verdict = worst(standing.verdict for standing in (passing if majority else of_seats))
        panels[corpus] = Standing(verdict, "; ".join(problems))
    return panels


def _standings(warehouse: Warehouse) -> dict[tuple[str, str], Standing]:
    """The verdict on each judge of each panel, by corpus and judge."""
    seats = [(corpus, judge) for corpus, audit in audits(warehouse).items() for judge in audit.judges]
    return of_judges(warehouse, PURPOSE, seats)
