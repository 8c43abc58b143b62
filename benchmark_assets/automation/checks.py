"""Asset checks: `sound` blocks all assets downstream of a wrong table; all other checks only warn.

Every asset with a table has the check `sound`, and assets partitioned by model and passage have `coverage`; FURTHER
lists additional checks by asset. A failure of `sound` means wrong numbers, so nothing downstream is computed until it
passes (lineage.refresh). In a run over a range of partitions, checks of single partitions look only at these, unless
they failed before. A run of checks without a range, such as `runs.check_tables`, looks at whole tables. Every run
counts the problems that the run before did not find, because commands print only checks with new ones. Here: the
inputs of each check. Not here: the rules (automation.findings).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import dagster as dg
import polars as pl

from benchmark_assets.accounts.costs import against_caps
from benchmark_assets.alignment.rows import unassigned_totals
from benchmark_assets.automation import findings
from benchmark_assets.lineage import shards
from benchmark_assets.lineage.events import SOUND, last_problems, unsound
from benchmark_assets.lineage.refresh import further_tables, owned
from benchmark_assets.lineage.survey import Applicability
from benchmark_assets.metrics.coverage import limited_passages
from benchmark_assets.partitions import dimensions, run_ends
from benchmark_assets.studies.study import CALLS
from resources import catalogue
from resources.keys import CORPUS, KEYS
from resources.provider.provider import Provider
from resources.tables import markdown
from resources.warehouse import Warehouse


class Subject(NamedTuple):
    """An asset, and the inputs of its checks.

    `name` is the name of the asset and of its main table, `also` lists the secondary tables that the asset fills.
    `upstream` lists the upstream assets with the same dimensions. `partitions` has the partitions to look at, with
    columns `dims`; None stands for all. `applicable` returns those of the given partitions to which the asset applies;
    both have the columns of `KEYS`.
    """

    name: str
    also: list[str]
    dims: list[str]
    upstream: list[str]
    partitions: pl.DataFrame | None
    warehouse: Warehouse
    provider: Provider
    applicable: Callable[[pl.DataFrame], pl.DataFrame]


Check = Callable[[Subject], pl.DataFrame]
"""A check, which returns its problems, one per row."""

NEW = "new problems"
"""Metadata entry: the number of problems that the last run of the check did not find."""


def checks(assets: Iterable[dg.AssetsDefinition]) -> list[dg.AssetChecksDefinition]:
    """Asset checks for every asset that has a table."""
    definitions = list(assets)
    partitions = {key: asset.specs_by_key[key].partitions_def for asset in definitions for key in asset.keys}
    checks_of_assets = []
    for asset in definitions:
        for key in sorted(asset.keys):
            dims = dimensions(partitions[key])
            upstream = [
                parent.to_user_string()
                for parent in asset.keys_by_input_name.values()
                if parent in partitions and dimensions(partitions[parent]) == dims
            ]
            if key.to_user_string() in catalogue.tables():
                checks_of_assets.append(_definition(asset, key, dims, upstream))
    return checks_of_assets


def _definition(
    asset: dg.AssetsDefinition, key: dg.AssetKey, dims: list[str], upstream: list[str]
) -> dg.AssetChecksDefinition:
    """All checks of an asset, as one step of a run."""
    name, also = key.to_user_string(), further_tables(asset, key)
    of_grids = {"coverage": coverage} if dims == ["model", "passage"] else {}
    functions: dict[str, Check] = {SOUND: sound, **of_grids, **FURTHER.get(name, {})}
    specs = [
        dg.AssetCheckSpec(check, asset=key, blocking=check == SOUND, description=function.__doc__)
        for check, function in functions.items()
    ]

    resources = {"warehouse", "provider"}
    if of_grids:
        resources |= asset.required_resource_keys - {"io_manager"}  # which Dagster adds

    @dg.multi_asset_check(name=f"check_{name}", specs=specs, required_resource_keys=resources)
    def run(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        available = {resource: getattr(context.resources, resource) for resource in resources}
        warehouse, provider = available["warehouse"], available["provider"]
        partitions = _of_run(context, warehouse, dims)
        subject = Subject(
            name, also, dims, upstream, None, warehouse, provider,
            lambda rows: Applicability(asset, rows).look(available).applicable,
        )  # fmt: skip
        partial = set() if partitions is None else {  # what an earlier run found may still be wrong
            check for check in functions if not unsound(context.instance, [key], check)
        }  # fmt: skip
        with warehouse.consistently():  # else records and rows may differ
            problems_of = {
                check: function(subject._replace(partitions=partitions) if check in partial else subject)
                for check, function in functions.items()
            }
        for check, rows in problems_of.items():
            severity = dg.AssetCheckSeverity.ERROR if check == SOUND else dg.AssetCheckSeverity.WARN
            problems = markdown(rows)
            known = last_problems(context.instance, dg.AssetCheckKey(key, check)) if len(rows) else []
            new = findings.unknown(rows, known)
            metadata: dict[str, Any] = {"problems": dg.MetadataValue.md(problems), NEW: len(new)}
            yield dg.AssetCheckResult(
                check_name=check,
                asset_key=key,
                passed=rows.is_empty(),
                severity=severity,
                description=_words(rows, new),
                metadata=metadata,
            )

    return run


def _of_run(context: dg.AssetCheckExecutionContext, warehouse: Warehouse, dims: list[str]) -> pl.DataFrame | None:
    """Partitions of the run, with columns `dims`; None if the run or the asset has no partitions."""
    ends = run_ends(context.run.tags)
    if not dims or ends is None:
        return None
    partitions = pl.DataFrame([{}])
    for dim, first, last in zip(dims, *(end.split("|") for end in ends), strict=True):
        keys = context.instance.get_dynamic_partitions(dim)
        chosen = pl.Series(dim, keys[keys.index(first) : keys.index(last) + 1], dtype=pl.String)
        partitions = partitions.join(chosen.to_frame(), how="cross")
    if "passage" not in dims:
        return partitions
    return shards.expanded(partitions, shards.members(warehouse, partitions["passage"]))


def _words(problems: pl.DataFrame, new: Sequence[int]) -> str:
    """The number of problems and the first new problem, or else the first, as a sentence. `new` are the rows of the new
    ones."""
    if problems.is_empty():
        return "no problem"
    row = problems.row(new[0] if new else 0, named=True)
    first = ", ".join(f"{name} {value}" for name, value in row.items() if value not in ("", None))
    some = f", {len(new)} of them new" if 0 < len(new) < len(problems) else ""
    return f"{len(problems)} problem{'s' * (len(problems) > 1)}{some}; the first{' new one' * bool(some)}: {first}"


def sound(subject: Subject) -> pl.DataFrame:
    """Columns and values match the catalogue. A score is null only if its passage lacks references. Each row belongs to
    a partition with a record, and has the record's fingerprint."""
    warehouse, name = subject.warehouse, subject.name
    imported = [table.name for table in catalogue.tables().values() if table.checked_with == name]
    secondary = [*subject.also, *imported]
    differences = [warehouse.differences(name)]
    for table in secondary:
        differences.append(warehouse.differences(table).with_columns(column=table + "." + pl.col("column")))
    if len(unlike := pl.concat(differences)):
        return unlike
    rows = warehouse.read(name, subject.partitions)
    records = _records(subject, name, subject.dims)
    problems = [
        findings.out_of_range(rows, catalogue.table(name)),
        findings.unaccounted(rows, records, subject.dims),
    ]
    for table in secondary:
        keyed = subject.dims and set(subject.dims) <= set(catalogue.table(table).columns)
        if subject.partitions is not None and not keyed:
            continue
        further = warehouse.read(table, owned(warehouse.empty(table), name, subject.partitions))
        faults = [findings.out_of_range(further, catalogue.table(table))]
        if table in subject.also:
            faults.append(findings.stray(further, records, subject.dims))
        problems.append(pl.concat(faults).with_columns(where=table + "." + pl.col("where")))
    if "passage" in subject.dims:
        problems.append(_unexplained(subject, rows, records))
    return pl.concat(problems)


