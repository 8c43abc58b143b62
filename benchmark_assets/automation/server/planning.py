"""Updates by many workers: cutting an update into parts, submitting them as runs, and waiting for them.

The assets form stages. Within a stage, the row of a model (or a corpus, or a task) depends on no other row, so each row
is a part, which a worker takes through all assets of the stage. A stage begins when the parts of the former one have
ended. Here: stages, parts, submission and waiting. Not here: the work of a part (runs), starting workers (workers).
"""

import json
import logging
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import NamedTuple

import dagster as dg
from dagster._core.storage.dagster_run import IN_PROGRESS_RUN_STATUSES
from dagster._core.workspace.context import BaseWorkspaceRequestContext, WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget

from benchmark_assets.automation.due import PART, Scope, due, stretches
from benchmark_assets.automation.server.queues import PART_TAG
from benchmark_assets.automation.settling import reasons, settle_the_dead
from benchmark_assets.lineage.events import unsound
from benchmark_assets.partitions import dimensions
from resources.home import PROJECT
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.planning")

ATTEMPTS = 3
"""Maximum number of attempts at the stale parts of a stage: a part is stale again if its inputs changed meanwhile."""

LOST = 2
"""Number of times that a part is submitted again in an attempt because its worker has ended."""

POLL = 1.0
"""Seconds between two looks at the runs that a planner waits for."""

LOOKS = 10
"""A planner examines at every tenth look whether processes have ended: each run takes a query, and leases last 60 s."""

UNFINISHED = [
    *IN_PROGRESS_RUN_STATUSES, dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.CANCELING,
]  # fmt: skip


class Stage(NamedTuple):
    """Consecutive assets of an update that are cut in the same way: by model, by corpus or task, or not at all ('')."""

    by: str
    assets: list[dg.AssetKey]


def stages(definitions: dg.Definitions, scope: Scope) -> list[Stage]:
    """The stages of an update, in order."""
    graph = definitions.resolve_asset_graph()
    found: list[Stage] = []
    for group in stretches(definitions, scope):
        dims = dimensions(graph.get(group[0]).partitions_def)
        by = "model" if "model" in dims else "corpus" if dims else ""
        if found and found[-1].by == by:
            found[-1].assets.extend(group)
        else:
            found.append(Stage(by, list(group)))
    return found


