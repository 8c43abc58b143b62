"""Plan of an update: stale partitions, asset by asset, in the order of materialization.

Here: the order of assets, their stale partitions, and the ranges of partitions for runs. Not here: the reason why a
partition is stale (lineage), the runs (automation.runs).
"""

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import dagster as dg
import polars as pl

from benchmark_assets.benchmarks.reproduction import known
from benchmark_assets.corpus.assets import BY_SCAN
from benchmark_assets.lineage import shards
from benchmark_assets.lineage.looks import Looks, Made, News, Read, common, grains, sample, sources
from benchmark_assets.lineage.refresh import OWNER
from benchmark_assets.lineage.shards import is_shard
from benchmark_assets.lineage.standing import UNKNOWN
from benchmark_assets.lineage.survey import Survey
from benchmark_assets.partitions import dimensions
from benchmark_assets.references.glossary import literary
from benchmark_assets.reporting import unit_sums
from benchmark_assets.reporting.assets import ON_DEMAND
from resources import catalogue
from resources.digest import digest
from resources.home import PROJECT
from resources.keys import KEYS
from resources.provider.estimate import CostEstimate
from resources.provider.provider import Provider
from resources.warehouse import STATES, Replacement, Warehouse, noting

GAP = 400
"""Largest gap, in partitions, between two stretches of stale partitions that share a run. Starting a run takes about as
long as planning 400 partitions."""

SHARD = 40
"""Length of a shard in a gap: examining the passages of a shard takes about as long as planning 40 partitions."""


class Scope(NamedTuple):
    """The models that an update includes, the corpora and tasks, and the names of the assets; None includes all.

    If `accepted` is false, nothing is asked that may cost something: the assets that would ask count as failed.
    """

    models: Collection[str] | None = None
    corpora: Collection[str] | None = None
    assets: Collection[str] | None = None
    accepted: bool = True


class Due(NamedTuple):
    """Stale partitions of an asset (columns of `KEYS`, and `reason`), and the cost of asking models about them.

    `settle`, called with the runs that made them up to date, remembers that all partitions of the asset are; None if
    only some were examined. `failed` lists examined partitions whose last attempt failed (`Survey.failed`).
    """

    asset: dg.AssetKey
    rows: pl.DataFrame
    estimate: CostEstimate | None
    settle: Callable[[Sequence[Made]], None] | None = None
    failed: pl.DataFrame = pl.DataFrame()


EVERYTHING = Scope()

UNSEEN = "stale partitions that no logged change explains"


def order(definitions: dg.Definitions) -> list[dg.AssetKey]:
    """Assets in topological order, without assets that are materialized only by a scan or on request.

    Assets that need no model come as early as possible, so that their failures show before models cost money.
    Unpartitioned assets come as late as possible, unless an asset that is partitioned only by passage or only by task
    depends on them; those on which no partitioned asset depends at all come last of all. Where these rules leave a
    choice, assets without dependents come last.
    """
    graph = definitions.resolve_asset_graph()
    remaining = [
        key for key in graph.toposorted_asset_keys
        if key in graph.executable_asset_keys and not {BY_SCAN, ON_DEMAND} & graph.get(key).tags.keys()
    ]  # fmt: skip
    dims = {key: dimensions(graph.get(key).partitions_def) for key in remaining}
    children = {key: graph.get(key).child_keys & dims.keys() for key in remaining}
    late = {
        key for key in remaining
        if not dims[key] and not any(dims[child] and "model" not in dims[child] for child in children[key])
    }  # fmt: skip
    leading: set[dg.AssetKey] = set()
    for key in reversed(remaining):
        if any(dims[child] or child in leading for child in children[key]):
            leading.add(key)

    def place(key: dg.AssetKey) -> tuple[bool, bool, bool, bool]:
        return key in late, "model" in dims[key], key in late - leading, not children[key]

    sequence: list[dg.AssetKey] = []
    while remaining:
        ready = [key for key in remaining if not graph.get(key).parent_keys & set(remaining)]
        sequence.append(min(ready, key=place))
        remaining.remove(sequence[-1])
    return sequence


