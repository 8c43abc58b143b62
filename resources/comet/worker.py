"""COMET worker: scores triples of texts with a checkpoint, in COMET's environment. The resource `Comet` starts it.

Here: loading a COMET checkpoint, encoding, scoring with a regression metric. Not here: other kinds of COMET checkpoints
(joint), MetricX (metricx), choosing triples, using scores. These three modules import no other module of the project,
because the project's dependencies are not installed in COMET's environment.

    python -I worker.py KIND CHECKPOINT TOKENIZER DEVICE TOKEN_BUDGET VERSION TEXTS RESULTS

TEXTS and RESULTS are file descriptors of the Parquet input and output. The worker exits as soon as its standard input
closes. The resource keeps standard input open, so the worker ends with the run that started it, however that run ends.
Standard output receives one JSON object per line: {"progress": …} or, before exit code 1, {"fault": [key, problem,
remedy]}.
"""

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    import torch

TRIPLE = ["source", "candidate", "reference"]
PAIR = ["source", "candidate"]
CLASSES = {
    "comet": ("regression_metric",),
    "kiwi": ("referenceless_regression_metric", "unified_metric"),
    "xcomet": ("unified_metric", "xcomet_metric"),
}
"""Classes of COMET checkpoints by kind of metric."""

EXAMPLES = {
    "comet": "Unbabel/wmt22-comet-da", "kiwi": "Unbabel/wmt22-cometkiwi-da", "xcomet": "Unbabel/XCOMET-XL",
    "metricx-23": "google/metricx-23-xl-v2p0", "metricx-23-qe": "google/metricx-23-qe-xl-v2p0",
    "metricx-24": "google/metricx-24-hybrid-large-v2p6", "metricx-24-qe": "google/metricx-24-hybrid-large-v2p6",
}  # fmt: skip
"""A published checkpoint for each kind of metric."""

EVERY = 10.0  # seconds between progress messages; each becomes an event in the run's log
SCORED_AT_ONCE = 4096  # triples; the estimator reads six vectors per triple

Tell = Callable[[str], None]


class Fault(Exception):  # noqa: N818 - becomes a resources.errors.BadInput
    """An error that a user can correct, with the faulty setting ('' if there is none), the problem and the remedy."""

    def __init__(self, key: str, problem: str, remedy: str) -> None:
        super().__init__(key, problem, remedy)


def load(checkpoint: str, device: str, kind: str = "comet") -> Any:
    """Load a COMET checkpoint's model onto a device.

    Parameters
    ----------
    checkpoint
        Path that ends in `.ckpt`, or name on the hub.
    device
        `cpu` or `cuda`.
    kind
        One of `CLASSES`.

    Raises
    ------
    Fault
        If there is no such device or checkpoint, or the checkpoint is of another kind, lacks weights or cannot be
        loaded.
    """
    path = Path(checkpoint) if checkpoint.endswith(".ckpt") else _fetched(checkpoint)
    _check_kind(path, kind)  # before importing torch and COMET, which takes seconds
    import torch
    from comet import load_from_checkpoint  # type: ignore[import-not-found]

    check_device(device)
    try:
        model = load_from_checkpoint(str(path))
        weights = torch.load(path, map_location="cpu", mmap=True, weights_only=True)["state_dict"]
    except Exception as error:
        remedy = "check the file, and the model named in its hparams.yaml"
        raise Fault("", f"cannot be loaded ({reason(error)})", remedy) from error
    # The library silently initializes missing weights at random.
    missing = [name for name, _ in model.named_parameters() if name not in weights]
    if missing:
        raise Fault("", f"lacks {len(missing)} weights, for instance {missing[0]}", "download it again")
    return model.eval().to(device)


def check_device(device: str) -> None:
    """Raise a Fault if there is no such device."""
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise Fault("device", "torch finds no CUDA device", "set `device: cpu`")


def score(model: Any, triples: pl.DataFrame, token_budget: int, tell: Tell) -> pl.DataFrame:
    """Score triples. Each distinct text is encoded once.

    Parameters
    ----------
    triples
        Columns `source`, `candidate` and `reference`, without empty texts.
    token_budget
        Maximum number of tokens in a batch, including padding.
    tell
        Function that reports a progress message.

    Returns
    -------
    Columns `score` and `cut` (whether one of the three texts was truncated), in the order of the triples.

    Raises
    ------
    Fault
        For a score that is not finite.

    Notes
    -----
    A regression metric computes a score from three sentence embeddings. Each embedding depends on its text only (Rei et
    al. 2020, section 2.3).
    """
    import torch

    texts = pl.concat([triples[name].alias("text") for name in TRIPLE]).unique(maintain_order=True)
    rows = {text: row for row, text in enumerate(texts)}
    indices = torch.tensor([[rows[text] for text in triples[name]] for name in TRIPLE])  # shape (3, triples)
    tell(f"{len(triples):,} triples of {len(rows):,} distinct texts")
    with torch.inference_mode():
        vectors, cut = embed(model, list(rows), token_budget, tell)
        parts = [
            model.estimate(*vectors[indices[:, first : first + SCORED_AT_ONCE]])["score"].cpu()
            for first in range(0, len(triples), SCORED_AT_ONCE)
        ]
    scores = torch.cat(parts).double().tolist()
    check_finite(scores, "comet")
    return pl.DataFrame({"score": scores, "cut": torch.tensor(cut)[indices].any(dim=0).tolist()})


