"""Assets of literary corpora: terms of chunks, comparisons with the human translation, calibration of judges."""

import dagster as dg
import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Plots, refresh
from benchmark_assets.literary import adherence, ensemble, readings
from benchmark_assets.literary.calibration import SIGNATURE as INTERVALS
from benchmark_assets.literary.calibration import calibration
from benchmark_assets.literary.extraction import Glossary
from benchmark_assets.literary.pairs import applicable
from benchmark_assets.literary.scores import SIGNATURE, WORK, scores
from benchmark_assets.metrics.assets import REFERENCE, SOURCE
from benchmark_assets.partitions import BY_MODEL, BY_PASSAGE, GRID, MODEL, PASSAGE, SINGLE_RUN
from benchmark_assets.references.glossary import literary
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.translation.assets import model_output
from benchmark_assets.translation.systems import Systems
from resources.digest import digest
from resources.keys import CORPUS
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

ENGLISH = "en"


glossary = study_asset(Glossary, PASSAGE, "literary", ["source_text", "segmented_reference", "alignment"])


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="literary", code_version="1", kinds={"duckdb"},
    deps=[model_output, dg.AssetDep(glossary, partition_mapping=BY_PASSAGE)],
)  # fmt: skip
def term_adherence(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Whether an output contains the translations of its chunk's terms, and gender agreement of pronouns near them.

    A refusal contains none of the terms.
    """

    def settings(asked: pl.DataFrame) -> pl.DataFrame:
        outputs = asked.filter(CORPUS.is_in(list(literary(warehouse))))
        language = pl.when(CORPUS.is_in(english())).then(pl.lit(ENGLISH)).otherwise(pl.lit(""))
        return outputs.select("model", "passage", settings=language)

    def english() -> list[str]:
        """Corpora whose outputs are in English."""
        corpora = warehouse.read("corpus", columns=["corpus", "target_language"])
        return [name for name, language in corpora.iter_rows() if language.partition("-")[0] == ENGLISH]

    def compute(due: pl.DataFrame) -> Computed:
        return Computed({"term_adherence": adherence.of_outputs(warehouse, due, english())})

    return refresh(context, warehouse, compute, settings, sparse=True)


@dg.asset(
    partitions_def=MODEL, backfill_policy=SINGLE_RUN, group_name="literary", code_version="1",
    kinds={"duckdb", "numpy"}, deps=[dg.AssetDep(term_adherence, partition_mapping=BY_MODEL)],
)  # fmt: skip
def adherence_summary(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Shares of terms in a model's outputs and in the human translation, by corpus; gender agreement of pronouns."""

    def compute(due: pl.DataFrame) -> Computed:
        return Computed({"adherence_summary": adherence.summarize(warehouse.read("term_adherence", due))})

    return refresh(
        context, warehouse, compute, adherence.SIGNATURE, lambda: readings.of_adherence(warehouse), sparse=True,
        draw=plots,
    )  # fmt: skip


aspect_vote = study_asset(
    ensemble.AspectVotes, GRID, "literary",
    [model_output, REFERENCE, SOURCE, dg.AssetDep(glossary, partition_mapping=BY_PASSAGE)],
)  # fmt: skip


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="literary", code_version="1", kinds={"duckdb"},
    deps=[aspect_vote],
)  # fmt: skip
def head_to_head(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """The ensemble's verdict on an output against the human translation: machine, human or unsure."""
    corpora = literary(warehouse)

    def settings(asked: pl.DataFrame) -> pl.DataFrame:
        words = {
            corpus: digest(described.ensemble, described.margin)
            for corpus, described in corpora.items() if described.ensemble
        }  # fmt: skip
        outputs = asked.filter(CORPUS.is_in(list(words))).select("model", "passage", CORPUS)
        return outputs.select(
            "model", "passage", settings=pl.col("corpus").replace_strict(words, default=None, return_dtype=pl.String)
        )

    def compute(due: pl.DataFrame) -> Computed:
        rows = [warehouse.empty("head_to_head").drop("fingerprint")]
        for corpus, described in corpora.items():
            rows.append(ensemble.verdicts(warehouse.read("aspect_vote", due.filter(CORPUS.eq(corpus))), described))
        return Computed({"head_to_head": pl.concat(rows)})

    return refresh(context, warehouse, compute, settings, sparse=True)


@dg.asset(
    partitions_def=MODEL, backfill_policy=SINGLE_RUN, group_name="literary", code_version="1",
    kinds={"duckdb", "numpy"},
    deps=[dg.AssetDep(each, partition_mapping=BY_MODEL) for each in (head_to_head, aspect_vote)],
)  # fmt: skip
def literary_score(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], systems: dg.ResourceParam[Systems],
    plots: Plots,
) -> dg.Output[None]:  # fmt: skip
    """Score of a model against the human translators of each corpus, over all aspects and by aspect; 50 is parity.

    Scores of models that are no longer registered stay as they are, with their contract. So do scores on a corpus whose
    ensemble has a judge that is no longer in the registry.
    """
    corpora, contracts = literary(warehouse), _contracts(warehouse, systems.provider)

    def settings(asked: pl.DataFrame) -> pl.DataFrame:
        judged = warehouse.read("head_to_head", asked.select("model"), ["model", "passage"])
        words = pl.col("corpus").replace_strict(contracts, default="", return_dtype=pl.String)
        together = pl.when(~words.has_nulls()).then(words.str.join("\n"))
        models = judged.select("model", CORPUS).unique().sort("model", "corpus").group_by("model").agg(together)
        registered = pl.col("model").is_in(list(systems.known(models["model"])))
        return models.select(
            "model", settings=pl.when(registered).then(pl.format("{} {}", pl.lit(SIGNATURE), "corpus"))
        )

    def compute(due: pl.DataFrame) -> Computed:
        rows = [warehouse.empty("literary_score").drop("fingerprint")]
        verdicts, votes = warehouse.read("head_to_head", due), warehouse.read("aspect_vote", due)
        for corpus, contract in contracts.items():
            if contract is None:
                continue
            judged, cast = (rows_of.filter(CORPUS.eq(corpus)) for rows_of in (verdicts, votes))
            documents = warehouse.read("source_text", cast.select("passage"), ["passage", "document"])
            rows.append(scores(judged, cast, documents.select("passage", WORK), corpora[corpus], contract))
        return Computed({"literary_score": pl.concat(rows)})

    return refresh(
        context, warehouse, compute, settings, lambda: readings.of_scores(warehouse), sparse=True,
        draw=plots,
    )  # fmt: skip


