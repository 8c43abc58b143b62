"""Run files: the description of an evaluation, which can be kept with a paper. It holds what options could say.

Here: the file and its checks. Not here: the evaluation (cli.working), consent to costs, which no file can give.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from resources import yaml_files
from resources.frozen import Frozen
from resources.whole_files import sha256

REMEDY = "see the run file in docs/model-builder.md"

ENDS = (".yaml", ".yml")
"""How the name of a run file ends."""


class RunFile(Frozen):
    """An evaluation of models on a benchmark, a corpus or a task, or on everything in the home.

    `limit` is the number of passages and samples for a first try, `protocol` the wording and reader of the questions,
    and `budget` the US dollars that the evaluation may cost.
    """

    models: Annotated[tuple[str, ...], Field(min_length=1)]
    benchmark: str | None = None
    limit: Annotated[int, Field(ge=1)] | None = None
    protocol: Literal["paper", "variorum"] | None = None
    budget: Annotated[float, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _of_a_benchmark(self) -> Self:
        if self.benchmark is None and (self.limit or self.protocol):
            raise ValueError("`limit` and `protocol` need `benchmark`")
        return self


def read(path: Path) -> RunFile:
    """Read a run file.

    Raises
    ------
    BadInput
        If it is missing or is not YAML, or if keys are unknown, wrong or do not go together.
    """
    return yaml_files.read(path, RunFile, REMEDY)


def described(path: Path, plan: RunFile) -> str:
    """What a run file asks for, with a hash of the file, in a line."""
    where = plan.benchmark or "the whole home"
    parts = [f"{', '.join(plan.models)} on {where}"]
    parts += [f"limit {plan.limit}"] if plan.limit else []
    parts += [f"protocol {plan.protocol}"] if plan.protocol else []
    parts += [f"budget {plan.budget:g} dollars"] if plan.budget else []
    return f"{path.name} (SHA-256 {sha256(path)[:12]}): {', '.join(parts)}"
