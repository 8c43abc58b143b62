"""Scores triples of texts with a COMET checkpoint, in COMET's own environment: a program that the resource starts.

Here: loading a checkpoint, encoding, scoring. Not here: which triples are scored, what becomes of the scores. It
imports nothing of the project, which is not installed beside it.

    python -I worker.py CHECKPOINT DEVICE TOKEN_BUDGET VERSION GIVEN SCORED

GIVEN and SCORED are numbers of open files, Parquet in and out. It ends as soon as its standard input does, which the
resource keeps open: however a run ends, its worker ends with it. On standard output it says how it goes, a JSON object
a line: {"progress": words} or, before exit code 1, {"fault": [key, problem, remedy]}.
"""

import json
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
KIND = "regression_metric"
REFERENCE_FREE = "referenceless_regression_metric"
SUGGESTION = "name another, for instance Unbabel/wmt22-comet-da"
EVERY = 10.0  # seconds from one word of progress to the next: each becomes an event in the log of the run
SCORED_AT_ONCE = 4096  # triples; the estimator reads six vectors of each

Tell = Callable[[str], None]


class Fault(Exception):  # noqa: N818 - as resources.errors.BadInput, which it becomes
    """What a person can mend: entry (or ''), problem and remedy."""

    def __init__(self, key: str, problem: str, remedy: str) -> None:
        super().__init__(key, problem, remedy)


def load(checkpoint: str, device: str) -> Any:
    """A checkpoint's model on a device, ready to score.

    Parameters
    ----------
    checkpoint
        Path that ends in `.ckpt`, or name on the hub.
    device
        `cpu` or `cuda`.

    Raises
    ------
    Fault
        Where there is no such device or checkpoint, it is of another kind, lacks weights or cannot be loaded.
    """
    path = Path(checkpoint) if checkpoint.endswith(".ckpt") else _fetched(checkpoint)
    _check_kind(path)  # before torch and COMET, which take seconds
    import torch
    from comet import load_from_checkpoint  # type: ignore[import-not-found]

    if device == "cuda" and not torch.cuda.is_available():
        raise Fault("device", "torch finds no CUDA device", "set `device: cpu`")
    try:
        model = load_from_checkpoint(str(path))
        held = torch.load(path, map_location="cpu", mmap=True, weights_only=True)["state_dict"]
    except Exception as error:
        remedy = "check the file and what its hparams.yaml names"
        raise Fault("", f"cannot be loaded ({reason(error)})", remedy) from error
    # The library leaves a weight that is missing at random.
    missing = [name for name, _ in model.named_parameters() if name not in held]
    if missing:
        raise Fault("", f"lacks {len(missing)} weights, for instance {missing[0]}", "download it anew")
    return model.eval().to(device)


def score(model: Any, triples: pl.DataFrame, token_budget: int, tell: Tell) -> pl.DataFrame:
    """Score triples; every distinct text is encoded once.

    Parameters
    ----------
    triples
        Columns `source`, `candidate`, `reference`, no text empty.
    token_budget
        Tokens that are encoded at a time, padding included.

    Returns
    -------
    Columns `score` and `cut` (one of the three texts is longer than the checkpoint reads), in the order of the triples.

    Raises
    ------
    Fault
        For a score that is not finite.

    Notes
    -----
    A regression metric estimates from three sentence embeddings, each of which depends on its own text alone (Rei et
    al. 2020, section 2.3).
    """
    import torch

    texts = pl.concat([triples[name].alias("text") for name in TRIPLE]).unique(maintain_order=True)
    places = {text: place for place, text in enumerate(texts)}
    at = torch.tensor([[places[text] for text in triples[name]] for name in TRIPLE])  # shape (3, triples)
    tell(f"{len(triples):,} triples of {len(places):,} distinct texts")
    with torch.inference_mode():
        vectors, cut = embed(model, list(places), token_budget, tell)
        parts = [
            model.estimate(*vectors[at[:, first : first + SCORED_AT_ONCE]])["score"].cpu()
            for first in range(0, len(triples), SCORED_AT_ONCE)
        ]
    scores = torch.cat(parts).double()
    if not bool(scores.isfinite().all()):
        raise Fault("", "gives scores that are not finite", SUGGESTION)
    return pl.DataFrame({"score": scores.tolist(), "cut": torch.tensor(cut)[at].any(dim=0).tolist()})


