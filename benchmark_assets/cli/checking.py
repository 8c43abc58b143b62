"""Commands that check a model or a corpus before it is used."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click

from benchmark_assets.benchmarks import costs
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.imports import examinations
from benchmark_assets.corpus import registry
from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.review import first_passage, reminders, review
from benchmark_assets.corpus.scan import Scan, scan
from resources.errors import BadInput, raise_all
from resources.provider import trial
from resources.provider.registry import Registry
from resources.provider.trial import Trial


@click.group()
def check() -> None:
    """Check a model or a corpus before it is used."""


@check.command(name="model")
@click.argument("name")
def check_model(name: str) -> None:
    """Send one small request with the settings of NAME, a model, judge or aligner in the registry.

    Prints the version that answered, and the cost; or why the endpoint refused the request, and what to change. A
    server that throttles or has an error is asked again for up to a minute. The request counts against the budget, and
    `variorum costs` lists it.
    """
    found = trial.check(Deployment().provider, name)
    for line in _lines(found):
        click.echo(line)
    if found.fault:
        raise found.fault
    if found.problem:
        problem = f"answers, but in no form that a study could read: {found.problem}"
        raise BadInput(name, "", problem, "see how the model is served (chat template, `structured`, `max_tokens`)")


def _lines(found: Trial) -> Iterator[str]:
    model, reading, cost = found.model, found.reading, found.call["cost"]
    yield f"{model.name}: {model.settings.id} at {model.place}, dialect {model.endpoint.dialect}"
    if found.before:
        again = "no better answer within a minute" if found.fault else "then it answered"
        yield f"asked {len(found.before) + 1} times: {'; '.join(dict.fromkeys(found.before))}; {again}"
    if not found.fault:
        who = {"provider": reading.served_provider, "fingerprint": reading.system_fingerprint}
        by = "".join(f", {name} {value}" for name, value in who.items() if value)
        problem = found.problem or "in the requested form"
        yield f"{reading.outcome} by {reading.served_model or 'no version'}{by}; {problem}"
        counts = (reading.prompt_tokens, reading.completion_tokens, reading.reasoning_tokens)
        yield "tokens: {} in, {} out, {} of them reasoning".format(*("unknown" if n is None else n for n in counts))
    source = "at the registry's prices" if found.call["reported_cost"] is None else "reported by the endpoint"
    unknown = "unknown: no cost or tokens reported, or no price in the registry"
    yield f"cost: {unknown if cost is None else f'{cost:.6f} dollars, {source}' if cost else '0 dollars'}"


@check.command(name="corpus")
@click.argument("name", metavar="NAME|DESCRIPTION")
def check_corpus(name: str) -> None:
    """Read the files of an imported corpus, or of the corpus that a YAML file describes, and report everything at once.

    Prints counts, languages, lengths, missing licences, what would be aligned, likely costs, the first passage, and
    every fault.
    Computes nothing and asks no model.
    """
    home = Deployment()
    path = registry.paths(home.warehouse).get(name, Path(name))
    families = {judge: entry.family for judge, entry in home.provider.registry().judges.items()}
    description, faults = registry.inspect(home.warehouse, path, families)
    if description is not None and not faults:
        scanned = scan([description])
        faults = scanned.faults
        costs = list(_costs(home.provider.registry(), description, scanned))
        costs += [f"  {line}" for line in examinations(description, home.provider.registry())]
        lines = [*review(description, scanned), *costs, *reminders(description), "", *first_passage(scanned)]
        click.echo("\n".join(lines))
    raise_all(faults)
    click.echo(f"\nno faults; `variorum import corpus {path}` imports it")


def _costs(models: Registry, description: Description, scanned: Scan) -> Iterator[str]:
    """What the corpus would cost at the registry's prices."""
    sizes = len(scanned.source), int(scanned.source["text"].str.len_chars().sum())
    if asked := list(costs.of_references(description, *sizes, models)):
        yield f"  calls by the next update: {costs.cost(models, asked)}"
    for model, expected in costs.likely_costs(models, partial(costs.of_outputs, description, *sizes)).items():
        yield f"  evaluating {model}: {expected}"
