"""Runs of the jobs over corpora and models, through Dagster's API. The command line and tests start runs here.

Here: which job over which range of partitions. Not here: what a run does.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from types import MappingProxyType
from uuid import uuid4

import dagster as dg
import polars as pl

from benchmark_assets.partitions import dimensions, range_tags
from benchmark_assets.translation.assets import PAYER
from benchmark_assets.translation.systems import Systems
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.runs")

INTERRUPTED = dg.DagsterExecutionInterruptedError.__name__

NO_TAGS: Mapping[str, str] = MappingProxyType({})

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


Stage = tuple[str, str | tuple[str, str] | None]
"""A job and its partitions: one, the two ends of a range, or none."""


class RunFailedError(Exception):
    """A run that ended in failure; the message is that of its first failed step."""


def look(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    """Look at the files of all corpora.

    Raises
    ------
    RunFailedError
        For faults in the files; what is sound has been taken in.
    """
    _run(definitions, instance, "scan")


def take_in(definitions: dg.Definitions, instance: dg.DagsterInstance, corpus: str) -> None:
    """Look at the files, then build what needs no model: references, envelopes, human baselines, leaderboard.

    Raises
    ------
    RunFailedError
        For faults in the files or a stage that failed, after all stages: what is sound has been taken in.
    """

    def stages() -> Iterator[Stage]:
        yield "scan", None
        for ends in _ranges(instance, corpus):  # of the passages that the scan has found
            yield "references", ends
        yield "leaderboard_table", None

    _run_all(definitions, instance, stages())


def evaluate(
    definitions: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, systems: Systems, *models: str
) -> None:
    """Bring models up to date, one run a stage: references of each corpus, then outputs and scores, then the tables.

    Corpora that a model never covered are left out. A stage that fails does not stop the next: passages that are good
    make their way to the leaderboard.

    Raises
    ------
    BadInput
        For an unknown model.
    RunFailedError
        Where passages failed, after all stages; the next call computes those passages only.
    """
    each = {model: systems.system(model) for model in models}
    instance.add_dynamic_partitions("model", list(models))
    references: list[Stage] = []
    rows: list[Stage] = []
    for corpus in warehouse.read("corpus", columns=["corpus"])["corpus"]:
        passages = [key for key in instance.get_dynamic_partitions("passage") if key.startswith(f"{corpus}/")]
        ranges = list(_ranges(instance, corpus))
        before = warehouse.read("model_output", pl.DataFrame({"passage": passages}), ["model"])["model"].unique()
        covering = [model for model in models if model in before or each[model].fingerprints(passages)]
        references += [("references", ends) for ends in ranges if covering]
        for model in covering:
            for first, last in ranges:
                row = (f"{model}|{first}", f"{model}|{last}")
                rows += [("translate", row), ("score", row)]
    tables: list[Stage] = [("accounts", None), *(("summary", model) for model in models), ("leaderboard_table", None)]
    _run_all(definitions, instance, [*references, *rows, *tables], {PAYER: str(uuid4())})


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


def _ranges(instance: dg.DagsterInstance, corpus: str) -> Iterator[tuple[str, str]]:
    """First and last partition of each stretch of a corpus's passages; another corpus may lie in between."""
    passages = instance.get_dynamic_partitions("passage")
    for own, stretch in groupby(passages, key=lambda passage: passage.startswith(f"{corpus}/")):
        if own:
            keys = list(stretch)
            yield keys[0], keys[-1]


def _run_all(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    stages: Iterable[Stage],
    tags: Mapping[str, str] = NO_TAGS,
) -> None:
    """Run every stage, then raise the first failure, if there was one."""
    failures = []
    for job, partitions in stages:
        try:
            _run(definitions, instance, job, partitions, tags)
        except RunFailedError as failure:
            failures.append(failure)
    if failures:
        raise failures[0]


def _run(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    job: str,
    partitions: str | tuple[str, str] | None = None,
    tags: Mapping[str, str] = NO_TAGS,
) -> None:
    """Run a job in this process, over one partition, a range given by its ends, or none."""
    named = " … ".join([partitions] if isinstance(partitions, str) else partitions or ())
    logger.info("%s %s", job, named)
    result = definitions.resolve_job_def(job).execute_in_process(
        instance=instance,
        partition_key=partitions if isinstance(partitions, str) else None,
        tags={**tags, **(range_tags(*partitions) if isinstance(partitions, tuple) else {})},
        run_config=QUIET,
        raise_on_error=False,
    )
    if INTERRUPTED in _kinds(result):
        raise KeyboardInterrupt
    if not result.success:
        raise RunFailedError(next(_reasons(result), f"run {result.run_id} of {job} failed"))


def _kinds(result: dg.ExecuteInProcessResult) -> set[str | None]:
    """Names of the exceptions that ended steps."""
    ends = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    return {error.cls_name for error in ends if error}


def _reasons(result: dg.ExecuteInProcessResult) -> Iterator[str]:
    for event in result.all_events:
        if event.is_step_failure:
            failure = event.step_failure_data
            if failure.user_failure_data and failure.user_failure_data.description:
                yield failure.user_failure_data.description
            elif failure.error:
                yield (failure.error.cause or failure.error).message.strip()
