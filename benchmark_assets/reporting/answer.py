"""What commands print with results: the meaning of drift, and the demonstration's answer.

Here: a small table of how near models are to the translators and how often they are wrong, and the sentences that its
numbers allow. Not here: the whole leaderboard (leaderboard), the report.
"""

from collections.abc import Iterator

import polars as pl

from resources import tables
from resources.warehouse import Warehouse

MEANING = "Drift is the distance from the human translations, in units of their own spread. Distance is not error"
"""What has to be known to read a leaderboard, without a full stop."""


def demonstration(warehouse: Warehouse, corpus: str) -> Iterator[str]:
    """Lines about the models and translators of a corpus whose outputs people have labeled: a table, then what follows
    from it."""
    key = pl.DataFrame({"corpus": [corpus]})
    board, estimates = warehouse.read("leaderboard", key), warehouse.read("error_estimate", key)
    errors = estimates.filter(region="all").rename({"model": "system"})
    models = board.filter(kind="model").join(errors, on="system").sort("drift")
    people = board.filter(kind="human")
    yield f"{models['passages'][0]} passages, each with {len(people)} human translations; models by their distance:\n"
    distance = models.select(*tables.cells("leaderboard", "system", "drift", "outlier_rate"))
    rates = models.select(*tables.cells("error_estimate", "major_rate"))
    yield tables.plain(pl.concat([distance, rates], how="horizontal"))
    yield f"\n{MEANING}:"
    wrong = models.sort("major_rate", descending=True, nulls_last=True).row(0, named=True)
    if names := models.filter(pl.col("drift") > wrong["drift"])["system"].to_list():
        yield (
            f"people find major errors in {wrong['major_rate']:.0%} of the outputs of `{wrong['system']}`, which is "
            f"nearer than {', '.join(names)};"
        )
    last = models.row(-1, named=True)
    nearest, *_, farthest = people["drift"].sort()
    yield f"`{last['system']}` is the most distant model, with major errors in {last['major_rate']:.0%}."
    yield f"The translators have a drift of {nearest:.2f} to {farthest:.2f} from each other."
