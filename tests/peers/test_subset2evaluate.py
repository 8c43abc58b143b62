"""subset2evaluate's reader of the test sets of WMT's metrics tasks, on one that Variorum wrote.

Its environment lacks the packages that only its selection of passages needs.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.peers.environments import Peer

PEER = "subset2evaluate"
pytestmark = pytest.mark.peer

READ = """
import json
from subset2evaluate.utils import load_data_wmt
print(json.dumps(load_data_wmt("sample", "la-en", normalize=False, file_reference="harrow", file_protocol="people")))
"""
"""It maps people's scores from -25 (worst) to 0, onto 0 to 100."""


def test_a_test_set_is_read(
    peer: Peer, package: Path, test_set: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """`load_data_wmt`: documents, outputs, similarities to a reference and people's scores of a test set."""
    code = Path(peer.python("import subset2evaluate; print(subset2evaluate.__path__[0])").strip())
    shutil.copytree(code, tmp_path / code.name)  # it looks for test sets beside its code
    shutil.copytree(test_set, tmp_path / "data/mt-metrics-eval-v2/sample")
    read = json.loads(peer.python(READ, PYTHONPATH=str(tmp_path)))
    passages = pl.read_ndjson(package / "source.jsonl")
    assert [passage["doc"] for passage in read] == passages["document"].to_list()
    similarities = pl.read_parquet(package / "parquet/output_similarities.parquet").filter(translator="harrow")
    models = sorted(read[0]["tgt"])
    assert models == similarities["model"].unique().sort().to_list()
    for model in models:
        outputs = pl.read_ndjson(package / f"outputs/{model}.jsonl")["translation"]
        assert [passage["tgt"][model] for passage in read] == outputs.to_list()
        scores = pl.DataFrame([passage["scores"][model] for passage in read])
        ours = passages.join(similarities.filter(model=model), on="passage_id", maintain_order="left")
        assert scores["similarity"].to_list() == ours["similarity"].to_list()
        of_people = (test_set / "human-scores/la-en.people.sys.score").read_text()
        mean = float(dict(line.split("\t") for line in of_people.splitlines())[model])
        assert scores["human"].mean() == pytest.approx(100 + 4 * mean)
    record_property("result", f"{len(read)} passages of {len(models)} models: equal")
