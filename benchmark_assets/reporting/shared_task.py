"""A corpus as a test set for a shared task on metrics, in mt-metrics-eval's layout: text files, one line per passage.

Here: the choice of passages, references and systems, and the files. Not here: rights (rights), scores. Layout: README
of google-research/mt-metrics-eval, section "File organization and naming convention".

Translators whose references are complete are systems, too: mt-metrics-eval recognizes them by their names. Errors that
people and judges mark are in files `.seg.rating` (its module `ratings`), and `metainfo.py` reads the test set with it.

The layout requires an output of each system for each passage, and a score of each metric for each output, except for
systems that the metric uses as references. By default, the test set therefore has all passages of the benchmark, and
the systems with outputs for all of them. If systems are named, it has the passages for which all named systems have
outputs. Only scores by people and judges may be missing.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import polars as pl

from benchmark_assets.audit.rated import anonymous
from benchmark_assets.corpus.rights import disclosure, named
from benchmark_assets.metrics.further import metrics_of
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.metrics.scores import made_by, model_scores
from benchmark_assets.people.mqm import LABEL_POINTS
from benchmark_assets.reporting.export import EXPORT
from benchmark_assets.reporting.withheld import unlicensed
from resources.errors import BadInput
from resources.folders import README, check_vacant, put
from resources.warehouse import Warehouse

KEY = ["model", "passage"]


METAINFO = '''\
"""Read this test set with mt-metrics-eval (https://github.com/google-research/mt-metrics-eval)."""

from pathlib import Path

from mt_metrics_eval import data, meta_info

FOLDER = Path(__file__).resolve().parent
INFO = meta_info.MetaInfo(
    std_ref={reference!r},
    std_gold={gold!r},
    primary_metrics=set(),
    outlier_systems=set(),
)


def read():
    """The test set, with stored scores of metrics."""
    return data.EvalSet(FOLDER.name, {pair!r}, True, INFO, str(FOLDER.parent), strict=True)


if __name__ == "__main__":
    test_set = read()
    print(sorted(test_set.sys_names), sorted(test_set.metric_names), sorted(test_set.human_score_names))
'''
"""`std_gold` names the first kind of scores by people or judges that exists, in the order of `_by_people`."""

ABOUT = """\
`python metainfo.py` reads this folder as a test set, if mt-metrics-eval is installed. Text files have one line per
passage, in the order of `passages.txt`; line breaks within a passage are replaced by spaces. An empty line in
`references/` means that there is no complete translation of the passage.

- `metric-scores/`: higher is better. Drift is therefore multiplied by -1 (`negdrift`). Files `*.sys.score` have corpus
  scores for BLEU and chrF2++, and means over passages for the other metrics. Scores in files `*-all.*` use all
  references of a passage, including references that this folder does not contain.
- `human-scores/*.people.*`, `*.panel.*`: labels by people (mean over annotators) and verdicts of the panel of judges,
  as scores: no error 0, minor -1, major -5, `None` without a label. `*.headtohead.*`: comparison with the human
  translation, 1 if the model is better, 0 if the human translation is better, 0.5 if undecided. `*.mqm.*`, `*.esa.*`:
  scores from errors that people mark, and people's overall scores (means over annotators). Files `*.sys.score` have
  means over the passages with a score; a sample that prefers passages with high drift makes them too low.
- `human-scores/*.seg.rating`: the errors that an annotator or a judge marks, by position in the output (or, with
  `is_source_error`, in the source). `None`: not annotated. An error without a position, such as an omission, has the
  positions 0 and 0.
- Translators with a complete reference are systems, too, with the names of their references.
- In names of systems, references and documents, characters that the layout does not allow are percent-encoded or
  removed.
"""


class WrittenSharedTask(NamedTuple):
    """Content of a written test set.

    `incomplete` names systems left out because outputs are missing; `left_out` names restricted texts that were left
    out; `withheld` is the number of outputs left out because they copy a restricted text.
    """

    passages: int
    systems: list[str]
    references: list[str]
    incomplete: list[str]
    left_out: list[str]
    withheld: int


class Lines(NamedTuple):
    """Lines of a test set: passages in order, and their texts by translator (`references`) and system (`outputs`)."""

    passages: pl.DataFrame
    references: dict[str, list[str]]
    outputs: dict[str, list[str]]

    @property
    def people(self) -> list[str]:
        """Translators whose references are complete, and so are systems."""
        return [name for name, texts in self.references.items() if all(texts)]


def write(
    warehouse: Warehouse, folder: Path, corpus: str, systems: Sequence[str] = (), private: bool = False
) -> WrittenSharedTask:
    """Write a corpus as a test set to a new folder.

    Parameters
    ----------
    systems
        Systems to include, with the passages for which all of them have outputs; by default all systems with outputs
        for every passage of the benchmark.
    private
        Whether to include restricted texts.

    Raises
    ------
    BadInput
        If the corpus is unknown; if the folder exists; if the source, which the layout requires, is restricted and
        `private` is false; if two names become equal in this layout; or if no passage or no system remains.
    """
    folder = folder.resolve()
    check_vacant(folder)
    with warehouse.consistently():
        return _write(warehouse, folder, corpus, systems, private)


def folded(text: str) -> str:
    """A text on one line, with each run of white space reduced to one space."""
    return " ".join(text.split())


def _write(warehouse: Warehouse, folder: Path, corpus: str, systems: Sequence[str], private: bool) -> WrittenSharedTask:
    """Write the test set while the warehouse is locked."""
    key = pl.DataFrame({"corpus": [corpus]})
    selected = warehouse.read("selection", columns=["passage", "selected"]).filter("selected").select("passage")
    sources = warehouse.read("source_text", key).join(selected, on="passage", how="semi").sort("document", "position")
    references = warehouse.read("reference", sources.select("passage"), ["passage", "translator", "text", "complete"])
    rights = disclosure(warehouse, corpus, references["translator"], private)
    pair = _pair(warehouse, key, corpus)
    if "" in rights.hidden:
        raise BadInput(corpus, "source", "is restricted, but a test set requires it", "use --private")
    outputs = warehouse.read("model_output", sources.select("passage"), ["model", "passage", "text"])
    copies = rights.withheld(outputs)
    outputs = outputs.filter(copies.is_null())
    references = references.filter("complete", ~pl.col("translator").is_in(list(rights.hidden)))
    lines, incomplete = _lines(corpus, sources, references, outputs, systems)
    files = _texts(lines, pair) | dict(_metrics(warehouse, lines, pair)) | dict(_by_people(warehouse, lines, pair))
    files |= dict(_ratings(warehouse, lines, pair, outputs))
    if lines.references:
        golds = [
            path.split(".")[1] for path in files if path.startswith("human-scores/") and path.endswith(".sys.score")
        ]
        gold = dict.fromkeys(("sys", "seg"), golds[0]) if golds else {}
        reference = _reference([*lines.people, *lines.references][0])
        files["metainfo.py"] = METAINFO.format(reference=reference, gold=gold, pair=pair)
    title = EXPORT.private if private and rights.restricted else EXPORT.public
    left_out = named(sorted(rights.hidden))
    withheld = len(copies) - len(outputs)
    omissions = f"Restricted texts left out: {', '.join(left_out)}; outputs that copy them: {withheld}.\n\n"
    omissions = f"{omissions if left_out else ''}{unlicensed(rights.rights)}"
    methods = "".join(f"- scores: {signature}\n" for signature in made_by(warehouse, sources.select("passage")))
    files[README] = f"{title}{corpus}, as a test set\n\n{omissions}{ABOUT}{methods}"
    put({path: text.encode() for path, text in files.items()}, folder)
    return WrittenSharedTask(len(lines.passages), [*lines.outputs], [*lines.references], incomplete, left_out, withheld)


def _pair(warehouse: Warehouse, key: pl.DataFrame, corpus: str) -> str:
    described = warehouse.read("corpus", key, ["source_language", "target_language"]).row(0)
    if None in described:
        raise BadInput(
            corpus, "", "has no language pair", "name the languages of source and references in its description"
        )
    return "-".join(described)


def _lines(
    corpus: str, sources: pl.DataFrame, references: pl.DataFrame, outputs: pl.DataFrame, systems: Sequence[str]
) -> tuple[Lines, list[str]]:
    """The lines of the test set, and the systems left out because an output is missing for one of its passages."""
    texts = _texts_by(outputs, "model")
    if unknown := sorted(set(systems) - set(texts)):
        raise BadInput(
            corpus, unknown[0], "has no outputs that may be passed on", "`variorum status --models` lists the models"
        )
    passages = sources
    if systems:
        passages = sources.filter(pl.all_horizontal(pl.col("passage").is_in(list(texts[name])) for name in systems))
    keys = passages["passage"].to_list()
    complete = [name for name in sorted(systems or texts) if all(passage in texts[name] for passage in keys)]
    if not keys or not complete:
        lack = "no passage with outputs of all named systems" if systems else "no system with outputs for all passages"
        remedy = "use `--system` to name systems that have outputs for the same passages"
        raise BadInput(corpus, "", f"has {lack}", remedy)
    lines = Lines(
        passages,
        {
            translator: [folded(texts_of.get(passage, "")) for passage in keys]
            for translator, texts_of in _texts_by(references, "translator").items()
        },
        {name: [folded(texts[name][passage]) for passage in keys] for name in complete},
    )
    return lines, sorted(set(systems or texts) - set(complete))


def _texts_by(rows: pl.DataFrame, name: str) -> dict[str, dict[str, str]]:
    """For each value of the column `name`, in alphabetical order: its texts by passage."""
    groups = rows.sort(name).group_by([name], maintain_order=True)
    return {str(value): dict(group.select("passage", "text").iter_rows()) for (value,), group in groups}


def _texts(lines: Lines, pair: str) -> dict[str, str]:
    ids = lines.passages["passage_id"].to_list()
    documents = [f"all\t{_name(document)}" for document in lines.passages["document"]]
    files = {
        "passages.txt": _text(ids),
        f"sources/{pair}.txt": _text(map(folded, lines.passages["text"])),
        f"documents/{pair}.docs": _text(documents),
    }
    files |= {f"references/{pair}.{_reference(name)}.txt": _text(texts) for name, texts in lines.references.items()}
    files |= {f"system-outputs/{pair}/{_name(name)}.txt": _text(texts) for name, texts in lines.outputs.items()}
    files |= {f"system-outputs/{pair}/{_reference(name)}.txt": _text(lines.references[name]) for name in lines.people}
    if len(files) < 3 + len(lines.references) + len(lines.outputs) + len(lines.people):
        raise BadInput(pair, "references", "two names become equal in this layout", "rename a translator or a model")
    return files


def _metrics(warehouse: Warehouse, lines: Lines, pair: str) -> Iterator[tuple[str, str]]:
    """Files with passage scores and system scores. A metric is included only if every output has a score."""
    systems = _systems(lines)
    scores = _ordered(lines, model_scores(warehouse, systems).rename({"system": "model"}))
    for metric in metrics_of(warehouse):
        if "shared task" in metric.boards and not scores[metric.name].null_count():
            place = f"metric-scores/{pair}/{metric.task_name}-all"
            yield f"{place}.seg.score", _scores(scores.select("model", metric.goodness))
            groups = scores.select("model", *_needed(scores, metric)).group_by(["model"], maintain_order=True)
            means = {model: metric.better * _system_score(rows, metric) for (model,), rows in groups}
            yield f"{place}.sys.score", _scores(pl.DataFrame({"model": [*means], "score": [*means.values()]}))
    similarities = warehouse.read("output_similarity", systems).select("model", "passage", "translator", "similarity")
    similarities = pl.concat([similarities, _of_people(warehouse, lines)])
    for translator in lines.references:
        others = [_reference(name) for name in lines.people if name != translator]
        rows = _ordered(lines, similarities.filter(translator=translator), others)
        if not rows["similarity"].null_count():
            place = f"metric-scores/{pair}/similarity-{_reference(translator)}"
            yield f"{place}.seg.score", _scores(rows.select("model", "similarity"))
            means_of = rows.group_by("model", maintain_order=True).agg(pl.col("similarity").mean())
            yield f"{place}.sys.score", _scores(means_of)


def _by_people(warehouse: Warehouse, lines: Lines, pair: str) -> Iterator[tuple[str, str]]:
    """Score files of people's labels, the panel's verdicts, comparisons with the human translation, and scores from
    the errors that people mark, if present."""
    passages = lines.passages.select("passage")
    weight = pl.col("label").replace_strict(LABEL_POINTS, default=None, return_dtype=pl.Float64)
    labels = warehouse.read("human_label", passages, ["model", "passage", "label"]).with_columns(score=weight)
    marked = warehouse.read("human_span_vote", passages, ["model", "passage", "mqm", "esa"])
    kinds = {
        "mqm": marked.group_by("model", "passage").agg(score=pl.col("mqm").mean()),
        "esa": marked.group_by("model", "passage").agg(score=pl.col("esa").mean()),
        "people": labels.group_by("model", "passage").agg(pl.col("score").mean()),
        "panel": warehouse.read("verdict", passages, ["model", "passage", "label"]).with_columns(score=weight),
        "headtohead": warehouse.read("head_to_head", passages, ["model", "passage", "points"]).with_columns(
            score="points"
        ),
    }
    for name, rows in kinds.items():
        scores = _ordered(lines, rows)
        if scores["score"].count():
            yield f"human-scores/{pair}.{name}.seg.score", _scores(scores.select("model", "score"))
            means = scores.group_by("model", maintain_order=True).agg(pl.col("score").mean())
            yield f"human-scores/{pair}.{name}.sys.score", _scores(means)


def _ratings(warehouse: Warehouse, lines: Lines, pair: str, outputs: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Rating files: the errors that each annotator and each judge marks. Annotators have numbers in place of names."""
    passages = lines.passages.select("passage")
    texts = outputs.join(lines.passages.select("passage", source="text"), on="passage")
    votes = warehouse.read("human_span_vote", passages, ["model", "passage", "annotator"])
    numbers = anonymous(votes["annotator"])
    for spans_of, answered, rater in (
        ("human_error_span", votes, "annotator"),
        (
            "error_span",
            warehouse.read("span_vote", passages, ["model", "passage", "judge", "mqm"]).drop_nulls(),
            "judge",
        ),
    ):
        errors = warehouse.read(spans_of, passages).sort("place").join(texts, on=["model", "passage"], suffix="_of")
        for (name,), rows in answered.sort(rater, "model", "passage").group_by([rater], maintain_order=True):
            shown = numbers[str(name)] if rater == "annotator" else f"judge-{_name(str(name)).replace('.', '%2E')}"
            marks: dict[tuple[str, str], list[dict[str, Any]]] = {key: [] for key in rows.select(KEY).iter_rows()}
            for row in errors.filter(pl.col(rater) == name).iter_rows(named=True):
                marks.get((row["model"], row["passage"]), []).append(_error(row))
            keys = _ordered(lines, rows.select(KEY)).select(KEY).iter_rows()
            ratings = [(model, marks.get((model, passage))) for model, passage in keys]
            if any(errors_of is not None for _, errors_of in ratings):
                yield f"human-scores/{pair}.{shown}.seg.rating", _text(
                    f"{_name(model)}\tNone" if found is None
                    else f"{_name(model)}\t{json.dumps({'errors': found}, ensure_ascii=False)}\t{shown}"
                    for model, found in ratings
                )  # fmt: skip


def _error(row: Mapping[str, Any]) -> dict[str, Any]:
    """A marked error as mt-metrics-eval's `Error`, in a text in which each run of white space is one space."""
    in_source = row["side"] == "source"
    text, start, end = row["source" if in_source else "text_of"], row["span_start"], row["span_end"]
    located = start is not None
    return {
        "start": len(folded(f"{text[:start]}x")) - 1 if located else 0,
        "end": len(folded(text[:end])) if located else 0,
        "category": row["category"],
        "severity": row["severity"],
        "is_source_error": in_source,
    }


def _of_people(warehouse: Warehouse, lines: Lines) -> pl.DataFrame:
    """Similarities of complete references to the others, in the columns of `output_similarity`."""
    rows = warehouse.read("reference_similarity", lines.passages.select("passage"))
    both = [
        rows.select(pl.col(one).alias("model"), "passage", pl.col(other).alias("translator"), "similarity")
        for one, other in (("translator", "other"), ("other", "translator"))
    ]
    names = {name: _reference(name) for name in lines.people}
    known = pl.concat(both).filter(pl.col("model").is_in(lines.people))
    return known.with_columns(pl.col("model").replace(names))


def _ordered(lines: Lines, rows: pl.DataFrame, people: Sequence[str] = ()) -> pl.DataFrame:
    """The row of each system and passage, in the order of the lines. `people` names further systems.

    If `rows` has no row for a system and passage, the columns of `rows` are null.
    """
    systems = pl.concat([_systems(lines), pl.DataFrame({"model": list(people)}, {"model": pl.String})])
    outputs = systems.join(lines.passages.select("passage"), how="cross", maintain_order="left_right")
    return outputs.join(rows, on=["model", "passage"], how="left", maintain_order="left")


def _systems(lines: Lines) -> pl.DataFrame:
    return pl.DataFrame({"model": [*lines.outputs]}, schema={"model": pl.String})


def _needed(scores: pl.DataFrame, metric: Metric) -> list[str]:
    """The columns of `scores` from which a system's value of a metric is computed."""
    return [name for name in (metric.name, f"{metric.name}_statistics") if name in scores.columns]


def _system_score(scores: pl.DataFrame, metric: Metric) -> float:
    return float(metric.of(metric.statistics(scores).sum(axis=0, keepdims=True).astype(np.float64))[0])


def _scores(rows: pl.DataFrame) -> str:
    return _text(f"{_name(model)}\t{score!r}" for model, score in rows.iter_rows())


def _text(lines: "Iterator[str] | Sequence[str] | map[str]") -> str:
    return "".join(f"{line}\n" for line in lines)


def _name(name: str) -> str:
    """A percent-encoded name, without spaces and slashes."""
    return quote(name, safe="")


def _reference(name: str) -> str:
    """Name of a reference for file names, without dashes and dots, which separate the parts of file names."""
    short = re.sub(r"[^\w%]", "", _name(name).replace("-", "").replace(".", "")).replace("%", "")
    return f"ref{short}" if short in ("all", "src", "") else short
