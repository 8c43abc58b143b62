"""What commands print with results: the meaning of drift, and the demonstration's answer.

Here: a small table of how near models are to the translators and how often they are wrong, and the sentences that its
numbers allow. Not here: the whole leaderboard (leaderboard), the report.
"""

from collections.abc import Iterator

import polars as pl

from benchmark_assets.reporting.headline import RATE
from benchmark_assets.reporting.leaderboard import groups, in_order
from resources import catalogue, tables
from resources.warehouse import Warehouse

MEANING = "Drift is the distance from the human translations, in units of their own spread. Distance is not error"
"""What has to be known to read a leaderboard, without a full stop."""


def demonstration(warehouse: Warehouse, corpus: str) -> Iterator[str]:
    """Lines about the models and translators of a corpus whose outputs people have labeled: a table, then what follows
    from it."""
    key = pl.DataFrame({"corpus": [corpus]})
    board = warehouse.read("leaderboard", key)
    models, people = (in_order(board.filter(kind=kind)) for kind in ("model", "human"))
    yield f"{models['passages'][0]} passages, each with {len(people)} human translations."
    yield f"{next(iter(groups(models)))}\n"
    shown = models.select(*tables.cells("leaderboard", "system", RATE, "drift_adjusted", "outlier_rate"))
    yield f"{tables.plain(shown)}\n"
    yield from (f"  {name}: {words}" for name, words in tables.legend(shown.columns[1:], "leaderboard").items())
    yield f"\n{MEANING}:"
    models = models.with_columns(rate=tables.cell(catalogue.column("leaderboard", RATE)))
    wrong = models.sort(RATE, descending=True, nulls_last=True).row(0, named=True)
    near, *_, far = models.drop_nulls("drift_adjusted").sort("drift_adjusted").iter_rows(named=True)
    yield (
        f"people find major errors in {wrong['rate']} % of the outputs of `{wrong['system']}`, with an adjusted drift "
        f"of {wrong['drift_adjusted']:.2f},"
    )
    yield f"and in {far['rate']} % of the outputs of `{far['system']}`, the most distant model."
    nearest, *_, farthest = people["drift_adjusted"].sort()
    yield (
        f"The adjusted drift of the translators from each other is {nearest:.2f} to {farthest:.2f}, that of the models "
        f"{near['drift_adjusted']:.2f} to {far['drift_adjusted']:.2f}."
    )
