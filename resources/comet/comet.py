"""COMET: scores triples of source, candidate and reference in a worker process with its own environment.

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
from typing import IO, Any

import polars as pl

from resources import whole_files
from resources.comet.worker import TRIPLE
from resources.errors import BadInput
from resources.frozen import Frozen
from resources.home import PROJECT

logger = logging.getLogger("variorum.comet")

WORKER = Path(__file__).with_name("worker.py")

ADVICE = (
    "no checkpoint is configured: name one under `comet` in the registry, for instance Unbabel/wmt22-comet-da, and run "
    "`make comet`"
)
"""Log message if no checkpoint is configured."""


class Comet(Frozen):
    """A COMET checkpoint, which scores a candidate given its source and a reference.

    Parameters
    ----------
    checkpoint
        Path that ends in `.ckpt`, or a name on the Hugging Face hub; '' for none.
    device
        `cpu` or `cuda`.
    token_budget
        Maximum number of tokens in a batch, including padding. The default suits a CPU's cache; use 8192 or more on a
        GPU.
    python
        Path of the Python interpreter in COMET's environment.
    """

    checkpoint: str = ""
    device: str = "cpu"
    token_budget: int = 2048
    python: str = str(PROJECT / ".venv-comet" / "bin" / "python")

    @property
    def signature(self) -> str:
        """Checkpoint (name, or hashes of its files) and library version; '' without a checkpoint."""
        if not self.checkpoint:
            return ""
        name = self.checkpoint
        if name.endswith(".ckpt"):
            files = [Path(name), Path(name).absolute().parents[1] / "hparams.yaml"]
            hashes = [_hash(each, each.stat().st_mtime_ns) if each.is_file() else "missing" for each in files]
            name = f"{files[0].name} {' '.join(hashes)}"
        return f"{name}|unbabel-comet {_library()}"

    def score(self, triples: pl.DataFrame) -> pl.DataFrame:
        """Score triples of texts. Each distinct triple is scored once, each distinct text encoded once.

        Parameters
        ----------
        triples
            Texts in the columns `source`, `candidate` and `reference`, one row per triple; other columns are kept.

        Returns
        -------
        The triples, in order, with `score` and `cut` (whether a text was truncated); no rows if no checkpoint is
        configured.

        Raises
        ------
        BadInput
            If the environment or the checkpoint is missing or unusable, or the worker is killed.
        ValueError
            For a null or empty text, which COMET itself would accept.
        """
        if not self.checkpoint:
            logger.warning("COMET: %s", ADVICE)
        if not self.checkpoint or triples.is_empty():
            return triples.clear().with_columns(score=pl.lit(0.0), cut=pl.lit(False))
        distinct = triples.select(TRIPLE).unique(maintain_order=True)
        if not distinct.select(pl.all_horizontal(pl.all().str.len_bytes() > 0).fill_null(False).all()).item():
            raise ValueError("a text is null or empty")
        if not Path(self.python).exists():
            raise BadInput(self.python, "", "COMET's environment is missing", "run `make comet`")
        # Unnamed files, so that no text remains on disk, however the run ends.
        with TemporaryFile() as texts, TemporaryFile() as results, TemporaryFile() as errors:
            distinct.write_parquet(texts)
            texts.seek(0)
            self._work(texts, results, errors)
            results.seek(0)
            scores = pl.concat([distinct, pl.read_parquet(results)], how="horizontal")
        return triples.join(scores, on=TRIPLE, maintain_order="left")

    def _work(self, texts: IO[bytes], results: IO[bytes], errors: IO[bytes]) -> None:
        """Run the worker on these files; kill it if this method is interrupted. It exits when this process ends."""
        descriptors = texts.fileno(), results.fileno()
        settings = self.checkpoint, self.device, self.token_budget, _library(), *descriptors
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
                worker.wait()  # before its input is closed, which would end it
            except BaseException:
                worker.kill()
                raise
        if fault:
            raise BadInput(self.checkpoint, *fault)
        if worker.returncode < 0:
            name = signal.Signals(-worker.returncode).name
            raise BadInput(
                self.checkpoint, "", f"the COMET worker was killed ({name})", "lower `token_budget` if memory was short"
            )
        if worker.returncode:
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
            raise BadInput(self.checkpoint, "", f"the COMET worker failed ({last})", "run `make comet`")


def _library() -> str:
    """The pinned version of unbabel-comet."""
    pins = (PROJECT / "constraints-comet.txt").read_text(encoding="utf-8")
    return re.findall(r"^unbabel-comet==(\S+)$", pins, re.MULTILINE)[0]  # type: ignore[no-any-return]


@cache
def _hash(path: Path, modified: int) -> str:
    """First 16 digits of a file's SHA-256, computed once for each modification time."""
    return whole_files.sha256(path)[:16]
