"""A corpus as a package that others can use and check: a folder of CSV, JSON lines and Markdown.

Here: what of the warehouse may be passed on, the files that hold it, and how they come to be. Not here: what the rows
mean (warehouse/schema), reading packages. Columns are named one by one, so that a new column is in no package until
somebody has asked what it may hold. Left out, because they may quote a restricted text: vectors, replies and errors of
models, words of refusals, and what imported files say of themselves.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from uuid import uuid4

import polars as pl

from benchmark_assets.adjudication.triage import BANDED
from benchmark_assets.adjudication.verdicts import VERDICT
from benchmark_assets.audit.calibration import AGREEMENT as RATERS
from benchmark_assets.audit.calibration import CALIBRATION, CONFUSION, RELIABILITY, WITHOUT
from benchmark_assets.audit.correlation import CORRELATION
from benchmark_assets.audit.estimates import ESTIMATE
from benchmark_assets.audit.examples import EXAMPLE
from benchmark_assets.audit.outcomes import CATEGORY, OUTCOME
from benchmark_assets.audit.overlap import FAILING, OVERLAP
from benchmark_assets.audit.rated import anonymous, without_names
from benchmark_assets.audit.recall_cost import COST
from benchmark_assets.corpus.registry import registered
from benchmark_assets.corpus.trigrams import normalized
from benchmark_assets.literary.adherence import SUMMARY as ADHERENCE
from benchmark_assets.literary.calibration import CALIBRATION as ENSEMBLE
from benchmark_assets.literary.ensemble import VERDICT as HEAD_TO_HEAD
from benchmark_assets.literary.scores import SCORE as LITERARY
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.summary import SUMMARY
from benchmark_assets.pairwise.rubric import SUMMARY as RUBRIC
from benchmark_assets.pairwise.scores import ANCHOR_SCORE, PAIRWISE_SCORE
from benchmark_assets.reporting.agreement import AGREEMENT
from benchmark_assets.reporting.closest import CLOSEST
from benchmark_assets.reporting.comparisons import COMPARISON, CONCORDANCE, RANK
from benchmark_assets.reporting.tables import markdown
from benchmark_assets.selection.candidates import renderings
from benchmark_assets.sensitivity.detection import DETECTION, THRESHOLD
from resources import prompts
from resources.downloads.whole_files import sha256
from resources.errors import BadInput
from resources.home import PROJECT
from resources.warehouse import Warehouse

PRIVATE = "PRIVATE-do-not-pass-on"
TITLE = "# Variorum export"
PUBLIC_TITLE, PRIVATE_TITLE = f"{TITLE}, public: ", f"{TITLE}, private, do not pass on: "
README, CHECKSUMS = "README.md", "checksums.sha256"

MEASURES = [
    "complete_references", "missing_segments", "suspicious_segments", "shortest", "longest", "length_ratio",
    "similarity", "null_characters", "duplicated_segments",
]  # fmt: skip
SEMANTIC = ["embedder", "sim_best", "closest_reference", "sim_centroid", "drift", "drift_euclidean", "cut"]
LEXICAL = ["length_ratio", "bleu", "chrf", "bleu_statistics", "chrf_statistics"]
ENVELOPE = [
    "reference_count", "embedder", "human_spread", "euclidean_spread", "mean_similarity", "least_similarity",
    "cut_references",
]  # fmt: skip
COMET = ["signature", "comet_avg", "comet_best", "cut"]
JUDGEMENT = ["label", "error_category", "severity", "confidence"]
VERIFICATION = ["passage", "translator", "segment_id", "stage", "start_at", "end_at", "similarity", "in_order"]

BY_PASSAGE = {
    "human_scores.csv": ("human_baseline", ["passage", "translator", *SEMANTIC, *LEXICAL]),
    "envelopes.csv": ("reference_envelope", ["passage", *ENVELOPE]),
    "reference_similarities.csv": ("reference_similarity", ["passage", "translator", "other", "similarity"]),
    "output_similarities.csv": ("output_similarity", ["model", "passage", "translator", "similarity"]),
    "comet_scores.csv": ("comet_score", ["model", "passage", *COMET]),
    "output_comet.csv": ("output_comet", ["model", "passage", "translator", "score"]),
    "human_comet.csv": ("comet_baseline", ["passage", "translator", *COMET]),
    "diagnostics.csv": ("output_diagnostic", ["model", "passage", *DIAGNOSES]),
    "damaged_scores.csv": (
        "damaged_score",
        ["passage", "translator", "kind", "severity", "extent", *SEMANTIC, *LEXICAL[:3]],
    ),
    "triage.csv": ("triage", [*BANDED.names(), "item"]),
    "votes.csv": ("judge_vote", ["model", "passage", "judge", *JUDGEMENT]),
    "verdicts.csv": ("verdict", VERDICT.names()),
    "human_labels.csv": ("human_label", ["model", "passage", "annotator", *JUDGEMENT, "span_start", "span_end"]),
    "anchored_comparisons.csv": ("comparison", ["model", "passage", "base_set", "anchor", "shown", "winner", "asked"]),
    "rubric_votes.csv": ("rubric_vote", ["model", "passage", "judge", "mark", "perfect"]),
    "aspect_votes.csv": ("aspect_vote", ["model", "passage", "judge", "aspect", "shown", "better"]),
    "head_to_head.csv": ("head_to_head", HEAD_TO_HEAD.names()),
}
BY_CORPUS = {
    "funnel.csv": ("funnel", ["step", "reason", "affected", "alone", "remaining"]),
    "near_duplicates.csv": ("near_duplicate", ["passage", "kept", "similarity"]),
    "leaderboard.csv": ("leaderboard", ["rank", "kind", "system", *SUMMARY, "signature", "removed"]),
    "translator_agreement.csv": ("translator_agreement", AGREEMENT.names()[1:]),
    "closest_shares.csv": ("closest_share", CLOSEST.names()[1:]),
    "comparisons.csv": ("system_comparison", COMPARISON.names()[1:]),
    "ranks.csv": ("metric_rank", RANK.names()[1:]),
    "concordance.csv": ("metric_concordance", CONCORDANCE.names()[1:]),
    "slices.csv": ("slice_summary", ["dimension", "slice", "least", "most", "kind", "system", *SUMMARY, "signature"]),
    "sensitivity.csv": ("sensitivity", [*DETECTION.names(), "signature"]),
    "sensitivity_thresholds.csv": ("sensitivity_threshold", [*THRESHOLD.names(), "signature"]),
    "audit_outcomes.csv": ("audit_outcome", OUTCOME.names()[1:]),
    "error_categories.csv": ("error_category", CATEGORY.names()[1:]),
    "error_correlations.csv": ("error_correlation", CORRELATION.names()[1:]),
    "failure_overlap.csv": ("failure_overlap", OVERLAP.names()[1:]),
    "failing_passages.csv": ("failing_passage", FAILING.names()[1:]),
    "judge_calibration.csv": ("judge_calibration", CALIBRATION.names()[1:]),
    "judge_confusion.csv": ("judge_confusion", CONFUSION.names()[1:]),
    "judge_reliability.csv": ("judge_reliability", RELIABILITY.names()[1:]),
    "rater_agreement.csv": ("rater_agreement", RATERS.names()[1:]),
    "panels_without.csv": ("panel_without", WITHOUT.names()[1:]),
    "error_estimates.csv": ("error_estimate", ESTIMATE.names()[1:]),
    "recall_costs.csv": ("recall_cost", COST.names()[1:]),
    "worked_examples.csv": ("worked_example", EXAMPLE.names()[1:]),
    "rubric_summaries.csv": ("rubric_summary", [name for name in RUBRIC.names() if name != "corpus"]),
    "literary_scores.csv": ("literary_score", [name for name in LITERARY.names() if name != "corpus"]),
    "adherence_summaries.csv": ("adherence_summary", [name for name in ADHERENCE.names() if name != "corpus"]),
    "ensemble_calibrations.csv": ("ensemble_calibration", ENSEMBLE.names()[1:]),
}
BY_BASE_SET = {
    "pairwise_scores.csv": ("pairwise_score", PAIRWISE_SCORE.names()),
    "anchor_scores.csv": ("anchor_score", ANCHOR_SCORE.names()),
}

FILES = f"""\
| file | what |
|---|---|
| `passages.csv` | each passage: segments, characters of the source and of each translator, what the filters measured, \
whether it is in the benchmark (`selected`), else why not and which passage it repeats (`kept`) |
| `source.jsonl`, `references.jsonl` | texts, segment by segment (null: untranslated), with licence and SHA-256; of a \
restricted text only characters and SHA-256 |
| `prose.jsonl` | continuous translations, to whose characters `verification.csv` points, and what stands beside them |
| `outputs.csv`, `outputs/` | what became of each passage with each model; the outputs, a file a model. The name of \
the file is the model's, percent-encoded; `variorum import outputs FILE --corpus CORPUS --model MODEL` reads it |
| `scores.csv`, `human_scores.csv`, `envelopes.csv`, `output_similarities.csv`, `reference_similarities.csv` | scores \
of each model and translator by passage, and what they were measured by. The statistics add up to corpus scores |
| `comet_scores.csv`, `output_comet.csv`, `human_comet.csv`, `diagnostics.csv` | the same by COMET; what is plainly \
wrong with an output |
| `leaderboard.csv` | models and human translators of the corpus, with 95 % intervals |
| `translator_agreement.csv`, `closest_shares.csv`, `comparisons.csv`, `ranks.csv`, `concordance.csv`, `slices.csv` | \
how alike the translators are, whom each system comes closest to, systems against each other, their ranks, whether the \
measures agree, and all of it for parts of the corpus |
| `sensitivity.csv`, `sensitivity_thresholds.csv`, `damaged_scores.csv` | how well each metric tells damaged \
translations from sound ones, and from which scores |
| `triage.csv`, `votes.csv`, `verdicts.csv`, `human_labels.csv` | in which band of drift each output lies, what judges \
say of it, together too, and what people say; annotators are numbered |
| `audit_outcomes.csv`, `error_categories.csv`, `error_correlations.csv`, `failure_overlap.csv`, \
`failing_passages.csv`, `worked_examples.csv` | errors by model, band and category, what they go with, and where \
models fail together |
| `judge_calibration.csv`, `judge_confusion.csv`, `judge_reliability.csv`, `rater_agreement.csv`, \
`panels_without.csv` | judges against people and against each other |
| `error_estimates.csv`, `recall_costs.csv` | errors of all outputs by people's sample; what finding them costs |
| `anchored_comparisons.csv`, `pairwise_scores.csv`, `anchor_scores.csv` | outputs beside the anchors of base sets \
that have items of this corpus, and what that amounts to |
| `rubric_votes.csv`, `rubric_summaries.csv` | marks from 1 to 5, and their summary |
| `aspect_votes.csv`, `head_to_head.csv`, `literary_scores.csv`, `ensemble_calibrations.csv` | outputs beside the \
human translation: votes, verdicts, scores of 0 to 100, and how often judges say what people say |
| `adherence_summaries.csv` | how many of the glossary's terms outputs have; the terms are words of a translation, and \
in no package |
| `funnel.csv`, `near_duplicates.csv` | how many passages each filter drops; passages that repeat an earlier one |
| `verification.csv` | where the text of each aligned segment stands in its translation |
| `prompts/` | what models are asked, as the project has it at the export |
| `LICENCES.md` | terms of each text |
| `{CHECKSUMS}` | `sha256sum -c {CHECKSUMS}` checks all other files |

