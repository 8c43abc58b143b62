"""What was found in a corpus, and what cannot be said: sentences with numbers, the opening of its part of the report.

Here: sentences that follow from the tables by rule, and how much more a corpus needs. Not here: the tables (content,
people), what a single model is bad at (models).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.description import Scoring
from benchmark_assets.corpus.units import FEWEST, Division, division, scoring
from benchmark_assets.metrics.entries import BY_NAME
from benchmark_assets.metrics.intervals import Z
from benchmark_assets.metrics.significance import DIFFERENT, EQUAL, OPEN
from benchmark_assets.reporting.exhibits import FURTHEST
from benchmark_assets.reporting.headline import RATE, told_apart, words
from benchmark_assets.reporting.report.display import Home
from benchmark_assets.reporting.sentences import among_people, counted, listed
from resources.tables import cells

SIMILARITY = "sim_best"
"""Measure by which models stand among the translators."""

PANEL = "panel"

WITHIN = 0.1
"""How far the ends of a rate's interval may be from the rate, for the number of labels that is advised."""

DEPENDENCE = 1.2
"""Design effect of labels, where none is measured: the one towards which intervals of rates are shrunken
(docs/decisions/statistics.md)."""


class Findings(NamedTuple):
    """Sentences on what was found, and on what cannot be said and what it would take."""

    found: list[str]
    unsaid: list[str]


class Evidence(NamedTuple):
    """What the sentences about a corpus are made from: rows of its leaderboard; numbers of selected passages, of their
    documents and of their units; how the corpus is divided into units; number of outputs labeled for estimates."""

    home: Home
    corpus: str
    board: pl.DataFrame
    passages: int
    documents: int
    units: int
    division: Division
    labeled: int

    @property
    def models(self) -> pl.DataFrame:
        """Rows of comparable models."""
        return self.board.filter(kind="model", apart="")

    def read(self, table: str) -> pl.DataFrame:
        """Rows of a table about the corpus."""
        return self.home.read(table, self.corpus)

    def takes(self, units: float) -> str:
        """How many units an answer takes, in words: beyond `FURTHEST` times those that there are, only that bound."""
        most = FURTHEST * self.units
        return f"about {self.extent(math.ceil(units))}" if units <= most else f"more than {self.extent(most)}"

    def extent(self, units: int) -> str:
        """A number of units in words."""
        if self.division.rule != "blocks":
            return f"{units:,} {self.division.kind}"
        return f"{units * self.division.length:,} passages, or {units:,} documents"


def evidence(home: Home, corpus: str) -> Evidence:
    """What the sentences about a corpus are made from."""
    key = pl.DataFrame({"corpus": [corpus]})
    sources = home.warehouse.read("source_text", key, ["passage", "document"])
    chosen = home.warehouse.read("selection", sources.select("passage"), ["passage", "selected"]).filter("selected")
    rows = sources.join(chosen, on="passage", how="semi")
    documents, board = rows["document"].n_unique(), home.read("leaderboard", corpus)
    labels = home.read("error_estimate", corpus).filter(model="", region="all")["labelled"].to_list()
    by = division(scoring(home.warehouse).get(corpus, Scoring()).cluster, len(rows), documents)
    units = board["units"].max() or 0
    assert isinstance(units, int)
    return Evidence(home, corpus, board, len(rows), documents, units, by, sum(labels))


def findings(home: Home, corpus: str) -> Findings:
    """Sentences on size, missing outputs, order, models among people, errors, judges and people; and on which of these
    questions has no answer, why, and how many documents or labels an answer would take."""
    basis = evidence(home, corpus)
    found = (_size, _translators, _missing, _order, _answers, _among_people, _errors, _judges)
    unsaid = (_no_models, _few_translators, _few_units, _no_order, _small_differences, _open, _labels, _unproven_panel)
    made = ([sentence for make in makers for sentence in make(basis)] for makers in (found, unsaid))
    return Findings(*made)


def labels_needed(within: float = WITHIN) -> int:
    """Number of labels of a model's outputs that put its error rate within so much, at any rate.

    Notes
    -----
    z² p (1 - p) d / w² with p = 1/2, where the interval is widest, and the design effect d = `DEPENDENCE`.
    """
    return math.ceil(DEPENDENCE * 0.25 * (Z / within) ** 2)


def _size(basis: Evidence) -> Iterator[str]:
    """How much was compared."""
    people = basis.board.filter(kind="human")
    if not basis.passages:
        return
    labels = f"; people have labeled {counted(basis.labeled, 'output')}" if basis.labeled else ""
    yield (
        f"{counted(basis.passages, 'passage')} of {counted(basis.documents, 'document')}, "
        f"{counted(len(people), 'translator')} to compare, {counted(len(basis.board) - len(people), 'model')}{labels}."
    )


