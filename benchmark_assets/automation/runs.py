"""Materialize stale partitions, asset by asset, with runs in this process.

The command line, jobs and tests start runs through this module. Here: the order of runs, the partitions of each run,
messages before and after an update. Not here: which partitions are stale (automation.due), the work of a run
(lineage.refresh).
"""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import uuid4

import dagster as dg
import polars as pl
from dagster_shared.error import SerializableErrorInfo

from benchmark_assets.accounts.costs import room
from benchmark_assets.automation import identity
from benchmark_assets.automation.checks import NEW
from benchmark_assets.automation.due import (
    EVERYTHING,
    UNSEEN,
    Due,
    Scope,
    chains,
    determinants,
    due,
    held,
    missed,
    ranges,
)
from benchmark_assets.automation.settling import reasons, settle_the_dead
from benchmark_assets.corpus.assets import BY_SCAN
from benchmark_assets.lineage import shards
from benchmark_assets.lineage.events import forgive, unsound
from benchmark_assets.lineage.looks import Looks, Made
from benchmark_assets.lineage.refresh import OF_UPDATE, further_tables
from benchmark_assets.lineage.standing import UNKNOWN
from benchmark_assets.partitions import dimensions, range_tags
from benchmark_assets.studies.assets import PAYER, note_plan
from benchmark_assets.studies.study import CALLS
from benchmark_assets.translation.systems import Systems
from benchmark_assets.understanding import answers
from resources import journal
from resources.dagster_storage.event_log import CompactEventLog
from resources.dagster_storage.run_storage import ForgettingRunStorage
from resources.errors import BadInput, RunFailedError, one_of
from resources.home import database
from resources.keys import KEYS
from resources.notifications import Notifications
from resources.processes import PROCESS, process_tag
from resources.provider.provider import Provider
from resources.warehouse import Replacement, Warehouse

logger = logging.getLogger("variorum.runs")

INTERRUPTED = (dg.DagsterExecutionInterruptedError.__name__, KeyboardInterrupt.__name__)
"""Names of the errors by which Dagster ends a run after Ctrl-C or SIGTERM."""

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}

NOT_AGAIN = "dagster/max_retries"
"""Tag that keeps Dagster's daemon from retrying a run. The daemon retries the job that started the run instead."""

ACCEPT = "repeat the command with `--accept`, or run `variorum update --accept`"
"""How a user consents to costs."""

HISTORY = timedelta(days=30)
"""Time for which Dagster keeps records that no longer have any effect (see `forget_history`)."""

REPLIES_DAYS = 90
"""Days after which the texts of requests and replies move from the ledger to compressed files."""


class UpdateOutcome(NamedTuple):
    """What an update did: the number of stale partitions of each asset, failed checks with problems that the last run
    did not find, and failures."""

    counts: list[str]
    warnings: list[str]
    failures: list[RunFailedError]


def look(definitions: dg.Definitions, instance: dg.DagsterInstance, corpora: Sequence[str] | None = None) -> None:
    """Scan the files of `corpora` (by default, of all corpora) for new, changed and removed passages.

    Raises
    ------
    RunFailedError
        For faults in files. Files without faults are still imported.
    """
    _run(definitions.resolve_job_def("scan"), instance, "scan", config=_only("look_at_files", corpora))


def download(definitions: dg.Definitions, instance: dg.DagsterInstance, corpora: Sequence[str] | None = None) -> None:
    """Download the files listed under `downloads` in the descriptions of `corpora` (by default, of all corpora).

    Raises
    ------
    RunFailedError
        For files that could not be downloaded. All other files are still downloaded.
    """
    _run(definitions.resolve_job_def("download"), instance, "download", config=_only("fetch_files", corpora))


def _only(op: str, corpora: Sequence[str] | None) -> dict[str, Any]:
    """Run configuration that limits a job's op to some corpora."""
    return {"ops": {op: {"config": {"corpora": corpora and list(corpora)}}}}