Lists in CSV are JSON. An output in which the whole restricted text of its passage stands is withheld.
"""
REBUILD = """\
Get the texts from their sources under their licences, describe them in a YAML file, and import it with `variorum import
corpus FILE`. A text is the one used here where the SHA-256 of its UTF-8 is the one in `source.jsonl`,
`references.jsonl` or `prose.jsonl`; the text of a passage is its segments joined by a space, without empty ones. Then
import the outputs and run `variorum update`.
"""


class Content(NamedTuple):
    """What a package is written from; `rights` has `translator` ('' for the source), `licence` and `restricted`.

    `sources`, `references`, `prose` and `verification` have `licence` and `restricted` besides their own columns.
    """

    corpus: str
    rights: pl.DataFrame
    sources: pl.DataFrame
    references: pl.DataFrame
    prose: pl.DataFrame
    verification: pl.DataFrame
    outputs: pl.DataFrame
    tables: Mapping[str, pl.DataFrame]


def export(warehouse: Warehouse, folder: Path, corpus: str, private: bool = False) -> list[str]:
    """Write the package of a corpus; the same warehouse gives the same bytes.

    Parameters
    ----------
    folder
        Appears whole or not at all. A former export there is replaced.
    private
        Whether restricted texts are added, in a folder of their own in the package.

    Returns
    -------
    The corpus's restricted texts: translators, and 'source'. One whose licence nobody gave counts as restricted.

    Raises
    ------
    BadInput
        For an unknown corpus, one whose description cannot be read (it says what is restricted), a folder that is no
        former export, has files of others or cannot be written, and a public package that would become private.
    """
    folder = folder.resolve()
    _check_place(folder, private)
    with warehouse.exclusively():  # the tables of one moment
        for each in registered(warehouse, {corpus}):
            if isinstance(each, BadInput):
                raise each
        content = _content(warehouse, corpus)
    put(_package(content, private), folder)
    return named(content.rights.filter("restricted")["translator"])


def _content(warehouse: Warehouse, corpus: str) -> Content:
    key = pl.DataFrame({"corpus": [corpus]})
    columns = ["passage", "passage_id", "document", "position", "language", "segment_ids", "segments", "text"]
    sources = warehouse.read("source_text", key, columns).with_columns(translator=pl.lit(""))
    passages = sources.select("passage")
    references, prose = _references(warehouse, passages), _prose(warehouse, key)
    verification = warehouse.read("verification", passages, [*VERIFICATION, "evidence"])
    translators = [*references["translator"], *prose["translator"], *verification["translator"]]
    rights = rights_of(warehouse, key, translators)
    order = sources.select("passage", "document", "position")
    sources, references, prose, verification = (
        rows.join(rights, on="translator", how="left") for rows in (sources, references, prose, verification)
    )
    return Content(
        corpus, rights, sources.sort("document", "position"),
        references.join(order, on="passage").sort("document", "position", "translator"),
        prose.sort("document", "translator"), verification.sort("passage", "translator", "segment_id"),
        _outputs(warehouse, passages), _tables(warehouse, key, passages),
    )  # fmt: skip


def rights_of(warehouse: Warehouse, key: pl.DataFrame, translators: Iterable[str]) -> pl.DataFrame:
    """Columns `translator` ('' for the source), `licence` and `restricted`; without a licence a text is restricted."""
    given = warehouse.read("licence", key, ["translator", "licence", "restricted"])
    names = pl.DataFrame({"translator": sorted({"", *translators, *given["translator"]})})
    rows = names.join(given, on="translator", how="left", maintain_order="left")
    return rows.with_columns(pl.col("licence").fill_null("unknown"), pl.col("restricted").fill_null(True))


def _references(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Renderings of all passages; `complete` is null where a passage is not in the benchmark."""
    used = warehouse.read("reference", passages, ["passage", "translator", "text", "complete"])
    by_hand = warehouse.read("continuous_reference", passages, ["passage", "translator", "corrections"])
    rows = renderings(warehouse, passages).drop("suspicious")
    for each in (used.rename({"text": "used"}), by_hand):
        rows = rows.join(each, on=["passage", "translator"], how="left")
    return rows.with_columns(text=pl.coalesce("used", "text")).drop("used")


