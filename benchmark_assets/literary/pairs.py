"""Blind pairs for annotators: write outputs and human translations to a spreadsheet, and import the labels.

Here: the choice of pairs, the file, its import, which labels still apply. Not here: calibration of judges by the labels
(calibration).
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.annotation import sheet, unguarded
from benchmark_assets.adjudication.outputs import OUTPUT
from benchmark_assets.corpus.description import Literary
from benchmark_assets.corpus.readers.characters import decode
from benchmark_assets.corpus.registry import current
from benchmark_assets.corpus.rights import disclosure, named
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE, alike
from benchmark_assets.pairwise.base_sets import text_hash
from benchmark_assets.pairwise.comparing import SIDES, Side
from benchmark_assets.references import glossary
from resources import whole_files
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.warehouse import Replacement, Warehouse

COLUMNS = ("pair", "source", "previous", "next", "A", "B", "better", "note")
NEEDED = ("pair", "better")
"""Columns that a sheet of pairs must have."""

_DIGITS = 16
_REMEDY = "leave the column `pair` as it was written"


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
        """The name of the pair for an annotator; it reveals nothing about the pair."""
        return digest("pair", annotator, self.model, self.passage)[:_DIGITS]

    @property
    def texts(self) -> str:
        """Hash of the two texts."""
        return digest(self.machine, self.human)[:_DIGITS]

    def side(self, annotator: str) -> Side:
        """The side on which the annotator sees the output."""
        return SIDES[int(digest("side", annotator, self.model, self.passage), 16) % 2]


class SentPair(NamedTuple):
    """Number of pairs in a file, and its restricted texts: names of translators, and 'source'."""

    pairs: int
    restricted: list[str]


class PairCounts(NamedTuple):
    """Result of an import: numbers of labels `taken` for the first time, `unchanged`, `replaced`, and of pairs still
    `open`."""

    taken: int
    unchanged: int
    replaced: int
    open: int


def export_pairs(
    warehouse: Warehouse, file: Path, corpus: str, annotator: str, per_model: int | None = None, private: bool = False
) -> SentPair:
    """Write pairs of a corpus for one annotator; the same warehouse and name give the same bytes.

    Leaves out empty outputs and outputs equal to the human translation, which need no judgment; without `private`, also
    outputs that repeat a restricted text.

    Parameters
    ----------
    file
        CSV file. It must not exist, since it might have answers in it.
    per_model
        Number of outputs of each model, chosen by a hash, so that all annotators get the same ones; by default all.
    private
        Whether the file may hold restricted texts.

    Raises
    ------
    BadInput
        For a corpus that is unknown, cannot be read, names no human translation or has no pair; restricted texts
        without `private`; a name that is empty, has several lines, or differs in capitals only from an annotator with
        labels in the warehouse; a file that exists or cannot be written.
    """
    name = annotator.strip()
    if not name or not name.isprintable():
        raise BadInput("annotator", repr(annotator), "is no name", "give a name of one line")
    if file.exists():
        raise BadInput(file, "", "exists already, perhaps with answers in it", "give another file")
    with warehouse.exclusively():  # consistent tables
        _check_name(warehouse, file, name)
        current(warehouse, corpus)
        if (literary := glossary.literary(warehouse).get(corpus)) is None:
            raise BadInput(corpus, "literary.human", "is missing", "name the human translation in its description")
        known = pairs(warehouse, {corpus: literary})
        outputs = pl.DataFrame(
            [(pair.passage, pair.machine) for pair in known],
            dict.fromkeys(["passage", "text"], pl.String),
            orient="row",
        )
        rights = disclosure(warehouse, corpus, [literary.human], outputs.select("passage").unique(), private)
    texts = {"", literary.human}
    if hidden := named(sorted(texts & rights.hidden)):
        raise BadInput(
            file, "", f"would hold texts that may not be passed on: {', '.join(hidden)}",
            "add --private, and give it only to those who may have them",
        )  # fmt: skip
    withheld = rights.withheld(outputs).to_list()
    drawn = _drawn([pair for pair, hidden in zip(known, withheld, strict=True) if not hidden], per_model)
    if not drawn:
        raise BadInput(corpus, "", "has no output with a complete human translation", "run `variorum evaluate MODEL`")
    rows = []
    for pair in sorted(drawn, key=lambda pair: pair.key(name)):  # an uninformative order, different for each annotator
        sides = (pair.machine, pair.human)[:: 1 if pair.side(name) == "A" else -1]
        identity = f"{pair.key(name)}-{pair.texts}-{name}"
        rows.append([identity, pair.source, pair.previous, pair.following, *sides, "", ""])
    whole_files.hand_over(file, sheet(COLUMNS, rows).decode())
    return SentPair(len(rows), named(name for name in rights.restricted if name in texts))


def import_pairs(warehouse: Warehouse, file: Path) -> PairCounts:
    """Import labels of pairs from a file, all or none.

    A label replaces the annotator's earlier label of the pair. A row whose `better` is empty changes nothing, whatever
    its other cells.

    Raises
    ------
    BadInput
        With the row (the header is row 1), for a pair that is unknown, occurs twice, or whose texts have changed since
        the file was written, and for a `better` other than A, B and unsure. For an annotator whose name differs in
        capitals only from another one, in the file or in the warehouse.
    """
    rows = list(_answers(file))
    answers = [(row, *_identity(file, row, pair), better, note) for row, pair, better, note in rows if better]
    annotators = {annotator for _, _, _, annotator, _, _ in answers}
    labels: dict[tuple[str, str, str], tuple[str, ...]] = {}
    with warehouse.exclusively():  # texts must not change between the check and the write
        known = pairs(warehouse, glossary.literary(warehouse))
        by_key: dict[tuple[str, str], ShownPair] = {}
        for annotator in annotators:
            _check_name(warehouse, file, annotator, annotators)
            by_key |= {(annotator, each.key(annotator)): each for each in known}
        for row, key, texts, annotator, better, note in answers:
            pair = by_key.get((annotator, key))
            if pair is None:
                raise BadInput(
                    file, f"row {row}", "has a pair that is not in this warehouse",
                    f"{_REMEDY}; else delete the row, or add the model or corpus again",
                )  # fmt: skip
            if pair.texts != texts:
                raise BadInput(
                    file, f"row {row}", f"its texts have changed ({pair.model} on {pair.passage})",
                    "delete the row, or export the pairs again",
                )  # fmt: skip
            answer = pair.model, pair.passage, annotator
            if answer in labels:
                raise BadInput(file, f"row {row}", "repeats the pair of an earlier row", "keep one of the rows")
            verdict = UNSURE if better == "unsure" else MACHINE if better == pair.side(annotator) else HUMAN
            hashes = text_hash(pair.machine), text_hash(pair.human)
            labels[answer] = (verdict, note, *hashes, digest(verdict, note, *hashes))
        given = [(*answer, *label) for answer, label in labels.items()]
        return _store(warehouse, given, len(rows) - len(answers))


def applicable(warehouse: Warehouse) -> pl.DataFrame:
    """Labels about the current texts: columns `model`, `passage`, `annotator`, `better` and `fingerprint`."""
    labels = warehouse.read("pair_label").drop("note", "run_id", "updated_at")
    if labels.is_empty():
        return labels.drop("machine_hash", "human_hash")
    known = [
        (each.model, each.passage, text_hash(each.machine), text_hash(each.human))
        for each in pairs(warehouse, glossary.literary(warehouse), labels.select("model", "passage"))
    ]
    columns = [*OUTPUT, "machine_hash", "human_hash"]
    now = pl.DataFrame(known, schema=dict.fromkeys(columns, pl.String), orient="row")
    return labels.join(now, on=columns, how="semi", maintain_order="left").drop("machine_hash", "human_hash")


def pairs(warehouse: Warehouse, corpora: dict[str, Literary], outputs: pl.DataFrame | None = None) -> list[ShownPair]:
    """All outputs of corpora whose passage has a complete human translation, or those among `outputs`.

    Parameters
    ----------
    corpora
        The literary part of their descriptions, by name.
    outputs
        Columns `model` and `passage`; by default all.
    """
    own = pl.DataFrame({"corpus": list(corpora)}, schema={"corpus": pl.String})
    columns = ["passage", "corpus", "text", "previous", "following"]
    sources = {row[0]: row[1:] for row in warehouse.read("source_text", own, columns).iter_rows()}
    passages = pl.DataFrame({"passage": list(sources)}, schema={"passage": pl.String})
    complete = passages.with_columns(CORPUS, complete=True)
    names = {corpus: literary.human for corpus, literary in corpora.items()}
    human = pl.col("corpus").replace_strict(names, return_dtype=pl.String).alias("translator")
    keys = complete.with_columns(human).drop("corpus") if names else complete.drop("corpus").clear()
    humans = dict(warehouse.read("reference", keys, ["passage", "text"]).iter_rows())
    found = warehouse.read("model_output", passages if outputs is None else outputs, [*OUTPUT, "text"])
    return [
        ShownPair(model, passage, text, previous or "", following or "", machine, humans[passage])
        for model, passage, machine in found.iter_rows() if passage in humans
        for _, text, previous, following in [sources[passage]]
    ]  # fmt: skip


def _drawn(candidates: Sequence[ShownPair], per_model: int | None) -> list[ShownPair]:
    different = (pair for pair in candidates if pair.machine.strip() and not alike(pair.machine, pair.human))
    by_model: dict[str, list[ShownPair]] = {}
    for pair in sorted(different, key=lambda pair: digest(pair.model, pair.passage)):
        by_model.setdefault(pair.model, []).append(pair)
    return [pair for of_model in by_model.values() for pair in of_model[:per_model]]


def _check_name(warehouse: Warehouse, file: Path, annotator: str, others: Iterable[str] = ()) -> None:
    """Refuse a name that differs in capitals only from another annotator's, since both would count as two people."""
    for other in sorted({*others, *warehouse.read("pair_label", columns=["annotator"])["annotator"]} - {annotator}):
        if other.casefold() == annotator.casefold():
            raise BadInput(
                file, f"annotator {annotator}", f"differs in capitals only from {other}",
                f"export the pairs again: as {other} if it is the same person, else under another name",
            )  # fmt: skip