def _records(subject: Subject, asset: str, dims: list[str]) -> pl.DataFrame:
    """Records of an asset, for the partitions to look at. The subject has the asset's dimensions, `dims`."""
    keys = pl.DataFrame({"asset": [asset]})
    if subject.partitions is not None:
        keys = keys.join(subject.partitions.select(dims).unique(), how="cross")
    return subject.warehouse.read("materialization", keys, [*KEYS, "version", "fingerprint", "made_from", "row_count"])


def _unexplained(subject: Subject, rows: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Find scores that are null although their passage has enough references.

    Only rows computed from the current references are checked. The references of other rows may have changed since.
    """
    versions = _records(subject, "reference", ["passage"])
    latest = versions.select("passage", latest="reference:" + pl.col("version").str.head(8))
    keys = list(catalogue.table(subject.name).key)
    is_current = pl.col("made_from").str.contains(pl.col("latest"), literal=True)
    current = records.join(latest, on="passage").filter(is_current)
    references = subject.warehouse.read("reference", _passages(subject), ["passage", "complete"]).filter("complete")
    scored_against = pl.len() - ("translator" in keys)  # a translator is scored against the others
    counts = references.group_by("passage").agg(count=scored_against)
    return findings.unexplained_nulls(rows.join(current, on=subject.dims, how="semi"), counts, keys)


def _passages(subject: Subject) -> pl.DataFrame | None:
    """Passages to look at: column `passage`; None stands for all."""
    return None if subject.partitions is None else subject.partitions.select("passage").unique()


def coverage(subject: Subject) -> pl.DataFrame:
    """The asset is materialized for every model and passage to which it applies, and for which an upstream asset is
    materialized. For an asset without upstream assets: each model with outputs in a corpus has an output for every
    selected passage of the corpus, or for every passage of its limited evaluation."""
    keys = pl.DataFrame({"asset": [subject.name, *subject.upstream]})
    if subject.partitions is not None:
        keys = keys.join(subject.partitions, how="cross")
    states = subject.warehouse.read("materialization", keys, ["asset", "model", "passage"])
    present = states.filter(asset=subject.name).select("model", "passage")
    if subject.upstream:
        expected = states.filter(pl.col("asset").is_in(subject.upstream)).select("model", "passage").unique()
        absent = expected.join(present, on=["model", "passage"], how="anti").with_columns(task=pl.lit(""))
        missing = subject.applicable(absent.select(KEYS)) if len(absent) else absent
        needless = absent.join(missing, on=["model", "passage"], how="anti")
        return findings.uncovered(expected.join(needless, on=["model", "passage"], how="anti"), present)
    passages_of_run = _passages(subject)
    selected = subject.warehouse.read("selection", passages_of_run, ["passage", "selected"]).filter("selected")
    passages = subject.warehouse.read("source_text", passages_of_run, ["passage", "corpus"]).join(
        selected, on="passage", how="semi"
    )
    corpora = present.join(passages, on="passage").select("model", "corpus").unique()
    limits = limited_passages(subject.warehouse)
    limited = corpora.join(limits.select("model", CORPUS).unique(), on=["model", "corpus"], how="semi")
    complete = corpora.join(limited, on=["model", "corpus"], how="anti").join(passages, on="corpus")
    chosen = limits.with_columns(CORPUS).join(limited, on=["model", "corpus"], how="semi")
    expected = pl.concat([rows.select("model", "passage") for rows in (complete, chosen)])
    if subject.partitions is not None:
        expected = expected.join(subject.partitions, on=["model", "passage"], how="semi")
    return findings.uncovered(expected, present)


def refusals(subject: Subject) -> pl.DataFrame:
    """No model refused so many passages that its averages come from a biased selection."""
    keys = ["model", "passage"]
    outputs, refused = (subject.warehouse.read(table, columns=keys) for table in ("model_output", "refusal"))
    return findings.refusals(outputs, refused)


def one_version(subject: Subject) -> pl.DataFrame:
    """All outputs of a model come from the same served version, as far as replies name a version."""
    outputs = subject.warehouse.read(CALLS, pl.DataFrame({"study": [subject.name]}), ["model", "call"])
    calls = subject.provider.ledger.attempts().select("served_model", call="key")
    return findings.mixed_versions(outputs, calls)


def budget(subject: Subject) -> pl.DataFrame:
    """Spending is well below every cap of the budget."""
    return against_caps(subject.provider.ledger.attempts(), subject.provider.registry(), datetime.now(UTC).date())


def examined(subject: Subject) -> pl.DataFrame:
    """No judge failed its examination, and every verdict is clear."""
    columns = ["judge", "purpose", "aspect", "direction", "verdict", "problem"]
    return findings.not_passed(subject.warehouse.read("judge_report", columns=columns))


def confident(subject: Subject) -> pl.DataFrame:
    """Every document is similar enough to its translation to be aligned, and every passage was found in it."""
    rows = subject.warehouse.read("alignment", subject.partitions, ["passage", "translator", "doubt"])
    return findings.doubts(rows)


def assigned(subject: Subject) -> pl.DataFrame:
    """All text of the continuous translations belongs to a segment."""
    columns = ["passage", "translator", "start_at", "end_at"]
    totals = unassigned_totals(subject.warehouse.read("unassigned", columns=columns))
    prose = subject.warehouse.read("prose", columns=["corpus", "translator", "text"])
    return findings.left_over(totals, prose)


def found(subject: Subject) -> pl.DataFrame:
    """Every aligned text occurs in the translation completely, and in the order of the segments."""
    columns = ["passage", "translator", "segment_id", "stage", "in_order"]
    return findings.not_found(subject.warehouse.read("verification", subject.partitions, columns))


def paired(subject: Subject) -> pl.DataFrame:
    """Every segment of a reference translates the source segment with its id."""
    columns = ["passage", "translator", "segment_id", "kind", "evidence", "accepted"]
    return findings.pairs(subject.warehouse.read("pair_doubt", subject.partitions, columns).filter(~pl.col("accepted")))


def licensed(subject: Subject) -> pl.DataFrame:
    """Every source text and every translation has a licence."""
    warehouse, passages = subject.warehouse, subject.partitions
    texts = [warehouse.read("source_text", passages, ["passage"]).with_columns(translator=pl.lit(""))]
    texts += [
        warehouse.read(table, passages, ["passage", "translator"])
        for table in ("segmented_reference", "continuous_reference")
    ]
    return findings.unlicensed(pl.concat(texts), warehouse.read("licence", columns=["corpus", "translator"]))


def filled(subject: Subject) -> pl.DataFrame:
    """The filters leave at least one passage of every corpus."""
    return findings.emptied(subject.warehouse.read("selection", columns=["passage", "selected"]))


FURTHER: Mapping[str, Mapping[str, Check]] = {
    "source_text": {"licensed": licensed},
    "segmented_reference": {"paired": paired},
    "alignment": {"confident": confident},
    "verification": {"found": found, "assigned": assigned},
    "selection": {"filled": filled},
    "model_output": {"refusals": refusals, "one_version": one_version},
    "model_call": {"budget": budget},
    "judge_report": {"examined": examined},
}
"""Additional checks of single assets, by asset and by name of the check."""
