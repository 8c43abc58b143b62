"""COMET: triples of source, candidate and reference to scores, by a worker in an environment of its own.

Here: the resource, what identifies a checkpoint, the worker's life and errors. Not here: which triples are scored
(metrics.comet), how (worker).
"""

import hashlib
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
from pydantic import BaseModel, ConfigDict

from resources.errors import BadInput
from resources.home import PROJECT

logger = logging.getLogger("variorum.comet")

WORKER = Path(__file__).with_name("worker.py")
TRIPLE = ["source", "candidate", "reference"]

ADVICE = (
    "no checkpoint is configured: name one under `comet` in the registry, for instance Unbabel/wmt22-comet-da, and run "
    "`make comet`"
)
"""How to get scores where there are none."""


class Comet(BaseModel):
    """A COMET checkpoint that scores a candidate by its source and a reference.

    Parameters
    ----------
    checkpoint
        Path that ends in `.ckpt`, or name on the Hugging Face hub; '' for none.
    device
        `cpu` or `cuda`.
    token_budget
        Tokens that are encoded at a time, padding included. A processor's cache wants few, a GPU 8192 or more.
    python
        The interpreter of COMET's environment.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    checkpoint: str = ""
    device: str = "cpu"
    token_budget: int = 2048
    python: str = str(PROJECT / ".venv-comet" / "bin" / "python")

    @property
    def signature(self) -> str:
        """What determines the scores: checkpoint (its name, or a hash of the file) and library; '' without one."""
        if not self.checkpoint:
            return ""
        name = self.checkpoint
        if name.endswith(".ckpt"):
            files = [Path(name), Path(name).absolute().parents[1] / "hparams.yaml"]
            hashes = [_hash(each, each.stat().st_mtime_ns) if each.is_file() else "missing" for each in files]
            name = f"{files[0].name} {' '.join(hashes)}"
        return f"{name}|unbabel-comet {_library()}"

    def score(self, triples: pl.DataFrame) -> pl.DataFrame:
        """Score triples of texts; every distinct triple is scored once, every distinct text encoded once.

        Parameters
        ----------
        triples
            Columns `source`, `candidate`, `reference`, and any others.

        Returns
        -------
        The triples with `score` and `cut` (one of the texts is longer than the checkpoint reads); no rows where no
        checkpoint is configured.

        Raises
        ------
        BadInput
            Where the environment or the checkpoint is missing or of no use, or the worker is killed.
        ValueError
            For a text that is null or empty: COMET would score it.
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
        # Files without a name: of the texts, nothing is left on the disk however the run ends.
        with TemporaryFile() as given, TemporaryFile() as scored, TemporaryFile() as chatter:
            distinct.write_parquet(given)
            given.seek(0)
            self._work(given, scored, chatter)
            scored.seek(0)
            found = pl.concat([distinct, pl.read_parquet(scored)], how="horizontal")
        return triples.join(found, on=TRIPLE, maintain_order="left")

    def _work(self, given: IO[bytes], scored: IO[bytes], chatter: IO[bytes]) -> None:
        """Run the worker to its end; it ends with this process, or with what goes wrong here."""
        numbers = given.fileno(), scored.fileno()
        settings = self.checkpoint, self.device, self.token_budget, _library(), *numbers
        fault: list[str] = []
        with subprocess.Popen(
            [self.python, "-I", str(WORKER), *map(str, settings)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=chatter, text=True, pass_fds=numbers,
        ) as worker:  # fmt: skip
            try:
                for line in worker.stdout or ():
                    said: dict[str, Any] = json.loads(line)
                    fault = said.get("fault", fault)
                    if "progress" in said:
                        logger.info("COMET: %s", said["progress"])
                worker.wait()  # before its input is closed, which ends it
            except BaseException:
                worker.kill()
                raise
        if fault:
            raise BadInput(self.checkpoint, *fault)
        if worker.returncode < 0:
            name = signal.Signals(-worker.returncode).name
            raise BadInput(
                self.checkpoint, "", f"its worker was killed ({name})", "lower `token_budget` if memory was short"
            )
        if worker.returncode:
            chatter.seek(0)
            last = chatter.read().decode(errors="replace").strip().rpartition("\n")[2]
            raise BadInput(self.checkpoint, "", f"its worker failed ({last})", "run `make comet`")


def _library() -> str:
    """The version of unbabel-comet that the project pins."""
    pins = (PROJECT / "constraints-comet.txt").read_text(encoding="utf-8")
    return re.findall(r"^unbabel-comet==(\S+)$", pins, re.MULTILINE)[0]  # type: ignore[no-any-return]


@cache
def _hash(path: Path, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
