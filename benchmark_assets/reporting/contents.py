"""What a package holds: its tables, their columns, and the forms in which they are written.

Here: which columns of the warehouse may be passed on, table by table; a table as CSV and as Parquet. Not here: texts
and rights (export), what columns mean (dictionary). Columns are named one by one, so that a new column is in no package
until somebody has asked what it may hold. Left out, because they may quote a restricted text: vectors, replies and
errors of models, words of refusals, and what imported files say of themselves.
"""

import io
import json

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
from benchmark_assets.audit.recall_cost import COST
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
from benchmark_assets.sensitivity.detection import DETECTION, THRESHOLD

CHECKSUMS = "checksums.sha256"

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

BASELINE = [
    "task", "baseline", "seeds", "samples", "score", "score_low", "score_high", "score_sd", "macro", "near",
    "far_score", "signature",
]  # fmt: skip

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
OF_NONE = {
    "tasks.csv": ("task", ["task", "language", "kind", "partner", "licence", "restricted"]),
    "understanding_board.csv": ("understanding_board", [
        "system", "kind", "benchmark", "language", "task", "tasks", "score", "score_low", "score_high", "score_sd",
        "near", "missing", "signature",
    ]),
    "understanding_comparisons.csv": ("understanding_comparison", [
        "benchmark", "language", "task", "model", "other", "difference", "difference_low", "difference_high",
        "p_randomization", "p_holm", "signature",
    ]),
    "task_scores.csv": ("task_score", [
        "model", "task", "seeds", "samples", "unusable", "spans", "hallucinated", "score", "score_low", "score_high",
        "score_sd", "macro", "pooled_type", "pooled_partial", "pooled_strict", "pooled_exact", "signature",
    ]),
    "class_scores.csv": ("class_score", [
        "model", "task", "class", "gold", "predicted", "correct", "precision", "recall", "f1",
    ]),
    "confusions.csv": ("confusion", ["model", "task", "gold", "predicted", "samples"]),
    "baseline_scores.csv": ("baseline_score", BASELINE),
    "encoder_scores.csv": ("encoder_score", BASELINE),
    "task_chance.csv": ("task_chance", ["task", "baseline", "score", "signature"]),
    "task_leakage.csv": ("task_leakage", [
        "task", "sample", "nearest", "similarity", "contained", "same_source", "nearest_label",
    ]),
    "answers.csv": ("answer", ["model", "task", "seed", "sample", "label", "usable", "steps", "agreement"]),
    "answer_spans.csv": ("answer_span", [
        "model", "task", "seed", "sample", "number", "type", "first", "last", "located",
    ]),
}  # fmt: skip
"""Of tasks: no text, and of samples no gold label."""

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
| `parquet/` | each of the tables again, with types and lists |
| `dictionary.csv`, `dictionary.md` | each column of each table: type and meaning |
| `croissant.json`, `datacite.json` | what catalogues of data sets want to know; before you deposit the package, \
put in the address, and the publisher and the DOI in place of `:tba` |
| `prompts/` | what models are asked, as the project has it at the export |
| `LICENCES.md` | terms of each text |
| `{CHECKSUMS}` | `sha256sum -c {CHECKSUMS}` checks all other files |

Lists in CSV are JSON. An output in which the whole restricted text of its passage stands is withheld.
"""


def as_csv(rows: pl.DataFrame) -> bytes:
    """A table as CSV, its lists as JSON."""
    lists = [
        pl.Series(name, [None if each is None else json.dumps(each, ensure_ascii=False) for each in column.to_list()],
                  dtype=pl.String)
        for name, column in rows.to_dict().items()
        if isinstance(column.dtype, pl.List)
    ]  # fmt: skip
    return rows.with_columns(lists).write_csv().encode()


def as_parquet(rows: pl.DataFrame) -> bytes:
    """A table as Parquet: with the same version of polars, the same rows give the same bytes.

    However the frame came to be: one chunk, in groups of rows of one size.
    """
    file = io.BytesIO()
    rows.rechunk().write_parquet(file, compression="zstd", compression_level=9, row_group_size=100_000)
    return file.getvalue()