def take_in(definitions: dg.Definitions, instance: dg.DagsterInstance, corpus: str, accepted: bool = True) -> None:
    """Scan a corpus, then materialize assets that need no model: references, envelopes, human baselines, leaderboard.

    `accepted` says whether aligners and glossaries may cost something (see `Scope`).

    Raises
    ------
    RunFailedError
        At the end, if the corpus's files had faults or an asset failed. Files without faults are still imported.
    """
    failure: RunFailedError | None = None
    try:
        look(definitions, instance, [corpus])
    except RunFailedError as error:
        failure = error
    update(definitions, instance, Scope(models=[], corpora=[corpus], accepted=accepted))
    if failure:
        raise failure


def evaluate(
    definitions: dg.Definitions, instance: dg.DagsterInstance, *models: str, on: Collection[str] | None = None,
    accepted: bool = True, payer: str | None = None,
) -> None:  # fmt: skip
    """Materialize the stale partitions of models, from outputs to result tables.

    Includes all corpora that the models translate, and all tasks that they answer. If `on` is given, only the corpora
    and tasks that it names are included. `accepted` says whether models may cost something (see `Scope`), and `payer`
    is the run of the ledger to which calls are charged.

    Raises
    ------
    BadInput
        For an unknown model.
    RunFailedError
        At the end, if passages failed. The next call computes only the failed passages.
    """
    resources = definitions.resources or {}
    warehouse: Warehouse = resources["warehouse"]
    systems: Systems = resources["systems"]
    evaluated = [systems.system(model) for model in models]
    instance.add_dynamic_partitions("model", list(models))
    passages = shards.passages(warehouse, instance.get_dynamic_partitions("passage"))["passage"].to_list()
    keys = pl.DataFrame({"model": models}, schema={"model": pl.String})
    covered = set(warehouse.read("model_output", keys, ["passage"])["passage"])
    covered.update(*(system.fingerprints(passages) for system in evaluated))
    corpora = {passage.partition("/")[0] for passage in covered}
    answered = set(warehouse.read("answer", keys, ["task"])["task"])
    answered |= answers.covered(warehouse, systems, models, instance.get_dynamic_partitions("task"))
    covering = corpora | answered
    within = covering if on is None else covering & set(on)
    update(definitions, instance, Scope(models, within, accepted=accepted), probe=True, payer=payer)


def update(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    scope: Scope = EVERYTHING,
    probe: bool = False,
    history: timedelta = HISTORY,
    whole: bool = False,
    payer: str | None = None,
) -> None:
    """Materialize all stale partitions in a scope, asset by asset.

    An asset's stale partitions are determined after its inputs are materialized, so partitions downstream of an
    unchanged row stay up to date. Neighboring assets with the same stale partitions share a run, because a run has an
    overhead of half a second. If an asset fails for some passages, the next assets still run, so that all other
    passages reach the leaderboard.

    Parameters
    ----------
    probe
        Whether to begin by asking endpoints which version they serve: the endpoints of the scope's models and of all
        judges.
    history
        Time for which Dagster keeps records that no longer have any effect (see `forget_history`).
    whole
        Whether to begin by checking whole tables (see `check_tables`).
    payer
        The run of the ledger to which calls are charged; by default a new one.

    Raises
    ------
    BadInput
        If warehouse, ledger and Dagster's state do not belong together, or if the provider's cap is for this process
        and workers would ask. Nothing is materialized then.
    RunFailedError
        At the end, with the first failure.
    """
    warehouse: Warehouse = (definitions.resources or {})["warehouse"]
    provider: Provider = (definitions.resources or {})["provider"]
    # Dagster lists all cells of a grid for each input of a run, and lists them again when its clock has moved.
    still = dg.partition_loading_context(datetime.now(UTC))
    run = payer or str(uuid4())
    with (
        still, warehouse.kept_open(), identity.advanced(instance, warehouse, provider.ledger) as epoch,
        journal.kept(warehouse.folder, run, provider, scope.models),
    ):  # fmt: skip
        settle_the_dead(instance)
        tag = {PAYER: run}
        if probe:
            _probe(definitions, scope, tag)  # a version that an endpoint serves is a determinant
        looks = Looks.of(instance, warehouse, determinants(definitions), epoch)  # before events are forgotten
        forget_history(instance, datetime.now(UTC) - history)
        looks.begin()
        failures = _update(definitions, instance, scope, tag, whole, looks)
    warehouse.compact()
    provider.ledger.compact(datetime.now(UTC) - timedelta(days=REPLIES_DAYS))
    if failures:
        raise failures[0]


