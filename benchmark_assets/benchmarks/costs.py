"""Likely cost of a benchmark or corpus that is not in the home yet, from its sizes.

Here: calls that `add` makes, and calls that the evaluation of a model makes. Not here: estimates from the texts
themselves (forecast), which `evaluate` prints before it asks anything.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from benchmark_assets.benchmarks.recipe import ReadRecipe
from benchmark_assets.corpus.description import Description
from resources.provider.estimate import SPEED, WAIT
from resources.provider.registry import NANO, Registry, Settings

CHARACTERS = 3
"""Characters of text per token: as measured for Latin and romanized Pali (resources.provider.estimate)."""

INSTRUCTIONS = 1000
"""Tokens of instructions in a judge's prompt, which range from 640 to 1,650."""

BRIEF = 350
"""Tokens of instructions in a prompt for translations or answers."""

ANSWER = 20
"""Tokens of an answer to a sample of a task: a class, or a few spans."""

VERDICT = 150
"""Tokens of a judge's reply."""


ANCHORS = 20
"""Assumed number of anchors of a base set, as in JP-TL-Bench."""


class Questions(NamedTuple):
    """Questions to one model or judge: their number, and the tokens of all prompts and all replies.

    `purpose` names their kind.
    """

    model: str
    purpose: str
    calls: int
    prompt: int
    reply: int


class LikelyCost(NamedTuple):
    """Calls, tokens of prompts and replies, dollars and hours. Dollars are None without a price."""

    calls: int
    tokens: int
    dollars: float | None
    hours: float

    def __str__(self) -> str:
        """The cost as a phrase."""
        dollars = "an unknown cost" if self.dollars is None else f"about {self.dollars:.2f} dollars"
        return f"about {self.calls:,} calls, {self.tokens:,} tokens, {dollars}, {self.hours:.1f} hours"


def of_evaluation(recipe: ReadRecipe, name: str, settings: Settings) -> Iterator[Questions]:
    """Questions for the evaluation of a model: translations, answers to tasks, and judgments of its outputs."""

    for corpus in recipe.recipe.corpora:
        yield from of_outputs(recipe.corpora[corpus.description], corpus.passages, corpus.characters, name, settings)
    passages = sum(corpus.passages for corpus in recipe.recipe.corpora)
    tokens = sum(corpus.characters for corpus in recipe.recipe.corpora) // CHARACTERS
    for base_set in recipe.base_sets.values():
        times = ANCHORS * (2 if base_set.orders == "both" else 1)
        prompt = times * (3 * tokens + passages * INSTRUCTIONS)
        yield Questions(base_set.judge, "comparisons", times * passages, prompt, times * passages * VERDICT)
    for task in recipe.recipe.tasks:
        if _covers(settings, recipe.tasks[task.description].task):
            answering = settings.answering
            calls = task.samples * answering.draws * len(answering.seeds)
            texts = (1 + answering.shots) * task.characters // CHARACTERS * (calls // task.samples)
            yield Questions(name, "answers", calls, texts + calls * BRIEF, calls * ANSWER)


def of_outputs(
    description: Description, passages: int, characters: int, name: str, settings: Settings
) -> Iterator[Questions]:
    """Questions for a model's translations of a corpus with these sizes, and for judgments of its outputs."""
    if description.translated and _covers(settings, description.name):
        tokens = characters // CHARACTERS
        apart = bool(description.literary.human)  # such texts are not translated in batches
        calls = passages if apart else math.ceil(tokens / settings.batch_tokens)
        yield Questions(name, "translations", calls, tokens + calls * BRIEF, tokens)
        yield from _judgments(description, passages, tokens)


def of_references(description: Description, passages: int, characters: int, registry: Registry) -> Iterator[Questions]:
    """Questions for the alignment of a corpus's continuous translations, and for its terms."""
    tokens = characters // CHARACTERS
    for text in description.references.values():
        if text.aligner:
            calls = math.ceil(2 * tokens / registry.aligners[text.aligner].batch_tokens)
            yield Questions(text.aligner, "alignment", calls, 2 * tokens + calls * INSTRUCTIONS, tokens)
    if extractor := description.literary.extractor:
        yield Questions(extractor, "terms", passages, tokens + passages * INSTRUCTIONS, passages * VERDICT)


def of_adding(recipe: ReadRecipe, registry: Registry) -> Iterator[Questions]:
    """Questions that `add` asks: alignment, terms, examinations of judges, judgments of published outputs."""
    for corpus in recipe.recipe.corpora:
        description = recipe.corpora[corpus.description]
        yield from of_references(description, corpus.passages, corpus.characters, registry)
        tokens = corpus.characters // CHARACTERS
        published = sum(outputs.corpus == description.name for outputs in recipe.recipe.outputs)
        judgments = list(_judgments(description, corpus.passages, tokens))
        for judge, purpose, calls, prompt, reply in judgments:
            if published:
                yield Questions(judge, purpose, published * calls, published * prompt, published * reply)
            if description.examination.passages:
                share = registry.examination.calls / calls
                yield Questions(
                    judge, "examination", registry.examination.calls, round(prompt * share), round(reply * share)
                )


def cost(registry: Registry, questions: Iterable[Questions]) -> LikelyCost:
    """Sum the likely costs of questions. Models that are not in the registry have no price.

    Hours assume replies at the pace of `WAIT` and `SPEED`, and as many calls in flight as the registry allows.
    """
    calls = tokens = 0
    dollars, seconds = 0.0, 0.0
    priced = True
    for name, _, count, prompt, reply in questions:
        calls, tokens = calls + count, tokens + prompt + reply
        known = any(name in section for section in registry.sections.values())
        price = registry.model(name).price if known else None
        priced = priced and price is not None
        dollars += price.cost(prompt, reply) / NANO if price else 0
        seconds += (count * WAIT + reply / SPEED) / (registry.model(name).in_flight if known else 1)
    return LikelyCost(calls, tokens, dollars if priced else None, seconds / 3600)


def likely_costs(registry: Registry, of_model: Callable[[str, Settings], Iterator[Questions]]) -> dict[str, LikelyCost]:
    """Cost of evaluating each model of the registry that has a price and is asked anything.

    `of_model` has the questions to a model, given its name and settings: `of_evaluation` of a recipe, or `of_outputs`
    of a corpus.
    """
    questions = {name: list(of_model(name, each)) for name, each in registry.models.items() if each.price}
    return {name: cost(registry, asked) for name, asked in questions.items() if asked}


def _covers(settings: Settings, part: str) -> bool:
    """Whether a model is evaluated on a corpus or task."""
    return settings.corpora is None or part in settings.corpora


def _judgments(description: Description, passages: int, tokens: int) -> Iterator[Questions]:
    """Questions to judges about one system's outputs for all passages. The panel of the audit judges outliers only, so
    that its numbers are upper bounds."""
    shown = len(description.references)
    kinds = [
        ("votes", description.audit.judges, 1, shown), ("marks", description.rubric.judges, 1, shown),
        ("error spans", description.spans.judges, 1, shown if description.spans.references else 0),
        (
            "comparisons", [seat.judge for seat in description.literary.ensemble],
            2 if description.literary.orders == "both" else 1, 1,
        ),
    ]  # fmt: skip
    for purpose, judges, times, references in kinds:
        for judge in judges:
            calls = passages * times
            prompt = times * tokens * (2 + references) + calls * INSTRUCTIONS
            yield Questions(judge, purpose, calls, prompt, calls * VERDICT)
