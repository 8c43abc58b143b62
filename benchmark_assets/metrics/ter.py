"""TER, as sacrebleu computes it against all references."""

import polars as pl

from benchmark_assets.metrics.metric import Metric, Texts
from benchmark_assets.metrics.tokenizers import CHINESE_SIGNATURE, DEFAULT, load
from resources.comet.comet import Comet


def _signature(_: Comet) -> pl.Expr:
    from sacrebleu.metrics.ter import TER

    metric = TER()
    metric.num_refs = -1  # sacrebleu's code for a varying number
    text = pl.lit(f"TER|{metric.get_signature()}")
    cut = pl.concat_str(text, pl.lit("|cut before by "), pl.col("tokenizer").replace("zh", CHINESE_SIGNATURE))
    return pl.when(pl.col("tokenizer") == DEFAULT).then(text).otherwise(cut)


def _scores(texts: Texts, _: Comet) -> pl.DataFrame:
    """Texts without spaces between words are first divided by the tokenizer of BLEU."""
    references = texts.references.group_by("item", maintain_order=True).agg(references="text")
    rows = texts.candidates.join(references, on="item", maintain_order="left")
    from sacrebleu.metrics.ter import TER

    metric = TER()

    def score(text: str, tokenizer: str, others: list[str]) -> float:
        if tokenizer != DEFAULT:
            text, *others = (str(load(tokenizer)(each)) for each in (text, *others))
        return float(metric.sentence_score(text, others).score)

    values = [score(*row) for row in rows.select("text", "tokenizer", "references").iter_rows()]
    return rows.select("item", pl.Series("score", values, dtype=pl.Float64), cut=pl.lit(False))


METRIC = Metric(
    "ter", -1, ("references",), "edits", missing=100.0, score=_scores, signature=_signature,
    label="TER", unit="percentage", least=0, divided=True,
)  # fmt: skip
