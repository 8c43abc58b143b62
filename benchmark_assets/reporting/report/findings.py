"""What was found in a corpus, in sentences with numbers: the opening of its part of the report.

Here: sentences that follow from the tables by rule. Not here: the tables (content, people).
"""

from collections.abc import Iterator, Sequence

import polars as pl

from benchmark_assets.metrics.significance import DIFFERENT, EQUAL, OPEN
from benchmark_assets.reporting.headline import words
from benchmark_assets.reporting.report.display import Home
from resources.tables import cells

SIMILARITY = "sim_best"
"""Measure by which models stand among the translators."""

PANEL = "panel"


def findings(home: Home, corpus: str) -> list[str]:
    """Sentences on order, on models among people, on errors, and on judges and people; those that the tables allow."""
    makers = (_order, _answers, _among_people, _errors, _judges)
    return [sentence for make in makers for sentence in make(home, corpus)]


def _order(home: Home, corpus: str) -> Iterator[str]:
    """By what the models are ordered, and which of them a measure with a certificate cannot tell apart."""
    models = home.read("leaderboard", corpus).filter(kind="model", apart="")
    if len(models) < 2:
        return
    by = models["ordered_by"][0]
    yield words(by)
    ranks = home.read("metric_rank", corpus).filter(kind="model", measure=by).drop_nulls("cluster")
    groups = ranks.group_by("cluster").agg(pl.col("system").sort()).sort("cluster")["system"].to_list()
    for number, names in enumerate(groups, start=1):
        if len(names) > 1:
            place = f" (cluster {number} of {len(groups)})" if len(groups) > 1 else ""
            yield f"It does not tell {_listed(names)} apart{place}."


def _answers(home: Home, corpus: str) -> Iterator[str]:
    """On how many pairs of models there is an answer, by similarity, and what could have been found."""
    pairs = home.read("system_comparison", corpus).filter(measure=SIMILARITY, kind="model", other_kind="model")
    if pairs.is_empty():
        return
    different, equal, unknown = (int((pairs["answer"] == each).sum()) for each in (DIFFERENT, EQUAL, OPEN))
    found = f"Of {len(pairs)} pairs of models, {different} differ in similarity and {equal} are equal within the margin"
    seen = pairs.filter(answer=OPEN).drop_nulls("detectable").sort("detectable")
    if unknown and len(seen):
        sizes = seen.select(cells("system_comparison", "detectable")).to_series().unique(maintain_order=True)
        found += f"; of {unknown} it cannot be told: differences of {sizes[0]}"
        found += f" to {sizes[-1]}" * (len(sizes) > 1) + " would be found in 4 of 5 such corpora"
    elif unknown:
        found += f"; of {unknown} it cannot be told, because there are too few units"
    yield f"{found}."


def _among_people(home: Home, corpus: str) -> Iterator[str]:
    """Which models are nearer than, among or farther than the translators, by similarity."""
    rows = home.read("human_range", corpus).filter(measure=SIMILARITY)
    phrases = {
        "nearer": "closer to the other translators than every translator",
        "among": "within the range of the translators",
        "farther": "farther from the other translators than every translator",
    }
    for verdict, phrase in phrases.items():
        if models := rows.filter(verdict=verdict)["model"].sort().to_list():
            yield f"By similarity, {_listed(models)} {'is' if len(models) == 1 else 'are'} {phrase}."
    for row in rows.filter(verdict=OPEN).sort("model").iter_rows(named=True):
        needed = f" with {row['units']} units; about {row['needed']:,} are needed" if row["needed"] else ""
        yield (
            f"By similarity, it cannot be told whether {row['model']} is as far from the translators as they are from "
            f"each other{needed}."
        )


def _errors(home: Home, corpus: str) -> Iterator[str]:
    """The models with the lowest and the highest rate of major errors, as estimated from people's labels."""
    rows = home.read("error_estimate", corpus).filter(pl.col("model") != "", region="all").drop_nulls("major_rate")
    if len(rows) < 2:
        return
    shown = rows.sort("major_rate", "model").select("model", *cells("error_estimate", "major_rate")).rows()
    (best, least), *_, (worst, most) = shown
    yield (
        f"People's labels put major errors between {least} % of the outputs ({best}) and {most} % ({worst}); these are "
        "estimates for all outputs, with 95 % intervals."
    )


def _judges(home: Home, corpus: str) -> Iterator[str]:
    """How the panel and people agree, and in which direction they differ."""
    for row in home.read("judge_calibration", corpus).filter(judge=PANEL).iter_rows(named=True):
        missed, false = row["major_recall"], row["major_precision"]
        yield (
            f"On {row['outputs']} outputs labeled by people, the panel gives the same label to {row['exact']:.0%} "
            f"(Cohen's kappa {_interval(row, 'kappa')}). "
            + (f"Of the major errors that people mark, it finds {missed:.0%}; " if missed is not None else "")
            + (f"of those that it reports, people confirm {false:.0%}." if false is not None else "it reports none.")
        )


def _interval(row: dict[str, float], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{row[name]:.2f}" + (f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else "")


def _listed(names: Sequence[str]) -> str:
    """Names in words: a; a and b; a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
