"""Blind pairs for annotators: export of outputs beside human translations or anchors, and import of the labels.

Here: the choice of pairs, the spreadsheet with its control items, the import of labels, and the labels of pairs whose
texts have not changed. Not here: the choice of control items (people.controls), the consistency of annotators
(people.consistency), calibration of judges against the labels (calibration), estimates from labels (anchored).
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.outputs import OUTPUT
from benchmark_assets.adjudication.triage import audits
from benchmark_assets.corpus.description import Literary
from benchmark_assets.corpus.registry import current
from benchmark_assets.corpus.rights import disclosure, named
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE, alike
from benchmark_assets.pairwise.comparing import SIDES, Side, arranged
from benchmark_assets.people import sheets
from benchmark_assets.people.consistency import left_out
from benchmark_assets.people.controls import ATTENTION, REPEAT, with_controls
from benchmark_assets.people.forms import PAIR_FORM
from benchmark_assets.people.items import SheetItem
from benchmark_assets.people.names import checked_names, first_spellings, known_names
from benchmark_assets.people.sheets import sheet
from benchmark_assets.references import glossary
from resources import catalogue, whole_files
from resources.digest import digest, text_hash
from resources.errors import BadInput, quoted
from resources.harmless import unguarded
from resources.keys import CORPUS
from resources.warehouse import Replacement, Warehouse

SHOWN = ("pair", "source", "previous", "next", *SIDES)
COLUMNS = (*SHOWN, *PAIR_FORM.columns)

TABLES = ("pair_label", "match_label", "pair_control")
"""Tables of labels: for pairs with human translations, for pairs with anchors, and for control items."""

ORDINARY = "pair"
"""Kind of the rows whose answers are preferences. The other kinds are REPEAT and ATTENTION."""

_SOURCE = ("text", "previous", "following")
_OURS = [*OUTPUT, "text"]
_DIGITS = 16
_REMEDY = "restore the column `pair` from the exported file"


class ShownPair(NamedTuple):
    """An output paired with the human translation or with an anchor's text, and their source with its context.

    `rival` is the base set and the name of the anchor; None for a pair with the human translation.
    """

    model: str
    passage: str
    source: str
    previous: str
    following: str
    machine: str
    human: str
    rival: tuple[str, str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Model and passage, and the base set and the name of the anchor, if any."""
        return (self.model, self.passage, *(self.rival or ()))

    @property
    def item(self) -> str:
        """The key of the pair, the same for all annotators; no file contains it."""
        return digest(*self.names)

    def key(self, annotator: str, kind: str = ORDINARY) -> str:
        """The key of the pair, or of its control item, in an annotator's file; it reveals nothing about the pair."""
        return digest(kind, annotator, *self.names)[:_DIGITS]

    def texts(self, kind: str = ORDINARY) -> str:
        """Hash of the two texts and the row's kind. The kind is included because otherwise, equal hashes
        would reveal that a pair is repeated."""
        return digest(*([] if kind == ORDINARY else [kind]), self.machine, self.human)[:_DIGITS]

    def side(self, annotator: str, kind: str = ORDINARY) -> Side:
        """The side on which the annotator sees the output. Control items have the sides swapped."""
        first = int(digest("side", annotator, *self.names), 16)
        return SIDES[(first + (kind != ORDINARY)) % 2]


class SentPair(NamedTuple):
    """Result of an export: the number of pairs in the file, the translators whose restricted texts it contains
    ('source' for the source text), and the number of control items."""

    pairs: int
    restricted: list[str]
    controls: int


class PairCounts(NamedTuple):
    """Result of an import. `taken`, `unchanged` and `replaced` count new, unchanged and replaced answers, including
    answers to control items. `open` counts rows without an answer."""

    taken: int
    unchanged: int
    replaced: int
    open: int