@dg.asset(group_name="literary", code_version="1", kinds={"duckdb", "numpy"}, deps=[aspect_vote])
def ensemble_calibration(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], provider: dg.ResourceParam[Provider],
    plots: Plots,
) -> dg.Output[None]:  # fmt: skip
    """Agreement of seats and ensembles with people's decisive verdicts, and the best weights of the seats."""
    corpora, contracts, labels = literary(warehouse), _contracts(warehouse, provider), applicable(warehouse)

    def settings(asked: pl.DataFrame) -> pl.DataFrame:
        complete = None not in contracts.values()  # without this, stored rows stay
        words = digest(INTERVALS, sorted(contracts.items()), labels.rows()) if complete else None
        return (asked.clear() if labels.is_empty() else asked).with_columns(settings=pl.lit(words, pl.String))

    def compute(_: pl.DataFrame) -> Computed:
        rows = [warehouse.empty("ensemble_calibration").drop("fingerprint")]
        for corpus, contract in contracts.items():
            of_corpus = labels.filter(CORPUS.eq(corpus))
            votes = warehouse.read("aspect_vote", of_corpus.select("model", "passage"))
            rows.append(calibration(corpus, corpora[corpus], votes, of_corpus, contract or ""))
        return Computed({"ensemble_calibration": pl.concat(rows)})

    return refresh(
        context, warehouse, compute, settings, lambda: readings.of_calibration(warehouse), sparse=True,
        draw=plots,
    )  # fmt: skip


def _contracts(warehouse: Warehouse, provider: Provider) -> dict[str, str | None]:
    """The contract of each corpus with an ensemble; None if one of its judges is no longer in the registry."""
    corpora = literary(warehouse)
    return {corpus: ensemble.contract(own, provider) for corpus, own in corpora.items() if own.ensemble}