def _translators(basis: Evidence) -> Iterator[str]:
    """How far the translators are from each other."""
    rows = basis.board.filter(kind="human").drop_nulls(SIMILARITY).sort(SIMILARITY, "system")
    if len(rows) > 1:
        (least, farthest), *_, (most, nearest) = rows.select(*cells("leaderboard", SIMILARITY), "system").rows()
        range_ = f"from {least} ({farthest}) to {most} ({nearest})" if least != most else f"{least} for each"
        yield f"Similarity of a translator to the closest other one: {range_}."


def _missing(basis: Evidence) -> Iterator[str]:
    """Models without a usable output for some passages."""
    rows = basis.board.filter(pl.col("failures") > 0, kind="model").sort("failures", "system", descending=[True, False])
    if len(rows):
        names = [f"{name} ({failed:,} of {passages:,})" for name, failed, passages in
                 rows.select("system", "failures", "passages").rows()]  # fmt: skip
        yield f"Passages without a usable output: {listed(names)}. Each counts as the worst possible output."


def _order(basis: Evidence) -> Iterator[str]:
    """By what the models are ordered, and which of them cannot be told apart."""
    if len(basis.models) < 2 or not (by := basis.models["ordered_by"][0]):
        return
    yield words(by)
    if by == RATE:
        yield from filter(None, [told_apart(basis.models)])
    ranks = basis.read("metric_rank").filter(kind="model", measure=by).drop_nulls("cluster")
    groups = ranks.group_by("cluster").agg(pl.col("system").sort()).sort("cluster")["system"].to_list()
    for number, names in enumerate(groups, start=1):
        if len(names) > 1:
            place = f" (cluster {number} of {len(groups)})" if len(groups) > 1 else ""
            yield f"It does not tell {listed(names)} apart{place}."


def _pairs(basis: Evidence) -> pl.DataFrame:
    return basis.read("system_comparison").filter(measure=SIMILARITY, kind="model", other_kind="model")


def _answers(basis: Evidence) -> Iterator[str]:
    """On how many pairs of models there is an answer, by similarity."""
    answers = _pairs(basis)["answer"].to_list()
    if answers and (known := len(answers) - answers.count(OPEN)):
        yield (
            f"Of {counted(len(answers), 'pair')} of models, {answers.count(DIFFERENT)} differ in similarity and "
            f"{answers.count(EQUAL)} are equal within the margin"
            + (f"; of {len(answers) - known} it cannot be told." if known < len(answers) else ".")
        )


def _among_people(basis: Evidence) -> Iterator[str]:
    """Which models are nearer than, among or farther than the translators, by similarity."""
    yield from among_people(basis.read("human_range").filter(measure=SIMILARITY), "similarity")


def _estimates(basis: Evidence) -> pl.DataFrame:
    """Estimated rates of major errors of models, lowest first."""
    rows = basis.read("error_estimate").filter(pl.col("model") != "", region="all")
    return rows.drop_nulls("major_rate").sort("major_rate", "model")


def _errors(basis: Evidence) -> Iterator[str]:
    """The models with the lowest and the highest rate of major errors, as estimated from people's labels."""
    shown = _estimates(basis).select("model", *cells("error_estimate", "major_rate")).rows()
    if len(shown) == 1:
        yield f"People's labels put major errors at {shown[0][1]} % of the outputs of {shown[0][0]}."
    elif shown:
        (best, least), *_, (worst, most) = shown
        yield f"People's labels put major errors between {least} % of the outputs ({best}) and {most} % ({worst})."


def _judges(basis: Evidence) -> Iterator[str]:
    """How the panel and people agree, and in which direction they differ."""
    for row in basis.read("judge_calibration").filter(judge=PANEL).iter_rows(named=True):
        missed, false = row["major_recall"], row["major_precision"]
        yield (
            f"On {row['outputs']} outputs labeled by people, the panel gives the same label to {row['exact']:.0%} "
            f"(Cohen's kappa {_interval(row, 'kappa')}). "
            + (f"Of the major errors that people mark, it finds {missed:.0%}; " if missed is not None else "")
            + (f"of those that it reports, people confirm {false:.0%}." if false is not None else "it reports none.")
        )


def _no_models(basis: Evidence) -> Iterator[str]:
    if basis.board.filter(kind="model").is_empty():
        yield (
            "Anything about models, because there are no scored outputs. "
            f"`variorum import outputs FILE --corpus {basis.corpus}` adds some."
        )


def _few_translators(basis: Evidence) -> Iterator[str]:
    """What one or two references do not show."""
    most = max(basis.board.filter(kind="model")["mean_references"].drop_nulls(), default=None)
    if most is not None and most < 1.5:
        yield (
            "How far people are from each other, and so whether a distance is large: this takes two complete "
            "references of a passage, and most outputs are compared with one."
        )
    elif most is not None and most < 3:
        yield (
            "Drift of the translators beside that of the models: two references make an envelope for an output, but "
            "a translator has only one other. It takes a third translation."
        )


