"""What a person would write in an afternoon in place of Variorum: a program that tests/bench/test_plain.py measures.

    python -m tests.bench.plain STORE PASSAGES OUTPUTS...

PASSAGES are JSON lines with references, and each file OUTPUTS has the translations of the model that it is named after.
The program embeds and scores what differs from the texts in STORE, a DuckDB file, and prints means by model. It keeps
no version, reason or report of anything, and every program that would read its tables has to know how it was made.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from resources import minilm

TABLES = """
CREATE TABLE IF NOT EXISTS text (passage TEXT, author TEXT, is_reference BOOLEAN, words TEXT, vector FLOAT[384]);
CREATE TABLE IF NOT EXISTS envelope (passage TEXT, centroid FLOAT[384], spread DOUBLE);
CREATE TABLE IF NOT EXISTS score (
    passage TEXT, model TEXT, best DOUBLE, centroid DOUBLE, drift DOUBLE, bleu DOUBLE, chrf DOUBLE
);
"""
MEANS = """
SELECT model, count(*), avg(best), avg(centroid), avg(drift), avg((drift > 2)::INT), avg(bleu), avg(chrf)
FROM score GROUP BY model ORDER BY avg(drift)
"""
HEADINGS = ("model", "n", "best", "centroid", "drift", "outliers", "BLEU", "chrF++")

Text = tuple[str, str, bool, str]
"""Passage, translator or model, whether it is a reference, and the words."""


def texts(passages: Path, outputs: Sequence[Path]) -> Iterator[Text]:
    """All texts of the files."""
    for line in passages.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for translator, words in row["references"].items():
            yield row["passage_id"], translator, True, words
    for path in outputs:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield row["passage_id"], path.stem, False, row["translation"]


def embedded(words: Sequence[str]) -> list[NDArray[np.float32]]:
    """Unit vectors."""
    vectors = [minilm.read(text).vector for text in words]
    return [vector / np.linalg.norm(vector) for vector in vectors]


def main(store: str, passages: Path, outputs: Sequence[Path]) -> None:
    """Store what differs, and print the table of means."""
    connection = duckdb.connect(store)
    connection.execute(TABLES)
    known = {row[:3]: row[3] for row in connection.execute("SELECT * EXCLUDE vector FROM text").fetchall()}
    changed = [text for text in texts(passages, outputs) if known.get(text[:3]) != text[3]]
    vectors = embedded([words for *_, words in changed])
    connection.begin()
    if changed:
        if known:
            keys = [text[:2] for text in changed]
            connection.executemany("DELETE FROM text WHERE passage = ? AND author = ?", keys)
        connection.execute(
            "INSERT INTO text SELECT unnest(?), unnest(?), unnest(?), unnest(?), unnest(?::FLOAT[][])",
            [*map(list, zip(*changed, strict=True)), [vector.tolist() for vector in vectors]],
        )
    renewed = {passage for passage, _, is_reference, _ in changed if is_reference}
    envelopes, scores = [], []
    bleu, chrf = BLEU(effective_order=True), CHRF(word_order=2)
    for passage in {text[0] for text in changed}:
        rows = connection.execute("SELECT * FROM text WHERE passage = ?", [passage]).fetchall()
        references = [row for row in rows if row[2]]
        of_references = np.array([row[4] for row in references])
        mean = of_references.mean(axis=0)
        centroid = mean / np.linalg.norm(mean)
        spread = 1 - (of_references @ centroid).mean()
        if passage in renewed:
            envelopes.append((passage, centroid.tolist(), spread))
        models = {author for place, author, is_reference, _ in changed if place == passage and not is_reference}
        for _, author, is_reference, words, vector in rows:
            if not is_reference and (passage in renewed or author in models):
                lexical = [[row[3] for row in references]]
                near = np.dot(centroid, vector)
                scores.append(
                    (
                        passage, author, (of_references @ np.array(vector)).max(), near,
                        (1 - near) / (spread + 0.01), bleu.sentence_score(words, *lexical).score,
                        chrf.sentence_score(words, *lexical).score,
                    )
                )  # fmt: skip
    if known and changed:
        connection.executemany("DELETE FROM envelope WHERE passage = ?", [(row[0],) for row in envelopes] or [("",)])
        connection.executemany("DELETE FROM score WHERE passage = ? AND model = ?", [row[:2] for row in scores])
    for table, rows in (("envelope", envelopes), ("score", scores)):
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            connection.execute(f"INSERT INTO {table} SELECT {', '.join('unnest(?)' for _ in columns)}", columns)
    connection.commit()
    print(*HEADINGS, sep="\t")
    for model, count, *means in connection.execute(MEANS).fetchall():
        print(model, count, *(f"{mean:.3f}" for mean in means), sep="\t")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), [*map(Path, sys.argv[3:])])
