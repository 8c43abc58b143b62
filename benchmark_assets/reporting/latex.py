"""Tables for papers: LaTeX in the shapes of the papers that the measures come from.

Here: which tables there are, their rows as text, the escaping. Not here: the numbers. A table that has no rows is not
written. Each stands in a file of its own, needs `booktabs` and `graphicx`, and says in its caption by what its numbers
were made; `all.tex` is a document with all of them.

Shapes: PaliBench, tables 5 to 8; the audit paper, tables 6 to 12; JP-TL-Bench, tables 3 and 5; LiTERatE's scores;
DharmaBench, tables 4 and 5.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.triage import audits
from benchmark_assets.audit.rated import PANEL, PEOPLE
from benchmark_assets.reporting import readings
from benchmark_assets.understanding.readings import boards, groups
from resources.catalogue import column
from resources.errors import BadInput
from resources.folders import check_vacant, put
from resources.tables import cells, computed
from resources.warehouse import Warehouse

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "[": "{[}", "]": "{]}", "σ": r"\ensuremath{\sigma}",
}  # fmt: skip
"""Brackets, too: one at the beginning of a row would be read as an argument of the row before. Of the letters that
signatures have, the encoding T1 lacks one."""

KEYS = ["kind", "system"]
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
    """Content of a table. `name` names its file and label; the first `texts` columns are set flush left."""

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
    with warehouse.exclusively():  # consistent tables
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
    return " & ".join(escaped("--" if cell is None else str(cell)) for cell in cells) + r" \\"


def _of_corpus(warehouse: Warehouse, corpus: str) -> Iterator[LatexTable]:
    key = pl.DataFrame({"corpus": [corpus]})
    yield from _palibench(warehouse, key, corpus)
    yield from _audit(warehouse, key, corpus)
    yield from _judged(warehouse, key, corpus)


def _understanding(warehouse: Warehouse) -> Iterator[LatexTable]:
    rows = warehouse.read("understanding_board")
    tables = boards(rows)
    for title, own in groups(rows).items():
        name = re.sub("[^a-z0-9]+", "-", (title if own["benchmark"][0] else f"understanding-{title}").lower())
        caption = f"{title}: scores by task from 0 to 100, with the standard deviation over seeds"
        near = "; near: share of the test split with a near neighbour in the train split" if own["near"].count() else ""
        yield LatexTable(name, f"{caption}{near}.", tables[title], 2, own["signature"].to_list())


def _palibench(warehouse: Warehouse, key: pl.DataFrame, corpus: str) -> Iterator[LatexTable]:
    alike = warehouse.read("translator_agreement", key)
    yield _table(
        "palibench-5", f"{corpus}: how far apart the human translators are.", alike, "translator_agreement",
        ("measure", "translator", "other"), ("passages", "value", "sd"),
    )  # fmt: skip
    board = warehouse.read("leaderboard", key).sort("kind", "rank", descending=[True, False])
    yield _table(
        "palibench-6", f"{corpus}: models by similarity to the closest reference; human translators, each against the "
        "others, with one reference fewer.", board, "leaderboard", KEYS,
        ("passages", "sim_best", "drift", "length_ratio", "comet_avg", "chrf", "bleu", "outlier_rate"),
    )  # fmt: skip
    shares = warehouse.read("closest_share", key).sort("kind", "system", descending=[True, False])
    yield LatexTable(
        "palibench-7", f"{corpus}: how often each translator is the closest, percent of passages.",
        readings.across(shares, "closest_share", KEYS, "translator", "share"), 2, shares["signature"].to_list(),
    )  # fmt: skip
    ranks = warehouse.read("metric_rank", key)
    (rank,) = cells("metric_rank", "rank")
    yield LatexTable(
        "palibench-8", f"{corpus}: ranks by measure (1 is best).", readings.ranked(ranks, rank, KEYS), 2,
        ranks["signature"].to_list(),
    )  # fmt: skip


def _audit(warehouse: Warehouse, key: pl.DataFrame, corpus: str) -> Iterator[LatexTable]:
    board = warehouse.read("leaderboard", key).filter(kind="model").sort("rank")
    passages = warehouse.read("source_text", key, ["passage"])
    triage = warehouse.read("triage", passages, ["model", "drift"]).rename({"model": "system"})
    far = {f"drift above {least:g}": least for least in audits(warehouse)[corpus].bands}
    counts = triage.group_by("system").agg((pl.col("drift") > least).sum().alias(name) for name, least in far.items())
    rows = board.join(counts, on="system", how="left", maintain_order="left")
    yield _table(
        "audit-6", f"{corpus}: models and how many of their outputs lie far out.", rows, "leaderboard", ("system",),
        ("sim_best", "drift", "length_ratio", "comet_avg"), far,
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
        rates = ("judged", "valid_rate", "minor_rate", "major_rate", "any_rate")
        yield _table(name, f"{corpus}: {words}.", found, "audit_outcome", keys, rates)
    judges = warehouse.read("judge_calibration", key).sort(pl.col("judge").str.starts_with("panel"), "judge")
    levels = (f"{level}_{part}" for level in ("major", "any") for part in ("precision", "recall", "f1"))
    yield _table(
        "audit-8", f"{corpus}: judges against people's labels, percent.", judges, "judge_calibration", ("judge",),
        ("outputs", "exact", *levels),
    )  # fmt: skip
    errors = warehouse.read("error_category", key).filter(pl.col("major") > 0, raters=PANEL, model="")
    yield _table(
        "audit-12", f"{corpus}: major errors that the panel found, by category.",
        errors.sort("major", "error_category", descending=[True, False]), "error_category", ("error_category",),
        ("major", "major_share"),
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
            table = readings.across(own, "pairwise_score", ["model"], "slice", "lt")
            table = order.join(table, on="model", maintain_order="left").select("model", *slices)
            which = f" {place}" if len(comparable) > 1 else ""
            name = f"jp-tl-bench-{re.sub('[^A-Za-z0-9.]+', '-', f'{base_set}{which}')}"
            under = f", contract{which} of {len(comparable)}" if which else ""
            caption = f"Strength against the anchors of {base_set} (LT, 0 to 10) by slice{under}."
            contracts = own.select(pl.format("{}; {}", "contract", "signature")).to_series().to_list()
            yield LatexTable(name, caption, table, 1, contracts)
    marks = warehouse.read("rubric_summary", key).sort("mean", descending=True, nulls_last=True)
    counts = ("ones", "twos", "threes", "fours", "fives")
    shares = (
        computed(pl.col(name) / pl.sum_horizontal(counts), "fraction", column("rubric_summary", name).label)
        for name in counts[:-1]
    )
    table = marks.select(
        *cells("rubric_summary", "model", "judge", "outputs", "mean", "median"), *shares,
        *cells("rubric_summary", "perfect", "useful"),
    )  # fmt: skip
    yield LatexTable("jp-tl-bench-rubric", f"{corpus}: marks from 1 to 5.", table, 2, marks["signature"].to_list())
    scores = warehouse.read("literary_score", key)
    if len(scores):
        order = scores.filter(aspect="").sort("score", descending=True).select("model", "chunks")
        table = readings.across(scores, "literary_score", ["model"], "aspect", "score")
        whole = column("literary_score", "aspect").empty
        aspects = sorted(table.columns[1:], key=lambda each: (each != whole, each))
        yield LatexTable(
            "literate", f"{corpus}: models against the human translation, 0 to 100; 50 is parity.",
            order.join(table.select("model", *aspects), on="model", maintain_order="left"), 1,
            scores["signature"].to_list(),
        )  # fmt: skip


def _table(
    name: str, caption: str, rows: pl.DataFrame, table: str, texts: Sequence[str], numbers: Sequence[str],
    others: Iterable[str] = (),
) -> LatexTable:  # fmt: skip
    """A LaTeX table: columns of the warehouse table `table`, and `others`, which only `rows` has."""
    shown = rows.select(*cells(table, *texts, *numbers), *others)
    return LatexTable(name, caption, shown, len(texts), rows["signature"].to_list())
