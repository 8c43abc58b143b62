"""The forms in which people judge outputs: labels of the audit, and errors with a score (ESA, MQM).

Here: their fields, words and instructions. To add a form, add it to FORMS. Not here: what
follows from a form (form), forms that are not about single outputs (literary.pairs, understanding.span_labels).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import polars as pl

from benchmark_assets.adjudication.labels import (
    CATEGORIES,
    CONFIDENCES,
    ERRORS,
    LABELS,
    MAJOR,
    NO_CATEGORY,
    SEVERITIES,
    TAXONOMIES,
    VALID,
)
from benchmark_assets.people.controls import GROSS, SOUND, SUBTLE
from benchmark_assets.people.form import Choice, Errors, Field, Form, Phrase, Score, listed
from benchmark_assets.people.mqm import BEST, MISSING, MOST_IF_BROKEN, WEIGHTS
from benchmark_assets.people.mqm import CATEGORIES as KINDS

ESA, MQM = "ESA", "MQM"

_READ = """\
Read the source first, then the references, then the candidate: one translation of the same passage by an unnamed
translator or model. {task}The references show how far good translations differ. They are not a limit: a word that no
reference uses may be right."""

_MEANINGS = (
    "the source supports the candidate, however much it differs from the references",
    "an editor would correct something, but the reader still learns who does what, what is affirmed or denied, and "
    "what follows",
    "a reader of the candidate alone would believe something that the source does not say, or miss something important",
    "the source or the references are damaged or do not belong together, so that the candidate cannot be judged",
    "only the text around the passage could settle the question",
)

_PROBLEMS = {name: words for each in reversed(TAXONOMIES.values()) for name, words in each.problems.items()}

_OF_ERRORS = ("label", ERRORS)

LABEL_FORM = Form(
    protocol="labels",
    fields=(
        Choice(name="label", words=dict(zip(LABELS, _MEANINGS, strict=True))),
        Choice(
            name="error_category", words={name: _PROBLEMS[name] for name in CATEGORIES}, explains="problem",
            when=_OF_ERRORS, otherwise=NO_CATEGORY,
            explained="for errors only, the main problem (below). Otherwise leave it empty.",
        ),
        Choice(
            name="severity", words=dict.fromkeys(SEVERITIES, ""), when=_OF_ERRORS, otherwise=SEVERITIES[0],
            explained=f"{listed(SEVERITIES)}. `none` if there is no error; for an error, how much harm it does.",
        ),
        Choice(
            name="confidence", words=dict.fromkeys(CONFIDENCES, ""), needed=False,
            explained=f"{listed(CONFIDENCES)}. How sure you are of your label. Optional, but helpful.",
        ),
        Field(name="notes", explained="anything that helps others understand your label. Optional."),
        Phrase(
            name="error_span", label="Error",
            explained="the words of the candidate that contain the error, if you can point at them.",
        ),
    ),
    intro=_READ.format(task=""),
    advice="""\
**Minor or major?** Try to write down what a reader would wrongly believe or miss. If you can, and it matters for the
passage, the error is major. If you cannot, or are in doubt, it is minor. If there are several errors, label the
worst.""",
    in_sheet="; for `error_span`, copy the words from the candidate. `MINOR_ERROR` and `minor error` mean the same.",
    in_studio='To mark an error, choose "Error" and select the words. When you are done, export as JSON (or JSON-MIN)',
    asked=("item", "label", "error_category", "severity"),
    stored="imported_label",
    passed=pl.col("label") == MAJOR,
    checks={
        SOUND: pl.col("label") == VALID, SUBTLE: pl.col("label").is_in(ERRORS), GROSS: pl.col("label") == MAJOR,
    },
    compared=("label", "error_category", "severity"),
)  # fmt: skip
"""The labels of the audit, with the categories of all taxonomies: what sheets and projects may come back with."""


_SEVERITIES = {
    "minor": "an editor would correct it, but the reader is not misled",
    "major": "the reader believes something that the source does not say, or misses something important",
    "critical": "the candidate is useless or harmful because of it",
}


SAME_SCORE = 10
"""Largest difference of two scores of an item, by the same person, that count as the same answer."""

_GRAVE = pl.col("errors").list.eval(pl.element().struct.field("severity") != "minor").list.any()


def _of_errors(protocol: str, severities: Sequence[str], categories: Sequence[str] = ()) -> Form:
    kinds = (" accuracy/mistranslation", " accuracy/omission") if categories else ("", "")
    then = "; then select the category" if categories else ""
    return Form(
        protocol=protocol,
        fields=(
            Score(
                name="score", most=BEST, column="esa",
                explained=f"a number from 0 to {BEST}: 0 means that nothing of the source is left, 33 broken, 66 "
                "understandable with errors, and 100 perfect.",
            ),
            Errors(name="errors", severities={name: _SEVERITIES[name] for name in severities}, categories=categories),
        ),
        intro=_READ.format(task="Mark every error of the candidate, then give the whole a score. "),
        in_sheet=f""": `score`, and in `errors` one line for each error, such as

```
{severities[-1]}{kinds[0]}: across the acre
minor{kinds[1]}: {MISSING}
```

Copy the words after the colon from the candidate; `{MISSING}` means that something of the source is missing. If there
are no errors, leave the cell empty.""",
        in_studio=f"To mark an error, choose its severity and select the words{then}. When done, export as JSON",
        asked=("item", "annotator", "candidate", "score", "errors"),
        stored="imported_annotation",
        parts="imported_span",
        given=("prefilled",),
        last_counts=True,
        passed=pl.col("esa") <= MOST_IF_BROKEN,
        checks={
            SOUND: (pl.col("esa") > 2 * MOST_IF_BROKEN) & ~_GRAVE, SUBTLE: pl.col("mqm") < 0,
            GROSS: (pl.col("esa") <= BEST / 2) | _GRAVE,
        },
        compared=("esa", "mqm"),
        repeated=(pl.col("esa") - pl.col("first")).abs() <= SAME_SCORE,
    )  # fmt: skip


PAIR_FORM = Form(
    protocol="pairs",
    fields=(Choice(name="better", words=dict.fromkeys(("A", "B", "unsure"), ""), needed=False), Field(name="note")),
    asked=("pair", "better"),
    stored="pair_label",
    passed=pl.col("label") == "human",
)
"""The better of two texts."""

ESA_FORM, MQM_FORM = _of_errors(ESA, ("minor", "major")), _of_errors(MQM, tuple(WEIGHTS), KINDS)

FORMS: Mapping[str, Form] = MappingProxyType({form.protocol: form for form in (LABEL_FORM, ESA_FORM, MQM_FORM)})
"""Forms about the sample, by protocol."""


def fitting(form: Form, taxonomy: str) -> Form:
    """A form as it is given to people, with the error categories of a corpus's taxonomy only."""
    problems = TAXONOMIES[taxonomy].problems
    fields = [
        replace(each, words=problems) if isinstance(each, Choice) and each.name == "error_category" else each
        for each in form.fields
    ]
    return replace(form, fields=fields)
