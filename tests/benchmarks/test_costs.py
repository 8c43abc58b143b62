"""Costs before a benchmark is added, from declared sizes and the registry's prices."""

import json
from functools import partial
from pathlib import Path

import pytest

from benchmark_assets.benchmarks.costs import BRIEF, INSTRUCTIONS, VERDICT, cost, likely_costs, of_adding, of_evaluation
from benchmark_assets.benchmarks.recipe import read, shipped
from resources.provider.estimate import SPEED, WAIT
from resources.provider.registry import Registry
from tests.benchmarks.recipes import change, publish, write_recipe

MODEL = {"endpoint": "here", "id": "m", "price": {"input": 1, "output": 2}}
REGISTRY = Registry.model_validate(
    {
        "endpoints": {"here": {"url": "http://127.0.0.1:9/v1", "in_flight": 4}}, "embedders": {"e": {}},
        "embedder": "e", "judges": {"strict": MODEL},
        "models": {
            "priced": MODEL | {"answering": {"seeds": [1, 2]}}, "free": {"endpoint": "here", "id": "m"},
            "elsewhere": MODEL | {"corpora": ["another"]},
        },
    }
)  # fmt: skip


def test_a_translation_has_as_many_tokens_as_its_source() -> None:
    recipe = read(shipped()["civil-war"])
    costs = likely_costs(REGISTRY, partial(of_evaluation, recipe))
    assert set(costs) == {"priced"}
    tokens = recipe.recipe.corpora[0].characters // 3
    calls = costs["priced"].calls
    assert calls == -(-tokens // 3000)
    assert costs["priced"].tokens == 2 * tokens + calls * BRIEF
    assert costs["priced"].dollars == pytest.approx((3 * tokens + calls * BRIEF) / 1e6)
    assert costs["priced"].hours == pytest.approx((calls * WAIT + tokens / SPEED) / 4 / 3600)


def test_each_sample_is_a_call_for_each_seed() -> None:
    costs = likely_costs(REGISTRY, partial(of_evaluation, read(shipped()["dharmabench"])))["priced"]
    assert costs.calls == 2 * 4947
    assert costs.dollars


def test_judges_of_published_outputs_are_paid_when_the_benchmark_is_added(tmp_path: Path) -> None:
    publish(tmp_path / "published")
    outputs = {"source": "texts", "corpus": "tiny"}
    for name in ("one.json", "two.json"):
        (tmp_path / "published" / name).write_text(json.dumps({"translations": {}}))
    both = [outputs | {"model": name, "file": f"{name}.json"} for name in ("one", "two")]
    recipe = write_recipe(tmp_path / "recipe", tmp_path / "published", outputs=both)
    change(recipe / "tiny.yaml", {"rubric": {"judges": ["strict", "unknown"]}})
    questions = list(of_adding(read(recipe), REGISTRY))
    assert [(each.model, each.purpose, each.calls) for each in questions] == [
        ("strict", "marks", 6), ("unknown", "marks", 6),
    ]  # fmt: skip
    paid = cost(REGISTRY, questions[:1])
    prompt = 2 * (60 // 3 * 5 + 3 * INSTRUCTIONS)
    assert paid.dollars == pytest.approx((prompt + 2 * 6 * VERDICT) / 1e6)
    assert cost(REGISTRY, questions).dollars is None
    of_model = likely_costs(REGISTRY, partial(of_evaluation, read(recipe)))["priced"]
    assert of_model.calls == 1 + 2 * 3