def _probe(definitions: dg.Definitions, scope: Scope, payer: Mapping[str, str]) -> None:
    """Ask endpoints which version they serve."""
    resources = definitions.resources or {}
    provider: Provider = resources["provider"]
    registry = provider.registry()
    models = sorted(registry.models) if scope.models is None else list(scope.models)
    if names := provider.worth_probing([*models, *sorted(registry.judges)]):
        cost = provider.cost_of_probing(names)
        cost.check_consent(f"the probe of {', '.join(names)}", scope.accepted, ACCEPT)
        resources["notifications"].send(f"asking endpoints which version they serve: {', '.join(names)}; {cost}")
        provider.probe(names, payer[PAYER])


def _update(
    definitions: dg.Definitions, instance: dg.DagsterInstance, scope: Scope, payer: Mapping[str, str], whole: bool,
    looks: Looks,
) -> list[RunFailedError]:  # fmt: skip
    """Carry out `update` while the warehouse is kept open; return all failures."""
    notifications: Notifications = (definitions.resources or {})["notifications"]
    checked = _checked(definitions, instance, payer) if whole else UpdateOutcome([], [], [])
    if whole and (unseen := missed(definitions, instance, looks)):
        notifications.send(f"{UNSEEN}: {', '.join(unseen)}")
    done = _carried_out(definitions, instance, scope, payer, looks)
    looks.keep()
    done = UpdateOutcome(done.counts, checked.warnings + done.warnings, checked.failures + done.failures)
    if done.counts or done.failures:
        problems = "".join(f"\n- {problem}" for problem in [*map(str, done.failures), *dict.fromkeys(done.warnings)])
        logger.info("materialized stale partitions: %s", ", ".join(done.counts) or "none")
        total = sum(int(count.rpartition(" ")[2]) for count in done.counts)
        notifications.send(f"materialized {total:,} stale partitions of {len(done.counts)} assets{problems}")
    return done.failures


def _carried_out(
    definitions: dg.Definitions, instance: dg.DagsterInstance, scope: Scope, payer: Mapping[str, str], looks: Looks
) -> UpdateOutcome:
    """Materialize all stale partitions in a scope, by workers if there are any (see `automation.server`).

    After an outage of the database, an update by workers begins again: parts under way are waited for.
    """
    update = ChainUpdate(definitions, instance, scope, payer, looks)
    if url := database():
        from benchmark_assets.automation.server.planning import PlannedUpdate  # a home of one machine has no workers
        from benchmark_assets.automation.server.queues import PartQueue
        from resources.postgres.outages import outlast

        if (queue := PartQueue(url)).workers():
            if (definitions.resources or {})["provider"].cap is not None:
                raise BadInput("--budget", "", "cannot be kept by workers", "set `budget.run` in the registry")
            update = PlannedUpdate(definitions, instance, scope, payer, looks, queue)
            return outlast(url, update.carry_out)
    return update.carry_out()


def _checked(definitions: dg.Definitions, instance: dg.DagsterInstance, payer: Mapping[str, str]) -> UpdateOutcome:
    """The outcome of checking whole tables."""
    try:
        return UpdateOutcome([], check_tables(definitions, instance, payer), [])
    except RunFailedError as fault:
        return UpdateOutcome([], [], [fault])


class ChainRun(NamedTuple):
    """A run of an update: its first and last partition, None if its assets have none, and the partitions of each asset
    for which the run is made, by Dagster's keys (columns of `KEYS`). `units` are the models, corpora or tasks of the
    part to which the run belongs (see `automation.server.planning`)."""

    ends: tuple[str, str] | None
    assets: dict[dg.AssetKey, pl.DataFrame]
    units: tuple[str, ...] = ()


class EndedRun(NamedTuple):
    """The id of a run of an update, a message for each failed check with whether the check found problems that its last
    run did not find, and its failure, if it failed."""

    run: str
    checks: dict[str, bool]
    failure: RunFailedError | None


