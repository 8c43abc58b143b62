"""sacrebleu's command line: it gives the scores and signatures of a test set that Variorum wrote.

Signatures differ in `nrefs` alone: a score of Variorum's may be about passages with different numbers of references, so
it always states `var`; sacrebleu states the number if it is the same for all lines.
"""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.peers.environments import Peer

PEER = "sacrebleu"
pytestmark = pytest.mark.peer
OURS = {"BLEU": "bleu", "chrF2++": "chrf"}
METRICS = ("-m", "bleu", "chrf", "--chrf-word-order", "2", "-w", "10")


def test_scores_and_signatures_are_the_same(
    peer: Peer, package: Path, test_set: Path, record_property: Callable[[str, object], None]
) -> None:
    """BLEU and chrF2++ of each model's outputs, with their signatures, against the leaderboard."""
    board = pl.read_parquet(package / "parquet/leaderboard.parquet").filter(kind="model")
    references = [str(path) for path in sorted((test_set / "references").iterdir())]
    for row in board.iter_rows(named=True):
        outputs = test_set / "system-outputs/la-en" / f"{row['system']}.txt"
        for theirs in json.loads(peer.run("sacrebleu", *references, "-i", str(outputs), *METRICS)):
            assert row[OURS[theirs["name"]]] == pytest.approx(theirs["score"], abs=1e-9)
            signature = next(part for part in row["signature"].split("; ") if part.startswith(f"{theirs['name']}|"))
            assert signature == f"{theirs['name']}|{theirs['signature']}".replace("|nrefs:3|", "|nrefs:var|")
    record_property("result", f"{2 * len(board)} scores equal to ten digits, signatures equal but for `nrefs`")


def test_scores_of_passages_are_the_same(
    peer: Peer, package: Path, test_set: Path, record_property: Callable[[str, object], None]
) -> None:
    """`sacrebleu --sentence-level` of a model's outputs."""
    scores = pl.read_parquet(package / "parquet/scores.parquet").filter(model="free")
    passages = (test_set / "passages.txt").read_text().splitlines()
    references = [str(path) for path in sorted((test_set / "references").iterdir())]
    outputs = str(test_set / "system-outputs/la-en/free.txt")
    for metric in ("bleu", "chrf"):
        shown = peer.run("sacrebleu", *references, "-i", outputs, "-sl", *METRICS[3:], "-m", metric)
        theirs = [float(line.partition(" = ")[2].split()[0]) for line in shown.splitlines()]
        ours = dict(scores.select("passage_id", metric).iter_rows())
        assert [ours[passage] for passage in passages] == pytest.approx(theirs, abs=1e-9)
    record_property("result", f"{2 * len(passages)} scores equal to ten digits")
