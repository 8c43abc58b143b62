"""Chapters of models: what each model is bad at, in its worst passages, its faults and the parts of a corpus.

Here: sentences, tables and charts about one model. Like the rest of the report, without texts: passages are named, and
link to the reader. Not here: comparisons of all models (content).
"""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from benchmark_assets.adjudication.labels import MAJOR, MINOR, NO_CATEGORY, VALID, WORDS
from benchmark_assets.adjudication.verdicts import KEY
from benchmark_assets.audit.examples import with_people
from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.summary import DRIFT
from benchmark_assets.reporting import exhibits
from benchmark_assets.reporting.headline import RATE
from benchmark_assets.reporting.report import charts
from benchmark_assets.reporting.report.display import Display, Home, Part, column, columns, of_frame, plotted
from benchmark_assets.reporting.report.findings import SIMILARITY, labels_needed
from benchmark_assets.reporting.sentences import counted, listed
from resources import catalogue
from resources.exhibits import WIDE, Exhibit, Ranges
from resources.tables import cell
from resources.warehouse import Warehouse

SHOWN = 8
"""Largest number of passages that a chapter lists for a corpus."""

FAR = "far from the references"
"""Why an output is listed that nobody has judged and that has no fault: a reason to look at it."""

WORST = Exhibit(
    "drift_score", "", "Worst passages",
    "First outputs that people label as errors, then errors by the panel, outputs with faults, and those farthest from "
    "the references, which may be good. Outputs that people or the panel find valid are left out.",
    sources="drift_score triage output_diagnostic",
)  # fmt: skip
PLACES = {
    "collection": "in the collection {}",
    "source_length": "in the third with {} sources",
    "reference_length": "in the third with {} references",
    "human_spread": "in the third with a {} spread of references",
    "rarity": "in the third with {} words",
}
"""A part of a corpus in words, by dimension."""

PARTS = exhibits.SLICES._replace(
    title="Parts of the corpus", words="Similarity in each part of the corpus, and the mean of the other models there; "
    "parts in which the model falls behind most come first. Parts with wide intervals may differ by chance.",
    question="In which parts is the model farthest from the references?",
)  # fmt: skip


def chapters(home: Home, corpora: Sequence[str]) -> list[Part]:
    """A part for each model on the leaderboards of corpora, sorted by name."""
    made: dict[str, list[Part]] = {}
    for corpus in corpora:
        board = home.read("leaderboard", corpus).filter(kind="model")
        passages = home.warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["passage"])
        judged = _judged(home.warehouse, passages)
        worst, errors, parts = _worst(home.warehouse, passages, judged), _errors(judged), _parts(home, corpus)
        for row in board.sort("system").iter_rows(named=True):
            model = str(row["system"])
            own = [frame.filter(model=model) for frame in (worst, errors, parts)]
            shown = [*_passages(home, corpus, own[0]), *_by_part(home, corpus, own[2])]
            made.setdefault(model, []).append(Part(corpus, shown, [*_sentences(row, *own)], [*_unsaid(row)]))
    return [_joined(model, parts) for model, parts in sorted(made.items())]


def _joined(model: str, parts: Sequence[Part]) -> Part:
    """What is bad in each corpus (parts with the corpus as title), as one part; sentences name it if there are more."""

    def named(sentence: str, corpus: str) -> str:
        return f"In {corpus}: {sentence}" if len(parts) > 1 else sentence[0].upper() + sentence[1:]

    said = [named(sentence, part.title) for part in parts for sentence in part.findings]
    unsaid = [named(sentence, part.title) for part in parts for sentence in part.unsaid]
    return Part(model, [display for part in parts for display in part.exhibits], said, unsaid, "model")


