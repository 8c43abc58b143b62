"""MetricX-23 and MetricX-24: scores of a fine-tuned mT5; lower is better. This module runs in COMET's environment.

Here: the input format of both versions, loading and scoring. Not here: MetricX-25, whose weights its authors do not
publish (github.com/google-research/metricx, issue 12).
"""

from typing import Any, NamedTuple

import polars as pl

from resources.comet.worker import Fault, Tell, batches, check_device, check_finite, reason, suggestion

FORMATS = {
    "metricx-23": "candidate: {candidate} reference: {reference}",
    "metricx-23-qe": "candidate: {candidate} source: {source}",
    "metricx-24": "source: {source} candidate: {candidate} reference: {reference}",
    "metricx-24-qe": "source: {source} candidate: {candidate}",
}
"""Input of each kind, as in the published inference code (google-research/metricx)."""

LIMITS = {"metricx-23": 1024, "metricx-24": 1536}
"""Maximum number of tokens of an input, as in the examples of the published code."""

SCORE_TOKEN = 250089
"""The token `<extra_id_10>` of mT5, whose logit in the first decoding step is the score."""

WORST = 25.0


class FineTunedModel(NamedTuple):
    """A fine-tuned mT5 and the tokenizer of mT5."""

    network: Any
    tokenizer: Any


def load(checkpoint: str, tokenizer: str, device: str) -> FineTunedModel:
    """Load a checkpoint and a tokenizer; both are folders or names on the hub.

    Raises
    ------
    Fault
        If there is no such device, if the checkpoint or the tokenizer cannot be loaded, or if the checkpoint lacks
        weights or the score token.
    """
    from transformers import AutoTokenizer, MT5ForConditionalGeneration

    check_device(device)
    try:
        network: Any
        loaded: Any
        network, loaded = MT5ForConditionalGeneration.from_pretrained(checkpoint, output_loading_info=True)
    except Exception as error:
        remedy = f"give a folder or a name on the hub, for instance {suggestion('metricx-24').split()[-1]}"
        raise Fault("", f"cannot be loaded ({reason(error)})", remedy) from error
    if loaded["missing_keys"]:
        missing = sorted(loaded["missing_keys"])
        raise Fault("", f"lacks {len(missing)} weights, for instance {missing[0]}", "download it again")
    if network.config.vocab_size <= SCORE_TOKEN:
        raise Fault("", "has no MetricX score token", suggestion("metricx-24"))
    try:
        return FineTunedModel(network.eval().to(device), AutoTokenizer.from_pretrained(tokenizer))
    except Exception as error:
        remedy = "name the mT5 of the checkpoint's size by its folder, or by its name on the hub, such as google/mt5-xl"
        raise Fault("tokenizer", f"cannot be loaded ({reason(error)})", remedy) from error


def score(model: FineTunedModel, rows: pl.DataFrame, kind: str, token_budget: int, tell: Tell) -> pl.DataFrame:
    """Score rows of texts, the longest first.

    Parameters
    ----------
    rows
        The columns named in the format of the kind; no text is empty.

    Returns
    -------
    Columns `score` (in [0, 25]; 0 is best) and `cut` (whether the input was truncated), in the order of the rows.

    Raises
    ------
    Fault
        For a score that is not finite.

    Notes
    -----
    Juraska et al. 2023 and 2024. The end-of-text token is removed from the input, as in training.
    """
    import torch

    limit = LIMITS[kind.removesuffix("-qe")]
    texts = [FORMATS[kind].format(**row) for row in rows.iter_rows(named=True)]
    ids = [tokens[:-1] for tokens in model.tokenizer(texts, truncation=False, verbose=False)["input_ids"]]
    # The published code truncates first and then removes the last token, which truncation keeps: the end-of-text token.
    kept = [tokens[: limit - 1] for tokens in ids]
    scores = [0.0] * len(rows)
    with torch.inference_mode():
        for batch in batches([len(tokens) for tokens in kept], token_budget, "scored", "items", tell):
            longest = max(len(kept[place]) for place in batch)
            tokens, mask = torch.zeros(2, len(batch), longest, dtype=torch.long)
            for row, place in enumerate(batch):
                tokens[row, : len(kept[place])] = torch.tensor(kept[place])
                mask[row, : len(kept[place])] = 1
            device = model.network.device
            output = model.network(
                input_ids=tokens.to(device), attention_mask=mask.to(device),
                decoder_input_ids=torch.zeros(len(batch), 1, dtype=torch.long, device=device),
            )  # fmt: skip
            for place, value in zip(batch, output.logits[:, 0, SCORE_TOKEN].float().tolist(), strict=True):
                scores[place] = value
    check_finite(scores, kind)
    clipped = [min(max(value, 0.0), WORST) for value in scores]
    return pl.DataFrame({"score": clipped, "cut": [len(tokens) >= limit for tokens in ids]})
