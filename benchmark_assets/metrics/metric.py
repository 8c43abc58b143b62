"""The entry of a metric: its direction, inputs, aggregation and cost, and the boards on which it stands.

Here: the type of an entry, and the inputs of the function that computes a metric. Not here: the list of metrics
(entries), intervals (measures).
"""

from collections.abc import Callable, Set
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.metrics.intervals import Floats
from resources import catalogue
from resources.comet.comet import Comet

Need = Literal["source", "references"]
Cost = Literal["counts", "edits", "embedder", "encoder", "large model"]
"""The step of scoring that costs most. The values mean, in this order: counting n-grams, searching for edits (seconds
for a long text), computing embeddings, running a COMET checkpoint, running a checkpoint of billions of parameters."""

Grain = Literal["passage", "reference", "corpus"]
"""What has a score of its own: an output; an output with each reference (the mean is the output's score); or only the
outputs of a system together."""

Ranks = Literal["", "alone", "with others"]
"""Whether systems are tested and ranked by the metric, and whether its ranks count in the mean rank and in Kendall's
W."""

BOARDS = frozenset({"headline", "chart", "reader", "shared task", "agreement", "correlation", "detection"})
"""Where a metric that the registry names stands.

Boards are: `headline` and `further`, the two tables of the leaderboard; `chart`, charts of the leaderboard, and slices
in the report; `reader` and `shared task`, scores of outputs; `agreement`, `correlation` and `recall`, studies of
metrics beside people's labels or verdicts; `detection`, damaged translations; `people`, models among translators.
"""


class Family(NamedTuple):
    """Tables with the scores of outputs and of translators by metrics that are computed together."""

    table: str
    human_table: str


FURTHER = Family("segment_metric", "human_metric")
"""Tables with a row for each score, for metrics that the registry names."""


class Texts(NamedTuple):
    """Candidates and the texts against which they are scored.

    `candidates` has the columns `item`, `text` and `tokenizer` (the tokenizer of BLEU). `references` has the columns
    `item`, `translator` and `text`. `sources` has the columns `item` and `text`. Each candidate is an item of its own.
    """

    candidates: pl.DataFrame
    references: pl.DataFrame
    sources: pl.DataFrame


def mean(sums: Floats) -> Floats:
    """Means from numbers of scores and sums of scores."""
    means: Floats = sums[:, 1] / sums[:, 0]
    return means


def of_values(values: pl.Series) -> Floats:
    """Additive statistics of values, shape (rows, 2): 1 and the value, or zeros without a finite value."""
    present = np.isfinite(values.to_numpy())
    return np.stack([present.astype(np.float64), np.where(present, values.to_numpy(), 0.0)], axis=1)