def carry_out(
    definitions: dg.Definitions, instance: dg.DagsterInstance, scope: Scope, payer: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Materialize all stale partitions in a scope, with runs on workers that have the tag `payer`.

    Returns the number of stale partitions of each asset (`reference 100`), and a message for each failed part.
    """
    counts: dict[str, int] = {}
    failures: list[str] = []
    with _workspace(instance) as workspace:
        for stage in stages(definitions, scope):
            failed: set[str] = set()
            for attempt in range(ATTEMPTS):
                parts = [
                    part for part in _parts(definitions, instance, stage, scope, counts) if _key(part) not in failed
                ]
                if attempt == 0 and (unsound_assets := unsound(instance, stage.assets)):
                    parts.append(Scope(scope.models, scope.corpora, unsound_assets))  # repeats their checks
                if not parts:
                    break
                for part, messages in _outcomes(definitions, instance, workspace, parts, payer):
                    if messages:
                        failed.add(_key(part))
                        failures += messages
            else:
                left = _parts(definitions, instance, stage, scope, {})
                failures += [
                    f"{_name(part)}: not finished after {ATTEMPTS} attempts, because workers ended or inputs changed; "
                    "run the update again"
                    for part in left if _key(part) not in failed
                ]  # fmt: skip
    return [f"{asset} {count}" for asset, count in counts.items()], failures


def _parts(
    definitions: dg.Definitions, instance: dg.DagsterInstance, stage: Stage, scope: Scope, counts: dict[str, int]
) -> list[Scope]:
    """The parts of a stage with stale partitions. Their numbers by asset are added to `counts`, if they are larger."""
    names = [asset.to_user_string() for asset in stage.assets]
    values: dict[str, None] = {}
    for asset, name in zip(stage.assets, names, strict=True):
        rows = due(definitions, instance, asset, scope).rows
        if len(rows):
            counts[name] = max(counts.get(name, 0), len(rows))
        if stage.by == "model":
            values |= dict.fromkeys(rows["model"].unique(maintain_order=True))
        else:
            keys = (passage or task for passage, task in rows.select("passage", "task").unique().sort("*").iter_rows())
            values |= dict.fromkeys(key.partition("/")[0] for key in keys)
    if stage.by == "model":
        return [Scope([model], scope.corpora, names) for model in values]
    if stage.by == "corpus":
        return [Scope(scope.models, [corpus], names) for corpus in values]
    return [Scope(scope.models, scope.corpora, names)] if values else []


def _key(part: Scope) -> str:
    """The value of PART_TAG for a part."""
    return blake2b(json.dumps(_config(part)).encode(), digest_size=16).hexdigest()


def _config(part: Scope) -> dict[str, list[str] | None]:
    """Configuration of the job PART for a part."""
    return {name: None if values is None else sorted(values) for name, values in part._asdict().items()}


def _name(part: Scope) -> str:
    """A part in words, for messages."""
    whose = [*(part.models or []), *(part.corpora or [])]
    assets = list(part.assets or [])
    return f"{', '.join(whose) or 'all'} ({assets[0]} to {assets[-1]})"


@contextmanager
def _workspace(instance: dg.DagsterInstance) -> Iterator[BaseWorkspaceRequestContext]:
    """The code location as Dagster's queue and launchers need it to start a run."""
    target = WorkspaceFileTarget([str(PROJECT / "workspace.yaml")])
    with WorkspaceProcessContext(instance, target) as process:
        yield process.create_request_context()


def _submitted(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    workspace: BaseWorkspaceRequestContext,
    part: Scope,
    payer: Mapping[str, str],
) -> str:
    """Id of the run that carries out a part: the one under way, if any, otherwise a new one."""
    tags = {PART_TAG: _key(part)}
    warehouse: Warehouse = (definitions.resources or {})["warehouse"]
    with warehouse.exclusively():  # so that two planners do not start the same part
        for run in instance.get_runs(dg.RunsFilter(tags=tags, statuses=UNFINISHED), limit=1):
            return run.run_id
        location = workspace.get_code_location("variorum")
        job = next(iter(location.get_repositories().values())).get_full_job(PART)
        config = {"ops": {"carry_out_part": {"config": _config(part)}}}
        plan = location.get_execution_plan(job, config, None, None, instance).execution_plan_snapshot
        run = instance.create_run(
            job_name=PART,
            run_id=None,
            run_config=config,
            status=None,
            tags={**job.tags, **tags, **payer},
            root_run_id=None,
            parent_run_id=None,
            step_keys_to_execute=plan.step_keys_to_execute,
            execution_plan_snapshot=plan,
            job_snapshot=job.job_snapshot,
            parent_job_snapshot=job.parent_job_snapshot,
            asset_selection=None,
            asset_check_selection=None,
            resolved_op_selection=None,
            op_selection=None,
            remote_job_origin=job.get_remote_origin(),
            job_code_origin=job.get_python_origin(),
            asset_graph=workspace.asset_graph,
        )
    logger.info("%s: run %s", _name(part), run.run_id)
    return instance.submit_run(run.run_id, workspace).run_id


def _outcomes(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    workspace: BaseWorkspaceRequestContext,
    parts: Sequence[Scope],
    payer: Mapping[str, str],
) -> Iterator[tuple[Scope, list[str]]]:
    """Submit parts and wait for them: yield each part, when it has ended, with the reasons why it failed.

    A part whose worker has ended is submitted again at once, LOST times at most, because others may take hours.
    """
    waiting = {_submitted(definitions, instance, workspace, part, payer): part for part in parts}
    lost: Counter[str] = Counter()
    while waiting and (ended := _ended(instance, waiting)):
        for run in ended:
            part, messages = waiting.pop(run.run_id), list(_failures(instance, run))
            if messages or run.status is dg.DagsterRunStatus.SUCCESS or lost[_key(part)] == LOST:
                yield part, messages
            else:
                lost[_key(part)] += 1
                waiting[_submitted(definitions, instance, workspace, part, payer)] = part


def _ended(instance: dg.DagsterInstance, run_ids: Collection[str]) -> Sequence[dg.DagsterRun]:
    """Wait until some runs have ended; return them, or none if all of them were deleted.

    Runs whose worker has ended are settled meanwhile.
    """
    look = 0
    while True:
        if look % LOOKS == 0:
            settle_the_dead(instance)
        runs = instance.get_runs(dg.RunsFilter(run_ids=list(run_ids)))
        ended = [run for run in runs if run.is_finished]
        if ended or not runs:
            return ended
        look += 1
        time.sleep(POLL)


def _failures(instance: dg.DagsterInstance, run: dg.DagsterRun) -> Iterable[str]:
    """Reasons why a part failed. A part whose worker ended has none: it is repeated."""
    if run.status is dg.DagsterRunStatus.SUCCESS:
        return
    entries = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    yield from reasons(entry.get_dagster_event() for entry in entries)
    if run.status is dg.DagsterRunStatus.CANCELED:
        yield f"run {run.run_id} was canceled"
