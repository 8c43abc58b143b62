"""Content of a reader: passages with texts, outputs, scores and judgments; an overview of all outputs, to filter them.

Here: rows, rights and the form of the records. Not here: files (writing), code that runs in the browser (reader.js),
the sample for annotators (people.sample).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import polars as pl

from benchmark_assets.adjudication.labels import CATEGORIES, SUBSTANTIVE, UNCERTAIN, categories_of
from benchmark_assets.adjudication.triage import audits, band_names
from benchmark_assets.adjudication.verdicts import COUNTED, KEY
from benchmark_assets.audit.examples import with_people
from benchmark_assets.audit.rated import anonymous
from benchmark_assets.corpus.human_work import imported_outputs
from benchmark_assets.corpus.proposed import UNSTATED
from benchmark_assets.corpus.renderings import doubts_by_reference
from benchmark_assets.corpus.rights import disclosure, named
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.entries import COMET, DRIFT, LEXICAL, on
from benchmark_assets.metrics.further import metrics_of
from benchmark_assets.metrics.peers import consensus
from benchmark_assets.metrics.scores import made_by
from benchmark_assets.metrics.unmeasured import BAND
from benchmark_assets.reporting import contrast, trace
from benchmark_assets.reporting.reader.origin import Packed, packed
from benchmark_assets.validation.boards import certificates
from benchmark_assets.validation.certificates import DISTANCE
from resources import catalogue
from resources.errors import BadInput
from resources.keys import COLLECTION
from resources.warehouse import Warehouse

METRICS = on("reader")
NUMBERS = [metric.name for metric in METRICS]
SCORES = {
    family.table: [metric.name for metric in METRICS if metric.family == family] for family in (DRIFT, LEXICAL, COMET)
}
"""Columns with scores that the reader shows, by table."""

JUDGEMENT = ("label", "error_category", "severity", "confidence")
REPEATED = "repeats_a_reference"
"""Name under which outputs that repeat a reference are listed among the faults."""

ASIDES = ("reference", "note", "footnote", "variant")
"""Kinds of asides that stand below a text: what its segments have beside them."""
WORDS = ("cause", "evidence", "problem_phrase", "correction", "abstention")
"""Columns with the judges' free text, which may quote any text."""

PEERS = f"similarity to other systems ({DISTANCE})"

Record: TypeAlias = dict[str, object]


class ReaderContent(NamedTuple):
    """Content of a reader.

    Attributes
    ----------
    overview
        Lists of names (models, bands, labels and so on), and columns with each output's positions in these lists.
    passages
        Texts, outputs and judgments of each passage, in the order of `overview["passages"]`.
    outputs
        Number of outputs, including refusals.
    restricted
        Names of the corpus's restricted texts.
    withheld
        Number of outputs that are withheld because they copy a restricted text.
    signatures
        Signatures of the scores.
    worth
        What each measure is worth, by its label.
    """

    overview: Record
    passages: list[Record]
    outputs: int
    restricted: list[str]
    withheld: int
    signatures: list[str]
    worth: dict[str, str]