class ChainUpdate:
    """An update under way: what is stale in a chain of assets, the runs that materialize it, and what they did.

    Assets that are not stale yet, but whose inputs in the chain are, belong to the same run: each asset of a run looks
    for itself which partitions are stale by then. Exceptions are assets that applied to no partition at the last look,
    and studies, because a message states their cost before they ask. What is stale after the runs makes another round.

    Parameters
    ----------
    payer
        The tag of all runs, which share a budget.
    looks
        If given, only partitions that something has reached since the last look are examined.
    """

    def __init__(
        self, definitions: dg.Definitions, instance: dg.DagsterInstance, scope: Scope, payer: Mapping[str, str],
        looks: Looks | None = None,
    ) -> None:  # fmt: skip
        warehouse: Warehouse = (definitions.resources or {})["warehouse"]
        self._definitions, self._instance, self._scope = definitions, instance, scope
        self._payer, self._looks = payer, looks or Looks(instance, warehouse, "", 0, {}, {})
        self._graph = definitions.resolve_asset_graph()
        self._job = definitions.resolve_implicit_global_asset_job_def()
        self._counts: dict[str, int] = {}
        self._checks: dict[str, bool] = {}
        self._failures: list[RunFailedError] = []
        self._given_up: dict[dg.AssetKey, pl.DataFrame] = {}

    def carry_out(self) -> UpdateOutcome:
        """Materialize all stale partitions in the scope."""
        groups = chains(self._definitions, self._scope)
        unsound_assets = unsound(self._instance, [asset for group in groups for asset in group])
        for number, group in enumerate(groups, start=1):
            names = ", ".join(asset.to_user_string() for asset in group)
            logger.info("%d of %d steps: %s", number, len(groups), names)
            self.chain(group, unsound_assets)
        return self.outcome()

    def outcome(self) -> UpdateOutcome:
        """What was done so far."""
        counts = [f"{name} {count}" for name, count in self._counts.items()]
        return UpdateOutcome(counts, [message for message, new in self._checks.items() if new], self._failures)

    def chain(self, assets: Sequence[dg.AssetKey], unsound_assets: Collection[str]) -> None:
        """Materialize what is stale in a chain."""
        for number in range(len(assets) + 2):
            work = self._work(assets)
            if number == 0:
                for asset in assets:
                    if asset.to_user_string() in unsound_assets and asset in work and work[asset].rows.is_empty():
                        self._check(asset)  # the cause may be fixed
            made: dict[dg.AssetKey, list[Made]] = {asset: [] for asset in work}
            parts = self._parts(work)
            for part, ended in self._ended(parts):
                for asset in self._noted(part, ended):
                    made[asset].append((ended.run, part.assets[asset]))
            for asset, stale in work.items():
                runs = sum(asset in part.assets for part in parts)
                every = len(made[asset]) == runs and (runs > 0 or stale.rows.is_empty())
                if stale.settle and every and asset not in self._given_up:
                    stale.settle(made[asset])
            if not parts:
                break

    def _work(self, assets: Sequence[dg.AssetKey]) -> dict[dg.AssetKey, Due]:
        """The stale partitions of the assets, and those whose inputs in the chain are stale."""
        work: dict[dg.AssetKey, Due] = {}
        news = self._looks.news()
        for asset in assets:
            try:
                stale = due(self._definitions, self._instance, asset, self._scope, self._looks, news)
                if stale.estimate:
                    stale.estimate.check_consent(asset.to_user_string(), self._scope.accepted, ACCEPT)
            except BadInput as fault:
                if asset not in self._given_up:
                    self._failures.append(RunFailedError(str(fault)))
                    self._given_up[asset] = pl.DataFrame(schema=dict.fromkeys(KEYS, pl.String))
                continue
            self._announce(asset, stale)
            if stale.rows.is_empty():  # a run that was killed had planned partitions that do not apply
                forgive(self._instance, asset, stale.failed)
            node, rows = self._graph.get(asset), [stale.rows.select(KEYS)]
            dims = dimensions(node.partitions_def)
            if CALLS not in further_tables(node.assets_def, asset):
                for parent in node.parent_keys & work.keys():
                    of_parent = work[parent].rows
                    if dims and dims == dimensions(self._graph.get(parent).partitions_def):
                        rows.append(of_parent)
                    elif not dims and len(of_parent):
                        rows.append(pl.DataFrame({key: [""] for key in KEYS}))
            if any(map(len, rows[1:])) and self._looks.is_idle(asset, news):
                rows = rows[:1]
            every = pl.concat(rows).unique(maintain_order=True)
            if asset in self._given_up:
                every = self._without_given_up(asset, every)
            work[asset] = stale._replace(rows=every)
        return work

    def _without_given_up(self, asset: dg.AssetKey, rows: pl.DataFrame) -> pl.DataFrame:
        """Partitions, by passage, without those whose run has failed."""
        warehouse: Warehouse = (self._definitions.resources or {})["warehouse"]
        given_up = self._given_up[asset]
        passages = shards.expanded(given_up, shards.members(warehouse, given_up["passage"]))
        return rows.join(pl.concat([given_up, passages]), on=KEYS, how="anti")

    def _announce(self, asset: dg.AssetKey, stale: Due) -> None:
        """Count stale partitions, and tell what asking models about them will cost."""
        name = asset.to_user_string()
        if len(stale.rows) and asset not in self._given_up:
            self._counts[name] = max(self._counts.get(name, 0), len(stale.rows))
            if stale.estimate:
                folder = (self._definitions.resources or {})["warehouse"].folder
                note_plan(folder, self._payer.get(PAYER, ""), name, stale.rows, stale.estimate)
        if stale.estimate and stale.estimate.calls > stale.estimate.recorded and asset not in self._given_up:
            provider: Provider = (self._definitions.resources or {})["provider"]
            notifications: Notifications = (self._definitions.resources or {})["notifications"]
            balance = room(provider.ledger.attempts(), provider.budget, datetime.now(UTC).date())
            notifications.send(f"{name} will ask models: {stale.estimate}; {balance}")

    def _parts(self, work: Mapping[dg.AssetKey, Due]) -> list[ChainRun]:
        """The runs for stale partitions. Assets without partitions are in the last one."""
        rows = {asset: stale.rows for asset, stale in work.items() if len(stale.rows)}
        single = {asset: row for asset, row in rows.items() if not self._graph.get(asset).partitions_def}
        if len(single) == len(rows):
            return [ChainRun(None, single)] if single else []
        dims = dimensions(self._graph.get(next(asset for asset in rows if asset not in single)).partitions_def)
        keys = {dim: self._instance.get_dynamic_partitions(dim) for dim in dims}
        warehouse: Warehouse = (self._definitions.resources or {})["warehouse"]
        of = shards.members(warehouse, keys.get("passage", []))
        keyed = {asset: shards.keyed(rows[asset], of).unique() for asset in rows if asset not in single}
        parts = []
        for ends in ranges(pl.concat(keyed.values()).select(dims).unique(), dims, keys):
            inside = {asset: held(partitions, ends, dims, keys) for asset, partitions in keyed.items()}
            parts.append(ChainRun(ends, {asset: partitions for asset, partitions in inside.items() if len(partitions)}))
        return [*parts[:-1], ChainRun(parts[-1].ends, parts[-1].assets | single)]

    def _ended(self, parts: Sequence[ChainRun]) -> Iterator[tuple[ChainRun, EndedRun]]:
        """Carry out runs; yield each with what it did."""
        for part in parts:
            yield part, run_chain(self._definitions, self._instance, self._payer, part.ends, [*part.assets])

    def _noted(self, part: ChainRun, ended: EndedRun) -> list[dg.AssetKey]:
        """Remember what a run did; return the assets whose steps ended well."""
        self._checks |= ended.checks
        if not (failure := ended.failure):
            return [*part.assets]
        self._failures.append(failure)
        succeeded = [asset for asset in part.assets if asset.to_user_string() in failure.succeeded]
        failed = [asset for asset in part.assets if asset.to_user_string() in failure.failed]
        for asset in failed if succeeded or failed else part.assets:  # what was skipped is tried again
            rows = part.assets[asset]
            self._given_up[asset] = pl.concat([self._given_up.get(asset, rows), rows]).unique()
        return succeeded

    def _check(self, asset: dg.AssetKey) -> None:
        """Repeat the checks of an asset."""
        checks = self._job.asset_layer.asset_graph.get_check_keys_for_assets({asset})
        only_checks = self._job.get_subset(asset_selection=set(), asset_check_selection=checks)
        try:
            self._checks |= _run(only_checks, self._instance, asset.to_user_string(), self._payer)
        except RunFailedError as failure:
            self._failures.append(failure)