def _sentences(
    row: Mapping[str, object], worst: pl.DataFrame, errors: pl.DataFrame, parts: pl.DataFrame
) -> Iterator[str]:
    """What a model is bad at in a corpus, from its row of the leaderboard and its rows of the other frames."""
    if row[RATE] is not None:
        (rate,) = pl.DataFrame([row], infer_schema_length=None).select(cell(catalogue.column("leaderboard", RATE)))
        yield f"{rate[0]} % of its outputs have a major error, as people's labels estimate it."
    if row["failures"]:
        yield f"no usable output for {row['failures']:,} of {counted(int(str(row['passages'])), 'passage')}."
    if len(errors):
        kinds = [f"{category} ({number})" for category, number in errors.select("category", "number").rows()]
        yield f"its errors, by {errors['by'][0]}, are above all {listed(kinds, 4)}."
    found = {name.replace("_", " "): row[name] for name in DIAGNOSES if row[name]}
    if found:
        kinds = [f"{name} ({number})" for name, number in sorted(found.items(), key=lambda each: -int(str(each[1])))]
        yield f"faults that are visible without judging: {listed(kinds)}."
    if worst.is_empty():
        yield "nothing bad was found: no error by a verdict or a label, no fault, no distance."
    if parts[SIMILARITY].n_unique() > 1:
        part = parts.row(0, named=True)
        place = PLACES[part["dimension"]].format(part["slice"])
        (value,) = parts[:1].select(cell(catalogue.column("slice_summary", SIMILARITY)))
        size, alone = counted(part["passages"], "passage"), part["others"] is None
        ahead = not alone and part[SIMILARITY] >= part["others"]
        among = "" if alone else "beside the other models, "
        yield (
            f"{among}it is {'ahead least' if ahead else 'weakest'} by similarity {place} ({size}): {value[0]}"
            + ("." if alone else f", the mean of the others {part['others']:.3f}.") + " Distance is not error."
        )  # fmt: skip


def _unsaid(row: Mapping[str, object]) -> Iterator[str]:
    """What cannot be said of a model in a corpus."""
    if row[RATE] is None:
        advised = labels_needed()
        yield f"how often it is wrong: too few of its outputs are labeled by people. It takes about {advised} labels."