def chains(definitions: dg.Definitions, scope: Scope = EVERYTHING) -> list[list[dg.AssetKey]]:
    """The assets of a scope in groups that can share runs, each in the order of `order`.

    The partitioned assets of a group have the same dimensions. An asset without partitions is in the group of those
    that depend on it, or in the last one.
    """
    graph = definitions.resolve_asset_graph()
    left = [key for key in order(definitions) if scope.assets is None or key.to_user_string() in scope.assets]
    dims = {key: dimensions(graph.get(key).partitions_def) for key in left}

    def leads(key: dg.AssetKey, to: Sequence[str]) -> bool:
        children = graph.get(key).child_keys & dims.keys()
        return any(dims[child] == to or (not dims[child] and leads(child, to)) for child in children)

    groups: list[list[dg.AssetKey]] = []
    while left:
        kind = next((dims[key] for key in left if dims[key]), [])
        group: list[dg.AssetKey] = []
        for key in left:
            waits = graph.get(key).parent_keys & {*left} - {*group}
            if not waits and (dims[key] == kind or (not dims[key] and leads(key, kind))):
                group.append(key)
        left = [key for key in left if key not in group]
        if not any(dims[key] for key in left):
            group, left = group + left, []
        groups.append(group)
    return groups


def of_references(definitions: dg.Definitions) -> list[str]:
    """Names of the assets from the files to the references and their envelopes."""
    last = dg.AssetKey("reference_envelope")
    within = {last, *definitions.resolve_asset_graph().get_ancestor_asset_keys(last)}
    return [key.to_user_string() for key in order(definitions) if key in within]


def due(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    asset: dg.AssetKey,
    scope: Scope = EVERYTHING,
    looks: Looks | None = None,
    news: News | None = None,
) -> Due:
    """Stale partitions of an asset: partitions to compute, to remove, or to report to Dagster again.

    With `looks`, only partitions that something has reached since are examined; `news` is what has happened since. An
    asset without inputs is examined in any case: what it reads, such as files and the ledger, is not in the log of
    changes.
    """
    graph = definitions.resolve_asset_graph()
    node, name = graph.get(asset), asset.to_user_string()
    dims = dimensions(node.partitions_def)
    if looks is None or not node.parent_keys:
        keys = {dim: list(instance.get_dynamic_partitions(dim)) for dim in dims}
        return _examined(definitions, instance, node.assets_def, _partitions(keys, scope))
    warehouse: Warehouse = (definitions.resources or {})["warehouse"]
    news = news or looks.news()
    keys, begun = {dim: list(news.keys[dim]) for dim in dims}, looks.begun(name, news, dims)
    parents = {key: dimensions(graph.get(key).partitions_def) for key in node.parent_keys}
    reached = looks.reached(asset, begun, news, parents, _tables_upstream(definitions, asset), dims)
    if reached is not None:
        partitions = _in_scope(reached, scope)
        complete = len(partitions) == len(reached)
    else:
        partitions = _partitions(keys, scope)
        complete = all(len(_within(keys[dim], dim, scope)) == len(keys[dim]) for dim in dims)
    with noting() as reads:
        stale = _examined(definitions, instance, node.assets_def, partitions)

    def within(examined: pl.DataFrame, reads: Sequence[Read]) -> dict[str, list[str]]:
        if examined.is_empty():
            return {}
        passages = shards.expanded(examined, shards.members(warehouse, examined["passage"]))
        numbers = {dim: len(values) for dim, values in keys.items()}
        if "passage" in keys:
            numbers["passage"] = len(shards.passages(warehouse, keys["passage"]))
        return grains(reads, passages, numbers)

    def settle(made: Sequence[Made]) -> None:
        """Remember that all partitions are up to date. If all were examined, a few are examined again, which shows how
        far a change reaches."""
        if reached is not None:
            found = common(looks.reads(name), within(partitions, reads))
        else:
            few = sample(partitions) if dims else partitions.clear()
            with noting() as again:
                _examined(definitions, instance, node.assets_def, few)
            found = {source: [] for read in reads for source in sources(*read)} | within(few, again)
        looks.settled(name, begun, found, made)

    return stale._replace(settle=settle if complete else None)


