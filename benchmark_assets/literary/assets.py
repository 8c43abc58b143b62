"""Assets of literary corpora: terms of chunks, comparisons with the human translation, calibration of judges."""

from functools import partial

import dagster as dg
import polars as pl

from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.corpus.units import kinds, kinds_by_model, unit_settings
from benchmark_assets.examination.assets import judge_report, judge_verdict
from benchmark_assets.examination.flags import flagged
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Plots, refresh
from benchmark_assets.literary import adherence, controlled, ensemble
from benchmark_assets.literary.anchored import SIGNATURE as ANCHORED
from benchmark_assets.literary.anchored import anchored_scores
from benchmark_assets.literary.calibration import calibration
from benchmark_assets.literary.exhibits import EXHIBITS, of_scores
from benchmark_assets.literary.extraction import Glossary
from benchmark_assets.literary.pairs import applicable, pairs, passages_of
from benchmark_assets.literary.scores import SIGNATURE
from benchmark_assets.literary.works import with_works
from benchmark_assets.metrics.assets import REFERENCE, SOURCE
from benchmark_assets.metrics.intervals import SIGNATURE as INTERVALS
from benchmark_assets.partitions import BY_PASSAGE, GRID, MODEL, PASSAGE, by_model, partitioned
from benchmark_assets.references.glossary import literary
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.studies.study import contract_settings
from benchmark_assets.translation.assets import model_output
from benchmark_assets.translation.systems import Systems
from resources.digest import digest
from resources.keys import CORPUS
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

glossary = study_asset(Glossary, PASSAGE, "literary", ["source_text", "segmented_reference", "alignment"])


