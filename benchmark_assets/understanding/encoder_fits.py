"""Encoders on tasks of classes: each is trained once, and answers the test splits.

Training may take hours. The answers of an encoder after training with one seed are stored in `encoder_fit` at once,
with a hash of all that determines them: checkpoint, seed, samples, software. Later runs reuse them: after an
interruption, when an encoder is added, and when another encoder cannot be loaded.

Here: rows of `encoder_fit` and `encoder_answer`. Not here: training (encoder), other baselines (baselines).
"""

import logging
from collections.abc import Mapping, Sequence

import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.understanding.baselines import BASELINE_ANSWER, Split, answer_rows, split, untrainable
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.encoder import Encoder, fine_tune
from benchmark_assets.understanding.tasks import readable
from resources.digest import digest
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse

logger = logging.getLogger("variorum.understanding")


def settings(warehouse: Warehouse, asked: pl.DataFrame, encoders: Mapping[str, Encoder]) -> pl.DataFrame:
    """Columns `task` and `settings`: what determines the answers of all encoders to each task that they apply to, which
    are the tasks of classes with a train split.

    A task whose description has become unusable keeps its answers; `task_sample` names the fault.
    """
    trained = digest(*((name, encoder.determinants, encoder.seeds) for name, encoder in sorted(encoders.items())))
    known = readable(warehouse, asked["task"].to_list()) if encoders else {}
    rows = [
        (code, trained if task else None)
        for code, task in known.items()
        if task is None or (task.kind == "classes" and "train" in task.files)
    ]
    return pl.DataFrame(rows, schema={"task": pl.String, "settings": pl.String}, orient="row")


def answers(
    warehouse: Warehouse,
    descriptions: Sequence[TaskDescription],
    samples: pl.DataFrame,
    encoders: Mapping[str, Encoder],
    run: str,
) -> Computed:
    """Answers of encoders to tasks. The result of each training run is stored at once.

    Parameters
    ----------
    samples
        Rows of `task_sample`.
    encoders
        Encoders by name.
    run
        Run id stored with new fits.

    Returns
    -------
    Rows of `encoder_answer`. If an encoder cannot be trained on a task, the task fails after all other encoders have
    been trained on it.
    """
    frames, failures = [pl.DataFrame(schema=BASELINE_ANSWER)], []
    for task in descriptions:
        own = samples.filter(task=task.task)
        train, test = split(own, "train"), split(own, "test")
        faults = []
        for name, encoder in encoders.items():
            try:
                frames += [_fit(warehouse, task, name, encoder, seed, train, test, run) for seed in encoder.seeds]
            except BadInput as fault:
                faults.append(str(fault))
        if faults:
            failures.append((task.task, "; ".join(faults)))
    failed = pl.DataFrame(failures, schema={"task": pl.String, "error": pl.String}, orient="row")
    return Computed({"encoder_answer": pl.concat(frames)}, failed)


def _fit(
    warehouse: Warehouse, task: TaskDescription, name: str, encoder: Encoder, seed: int, train: Split, test: Split,
    run: str,
) -> pl.DataFrame:  # fmt: skip
    """The encoder's answers after training with this seed: read from the warehouse, or trained and stored now."""
    key = pl.DataFrame({"task": [task.task], "baseline": [name], "seed": [seed]}, schema_overrides={"seed": pl.Int32})
    fingerprint = digest(encoder.determinants, seed, train.texts, train.labels, test.samples, test.texts)
    stored = warehouse.read("encoder_fit", key, [*BASELINE_ANSWER.names(), "fingerprint"])
    if stored["fingerprint"].unique().to_list() == [fingerprint]:
        return stored.drop("fingerprint")
    logger.info("training %s on %s, seed %d", name, task.task, seed)
    shown, asked = ([list(texts.values()) for texts in each.texts] for each in (train, test))
    try:
        labels = fine_tune(encoder.checkpoint, shown, train.labels, asked, seed).labels
    except (ValueError, OSError, RuntimeError, ImportError) as error:  # raised by torch and transformers
        raise untrainable(task, name, error) from error
    rows = answer_rows(task.task, name, seed, test, labels, encoder.signature)
    warehouse.write([Replacement("encoder_fit", rows.with_columns(fingerprint=pl.lit(fingerprint)), key)], run)
    return rows
