"""Likely cost of a benchmark that is not added yet, from the sizes that its recipe declares.

Not here: estimates from the texts themselves (resources.provider.estimate), which `add` prints.
"""

from typing import NamedTuple

from benchmark_assets.benchmarks.recipe import ReadRecipe
from resources.provider.registry import NANO, Registry

CHARACTERS = 3
"""Characters of source per token: as measured for Latin and romanized Pali (resources.provider.tokens)."""


class LikelyCost(NamedTuple):
    """Tokens of source text, and dollars for translating it."""

    tokens: int
    dollars: float


def likely_costs(registry: Registry, recipe: ReadRecipe) -> dict[str, LikelyCost]:
    """Cost of translating all corpora of a recipe, for each model of the registry with a price.

    The output is assumed to have as many tokens as the source; instructions are not counted. Models that are limited to
    certain corpora are left out, and so are all models for a recipe without corpora.
    """
    tokens = sum(corpus.characters for corpus in recipe.recipe.corpora) // CHARACTERS
    models = {name: entry for name, entry in registry.models.items() if entry.price and entry.corpora is None}
    return {
        name: LikelyCost(tokens, entry.price.cost(tokens, tokens) / NANO)
        for name, entry in models.items()
        if entry.price and tokens
    }
