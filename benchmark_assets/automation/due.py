"""Stale partitions: asset by asset, in the order of materialization.

Here: the order of assets, their stale partitions, and the ranges for runs. Not here: the reason why a partition is
stale (lineage), the runs (automation.runs).
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import dagster as dg
import polars as pl

from benchmark_assets.corpus.assets import BY_SCAN
from benchmark_assets.lineage.survey import Survey
from benchmark_assets.partitions import dimensions
from benchmark_assets.reporting.assets import ON_DEMAND
from resources.keys import KEYS
from resources.provider.estimate import Estimate

GAP = 400
"""Largest gap, in partitions, between two stretches that share a run: starting a run costs about as much as planning
this many partitions."""


class Scope(NamedTuple):
    """A restriction to partitions of these models, and of these corpora or tasks; None for all."""

    models: Collection[str] | None = None
    corpora: Collection[str] | None = None


class Due(NamedTuple):
    """Stale partitions of an asset, with columns `KEYS` and `reason`, and the estimated calls of models."""

    asset: dg.AssetKey
    rows: pl.DataFrame
    estimate: Estimate | None


EVERYTHING = Scope()


def order(definitions: dg.Definitions) -> list[dg.AssetKey]:
    """Assets in topological order.

    Assets that need no model come as early as possible, so that their faults show before models are paid. Assets
    without partitions come as late as possible, unless passages or tasks depend on them. Assets without dependents come
    last.
    """
    graph = definitions.resolve_asset_graph()
    waiting = [key for key in graph.toposorted_asset_keys if not {BY_SCAN, ON_DEMAND} & graph.get(key).tags.keys()]
    dims = {key: dimensions(graph.get(key).partitions_def) for key in waiting}
    children = {key: graph.get(key).child_keys & dims.keys() for key in waiting}
    late = {
        key for key in waiting
        if not dims[key] and not any(dims[child] and "model" not in dims[child] for child in children[key])
    }  # fmt: skip
    sequence: list[dg.AssetKey] = []
    while waiting:
        ready = [key for key in waiting if not graph.get(key).parent_keys & set(waiting)]
        sequence.append(min(ready, key=lambda key: (key in late, "model" in dims[key], not children[key])))
        waiting.remove(sequence[-1])
    return sequence


def stretches(definitions: dg.Definitions) -> list[list[dg.AssetKey]]:
    """Assets in `order`, cut into groups with the same dimensions and without dependencies among each other."""
    graph = definitions.resolve_asset_graph()
    cut: list[list[dg.AssetKey]] = []
    for key in order(definitions):
        dims = dimensions(graph.get(key).partitions_def)
        last = cut[-1] if cut else []
        if last and dims == dimensions(graph.get(last[0]).partitions_def) and not graph.get(key).parent_keys & {*last}:
            last.append(key)
        else:
            cut.append([key])
    return cut


def due(
    definitions: dg.Definitions, instance: dg.DagsterInstance, asset: dg.AssetKey, scope: Scope = EVERYTHING
) -> Due:
    """Partitions of an asset to compute, to remove or to report again, given its current inputs."""
    graph = definitions.resolve_asset_graph()
    definition = graph.get(asset).assets_def
    asked = _partitions(instance, dimensions(definition.partitions_def), scope)
    if asked.is_empty():
        return Due(asset, asked.with_columns(reason=pl.lit("")), None)
    survey = Survey(graph, instance, definition, asked).look(definitions.resources or {})
    return Due(asset, survey.due, survey.estimate)


def following(definitions: dg.Definitions, assets: Collection[dg.AssetKey]) -> list[dg.AssetKey]:
    """Assets downstream of these, in order, which may become stale when these are materialized."""
    graph = definitions.resolve_asset_graph()
    sequence, reached = order(definitions), set(assets)
    for key in sequence:
        if graph.get(key).parent_keys & reached:
            reached.add(key)
    return [key for key in sequence if key in reached]


def ranges(rows: pl.DataFrame, dims: Sequence[str], known: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Group partitions into a few ranges; return the first and last partition of each range.

    The ranges cover all of `rows`. A range may include other partitions, but at most GAP of them in a row.

    Parameters
    ----------
    rows
        Partitions to cover, with columns `dims`.
    dims
        Dimensions of the asset, at least one. A range over two dimensions is a rectangle.
    known
        Keys of each dimension in Dagster's order.
    """
    place = {dim: {key: i for i, key in enumerate(known[dim])} for dim in dims}
    inner = next((dim for dim in dims if dim != "model"), "model")
    stretches: dict[str, list[tuple[str, str]]] = {}
    for (model,), partitions in rows.group_by(["model"] if len(dims) > 1 else [pl.lit("")], maintain_order=True):
        stretches[str(model)] = [
            (known[inner][first], known[inner][last])
            for first, last in _stretches(sorted(place[inner][key] for key in partitions[inner]))
        ]
    if len(dims) == 1:
        return stretches[""]
    models = sorted(stretches, key=lambda model: place["model"][model])
    groups: list[list[str]] = []
    for model in models:  # neighboring models with the same stale partitions make one rectangle
        last = groups[-1][-1] if groups else None
        near = last is not None and place["model"][model] == place["model"][last] + 1
        if last is not None and near and stretches[model] == stretches[last]:
            groups[-1].append(model)
        else:
            groups.append([model])

    def key(model: str, other: str) -> str:
        return "|".join(model if dim == "model" else other for dim in dims)

    return [(key(group[0], first), key(group[-1], last)) for group in groups for first, last in stretches[group[0]]]


def _stretches(places: Sequence[int]) -> list[tuple[int, int]]:
    """First and last of each stretch of ascending places without a gap above GAP."""
    ends: list[tuple[int, int]] = []
    for place in places:
        if ends and place - ends[-1][1] <= GAP:
            ends[-1] = (ends[-1][0], place)
        else:
            ends.append((place, place))
    return ends


def _partitions(instance: dg.DagsterInstance, dims: Sequence[str], scope: Scope) -> pl.DataFrame:
    """The partitions in a scope: columns of `KEYS`; one row of '' for an asset without partitions."""
    chosen = {dim: _keys(instance, dim, scope) for dim in dims}
    rows = list(product(*(chosen.get(name, [""]) for name in KEYS)))
    return pl.DataFrame(rows, schema=dict.fromkeys(KEYS, pl.String), orient="row")


def _keys(instance: dg.DagsterInstance, dim: str, scope: Scope) -> list[str]:
    keys = list(instance.get_dynamic_partitions(dim))
    if dim == "model":
        return keys if scope.models is None else [key for key in keys if key in scope.models]
    return keys if scope.corpora is None else [key for key in keys if key.partition("/")[0] in scope.corpora]