def export_pairs(
    warehouse: Warehouse, file: Path, corpus: str, annotator: str, per_model: int | None = None, private: bool = False,
    base_set: str | None = None,
) -> SentPair:  # fmt: skip
    """Write the pairs of a corpus for one annotator; the same arguments and warehouse give the same bytes.

    Pairs with a blank text or with equal texts are left out, because they need no judgment. Without `private`, a pair
    is also left out if its output or its anchor's text repeats a restricted text. If there are ten pairs or more,
    control items are added. The import recognizes control items by their keys.

    Parameters
    ----------
    file
        CSV file. It must not exist yet, because it might contain answers.
    per_model
        Number of pairs of each model; by default all. A hash chooses the pairs, so that all annotators get the
        same pairs.
    private
        Whether the file may contain restricted texts.
    base_set
        A base set whose anchors are shown beside the outputs. The default is to show the human translation.

    Raises
    ------
    BadInput
        If the corpus is unknown, cannot be read, names no human translation (without `base_set`) or has no pair; if the
        base set is unknown; if there are restricted texts and `private` is false; if the annotator's name is empty or
        has several lines; or if the file exists or cannot be written.
    """
    (name,) = checked_names([annotator])
    if file.exists():
        raise BadInput(file, "", "already exists and may contain answers", "give another file")
    with warehouse.consistently():
        name = first_spellings([name], known_names(warehouse))[name]
        current(warehouse, corpus)
        candidates, translators = _candidates(warehouse, corpus, base_set)
        seed = audits(warehouse)[corpus].seed
        texts_of_pairs = [(pair.passage, text) for pair in candidates for text in (pair.machine, pair.human)]
        outputs = pl.DataFrame(texts_of_pairs, dict.fromkeys(["passage", "text"], pl.String), orient="row")
        passages = outputs.select("passage").unique()
        others = warehouse.read("reference", passages, ["translator"])["translator"].unique().sort()
        rights = disclosure(warehouse, corpus, [*translators, *others], private)
    texts = {"", *translators}
    if hidden := named(sorted(texts & rights.hidden)):
        problem = f"would contain texts that may not be passed on: {', '.join(hidden)}"
        raise BadInput(file, "", problem, "add --private, and give the file only to people who may have these texts")
    withheld = rights.withheld(outputs).to_list()
    # The human translation itself may be shown if it is not hidden; an anchor's text is an output like others.
    shown = [
        pair for pair, machine, human in zip(candidates, withheld[::2], withheld[1::2], strict=True)
        if not machine and not (human and pair.rival)
    ]  # fmt: skip
    sample = _sample(shown, per_model)
    if not sample:
        problem = f"has no output to compare with {base_set or 'a complete human translation'}"
        remedy = "run `variorum evaluate MODEL`; blank outputs and copies of the other text are left out"
        raise BadInput(corpus, "", problem, remedy)
    rows = []
    for kind, pair, machine in _with_controls(sample, name, seed):
        texts_shown = arranged(machine, pair.human, pair.side(name, kind))
        identity = f"{pair.key(name, kind)}-{pair.texts(kind)}-{name}"
        rows.append([identity, pair.source, pair.previous, pair.following, *texts_shown, "", ""])
    whole_files.hand_over(file, sheet(COLUMNS, rows).decode())
    return SentPair(len(sample), named(name for name in rights.restricted if name in texts), len(rows) - len(sample))