def run_chain(
    definitions: dg.Definitions, instance: dg.DagsterInstance, payer: Mapping[str, str], ends: tuple[str, str] | None,
    assets: Sequence[dg.AssetKey],
) -> EndedRun:  # fmt: skip
    """Materialize a range of partitions of some assets in a run of this process."""
    job, run = definitions.resolve_implicit_global_asset_job_def(), str(uuid4())
    name = ", ".join(asset.to_user_string() for asset in assets)
    try:
        return EndedRun(run, _run(job, instance, name, payer, ends=ends, assets=assets, run_id=run), None)
    except RunFailedError as failure:
        events = instance.event_log_storage
        if isinstance(events, CompactEventLog):
            for asset in assets:
                if asset.to_user_string() not in failure.succeeded | failure.failed:
                    events.drop_plans(asset, run)  # it was skipped: its partitions have not failed
        return EndedRun(run, failure.checks, failure)


def check_tables(
    definitions: dg.Definitions, instance: dg.DagsterInstance, payer: Mapping[str, str] | None = None
) -> list[str]:
    """Run the checks of all assets that have records, on whole tables; return a message for each failed check.

    The check `sound` of an update's runs looks only at the rows of the run.

    Raises
    ------
    RunFailedError
        If a check `sound` failed.
    """
    warehouse: Warehouse = (definitions.resources or {})["warehouse"]
    recorded = set(warehouse.read("materialization", columns=["asset"])["asset"])
    job = definitions.resolve_implicit_global_asset_job_def()
    checks = {
        check for check in job.asset_layer.asset_graph.asset_check_keys
        if check.asset_key.to_user_string() in recorded
    }  # fmt: skip
    if not checks:
        return []
    return list(_run(job.get_subset(asset_selection=set(), asset_check_selection=checks), instance, "checks", payer))


