"""Scores of reference-free and unified COMET checkpoints, which are not plain regression metrics.

Here: running the library's own `predict_step` on batches, and the error spans of xCOMET. Not here: loading (worker).
This module runs in COMET's environment.
"""

from typing import Any

import polars as pl

from resources.comet.worker import PAIR, TRIPLE, Tell, batches, check_finite

NAMES = {"source": "src", "candidate": "mt", "reference": "ref"}
"""The library's names of the columns."""

ERROR = {"start": pl.Int64, "end": pl.Int64, "severity": pl.String, "confidence": pl.Float64}


def score(model: Any, rows: pl.DataFrame, kind: str, token_budget: int, tell: Tell) -> pl.DataFrame:
    """Score rows of texts, the longest first.

    Parameters
    ----------
    rows
        Columns `source` and `candidate` and, for the kind xcomet, `reference`; no text is empty.

    Returns
    -------
    Columns `score`, `cut` (whether texts exceeded the length that the checkpoint reads) and, for the kind xcomet,
    `spans`: the errors in the candidate, in the order of the text, with the character offsets `start` and `end`
    (exclusive). The results are in the order of the rows.

    Raises
    ------
    Fault
        For a score that is not finite.
    """
    import torch

    texts = rows.select(PAIR if kind == "kiwi" else TRIPLE).rename(NAMES, strict=False)
    encoder = model.encoder
    lengths = [
        [len(ids) for ids in encoder.tokenizer(texts[name].to_list(), truncation=False, verbose=False)["input_ids"]]
        for name in texts.columns
    ]
    separate = model.hparams.class_identifier == "referenceless_regression_metric"
    total = [(max if separate else sum)(row) for row in zip(*lengths, strict=True)]
    limit = encoder.max_positions - 2 if separate else encoder.max_positions
    samples, scores = texts.to_dicts(), [0.0] * len(texts)
    spans: list[list[dict[str, object]]] = [[] for _ in range(len(texts))]
    with torch.inference_mode():
        for batch in batches([min(length, limit) for length in total], token_budget, "scored", "items", tell):
            inputs = model.prepare_sample([samples[place] for place in batch], stage="predict")
            found = model.predict_step(_moved(inputs, model.device))
            for place, value in zip(batch, found["scores"].tolist(), strict=True):
                scores[place] = value
            for place, errors in zip(batch, found.get("metadata", {}).get("error_spans", ()), strict=False):
                spans[place] = [{name: error[name] for name in ERROR} for error in errors]
    check_finite(scores, kind)
    frame = pl.DataFrame({"score": scores, "cut": [length > limit for length in total]})
    return frame.with_columns(pl.Series("spans", spans, dtype=pl.List(pl.Struct(ERROR)))) if kind == "xcomet" else frame


def _moved(inputs: Any, device: Any) -> Any:
    """Move the tensors of a batch to a device; token offsets, which are lists, stay as they are."""
    if isinstance(inputs, tuple | list):
        return tuple(_moved(part, device) for part in inputs)
    return {name: value.to(device) if hasattr(value, "to") else value for name, value in inputs.items()}