def import_pairs(warehouse: Warehouse, file: Path, ignore: Collection[str] = ()) -> PairCounts:
    """Import the labels in a file of pairs. If there is an error, no label is imported.

    A label replaces the annotator's earlier label of the pair. Rows with an empty `better` and the columns in `ignore`
    are ignored. Answers to control items are stored in `pair_control`. Names are stored under their first spelling.

    Raises
    ------
    BadInput
        If a column is unknown; if a pair is unknown, occurs twice, or has texts that changed after the file was
        written; or if `better` is not A, B or unsure. Errors in a row name the row; the header is row 1.
    """
    rows = list(_answers(file, ignore))
    answers = [(row, *_identity(file, row, pair), better, note) for row, pair, better, note in rows if better]
    annotators = {annotator for _, _, _, annotator, _, _ in answers}
    labels: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = {table: {} for table in TABLES}
    with warehouse.exclusively():  # texts must not change between the check and the write
        current_pairs = [*pairs(warehouse, glossary.literary(warehouse)), *matches(warehouse)]
        by_key: dict[tuple[str, str], tuple[ShownPair, str]] = {}
        spellings = first_spellings(sorted(annotators), known_names(warehouse))
        for annotator in annotators:
            for kind in (ORDINARY, REPEAT, ATTENTION):
                by_key |= {(annotator, pair.key(annotator, kind)): (pair, kind) for pair in current_pairs}
        for row, key, texts, annotator, better, note in answers:
            match, kind = by_key.get((annotator, key), (None, ""))
            if match is None:
                remedy = f"{_REMEDY}; if the column is unchanged, delete the row, or add the model or corpus again"
                raise BadInput(file, f"row {row}", "has a pair that is not in this warehouse", remedy)
            if match.texts(kind) != texts:
                problem = f"has a pair whose texts have changed (model {match.model}, passage {match.passage})"
                raise BadInput(file, f"row {row}", problem, "delete the row, or export the pairs again")
            if kind == ORDINARY:
                table, label = "match_label" if match.rival else "pair_label", (*match.names, spellings[annotator])
            else:
                rival = match.rival or ("", "")
                table, label = "pair_control", (*match.names[:2], *rival, kind, spellings[annotator])
            if label in labels[table]:
                raise BadInput(file, f"row {row}", "repeats the pair of an earlier row", "keep one of the rows")
            verdict = UNSURE if better == "unsure" else MACHINE if better == match.side(annotator, kind) else HUMAN
            hashes = text_hash(match.machine), text_hash(match.human)
            labels[table][label] = (verdict, note, *hashes, digest(verdict, note, *hashes))
        counts = [
            _store(warehouse, table, [key + answer for key, answer in of.items()]) for table, of in labels.items()
        ]
        taken, unchanged, replaced = map(sum, zip(*counts, strict=True))
        return PairCounts(taken, unchanged, replaced, len(rows) - len(answers))


def known_points(pair: ShownPair) -> float | None:
    """Points of the output in a pair that needs no judgment; None for all other pairs.

    The points are ½ if both texts are blank or have the same words, 0 if only the output is blank, and 1 if only the
    other text is blank.
    """
    if alike(pair.machine, pair.human):
        return 0.5
    if not pair.machine.strip():
        return 0.0
    return None if pair.human.strip() else 1.0


def applicable(warehouse: Warehouse) -> pl.DataFrame:
    """Labels of pairs whose texts have not changed since they were labeled: columns `model`, `passage`, `annotator`,
    `better` and `fingerprint`."""
    labels = warehouse.read("pair_label")
    outputs = labels.select(OUTPUT)
    shown = pairs(warehouse, glossary.literary(warehouse), outputs) if len(labels) else []
    return _applicable(warehouse, labels, shown)


def pairs(warehouse: Warehouse, corpora: dict[str, Literary], outputs: pl.DataFrame | None = None) -> list[ShownPair]:
    """Pairs of an output and a complete human translation. `corpora` maps corpora to the section `literary` of their
    descriptions. `outputs` has the columns `model` and `passage`; the default is all outputs of the corpora."""
    keys = pl.DataFrame({"corpus": list(corpora)}, schema={"corpus": pl.String})
    sources = warehouse.read("source_text", keys, ["passage", *_SOURCE])
    names = {corpus: literary.human for corpus, literary in corpora.items()}
    human = CORPUS.replace_strict(names, default=None, return_dtype=pl.String)
    references = sources.select("passage", translator=human, complete=True)
    humans = warehouse.read("reference", references, ["passage", "text"]).rename({"text": "theirs"})
    machines = warehouse.read("model_output", sources.select("passage") if outputs is None else outputs, _OURS)
    rows = machines.rename({"text": "ours"}).join(humans, on="passage", maintain_order="left")
    return _shown(rows.join(sources, on="passage", maintain_order="left"))


