"""Small COMET checkpoints, and what COMET itself makes of them: a program for COMET's environment.

    python -m tests.comet_checkpoints FOLDER TRIPLES

It makes checkpoints in FOLDER, good and bad ones, in the form in which they are published, and writes what it finds to
FOLDER/found.json: `predicted` (the library's `predict`, one call a reference, of the triples in the Parquet file
TRIPLES), `encoded` (how many texts it encoded for that, and how many the worker), `scores` (the worker's, by token
budget) and `faults` (what the worker says of the bad ones).
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import polars as pl
import torch
from comet.models import RegressionMetric, load_from_checkpoint  # type: ignore[import-not-found]
from pytorch_lightning import Trainer  # type: ignore[import-not-found]
from pytorch_lightning.core.saving import save_hparams_to_yaml  # type: ignore[import-not-found]
from tokenizers import Tokenizer
from tokenizers.models import Unigram
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.processors import TemplateProcessing
from transformers import XLMRobertaConfig, XLMRobertaTokenizerFast

from resources.comet import worker

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,'"
READ = 60  # tokens; two of them mark beginning and end


def build(
    folder: Path, width: int = 16, layers: int = 2, read: int = READ, metric: Any = RegressionMetric, **settings: Any
) -> Path:
    """A metric, by default a regression metric, over an XLM-R whose tokens are letters; return its checkpoint."""
    torch.manual_seed(1)
    marks = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = [(token, -1.0) for token in [*marks, "▁", *LETTERS]]
    tokenizer = Tokenizer(Unigram(vocabulary, unk_id=3))
    tokenizer.pre_tokenizer = Metaspace()
    tokenizer.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    encoder = folder / "encoder"
    XLMRobertaTokenizerFast(tokenizer_object=tokenizer).save_pretrained(encoder)
    XLMRobertaConfig(
        vocab_size=len(vocabulary), hidden_size=width, num_hidden_layers=layers, num_attention_heads=4,
        intermediate_size=4 * width, max_position_embeddings=read + 4, type_vocab_size=1,
        initializer_range=1.2 / width**0.5,
    ).save_pretrained(encoder)  # fmt: skip
    model = metric(
        pretrained_model=str(encoder), load_pretrained_weights=False, hidden_sizes=[2 * width, width], **settings
    )
    trainer = Trainer(logger=False, accelerator="cpu")
    trainer.strategy.connect(model)
    path = folder / "checkpoints" / "model.ckpt"
    trainer.save_checkpoint(path, weights_only=True)
    save_hparams_to_yaml(str(folder / "hparams.yaml"), model.hparams)
    return path


class Encodes:
    """Counts the texts that a model's encoder is given."""

    def __init__(self, model: Any) -> None:
        self.count = 0
        model.encoder.register_forward_pre_hook(self._count)

    def _count(self, _: Any, given: tuple[torch.Tensor, ...]) -> None:
        self.count += len(given[0])


def predicted(model: Any, triples: pl.DataFrame) -> list[float]:
    """What the library itself makes of triples: one call for the first reference of each candidate, one for the
    second, …"""
    numbered = triples.with_row_index("at").with_columns(
        call=pl.int_range(pl.len()).over("source", "candidate", order_by="at")
    )
    scores = [0.0] * len(triples)
    for (_,), part in numbered.group_by(["call"], maintain_order=True):
        samples = part.select(src="source", mt="candidate", ref="reference").to_dicts()
        found = model.predict(samples, gpus=0, progress_bar=False, num_workers=0)["scores"]
        for at, score in zip(part["at"], found, strict=True):
            scores[at] = score
    return scores


def damaged(good: Path, folder: Path) -> dict[str, Path]:
    """Copies of a checkpoint that load and should not, or do not."""
    bad = {name: folder / name / "checkpoints" / "model.ckpt" for name in ("torn", "no weights", "not finite")}
    content = torch.load(good, weights_only=True)
    weights = content["state_dict"]
    for path in bad.values():
        shutil.copytree(good.parents[1], path.parents[1])
    bad["torn"].write_bytes(good.read_bytes()[:5000])
    part = {name: value for name, value in weights.items() if not name.startswith("estimator")}
    torch.save(content | {"state_dict": part}, bad["no weights"])
    torch.save(content | {"state_dict": {name: value / 0 for name, value in weights.items()}}, bad["not finite"])
    return bad


def fault(path: Path, device: str, triples: pl.DataFrame) -> list[str] | None:
    try:
        worker.score(worker.load(str(path), device), triples, 2048, lambda _: None)
    except worker.Fault as found:
        return list(found.args)
    return None


def main(folder: Path, triples: pl.DataFrame) -> None:
    good = build(folder / "good")
    model = load_from_checkpoint(str(good))
    encodes = Encodes(model)
    of_predict = predicted(model, triples)
    by_predict, encodes.count = encodes.count, 0
    scored = {budget: worker.score(model, triples, budget, lambda _: None) for budget in (1, 100, 2048)}
    bad = damaged(good, folder)
    found = {
        "predicted": of_predict,
        "encoded": {"predict": by_predict, "worker": encodes.count // len(scored)},
        "scores": {budget: rows["score"].to_list() for budget, rows in scored.items()},
        "faults": {
            "no GPU": fault(good, "cuda", triples),
            **{name: fault(path, "cpu", triples) for name, path in bad.items()},
        },
    }
    (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), pl.read_parquet(sys.argv[2]))
