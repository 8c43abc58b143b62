"""Fine-tuned encoders: any checkpoint with a classification head, trained as DharmaBench trains its encoders.

Training may take hours. The answers from each training run (one encoder, one task, one seed) are therefore stored in
`encoder_fit` as soon as the run ends, with a hash of everything that determines them: checkpoint, seed, samples,
software. Later Dagster runs reuse them: after an interruption, after an encoder was added, or if another encoder cannot
be loaded.

Here: training and prediction with transformers' Trainer, rows of `encoder_fit` and `encoder_answer`. Not here: other
baselines (baselines), seeds (the registry).
"""

import logging
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.understanding import baselines, tasks
from benchmark_assets.understanding.baselines import Split
from benchmark_assets.understanding.description import TaskDescription
from resources.digest import digest
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse

logger = logging.getLogger("variorum.understanding")

TOKENS, EPOCHS, BATCH, RATE = 512, 6, 16, 5e-5
"""DharmaBench's hyperparameters (section 4, table 9); all others are the Trainer's defaults."""


class Encoder(NamedTuple):
    """A checkpoint (a path, or a name on the Hugging Face Hub), and the seeds with which to train it."""

    checkpoint: str
    seeds: tuple[int, ...]

    @property
    def determinants(self) -> tuple[object, ...]:
        """Everything that determines the encoder's answers except seed and samples: software, checkpoint and, if the
        checkpoint is a folder, the name, size and modification time of each file."""
        folder = Path(self.checkpoint)
        files = sorted(folder.iterdir()) if folder.is_dir() else []
        stats = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        return _training(), self.checkpoint, stats

    @property
    def signature(self) -> str:
        """Signature of the answers: the checkpoint (its name on the hub or its folder's name) and the training."""
        local = Path(self.checkpoint).is_dir()
        return f"checkpoint {Path(self.checkpoint).name if local else self.checkpoint}, {_training()}"


def _training() -> str:
    """Signature of the training."""
    return (
        f"transformers {version('transformers')} Trainer, {TOKENS} tokens, {EPOCHS} epochs, batches of {BATCH}, "
        f"learning rate {RATE:g}, torch {version('torch')}"
    )


def fine_tune(
    checkpoint: str, train: Sequence[Sequence[str]], labels: Sequence[str], test: Sequence[Sequence[str]], seed: int
) -> list[str]:
    """Train an encoder on the train samples, and predict the class of each test sample.

    Parameters
    ----------
    checkpoint
        Folder of a model and its tokenizer, or their name on the hub.
    train, test
        One or more texts of each sample. Two texts are encoded as a pair; three or more are joined. Input beyond
        `TOKENS` tokens is cut off.
    labels
        Class of each train sample.
    seed
        Seed of the head's weights, the order of samples and dropout. Equal seeds give equal results on one machine.

    Raises
    ------
    OSError, ValueError
        If the checkpoint cannot be loaded or is not an encoder, or there are fewer than two classes.
    """
    classes = sorted(set(labels))
    if len(classes) < 2:
        raise ValueError(f"a classifier needs two classes, the train split has {len(classes)}")
    import torch  # slow to import, and most runs train nothing
    import transformers

    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()  # suppresses the warning that the head is new
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint)
    rows = _encoded(tokenizer, train)
    for row, label in zip(rows, labels, strict=True):
        row["labels"] = classes.index(label)
    transformers.set_seed(seed)  # before the head's weights are drawn
    model = transformers.AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=len(classes))
    with tempfile.TemporaryDirectory(prefix="variorum-") as folder:
        trainer = transformers.Trainer(
            model=model,
            args=transformers.TrainingArguments(
                output_dir=folder, num_train_epochs=EPOCHS, learning_rate=RATE, seed=seed,
                per_device_train_batch_size=BATCH, per_device_eval_batch_size=BATCH,
                save_strategy="no", logging_strategy="no", report_to=[], disable_tqdm=True, log_level="error",
                dataloader_pin_memory=torch.cuda.is_available(),
            ),
            train_dataset=cast(Any, rows),
            data_collator=transformers.DataCollatorWithPadding(tokenizer),
        )  # fmt: skip
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()
        if not test:
            return []
        scores = np.asarray(trainer.predict(cast(Any, _encoded(tokenizer, test))).predictions)
    return [classes[best] for best in scores.argmax(axis=1)]


def _encoded(tokenizer: Any, texts: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Tokens of each sample. In a pair of texts, the longer text is cut; three or more texts are joined into one."""
    limit = min(TOKENS, tokenizer.model_max_length)
    joined = [tuple(parts) if len(parts) < 3 else ("\n".join(parts),) for parts in texts]
    return [dict(tokenizer(*parts, truncation=True, max_length=limit)) for parts in joined]


def settings(warehouse: Warehouse, codes: Iterable[str], encoders: Mapping[str, Encoder]) -> pl.DataFrame:
    """Settings by task, as `tasks.settings` returns them. Encoders apply to classification tasks with a train split."""
    determinants = digest(*((name, encoder.determinants, encoder.seeds) for name, encoder in sorted(encoders.items())))

    def of_task(task: TaskDescription) -> str:
        return determinants if baselines.is_trainable(task) else ""

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
    frames, failures = [pl.DataFrame(schema=baselines.BASELINE_ANSWER)], []
    for task in descriptions:
        train, test = (baselines.split(samples.filter(task=task.task), name) for name in ("train", "test"))
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
    stored = warehouse.read("encoder_fit", key, [*baselines.BASELINE_ANSWER.names(), "fingerprint"])
    if stored["fingerprint"].unique().to_list() == [fingerprint]:
        return stored.drop("fingerprint")
    logger.info("training %s on %s, seed %d", name, task.task, seed)
    train_texts, test_texts = ([list(texts.values()) for texts in part.texts] for part in (train, test))
    try:
        labels = fine_tune(encoder.checkpoint, train_texts, train.labels, test_texts, seed)
    except (ValueError, OSError, RuntimeError, ImportError) as error:  # raised by torch and transformers
        raise baselines.untrainable(task, name, error) from error
    rows = baselines.answer_rows(task.task, name, seed, test, labels, encoder.signature)
    warehouse.write([Replacement("encoder_fit", rows.with_columns(fingerprint=pl.lit(fingerprint)), key)], run)
    return rows
