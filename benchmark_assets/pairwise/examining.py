"""The examination of the judges of base sets, with the questions of comparisons.

Here: who is examined, and the content of a question. Not here: sentinels and rounds (examination).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from benchmark_assets.examination.sample import directions
from benchmark_assets.examination.study import Examinations, Examinee
from benchmark_assets.pairwise.comparing import comparing
from resources.keys import CORPUS
from resources.provider.served import versioned


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

    def contents(self, examinee: Examinee, passages: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """The source text of each passage."""
        key = pl.DataFrame({"passage": passages}, schema={"passage": pl.String})
        rows = self.warehouse.read("source_text", key, ["passage", "text"])
        return {passage: {"source": text} for passage, text in rows.iter_rows()}

    def preferred(self, value: Any) -> str:
        """The letter that the reply names."""
        return str(value)
