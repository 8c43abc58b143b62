"""Blind pairs for annotators: write outputs and human translations to a spreadsheet, and import the labels.

Here: the choice of pairs, the file, its import, the labels of pairs whose texts have not changed. Not here: calibrating
judges against the labels (calibration).
"""

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.annotation import sheet, unguarded
from benchmark_assets.adjudication.outputs import OUTPUT
from benchmark_assets.corpus.description import Literary
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.readers.unknown_keys import IMPORTED, unknown_keys
from benchmark_assets.corpus.registry import current
from benchmark_assets.corpus.rights import disclosure, named
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE, alike
from benchmark_assets.pairwise.comparing import SIDES, Side, arranged
from benchmark_assets.references import glossary
from resources import whole_files
from resources.digest import digest, text_hash
from resources.errors import BadInput, raise_all
from resources.keys import CORPUS
from resources.warehouse import Replacement, Warehouse

COLUMNS = ("pair", "source", "previous", "next", "A", "B", "better", "note")
NEEDED = ("pair", "better")
"""Columns that an imported file must have."""

_DIGITS = 16
_REMEDY = "restore the column `pair` from the exported file"


class ShownPair(NamedTuple):
    """An output and the human translation, with the source and its context."""

    model: str
    passage: str
    source: str
    previous: str
    following: str
    machine: str
    human: str

    def key(self, annotator: str) -> str:
        """The key of the pair in an annotator's file; it reveals nothing about the pair."""
        return digest("pair", annotator, self.model, self.passage)[:_DIGITS]

    @property
    def texts(self) -> str:
        """Hash of the output and the human translation."""
        return digest(self.machine, self.human)[:_DIGITS]

    def side(self, annotator: str) -> Side:
        """The side on which the annotator sees the output."""
        return SIDES[int(digest("side", annotator, self.model, self.passage), 16) % 2]


class SentPair(NamedTuple):
    """Result of an export: the number of pairs in the file, and the translators whose restricted texts it contains
    ('source' for the source text)."""

    pairs: int
    restricted: list[str]


class PairCounts(NamedTuple):
    """Result of an import: `taken`, `unchanged` and `replaced` count new, unchanged and replaced labels; `open` counts
    rows without a label."""

    taken: int
    unchanged: int
    replaced: int
    open: int


def export_pairs(
    warehouse: Warehouse, file: Path, corpus: str, annotator: str, per_model: int | None = None, private: bool = False
) -> SentPair:
    """Write the pairs of a corpus for one annotator; the same arguments and warehouse give the same bytes.

    Blank outputs and outputs equal to the human translation are left out, because they need no judgment. Without
    `private`, outputs that repeat a restricted text are left out, too.

    Parameters
    ----------
    file
        CSV file. It must not exist yet, because it might contain answers.
    per_model
        Number of outputs of each model, chosen by a hash, so that all annotators get the same outputs; by default all.
    private
        Whether the file may contain restricted texts.

    Raises
    ------
    BadInput
        If the corpus is unknown, cannot be read, names no human translation or has no pair; if there are restricted
        texts and `private` is false; if the annotator's name is empty, has several lines, or differs only in
        capitalization from that of an annotator with labels in the warehouse; if the file exists or cannot be written.
    """
    name = annotator.strip()
    if not name or not name.isprintable():
        raise BadInput("annotator", repr(annotator), "is not a name", "give a name on one line")
    if file.exists():
        raise BadInput(file, "", "already exists and may contain answers", "give another file")
    with warehouse.exclusively():  # so that the tables are consistent
        _check_name(warehouse, file, name)
        current(warehouse, corpus)
        if (literary := glossary.literary(warehouse).get(corpus)) is None:
            raise BadInput(corpus, "literary.human", "is missing", "name the human translation in its description")
        candidates = pairs(warehouse, {corpus: literary})
        outputs = pl.DataFrame(
            [(pair.passage, pair.machine) for pair in candidates],
            dict.fromkeys(["passage", "text"], pl.String),
            orient="row",
        )
        rights = disclosure(warehouse, corpus, [literary.human], outputs.select("passage").unique(), private)
    texts = {"", literary.human}
    if hidden := named(sorted(texts & rights.hidden)):
        problem = f"would contain texts that may not be passed on: {', '.join(hidden)}"
        raise BadInput(file, "", problem, "add --private, and give the file only to people who may have these texts")
    withheld = rights.withheld(outputs).to_list()
    sample = _sample([pair for pair, hidden in zip(candidates, withheld, strict=True) if not hidden], per_model)
    if not sample:
        problem = "has no output to compare with a complete human translation"
        remedy = "run `variorum evaluate MODEL`; blank outputs and copies of the human translation are left out"
        raise BadInput(corpus, "", problem, remedy)
    rows = []
    for pair in sorted(sample, key=lambda pair: pair.key(name)):  # a random order, different for each annotator
        texts_shown = arranged(pair.machine, pair.human, pair.side(name))
        identity = f"{pair.key(name)}-{pair.texts}-{name}"
        rows.append([identity, pair.source, pair.previous, pair.following, *texts_shown, "", ""])
    whole_files.hand_over(file, sheet(COLUMNS, rows).decode())
    return SentPair(len(rows), named(name for name in rights.restricted if name in texts))


