"""Runs, one asset at a time: what is due is brought up to date, asset by asset, and no more than that.

The command line, the jobs and the tests start runs here. Here: in which order, over which ranges, what is said before
and after. Not here: what is due (automation.due), what a run does.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import dagster as dg
import polars as pl
from dagster._core.errors import DagsterAssetCheckFailedError

from benchmark_assets.accounts.costs import room
from benchmark_assets.automation.due import EVERYTHING, Due, Scope, due, ranges, stretches
from benchmark_assets.corpus.assets import BY_SCAN
from benchmark_assets.lineage.events import unsound
from benchmark_assets.lineage.standing import UNKNOWN
from benchmark_assets.partitions import dimensions, range_tags
from benchmark_assets.studies.assets import PAYER
from benchmark_assets.translation.systems import Systems
from benchmark_assets.understanding import answers
from resources.errors import BadInput
from resources.notifications import Notifications
from resources.processes import PROCESS, is_dead, process_tag
from resources.provider import ledger
from resources.provider.provider import Provider
from resources.warehouse import Replacement, Warehouse

logger = logging.getLogger("variorum.runs")

INTERRUPTED = dg.DagsterExecutionInterruptedError.__name__

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}

NOT_AGAIN = "dagster/max_retries"
"""Tag by which the daemon leaves a dead run alone: it starts the driver again, or nobody does."""

CHECKED = DagsterAssetCheckFailedError.__name__

NO_CONFIG: Mapping[str, Any] = MappingProxyType({})


class RunFailedError(Exception):
    """A run that ended in failure; the message is that of its first failed step."""


def look(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    """Look at the files of all corpora.

    Raises
    ------
    RunFailedError
        For faults in the files; what is sound has been taken in.
    """
    _run(definitions.resolve_job_def("scan"), instance, "scan", {PROCESS: process_tag()})


def download(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    """Fetch what corpora have at public sources.

    Raises
    ------
    RunFailedError
        For what could not be fetched; everything else has been.
    """
    _run(definitions.resolve_job_def("download"), instance, "download", {PROCESS: process_tag()})


def take_in(definitions: dg.Definitions, instance: dg.DagsterInstance, corpus: str) -> None:
    """Look at the files, then build what needs no model: references, envelopes, human baselines, leaderboard.

    Raises
    ------
    RunFailedError
        For faults in the files or a stage that failed, after all stages: what is sound has been taken in.
    """
    failure: RunFailedError | None = None
    try:
        look(definitions, instance)
    except RunFailedError as error:
        failure = error
    update(definitions, instance, Scope(models=[], corpora=[corpus]))
    if failure:
        raise failure


def evaluate(definitions: dg.Definitions, instance: dg.DagsterInstance, *models: str) -> None:
    """Bring models up to date on the corpora that they cover and the tasks that they answer, up to the tables.

    Raises
    ------
    BadInput
        For an unknown model.
    RunFailedError
        Where passages failed, after all stages; the next call computes those passages only.
    """
    resources = definitions.resources or {}
    warehouse: Warehouse = resources["warehouse"]
    systems: Systems = resources["systems"]
    each = {model: systems.system(model) for model in models}
    instance.add_dynamic_partitions("model", list(models))
    passages = list(instance.get_dynamic_partitions("passage"))
    own = pl.DataFrame({"model": models}, schema={"model": pl.String})
    covered = set(warehouse.read("model_output", own, ["passage"])["passage"])
    covered.update(*(system.fingerprints(passages) for system in each.values()))
    corpora = {passage.partition("/")[0] for passage in covered}
    answered = set(warehouse.read("answer", own, ["task"])["task"])
    answered |= answers.covered(warehouse, systems, models, instance.get_dynamic_partitions("task"))
    update(definitions, instance, Scope(models, corpora | answered), probe=True)


def update(
    definitions: dg.Definitions, instance: dg.DagsterInstance, scope: Scope = EVERYTHING, probe: bool = False
) -> None:
    """Bring everything that is due within a scope up to date, one asset after the other.

    Each asset is asked what is due when those before it are done: where a row came out the same, what depends on it is
    left alone. Neighbours of which the same is due share a run, for a run costs half a second of itself. An asset that
    fails does not stop the next: passages that are good make their way to the leaderboard.

    Parameters
    ----------
    probe
        Whether the models of the scope, and all judges, are asked first which version of them answers.

    Raises
    ------
    RunFailedError
        The first failure, after all assets.
    """
    warehouse: Warehouse = (definitions.resources or {})["warehouse"]
    with warehouse.kept_open():
        failures = _bring_up(definitions, instance, scope, probe)
    if failures:
        raise failures[0]


def _bring_up(
    definitions: dg.Definitions, instance: dg.DagsterInstance, scope: Scope, probe: bool
) -> list[RunFailedError]:
    """Do what `update` does; return what failed."""
    settle_the_dead(instance)
    resources = definitions.resources or {}
    notifications: Notifications = resources["notifications"]
    provider: Provider = resources["provider"]
    tags = {PAYER: str(uuid4()), PROCESS: process_tag()}
    registry = provider.registry()
    models = sorted(registry.models) if scope.models is None else list(scope.models)
    if probe and (asked := provider.worth_probing([*models, *sorted(registry.judges)])):
        notifications.send(f"asks which version answers: {', '.join(asked)}; {provider.cost_of_probing(asked)}")
        provider.probe(asked, tags[PAYER])
    done: list[str] = []
    remarks: list[str] = []
    failures: list[RunFailedError] = []
    job = definitions.resolve_implicit_global_asset_job_def()
    for together in stretches(definitions):
        work: dict[tuple[str, str] | None, list[dg.AssetKey]] = {}
        for asset in together:
            name = asset.to_user_string()
            try:
                found = due(definitions, instance, asset, scope)
                if found.rows.is_empty() and unsound(instance, [asset]):  # perhaps it has been mended
                    checks = job.asset_layer.asset_graph.get_check_keys_for_assets({asset})
                    remarks += _run(
                        job.get_subset(asset_selection=set(), asset_check_selection=checks), instance, name, tags
                    )
            except (BadInput, RunFailedError) as fault:
                failures.append(RunFailedError(str(fault)))
                continue
            if found.rows.is_empty():
                continue
            if found.estimate and found.estimate.calls > found.estimate.recorded:
                left = room(ledger.attempts(provider.ledger), provider.registry(), datetime.now(UTC).date())
                notifications.send(f"{name} will ask models: {found.estimate}, {left}")
            for ends in _ranges(definitions, instance, found):
                work.setdefault(ends, []).append(asset)
            done.append(f"{name} {len(found.rows)}")
        for ends, assets in work.items():
            name = ", ".join(asset.to_user_string() for asset in assets)
            try:
                remarks += _run(job, instance, name, tags, ends=ends, assets=assets)
            except RunFailedError as failure:
                failures.append(failure)
    if done or failures:
        problems = "".join(f"\n- {problem}" for problem in [*map(str, failures), *dict.fromkeys(remarks)])
        notifications.send(f"brought up to date, in partitions: {', '.join(done) or 'nothing'}{problems}")
    return failures


def remove(definitions: dg.Definitions, instance: dg.DagsterInstance, kind: str, name: str) -> None:
    """Remove a model, a corpus, a task or a base set (`baseset`) from every table.

    Raises
    ------
    RunFailedError
        For one that is not here, or a model that the registry holds.
    """
    config = {"ops": {"remove_rows": {"config": {"kind": kind, "name": name}}}}
    _run(
        definitions.resolve_job_def("remove"),
        instance,
        f"remove {kind} {name}",
        {PROCESS: process_tag()},
        config=config,
    )


def forget(definitions: dg.Definitions, instance: dg.DagsterInstance, asset: str) -> None:
    """Have all partitions of an asset made anew by the next update, whatever they were made from.

    Rows of which nobody knows a partition are removed at once; what the files say is read at once.

    Raises
    ------
    BadInput
        For an unknown asset.
    RunFailedError
        For faults in the files.
    """
    graph = definitions.resolve_asset_graph()
    known = {key.to_user_string(): graph.get(key) for key in graph.get_all_asset_keys()}
    if asset not in known:
        raise BadInput(asset, "", "is no asset", f"name one of {sorted(known)}")
    warehouse: Warehouse = (definitions.resources or {})["warehouse"]
    key = pl.DataFrame({"asset": [asset]})
    scanned = BY_SCAN in known[asset].tags
    with warehouse.exclusively():
        states = warehouse.read("materialization", key).drop("run_id", "updated_at")
        unknown = states.with_columns(pl.lit(UNKNOWN).alias("fingerprint" if scanned else "made_from"))
        replacements = [Replacement("materialization", unknown, key)]
        if dims := dimensions(known[asset].partitions_def):
            strays = warehouse.read(asset, columns=dims).unique().join(states, on=dims, how="anti")
            replacements.append(Replacement(asset, warehouse.empty(asset), strays))
        warehouse.write(replacements, run_id="forget")
    if scanned:
        look(definitions, instance)


def status(definitions: dg.Definitions, instance: dg.DagsterInstance) -> pl.DataFrame:
    """For each asset how many of its partitions are materialized, failed in their last run, or missing."""
    rows = []
    graph = definitions.resolve_asset_graph()
    for key in graph.toposorted_asset_keys:
        partitions_def = graph.get(key).partitions_def
        if partitions_def is None:
            statuses = ["MATERIALIZED" if instance.get_latest_materialization_event(key) else "MISSING"]
        else:
            keys = partitions_def.get_partition_keys(dynamic_partitions_store=instance)
            found = instance.get_status_by_partition(key, list(keys), partitions_def) or {}
            statuses = [each.value if (each := found.get(partition)) else "MISSING" for partition in keys]
        done, failed = statuses.count("MATERIALIZED"), statuses.count("FAILED")
        dims = " × ".join(dimensions(partitions_def)) or "-"
        rows.append((key.to_user_string(), dims, len(statuses), done, failed, len(statuses) - done - failed))
    columns = ["asset", "partitions", "total", "materialized", "failed", "missing"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def settle_the_dead(instance: dg.DagsterInstance) -> None:
    """Report runs as failed whose process on this machine is gone: killed, or lost with the machine's last boot."""
    unfinished = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]
    for run in instance.get_runs(dg.RunsFilter(statuses=unfinished)):
        if PROCESS in run.tags and is_dead(run.tags[PROCESS], run.run_id):
            instance.report_run_failed(run, f"Its process ended before it did ({run.tags[PROCESS]}).")
            logger.warning("run %s was cut off: its process is gone", run.run_id)