def embed(model: Any, texts: Sequence[str], token_budget: int, tell: Tell) -> "tuple[torch.Tensor, list[bool]]":
    """Sentence embeddings, shape (texts, dimensions), and whether each text was truncated.

    The longest texts are encoded first, so that a lack of memory shows at the start.
    """
    import torch

    encoder, device = model.encoder, model.device
    limit = encoder.max_positions - 2  # the length to which the library truncates
    lengths = [len(ids) for ids in encoder.tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]]
    vectors = torch.empty(len(texts), encoder.output_units, device=device)
    for batch in batches([min(length, limit) for length in lengths], token_budget, "encoded", "texts", tell):
        tokens = encoder.prepare_sample([texts[place] for place in batch]).to(device)
        vectors[batch] = model.get_sentence_embedding(tokens["input_ids"], tokens["attention_mask"]).float()
    return vectors, [length > limit for length in lengths]


def batches(lengths: Sequence[int], budget: int, done: str, items: str, tell: Tell) -> Iterator[list[int]]:
    """Yield batches of positions, longest text first.

    A batch has at most `budget` tokens, including padding. A text with more tokens is a batch of its own.

    Between batches, `tell` reports the progress as '<done> 10 of 20 <items>'.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    reported, start = time.monotonic(), 0
    while start < len(order):
        size = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start = min(start + size, len(order))
        if time.monotonic() - reported > EVERY or start == len(order):
            tell(f"{done} {start:,} of {len(order):,} {items}")
            reported = time.monotonic()


def check_finite(scores: Sequence[float], kind: str) -> None:
    """Raise a Fault for a score that is not finite."""
    if not all(map(math.isfinite, scores)):
        raise Fault("", "returns scores that are not finite", suggestion(kind))


def suggestion(kind: str) -> str:
    """The remedy for a checkpoint that cannot be used."""
    return f"name another checkpoint, for instance {EXAMPLES[kind]}"


def reason(error: BaseException) -> str:
    """Type and first line of an error."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:300]}"


def _fetched(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(repo_id=name)) / "checkpoints" / "model.ckpt"
    except Exception as error:  # an unknown name, no connection, a licence that was not accepted
        raise Fault(
            "", f"cannot be downloaded ({reason(error)})",
            "check the name and the connection, or give the path of a .ckpt file",
        ) from error  # fmt: skip


def _check_kind(path: Path, kind: str) -> None:
    import yaml

    settings = path.absolute().parents[1] / "hparams.yaml"
    for file in (path, settings):
        if not file.is_file():
            remedy = "give a .ckpt file in its published folder structure, or a name on the hub"
            raise Fault("", f"there is no file {file}", remedy)
    try:
        parameters = yaml.safe_load(settings.read_text(encoding="utf-8"))
        identifier = parameters["class_identifier"]
    except (yaml.YAMLError, ValueError, TypeError, KeyError) as error:
        raise Fault("", f"{settings} names no class_identifier ({reason(error)})", suggestion(kind)) from error
    if identifier not in CLASSES[kind]:
        remedy = suggestion(kind)
        others = [other for other, classes in CLASSES.items() if identifier in classes]
        if others:
            remedy = f"name it under `metrics`, with the kind {' or '.join(others)}, or {remedy}"
        raise Fault("", f"is a {identifier}, which is not of the kind {kind}", remedy)
    if identifier == "unified_metric":
        wanted = {"mt", "src"} if kind == "kiwi" else {"mt", "src", "ref"}
        if set(parameters.get("input_segments", ())) != wanted:
            problem = f"reads {parameters.get('input_segments')}, but the kind {kind} reads {sorted(wanted)}"
            raise Fault("", problem, suggestion(kind))


def _die_with_the_run() -> None:
    os.read(0, 1)  # not sys.stdin, whose lock would block the interpreter's exit
    os._exit(1)


def scored(
    kind: str, checkpoint: str, tokenizer: str, device: str, rows: pl.DataFrame, token_budget: int, tell: Tell
) -> pl.DataFrame:
    """Load a checkpoint and score rows of texts: columns `score` and `cut`, and `spans` for the kind xcomet."""
    if kind.startswith("metricx"):
        from resources.comet import metricx

        return metricx.score(metricx.load(checkpoint, tokenizer, device), rows, kind, token_budget, tell)
    model = load(checkpoint, device, kind)
    tell("loaded")
    if kind == "comet":
        return score(model, rows, token_budget, tell)
    from resources.comet import joint

    return joint.score(model, rows, kind, token_budget, tell)


def main(
    kind: str, checkpoint: str, tokenizer: str, device: str, token_budget: str, pinned: str, texts: str, results: str
) -> None:
    """Read triples, score them and write the scores; see the module's docstring for the arguments."""
    Thread(target=_die_with_the_run, daemon=True).start()
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libraries print to standard error, not to the resource

    def say(**message: object) -> None:
        print(json.dumps(message), file=output, flush=True)

    try:
        if version("unbabel-comet") != pinned:
            problem = f"COMET's environment has unbabel-comet {version('unbabel-comet')}, but the project pins {pinned}"
            raise Fault("", problem, "run `make comet`")
        with os.fdopen(int(texts), "rb") as file:
            rows = pl.read_parquet(file)
        tell: Tell = lambda words: say(progress=words)  # noqa: E731
        scores = scored(kind, checkpoint, tokenizer, device, rows, int(token_budget), tell)
        with os.fdopen(int(results), "wb") as target:
            scores.write_parquet(target)
    except Fault as fault:
        say(fault=fault.args)
        sys.exit(1)
    except ImportError as error:
        say(fault=["", f"COMET's environment is incomplete ({reason(error)})", "run `make comet`"])
        sys.exit(1)
    except Exception as error:
        say(fault=["", f"the COMET worker failed ({reason(error)})", "lower `token_budget` if memory ran out"])
        raise


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from resources.comet import worker  # by the name under which the other workers import it

    worker.main(*sys.argv[1:])
