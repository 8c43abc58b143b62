"""Costs before a benchmark is added, from declared sizes and the registry's prices."""

import pytest

from benchmark_assets.benchmarks.costs import likely_costs
from benchmark_assets.benchmarks.recipe import read, shipped
from resources.provider.registry import Registry


def test_translation_costs_as_many_tokens_as_the_source_has() -> None:
    model = {"endpoint": "here", "id": "m"}
    registry = Registry.model_validate(
        {
            "endpoints": {"here": {"url": "http://127.0.0.1:9/v1"}}, "embedders": {"e": {}}, "embedder": "e",
            "models": {
                "priced": model | {"price": {"input": 1, "output": 2}}, "free": model,
                "elsewhere": model | {"price": {"input": 1, "output": 2}, "corpora": ["another"]},
            },
        }
    )  # fmt: skip
    recipe = read(shipped()["civil-war"])
    costs = likely_costs(registry, recipe)
    assert set(costs) == {"priced"}
    assert costs["priced"].tokens == recipe.recipe.corpora[0].characters // 3
    assert costs["priced"].dollars == pytest.approx(costs["priced"].tokens * 3e-6)
    assert not likely_costs(registry, read(shipped()["dharmabench"]))