def import_pairs(warehouse: Warehouse, file: Path, ignore: Collection[str] = ()) -> PairCounts:
    """Import the labels in a file of pairs, all or none.

    A label replaces the annotator's earlier label of the pair. A row whose `better` is empty is ignored, and so are the
    columns `ignore`.

    Raises
    ------
    BadInput
        If a column is unknown.
        If a pair is unknown, occurs twice, or has texts that changed since the file was written, or if `better` is not
        A, B or unsure; the error names the row, counting the header as row 1. If an annotator's name differs only in
        capitalization from another name in the file or in the warehouse.
    """
    rows = list(_answers(file, ignore))
    answers = [(row, *_identity(file, row, pair), better, note) for row, pair, better, note in rows if better]
    annotators = {annotator for _, _, _, annotator, _, _ in answers}
    labels: dict[tuple[str, str, str], tuple[str, ...]] = {}
    with warehouse.exclusively():  # texts must not change between the check and the write
        current_pairs = pairs(warehouse, glossary.literary(warehouse))
        by_key: dict[tuple[str, str], ShownPair] = {}
        for annotator in annotators:
            _check_name(warehouse, file, annotator, annotators)
            by_key |= {(annotator, pair.key(annotator)): pair for pair in current_pairs}
        for row, key, texts, annotator, better, note in answers:
            match = by_key.get((annotator, key))
            if match is None:
                remedy = f"{_REMEDY}; if the column is unchanged, delete the row, or add the model or corpus again"
                raise BadInput(file, f"row {row}", "has a pair that is not in this warehouse", remedy)
            if match.texts != texts:
                problem = f"its texts have changed ({match.model} on {match.passage})"
                raise BadInput(file, f"row {row}", problem, "delete the row, or export the pairs again")
            answer = match.model, match.passage, annotator
            if answer in labels:
                raise BadInput(file, f"row {row}", "repeats the pair of an earlier row", "keep one of the rows")
            verdict = UNSURE if better == "unsure" else MACHINE if better == match.side(annotator) else HUMAN
            hashes = text_hash(match.machine), text_hash(match.human)
            labels[answer] = (verdict, note, *hashes, digest(verdict, note, *hashes))
        label_rows = [(*answer, *label) for answer, label in labels.items()]
        return _store(warehouse, label_rows, len(rows) - len(answers))


def applicable(warehouse: Warehouse) -> pl.DataFrame:
    """Labels of pairs whose texts have not changed since they were labeled: columns `model`, `passage`, `annotator`,
    `better` and `fingerprint`."""
    labels = warehouse.read("pair_label").drop("note", "run_id", "updated_at")
    if labels.is_empty():
        return labels.drop("machine_hash", "human_hash")
    hashes = [
        (pair.model, pair.passage, text_hash(pair.machine), text_hash(pair.human))
        for pair in pairs(warehouse, glossary.literary(warehouse), labels.select("model", "passage"))
    ]
    columns = [*OUTPUT, "machine_hash", "human_hash"]
    current_texts = pl.DataFrame(hashes, schema=dict.fromkeys(columns, pl.String), orient="row")
    return labels.join(current_texts, on=columns, how="semi", maintain_order="left").drop("machine_hash", "human_hash")


def pairs(warehouse: Warehouse, corpora: dict[str, Literary], outputs: pl.DataFrame | None = None) -> list[ShownPair]:
    """Pairs of an output and a complete human translation. `corpora` maps corpora to the section `literary` of their
    descriptions; `outputs` has the columns `model` and `passage`; the default is all outputs of the corpora."""
    keys = pl.DataFrame({"corpus": list(corpora)}, schema={"corpus": pl.String})
    columns = ["passage", "corpus", "text", "previous", "following"]
    sources = {row[0]: row[1:] for row in warehouse.read("source_text", keys, columns).iter_rows()}
    passages = pl.DataFrame({"passage": list(sources)}, schema={"passage": pl.String})
    reference_keys = passages.with_columns(CORPUS, complete=True)
    names = {corpus: literary.human for corpus, literary in corpora.items()}
    human = pl.col("corpus").replace_strict(names, return_dtype=pl.String).alias("translator")
    keys = reference_keys.with_columns(human).drop("corpus") if names else reference_keys.drop("corpus").clear()
    humans = dict(warehouse.read("reference", keys, ["passage", "text"]).iter_rows())
    machines = warehouse.read("model_output", passages if outputs is None else outputs, [*OUTPUT, "text"])
    return [
        ShownPair(model, passage, text, previous or "", following or "", machine, humans[passage])
        for model, passage, machine in machines.iter_rows() if passage in humans
        for _, text, previous, following in [sources[passage]]
    ]  # fmt: skip


