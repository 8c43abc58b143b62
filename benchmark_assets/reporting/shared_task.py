"""A corpus in the layout of shared tasks on metrics, which mt-metrics-eval reads: a line a passage.

Here: which passages, references and systems, and the files. Not here: rights (rights), scores. Layout: README
of google-research/mt-metrics-eval, section "File organization and naming convention".

The layout has no gaps: each system has a line for each passage, and a metric has a score for each line of each system.
So it holds the passages of the benchmark, and the systems that have all of them; or, where systems are named, the
passages that all of these have. Only scores by people and judges may be missing (`None`).
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
import polars as pl

from benchmark_assets.adjudication.labels import MAJOR, MINOR, VALID
from benchmark_assets.corpus.rights import disclosure, named
from benchmark_assets.metrics.measures import MEASURES, Measure
from benchmark_assets.metrics.scores import made_by, model_scores
from benchmark_assets.reporting.export import EXPORT
from resources.errors import BadInput
from resources.folders import README, check_vacant, put
from resources.warehouse import Warehouse

METRICS = {
    "simbest": ("sim_best", "sim_best", 1), "simcentroid": ("sim_centroid", "sim_centroid", 1),
    "negdrift": ("drift", "drift", -1), "chrF2++": ("chrf", "chrf", 1), "BLEU": ("bleu", "bleu", 1),
    "COMETavg": ("comet_avg", "comet_avg", 1), "COMETbest": ("comet_best", "comet_best", 1),
}  # fmt: skip
"""Name of a metric: column of a passage's score, measure of a system's, and the sign with which more is better."""

WEIGHTS = {VALID: 0.0, MINOR: -1.0, MAJOR: -5.0}
"""Labels as scores: MQM's weights of a minor and a major error, negative as in shared tasks. Others say nothing."""

ABOUT = """\
A line a passage of `passages.txt`, in its order; line breaks within a passage are blanks, and an empty line in
`references/` says that there is no complete translation. mt-metrics-eval reads the folder as a test set.

- metrics: more is better, so `negdrift` is drift times -1. `.sys.score` of BLEU and chrF2++ are corpus scores, those of
  the others means. `all` are all references of a passage, also those that are left out here.
- `human-scores/*.people.*`, `*.panel.*`: labels by people (mean over annotators) and verdicts of the panel of judges:
  no error 0, minor -1, major -5; `None` where there is no such label. `*.headtohead.*`: beside the human translation, 1
  for the model, 0 for the human, 0.5 undecided.
- in names of systems, references and documents, what the layout does not allow is percent-encoded or left out.
"""


class WrittenSharedTask(NamedTuple):
    """Content of a folder: number of passages, systems and references; systems and restricted texts left out."""

    passages: int
    systems: list[str]
    references: list[str]
    incomplete: list[str]
    left_out: list[str]


class Lines(NamedTuple):
    """Passages in order, and a text for each of them, by reference and system."""

    passages: pl.DataFrame
    references: dict[str, list[str]]
    outputs: dict[str, list[str]]


def write(
    warehouse: Warehouse, folder: Path, corpus: str, systems: Sequence[str] = (), private: bool = False
) -> WrittenSharedTask:
    """Write a corpus as a test set to a folder that is not there yet.

    Parameters
    ----------
    systems
        Systems to write, on the passages that all of them have; by default all systems that have every passage of the
        benchmark.
    private
        Whether to write restricted texts too.

    Raises
    ------
    BadInput
        For an unknown corpus, a restricted source (which the layout requires) unless `private`, a folder that exists,
        names that coincide in this layout, and if no passage or no system is left.
    """
    folder = folder.resolve()
    check_vacant(folder)
    with warehouse.exclusively():  # consistent tables
        return _write(warehouse, folder, corpus, systems, private)


def folded(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())


