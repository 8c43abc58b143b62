"""Tables of error spans for Dagster's UI. Not here: computing the numbers."""

from collections.abc import Mapping

from resources.tables import shown
from resources.warehouse import Warehouse


def of_spans(warehouse: Warehouse) -> Mapping[str, str]:
    """Scores of models by corpus and judge, best first; and rates of their errors, most frequent first."""
    order = ["corpus", "judge"]
    scores = warehouse.read("span_summary").sort(*order, "mqm", descending=[False, False, True])
    kinds = warehouse.read("span_rate").sort(*order, "model", "rate", descending=[False, False, False, True])
    return {"scores": shown(scores, "span_summary"), "errors per output": shown(kinds, "span_rate")}