def _judged(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """Outputs with a drift, the panel's verdict and people's verdict."""
    panel = warehouse.read("verdict", passages, [*KEY, "label", "error_category"])
    rows = with_people(warehouse.read("triage", passages), panel, warehouse.read("human_label", passages))
    return rows.select(*KEY, "label", "error_category", "people", "people_category")


def _errors(judged: pl.DataFrame) -> pl.DataFrame:
    """Number of errors by category, most first: by people if they mark any error of a model, else by the panel."""
    parts = []
    for by, label, category in (("people", "people", "people_category"), ("the panel", "label", "error_category")):
        wrong = judged.filter(pl.col(label).is_in([MAJOR, MINOR]), pl.col(category) != NO_CATEGORY)
        counts = wrong.group_by("model", category=pl.col(category).replace(WORDS)).agg(number=pl.len())
        parts.append(counts.with_columns(by=pl.lit(by)))
    people, panel = parts
    rows = pl.concat([people, panel.join(people, on="model", how="anti")])
    return rows.sort("model", "number", "category", descending=[False, True, False])


def _worst(warehouse: Warehouse, passages: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """The worst outputs of each model, worst first: `model`, `passage`, `why`, `drift` and similarity."""
    drift = warehouse.read("drift_score", passages, [*KEY, "drift", SIMILARITY])
    faults = warehouse.read("output_diagnostic", passages, [*KEY, *DIAGNOSES])
    flags = [pl.when(name).then(pl.lit(name.replace("_", " "))) for name in DIAGNOSES]
    faults = faults.select(*KEY, faults=pl.concat_str(flags, separator=", ", ignore_nulls=True))
    rows = faults.filter(pl.col("faults") != "").join(judged, on=KEY, how="full", coalesce=True)
    rows = rows.join(drift, on=KEY, how="left")
    gravity, why = pl.lit(None, pl.Int8), pl.lit(None, pl.String)
    reasons: list[tuple[pl.Expr, int, pl.Expr]] = [
        (pl.col("drift").is_not_null(), 0, pl.lit(FAR)),
        (pl.col("label") == VALID, -1, pl.lit("")),
        (pl.col("label") == MINOR, 2, _said("panel", "label", "error_category")),
        (pl.col("people") == VALID, -1, pl.lit("")),
        (pl.col("people") == MINOR, 3, _said("people", "people", "people_category")),
        (pl.col("faults").is_not_null(), 4, pl.format("fault: {}", "faults")),
        (pl.col("label").eq(MAJOR) & pl.col("people").is_null(), 5, _said("panel", "label", "error_category")),
        (pl.col("people") == MAJOR, 6, _said("people", "people", "people_category")),
    ]  # fmt: skip
    for condition, weight, words in reasons:  # a later one outweighs an earlier one
        gravity, why = pl.when(condition).then(weight).otherwise(gravity), pl.when(condition).then(words).otherwise(why)
    rows = rows.with_columns(gravity=gravity, why=why).filter(pl.col("gravity") >= 0)
    rows = rows.sort("gravity", "drift", "passage", descending=[True, True, False], nulls_last=True)
    return rows.group_by("model", maintain_order=True).head(SHOWN)


def _said(who: str, label: str, category: str) -> pl.Expr:
    kind = pl.when(pl.col(category) != NO_CATEGORY).then(pl.format(", {}", pl.col(category).replace(WORDS)))
    return pl.format("{}: {}{}", pl.lit(who), pl.col(label).replace(WORDS), kind.fill_null(""))


def _passages(home: Home, corpus: str, worst: pl.DataFrame) -> list[Display]:
    """The worst passages of a model, each with a link to its texts."""
    names = worst["passage"].str.strip_prefix(f"{corpus}/").to_list()
    links = [
        {"corpus": corpus, "model": model, "passage": name} for model, name in zip(worst["model"], names, strict=True)
    ]
    words = of_frame(
        pl.DataFrame({"passage": names, "why": worst["why"]}, schema=dict.fromkeys(("passage", "why"), pl.String))
    )
    linked = [each._replace(behind=link) for each, link in zip(words[0].cells, links, strict=True)]
    table = [words[0]._replace(cells=linked), words[1], *columns(worst, "drift_score", "drift", SIMILARITY)]
    return home.show(WORST, corpus, worst, title=f"Worst passages in {corpus}", table=table, signatures=[DRIFT])


def _parts(home: Home, corpus: str) -> pl.DataFrame:
    """Similarity of each model in each part of a corpus, and `others`, the mean of the other models there (null if
    there is none); the part where a model falls behind the others most, or else has the lowest value, first."""
    rows = home.read("slice_summary", corpus).filter(pl.col("passages") > 0, kind="model").drop_nulls(SIMILARITY)
    value, part = pl.col(SIMILARITY), ["dimension", "slice"]
    others = (value.sum().over(part) - value) / (pl.len().over(part) - 1)
    rows = rows.rename({"system": "model"}).with_columns(others=pl.when(pl.len().over(part) > 1).then(others))
    return rows.sort("model", (value - pl.col("others")).fill_null(value), *part)


def _by_part(home: Home, corpus: str, rows: pl.DataFrame) -> list[Display]:
    """A model's similarity in each part of a corpus, and the mean of the other models there."""
    nothing = [pl.lit(None, pl.Float64).alias(f"{SIMILARITY}{end}") for end in ("_low", "_high")]
    others = rows.drop(SIMILARITY).rename({"others": SIMILARITY}).with_columns(nothing)
    table = [
        *columns(rows, "slice_summary", "dimension", "slice", "passages", SIMILARITY),
        column(others, "slice_summary", SIMILARITY, heading="other models"),
    ]
    name = pl.format("{}: {}", cell(catalogue.column("slice_summary", "dimension")), "slice")
    points = [
        plotted(frame.sort("dimension", "least", "slice"), "slice_summary", SIMILARITY, name, pl.lit(kind))
        for frame, kind in ((rows, "this model"), (others, "mean of the other models"))
    ]
    chart = charts.ranges(pl.concat(points), Ranges(SIMILARITY, unit=catalogue.label(SIMILARITY), width=WIDE))
    return home.show(PARTS, corpus, rows, title=f"Parts of {corpus}", table=table, chart=chart)