def _ranges(
    definitions: dg.Definitions, instance: dg.DagsterInstance, found: Due
) -> list[tuple[str, str]] | list[None]:
    """What runs are to cover; [None] for an asset without partitions."""
    dims = dimensions(definitions.resolve_asset_graph().get(found.asset).partitions_def)
    if not dims:
        return [None]
    return ranges(found.rows, dims, {dim: instance.get_dynamic_partitions(dim) for dim in dims})


def _run(
    job: dg.JobDefinition,
    instance: dg.DagsterInstance,
    name: str,
    tags: Mapping[str, str],
    *,
    ends: tuple[str, str] | None = None,
    assets: Sequence[dg.AssetKey] | None = None,
    config: Mapping[str, Any] = NO_CONFIG,
) -> list[str]:
    """Run a job in this process, or some assets of it, over a range or no partition; return what checks found."""
    logger.info("%s %s", name, " … ".join(dict.fromkeys(ends or ())))
    if assets:  # else Dagster describes the job of all assets before each run, which takes longer than a small run
        job = job.get_subset(asset_selection=set(assets))
    result = job.execute_in_process(
        instance=instance,
        tags={NOT_AGAIN: "0", **tags, **(range_tags(*ends) if ends else {})},
        run_config={**QUIET, **config},
        asset_selection=assets,
        raise_on_error=False,
    )
    if INTERRUPTED in _kinds(result):
        raise KeyboardInterrupt
    if not result.success:
        words = list(reasons(result.all_events)) or [*_remarks(result), f"run {result.run_id} of {name} failed"][:1]
        raise RunFailedError("; ".join(words))
    return list(_remarks(result))


def _remarks(result: dg.ExecuteInProcessResult) -> Iterator[str]:
    """What checks found."""
    for check in result.get_asset_check_evaluations():
        if not check.passed:
            yield f"check {check.check_name!r} of {check.asset_key.to_user_string()}: {check.description}"


def _kinds(result: dg.ExecuteInProcessResult) -> set[str | None]:
    """Names of the exceptions that ended steps."""
    ends = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    return {error.cls_name for error in ends if error}


def reasons(events: Iterable[dg.DagsterEvent]) -> Iterator[str]:
    """Why steps failed, in words; a check that blocks says so itself."""
    for event in events:
        if event.is_step_failure:
            failure = event.step_failure_data
            if failure.user_failure_data and failure.user_failure_data.description:
                yield failure.user_failure_data.description
            elif failure.error and failure.error.cls_name != CHECKED:
                yield (failure.error.cause or failure.error).message.strip()
