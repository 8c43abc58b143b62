"""The site: a folder of pages that a group can publish as it is, without any restricted text.

Here: the front page, and which pages there are. Not here: the pages themselves (writing, gallery, reader).
"""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchmark_assets.reporting import headline, leaderboard, overview
from benchmark_assets.reporting.reader.writing import write_reader
from benchmark_assets.reporting.report.page import address, document
from benchmark_assets.reporting.report.writing import write, write_gallery
from resources.errors import BadInput
from resources.folders import README, Kind, check_replaceable, put
from resources.warehouse import Warehouse

SITE = Kind("site", "# Variorum site", "# Variorum site, private")

REPORT, BENCHMARKS, READERS = "report.html", "benchmarks.html", "read"

ABOUT = (
    "Tables and charts, the passages with all outputs, and how published numbers compare with ours. Restricted texts, "
    "and free text by judges and annotators, are left out. The pages load nothing and need no server."
)


def write_site(warehouse: Warehouse, folder: Path) -> list[str]:
    """Write the site of a home, and return the paths of its pages. An earlier site is replaced.

    Raises
    ------
    BadInput
        If there is neither a corpus, nor a task, nor a benchmark, or the folder cannot be written or has anything
        other than an earlier site.
    """
    folder = folder.resolve()
    check_replaceable(folder, SITE, private=False)
    corpora = [name for name, passages in overview.corpora(warehouse).select("corpus", "passages").rows() if passages]
    if not (corpora or any(len(warehouse.read(table, columns=[table], most=1)) for table in ("task", "benchmark"))):
        problem = "there is neither a corpus with passages, nor a task, nor a benchmark"
        raise BadInput(folder, "", problem, "run `variorum update` first")
    with TemporaryDirectory() as place:
        made = Path(place)
        for corpus in corpora:
            write_reader(warehouse, made / READERS / corpus, corpus)
        write(warehouse, made / REPORT, readers=[made / READERS / corpus for corpus in corpora])
        if len(warehouse.read("benchmark", columns=["benchmark"], most=1)):
            write_gallery(warehouse, made / BENCHMARKS)
        files = {path.relative_to(made).as_posix(): path.read_bytes() for path in made.rglob("*") if path.is_file()}
    front = document("Variorum", f"<p>{escape(ABOUT)}</p>", "\n".join(_front(warehouse, BENCHMARKS in files)))
    files |= {"index.html": front.encode(), README: f"{SITE.public}\n\n{ABOUT} Open `index.html`.\n".encode()}
    put(files, folder)
    return sorted(name for name in files if name.endswith(".html"))


def _front(warehouse: Warehouse, benchmarks: bool) -> Iterator[str]:
    """The front page: links to the results, and a section for each corpus with what its board can say."""
    yield f'<p><a href="{REPORT}">All results</a>: tables and charts of all corpora, with intervals.</p>'
    if benchmarks:
        yield f'<p><a href="{BENCHMARKS}">Benchmarks</a>: sizes, terms, and published numbers beside ours.</p>'
    board = leaderboard.read(warehouse)
    for row in overview.corpora(warehouse).filter(pl.col("passages") > 0).iter_rows(named=True):
        corpus = escape(row["corpus"])
        yield f'<h2 id="{corpus}">{corpus}</h2>'
        words = f"{row['languages']}, {row['passages']:,} passages. References: {row['references']}."
        yield f"<p>{escape(words)} {_link('corpus', row['corpus'], 'Findings, tables and charts')}.</p>"
        models = board.filter(corpus=row["corpus"], kind="model")
        for (ordered_by,), rows in models.group_by(["ordered_by"], maintain_order=True):
            names = ", ".join(_link("model", name, name) for name in dict.fromkeys(rows["system"]))
            yield f"<p>{escape(headline.words(str(ordered_by)))} What each model is bad at: {names}.</p>"
        yield f'<p><a href="{READERS}/{corpus}/index.html">Read the passages with all outputs</a></p>'


def _link(kind: str, title: str, words: str) -> str:
    """A link to a part of the report."""
    return f'<a href="{REPORT}#{escape(address(kind, title))}">{escape(words)}</a>'
