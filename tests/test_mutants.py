"""Whether tests notice changes of scores, rights, money and lineage: known changes always, random ones as a proof."""

from collections.abc import Iterator
from typing import Any

import pytest

from resources.home import PROJECT
from tests.mutants import Copy, Mutant, chosen, mutants, switched

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
    ("metrics/intervals.py", "1 -> 2", "rows = PRODUCTS // max(", "the size of blocks, which decides only about speed"),
    (
        "metrics/lexical.py",
        "> 0 -> matched >= 0",
        "np.divide(100 * matched",
        "the next line fills in what has no match",
    ),
    (
        "metrics/meta_evaluation.py",
        "<= 1e-12 * n * n -> of_y <",
        "constant =",
        "0 or far from 0; without items all is NaN",
    ),
    ("metrics/permutation.py", "2 ** items - 1 ->", "if 2**items - 1 <=", "no power of two is as near to TRIALS"),
    ("metrics/permutation.py", "True -> False", "counts = compared.sum(", "one axis more of length 1"),
    ("metrics/texts.py", "0 -> 1", "best, run, period =", "the first place sets the run and its period"),
    ("metrics/texts.py", "_GRAM ->", "if not any(text.find(", "a filter for speed: what it lets through is searched"),
    ("metrics/texts.py", "2 -> 3", "if not any(text.find(", "a filter for speed: what it lets through is searched"),
    ("metrics/anchoring.py", ">= effect * alone ->", "if not tuning or", "equal variances give the same interval"),
    ("pairwise/bradley_terry.py", "2 -> 3", "curvature = _curvature(", "Newton's steps end at the same maximum"),
    ("pairwise/bradley_terry.py", "curvature + 1 ->", "steps: Floats =", "any number there changes no step"),
    ("lineage/events.py", "True -> False", "return dg.Output(None", "Dagster asks only whether the key is there"),
    (
        "lineage/shards.py",
        "True -> False",
        "for (corpus,), rows in found",
        "the order of corpora, each with shards of its own",
    ),
    (
        "understanding/task_scores.py",
        "True -> False",
        "for (system,), rows in marks",
        "the order of rows that have keys",
    ),
]
"""Mutants that compute the same: module, a part of the change, the beginning of its line, and why."""

QUICK = ("tests/metrics/test_permutation.py::test_a_sum_that_differs_by_rounding_alone_is_as_great_as_observed",)

LARGE = (pytest.mark.proof, pytest.mark.large)

KNOWN = [
    ("benchmark_assets/metrics/permutation.py", "ROUNDING * np.abs", "ROUNDING / np.abs", *QUICK),
    pytest.param(
        "benchmark_assets/metrics/logistic.py", "/ 2 * _dispersion(", "/ 2 / _dispersion(",
        "tests/examination/test_length.py", marks=LARGE,
    ),
    pytest.param(
        "benchmark_assets/accounts/costs.py", 'priced & (pl.col("reserved") == 0)', "priced",
        "tests/accounts/test_costs.py", marks=LARGE,
    ),
    pytest.param(
        "resources/provider/estimate.py", "purpose) or (1, 1)", "purpose) and (1, 1)",
        "tests/provider/test_estimate.py", marks=LARGE,
    ),
    pytest.param(
        "benchmark_assets/understanding/task_scores.py", "(0, 0, 0)", "(0, 0, 1)",
        "tests/understanding/test_task_scores.py", marks=LARGE,
    ),
    pytest.param(
        "benchmark_assets/corpus/rights.py", 'name or "source"', 'name and "source"', "tests/corpus/test_rights.py",
        marks=LARGE,
    ),
]  # fmt: skip
"""Changes that tests did not notice once: module, what is replaced, by what, and the tests that notice it."""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("mutants") / "project")


@pytest.mark.parametrize(("path", "before", "after", "tests"), KNOWN)
def test_what_was_not_noticed_once_is_noticed_now(copied: Copy, path: str, before: str, after: str, tests: str) -> None:
    source = (PROJECT / path).read_text(encoding="utf-8")
    assert source.count(before) == 1
    options = ["--noconftest"] if tests in QUICK else []
    (copied.folder / path).write_text(source.replace(before, after), encoding="utf-8")
    assert not copied.passes([tests], *options)
    (copied.folder / path).write_text(source, encoding="utf-8")
    assert copied.passes([tests], *options)


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


def _equivalent(mutant: Mutant) -> bool:
    return any(
        mutant.path.endswith(path)
        and change in f"{mutant.before} -> {mutant.after}"
        and mutant.statement.startswith(line)
        for path, change, line, _ in EQUIVALENT
    )


@pytest.mark.proof
@pytest.mark.large
def test_few_random_mutants_survive(copied: Copy) -> None:
    """Prints how each mutant ended. Survivors in `EQUIVALENT` compute the same in another way, as a person judged."""
    drawn = chosen(list(modules()), NUMBER, SEED)
    survivors = [mutant for mutant in copied.survivors(drawn) if not _equivalent(mutant)]
    print(f"{len(survivors)} of {len(drawn)} mutants survive", *survivors, sep="\n")
    assert len(survivors) <= MOST_SURVIVORS * len(drawn)
