"""Encoders on classification tasks: training runs, and answers to the test splits.

Training may take hours. The answers from each training run (one encoder, one task, one seed) are therefore stored in
`encoder_fit` as soon as the run ends, with a hash of everything that determines them: checkpoint, seed, samples,
software. Later Dagster runs reuse them: after an interruption, after an encoder was added, or if another encoder cannot
be loaded.

Here: rows of `encoder_fit` and `encoder_answer`. Not here: training (encoder), other baselines (baselines).
"""

import logging
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.understanding import tasks
from benchmark_assets.understanding.baselines import (
    BASELINE_ANSWER,
    Split,
    answer_rows,
    is_trainable,
    split,
    untrainable,
)
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.encoder import Encoder, fine_tune
from resources.digest import digest
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse

logger = logging.getLogger("variorum.understanding")


def settings(warehouse: Warehouse, codes: Iterable[str], encoders: Mapping[str, Encoder]) -> pl.DataFrame:
    """Settings by task, as `tasks.settings` returns them. Encoders apply to classification tasks with a train split."""
    determinants = digest(*((name, encoder.determinants, encoder.seeds) for name, encoder in sorted(encoders.items())))

    def of_task(task: TaskDescription) -> str:
        return determinants if is_trainable(task) else ""

    return tasks.settings(warehouse, codes if encoders else (), of_task)


def answers(
    warehouse: Warehouse, descriptions: Sequence[TaskDescription], samples: pl.DataFrame,
    encoders: Mapping[str, Encoder], run: str,
) -> Computed:  # fmt: skip
    """Answers of encoders to the test splits of tasks: rows of `encoder_answer`.

    Each training run stores its answers as soon as it ends. A task fails if an encoder cannot be trained on it, but
    only after all other encoders have been trained. `samples` are rows of `task_sample`, `encoders` are encoders by
    name, and `run` is the run id stored with new rows of `encoder_fit`.
    """
    frames, failures = [pl.DataFrame(schema=BASELINE_ANSWER)], []
    for task in descriptions:
        train, test = (split(samples.filter(task=task.task), name) for name in ("train", "test"))
        faults = []
        for name, encoder in encoders.items():
            try:
                frames += [_fit(warehouse, task, name, encoder, seed, train, test, run) for seed in encoder.seeds]
            except BadInput as fault:
                faults.append(str(fault))
        if faults:
            failures.append((task.task, "; ".join(faults)))
    return Computed({"encoder_answer": pl.concat(frames)}, pl.DataFrame(failures, schema=tasks.FAILURES, orient="row"))


def _fit(
    warehouse: Warehouse, task: TaskDescription, name: str, encoder: Encoder, seed: int, train: Split, test: Split,
    run: str,
) -> pl.DataFrame:  # fmt: skip
    """Answers of an encoder that is trained with the given seed. If stored answers are up to date, they are returned;
    otherwise the encoder is trained, and its answers are stored."""
    key = pl.DataFrame({"task": [task.task], "baseline": [name], "seed": [seed]}, schema_overrides={"seed": pl.Int32})
    fingerprint = digest(encoder.determinants, seed, train.texts, train.labels, test.samples, test.texts)
    stored = warehouse.read("encoder_fit", key, [*BASELINE_ANSWER.names(), "fingerprint"])
    if stored["fingerprint"].unique().to_list() == [fingerprint]:
        return stored.drop("fingerprint")
    logger.info("training %s on %s, seed %d", name, task.task, seed)
    train_texts, test_texts = ([list(texts.values()) for texts in part.texts] for part in (train, test))
    try:
        labels = fine_tune(encoder.checkpoint, train_texts, train.labels, test_texts, seed)
    except (ValueError, OSError, RuntimeError, ImportError) as error:  # raised by torch and transformers
        raise untrainable(task, name, error) from error
    rows = answer_rows(task.task, name, seed, test, labels, encoder.signature)
    warehouse.write([Replacement("encoder_fit", rows.with_columns(fingerprint=pl.lit(fingerprint)), key)], run)
    return rows
