"""Whether tests notice random changes of scores, rights, money and lineage, and some that they overlooked once."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from resources.home import PROJECT
from tests.mutants import Mutant, chosen, mutants, survived, switched

NUMBER, SEED = 200, 20260101

MODULES = {
    "scores": (
        "benchmark_assets/metrics", "benchmark_assets/understanding/task_scores.py",
        "benchmark_assets/pairwise/bradley_terry.py",
    ),
    "rights": ("benchmark_assets/corpus/rights.py", "benchmark_assets/corpus/overlap.py"),
    "money": ("benchmark_assets/accounts/costs.py", "resources/provider/estimate.py", "resources/provider/breaker.py"),
    "lineage": ("benchmark_assets/lineage",),
}  # fmt: skip
"""Modules, or folders of modules, that random mutants change."""

MOST_SURVIVORS = 0.05

EQUIVALENT = [
    ("corpus/rights.py", "True -> False", "by_document = passages.sort(", "the rows are sorted afterwards"),
    ("corpus/rights.py", "True -> False", "rows = pl.concat([by_document", "rows of one document name the same copy"),
    ("metrics/diagnostics.py", "0 -> 1", "elsewhere = not refused", "a finding has evidence exactly if it is a defect"),
    ("metrics/intervals.py", "250 -> 251", "BLOCK =", "it decides only about speed"),
    ("metrics/lexical.py", "> 0 -> matched >= 0", "np.divide(100 * matched", "the next line does the rest"),
    ("metrics/meta_evaluation.py", "<= 1e-12 * n * n -> of_y <", "constant =", "it is 0 or far from 0"),
    ("metrics/meta_evaluation.py", "", "bins = min(len(scores) ** 2", "bins decide only about speed"),
    ("metrics/logistic.py", "< 1e-09 -> ", "if len(quantity) == 0", "a range is of rounding errors or far larger"),
    ("metrics/ngrams.py", "64 -> 65", "SPARSE =", "it decides only about speed"),
    ("metrics/packaging.py", "<= len(run) ->", "return frozenset(reading for", "a reading is shorter than its bytes"),
    ("metrics/permutation.py", "2 ** items - 1 ->", "if 2**items - 1 <=", "no power of two is as near to TRIALS"),
    ("metrics/permutation.py", "True -> False", "counts = compared.sum(", "one axis more of length 1"),
    ("metrics/support.py", "True -> False", "parts = [_of_passage(", "the order of rows that have keys"),
    ("metrics/texts.py", "0 -> 1", "best, run, period =", "the first place sets the run and its period"),
    ("metrics/texts.py", "_GRAM ->", "if not any(text.find(", "a filter for speed: what it lets through is searched"),
    ("metrics/texts.py", "2 -> 3", "if not any(text.find(", "a filter for speed: what it lets through is searched"),
    ("metrics/anchoring.py", ">= effect * alone ->", "if not tuning or", "equal variances give the same interval"),
    ("pairwise/bradley_terry.py", "2 -> 3", "curvature = _curvature(", "Newton's steps end at the same maximum"),
    ("pairwise/bradley_terry.py", "curvature + 1 ->", "steps: Floats =", "any number there changes no step"),
    ("provider/estimate.py", "is None or", "if self.about is None", "without a price both are absent"),
    ("lineage/events.py", "True -> False", "return dg.Output(None", "Dagster asks only whether the key is there"),
    ("lineage/standing.py", "500 -> 501", "FEW =", "it decides only about speed"),
    ("lineage/standing.py", "is not None or", "near = partitions if", "it decides only how many rows are read"),
    ("lineage/shards.py", "50 -> 51", "PIECE =", "it decides only about memory"),
    ("lineage/shards.py", "True -> False", "for (corpus,), rows in", "the order of corpora"),
    ("understanding/task_scores.py", "True -> False", "for (system,), rows in", "the order of rows that have keys"),
]
"""Mutants that compute the same: module, a part of the change, the beginning of its line, and why."""

KNOWN = [
    ("metrics/permutation.py", "ROUNDING / np.abs", "return _p(sums, observed, ROUNDING"),
    ("metrics/logistic.py", "/ 2 / _dispersion(", "limit = least +"),
    ("accounts/costs.py", "priced | ", "free = priced &"),
    ("understanding/task_scores.py", "0 -> 1", "counts = [[sum(run.types.get(name, (0, 0, 0))"),
    ("corpus/rights.py", "and 'source'", 'return [name or "source"'),
    ("provider/estimate.py", "and (1, 1)", "prompts, completions ="),
]
"""Mutants that tests did not notice once: module, a part of the change, and the beginning of its line."""


SOURCE = '''"""A module."""
import math
def smaller(one: int, other: int) -> int:
    return min(one, other) + 1 if one > 0 else math.floor(-0.5)
'''


def test_a_mutant_changes_one_expression_and_only_where_it_is_switched_on() -> None:
    results = {}
    drawn = list(enumerate(mutants("module.py", SOURCE), 1))
    for number, mutant in drawn:
        names: dict[str, Any] = {}
        exec(switched(SOURCE, drawn), names)
        names["mutated"] = lambda each, number=number: each == number
        results[f"{mutant.before} -> {mutant.after}"] = [names["smaller"](5, 2), names["smaller"](0, 2)]
    assert results == {
        "min(one, other) + 1 -> min(one, other) - 1": [1, -1], "min -> max": [6, -1],
        "1 -> 2": [4, -1], "one > 0 -> one >= 0": [3, 1], "0 -> 1": [3, -1], "math.floor -> math.ceil": [3, 0],
        "-0.5 -> 0.5": [3, 0], "0.5 -> 1.5": [3, -2],
    }  # fmt: skip


def modules() -> Iterator[str]:
    """Paths of all modules that random mutants change."""
    for path in (path for paths in MODULES.values() for path in paths):
        files = sorted((PROJECT / path).rglob("*.py")) or [PROJECT / path]
        yield from (str(file.relative_to(PROJECT)) for file in files if file.name not in ("__init__.py", "assets.py"))


def listed(mutant: Mutant, rows: Iterable[tuple[str, ...]]) -> bool:
    """Whether the mutant is in one of the lists above."""
    change = f"{mutant.before} -> {mutant.after}"
    return any(
        mutant.path.endswith(path) and part in change and mutant.statement.startswith(line)
        for path, part, line, *_ in rows
    )


@pytest.mark.proof
@pytest.mark.large
def test_few_random_mutants_survive(tmp_path: Path) -> None:
    """Prints how each mutant ended."""
    sources = {path: (PROJECT / path).read_text(encoding="utf-8") for path in modules()}
    every = [mutant for path, source in sources.items() for mutant in mutants(path, source)]
    known, drawn = [mutant for mutant in every if listed(mutant, KNOWN)], chosen(every, NUMBER, SEED)
    survivors = survived(tmp_path / "project", list(dict.fromkeys([*drawn, *known])))
    changing = [mutant for mutant in survivors if not listed(mutant, EQUIVALENT)]
    print(f"{len(survivors)} of {len(drawn)} mutants survive, and {len(changing)} change what is computed:")
    print(*changing, sep="\n")
    assert len(known) >= len(KNOWN)
    assert not set(known) & set(survivors)
    assert len(changing) <= MOST_SURVIVORS * len(drawn)