class Metric(NamedTuple):
    """A number by which outputs or systems are compared.

    Attributes
    ----------
    name
        Column on the boards. A metric with `score` is a kind of metric that the registry names.
    better
        1 if higher is better, -1 if lower is better, 0 if neither.
    needs
        The texts with which an output is compared.
    cost
        The main cost of scoring.
    family
        Tables of the scores.
    grain, ranks, boards
        See `Grain`, `Ranks` and `BOARDS`.
    value
        A passage's value, as an expression on its scores; by default, the column `name`.
    counts
        Length of the lists in the column `<name>_statistics`, whose sums give the score of a corpus; 0 for a metric
        whose score of a corpus follows from the values of passages.
    aggregate
        Maps sums of statistics, shape (n, statistics), to scores, shape (n,). The first statistic is the number of
        passages with a value, which is positive; the others are counts, or the value.
    proportion
        Whether the metric is a share of passages.
    margin
        Largest difference between two systems that counts as none; None if none was declared (entries.MARGINS).
    missing
        What a passage without a usable output counts: the worst value, which a worse output counts, too, if systems are
        ranked by the metric.
    references
        Number of complete references with which the score is never null, and below which it always is; 0 if that
        depends on the checkpoint alone, None if a score may be null by itself.
    harm
        A number that rises with damage, if it is not the value with the sign of `better`.
    exported
        Name in shared tasks; by default, `name` in one word, after `neg` if lower is better.
    score
        For a metric that the registry names: function from texts and the checkpoint to rows, one for each candidate
        that has the texts in `needs`, or for each such candidate and reference if `grain` is `reference`. The columns
        are `item`, `score`, `translator` for that grain, `cut`, `spans` if the metric marks errors, and `signature` if
        some rows were computed in another way than the metric's `signature` says. Such rows are computed again with
        each change of the registry.
    signature
        For such a metric: expression for what determines a score besides the texts, given the checkpoint. It may use
        the column `tokenizer`.
    label, unit, least, most
        For a metric without a column in the catalogue, from which the others have label, unit, digits and range.
    divided
        Whether texts are divided into words by the tokenizer of BLEU.
    made
        Signatures of the scores in a warehouse, for a metric that the registry names.
    """

    name: str
    better: int
    needs: tuple[Need, ...]
    cost: Cost
    family: Family = FURTHER
    grain: Grain = "passage"
    ranks: Ranks = "alone"
    boards: Set[str] = BOARDS
    value: pl.Expr | None = None
    counts: int = 0
    aggregate: Callable[[Floats], Floats] = mean
    proportion: bool = False
    margin: float | None = None
    missing: float = 0.0
    references: int | None = None
    harm: pl.Expr | None = None
    exported: str = ""
    score: Callable[[Texts, Comet], pl.DataFrame] | None = None
    signature: Callable[[Comet], pl.Expr] = lambda checkpoint: pl.lit(checkpoint.signature)
    label: str = ""
    unit: str = "measure"
    least: float | None = None
    most: float | None = None
    divided: bool = False
    made: str = ""

    @property
    def shown(self) -> catalogue.Column:
        """Label, unit, digits and range."""
        if not self.label:
            return catalogue.shared()[self.name]
        column = catalogue.computed(self.unit, self.label)
        return column.but(name=self.name, least=self.least, most=self.most, nullable=True, interval=True)

    @property
    def passage(self) -> pl.Expr:
        """A passage's value."""
        return pl.col(self.name) if self.value is None else self.value

    @property
    def goodness(self) -> pl.Expr:
        """A passage's value, negated if lower is better."""
        return self.better * self.passage

    @property
    def damage(self) -> pl.Expr:
        """A passage's value as a number that rises with damage."""
        return -self.goodness if self.harm is None else self.harm

    @property
    def task_name(self) -> str:
        """Name in shared tasks, without the characters that separate the parts of file names."""
        return self.exported or ("neg" if self.better < 0 else "") + "".join(filter(str.isalnum, self.name))

    @property
    def counted(self) -> pl.Expr:
        """What a passage counts in aggregates: if systems are ranked by the metric, at worst a missing output's value,
        so that no output is worth removing."""
        value = self.passage.cast(pl.Float64)
        if not self.ranks or not self.better or self.proportion:
            return value
        return value.clip(lower_bound=self.missing) if self.better > 0 else value.clip(upper_bound=self.missing)

    def statistics(self, scores: pl.DataFrame) -> Floats:
        """Additive statistics of rows of scores, shape (rows, statistics): 1 and the value, or 1 and the counts. All
        statistics of a row without a score are 0."""
        if self.counts:
            lists = scores[f"{self.name}_statistics"]
            present = lists.is_not_null().to_numpy()
            table = np.zeros((len(scores), 1 + self.counts))
            table[present, 0] = 1
            table[present, 1:] = lists.drop_nulls().list.to_array(self.counts).to_numpy()
            return table
        return of_values(scores.select(self.counted).to_series())

    def of(self, sums: Floats) -> Floats:
        """Scores from sums of statistics, shape (..., statistics) to (...); NaN if no row has a score."""
        present = sums[..., 0] > 0
        scores = np.full(present.shape, np.nan)
        if present.any():
            scores[present] = self.aggregate(sums[present])
        return scores