def _few_units(basis: Evidence) -> Iterator[str]:
    """Why there are no intervals, or why they hold for one text only."""
    if 0 < basis.units < FEWEST:
        yield (
            f"How much chance is in any number: the passages make up {counted(basis.units, 'unit')} "
            f"({basis.division.kind}), and an interval takes at least {FEWEST}, that is, {basis.extent(FEWEST)}."
        )
    if basis.documents == 1:
        yield (
            "What holds for other texts: all passages are from one document. With five documents or more, intervals "
            "say what to expect of a further one."
        )


def _no_order(basis: Evidence) -> Iterator[str]:
    if len(basis.models) == 1:
        yield f"How {basis.models['system'][0]} stands beside other models: it is the only one."
    elif len(basis.models) and not basis.models["ordered_by"][0]:
        yield f"Which model is best. {words('')} Labels by people order them."


def _small_differences(basis: Evidence) -> Iterator[str]:
    """Pairs of models without an answer, the differences that would have been found, and the size that finds them."""
    pairs = _pairs(basis).filter(answer=OPEN)
    seen = pairs.drop_nulls("detectable").sort("detectable")
    if pairs.is_empty():
        return
    if seen.is_empty():
        yield f"Whether {counted(len(pairs), 'pair')} of models differ in similarity: there are too few units."
        return
    sizes = seen.select(cells("system_comparison", "detectable")).to_series().unique(maintain_order=True)
    margin = BY_NAME[SIMILARITY].margin
    needed = (seen["units"] * (seen["detectable"] / margin) ** 2).median() if margin else None
    assert isinstance(needed, float)
    yield (
        f"Whether {counted(len(pairs), 'pair')} of models differ in similarity. Differences of {sizes[0]}"
        + (f" to {sizes[-1]}" if len(sizes) > 1 else "")
        + f" would be found in 4 of 5 such corpora; to find one as small as the margin, {margin:g}, in half of these "
        f"pairs takes {basis.takes(needed)}."
    )


def _open(basis: Evidence) -> Iterator[str]:
    """Models whose standing among people is open."""
    rows = basis.read("human_range").filter(measure=SIMILARITY, verdict=OPEN).sort("needed", "model", nulls_last=True)
    if len(rows):
        names = [
            f"{model} ({basis.takes(needed)})" if needed else model
            for model, needed in rows.select("model", "needed").rows()
        ]
        takes = "in parentheses stands what an answer takes if all stays as it is" if rows["needed"].count() else (
            "there are too few units"
        )  # fmt: skip
        yield f"Whether {listed(names)} can be told from the translators by similarity: {takes}."


def _labels(basis: Evidence) -> Iterator[str]:
    """How many labels are missing for rates of errors."""
    if basis.board.filter(kind="model").is_empty() or not basis.passages:
        return
    advised, points = labels_needed(), f"{100 * WITHIN:.0f} points"
    known = _estimates(basis).drop_nulls("major_rate_high")
    if known.is_empty():
        start = "nobody has labeled outputs" if not basis.labeled else "too few outputs are labeled"
        enough = f"About {advised} labels of a model's outputs, drawn at random, put its rate of errors within {points}"
        if basis.passages < advised:
            width = 100 * WITHIN * math.sqrt(advised / basis.passages)
            enough += f"; labels of all {basis.passages} outputs within {width:.0f}"
        yield (
            f"How often an output is wrong: {start}, and distance is not error. {enough} (`variorum annotate FOLDER "
            f"{basis.corpus} --annotator NAME` writes sheets)."
        )
        return
    wide = known.with_columns(
        half=pl.max_horizontal(pl.col("major_rate") - pl.col("major_rate_low"),
                               pl.col("major_rate_high") - pl.col("major_rate"))
    ).sort("half", descending=True).row(0, named=True)  # fmt: skip
    if wide["half"] > WITHIN:
        yield (
            f"Rates of errors within {points}: with {counted(wide['labelled'], 'label')}, that of {wide['model']} is "
            f"known within {100 * wide['half']:.0f} points. About {advised} labels of each model are enough."
        )


def _unproven_panel(basis: Evidence) -> Iterator[str]:
    judged = sum(basis.read("audit_outcome").filter(raters=PANEL, model="", band="")["judged"].to_list())
    if judged and basis.read("judge_calibration").filter(judge=PANEL).is_empty():
        yield f"How far the panel is right about {counted(judged, 'output')}: none of them has a label by people."


def _interval(row: dict[str, float], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{row[name]:.2f}" + (f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else "")
