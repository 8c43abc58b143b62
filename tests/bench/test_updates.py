"""What an update costs: from nothing, with nothing stale, after one edited passage, and with one more model.

CPU seconds of this process are printed; the texts are embedded by counting letters and the models answer by rule, so
that everything measured is bookkeeping and statistics. Only ratios measured in one run are asserted.
"""

import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from benchmark_assets.automation import runs
from tests.bench.grid import grid
from tests.bench.test_bookkeeping import disk
from tests.support import made_home

pytestmark = pytest.mark.bench


def cpu_seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


@pytest.mark.large
@pytest.mark.parametrize(("passages", "models"), [(200, 3), (1700, 10)])
def test_updates_of_a_grid(passages: int, models: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = made_home(monkeypatch, tmp_path)
    with dg.DagsterInstance.get() as instance:
        definitions = grid(tmp_path / "corpus", home, passages, instance)
        instance.add_dynamic_partitions("model", [f"m{i}" for i in range(models)])

        def updated() -> None:
            runs.update(definitions, instance)

        def edited() -> None:
            file = tmp_path / "corpus" / "passages.jsonl"
            file.write_text(file.read_text().replace("Sentence 2 is short.", "Sentence 2 is brief."))
            runs.look(definitions, instance)
            runs.update(definitions, instance)

        from_nothing = cpu_seconds(updated)
        cells, dagster = passages * models, disk(home / "dagster")
        nothing_stale = min(cpu_seconds(updated) for _ in range(2))
        one_edit = cpu_seconds(edited)
        instance.add_dynamic_partitions("model", ["another"])
        one_model = cpu_seconds(updated)
    print(f"\n{passages} × {models}: from nothing {from_nothing:.1f} s, nothing stale {nothing_stale:.1f} s,")
    print(f"  one edited passage {one_edit:.1f} s, one more model {one_model:.1f} s,")
    print(f"  Dagster's storage {dagster / 1e6:.1f} MB, {dagster / cells / 1e3:.1f} KB a cell")
    assert nothing_stale < one_edit < from_nothing
