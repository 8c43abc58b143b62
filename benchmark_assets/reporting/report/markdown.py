"""Parts of a report as Markdown, without charts. Not here: content (content, gallery), HTML (page)."""

from collections.abc import Iterator, Sequence

from benchmark_assets.reporting.report.display import Cell, Display, Part
from resources.harmless import in_markdown


def markdown(title: str, words: str, parts: Sequence[Part]) -> str:
    """A Markdown document: a heading and a table for each exhibit; the signatures of a part are in a closed block."""
    lines = [f"# {title}", words]
    for part in parts:
        lines.append(f"## {part.title}")
        for exhibit in part.exhibits:
            lines += _exhibit(exhibit)
        signatures = dict.fromkeys(signature for exhibit in part.exhibits for signature in exhibit.signatures)
        if signatures:
            items = "\n".join(f"- {_inline(signature)}" for signature in signatures)
            lines.append(f"<details><summary>Signatures</summary>\n\n{items}\n\n</details>")
    return "\n\n".join(lines) + "\n"


def _exhibit(exhibit: Display) -> Iterator[str]:
    yield f"### {exhibit.title}"
    if exhibit.words:
        yield exhibit.words
    columns = exhibit.columns
    if not columns:
        return
    rows = [
        [_inline(column.heading) for column in columns],
        ["---" if column.of_names else "---:" for column in columns],
        *([_cell(cell) for cell in cells] for cells in zip(*(column.cells for column in columns), strict=True)),
    ]
    yield "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: Cell) -> str:
    return _inline(f"{cell.text} {cell.interval}".rstrip())


def _inline(text: str) -> str:
    return in_markdown(" ".join(text.split()))
