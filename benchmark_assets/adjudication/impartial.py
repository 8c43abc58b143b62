"""Impartial judges: judges of a different model family than the model on trial. Not here: their questions (judging)."""

from collections.abc import Sequence

from resources.errors import BadInput
from resources.provider.provider import Provider
from resources.provider.registry import Model
from resources.provider.served import versioned


def impartial(provider: Provider, judges: Sequence[str], model: str, where: str, key: str) -> tuple[Model, ...]:
    """The judges of one model's outputs, sorted by name, in the versions that are currently served.

    Parameters
    ----------
    judges
        Names in the registry.
    model
        The model on trial.
    where, key
        For error messages: the file or corpus that configures these judges, and the key that lists them there.

    Raises
    ------
    BadInput
        If a judge is not in the registry, occurs twice, has no family or shares the model's family, or if the model on
        trial has no declared family.
    """
    registry, path = provider.registry(), provider.registry_path
    family = registry.family(model)
    if not family:
        missing = f"models.{model}.family" if model in registry.models else f"families.{model}"
        problem = "is missing; without it no judge can be shown to be impartial"
        raise BadInput(path, missing, problem, "add the family of the model")
    for name in judges:
        if name not in registry.judges:
            raise BadInput(
                path, f"judges.{name}", f"is missing, but {where} names it as a judge",
                f"add it, or name judges from {sorted(registry.judges)} there",
            )  # fmt: skip
        if judges.count(name) > 1:
            raise BadInput(where, key, f"has {name} twice", "name another judge in its place")
        judge_family = registry.judges[name].family
        if not judge_family:
            problem = "is missing; without it the judge cannot be shown to be impartial"
            raise BadInput(path, f"judges.{name}.family", problem, "add the family of the model")
        if judge_family.casefold() == family.casefold():
            problem = f"has {name}, of the family {family!r} as {model} is"
            raise BadInput(where, key, problem, "name a judge of another family")
    return tuple(versioned(registry.model(name), provider.ledger) for name in sorted(judges))
