"""How long COMET's `predict` takes and how long the worker: a program for COMET's environment.

    python -m tests.comet_bench FOLDER WIDTH LAYERS PASSAGES SYSTEMS REFERENCES

It makes a checkpoint in FOLDER and prints, as JSON: `parameters`, `texts`, `tokens` (mean of a text), and of `predict`
(one call a reference, as the library has it) and of the worker: `encoded` texts and `seconds` of the processor, which
other processes do not change much; `difference` is the greatest of any score.
"""

import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
from comet.models import load_from_checkpoint  # type: ignore[import-not-found]

from resources.comet import worker
from tests.comet_checkpoints import LETTERS, Encodes, build, predicted

READ = 508  # tokens, as XLM-R under COMET


def corpus(passages: int, systems: int, references: int) -> pl.DataFrame:
    """Triples of texts of 30 to 400 letters; those of a passage are of about the same length."""
    chance = random.Random(1)

    def text(length: int) -> str:
        letters = chance.choices(LETTERS + " " * 10, k=round(length * chance.uniform(0.8, 1.2)))
        return "".join(letters).strip()

    rows = []
    for _ in range(passages):
        length = chance.randint(38, 330)
        source, own, outputs = text(length), [text(length) for _ in range(references)], range(systems)
        rows += [(source, output, each) for output in [text(length) for _ in outputs] for each in own]
    return pl.DataFrame(rows, schema=worker.TRIPLE, orient="row")


def main(folder: Path, width: int, layers: int, passages: int, systems: int, references: int) -> None:
    model = load_from_checkpoint(str(build(folder, width, layers, READ)))
    triples = corpus(passages, systems, references)
    texts = pl.concat([triples[name].alias("text") for name in worker.TRIPLE]).unique()
    predicted(model, triples.head(systems * references))  # what is slow the first time
    ways: dict[str, Callable[[], list[float]]] = {
        "predict": lambda: predicted(model, triples),
        "worker": lambda: worker.score(model, triples, 2048, lambda _: None)["score"].to_list(),
    }
    encodes, scores, took = Encodes(model), [], {}
    for name, score in ways.items():
        encodes.count, begun = 0, time.process_time()
        scores.append(score())
        took[name] = {"seconds": time.process_time() - begun, "encoded": encodes.count}
    found = {
        **took,
        "parameters": sum(each.numel() for each in model.parameters()),
        "texts": len(texts),
        "tokens": sum(map(len, model.encoder.tokenizer(texts.to_list())["input_ids"])) / len(texts),
        "difference": max(abs(a - b) for a, b in zip(*scores, strict=True)),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