def missed(definitions: dg.Definitions, instance: dg.DagsterInstance, looks: Looks) -> list[str]:
    """Assets with stale partitions that an update with these looks would not examine, and the number of these
    partitions. The looks at these assets are dropped, so that the update examines all of their partitions.

    There are none, unless another program changed states, or something that determines settings is logged nowhere.
    """
    warehouse: Warehouse = (definitions.resources or {})["warehouse"]
    found = [f"{asset} (sum of states)" for asset in warehouse.mend_sums()]
    if unit_sums.mend(warehouse):
        key = pl.DataFrame({"asset": ["human_range"]})
        states = warehouse.read(STATES, key).drop("run_id", "updated_at").with_columns(made_from=pl.lit(UNKNOWN))
        warehouse.write([Replacement(STATES, states, key)], "sums")
        found.append("human_range (sums by unit)")
    for asset in order(definitions):
        rows = reached = due(definitions, instance, asset).rows
        if len(rows):  # news after states: what others write meanwhile is in them
            reached = due(definitions, instance, asset, looks=looks, news=looks.news()).rows
        if unseen := len(rows.join(reached, on=KEYS, how="anti")):
            looks.drop(asset)
            found.append(f"{asset.to_user_string()} {unseen}")
    return found


def _tables_upstream(definitions: dg.Definitions, asset: dg.AssetKey) -> list[str]:
    """Tables that only assets upstream of an asset fill."""
    graph = definitions.resolve_asset_graph()
    nodes = [graph.get(key) for key in graph.get_ancestor_asset_keys(asset)]
    tables = [table for node in nodes for table in (node.key.to_user_string(), *node.metadata.get("tables", []))]
    return [table for table in tables if OWNER not in catalogue.table(table).columns]


def _examined(
    definitions: dg.Definitions, instance: dg.DagsterInstance, asset: dg.AssetsDefinition, partitions: pl.DataFrame
) -> Due:
    """Those of the partitions that are stale."""
    if partitions.is_empty():
        return Due(asset.key, partitions.with_columns(reason=pl.lit("")), None)
    survey = Survey(definitions.resolve_asset_graph(), instance, asset, partitions).look(definitions.resources or {})
    return Due(asset.key, survey.due, survey.estimate, failed=survey.failed)


def determinants(definitions: dg.Definitions) -> str:
    """Digest of what determines settings of partitions and is not in the warehouse: the registry, the versions that
    endpoints serve, checkpoints, glossary files, published numbers, prompts, the program and installed packages."""
    resources = definitions.resources or {}
    provider: Provider = resources["provider"]
    registry = provider.registry()
    served = [provider.model(name).determinants for name in [*registry.models, *registry.judges, *registry.aligners]]
    signatures = [resources["embedder"].signature, resources["comet"].signature]
    signatures += [metric.signature for metric in resources["metrics"].values()]
    checkpoints = [Path(entry.checkpoint) for entry in registry.encoders.values()]
    folders = [sorted(folder.iterdir()) for folder in checkpoints if folder.is_dir()]
    states = [(str(file), *_state(file)) for files in folders for file in files]
    files = [section.glossary for section in literary(resources["warehouse"]).values() if section.glossary]
    files += known(resources["warehouse"]).values()
    contents = [path.read_bytes() for path in files if path.is_file()]
    return digest(registry, served, signatures, files, contents, states, *_packages(), *_program())


def _packages() -> list[str]:
    """Names, with versions, of the installed packages: signatures of methods state some of them."""
    folders = filter(os.path.isdir, sys.path)
    return sorted(name for folder in folders for name in os.listdir(folder) if name.endswith(".dist-info"))


def _program() -> Iterator[tuple[str, int, int, int]]:
    """Path and state of each file of the program."""
    for room in ("benchmark_assets", "resources", "prompts"):
        for folder, _, files in os.walk(PROJECT / room):
            for name in sorted(files):
                if not name.endswith(".pyc"):
                    place = os.path.join(folder, name)
                    yield place, *_state(place)


def _state(file: str | Path) -> tuple[int, int, int]:
    """Size and times of a file. A copy that keeps the time of the last write has another time of its last change."""
    state = os.stat(file)
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns


def following(definitions: dg.Definitions, assets: Collection[dg.AssetKey]) -> list[dg.AssetKey]:
    """Assets downstream of `assets`, in the order of `order`. They may become stale when `assets` are materialized."""
    graph = definitions.resolve_asset_graph()
    downstream: list[dg.AssetKey] = []
    for key in order(definitions):
        if key not in assets and graph.get(key).parent_keys & {*assets, *downstream}:
            downstream.append(key)
    return downstream


