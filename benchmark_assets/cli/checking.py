"""Commands that check a model or a corpus before it is used."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import yaml

from benchmark_assets.benchmarks import costs
from benchmark_assets.cli.deployment import Deployment
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


@check.command(
    name="model",
    help=f"""Send one small request with the settings of NAME, a model, judge or aligner in the registry.

    Prints the version that answered, and the cost. If the endpoint refuses a field, the command finds out which one,
    with at most {trial.MOST} requests in total, and prints the settings to write into the registry. The requests count
    against the budget, and `variorum costs` lists them.""",
)
@click.argument("name")
def check_model(name: str) -> None:
    """Try a model and print the results."""
    home = Deployment()
    found = trial.check(home.provider, name)
    for line in _lines(found):
        click.echo(line)
    if found.fault:
        raise found.fault
    if found.settings:
        raise BadInput(
            home.provider.registry_path, name, "the endpoint refuses some of this entry's settings",
            f"write {_written(found.settings)}",
        )  # fmt: skip


def _lines(found: Trial) -> Iterator[str]:
    model, reading = found.model, found.reading
    yield f"{model.name}: {model.settings.id} at {model.place}, dialect {model.endpoint.dialect}"
    for each in found.refused:
        names = ", ".join(each.change.fields)
        yield f"refused: {names} ({each.words})"
        yield f"  accepted: {each.change.called or _written(each.change.settings)}"
    if not found.fault:
        version = reading.served_model or "no version"
        by = "".join(f", {name} {value}" for name, value in _who(found).items() if value)
        yield f"{reading.outcome} by {version}{by}; {found.problem or 'in the requested form'}"
        counts = (reading.prompt_tokens, reading.completion_tokens, reading.reasoning_tokens)
        yield "tokens: {} in, {} out, {} of them reasoning".format(*("unknown" if n is None else n for n in counts))
    yield f"{len(found.calls)} requests, at most {trial.MOST}; {_paid(found)}"


def _who(found: Trial) -> Mapping[str, str]:
    return {"provider": found.reading.served_provider, "fingerprint": found.reading.system_fingerprint}


def _paid(found: Trial) -> str:
    accounts = {"reported": "reported by the endpoint", "priced": "at the registry's prices"}
    words = [f"{cost:.6f} dollars, {accounts[account]}" for account, cost in found.costs.items()]
    if found.unknown:
        words.append(f"unknown for {found.unknown} requests: no cost or tokens reported, or no price in the registry")
    return f"cost: {'; '.join(words) or '0 dollars'}"


def _written(settings: Mapping[str, Any]) -> str:
    """Settings as YAML for the registry's file, on one line."""
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}
    return ", ".join(
        yaml.safe_dump({name: value}, default_flow_style=True).strip("{}\n") for name, value in values.items()
    )


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
        costs = _costs(home.provider.registry(), description, scanned)
        lines = [*review(description, scanned), *costs, *reminders(description), "", *first_passage(scanned)]
        click.echo("\n".join(lines))
    raise_all(faults)
    click.echo(f"\nno faults; `variorum import corpus {path}` imports it")


def _costs(models: Registry, description: Description, scanned: Scan) -> Iterator[str]:
    """What the corpus would cost at the registry's prices."""
    sizes = len(scanned.source), int(scanned.source["text"].str.len_chars().sum())
    if asked := list(costs.of_references(description, *sizes, models)):
        yield f"  calls by the next update: {costs.cost(models, asked)}"
    for model, expected in costs.likely_costs_of_corpus(models, description, *sizes).items():
        yield f"  evaluating {model}: {expected}"
