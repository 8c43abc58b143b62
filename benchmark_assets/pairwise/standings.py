"""The results of examinations for base sets.

Here: the verdict on the judge of a base set, and the judge's length coefficient. Not here: how the judges are examined
(matches), sentinels and rounds (examination).
"""

from collections.abc import Iterable

import polars as pl

from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.examination.flags import JudgeStanding, Report, cards, together
from benchmark_assets.metrics.measures import Estimate
from resources.keys import CORPUS
from resources.warehouse import Warehouse


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


def of_slices(warehouse: Warehouse, slices: Iterable[tuple[str, str]]) -> list[JudgeStanding]:
    """The verdict on the judge for each base set and slice in `slices`. A slice of one direction, such as 'ja-en easy',
    depends only on the examination in this direction."""
    of_cards = cards(warehouse, "comparison")
    standings = {key: together(of_set, of_cards) for key, of_set in _reports(warehouse).items()}
    return [standings.get((base_set, name.partition(" ")[0]), standings[base_set, ""]) for base_set, name in slices]