def matches(warehouse: Warehouse, base_set: str | None = None) -> list[ShownPair]:
    """Pairs of an output and the text of an anchor, from one base set, or from all base sets if `base_set` is None.

    Passages whose source has changed since the anchors translated it are left out.
    """
    key = None if base_set is None else pl.DataFrame({"base_set": [base_set]})
    items = warehouse.read("base_set_item", key, ["base_set", "passage", "source_hash"])
    sources = warehouse.read("source_text", items.select("passage").unique(), ["passage", *_SOURCE])
    current_hash = pl.col("text").map_elements(text_hash, return_dtype=pl.String)
    items = items.join(sources.with_columns(source_hash=current_hash), on=["passage", "source_hash"])
    anchors = warehouse.read("anchor_output", key, ["base_set", "anchor", "passage", "text"]).rename({"text": "theirs"})
    outputs = warehouse.read("model_output", items.select("passage").unique(), _OURS)
    rows = items.join(anchors, on=["base_set", "passage"]).join(outputs.rename({"text": "ours"}), on="passage")
    rows = rows.filter(pl.col("model") != pl.col("anchor")).sort("model", "passage", "base_set", "anchor")
    return _shown(rows, "base_set", "anchor")


def passages_of(shown: Sequence[ShownPair]) -> pl.DataFrame:
    """The passages of pairs, in the column `passage`."""
    return pl.DataFrame({"passage": [pair.passage for pair in shown]}, schema={"passage": pl.String}).unique()


def _shown(rows: pl.DataFrame, *rival: str) -> list[ShownPair]:
    """Pairs from their texts, and from the columns that name the rival of the output."""
    columns = [*OUTPUT, *_SOURCE, "ours", "theirs", *rival]
    filled = rows.select(columns).with_columns(pl.col("previous", "following").fill_null(""))
    return [ShownPair._make([*row[:7], row[7:] or None]) for row in filled.iter_rows()]


def applicable_matches(warehouse: Warehouse) -> pl.DataFrame:
    """Labels of matches whose texts have not changed since they were labeled: rows of `match_label` without hashes."""
    labels = warehouse.read("match_label")
    return _applicable(warehouse, labels, matches(warehouse) if len(labels) else [])


def _applicable(warehouse: Warehouse, labels: pl.DataFrame, shown: Sequence[ShownPair]) -> pl.DataFrame:
    """The labels whose pairs still have the texts that were labeled, without those of people who failed."""
    people = ["corpus", "annotator"]
    labels = labels.with_columns(CORPUS).join(left_out(warehouse, "pair_label"), on=people, how="anti").drop("corpus")
    hashes = [name for name in labels.columns if name.endswith("_hash")]
    columns = [*(name for name in (*OUTPUT, "base_set", "anchor") if name in labels.columns), *hashes]
    rows = [(*pair.names, text_hash(pair.machine), text_hash(pair.human)) for pair in shown]
    texts = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    return labels.join(texts, on=columns, how="semi", maintain_order="left").drop(
        "note", "run_id", "updated_at", *hashes
    )


def _candidates(warehouse: Warehouse, corpus: str, base_set: str | None) -> tuple[list[ShownPair], list[str]]:
    """The pairs of a corpus, and the translators whose texts these pairs contain."""
    if base_set is not None:
        if base_set not in (known := set(warehouse.read("base_set", columns=["base_set"])["base_set"])):
            remedy = f"imported base sets: {', '.join(sorted(known)) or 'none'}"
            raise BadInput(base_set, "", "is not an imported base set", remedy)
        shown = matches(warehouse, base_set)
        return [pair for pair in shown if pair.passage.partition("/")[0] == corpus], []
    if (literary := glossary.literary(warehouse).get(corpus)) is None:
        raise BadInput(corpus, "literary.human", "is missing", "name the human translation in its description")
    return pairs(warehouse, {corpus: literary}), [literary.human]


def _sample(candidates: Sequence[ShownPair], per_model: int | None) -> list[ShownPair]:
    """The first `per_model` pairs of each model that need a judgment, by their hash. `drawn` relies on this order."""
    different = (pair for pair in candidates if known_points(pair) is None)
    by_model: dict[str, list[ShownPair]] = {}
    for pair in sorted(different, key=lambda pair: pair.item):
        by_model.setdefault(pair.model, []).append(pair)
    return [pair for model_pairs in by_model.values() for pair in model_pairs[:per_model]]


