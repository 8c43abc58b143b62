"""Small checkpoints of reference-free and unified COMET and of MetricX, and their scores: a program for COMET's
environment.

    python -m tests.metric_checkpoints FOLDER ROWS

It makes checkpoints in FOLDER and writes, for the texts in the Parquet file ROWS, FOLDER/found.json: by checkpoint, the
library's `predict` (COMET), or one item at a time without padding (MetricX): `scores`, and `spans` as tuples.
"""

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import torch
from comet.models import (  # type: ignore[import-not-found]
    ReferencelessRegression,
    UnifiedMetric,
    XCOMETMetric,
    load_from_checkpoint,
)
from tokenizers import Tokenizer
from tokenizers.models import Unigram
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.processors import TemplateProcessing
from transformers import MT5Config, MT5ForConditionalGeneration, T5TokenizerFast

from resources.comet.metricx import FORMATS, SCORE_TOKEN
from tests.comet_checkpoints import LETTERS, build

READ = 160  # tokens: enough for three short texts
UNIFIED: dict[str, Any] = {"layer_norm": False, "sent_layer": "mix", "word_layer": 2}


def build_metricx(folder: Path, width: int = 8, layers: int = 2) -> None:
    """An mT5, by default of 8 dimensions, with a vocabulary that has the score token, and a tokenizer of letters."""
    torch.manual_seed(4)
    vocabulary = [(token, -1.0) for token in ["<pad>", "</s>", "<unk>", "▁", ":", *LETTERS]]
    tokenizer = Tokenizer(Unigram(vocabulary, unk_id=2))
    tokenizer.pre_tokenizer = Metaspace()
    tokenizer.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    T5TokenizerFast(tokenizer_object=tokenizer, extra_ids=0).save_pretrained(folder)
    heads = max(2, width // 64)
    network = MT5ForConditionalGeneration(
        MT5Config(
            vocab_size=SCORE_TOKEN + 11, d_model=width, d_kv=width // heads, d_ff=2 * width, num_layers=layers,
            num_heads=heads, tie_word_embeddings=False,
        )
    )  # fmt: skip
    with torch.no_grad():  # spread the scores over the range and beyond
        network.lm_head.weight[SCORE_TOKEN] = torch.randn(width) * 4 * (8 / width) ** 0.5
    network.save_pretrained(folder)


def stock_metricx(folder: Path, device: str = "cpu") -> tuple[Any, Any]:
    """The network and the tokenizer, as transformers loads them."""
    network: Any = MT5ForConditionalGeneration.from_pretrained(folder)
    return network.to(device), T5TokenizerFast.from_pretrained(folder)


def metricx_scores(loaded: tuple[Any, Any], kind: str, rows: pl.DataFrame) -> list[float]:
    """Scores of single items, as the published inference computes them from the parts of the network."""
    network, tokenizer = loaded
    device = network.device
    limit = 1024 if "23" in kind else 1536
    found = []
    for row in rows.iter_rows(named=True):
        text = FORMATS[kind].format(**row)
        ids = torch.tensor([tokenizer(text, max_length=limit, truncation=True)["input_ids"][:-1]], device=device)
        with torch.no_grad():
            encoded = network.encoder(input_ids=ids)[0]
            decoded = network.decoder(input_ids=torch.tensor([[0]], device=device), encoder_hidden_states=encoded)[0]
            found.append(torch.clamp(network.lm_head(decoded)[0, 0, SCORE_TOKEN], 0, 25).item())
    return found


def comet_scores(path: Path, rows: pl.DataFrame) -> dict[str, Any]:
    """What the library's `predict` returns for the rows."""
    model = load_from_checkpoint(str(path))
    names = {"source": "src", "candidate": "mt", "reference": "ref"}
    texts = rows.select("source", "candidate") if "kiwi" in str(path) else rows
    found = model.predict(texts.rename(names, strict=False).to_dicts(), gpus=0, progress_bar=False, num_workers=0)
    spans = found.metadata.error_spans if "xcomet" in str(path) else []
    return {
        "scores": found.scores,
        "spans": [[[each[key] for key in ("start", "end", "severity")] for each in errors] for errors in spans],
    }


def main(folder: Path, rows: pl.DataFrame) -> None:
    paths = {
        "kiwi": build(folder / "kiwi", read=READ, metric=UnifiedMetric, input_segments=["mt", "src"], **UNIFIED),
        "old kiwi": build(folder / "old kiwi", read=READ, metric=ReferencelessRegression),
        "xcomet": build(folder / "xcomet", read=READ, metric=XCOMETMetric, encoder_model="XLM-RoBERTa", **UNIFIED),
    }
    found = {name: comet_scores(path, rows) for name, path in paths.items()}
    build_metricx(folder / "metricx")
    stock = stock_metricx(folder / "metricx")
    found |= {kind: {"scores": metricx_scores(stock, kind, rows)} for kind in FORMATS}
    (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), pl.read_parquet(sys.argv[2]))
