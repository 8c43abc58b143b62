"""Gold sets: outputs of systems and people that people rated, in one form whatever file they come from.

Here: the form, the score of a rating from its errors (MQM as at WMT), and one label for each output. Not here: files
(readers), scores by metrics (scoring), figures.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import polars as pl

from resources.errors import BadInput

MQM: Final = "mqm"
ESA: Final = "esa"
Scale = Literal["mqm", "esa"]
"""`mqm`: minus the points for errors, 0 is best. `esa`: an overall score from 0 to 100."""

MAJOR_POINTS = -5.0
"""An MQM score up to which an output counts as having a major error, if only scores are known."""

SOUND_ESA = 66.0
"""An ESA score ("most of the meaning is preserved") below which an output counts as having a major error, if no errors
are marked."""

PENALTY = {"critical": 5.0, "major": 5.0, "minor": 1.0, "neutral": 0.0, "no-error": 0.0, "undecided": 0.0}
PUNCTUATION, NON_TRANSLATION = ("fluency/punctuation", 0.1), ("non-translation", 25.0)

_HUMAN = re.compile(
    r"(ref|reference|human)([-_. ]?([a-z]|\d{1,2})(\.\d+)?)?|reference[-_. ].+|human .+", re.IGNORECASE | re.DOTALL
)

PASSAGES = pl.Schema({"passage": pl.String, "position": pl.Int64, "document": pl.String, "source": pl.String})
REFERENCES = pl.Schema({"passage": pl.String, "translator": pl.String, "text": pl.String})
OUTPUTS = pl.Schema({"system": pl.String, "passage": pl.String, "text": pl.String, "human": pl.Boolean})
RATINGS = pl.Schema({
    "system": pl.String, "passage": pl.String, "rater": pl.String, "score": pl.Float64, "major": pl.Int32,
    "minor": pl.Int32,
})  # fmt: skip
SPANS = pl.Schema({
    "system": pl.String, "passage": pl.String, "rater": pl.String, "start": pl.Int64, "end": pl.Int64,
    "severity": pl.String, "category": pl.String,
})  # fmt: skip


class Error(NamedTuple):
    """An error that a rater marked. `start` and `end` (exclusive) are characters of the output; None for an error
    without a place in it, such as an omission. Severity and category are in lower case."""

    severity: str
    category: str = ""
    start: int | None = None
    end: int | None = None


class Rating(NamedTuple):
    """One rater's rating of one output.

    `errors` is None if only a score is known; `score` is None if it follows from the errors. `rater` is '' if unknown.
    """

    system: str
    passage: str
    rater: str
    errors: Sequence[Error] | None
    score: float | None = None


class GoldSet(NamedTuple):
    """A set of rated outputs.

    Attributes
    ----------
    name
        Name of the folder, followed by the language pair if the folder has several.
    language
        Tag of the target language; '' if unknown.
    scale
        Scale of `ratings.score`; higher is better.
    passages, references, outputs, ratings, spans
        Frames with the columns of `PASSAGES`, `REFERENCES`, `OUTPUTS`, `RATINGS` and `SPANS`. `outputs.human` is true
        for translations by people that were rated as outputs. `ratings.major` and `minor` are numbers of errors, null
        if errors are unknown. `document` and `source` may be null.
    notes
        What was left out, and what was checked.
    """

    name: str
    language: str
    scale: Scale
    passages: pl.DataFrame
    references: pl.DataFrame
    outputs: pl.DataFrame
    ratings: pl.DataFrame
    spans: pl.DataFrame
    notes: tuple[str, ...] = ()


def is_human(system: str) -> bool:
    """Whether a system's name is that of a person's translation, as WMT, mt-metrics-eval and the project name them:
    `ref`, `reference` or `human`, alone or with a letter or number (`refB`, `ref-A`, `Human-A.0`), or `reference` or
    `human` with a name (`reference Müller`)."""
    return bool(_HUMAN.fullmatch(system))


def points(errors: Iterable[Error]) -> float:
    """MQM score of an output from its errors: minus their penalties, 0 without errors.

    Major errors cost 5, minor ones 1, minor errors of punctuation 0.1, a non-translation 25; errors of the source
    count. Source: Freitag et al. 2021, table 4.
    """
    return -sum(_penalty(error) for error in errors) or 0.0


def _penalty(error: Error) -> float:
    category, special = error.category, (NON_TRANSLATION, PUNCTUATION)
    if category.startswith(special[0][0]):
        return special[0][1]
    if error.severity == "minor" and category == special[1][0]:
        return special[1][1]
    return PENALTY[error.severity]


def severity(word: str, where: object, key: str) -> str:
    """A severity in lower case. Raises BadInput for an unknown one."""
    name = word.strip().casefold()
    if name not in PENALTY:
        raise BadInput(where, key, f"has the unknown severity {word!r}", f"use one of {', '.join(PENALTY)}")
    return name


def frames(ratings: Collection[Rating]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Ratings as the frames `ratings` and `spans` of a gold set; errors that cost nothing are no spans."""
    rows, spans = [], []
    for rating in ratings:
        errors = [error for error in rating.errors or () if PENALTY[error.severity]]
        counts: Mapping[str, int | None] = {"major": None, "minor": None}
        if rating.errors is not None:
            major = sum(PENALTY[error.severity] >= PENALTY["major"] for error in errors)
            counts = {"major": major, "minor": len(errors) - major}
        score = points(errors) if rating.score is None else rating.score
        key = {"system": rating.system, "passage": rating.passage, "rater": rating.rater}
        rows.append({**key, "score": score, **counts})
        spans += [{**key, **error._asdict()} for error in errors]
    return pl.DataFrame(rows, RATINGS), pl.DataFrame(spans, SPANS)


def has_major(scale: Scale) -> pl.Expr:
    """Whether a rating has a major error, as its errors say or, if they are unknown, its score: see `MAJOR_POINTS` and
    `SOUND_ESA`."""
    by_score = pl.col("score") <= MAJOR_POINTS if scale == MQM else pl.col("score") < SOUND_ESA
    return pl.coalesce(pl.col("major") > 0, by_score)


def labels(gold: GoldSet) -> pl.DataFrame:
    """One label for each rated output.

    Returns
    -------
    Columns of `OUTPUTS`, `document`, `position`, `source`, `score` (mean over ratings) and `major`: whether at least
    half of the ratings mark a major error or, if errors are unknown, whether the mean score says so (`has_major`).
    Sorted by position and system.
    """
    rated = gold.ratings.drop_nulls("score").group_by("system", "passage").agg(
        pl.col("score").mean(), (pl.col("major") > 0).mean()
    )  # fmt: skip
    rated = rated.with_columns(major=has_major(gold.scale) & (pl.col("major").is_null() | (pl.col("major") >= 0.5)))
    rows = gold.outputs.join(rated, on=["system", "passage"]).join(gold.passages, on="passage")
    return rows.sort("position", "system")
