"""Writing of the report to a file. Not here: content (content), layout (page)."""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmark_assets.reporting.report.content import parts
from benchmark_assets.reporting.report.gallery import gallery
from benchmark_assets.reporting.report.markdown import markdown
from benchmark_assets.reporting.report.page import page
from resources import whole_files
from resources.errors import BadInput, suggestion
from resources.folders import PRIVATE
from resources.warehouse import Warehouse

ABOUT = (
    "Values in brackets are 95 % intervals. Published systems are marked; translators are scored against each other. A "
    "dash means that there is no value."
)
"""Explanation of the gallery's tables."""


def write(warehouse: Warehouse, file: Path, corpora: Sequence[str] = (), readers: Sequence[Path] = ()) -> str:
    """Write the report to a file and return its HTML. An earlier file is replaced only after the new one is complete.

    Parameters
    ----------
    corpora
        As for `content.parts`.
    readers
        Folders of public or private readers. Numbers about a corpus link to passages in the corpus's reader.

    Raises
    ------
    BadInput
        For an unknown corpus, a folder without a reader, a reader of a corpus that the report does not cover, or a
        file that cannot be written.
    """
    all_corpora = warehouse.read("corpus", columns=["corpus"])["corpus"].to_list()
    for corpus in corpora:
        if corpus not in all_corpora:
            problem = f"is not a corpus of this warehouse{suggestion(corpus, all_corpora)}"
            raise BadInput(corpus, "", problem, f"choose from {', '.join(sorted(all_corpora)) or 'none yet'}")
    addresses: dict[str, str] = {}
    for folder in readers:
        corpus, index = _reader(folder)
        if corpus not in (corpora or all_corpora):
            problem = f"is a reader of {corpus}, which this report does not cover"
            raise BadInput(folder, "", problem, "choose a reader of a corpus that the report covers")
        addresses[corpus] = Path(os.path.relpath(index.resolve(), file.resolve().parent)).as_posix()
    html = page(parts(warehouse, corpora), datetime.now(UTC), addresses)
    whole_files.hand_over(file, html)
    return html


def write_gallery(warehouse: Warehouse, file: Path) -> str:
    """Write the gallery of added benchmarks to a file, and return its content: Markdown if the file ends in .md, else
    HTML.

    Raises
    ------
    BadInput
        If no benchmark was added, or the file cannot be written.
    """
    shown = gallery(warehouse)
    if not shown:
        raise BadInput(file, "", "no benchmark was added to this warehouse", "run `variorum add NAME`")
    time = datetime.now(UTC)
    about = f"Written by `variorum report {file.name} --benchmarks` on {time:%Y-%m-%d}. {ABOUT}"
    content = markdown("Gallery of benchmarks", about, shown) if file.suffix == ".md" else page(
        shown, time, title="benchmarks"
    )  # fmt: skip
    whole_files.hand_over(file, content)
    return content


def _reader(folder: Path) -> tuple[str, Path]:
    """The corpus of a reader, and the path of its page."""
    for room in (folder, folder / PRIVATE):
        content = room / "index.js"
        if (room / "index.html").is_file() and content.is_file():
            text = content.read_text(encoding="utf-8").strip().removeprefix("READER.index(").removesuffix(");")
            try:
                index = json.loads(text)
            except ValueError:
                break
            if "annotator" not in index:
                return str(index["corpus"]), room / "index.html"
    raise BadInput(folder, "", "is not a reader of a corpus", "write one with `variorum reader FOLDER CORPUS`")
