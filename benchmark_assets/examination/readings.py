"""Tables of report cards for Dagster's UI. Not here: computing the numbers (reports)."""

from collections.abc import Mapping

from benchmark_assets.examination.reports import judge_accuracies
from resources.tables import cells, markdown, shown
from resources.warehouse import Warehouse


def of_reports(warehouse: Warehouse) -> Mapping[str, str]:
    """Report cards of all examined judges, and their accuracy by kind of damage."""
    accuracy = judge_accuracies(warehouse)
    return {
        "reports": shown(warehouse.read("judge_report"), "judge_report"),
        "accuracy by damage": markdown(accuracy.select(cells("judge_accuracy")), most=400),
    }