def _write(warehouse: Warehouse, folder: Path, corpus: str, systems: Sequence[str], private: bool) -> WrittenSharedTask:
    key = pl.DataFrame({"corpus": [corpus]})
    selected = warehouse.read("selection", columns=["passage", "selected"]).filter("selected").select("passage")
    sources = warehouse.read("source_text", key).join(selected, on="passage", how="semi").sort("document", "position")
    references = warehouse.read("reference", sources.select("passage"), ["passage", "translator", "text", "complete"])
    rights = disclosure(warehouse, corpus, references["translator"], sources.select("passage"), private)
    pair = _pair(warehouse, key, corpus)
    if "" in rights.hidden:
        raise BadInput(corpus, "source", "may not be passed on, and there is no test set without it", "give --private")
    outputs = warehouse.read("model_output", sources.select("passage"), ["model", "passage", "text"])
    outputs = outputs.filter(~rights.withheld(outputs))
    lines, incomplete = _lines(
        corpus,
        sources,
        references.filter("complete", ~pl.col("translator").is_in(list(rights.hidden))),
        outputs,
        systems,
    )
    files = _texts(lines, pair) | dict(_metrics(warehouse, lines, pair)) | dict(_by_people(warehouse, lines, pair))
    private_now = private and bool(rights.restricted)
    title = EXPORT.private if private_now else EXPORT.public
    left_out = named(sorted(rights.hidden))
    words = f"Left out, for they may not be passed on: {', '.join(left_out)}.\n\n" if left_out else ""
    made = "".join(f"- made by: {each}\n" for each in made_by(warehouse, sources.select("passage")))
    files[README] = f"{title}{corpus}, as a test set\n\n{words}{ABOUT}{made}"
    put({path: text.encode() for path, text in files.items()}, folder)
    return WrittenSharedTask(len(lines.passages), [*lines.outputs], [*lines.references], incomplete, left_out)


def _pair(warehouse: Warehouse, key: pl.DataFrame, corpus: str) -> str:
    described = warehouse.read("corpus", key, ["source_language", "target_language"]).row(0)
    if None in described:
        raise BadInput(corpus, "", "has no pair of languages", "name those of source and references in its description")
    return "-".join(described)


def _lines(
    corpus: str, sources: pl.DataFrame, references: pl.DataFrame, outputs: pl.DataFrame, systems: Sequence[str]
) -> tuple[Lines, list[str]]:
    """The test set, and the systems left out because they lack one of its passages."""
    texts = {model: dict(own.select("passage", "text").iter_rows()) for (model,), own in outputs.group_by("model")}
    if unknown := sorted(set(systems) - set(texts)):
        raise BadInput(corpus, unknown[0], "has no outputs that may be written", "`variorum models` lists models")
    passages = sources
    if systems:
        passages = sources.filter(pl.all_horizontal(pl.col("passage").is_in(list(texts[name])) for name in systems))
    wanted = passages["passage"].to_list()
    complete = [name for name in sorted(systems or texts) if all(passage in texts[name] for passage in wanted)]
    if not wanted or not complete:
        lack = "no passage with outputs of all named systems" if systems else "no system with outputs for all passages"
        raise BadInput(corpus, "", f"has {lack}", "name systems that have passages in common, with `--system`")
    written = {
        translator: dict(own.select("passage", "text").iter_rows())
        for (translator,), own in references.sort("translator").group_by(["translator"], maintain_order=True)
    }
    lines = Lines(
        passages,
        {name: [folded(own.get(passage, "")) for passage in wanted] for name, own in written.items()},
        {name: [folded(texts[name][passage]) for passage in wanted] for name in complete},
    )
    return lines, sorted(set(systems or texts) - set(complete))


def _texts(lines: Lines, pair: str) -> dict[str, str]:
    ids = lines.passages["passage_id"].to_list()
    documents = [f"all {_name(document)}" for document in lines.passages["document"]]
    files = {
        "passages.txt": _text(ids),
        f"sources/{pair}.txt": _text(map(folded, lines.passages["text"])),
        f"documents/{pair}.docs": _text(documents),
    }
    for name, lines_of in lines.references.items():
        files[f"references/{pair}.{_reference(name)}.txt"] = _text(lines_of)
    for name, lines_of in lines.outputs.items():
        files[f"system-outputs/{pair}/{_name(name)}.txt"] = _text(lines_of)
    if len(files) < 3 + len(lines.references) + len(lines.outputs):
        raise BadInput(pair, "references", "have names that are one in this layout", "rename one of them")
    return files


