"""Protocols of recipes: the texts of a paper as its repository has them, made into rows of the table `protocol`.

Here: finding a text in a fetched file, its fields as placeholders, and the rows. Not here: declarations (recipe), use
(studies.protocols and the rooms of the studies).
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from string import Formatter
from typing import Any

import polars as pl

from benchmark_assets.benchmarks.fetching import Stock
from benchmark_assets.benchmarks.recipe import FETCHED, PublishedText, ReadRecipe, RecipeProtocol
from benchmark_assets.studies.protocols import CHOICE, TABLE, Asking, PublishedProtocol
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.warehouse import Replacement, Warehouse


def protocol_of(declared: RecipeProtocol, subject: str, folder: Path) -> PublishedProtocol:
    """The protocol for a corpus, base set or task, with its texts from the files in `folder`.

    Raises
    ------
    BadInput
        If a file is missing or unreadable, has no such literal, or a text has a field that is not a name.
    """
    system, fields = template(declared.system, folder) if declared.system else ("", [])
    user, more = template(declared.user, folder)
    labels = literal(folder / declared.labels.file, declared.labels.literal) if declared.labels else {}
    return PublishedProtocol(
        name=f"{declared.name}-{subject.partition('@')[0].lower()}" if declared.role == "answer" else declared.name,
        system=system, user=user, variables=tuple(dict.fromkeys([*fields, *more])),
        labels={name: declared.numbers[number] for name, number in labels.items() if number in declared.numbers},
        **declared.model_dump(include={*Asking.model_fields}),
    )  # fmt: skip


def template(declared: PublishedText, folder: Path) -> tuple[str, list[str]]:
    """A text with `$name` for each field, and the names of its fields in order."""
    path = folder / declared.file
    try:
        text = declared.text or (
            literal(path, declared.literal) if declared.literal else path.read_text(encoding="utf-8")
        )
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(path, "", f"cannot be read ({error})", "restore the published file") from error
    if not isinstance(text, str):
        raise BadInput(path, declared.literal, "is not a text", "name the literal of a prompt")
    text = text.strip() if declared.stripped else text
    if declared.braces == "named":
        pieces = re.split(r"\{([A-Za-z_]\w*)\}", text)
        text = "".join(f"{{{part}}}" if at % 2 else _literally(part) for at, part in enumerate(pieces))
    elif declared.braces == "double":
        text = text.replace("{{", "\0{").replace("}}", "}\0").replace("{", "{{").replace("}", "}}")
        text = text.replace("\0{{", "{").replace("}}\0", "}")
    parts: list[str] = []
    names: list[str] = []
    for words, field, *_ in Formatter().parse(text) if declared.braces else [(text, None)]:
        parts.append(str(words).replace("$", "$$"))
        if field is not None:
            field = declared.expressions.get(field, field)
            if not field.isidentifier():
                raise BadInput(path, declared.literal, f"has the field {field!r}", "correct `braces` in the recipe")
            parts.append(f"${{{field}}}")
            names.append(field)
    return "".join(parts), names


def literal(path: Path, name: str) -> Any:
    """The value of a literal in a Python file: `NAME`, or `NAME.key` for an entry of a dictionary or a variable of a
    function. An f-string becomes the format string with the same expressions as fields.

    The file is parsed, and never executed. The last assignment to the name counts.

    Raises
    ------
    BadInput
        If the file cannot be parsed, or has no such literal.
    """
    variable, _, key = name.partition(".")
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for function in body:
            if key and isinstance(function, ast.FunctionDef) and function.name == variable:
                body, variable, key = function.body, key, ""
        (*_, value) = (
            node.value for node in body
            if isinstance(node, ast.Assign)
            and any(isinstance(to, ast.Name) and to.id == variable for to in node.targets)
        )  # fmt: skip
        if key:
            assert isinstance(value, ast.Dict)
            (*_, value) = (
                each for at, each in zip(value.keys, value.values, strict=True)
                if isinstance(at, ast.Constant) and at.value == key
            )  # fmt: skip
        return _format(value) if isinstance(value, ast.JoinedStr) else ast.literal_eval(value)
    except (OSError, ValueError, SyntaxError, AssertionError) as error:
        raise BadInput(path, name, "is no literal of this file", "restore the published file") from error


def _format(value: ast.JoinedStr) -> str:
    parts: list[str] = []
    for part in value.values:
        if isinstance(part, ast.FormattedValue):
            assert part.conversion == -1
            assert part.format_spec is None
            parts.append(f"{{{ast.unparse(part.value)}}}")
        else:
            parts.append(_literally(str(ast.literal_eval(part))))
    return "".join(parts)


def _literally(text: str) -> str:
    """A text as part of a format string without fields."""
    return text.replace("{", "{{").replace("}", "}}")


def import_protocols(warehouse: Warehouse, recipe: ReadRecipe, stock: Stock, folder: Path) -> list[str]:
    """Store the protocols whose source is not left out, and return the subjects about which they ask models.

    Models that were asked about a corpus or task before stay with the wording in which they were asked, so that nothing
    is asked and paid for again.
    """
    rows = list(_rows(recipe, stock, folder))
    if not rows:
        return []
    found = pl.DataFrame(rows).with_columns(benchmark=pl.lit(recipe.recipe.name))
    new = found.join(warehouse.read(TABLE, columns=["role", "subject"]), on=["role", "subject"], how="anti")
    asked = _asked(warehouse, new)
    changes = [Replacement(TABLE, found, found.select("role", "subject"))]
    if len(asked):
        changes.append(Replacement(CHOICE, asked, asked.select("model", "subject")))
    warehouse.write(changes, run_id="add")
    return found.filter(pl.col("role") != "align")["subject"].to_list()


def _rows(recipe: ReadRecipe, stock: Stock, folder: Path) -> Iterator[Mapping[str, str]]:
    for declared in recipe.recipe.protocols:
        if declared.source in stock.left_out:
            continue
        source = recipe.recipe.sources[declared.source]
        for subject in declared.subjects:
            content = protocol_of(declared, subject, folder / FETCHED / declared.source).model_dump_json()
            repository = f"https://github.com/{source.repository}/tree/{source.commit}" if source.commit else ""
            yield {
                "role": declared.role, "subject": subject, "content": content, "licence": source.licence,
                "url": repository or (recipe.recipe.paper.url if recipe.recipe.paper else ""),
                "fingerprint": digest(content),
            }  # fmt: skip


def _asked(warehouse: Warehouse, new: pl.DataFrame) -> pl.DataFrame:
    """Rows of `own_wording` for models that were asked about the subjects of new protocols in the project's wording, or
    whose outputs were judged so."""
    calls = warehouse.read("study_call", columns=["study", "model", "passage", "task"])
    asked = pl.concat(
        calls.filter(study=study).select("model", role=pl.lit(role), subject=subject)
        for study, role, subject in (
            ("model_output", "translate", CORPUS),
            ("answer", "answer", pl.col("task")),
            ("judge_vote", "judge", CORPUS),
        )
    )
    asked = asked.join(new, on=["role", "subject"], how="semi").select("model", "subject").unique()
    return asked.with_columns(fingerprint=pl.lit("variorum"))


@contextmanager
def wording(warehouse: Warehouse, models: Collection[str], subjects: Collection[str], own: bool) -> Iterator[None]:
    """Have models asked about corpora and tasks in the project's wording, or else by their published protocols. If the
    body raises, for want of consent, they are asked as before."""
    grid = pl.DataFrame({"model": list(models)}, {"model": pl.String}).join(
        pl.DataFrame({"subject": list(subjects)}, {"subject": pl.String}), how="cross"
    )
    before = warehouse.read(CHOICE, grid, ["model", "subject", "fingerprint"])
    chosen = grid.with_columns(fingerprint=pl.lit("variorum"))
    _store(warehouse, grid, chosen if own else chosen.clear())
    try:
        yield
    except BaseException:
        _store(warehouse, grid, before)
        raise


def _store(warehouse: Warehouse, grid: pl.DataFrame, rows: pl.DataFrame) -> None:
    if len(grid):
        warehouse.write([Replacement(CHOICE, rows, grid)], run_id="evaluate")