def ranges(rows: pl.DataFrame, dims: Sequence[str], keys: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Cover partitions with a few ranges; return the first and last partition key of each range.

    A range may include partitions that are not in `rows`, but no more than GAP consecutive ones.

    Parameters
    ----------
    rows
        Partitions to cover, with columns `dims`.
    dims
        Dimensions of the asset, one or two. A range over two dimensions is a rectangle.
    keys
        All keys of each dimension, in Dagster's order.
    """
    place = {dim: _places(keys[dim]) for dim in dims}
    inner = next((dim for dim in dims if dim != "model"), "model")
    at = {position: key for key, position in place[inner].items()}
    by_model: dict[str, list[tuple[str, str]]] = {}
    for (model,), partitions in rows.group_by(["model"] if len(dims) > 1 else [pl.lit("")], maintain_order=True):
        by_model[str(model)] = [
            (at[first], at[last]) for first, last in _stretches(sorted(place[inner][key] for key in partitions[inner]))
        ]
    if len(dims) == 1:
        return by_model[""]
    models = sorted(by_model, key=lambda model: place["model"][model])
    groups: list[list[str]] = []
    for model in models:  # neighboring models with the same stale partitions make one rectangle
        last = groups[-1][-1] if groups else None
        near = last is not None and place["model"][model] == place["model"][last] + 1
        if last is not None and near and by_model[model] == by_model[last]:
            groups[-1].append(model)
        else:
            groups.append([model])

    def key(model: str, other: str) -> str:
        return "|".join(model if dim == "model" else other for dim in dims)

    return [(key(group[0], first), key(group[-1], last)) for group in groups for first, last in by_model[group[0]]]


def held(
    rows: pl.DataFrame, ends: tuple[str, str], dims: Sequence[str], keys: Mapping[str, Sequence[str]]
) -> pl.DataFrame:
    """Those of the rows (columns `dims`) that are in a range of `ranges`."""
    first, last = (end.split("|") for end in ends)
    for dim, begin, end in zip(dims, first, last, strict=True):
        names = list(keys[dim])
        rows = rows.filter(pl.col(dim).is_in(names[names.index(begin) : names.index(end) + 1]))
    return rows


def _places(keys: Sequence[str]) -> dict[str, int]:
    """Ascending places of keys: a key after a partition is one further, and a key after a shard SHARD further."""
    lengths = (SHARD if is_shard(key) else 1 for key in keys)
    return dict(zip(keys, accumulate(lengths, initial=0), strict=False))


def _stretches(places: Sequence[int]) -> list[tuple[int, int]]:
    """Cut ascending places into stretches at gaps wider than GAP; return the first and last place of each stretch."""
    ends: list[tuple[int, int]] = []
    for place in places:
        if ends and place - ends[-1][1] <= GAP:
            ends[-1] = (ends[-1][0], place)
        else:
            ends.append((place, place))
    return ends


def _partitions(keys: Mapping[str, Sequence[str]], scope: Scope) -> pl.DataFrame:
    """Partitions in a scope, with columns `KEYS`. An unpartitioned asset has a single row, with '' in every column.

    `keys` are Dagster's keys of each dimension of the asset.
    """
    rows = pl.DataFrame([{}])
    for name in KEYS:
        values = pl.Series(name, _within(keys[name], name, scope) if name in keys else [""], dtype=pl.String)
        rows = rows.join(values.to_frame(), how="cross", maintain_order="left_right")
    return rows


def _in_scope(partitions: pl.DataFrame, scope: Scope) -> pl.DataFrame:
    """Those of the partitions (columns of `KEYS`) that a scope includes."""
    for dim in KEYS:
        names = partitions[dim].unique().to_list()
        partitions = partitions.filter(pl.col(dim).is_in(["", *_within(names, dim, scope)]))
    return partitions


def _within(keys: Sequence[str], dim: str, scope: Scope) -> Sequence[str]:
    """Those of the keys that a scope includes."""
    if dim == "model":
        return keys if scope.models is None else [key for key in keys if key in scope.models]
    return keys if scope.corpora is None else [key for key in keys if key.partition("/")[0] in scope.corpora]