def remove(definitions: dg.Definitions, instance: dg.DagsterInstance, kind: str, name: str) -> None:
    """Remove a model, corpus, task or base set (`baseset`) from every table.

    The kind `kept` removes people's work on passages that are no longer in the files of the corpus `name`.

    Raises
    ------
    RunFailedError
        For an unknown name, a model that is still in the registry, or a corpus without kept work.
    """
    config = {"ops": {"remove_rows": {"config": {"kind": kind, "name": name}}}}
    _run(definitions.resolve_job_def("remove"), instance, f"remove {kind} {name}", config=config)


def forget(definitions: dg.Definitions, instance: dg.DagsterInstance, asset: str) -> None:
    """Mark all partitions of an asset as stale, so that the next update computes them again.

    Rows of partitions without a record are removed immediately. If a scan materializes the asset, the files are
    scanned immediately.

    Raises
    ------
    BadInput
        For an unknown asset.
    RunFailedError
        For faults in scanned files.
    """
    graph = definitions.resolve_asset_graph()
    nodes = {key.to_user_string(): graph.get(key) for key in graph.get_all_asset_keys()}
    if asset not in nodes:
        raise BadInput(asset, "", "no such asset", f"name {one_of(sorted(nodes))}")
    warehouse: Warehouse = (definitions.resources or {})["warehouse"]
    key = pl.DataFrame({"asset": [asset]})
    scanned = BY_SCAN in nodes[asset].tags

    def mark_stale() -> None:
        states = warehouse.read("materialization", key).drop("run_id", "updated_at")
        unknown = states.with_columns(pl.lit(UNKNOWN).alias("fingerprint" if scanned else "made_from"))
        replacements = [Replacement("materialization", unknown, key)]
        if dims := dimensions(nodes[asset].partitions_def):
            strays = warehouse.read(asset, columns=dims).unique().join(states, on=dims, how="anti")
            replacements.append(Replacement(asset, warehouse.empty(asset), strays))
        warehouse.write(replacements, run_id="forget")

    warehouse.at_once(asset, None, mark_stale)
    if scanned:
        look(definitions, instance)