def _metrics(warehouse: Warehouse, lines: Lines, pair: str) -> Iterator[tuple[str, str]]:
    """Metrics that have a score for each output, by passage and by system."""
    measures = {measure.name: measure for measure in MEASURES}
    chosen = pl.DataFrame({"model": [*lines.outputs]}, schema={"model": pl.String})
    scores = _ordered(lines, model_scores(warehouse, chosen).rename({"system": "model"}))
    for name, (column, measure, sign) in METRICS.items():
        if not scores[column].null_count():
            place = f"metric-scores/{pair}/{name}-all"
            yield f"{place}.seg.score", _scores(scores.select("model", sign * pl.col(column)))
            whole = scores.select("model", *_needed(scores, measures[measure]))
            means = {model: sign * _whole(own, measures[measure]) for (model,), own in _by_model(whole)}
            yield f"{place}.sys.score", _scores(pl.DataFrame({"model": [*means], "score": [*means.values()]}))
    similar = warehouse.read("output_similarity", chosen)
    for translator in lines.references:
        own = _ordered(lines, similar.filter(translator=translator))
        if not own["similarity"].null_count():
            place = f"metric-scores/{pair}/similarity-{_reference(translator)}"
            yield f"{place}.seg.score", _scores(own.select("model", "similarity"))
            yield (
                f"{place}.sys.score",
                _scores(own.group_by("model", maintain_order=True).agg(pl.col("similarity").mean())),
            )


def _by_people(warehouse: Warehouse, lines: Lines, pair: str) -> Iterator[tuple[str, str]]:
    """Files of scores from labels, verdicts and points; a kind without scores has no file."""
    passages = lines.passages.select("passage")
    weight = pl.col("label").replace_strict(WEIGHTS, default=None, return_dtype=pl.Float64)
    labels = warehouse.read("human_label", passages, ["model", "passage", "label"]).with_columns(score=weight)
    found = {
        "people": labels.group_by("model", "passage").agg(pl.col("score").mean()),
        "panel": warehouse.read("verdict", passages, ["model", "passage", "label"]).with_columns(score=weight),
        "headtohead": warehouse.read("head_to_head", passages, ["model", "passage", "points"]).rename(
            {"points": "score"}
        ),
    }
    for name, rows in found.items():
        scores = _ordered(lines, rows)
        if scores["score"].count():
            yield f"human-scores/{pair}.{name}.seg.score", _scores(scores.select("model", "score"))


def _ordered(lines: Lines, rows: pl.DataFrame) -> pl.DataFrame:
    """One row for each line of each system; null if `rows` has no row for the line."""
    systems = pl.DataFrame({"model": [*lines.outputs]}, schema={"model": pl.String})
    wanted = systems.join(lines.passages.select("passage"), how="cross", maintain_order="left_right")
    return wanted.join(rows, on=["model", "passage"], how="left", maintain_order="left")


def _needed(scores: pl.DataFrame, measure: Measure) -> list[str]:
    return [name for name in (measure.name, f"{measure.name}_statistics") if name in scores.columns]


def _whole(scores: pl.DataFrame, measure: Measure) -> float:
    return float(measure.of(measure.statistics(scores).sum(axis=0, keepdims=True).astype(np.float64))[0])


def _by_model(rows: pl.DataFrame) -> Iterator[tuple[tuple[object, ...], pl.DataFrame]]:
    yield from rows.group_by(["model"], maintain_order=True)


def _scores(rows: pl.DataFrame) -> str:
    return _text(f"{_name(model)}\t{score!r}" for model, score in rows.iter_rows())


def _text(lines: "Iterator[str] | Sequence[str] | map[str]") -> str:
    return "".join(f"{line}\n" for line in lines)


def _name(name: str) -> str:
    """A name without blanks and slashes."""
    return quote(name, safe="")


def _reference(name: str) -> str:
    """A reference's name: letters and digits, for dashes and dots are signs of this layout."""
    short = re.sub(r"[^\w%]", "", _name(name).replace("-", "").replace(".", "")).replace("%", "")
    return f"ref{short}" if short in ("all", "src", "") else short
