"""Common to all commands: the type of path arguments, the option `--ignore`, former names, and printed phrases."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

import click
import polars as pl

from resources.tables import legend, plain

PATH = click.Path(path_type=Path)

FORMER = {
    "anchors": ("trace NAME@VERSION",), "baseset": ("new baseset", "trace NAME@VERSION"),
    "campaign": ("annotate --as pearmut FILE CORPUS",), "download": ("scan --download",),
    "examples": ("report --examples FILE CORPUS",), "funnel": ("trace CORPUS", "trace CORPUS/PASSAGE"),
    "import annotations": ("import labels FILE",), "import pairs": ("import labels --pairs FILE",),
    "latex": ("export --as latex FOLDER CORPUS",), "marked-spans": ("spans --from FILE OUT TASK",),
    "models": ("status --models",), "pairs": ("annotate --as pairs FILE CORPUS",),
    "release": ("confirm ATTEMPT --cost 0 --note NOTE",),
    "shared-task": ("export --as shared-task FOLDER CORPUS",), "task": ("spans",), "uncertain": ("costs --uncertain",),
    "understanding": ("status --tasks",), "webserver": ("ui --no-daemon",),
}  # fmt: skip
"""What to type in place of a former command."""


class CommandGroup(click.Group):
    """A group of commands that says what to type in place of a former or unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; for a former or unknown name, say which one may be meant."""
        name = args[0] if ctx.parent is None else f"{ctx.info_name} {args[0]}"
        if name in FORMER:
            present = " and ".join(f"`variorum {each}`" for each in FORMER[name])
            ctx.fail(f"`variorum {name}` was renamed: use {present}.")
        if self.get_command(ctx, args[0]) is None and (close := get_close_matches(args[0], self.commands)):
            ctx.fail(f"No such command {args[0]!r}. Did you mean {' or '.join(close)}?")
        return super().resolve_command(ctx, args)


IGNORE = click.option("--ignore", multiple=True, help="Key or column to ignore in the file; may be repeated.")


PRINTED = {
    "languages": "language of the source → language of the translations.",
    "passages": "imported passages.", "references": "names of the human translators.",
    "waiting": "passages imported since the last update.",
    "selected": "passages that the filters leave in the benchmark.", "outputs": "stored translations.",
    "models": "models with outputs for the corpus.", "from": "where the model or its outputs come from: the registry, "
    "a file that was imported, or a benchmark that published them.", "corpora": "corpora that it translates.",
    "id": "name of the model at its endpoint.", "effort": "amount of reasoning that is asked for.",
    "asset": "table, or stage of the computation, as Dagster names it.", "reason": "why the partitions are stale.",
    "partition": "model, corpus/passage or task that is stale.",
    "partitions": "number of stale partitions, or what the asset is divided by.", "first": "the first of them.",
    "total": "partitions in all.", "materialized": "partitions that are computed.",
    "failed": "partitions whose last run failed.", "missing": "partitions that were never computed.",
    "study": "what is asked: translations, or a kind of judgement.", "calls": "requests to the model.",
    "in the ledger": "replies that are stored, and cost nothing again.", "tokens": "tokens in prompts and replies.",
    "dollars": "likely cost in US dollars.", "at most": "cost if every reply were as long as allowed.",
    "hours": "likely duration of the calls.", "size": "passages of corpora, and samples of tasks.",
    "systems": "systems whose outputs are published with it.", "licences": "licences of its texts and files.",
    "consent": "sources whose terms ask for your consent.", "added": "version in this home.",
    "attempt": "number of the call, for `variorum confirm`.", "asked": "time of the call, UTC.",
    "outcome": "how the call ended.", "at_most": "highest possible cost in US dollars.",
    "measure": "filter, or number that filters use.", "value": "its value for the passage.",
}  # fmt: skip
"""What columns mean that are printed, and are in no table of the catalogue."""


def explained(frame: pl.DataFrame, table: str = "") -> str:
    """A table as text, followed by what its columns mean: those of `table` as the catalogue says, others as `PRINTED`.

    What the command has explained before is not repeated.
    """
    return "\n".join([plain(frame), *explanations(frame.columns, table)])


def explanations(headings: Sequence[str], table: str = "") -> list[str]:
    """A line for each heading that the command has not explained yet, after a blank line."""
    meanings = {name: PRINTED[name] for name in headings if name in PRINTED} | (
        legend(headings, table) if table else {}
    )
    before: set[tuple[str, str]] = click.get_current_context().meta.setdefault(f"{__name__}.explained", set())
    new = [each for each in meanings.items() if each not in before]
    before.update(new)
    return ["", *(f"  {name}: {meaning}" for name, meaning in new)] if new else []


def holding(restricted: Sequence[str]) -> str:
    """A note on written files that may contain restricted texts. It lists the restricted texts in the files."""
    return (
        f"PRIVATE, DO NOT PASS ON; contains restricted texts: {', '.join(restricted)}"
        if restricted
        else "no restricted texts"
    )


def without(restricted: Sequence[str]) -> str:
    """A note on written files that are public. It lists the restricted texts that were left out."""
    return f"public; restricted texts left out: {', '.join(restricted) or 'none'}"


def numbers(counts: Mapping[str, int]) -> str:
    """Return the counts as a phrase, such as "3 taken, 1 replaced"."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())
