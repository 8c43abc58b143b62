"""The examination of the judges of base sets, with the questions of comparisons.

Here: who is examined, the content of a question, the verdict on the judge of a base set and its length coefficient.
Not here: sentinels and rounds (examination).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.examination.flags import Report, Standing, cards, together
from benchmark_assets.examination.sample import directions
from benchmark_assets.examination.study import Examinations, Examinee
from benchmark_assets.metrics.measures import Estimate
from benchmark_assets.pairwise.comparing import comparing
from resources.keys import CORPUS
from resources.provider.served import versioned
from resources.warehouse import Warehouse


def of_base_sets(warehouse: Warehouse) -> dict[str, Standing]:
    """The verdict on the judge of each base set, in all directions of the corpora of its items."""
    of_cards = cards(warehouse, "comparison")
    return {base_set: together(of_set, of_cards) for base_set, of_set in _reports(warehouse).items()}


def padding_of_base_sets(warehouse: Warehouse) -> dict[str, list[Estimate]]:
    """Length coefficients of the judge of each base set from padded texts, one for each direction."""
    columns = ["judge", "aspect", "direction", "length", "length_low", "length_high"]
    rows = warehouse.read("judge_report", pl.DataFrame({"purpose": ["comparison"]}), columns).drop_nulls("length")
    of_cards = {(judge, aspect, direction): Estimate(*of) for judge, aspect, direction, *of in rows.iter_rows()}
    return {
        base_set: [of_cards[report] for report in dict.fromkeys(of_set) if report in of_cards]
        for base_set, of_set in _reports(warehouse).items()
    }


def _reports(warehouse: Warehouse) -> dict[str, list[Report]]:
    """The report cards that concern each base set: those of its judge in the directions of its items."""
    languages = corpus_languages(warehouse)
    judges = warehouse.read("base_set", columns=["base_set", "judge"])
    items = warehouse.read("base_set_item", columns=["base_set", "passage"]).select("base_set", CORPUS).unique()
    reports: dict[str, list[Report]] = {base_set: [] for base_set in judges["base_set"]}
    for base_set, corpus, judge in items.join(judges, on="base_set").iter_rows():
        if corpus in languages:
            reports[base_set].append((judge, "", "-".join(languages[corpus])))
    return reports


class ComparisonSentinels(Examinations):
    """Choices of the judges of base sets between texts whose better one is known.

    A judge is examined once for each direction of corpora that ask for it, and anew if the judge, its served version or
    a text changes. An examination ends as soon as its verdict is clear.
    """

    name = "comparison_sentinel"

    def examinees(self) -> Iterator[Examinee]:
        """The registered judges of base sets with items from corpora that ask for an examination."""
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

    def contexts(self, examinee: Examinee, passages: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """The source text of each passage."""
        key = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
        rows = self.warehouse.read("source_text", key, ["passage", "text"])
        return {passage: {"source": text} for passage, text in rows.iter_rows()}

    def preferred(self, value: Any) -> str:
        """The letter that the reply names."""
        return str(value)
