"""COMET and MetricX: score texts with a checkpoint, in a worker process with its own environment.

Here: the resource, the signature of a checkpoint, the worker's lifecycle and errors. Not here: the choice of triples
(metrics.comet), scoring (worker).
"""

import json
import logging
import re
import signal
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Literal

import polars as pl

from resources import whole_files
from resources.comet.worker import EXAMPLES, PAIR, TRIPLE
from resources.errors import BadInput
from resources.frozen import Frozen
from resources.home import PROJECT

logger = logging.getLogger("variorum.comet")

SPANS = pl.List(pl.Struct({"start": pl.Int64, "end": pl.Int64, "severity": pl.String, "confidence": pl.Float64}))
"""Errors that a checkpoint marks in a candidate. `start` and `end` (exclusive) are character offsets."""

WORKER = Path(__file__).with_name("worker.py")

ADVICE = (
    f"no checkpoint is configured: name one under `comet` in the registry, for instance {EXAMPLES['comet']}, and run "
    "`make comet`"
)
"""Log message if no checkpoint is configured."""


class Comet(Frozen):
    """A checkpoint, which scores a candidate given its source, a reference, or both.

    Parameters
    ----------
    checkpoint
        Path of a `.ckpt` file (COMET) or of a folder (MetricX), or name on the Hugging Face hub; '' for none.
    kind
        `comet`: a regression metric, with source and reference. `kiwi`: COMET without reference. `xcomet`: unified
        COMET, with source and reference, which also marks errors. `metricx-23`: MetricX with a reference. `metricx-24`:
        MetricX with source and reference. `metricx-23-qe`, `metricx-24-qe`: MetricX with the source only.
    tokenizer
        For MetricX, folder or hub name of the tokenizer of mT5.
    device
        `cpu` or `cuda`.
    token_budget
        Maximum number of tokens in a batch, including padding. The default suits a CPU's cache; use 8192 or more on a
        GPU.
    python
        Path of the Python interpreter in COMET's environment.
    """

    checkpoint: str = ""
    kind: Literal["comet", "kiwi", "xcomet", "metricx-23", "metricx-23-qe", "metricx-24", "metricx-24-qe"] = "comet"
    tokenizer: str = ""
    device: str = "cpu"
    token_budget: int = 2048
    python: str = str(PROJECT / ".venv-comet" / "bin" / "python")

    @property
    def inputs(self) -> list[str]:
        """Names of the text columns that the checkpoint reads."""
        if self.kind == "metricx-23":
            return ["candidate", "reference"]
        return PAIR if self.kind == "kiwi" or self.kind.endswith("-qe") else TRIPLE

    @property
    def signature(self) -> str:
        """The checkpoint's name, hashes of its local files, and the library's version; '' without a checkpoint."""
        if not self.checkpoint:
            return ""
        name = self.checkpoint
        if self.kind.startswith("metricx"):
            weights = sorted(Path(name).glob("*.safetensors")) + sorted(Path(name).glob("*.bin"))
            hashes = [_hash(each, each.stat().st_mtime_ns) for each in weights]
            name = f"{Path(name).name} {' '.join(hashes)}" if hashes else name
            return f"{self.kind}: {name}|tokenizer {self.tokenizer}|transformers {_library('transformers')}"
        if name.endswith(".ckpt"):
            files = [Path(name), Path(name).absolute().parents[1] / "hparams.yaml"]
            hashes = [_hash(each, each.stat().st_mtime_ns) if each.is_file() else "missing" for each in files]
            name = f"{files[0].name} {' '.join(hashes)}"
        return f"{name}|unbabel-comet {_library('unbabel-comet')}"

    def score(self, triples: pl.DataFrame) -> pl.DataFrame:
        """Score triples of source, candidate and reference, or pairs if the checkpoint reads no source or no reference.

        Equal rows are scored once.

        Parameters
        ----------
        triples
            Texts in the columns `inputs`, one row per triple; other columns are kept.

        Returns
        -------
        The triples in the same order, with the columns `score`, `cut` (whether a text was truncated) and, for the kind
        `xcomet`, `spans` (as in resources.comet.joint). There are no rows if no checkpoint is configured.

        Raises
        ------
        BadInput
            If the environment or the checkpoint is missing or unusable, or the worker is killed.
        ValueError
            For a null or empty text, which COMET itself would accept.
        """
        if not self.checkpoint:
            logger.info("COMET: %s", ADVICE)  # no warning: COMET is optional, and the asset's page repeats it
        if not self.checkpoint or triples.is_empty():
            spans = {"spans": pl.lit(None, SPANS)} if self.kind == "xcomet" else {}
            return triples.clear().with_columns(score=pl.lit(0.0), cut=pl.lit(False), **spans)
        distinct = triples.select(self.inputs).unique(maintain_order=True)
        if not distinct.select(pl.all_horizontal(pl.all().str.len_bytes() > 0).fill_null(False).all()).item():
            raise ValueError("a text is null or empty")
        if not Path(self.python).exists():
            raise BadInput(self.python, "", "COMET's environment is missing", "run `make comet` in a checkout")
        # Unnamed files, so that no text remains on disk, however the run ends.
        with TemporaryFile() as texts, TemporaryFile() as results, TemporaryFile() as errors:
            distinct.write_parquet(texts)
            texts.seek(0)
            self._work(texts, results, errors)
            results.seek(0)
            scores = pl.concat([distinct, pl.read_parquet(results)], how="horizontal")
        return triples.join(scores, on=self.inputs, maintain_order="left")

    def _work(self, texts: IO[bytes], results: IO[bytes], errors: IO[bytes]) -> None:
        """Run the worker on these files; kill it if this method is interrupted. The worker also exits if this process
        ends."""
        descriptors = texts.fileno(), results.fileno()
        version = _library("unbabel-comet")
        settings = self.kind, self.checkpoint, self.tokenizer, self.device, self.token_budget, version, *descriptors
        fault: list[str] = []
        with subprocess.Popen(
            [self.python, "-I", str(WORKER), *map(str, settings)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, pass_fds=descriptors,
        ) as worker:  # fmt: skip
            try:
                for line in worker.stdout or ():
                    message: dict[str, Any] = json.loads(line)
                    fault = message.get("fault", fault)
                    if "progress" in message:
                        logger.info("COMET: %s", message["progress"])
                worker.wait()  # before the block closes its input, which would end it
            except BaseException:
                worker.kill()
                raise
        if fault:
            raise BadInput(self.checkpoint, *fault)
        if worker.returncode < 0:
            name = signal.Signals(-worker.returncode).name
            raise BadInput(
                self.checkpoint, "", f"the COMET worker was killed ({name})", "lower `token_budget` if memory ran out"
            )
        if worker.returncode:
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
            raise BadInput(self.checkpoint, "", f"the COMET worker failed ({last})", "run `make comet`")


def _library(name: str) -> str:
    """The pinned version of a library of COMET's environment."""
    pins = (PROJECT / "constraints-comet.txt").read_text(encoding="utf-8")
    return re.findall(rf"^{name}==(\S+)$", pins, re.MULTILINE)[0]  # type: ignore[no-any-return]


@cache
def _hash(path: Path, modified: int) -> str:
    """First 16 digits of a file's SHA-256, computed once for each modification time."""
    return whole_files.sha256(path)[:16]