def _sample(candidates: Sequence[ShownPair], per_model: int | None) -> list[ShownPair]:
    """The first `per_model` pairs of each model in the order of a hash, without pairs that need no judgment."""
    different = (pair for pair in candidates if pair.machine.strip() and not alike(pair.machine, pair.human))
    by_model: dict[str, list[ShownPair]] = {}
    for pair in sorted(different, key=lambda pair: digest(pair.model, pair.passage)):
        by_model.setdefault(pair.model, []).append(pair)
    return [pair for model_pairs in by_model.values() for pair in model_pairs[:per_model]]


def _check_name(warehouse: Warehouse, file: Path, annotator: str, others: Iterable[str] = ()) -> None:
    """Raise BadInput if the name differs only in capitalization from another annotator's: one person with two spellings
    would count as two annotators."""
    for other in sorted({*others, *warehouse.read("pair_label", columns=["annotator"])["annotator"]} - {annotator}):
        if other.casefold() == annotator.casefold():
            problem = f"differs from {other} only in capitalization"
            remedy = f"export the pairs again: as {other} if it is the same person, else under another name"
            raise BadInput(file, f"annotator {annotator}", problem, remedy)


def _identity(file: Path, row: int, pair: str) -> tuple[str, str, str]:
    """Split a cell of the column `pair` into the key of the pair, the hash of its texts, and the annotator."""
    key, _, rest = pair.partition("-")
    texts, _, annotator = rest.partition("-")
    if len(key) != _DIGITS or len(texts) != _DIGITS or not annotator:
        raise BadInput(file, f"row {row}", f"{pair!r} does not name a pair", _REMEDY)
    return key, texts, annotator


def _answers(file: Path, ignore: Collection[str]) -> Iterator[tuple[int, str, str, str]]:
    """Row number, pair, `better` ('A', 'B', 'unsure' or '') and note of each row that is not blank."""
    text = decode(file)
    delimiter = next((mark for mark in ",;\t" if set(NEEDED) <= set(_header(text, mark))), None)
    if delimiter is None:
        problem, remedy = f"lacks one of the columns {', '.join(NEEDED)}", "give a file from `variorum pairs`"
        raise BadInput(file, "row 1", problem, remedy)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise BadInput(file, "", f"is not valid CSV ({error})", "save it as CSV from the spreadsheet") from error
    header = _header(text, delimiter)
    raise_all(unknown_keys(file, {name: "row 1" for name in header if name}, COLUMNS, IMPORTED, ignore, "column"))
    for number, cells in enumerate(rows[1:], start=2):
        row = dict(zip(header, map(unguarded, cells), strict=False))
        if not any(cell.strip() for cell in cells):
            continue
        better = row.get("better", "").strip().casefold()
        if better not in ("a", "b", "unsure", ""):
            problem = f"`better` is {row['better']!r}"
            raise BadInput(file, f"row {number}", problem, "write A, B or unsure, or leave the cell empty")
        yield number, row.get("pair", "").strip(), better.upper() if len(better) == 1 else better, row.get("note", "")


def _header(text: str, delimiter: str) -> list[str]:
    return [unguarded(cell).strip() for cell in next(csv.reader(io.StringIO(text), delimiter=delimiter), [])]


def _store(warehouse: Warehouse, rows: Sequence[tuple[str, ...]], unlabeled: int) -> PairCounts:
    """Store the labels that are new or changed; `unlabeled` is the number of rows without a label."""
    empty = warehouse.empty("pair_label")
    names = [*OUTPUT, "annotator", "better", "note", "machine_hash", "human_hash", "fingerprint"]
    labels = pl.DataFrame(rows, schema={name: empty.schema[name] for name in names}, orient="row")
    keys = labels.select(*OUTPUT, "annotator")
    stored = warehouse.read("pair_label", keys, [*keys.columns, "fingerprint"])
    changed = labels.join(stored, on=stored.columns, how="anti")
    replaced = changed.join(stored, on=keys.columns, how="semi")
    if len(changed):
        warehouse.write([Replacement("pair_label", changed, changed.select(keys.columns))], run_id="import")
    return PairCounts(len(changed) - len(replaced), len(labels) - len(changed), len(replaced), unlabeled)
