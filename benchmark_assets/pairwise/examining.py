"""The examination of the judges of base sets and of rubrics. The questions are the ones that judges get about outputs.

Here: the examined judges, the content of a question, the verdict on the judge of a base set, and the judge's length
coefficient. Not here: sentinels and rounds (examination).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.examination.flags import Report, Standing, cards, together
from benchmark_assets.examination.sample import directions, other_references
from benchmark_assets.examination.sentinels import Sound
from benchmark_assets.examination.study import Examinee, PairExaminations, TextExaminations
from benchmark_assets.metrics.measures import Estimate
from benchmark_assets.pairwise.comparing import comparing
from benchmark_assets.pairwise.rubric import BEST, Mark, marking, reference_of, rubrics
from resources.keys import CORPUS
from resources.provider.asking import Template
from resources.provider.registry import Model
from resources.provider.served import versioned
from resources.warehouse import Warehouse


def of_base_sets(warehouse: Warehouse) -> dict[tuple[str, str], Standing]:
    """The verdict on the judge of each base set, by base set and direction ('' for all directions)."""
    of_cards = cards(warehouse, "comparison")
    return {key: together(of_set, of_cards) for key, of_set in _reports(warehouse).items()}


def padding_of_base_sets(warehouse: Warehouse) -> dict[str, list[Estimate]]:
    """Length coefficients of each base set's judge, estimated from padded texts: one for each direction."""
    columns = ["judge", "aspect", "direction", "length", "length_low", "length_high"]
    rows = warehouse.read("judge_report", pl.DataFrame({"purpose": ["comparison"]}), columns).drop_nulls("length")
    of_cards = {(judge, aspect, direction): Estimate(*of) for judge, aspect, direction, *of in rows.iter_rows()}
    return {
        base_set: [of_cards[report] for report in dict.fromkeys(of_set) if report in of_cards]
        for (base_set, direction), of_set in _reports(warehouse).items() if not direction
    }  # fmt: skip


def _reports(warehouse: Warehouse) -> dict[tuple[str, str], list[Report]]:
    """Report cards of each base set's judge, by base set and direction ('' for all directions).

    Only cards for the language pairs of the base set's items are included.
    """
    languages = corpus_languages(warehouse)
    judges = warehouse.read("base_set", columns=["base_set", "judge"])
    items = warehouse.read("base_set_item", columns=["base_set", "passage", "direction"])
    items = items.select("base_set", CORPUS, "direction").unique()
    reports: dict[tuple[str, str], list[Report]] = {(base_set, ""): [] for base_set in judges["base_set"]}
    for base_set, corpus, direction, judge in items.join(judges, on="base_set").iter_rows():
        if corpus in languages:
            for name in ("", direction):
                reports.setdefault((base_set, name), []).append((judge, "", "-".join(languages[corpus])))
    return reports


def of_slices(warehouse: Warehouse, slices: Iterable[tuple[str, str]]) -> list[Standing]:
    """The verdict on the judge for each base set and slice in `slices`. A slice of one direction, such as 'ja-en easy',
    depends only on the examination in this direction."""
    standings = of_base_sets(warehouse)
    return [standings.get((base_set, name.partition(" ")[0]), standings[base_set, ""]) for base_set, name in slices]


class ComparisonSentinels(PairExaminations):
    """Choices that the judges of base sets make in pairs whose better text is known.

    A judge is examined once for each language direction of the corpora that request an examination, and again if the
    judge, its served version or a text changes. An examination ends as soon as its verdict is clear.
    """

    name = "comparison_sentinel"

    def examinees(self) -> Iterator[Examinee]:
        """The registered judges of base sets with items from a corpus that requests an examination."""
        registry = self.provider.registry()
        of_corpora = directions(self.warehouse)
        items = self.warehouse.read("base_set_item", columns=["base_set", "passage"])
        judges = self.warehouse.read("base_set", columns=["base_set", "judge"])
        used = items.join(judges, on="base_set").select("judge", CORPUS).unique().sort("judge", "corpus")
        for judge, direction in dict.fromkeys(
            (judge, of_corpora[corpus]) for judge, corpus in used.iter_rows() if corpus in of_corpora
        ):
            if judge in registry.judges:
                model = versioned(registry.model(judge), self.provider.ledger)
                yield Examinee(judge, "", direction, comparing(model, (direction.source, direction.target)))

    def contexts(self, examinee: Examinee, texts: Sequence[Sound]) -> Mapping[str, Mapping[str, Any]]:
        """The source text of each passage."""
        return {text.passage: {"source": text.material.source} for text in texts}

    def preferred(self, value: Any) -> str:
        """The letter in the reply."""
        return str(value)


class RubricSentinels(TextExaminations):
    """Marks that the judges of rubrics give to human translations and to texts with known errors.

    A judge is examined once for each language direction of the corpora that request an examination, and again if the
    judge, its served version or a text changes. An examination ends as soon as its verdict is clear.
    """

    name = "rubric_sentinel"
    best: ClassVar[str] = f"mark {BEST}"
    marks: ClassVar[bool] = True

    def juries(self) -> Mapping[str, Sequence[str]]:
        """The names of the rubric's judges, by corpus."""
        return {corpus: rubric.judges for corpus, rubric in rubrics(self.warehouse).items()}

    def template(self, judge: Model, languages: Mapping[str, str]) -> Template[Mark]:
        """The template of the question about an output."""
        return marking(judge, languages)

    def contexts(self, examinee: Examinee, texts: Sequence[Sound]) -> Mapping[str, Mapping[str, Any]]:
        """The source and one reference, for each passage that has a reference other than the sound text."""
        references = other_references(self.warehouse, texts)
        return {
            text.passage: {"source": text.material.source, "reference": reference_of(text.passage, others)}
            for text in texts if (others := references[text.passage])
        }  # fmt: skip

    def worth(self, value: Mark) -> float:
        """The mark, on a scale from 0 to 1."""
        return (value.mark - 1) / (BEST - 1)