def embed(model: Any, texts: Sequence[str], token_budget: int, tell: Tell) -> "tuple[torch.Tensor, list[bool]]":
    """Sentence embeddings, shape (texts, dimensions), and whether each text is longer than the checkpoint reads.

    The longest come first: where memory is short, it shows at once.
    """
    import torch

    encoder, device = model.encoder, model.device
    limit = encoder.max_positions - 2  # where the library cuts
    whole = [len(ids) for ids in encoder.tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]]
    vectors = torch.empty(len(texts), encoder.output_units, device=device)
    told, done = time.monotonic(), 0
    for batch in _batches([min(length, limit) for length in whole], token_budget):
        read = encoder.prepare_sample([texts[place] for place in batch]).to(device)
        vectors[batch] = model.get_sentence_embedding(read["input_ids"], read["attention_mask"]).float()
        done += len(batch)
        if time.monotonic() - told > EVERY or done == len(texts):
            tell(f"encoded {done:,} of {len(texts):,} texts")
            told = time.monotonic()
    return vectors, [length > limit for length in whole]


def reason(error: BaseException) -> str:
    """An error in a few words."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:300]}"


def _fetched(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(repo_id=name)) / "checkpoints" / "model.ckpt"
    except Exception as error:  # an unknown name, no connection, a licence that was not accepted
        raise Fault(
            "", f"the name gives no checkpoint ({reason(error)})",
            "check name and connection, or give the path of a .ckpt file",
        ) from error  # fmt: skip


def _check_kind(path: Path) -> None:
    import yaml

    described = path.absolute().parents[1] / "hparams.yaml"
    for each in (path, described):
        if not each.is_file():
            remedy = "give a .ckpt file in the folder that it was published in, or a name on the hub"
            raise Fault("", f"there is no file {each}", remedy)
    try:
        kind = yaml.safe_load(described.read_text(encoding="utf-8"))["class_identifier"]
    except (yaml.YAMLError, ValueError, TypeError, KeyError) as error:
        raise Fault("", f"{described} names no class_identifier ({reason(error)})", SUGGESTION) from error
    if kind != KIND:
        what = "is reference-free" if kind == REFERENCE_FREE else "does not embed each text by itself"
        raise Fault("", f"{what} ({kind}), only a {KIND} will do", SUGGESTION)


def _batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Places of texts, longest first, in batches of at most `budget` tokens with padding, one text at least."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    while order:
        size = max(1, budget // lengths[order[0]])
        yield order[:size]
        order = order[size:]


def _die_with_the_run() -> None:
    os.read(0, 1)  # not sys.stdin, whose lock would be held when the interpreter ends
    os._exit(1)


def main(checkpoint: str, device: str, token_budget: str, pinned: str, given: str, scored: str) -> None:
    """Read triples, write scores."""
    Thread(target=_die_with_the_run, daemon=True).start()
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is not for the resource

    def say(**what: object) -> None:
        print(json.dumps(what), file=told, flush=True)

    try:
        if version("unbabel-comet") != pinned:
            problem = f"its environment has unbabel-comet {version('unbabel-comet')}, the project pins {pinned}"
            raise Fault("", problem, "run `make comet`")
        with os.fdopen(int(given), "rb") as file:
            triples = pl.read_parquet(file)
        model = load(checkpoint, device)
        say(progress="loaded")
        scores = score(model, triples, int(token_budget), lambda words: say(progress=words))
        with os.fdopen(int(scored), "wb") as place:
            scores.write_parquet(place)
    except Fault as fault:
        say(fault=fault.args)
        sys.exit(1)
    except ImportError as error:
        say(fault=["", f"its environment is not whole ({reason(error)})", "run `make comet`"])
        sys.exit(1)
    except Exception as error:
        say(fault=["", f"its worker failed ({reason(error)})", "lower `token_budget` if memory was short"])
        raise


if __name__ == "__main__":
    main(*sys.argv[1:])
