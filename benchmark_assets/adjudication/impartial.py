"""Who may judge whom: no judge is of the family of the model on trial. Not here: what judges are asked."""

from collections.abc import Sequence

from resources.errors import BadInput
from resources.provider.provider import Provider
from resources.provider.registry import Model
from resources.provider.served import versioned


def impartial(provider: Provider, judges: Sequence[str], model: str, where: str, key: str) -> tuple[Model, ...]:
    """Judges of one model's outputs, in order of their names and in the versions that are served now.

    Parameters
    ----------
    judges
        Names in the registry.
    model
        The model on trial.
    where, key
        What names these judges, for the words of an error.

    Raises
    ------
    BadInput
        Where a judge is not in the registry, occurs twice, has no family or is of the family on trial; where nobody
        declares the family of the model on trial.
    """
    registry, path = provider.registry(), provider.registry_path
    family = registry.family(model)
    if not family:
        missing = f"models.{model}.family" if model in registry.models else f"families.{model}"
        problem = "is missing, so that nobody knows which judges may judge it"
        raise BadInput(path, missing, problem, "say whose model it is")
    for name in judges:
        if name not in registry.judges:
            raise BadInput(
                path, f"judges.{name}", f"is missing, but {where} names it as a judge",
                f"add it, or name some of {sorted(registry.judges)} there",
            )  # fmt: skip
        if judges.count(name) > 1:
            raise BadInput(where, key, f"has {name} twice", "name another judge in its place")
        own = registry.judges[name].family
        if not own:
            problem = "is missing, so that nobody knows whom it may judge"
            raise BadInput(path, f"judges.{name}.family", problem, "say whose model it is")
        if own.casefold() == family.casefold():
            problem = f"has {name}, of the family {family!r} as {model} is"
            raise BadInput(where, key, problem, "name a judge of another family")
    return tuple(versioned(registry.model(name), provider.ledger) for name in sorted(judges))