def _prose(warehouse: Warehouse, key: pl.DataFrame) -> pl.DataFrame:
    rows = warehouse.read("prose", key, ["document", "translator", "text"])
    asides = warehouse.read("prose_aside", key, ["document", "translator", "kind", "place", "text"])
    beside = asides.group_by("document", "translator", maintain_order=True).agg(
        asides=pl.struct("kind", "place", "text")
    )
    return rows.join(beside, on=["document", "translator"], how="left")


def _outputs(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Columns `model`, `passage` and `text`, null where the model refused."""
    outputs = warehouse.read("model_output", passages, ["model", "passage", "text"])
    refused = warehouse.read("refusal", passages, ["model", "passage"]).with_columns(text=pl.lit(None, pl.String))
    return pl.concat([outputs, refused]).sort("model", "passage")


def _tables(warehouse: Warehouse, key: pl.DataFrame, passages: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Tables without any text, by file; and what is known of each passage, by table."""
    tables = {file: warehouse.read(table, passages, columns) for file, (table, columns) in BY_PASSAGE.items()}
    tables |= {file: warehouse.read(table, key, columns) for file, (table, columns) in BY_CORPUS.items()}
    sets = warehouse.read("base_set_item", passages, ["base_set"]).unique()
    tables |= {file: warehouse.read(table, sets, columns) for file, (table, columns) in BY_BASE_SET.items()}
    tables["leaderboard.csv"] = tables["leaderboard.csv"].sort("rank")
    semantic = warehouse.read("drift_score", passages, ["model", "passage", *SEMANTIC])
    lexical = warehouse.read("lexical_score", passages, ["model", "passage", *LEXICAL])
    both = semantic.join(lexical, on=["model", "passage"], how="full", coalesce=True)
    tables["scores.csv"] = both.sort("model", "passage")
    tables["selection"] = warehouse.read("selection", passages, ["passage", "selected", "reasons", "kept"])
    tables["passage_filter"] = warehouse.read("passage_filter", passages, ["passage", *MEASURES])
    tables |= _numbered(tables["human_labels.csv"], tables["rater_agreement.csv"])
    tables["corpus"] = warehouse.read("corpus", key, ["source_language", "target_language", "filters", "aligners"])
    return tables


def _numbered(labels: pl.DataFrame, agreement: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """What names annotators, with numbers in the place of names."""
    people = agreement.filter(kind="people")
    numbers = anonymous([*labels["annotator"], *people["first"], *people["second"]])
    return {
        "human_labels.csv": labels.with_columns(pl.col("annotator").replace(numbers)),
        "rater_agreement.csv": without_names(agreement, numbers),
    }


def _package(content: Content, private: bool) -> dict[str, bytes]:
    """The package's files by their paths in it."""
    files = {
        file: _csv(_short(content.tables[file], content.corpus))
        for file in [*BY_PASSAGE, *BY_CORPUS, *BY_BASE_SET, "scores.csv"]
    }
    files["passages.csv"] = _csv(_passages(content))
    outputs, withheld = _judged(content)
    files |= _output_files(outputs)
    texts = {"source.jsonl": content.sources, "references.jsonl": content.references, "prose.jsonl": content.prose}
    for file, rows in texts.items():
        files[file] = _lines(_record(row, whole=not row["restricted"]) for row in rows.iter_rows(named=True))
    found = content.verification.drop("licence").with_columns(evidence=pl.when(~pl.col("restricted")).then("evidence"))
    files["verification.csv"] = _csv(_short(found.drop("restricted"), content.corpus))
    if private:
        files |= {f"{PRIVATE}/{file}": whole for file, whole in _restricted(content, texts, withheld).items()}
    for path in sorted((PROJECT / "prompts").glob("*.yaml")):
        files[f"prompts/{path.name}"] = path.read_bytes()
    files["LICENCES.md"] = _licences(content, private).encode()
    files[README] = _readme(content, private).encode()
    sums = [f"{hashlib.sha256(whole).hexdigest()}  {path}\n" for path, whole in sorted(files.items())]
    return files | {CHECKSUMS: "".join(sums).encode()}


def _restricted(content: Content, texts: Mapping[str, pl.DataFrame], withheld: pl.DataFrame) -> dict[str, bytes]:
    """What a public package leaves out."""
    files = {
        file: _lines(_record(row, whole=True) for row in rows.filter("restricted").iter_rows(named=True))
        for file, rows in texts.items()
    }
    found = content.verification.filter("restricted").drop("licence", "restricted")
    files["verification.csv"] = _csv(_short(found, content.corpus))
    files["outputs.jsonl"] = _lines(withheld.select("model", "passage_id", translation="text").iter_rows(named=True))
    return files


def _passages(content: Content) -> pl.DataFrame:
    rows = content.sources.select("passage", "document", "position", "segment_ids", source_characters=_characters())
    for translator in _translators(content):
        own = content.references.filter(pl.col("translator") == translator)
        lengths = own.select("passage", _characters().alias(f"characters {translator}"))
        rows = rows.join(lengths, on="passage", how="left", maintain_order="left")
    for table in ("passage_filter", "selection"):
        rows = rows.join(content.tables[table], on="passage", how="left", maintain_order="left")
    return _short(rows, content.corpus)


def _judged(content: Content) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Outputs with what became of them (`status`), and those that are withheld.

    A model may have a translation by heart, or give its source back; an imported output may be anybody's translation.
    """
    secret: dict[str, list[str]] = {}
    for rows in (content.sources, content.references):
        for passage, text in rows.filter("restricted").select("passage", "text").iter_rows():
            secret.setdefault(passage, []).append(text)
    status = [
        "refused" if text is None
        else "withheld" if repeats(text, secret.get(passage, []))
        else "translated"
        for passage, text in content.outputs.select("passage", "text").iter_rows()
    ]  # fmt: skip
    rows = _short(content.outputs, content.corpus).with_columns(pl.Series("status", status, dtype=pl.String))
    return rows, rows.filter(status="withheld")


def repeats(text: str, restricted: Iterable[str]) -> bool:
    """Whether the whole of a restricted text stands in another, whatever the case and punctuation."""
    own = normalized(text)
    return any(words and words in own for words in map(normalized, restricted))


def _output_files(outputs: pl.DataFrame) -> dict[str, bytes]:
    """The index of the outputs, and those that may be passed on, a file a model.

    Percent-encoding makes one file name of a name with slashes, and can be undone.
    """
    hashes = [None if text is None else hashlib.sha256(text.encode()).hexdigest() for text in outputs["text"]]
    index = outputs.select("model", "passage_id", "status", _characters(), pl.Series("sha256", hashes, dtype=pl.String))
    files = {"outputs.csv": _csv(index)}
    open_ones = outputs.filter(status="translated")
    for (model,), own in open_ones.group_by("model", maintain_order=True):
        lines = own.select("passage_id", translation="text").iter_rows(named=True)
        files[f"outputs/{quote(str(model), safe='')}.jsonl"] = _lines(lines)
    return files


def _record(row: Mapping[str, object], whole: bool) -> dict[str, object]:
    """A text and its rights; not `whole`, its length and hash in place of everything that may quote it.

    Only whole passages and documents are hashed: a segment of three words could be found by trying.
    """
    text = str(row["text"])
    names = (
        "passage", "document", "position", "segment_ids", "language", "translator", "licence", "restricted", "complete"
    )  # fmt: skip
    record = {name: row[name] for name in names if name in row and not (name == "translator" and row[name] == "")}
    if "passage" in record:
        record = {"passage_id": str(record.pop("passage")).partition("/")[2], **record}
    record |= {"characters": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    if whole:
        record |= {name: row[name] for name in ("flag", "segments", "text", "asides") if name in row}
        if row.get("corrections") is not None:
            record["corrections"] = json.loads(str(row["corrections"]))
    return record


def _licences(content: Content, private: bool) -> str:
    left_out = f"in `{PRIVATE}`" if private else "no: length and SHA-256 only"
    rows = content.rights.select(
        text=pl.Series(named(content.rights["translator"])),
        licence="licence",
        restricted=pl.when("restricted").then(pl.lit("yes")).otherwise(pl.lit("no")),
        included=pl.when("restricted").then(pl.lit(left_out)).otherwise(pl.lit("yes")),
    )
    return f"# Licences\n\n{markdown(rows, most=len(rows))}\n"


def _readme(content: Content, private: bool) -> str:
    title = PRIVATE_TITLE if private else PUBLIC_TITLE
    warning = f"`{PRIVATE}` holds texts that may not be passed on. Private: do not pass on.\n\n" if private else ""
    selected = int(content.tables["selection"]["selected"].sum())
    models = content.outputs["model"].n_unique()
    return (
        f"{title}{content.corpus}\n\n{warning}{len(content.sources)} passages, {selected} of them in the benchmark; "
        f"{len(_translators(content))} human translations; outputs of {models} models.\n\n{FILES}\n"
        f"## Made from\n\n{_made_from(content)}\n## To rebuild it\n\n{REBUILD}"
    )


def _made_from(content: Content) -> str:
    """Versions and settings, an entry each."""
    described = content.tables["corpus"].row(0, named=True)
    lines = [f"Variorum {version('variorum')}"]
    lines += [f"{name.replace('_', ' ')}: {value}" for name, value in described.items() if value is not None]
    for path in sorted((PROJECT / "prompts").glob("*.yaml")):
        prompt = prompts.load(path.stem)
        lines.append(f"prompt `{prompt.name}`: version {prompt.version}, digest {prompt.digest()}")
    signatures = content.tables["leaderboard.csv"]["signature"].unique().sort()
    lines += [f"signature of scores: {each}" for each in signatures]
    return "".join(f"- {line}\n" for line in lines)


def _translators(content: Content) -> list[str]:
    return [name for name in content.rights["translator"] if name]


def named(translators: Iterable[str]) -> list[str]:
    """Translators as people are told of them; the source is one of them."""
    return [name or "source" for name in translators]


def _characters() -> pl.Expr:
    return pl.col("text").str.len_chars().alias("characters")


def _short(rows: pl.DataFrame, corpus: str) -> pl.DataFrame:
    """Rows whose passages are named without the corpus."""
    names = [name for name in ("passage", "kept") if name in rows.columns]
    rows = rows.with_columns(pl.col(names).str.strip_prefix(f"{corpus}/"))
    return rows.rename({"passage": "passage_id"}, strict=False)


def _csv(rows: pl.DataFrame) -> bytes:
    """A table as CSV, its lists as JSON."""
    lists = [
        pl.Series(name, [None if each is None else json.dumps(each, ensure_ascii=False) for each in column.to_list()],
                  dtype=pl.String)
        for name, column in rows.to_dict().items()
        if isinstance(column.dtype, pl.List)
    ]  # fmt: skip
    return rows.with_columns(lists).write_csv().encode()


def _lines(records: Iterable[Mapping[str, object]]) -> bytes:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records).encode()


def _check_place(folder: Path, private: bool) -> None:
    if not folder.exists():
        return
    readme = folder / README
    title = readme.read_text(encoding="utf-8", errors="replace").partition("\n")[0] if readme.is_file() else ""
    if not title.startswith((PUBLIC_TITLE, PRIVATE_TITLE)) or not (folder / CHECKSUMS).is_file():
        raise BadInput(folder, "", "is there already and is no former export", "give another folder, or remove it")
    sums = (folder / CHECKSUMS).read_text(encoding="utf-8").splitlines()
    written = {path: digest for digest, _, path in (line.partition("  ") for line in sums)}
    for path in sorted(each for each in folder.rglob("*") if not each.is_dir() and each != folder / CHECKSUMS):
        name = path.relative_to(folder).as_posix()
        if name not in written or sha256(path) != written[name]:
            raise BadInput(folder, name, "is not as the former export wrote it", "move it away, or give another folder")
    if private and title.startswith(PUBLIC_TITLE):
        raise BadInput(folder, "", "holds a public export, and may be shared", "give a private one another folder")


def put(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files beside the folder, then let them take its place."""
    new, old = (folder.with_name(f".{folder.name}.{uuid4()}.{state}") for state in ("new", "old"))
    try:
        for path, whole in files.items():
            place = new / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(whole)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    except OSError as error:
        raise BadInput(folder, "", f"cannot be written ({error.strerror})", "give another folder") from error
    finally:
        if old.exists() and not folder.exists():  # also where somebody interrupts
            old.rename(folder)
        for each in (new, old):
            shutil.rmtree(each, ignore_errors=True)
