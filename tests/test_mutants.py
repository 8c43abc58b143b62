"""Whether tests notice changes of scores, rights, money and lineage: known changes always, random ones as a proof."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from resources.home import PROJECT
from tests.mutants import Copy, Mutant, chosen, importers, mutants

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
    assert not copied.passes([tests], *options, mutant=Mutant(path, 0, before, after, source.replace(before, after)))
    assert copied.passes([tests], *options)


def test_a_mutant_is_a_module_with_one_changed_expression() -> None:
    path = "benchmark_assets/metrics/permutation.py"
    plain = ast.unparse(ast.parse((PROJECT / path).read_text(encoding="utf-8")))
    texts = [ast.unparse(ast.parse(mutant.text)) for mutant in mutants(path)[::10]]
    assert len(texts) > 10
    for text in texts:
        differing = [pair for pair in zip(plain.splitlines(), text.splitlines(), strict=True) if len(set(pair)) > 1]
        assert len(differing) == 1


def modules() -> Iterator[str]:
    """Paths of all modules that random mutants change."""
    for path in (path for paths in MODULES.values() for path in paths):
        files = sorted((PROJECT / path).rglob("*.py")) or [PROJECT / path]
        yield from (str(file.relative_to(PROJECT)) for file in files if file.name not in ("__init__.py", "assets.py"))


@pytest.mark.proof
@pytest.mark.large
def test_few_random_mutants_survive(copied: Copy, full: bool) -> None:
    """Survivors are printed, each with its place: some compute the same in another way, as a person has to judge."""

    @cache
    def sound(tests: tuple[str, ...]) -> bool:
        return copied.passes(tests)

    drawn = chosen(list(modules()), NUMBER, SEED)
    survivors = list[Mutant]()
    for mutant in drawn:
        tests = importers(mutant.path)
        assert sound(tuple(tests)), f"{tests} fail without any change"
        room = str(Path("tests", Path(mutant.path).parent.name))
        if copied.passes(tests, mutant=mutant) and (tests == [room] or copied.passes([room], mutant=mutant)):
            survivors.append(mutant)
            print(mutant, flush=True)
    print(f"{len(survivors)} of {len(drawn)} mutants survive")
    assert len(survivors) <= MOST_SURVIVORS * len(drawn)
