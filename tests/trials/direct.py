"""A form: direct assessment of adequacy, with a mark for each critical error."""

import polars as pl

from benchmark_assets.people.form import Errors, Form, Score

DIRECT_FORM = Form(
    protocol="direct",
    fields=(
        Score(name="adequacy", most=100, column="esa", explained="how much of the sense of the source is left."),
        Errors(name="errors", severities={"critical": "the candidate is harmful because of it"}),
    ),
    intro="Read the source, then the candidate.",
    asked=("item", "annotator", "candidate", "adequacy", "errors"),
    stored="imported_annotation",
    parts="imported_span",
    passed=pl.col("esa") <= 50,
)