def shown(warehouse: Warehouse, corpus: str, private: bool) -> ReaderContent:
    """Content of a corpus's reader. The same warehouse gives the same content.

    Parameters
    ----------
    private
        Whether to include restricted texts, outputs that repeat a restricted text, and free text by judges and
        annotators, which may quote any text. Otherwise, restricted texts and such outputs are reduced to their
        length, and free text is omitted.

    Raises
    ------
    BadInput
        For an unknown corpus, an unreadable description, or a corpus without a passage in the benchmark.
    """
    with warehouse.consistently():
        sources = _sources(warehouse, corpus)
        passages = sources.select("passage")
        references = warehouse.read("reference", passages, ["passage", "translator", "text", "complete"])
        rights = disclosure(warehouse, corpus, references["translator"], private)
        unlicensed = rights.rights.filter(licence=UNSTATED)["translator"].to_list()
        if sources.is_empty():
            remedy = "run `variorum update`; `variorum trace CORPUS` shows why passages are dropped"
            raise BadInput(corpus, "", "has no passage in the benchmark", remedy)
        key = pl.DataFrame({"corpus": [corpus]})
        (target,) = warehouse.read("corpus", key, ["target_language"])["target_language"]
        audit = audits(warehouse)[corpus]
        bands = [*band_names(audit.bands, audit.by), BAND]
        outputs = _outputs(warehouse, passages)
        drifts = warehouse.read("human_baseline", passages, ["passage", "translator", "drift"])
        pairs = doubts_by_reference(warehouse, passages)
        for further in (drifts, pairs):
            references = references.join(further, on=["passage", "translator"], how="left")
        texts = _texts(sources, references, target)
        asides = _asides(warehouse, corpus, sources)
        for passage, records in texts.items():
            for record in records:
                if record["name"] not in rights.hidden and (own := asides.get((passage, record["name"]))):
                    record["asides"] = own
        judgements = {
            "votes": _votes(warehouse, passages, private), "people": _people(warehouse, passages, private),
            "marked": _marked(warehouse, passages), "errors": _errors(warehouse, passages, private),
            "metrics": _metrics(warehouse, passages), "metric_errors": _metric_errors(warehouse, passages),
        }  # fmt: skip
        signatures = made_by(warehouse, passages)
        certified = certificates(warehouse, [corpus]).select("metric", "worth")
        worth = {catalogue.label(metric): words for metric, words in certified.iter_rows()}
        origins = packed(trace.of_passages(warehouse, passages))
    comparable = sorted(set(references.filter("complete")["translator"]) - rights.hidden)
    overview = _overview(corpus, private, sources, outputs, bands, comparable, categories_of(warehouse)[corpus])
    overview |= {"origins": {"kinds": origins.kinds, "calls": origins.calls}, "worth": worth, "unlicensed": unlicensed}
    outputs = outputs.with_columns(withheld=rights.withheld(outputs))
    passages_shown = list(_passages(sources, outputs, texts, judgements, origins.steps, rights.hidden, target))
    restricted, withheld = named(rights.restricted), outputs["withheld"].count()
    return ReaderContent(overview, passages_shown, len(outputs), restricted, withheld, signatures, worth)


def _sources(warehouse: Warehouse, corpus: str) -> pl.DataFrame:
    """Sources of the benchmark's passages, sorted by document and position.

    `collection` is '' for a document that belongs to no collection.
    """
    columns = ["passage", "passage_id", "document", "position", "language", "text", "segment_ids"]
    rows = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), columns)
    selected = warehouse.read("selection", rows.select("passage"), ["passage", "selected"]).filter("selected")
    rows = rows.join(selected, on="passage", how="semi").sort("document", "position", "passage")
    return rows.with_columns(collection=COLLECTION.fill_null(""))