def drawn(by: Collection[str]) -> pl.Expr:
    """Whether a pair was drawn for people, in a frame with one row for each pair of an output.

    Parameters
    ----------
    by
        Columns that identify a population from which `_sample` draws: the model and the corpus.

    Notes
    -----
    The columns are `known` (`known_points`), `item` and `people` (null without a label). `_sample` draws the first
    pairs in the order of `item`, whatever their number. So all pairs before the last labeled one were drawn, for every
    file that was ever written. Pairs that were drawn after it are not recognized. If people label a share p of the
    pairs, these are (1 - p) / p pairs on average. A pair that was not shown, because its text may not be passed on or
    because it is newer than the file, counts as drawn, because the labels say nothing about such pairs.
    """
    last = pl.col("item").filter(pl.col("people").is_not_null()).max().over(by)
    return (pl.col("known").is_null() & (pl.col("item") <= last)).fill_null(False)


def _with_controls(sample: Sequence[ShownPair], annotator: str, seed: int) -> list[tuple[str, ShownPair, str]]:
    """The rows of an annotator's file: the pairs in a random order, with repeated pairs and attention checks.

    Each row has its kind, its pair, and the text that is shown as the output. In an attention check, this is the output
    of another passage.
    """
    by_item = {pair.item: pair for pair in sample}
    items = [SheetItem(item, pair.passage, pair.source, {}, pair.machine) for item, pair in by_item.items()]
    lists, controls = with_controls(items, [annotator], seed)
    known = {control.shown.item: (control.kind, control.original) for control in controls}
    rows = [(*known.get(shown.item, (ORDINARY, shown.item)), shown.candidate) for (shown,) in lists[annotator]]
    return [(kind, by_item[original], machine) for kind, original, machine in rows]


def _identity(file: Path, row: int, pair: str) -> tuple[str, str, str]:
    """Split a cell of the column `pair` into the key of the pair, the hash of its texts, and the annotator."""
    key, _, rest = pair.partition("-")
    texts, _, annotator = rest.partition("-")
    if len(key) != _DIGITS or len(texts) != _DIGITS or not annotator:
        raise BadInput(file, f"row {row}", f"{quoted(pair)} does not name a pair", _REMEDY)
    return key, texts, annotator


def _answers(file: Path, ignore: Collection[str]) -> Iterator[tuple[int, str, str, str]]:
    """Row number, pair, `better` ('A', 'B', 'unsure' or '') and note of each row that is not blank."""
    for number, cells, _ in sheets.read(file, [PAIR_FORM], SHOWN, ignore, "annotate --as pairs")[1]:
        try:
            better = PAIR_FORM.checked(PAIR_FORM.of_cells(cells)[0], "", exact=True).row["better"] or ""
        except ValueError as fault:
            raise BadInput(file, f"row {number}", str(fault), "correct the cell, or leave it empty") from fault
        yield number, unguarded(cells["pair"]).strip(), str(better), unguarded(cells.get("note", ""))


def _store(warehouse: Warehouse, table: str, rows: Sequence[tuple[str, ...]]) -> tuple[int, int, int]:
    """Store the new and changed labels; return the numbers of new, unchanged and replaced labels."""
    empty, key = warehouse.empty(table), list(catalogue.table(table).key)
    names = [*key, "better", "note", *(name for name in empty.columns if name.endswith("_hash")), "fingerprint"]
    labels = pl.DataFrame(rows, schema={name: empty.schema[name] for name in names}, orient="row")
    stored = warehouse.read(table, labels.select(key), [*key, "fingerprint"])
    changed = labels.join(stored, on=stored.columns, how="anti")
    replaced = changed.join(stored, on=key, how="semi")
    if len(changed):
        warehouse.write([Replacement(table, changed, changed.select(key))], run_id="import")
    return len(changed) - len(replaced), len(labels) - len(changed), len(replaced)
