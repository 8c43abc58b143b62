"""Tables for papers: LaTeX in the shapes of the papers that the measures come from.

Here: which tables there are, their rows as text, the escaping. Not here: the numbers. A table that has no rows is not
written. Each stands in a file of its own, needs `booktabs` and `graphicx`, and says in its caption by what its numbers
were made; `all.tex` is a document with all of them.

Shapes: PaliBench, tables 5 to 8; the audit paper, tables 6 to 12; JP-TL-Bench, tables 3 and 5; LiTERatE's scores;
DharmaBench, tables 4 and 5.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.triage import audits
from benchmark_assets.audit.rated import PANEL, PEOPLE
from benchmark_assets.metrics.measures import MEAN_RANK
from benchmark_assets.reporting import readings
from benchmark_assets.understanding.readings import boards, groups
from resources.errors import BadInput
from resources.folders import check_vacant, put
from resources.tables import number
from resources.warehouse import Warehouse

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "[": "{[}", "]": "{]}", "σ": r"\ensuremath{\sigma}",
}  # fmt: skip
"""Brackets, too: one at the beginning of a row would be read as an argument of the row before. Of the letters that
signatures have, the encoding T1 lacks one."""

KEYS = ["kind", "system"]
TITLES = {
    "sim_best": "Similarity", "chrf": "chrF++", "bleu": "BLEU", "comet_avg": "COMET", "length_offset": "Length",
    "outlier_rate": "Outliers", MEAN_RANK: "Mean rank", "similarity": "Similarity of two",
    "sim_centroid": "Similarity to the centroid", "centroid_distance": "Distance from the centroid",
    "human_spread": "Human spread",
}  # fmt: skip
DOCUMENT = r"""\documentclass{{article}}
\usepackage[T1]{{fontenc}}
\usepackage[margin=2cm]{{geometry}}
\usepackage{{booktabs}}
\usepackage{{graphicx}}
\begin{{document}}
{inputs}
\end{{document}}
"""


class LatexTable(NamedTuple):
    """A table as text. `name` is that of its file and label; the first `texts` columns are set flush left."""

    name: str
    caption: str
    rows: pl.DataFrame
    texts: int
    signatures: Sequence[str]


def write(warehouse: Warehouse, folder: Path, corpus: str | None = None) -> list[str]:
    """Write the tables of a corpus, and of the tasks of understanding, to a folder; without a corpus the latter alone.

    Returns
    -------
    Names of the files with a table.

    Raises
    ------
    BadInput
        For an unknown corpus, a folder that is there already, and where there is nothing to write.
    """
    folder = folder.resolve()
    check_vacant(folder)
    with warehouse.exclusively():  # the tables of one moment
        if corpus and not len(warehouse.read("corpus", pl.DataFrame({"corpus": [corpus]}), ["corpus"])):
            raise BadInput(corpus, "", "is no corpus of this warehouse", "`variorum status` names them")
        whole = [*(_of_corpus(warehouse, corpus) if corpus else ()), *_understanding(warehouse)]
        tables = [table for table in whole if len(table.rows)]
    if not tables:
        remedy = (
            "`variorum update` makes them" if corpus else "`variorum update` makes them; those of a corpus: name it"
        )
        raise BadInput(corpus or "understanding", "", "has no tables yet", remedy)
    files = {f"{table.name}.tex": typeset(table) for table in tables}
    inputs = "\n".join(rf"\input{{{table.name}}}" for table in tables)
    put({name: text.encode() for name, text in (files | {"all.tex": DOCUMENT.format(inputs=inputs)}).items()}, folder)
    return sorted(files)


def typeset(table: LatexTable) -> str:
    """A table as LaTeX: a float that is no wider than the text."""
    columns = "l" * table.texts + "r" * (table.rows.width - table.texts)
    lines = [_row(table.rows.columns), r"\midrule", *(_row(row) for row in table.rows.iter_rows())]
    by = escaped(". ".join(dict.fromkeys(table.signatures)))
    signature = f" {{\\footnotesize Made by: {by}.}}" if by else ""
    return "\n".join([
        r"\begin{table}", r"\centering",
        rf"\caption[{{{escaped(table.caption)}}}]{{{escaped(table.caption)}{signature}}}",
        rf"\label{{tab:{table.name}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}}", r"\end{table}", "",
    ])  # fmt: skip


def escaped(text: str) -> str:
    """Text in which nothing is a command; line breaks are blanks."""
    return "".join(SPECIAL.get(each, each) for each in " ".join(text.split()))


def _row(cells: Sequence[object]) -> str:
    return " & ".join(escaped("--" if cell in (None, "-", "—") else str(cell)) for cell in cells) + r" \\"


def _of_corpus(warehouse: Warehouse, corpus: str) -> Iterator[LatexTable]:
    key = pl.DataFrame({"corpus": [corpus]})
    yield from _palibench(warehouse, key, corpus)
    yield from _audit(warehouse, key, corpus)
    yield from _judged(warehouse, key, corpus)


def _understanding(warehouse: Warehouse) -> Iterator[LatexTable]:
    rows = warehouse.read("understanding_board")
    tables = boards(rows)
    for title, own in groups(rows).items():
        named = tables[title].rename({"kind": "Kind", "system": "System", "mean": "Mean"}, strict=False)
        name = re.sub("[^a-z0-9]+", "-", (title if own["benchmark"][0] else f"understanding-{title}").lower())
        caption = f"{title}: scores by task from 0 to 100, with the standard deviation over seeds"
        near = "; near: share of the test split with a near neighbour in the train split" if own["near"].count() else ""
        yield LatexTable(name, f"{caption}{near}.", named, 2, own["signature"].to_list())


def _palibench(warehouse: Warehouse, key: pl.DataFrame, corpus: str) -> Iterator[LatexTable]:
    alike = warehouse.read("translator_agreement", key)
    who = pl.concat_str(pl.col("translator", "other").replace("", None), separator=", ", ignore_nulls=True)
    yield LatexTable(
        "palibench-5", f"{corpus}: how far apart the human translators are.",
        alike.select(
            Measure=pl.col("measure").replace(TITLES), Translators=who, Passages="passages",
            Mean=number("value", 3), SD=_fixed("sd", 3),
        ), 2, alike["signature"].to_list(),
    )  # fmt: skip
    board = warehouse.read("leaderboard", key).sort("kind", "rank", descending=[True, False])
    yield LatexTable(
        "palibench-6", f"{corpus}: models by similarity to the closest reference; human translators, each against the "
        "others, with one reference fewer.",
        board.select(
            Kind="kind", System="system", Passages="passages", Similarity=number("sim_best", 3),
            Drift=number("drift", 2), Length=number("length_ratio", 3), COMET=number("comet_avg", 3),
            **{"chrF++": number("chrf", 1)}, BLEU=number("bleu", 1), **{"Outliers, %": number("outlier_rate", 1, 100)},
        ), 2, board["signature"].to_list(),
    )  # fmt: skip
    shares = warehouse.read("closest_share", key)
    cells = readings.across(shares, "translator", number("share", 1, 100), KEYS)
    cells = cells.sort("kind", "system", descending=[True, False])
    yield LatexTable(
        "palibench-7", f"{corpus}: how often each translator is the closest, percent of passages.",
        cells.rename({"kind": "Kind", "system": "System"}), 2, shares["signature"].to_list(),
    )  # fmt: skip
    found = warehouse.read("metric_rank", key)
    table = readings.ranked(found, number("rank", 1), KEYS)
    names = {TITLES[name]: name for name in table.columns if name not in KEYS}
    yield LatexTable(
        "palibench-8", f"{corpus}: ranks by measure (1 is best).", table.select(Kind="kind", System="system", **names),
        2, found["signature"].to_list(),
    )  # fmt: skip


def _audit(warehouse: Warehouse, key: pl.DataFrame, corpus: str) -> Iterator[LatexTable]:
    board = warehouse.read("leaderboard", key).filter(kind="model").sort("rank")
    passages = warehouse.read("source_text", key, ["passage"])
    triage = warehouse.read("triage", passages, ["model", "drift"]).rename({"model": "system"})
    far = {f"Drift above {least:g}": least for least in audits(warehouse)[corpus].bands}
    counts = triage.group_by("system").agg((pl.col("drift") > least).sum().alias(name) for name, least in far.items())
    rows = board.join(counts, on="system", how="left", maintain_order="left")
    yield LatexTable(
        "audit-6", f"{corpus}: models and how many of their outputs lie far out.",
        rows.select(
            Model="system", Similarity=number("sim_best", 3), Drift=number("drift", 3),
            Length=number("length_ratio", 3), COMET=number("comet_avg", 3),
            **{name: pl.col(name) for name in far},
        ), 1, rows["signature"].to_list(),
    )  # fmt: skip
    outcomes = warehouse.read("audit_outcome", key).filter(pl.col("judged") > 0).sort("model", "band")
    panel, people = (outcomes.filter(raters=raters) for raters in (PANEL, PEOPLE))
    one, band = pl.col("model") != "", pl.col("band") != ""
    for name, words, found, keys in (
        ("audit-7", "people's labels by band of drift", people.filter(~one, band), ["band"]),
        ("audit-9", "the panel's verdicts on what lies far out, by band of drift", panel.filter(~one, band), ["band"]),
        ("audit-10", "the panel's verdicts on what lies far out, by model", panel.filter(one, ~band), ["model"]),
        ("audit-11", "the panel's verdicts by model and band of drift", panel.filter(one, band), ["model", "band"]),
    ):
        rates = {
            f"{each.capitalize()}, %": number(f"{each}_rate", 1, 100) for each in ("valid", "minor", "major", "any")
        }
        table = found.select(pl.col(keys).name.map(str.capitalize), n="judged", **rates)
        yield LatexTable(name, f"{corpus}: {words}.", table, len(keys), found["signature"].to_list())
    judges = warehouse.read("judge_calibration", key).sort(pl.col("judge").str.starts_with("panel"), "judge")
    parts = {"precision": "precision", "recall": "recall", "F1": "f1"}
    percent = {"Exact": "exact"} | {
        f"{level.capitalize()} {words}": f"{level}_{part}"
        for level in ("major", "any")
        for words, part in parts.items()
    }
    yield LatexTable(
        "audit-8", f"{corpus}: judges against people's labels, percent.",
        judges.select(Judge="judge", n="outputs", **{words: number(name, 1, 100) for words, name in percent.items()}),
        1, judges["signature"].to_list(),
    )  # fmt: skip
    errors = warehouse.read("error_category", key).filter(pl.col("major") > 0, raters=PANEL, model="")
    errors = errors.sort("major", "error_category", descending=[True, False])
    yield LatexTable(
        "audit-12", f"{corpus}: major errors that the panel found, by category.",
        errors.select(Category="error_category", Count="major", **{"Share, %": number("major_share", 1, 100)}),
        1, errors["signature"].to_list(),
    )  # fmt: skip


def _judged(warehouse: Warehouse, key: pl.DataFrame, corpus: str) -> Iterator[LatexTable]:
    passages = warehouse.read("source_text", key, ["passage"])
    sets = warehouse.read("base_set_item", passages, ["base_set"]).unique()
    scored = warehouse.read("pairwise_score", sets).sort("base_set", "contract")
    for (base_set,), every in scored.group_by(["base_set"], maintain_order=True):
        # Scores under different contracts do not compare: a table for each.
        comparable = every.partition_by("contract", maintain_order=True)
        for place, own in enumerate(comparable, start=1):
            slices = sorted(own["slice"].unique(), key=lambda each: (each != "overall", each))
            order = own.filter(slice="overall").sort("lt", descending=True, nulls_last=True).select("model")
            cells = own.with_columns(cell=number("lt", 2)).pivot("slice", index="model", values="cell")
            table = order.join(cells, on="model", maintain_order="left").select("model", *slices)
            which = f" {place}" if len(comparable) > 1 else ""
            name = f"jp-tl-bench-{re.sub('[^A-Za-z0-9.]+', '-', f'{base_set}{which}')}"
            under = f", contract{which} of {len(comparable)}" if which else ""
            caption = f"Strength against the anchors of {base_set} (LT, 0 to 10) by slice{under}."
            signed = own.select(pl.format("{}; {}", "contract", "signature")).to_series().to_list()
            yield LatexTable(name, caption, table.rename({"model": "Model"}), 1, signed)
    marks = warehouse.read("rubric_summary", key)
    shares = {
        f"{mark}, %": (100 * pl.col(name) / pl.sum_horizontal(*_MARKS)).round(1)
        for mark, name in enumerate(_MARKS, start=1)
    }
    yield LatexTable(
        "jp-tl-bench-rubric", f"{corpus}: marks from 1 to 5.",
        marks.sort("mean", descending=True, nulls_last=True).select(
            Model="model", Judge="judge", n="outputs", Mean=number("mean", 2), Median="median", **shares,
            **{"Useful, %": number("useful", 1, 100), "Perfect, %": number("perfect", 1, 100)},
        ), 2, marks["signature"].to_list(),
    )  # fmt: skip
    scores = warehouse.read("literary_score", key)
    named = scores.with_columns(pl.col("aspect").replace("", "All"), cell=number("score", 1))
    if len(named):
        order = scores.filter(aspect="").sort("score", descending=True).select("model", "chunks")
        cells = named.pivot("aspect", index="model", values="cell", sort_columns=True)
        aspects = sorted(cells.columns[1:], key=lambda each: (each != "All", each))
        table = order.join(cells.select("model", *aspects), on="model", maintain_order="left")
        yield LatexTable(
            "literate", f"{corpus}: models against the human translation, 0 to 100; 50 is parity.",
            table.rename({"model": "Model", "chunks": "Chunks"}), 1, scores["signature"].to_list(),
        )  # fmt: skip


_MARKS = ("ones", "twos", "threes", "fours", "fives")


def _fixed(name: str, digits: int) -> pl.Expr:
    return pl.col(name).map_elements(lambda value: f"{value:.{digits}f}", return_dtype=pl.String)
