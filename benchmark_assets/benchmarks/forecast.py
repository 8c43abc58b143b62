"""Estimates of everything that the evaluation of a model would ask, before anything is asked.

Judges ask about outputs that do not exist yet. A stand-in for the warehouse supposes that each output is as long as a
reference, so that the studies themselves count their questions. Here: the estimates by study. Not
here: which outputs are stale (automation), the estimate of a question (resources.provider.estimate).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.panel import JudgeVotes
from benchmark_assets.benchmarks.parts import Added
from benchmark_assets.benchmarks.supposed import supposing
from benchmark_assets.contamination.memory import MemoryVotes
from benchmark_assets.error_spans.judging import SpanVotes
from benchmark_assets.literary.ensemble import AspectVotes
from benchmark_assets.pairwise.matches import Comparisons
from benchmark_assets.pairwise.rubric import RubricVotes
from benchmark_assets.selection.candidates import selected
from benchmark_assets.translation.systems import Systems
from benchmark_assets.understanding.answers import TaskAnswers
from resources.keys import CORPUS
from resources.provider.estimate import CostEstimate
from resources.provider.registry import Settings
from resources.warehouse import Warehouse

ASKED = (JudgeVotes, SpanVotes, RubricVotes, AspectVotes, Comparisons, MemoryVotes)
"""Studies that ask about outputs, or about the passages of a model that has outputs."""

OUTPUT = ["model", "passage"]


class Forecast(NamedTuple):
    """What a study would ask in the evaluation of a model."""

    model: str
    study: str
    estimate: CostEstimate


def lacking(
    warehouse: Warehouse,
    model: str,
    settings: Settings | None,
    added: Added,
    limits: pl.DataFrame,
    stale: Iterable[str],
) -> list[str]:
    """Passages that the evaluation of a model would translate: those without an output, and `stale` ones.

    `settings` are the model's settings, None for a model with imported outputs, and `limits` the rows of
    `limited_item` that would apply.
    """
    corpora = [name for name in added.corpora if not settings or settings.corpora is None or name in settings.corpora]
    sources = warehouse.read("source_text", pl.DataFrame({"corpus": corpora}, {"corpus": pl.String}), ["passage"])
    wanted = _wanted(warehouse, sources, limits.filter(pl.col("passage") != "", model=model))
    own = pl.DataFrame({"model": [model]})
    stored = {passage for table in ("model_output", "refusal") for passage in warehouse.read(table, own)["passage"]}
    return sorted(set(wanted) & (set(wanted) - stored | set(stale)))


def _wanted(warehouse: Warehouse, sources: pl.DataFrame, chosen: pl.DataFrame) -> list[str]:
    """The selected passages of `sources`, without those that a limit excludes; `chosen` are the passages of limits."""
    limited = chosen.select(CORPUS).to_series().implode()
    within = ~CORPUS.is_in(limited) | pl.col("passage").is_in(chosen["passage"].implode())
    wanted: list[str] = selected(warehouse, sources).filter(within)["passage"].to_list()
    return wanted


def achieved(warehouse: Warehouse, model: str, added: Added) -> str:
    """In words: how many of the passages and samples of a benchmark a model has translated and answered."""
    own, corpora = pl.DataFrame({"model": [model]}), pl.DataFrame({"corpus": added.corpora}, {"corpus": pl.String})
    sources, limits = warehouse.read("source_text", corpora, ["passage"]), warehouse.read("limited_item", own)
    wanted = set(_wanted(warehouse, sources, limits.filter(pl.col("passage") != "")))
    outputs, refused = (
        len(wanted & set(warehouse.read(table, own, ["passage"])["passage"])) for table in ("model_output", "refusal")
    )
    tasks = pl.DataFrame({"task": added.tasks}, {"task": pl.String})
    samples = len(warehouse.read("task_sample", tasks.with_columns(split=pl.lit("test")), ["sample"]))
    answers = warehouse.read("answer", tasks.join(own, how="cross"), ["task", "sample"]).unique()
    parts = [f"{outputs} of {len(wanted)} passages translated", f"{refused} refused"] if wanted else []
    parts += [f"{len(answers)} of {samples} samples answered"] if samples else []
    return f"{model}: {', '.join(parts) or 'nothing to translate or answer'}"


def forecast(
    warehouse: Warehouse, systems: Systems, model: str, passages: Sequence[str], tasks: Sequence[str],
    limits: pl.DataFrame,
) -> list[Forecast]:  # fmt: skip
    """Estimate what each study would ask for new outputs of a model, and for its answers to tasks.

    Studies that would ask nothing are left out. The panel of the audit is assumed to judge every output, although it
    judges only outliers and a sample: its estimate is an upper bound.

    Parameters
    ----------
    passages
        Passages to translate, as `lacking` returns them.
    limits
        The rows of `limited_item` that would apply.
    """
    keys = pl.DataFrame({"passage": passages}, {"passage": pl.String})
    texts = dict(warehouse.read("source_text", keys, ["passage", "text"]).iter_rows())
    outputs = _outputs(warehouse, model, keys, texts)
    triage = outputs.select(OUTPUT).with_columns(queued=True, sampled=False, screened=False)
    tables = {"limited_item": limits, "model_output": outputs, "triage": triage}
    supposed = supposing(warehouse, tables)
    estimates = {"model_output": systems.estimate(model, texts) if texts else None}
    estimates |= {study.name: study(supposed, systems).cost(outputs.select(OUTPUT)) for study in ASKED}
    cells = pl.DataFrame({"model": model, "task": tasks}, {"model": pl.String, "task": pl.String})
    estimates["answer"] = TaskAnswers(supposed, systems).cost(cells)
    return [Forecast(model, study, estimate) for study, estimate in estimates.items() if estimate and estimate.calls]


def _outputs(warehouse: Warehouse, model: str, keys: pl.DataFrame, sources: Mapping[str, str]) -> pl.DataFrame:
    """Supposed outputs of a model: columns of `OUTPUT` and `text`, which is imported, or else a reference, or else the
    source."""
    imported = warehouse.read("imported_output", keys.with_columns(model=pl.lit(model)), ["passage", "text"])
    references = warehouse.read("reference", keys, ["passage", "text", "complete"]).filter("complete")
    texts = {**sources, **dict(references.select("passage", "text").iter_rows()), **dict(imported.iter_rows())}
    rows = [(model, passage, texts[passage]) for passage in keys["passage"]]
    return pl.DataFrame(rows, dict.fromkeys([*OUTPUT, "text"], pl.String), orient="row")