def _outputs(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Outputs and refusals (with null `text`), one per row, with bands, scores, diagnoses and verdicts.

    Imported outputs that translate an earlier source are `outdated` and have no scores.
    """
    texts = warehouse.read("model_output", passages, [*KEY, "text"])
    outdated = imported_outputs(warehouse, passages).filter("outdated").select(*KEY, "text", "outdated")
    refused = warehouse.read("refusal", passages, KEY).with_columns(text=pl.lit(None, pl.String))
    triage = warehouse.read("triage", passages)
    panel = warehouse.read(
        "verdict", passages, [*KEY, "label", "error_category", "judges", *COUNTED, "abstained", "split"]
    )
    judged = with_people(triage, panel, warehouse.read("human_label", passages)).drop("corpus", "drift", "queued")
    current = pl.concat([texts, refused]).join(outdated, on=KEY, how="anti")
    rows = pl.concat([current.with_columns(outdated=pl.lit(False)), outdated])
    others = [
        triage.select(*KEY, "drift", "band", "queued", "sampled"), judged,
        warehouse.read(DRIFT.table, passages, [*KEY, "closest_reference"]),
        *(warehouse.read(table, passages, [*KEY, *names]) for table, names in SCORES.items()),
        warehouse.read("output_diagnostic", passages, [*KEY, *DIAGNOSES]),
        warehouse.read("head_to_head", passages, [*KEY, "verdict", "balance", "seats"]),
        _repeated(warehouse, passages),
    ]  # fmt: skip
    for further in others:
        rows = rows.join(further, on=KEY, how="left")
    return rows.sort("passage", "model")


def _repeated(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Outputs that repeat a reference: `repeats` names the translators, and the passage if it is another."""
    rows = warehouse.read("copied_passage", passages, [*KEY, "translator", "copied_from"])
    other = pl.when(pl.col("copied_from") != "").then(pl.format(" of {}", "copied_from")).otherwise(pl.lit(""))
    repeats = pl.format("repeats {}", "translator") + other
    return (
        rows.with_columns(repeats=repeats)
        .sort("translator")
        .group_by(KEY)
        .agg(repeats=pl.col("repeats").str.join(", "))
    )


def _texts(sources: pl.DataFrame, references: pl.DataFrame, target: str | None) -> dict[str, list[Record]]:
    """Records of each passage's source (with the name '') and references, complete references first."""
    texts: dict[str, list[Record]] = {}
    for passage, language, text in sources.select("passage", "language", "text").iter_rows():
        texts[passage] = [{"name": "", "language": language, "text": text, "complete": True, "drift": None}]
    ordered = references.sort("complete", "translator", descending=[True, False])
    for passage, name, text, complete, drift, doubt in ordered.select(
        "passage", "translator", "text", "complete", "drift", "doubt"
    ).iter_rows():
        record = {"name": name, "language": target or "", "text": text, "complete": complete, "drift": _short(drift)}
        record |= {"doubt": doubt} if doubt else {}
        texts[passage].append(record)
    return texts


def _asides(warehouse: Warehouse, corpus: str, sources: pl.DataFrame) -> dict[tuple[str, object], list[list[str]]]:
    """Kinds and texts of the asides of segments, by passage and translator."""
    asides = warehouse.read("aside", sources.select("document", corpus=pl.lit(corpus)).unique())
    asides = asides.filter(pl.col("kind").is_in(ASIDES))
    placed = sources.select("passage", "document", segment_id="segment_ids").explode("segment_id")
    rows = placed.join(asides, on=["document", "segment_id"], maintain_order="left")
    found: dict[tuple[str, object], list[list[str]]] = {}
    for passage, translator, kind, text in rows.select("passage", "translator", "kind", "text").iter_rows():
        found.setdefault((passage, translator), []).append([kind, text])
    return found


def _votes(warehouse: Warehouse, passages: pl.DataFrame, private: bool) -> dict[tuple[str, str], list[Record]]:
    """Judges' votes on each output; with the judges' free text if `private`."""
    words = WORDS if private else ()
    rows = warehouse.read("judge_vote", passages, [*KEY, "judge", *JUDGEMENT, *words]).rename({"judge": "rater"})
    return _by_output(rows.with_columns(span=pl.lit(None)), words)


def _people(warehouse: Warehouse, passages: pl.DataFrame, private: bool) -> dict[tuple[str, str], list[Record]]:
    """Annotators' labels of each output, with numbers in place of names; with notes if `private`."""
    words = ("notes",) if private else ()
    names = [*KEY, "annotator", *JUDGEMENT, "span_start", "span_end", *words]
    rows = warehouse.read("human_label", passages, names).rename({"annotator": "rater"})
    marked = pl.when(pl.col("span_start").is_not_null()).then(pl.concat_list("span_start", "span_end"))
    rows = rows.with_columns(pl.col("rater").replace(anonymous(rows["rater"])), span=marked)
    return _by_output(rows.drop("span_start", "span_end"), words)


def _marked(warehouse: Warehouse, passages: pl.DataFrame) -> dict[tuple[str, str], list[Record]]:
    """The scores of each output, one for each judge that marked the output's errors."""
    rows = warehouse.read("span_vote", passages, [*KEY, "judge", "mqm", "esa"]).drop_nulls("mqm")
    return _by_output(rows, ())


def _errors(warehouse: Warehouse, passages: pl.DataFrame, private: bool) -> dict[tuple[str, str], list[Record]]:
    """Errors that judges marked in each output. Quotations that do not occur in the text are included if `private`."""
    words = ("text",) if private else ()
    names = [*KEY, "judge", "side", "category", "severity", "span_start", "span_end", *words]
    rows = warehouse.read("error_span", passages, names)
    unlocated = pl.col("span_start").is_null()
    span = pl.when(~unlocated).then(pl.concat_list("span_start", "span_end"))
    quoted = (pl.when(unlocated).then(name).alias(name) for name in words)
    return _by_output(rows.with_columns(*quoted, span=span).drop("span_start", "span_end"), words)


def _metrics(warehouse: Warehouse, passages: pl.DataFrame) -> dict[tuple[str, str], list[Record]]:
    """The scores of each output, one for each metric in `segment_metric`, and the consensus of other systems: `metric`
    (its label) and `score`."""
    rows = warehouse.read("segment_metric", passages, [*KEY, "metric", "score"]).drop_nulls("score").sort("metric")
    peers = consensus(warehouse, passages).select(*KEY, metric=pl.lit(PEERS), score="similarity")
    rows = pl.concat([rows.with_columns(_labeled(warehouse)), peers])
    return _by_output(rows.with_columns(pl.col("score").round(3)), ())


def _metric_errors(warehouse: Warehouse, passages: pl.DataFrame) -> dict[tuple[str, str], list[Record]]:
    """Words that metrics marked in each output: `metric`, `severity`, `span`, `translator` of words that are missing.

    An error that a metric marked with several references is listed once.
    """
    rows = warehouse.read("metric_span", passages, [*KEY, "metric", "severity", "start", "end", "translator"])
    rows = rows.with_columns(translator=pl.when(severity="missing").then("translator").otherwise(pl.lit(""))).unique()
    rows = rows.sort("metric", "translator", "start", "end", "severity")
    rows = rows.with_columns(span=pl.concat_list("start", "end"))
    return _by_output(rows.drop("start", "end").with_columns(_labeled(warehouse)), ())


def _labeled(warehouse: Warehouse) -> pl.Expr:
    """The column `metric`, with labels for names of metrics."""
    return pl.col("metric").replace({metric.name: metric.shown.label for metric in metrics_of(warehouse)})


def _by_output(rows: pl.DataFrame, words: Iterable[str]) -> dict[tuple[str, str], list[Record]]:
    """Judgments by model and passage.

    `words` names columns with free text. A judgment has its non-empty free texts under the key 'words', as a list
    of pairs (column, text).
    """
    judgments: dict[tuple[str, str], list[Record]] = {}
    for row in rows.iter_rows(named=True):
        pairs = [(name, row.pop(name)) for name in words]
        row["words"] = [pair for pair in pairs if pair[1]]
        judgments.setdefault((row.pop("model"), row.pop("passage")), []).append(row)
    return judgments


def _overview(
    corpus: str, private: bool, sources: pl.DataFrame, outputs: pl.DataFrame, bands: list[str], translators: list[str],
    offered: Sequence[str],
) -> Record:  # fmt: skip
    categories = [name for name in CATEGORIES if name in {*offered, *outputs["error_category"]}]
    names = {
        "model": sorted(set(outputs["model"])), "band": bands, "label": [*SUBSTANTIVE, UNCERTAIN],
        "category": categories, "collection": sorted(set(sources["collection"]) - {""}),
        "closest": outputs["closest_reference"].drop_nulls().unique().sort().to_list(),
        "verdict": [MACHINE, UNSURE, HUMAN], "fault": [*DIAGNOSES, REPEATED],
    }  # fmt: skip
    values: dict[str, tuple[str, Iterable[str]]] = {
        "passage": ("passage", sources["passage"]), "model": ("model", names["model"]),
        "band": ("band", names["band"]), "label": ("label", names["label"]),
        "category": ("error_category", names["category"]), "people": ("people", names["label"]),
        "people_category": ("people_category", names["category"]),
        "closest": ("closest_reference", names["closest"]), "verdict": ("verdict", names["verdict"]),
    }  # fmt: skip
    columns = {name: _numbers(outputs[column], listed) for name, (column, listed) in values.items()}
    flags = {name: outputs[name].fill_null(False).cast(pl.Int8).to_list() for name in ("queued", "sampled", "split")}
    flagged = [*(pl.col(name).fill_null(False) for name in DIAGNOSES), pl.col("repeats").is_not_null()]
    bits = sum(flag.cast(pl.Int64) * 2**place for place, flag in enumerate(flagged))
    faults = {"fault": outputs.select(faults=bits)["faults"].to_list()}  # one bit for each name
    scores = {"score": outputs[contrast.MEASURE].round(1).to_list(), "drift": outputs["drift"].round(2).to_list()}
    return {
        "corpus": corpus, "private": private, "names": names, "outputs": columns | flags | faults | scores,
        "passages": sources["passage_id"].to_list(), "scores": [metric.shown.label for metric in METRICS],
        "collections": _numbers(sources["collection"], names["collection"]), "translators": translators,
    }  # fmt: skip


def _numbers(column: pl.Series, names: Iterable[str]) -> list[int]:
    """Position of each value of a column in `names`, from 0; -1 for a value that is not in `names`."""
    places = {name: place for place, name in enumerate(names)}
    return [places.get(value, -1) for value in column.to_list()]


def _passages(
    sources: pl.DataFrame, outputs: pl.DataFrame, texts: Mapping[str, list[Record]],
    judgements: Mapping[str, Mapping[trace.Key, list[Record]]], origins: Mapping[trace.Key, list[Packed]],
    hidden: frozenset[str], target: str | None,
) -> Iterable[Record]:  # fmt: skip
    """Records of passages with their outputs. A withheld text is reduced to its length."""
    rows: dict[str, list[Mapping[str, object]]] = {}
    for row in outputs.iter_rows(named=True):
        rows.setdefault(row["passage"], []).append(row)
    for passage in sources["passage"]:
        yield {
            "texts": [_sized(text, text["name"] in hidden) for text in texts[passage]],
            "language": target or "", "origin": origins.get(("", passage), []),
            "outputs": [
                _output(row) | {"origin": origins.get((str(row["model"]), passage), [])} | {
                    kind: by_output.get((str(row["model"]), passage), []) for kind, by_output in judgements.items()
                }
                for row in rows.get(passage, [])
            ],
        }  # fmt: skip


def _output(row: Mapping[str, object]) -> Record:
    record: Record = {name: row[name] for name in ("model", "band", "closest_reference", "text")}
    record |= {"drift": _short(row["drift"]), "scores": [_short(row[name]) for name in NUMBERS]}
    record["wrong"] = [*(name for name in DIAGNOSES if row[name]), *([row["repeats"]] if row["repeats"] else [])]
    record["refused"] = row["text"] is None
    record["outdated"] = row["outdated"]
    counted = ("label", "error_category", "judges", "abstained", "split", *COUNTED)
    record["verdict"] = None if row["label"] is None else {name: row[name] for name in counted}
    record["versus"] = None if row["verdict"] is None else {
        "verdict": row["verdict"], "balance": _short(row["balance"]), "seats": row["seats"]
    }  # fmt: skip
    return _sized(record, bool(row["withheld"]))


def _sized(record: Mapping[str, object], withheld: bool) -> Record:
    """The record of a text, with its length in characters. If the text is withheld, `text` is None."""
    text = record["text"]
    length = 0 if text is None else len(str(text))
    return {**record, "characters": length, "text": None if withheld else text}


def _short(number: object) -> float | None:
    return round(number, 3) if isinstance(number, float) else None