def status(definitions: dg.Definitions, instance: dg.DagsterInstance) -> pl.DataFrame:
    """Numbers of partitions by asset: total, materialized, failed in their last run, and missing."""
    rows = []
    graph = definitions.resolve_asset_graph()
    for key in graph.toposorted_asset_keys:
        partitions_def = graph.get(key).partitions_def
        if partitions_def is None:
            statuses = ["MATERIALIZED" if instance.get_latest_materialization_event(key) else "MISSING"]
        else:
            keys = partitions_def.get_partition_keys(dynamic_partitions_store=instance)
            recorded = instance.get_status_by_partition(key, list(keys), partitions_def) or {}
            statuses = [state.value if (state := recorded.get(partition)) else "MISSING" for partition in keys]
        good, failed = statuses.count("MATERIALIZED"), statuses.count("FAILED")
        dims = " × ".join(dimensions(partitions_def)) or "-"
        rows.append((key.to_user_string(), dims, len(statuses), good, failed, len(statuses) - good - failed))
    columns = ["asset", "partitions", "total", "materialized", "failed", "missing"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def forget_history(instance: dg.DagsterInstance, before: datetime) -> None:
    """Remove Dagster's records that are older than `before` and no longer have any effect.

    These are logs of runs, materializations that were replaced by later ones, and runs without any remaining event.
    """
    events, table = instance.event_log_storage, instance.run_storage
    if isinstance(events, CompactEventLog):
        events.forget(before.timestamp())
        if isinstance(table, ForgettingRunStorage):
            table.forget(before.timestamp(), events.runs_in_index())


def _run(
    job: dg.JobDefinition,
    instance: dg.DagsterInstance,
    name: str,
    payer: Mapping[str, str] | None = None,
    *,
    ends: tuple[str, str] | None = None,
    assets: Sequence[dg.AssetKey] | None = None,
    config: Mapping[str, Any] | None = None,
    run_id: str | None = None,
) -> dict[str, bool]:
    """Run a job, or only some of its assets, in this process; return a message for each failed check.

    Each message comes with whether the check found problems that its last run did not find.

    `ends` are the first and the last partition of the run. All runs that share a budget have the tag `payer`. Raises
    RunFailedError if a step failed.
    """
    logger.info("%s %s", name, " … ".join(dict.fromkeys(ends or ())))
    if assets:  # Dagster first describes the whole job: with all assets, longer than a small run
        job = job.get_subset(asset_selection=set(assets))
    result = job.execute_in_process(
        instance=instance,
        tags={
            NOT_AGAIN: "0",
            OF_UPDATE: "yes",
            PROCESS: process_tag(),
            **(payer or {}),
            **(range_tags(*ends) if ends else {}),
        },
        run_config={**QUIET, **(config or {})},
        asset_selection=assets,
        run_id=run_id,
        raise_on_error=False,
    )
    errors = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    errors += [event.job_failure_data.error for event in result.all_events if event.is_job_failure]  # between steps
    names = [name for error in errors for name in _classes(error)]
    if not {*names}.isdisjoint(INTERRUPTED):
        raise KeyboardInterrupt
    unsuccessful = [check for check in result.get_asset_check_evaluations() if not check.passed]
    failed_checks = {  # first those that fail the run
        f"check {check.check_name!r} of {check.asset_key.to_user_string()}: {check.description}":
            NEW not in check.metadata or bool(check.metadata[NEW].value)
        for check in sorted(unsuccessful, key=lambda check: check.severity != dg.AssetCheckSeverity.ERROR)
    }  # fmt: skip
    if not result.success:
        faults = (
            list(reasons(result.all_events))
            or [*failed_checks, f"run {result.run_id} of {name} failed ({', '.join(names)})"][:1]
        )
        events = result.all_node_events
        failed = [event.step_key or "" for event in events if event.is_step_failure]
        succeeded = [event.step_key or "" for event in events if event.is_step_success]
        raise RunFailedError("; ".join(faults), failed, succeeded, failed_checks)
    return failed_checks


def _classes(error: SerializableErrorInfo | None) -> Iterator[str]:
    """Names of the classes of an error and of the errors that it came from."""
    while error:
        yield error.cls_name or ""
        error = error.cause or error.context