def _identity(file: Path, row: int, pair: str) -> tuple[str, str, str]:
    """Key, hash of the texts, and annotator, from the name of a pair."""
    key, _, rest = pair.partition("-")
    texts, _, annotator = rest.partition("-")
    if len(key) != _DIGITS or len(texts) != _DIGITS or not annotator:
        raise BadInput(file, f"row {row}", f"{pair!r} is the name of no pair", _REMEDY)
    return key, texts, annotator


def _answers(file: Path) -> Iterator[tuple[int, str, str, str]]:
    """Number, pair, `better` ('A', 'B', 'unsure' or '') and note of each row that is not empty."""
    text = decode(file)
    mark = next((mark for mark in ",;\t" if set(NEEDED) <= set(_header(text, mark))), None)
    if mark is None:
        raise BadInput(file, "row 1", f"does not name the columns {', '.join(NEEDED)}", "give a sheet of pairs")
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=mark, strict=True))
    except csv.Error as error:
        raise BadInput(file, "", f"is no CSV ({error})", "save it as CSV from the spreadsheet") from error
    header = _header(text, mark)
    for number, cells in enumerate(rows[1:], start=2):
        row = dict(zip(header, map(unguarded, cells), strict=False))
        if not any(cell.strip() for cell in cells):
            continue
        better = row.get("better", "").strip().casefold()
        if better not in ("a", "b", "unsure", ""):
            raise BadInput(
                file, f"row {number}", f"better {row['better']!r} is none of A, B and unsure", "write one of them"
            )
        yield number, row.get("pair", "").strip(), better.upper() if len(better) == 1 else better, row.get("note", "")


def _header(text: str, mark: str) -> list[str]:
    return [unguarded(cell).strip() for cell in next(csv.reader(io.StringIO(text), delimiter=mark), [])]


def _store(warehouse: Warehouse, given: Sequence[tuple[str, ...]], waiting: int) -> PairCounts:
    empty = warehouse.empty("pair_label")
    names = [*OUTPUT, "annotator", "better", "note", "machine_hash", "human_hash", "fingerprint"]
    labels = pl.DataFrame(given, schema={name: empty.schema[name] for name in names}, orient="row")
    keys = labels.select(*OUTPUT, "annotator")
    known = warehouse.read("pair_label", keys, [*keys.columns, "fingerprint"])
    changed = labels.join(known, on=known.columns, how="anti")
    replaced = changed.join(known, on=keys.columns, how="semi")
    if len(changed):
        warehouse.write([Replacement("pair_label", changed, changed.select(keys.columns))], run_id="import")
    return PairCounts(len(changed) - len(replaced), len(labels) - len(changed), len(replaced), waiting)