@dg.asset(
    **partitioned(GRID), group_name="literary", code_version="1", kinds={"duckdb"},
    deps=[model_output, dg.AssetDep(glossary, partition_mapping=BY_PASSAGE)],
)  # fmt: skip
def term_adherence(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Presence of the glossary's translations in each output, by term. A refusal contains no term."""

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        outputs = partitions.filter(CORPUS.is_in(list(literary(warehouse))))
        return outputs.select("model", "passage", settings=pl.lit(""))

    def compute(stale: pl.DataFrame) -> Computed:
        return Computed({"term_adherence": adherence.of_outputs(warehouse, stale)})

    return refresh(context, warehouse, compute, settings, sparse=True)


@dg.asset(
    **partitioned(MODEL), group_name="literary", code_version="2", kinds={"duckdb", "numpy"},
    deps=[by_model(term_adherence)],
)  # fmt: skip
def adherence_summary(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Shares of glossary terms that occur in a model's outputs and in the human translation, by corpus."""

    def compute(stale: pl.DataFrame) -> Computed:
        rows = with_works(warehouse.read("term_adherence", stale), warehouse)
        return Computed({"adherence_summary": adherence.summarize(rows)})

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        return unit_settings(warehouse, "term_adherence", partitions, adherence.SIGNATURE)

    return refresh(context, warehouse, compute, settings, EXHIBITS, sparse=True, draw=plots)


aspect_vote = study_asset(
    ensemble.AspectVotes, GRID, "literary",
    [model_output, REFERENCE, SOURCE, judge_verdict, dg.AssetDep(glossary, partition_mapping=BY_PASSAGE)],
)  # fmt: skip


@dg.asset(**partitioned(GRID), group_name="literary", code_version="2", kinds={"duckdb"}, deps=[aspect_vote])
def head_to_head(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """The ensemble's verdict on whether an output or the human translation is better: machine, human or unsure."""
    corpora = literary(warehouse)

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        digests = {
            corpus: digest(section.ensemble, section.margin) for corpus, section in corpora.items() if section.ensemble
        }
        outputs = partitions.filter(CORPUS.is_in(list(digests)))
        return outputs.select(
            "model", "passage", settings=CORPUS.replace_strict(digests, default=None, return_dtype=pl.String)
        )

    def compute(stale: pl.DataFrame) -> Computed:
        rows = [warehouse.empty("head_to_head").drop("fingerprint")]
        for corpus, section in corpora.items():
            rows.append(ensemble.verdicts(warehouse.read("aspect_vote", stale.filter(CORPUS.eq(corpus))), section))
        return Computed({"head_to_head": pl.concat(rows)})

    return refresh(context, warehouse, compute, settings, sparse=True)


@dg.asset(
    **partitioned(MODEL), group_name="literary", code_version="6", kinds={"duckdb", "numpy"},
    deps=[by_model(head_to_head), by_model(aspect_vote), judge_report, "sentinel"],
)  # fmt: skip
def literary_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], systems: dg.ResourceParam[Systems],
    plots: Plots,
) -> dg.Output[None]:  # fmt: skip
    """Score of a model against the human translator of each corpus, over all aspects and by aspect; 50 is parity.

    A model that is no longer registered keeps its scores, under the contract that was valid when they were computed. If
    an ensemble has a judge that is no longer registered, each model judged by this ensemble keeps all its scores.
    Scores from seats that failed their examination are null.
    """
    corpora, contracts = literary(warehouse), _contracts(warehouse, systems.provider)
    signature, languages = f"{SIGNATURE}; {controlled.SIGNATURE}", corpus_languages(warehouse)

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        verdicts = warehouse.read("head_to_head", partitions.select("model"), ["model", "passage"])
        contracts_of = contract_settings(systems, verdicts.select("model", CORPUS), contracts)
        return contracts_of.join(kinds_by_model(warehouse, verdicts), on="model").select(
            "model", settings=pl.format("{} {} {}", pl.lit(signature), "settings", "units")
        )

    def compute(stale: pl.DataFrame) -> Computed:
        rows = [warehouse.empty("literary_score").drop("fingerprint")]
        tables = [warehouse.read(table, stale) for table in ("head_to_head", "aspect_vote")]
        for corpus, contract in contracts.items():
            if contract is None:
                continue
            verdicts, votes = (table.filter(CORPUS.eq(corpus)) for table in tables)
            works = with_works(votes.select("passage").unique(), warehouse)
            direction = pl.DataFrame({"purpose": ["aspect_vote"], "direction": ["-".join(languages[corpus])]})
            sentinels = warehouse.read("sentinel", direction)
            ratios = controlled.log_ratios(warehouse, votes, corpora[corpus].human)
            rows.append(controlled.bounded_scores(
                verdicts, votes, works, corpora[corpus], contract, ratios, sentinels
            ))  # fmt: skip
        scored, standings = pl.concat(rows), ensemble.of_ensembles(warehouse)
        of_rows = [standings[key] for key in scored.select("corpus", "aspect").iter_rows()]
        return Computed({"literary_score": flagged(scored, "literary_score", of_rows, kept=["length_coefficient"])})

    describe = partial(of_scores, warehouse)
    return refresh(context, warehouse, compute, settings, describe, sparse=True, partial=True, draw=plots)


@dg.asset(
    group_name="literary", code_version="6", kinds={"duckdb", "numpy"}, deps=[aspect_vote],
    metadata={"tables": ["anchored_score"]},
)  # fmt: skip
def ensemble_calibration(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], provider: dg.ResourceParam[Provider],
    plots: Plots,
) -> dg.Output[None]:  # fmt: skip
    """Agreement of seats and ensembles with decisive verdicts of people, and the best weights of the seats. Also
    the scores of models, estimated from verdicts of people and of the ensemble."""
    corpora, contracts, labels = literary(warehouse), _contracts(warehouse, provider), applicable(warehouse)

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        complete = None not in contracts.values()  # otherwise stored rows are kept
        units = kinds(warehouse)
        kinds_of = [units.get(corpus) for corpus in sorted(contracts)]
        determinants = INTERVALS, ANCHORED, sorted(contracts.items()), kinds_of, labels.rows()
        signature = digest(*determinants) if complete else None
        applicable_partitions = partitions.clear() if labels.is_empty() else partitions
        return applicable_partitions.with_columns(settings=pl.lit(signature, pl.String))

    def compute(_: pl.DataFrame) -> Computed:
        tables = ("ensemble_calibration", "anchored_score")
        rows, estimates = ([warehouse.empty(table).drop("fingerprint")] for table in tables)
        every_vote = warehouse.read("aspect_vote")
        for corpus, contract in contracts.items():
            section, corpus_labels = corpora[corpus], labels.filter(CORPUS.eq(corpus))
            shown, votes = pairs(warehouse, {corpus: section}), every_vote.filter(CORPUS.eq(corpus))
            works = with_works(passages_of(shown), warehouse)
            labeled = votes.join(corpus_labels, on=["model", "passage"], how="semi")
            rows.append(calibration(corpus, section, labeled, corpus_labels, works, contract or ""))
            points = ensemble.verdicts(votes, section)
            estimates.append(anchored_scores(shown, points, corpus_labels, works, contract or ""))
        return Computed(dict(zip(tables, map(pl.concat, (rows, estimates)), strict=True)))

    return refresh(context, warehouse, compute, settings, EXHIBITS, sparse=True, draw=plots)


def _contracts(warehouse: Warehouse, provider: Provider) -> dict[str, str | None]:
    """Contracts of the scores (see `ensemble.contract`) by corpus, for corpora that have an ensemble.

    A contract is None if a judge of the ensemble is no longer in the registry.
    """
    sections = literary(warehouse)
    return {corpus: ensemble.contract(section, provider) for corpus, section in sections.items() if section.ensemble}
