"""Fine-tuned encoders: any checkpoint with a classification head, trained as DharmaBench trains its encoders.

Here: training and labelling with transformers' Trainer. Not here: which tasks and seeds (encoder_fits, the registry).
"""

import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

TOKENS, EPOCHS, BATCH, RATE = 512, 6, 16, 5e-5
"""DharmaBench's hyperparameters (section 4, table 9); all others are the Trainer's defaults."""

SIGNATURE = (
    f"transformers {version('transformers')} Trainer, {TOKENS} tokens, {EPOCHS} epochs, batches of {BATCH}, learning "
    f"rate {RATE:g}, torch {version('torch')}"
)


class Encoder(NamedTuple):
    """A checkpoint, by path or name on the hub, and the seeds to train it with."""

    checkpoint: str
    seeds: tuple[int, ...]

    @property
    def determinants(self) -> tuple[object, ...]:
        """What determines its answers besides the seed and the samples; for a folder also size and time of each
        file."""
        folder = Path(self.checkpoint)
        files = sorted(folder.iterdir()) if folder.is_dir() else []
        stats = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        return SIGNATURE, self.checkpoint, stats

    @property
    def signature(self) -> str:
        """The training, and the checkpoint: its name on the hub, or the name of its folder."""
        local = Path(self.checkpoint).is_dir()
        return f"checkpoint {Path(self.checkpoint).name if local else self.checkpoint}, {SIGNATURE}"


class LabelledTexts(NamedTuple):
    """The class of each text, and the mean training loss of each epoch."""

    labels: list[str]
    losses: list[float]


def fine_tune(
    checkpoint: str,
    train: Sequence[Sequence[str]],
    labels: Sequence[str],
    test: Sequence[Sequence[str]],
    seed: int,
) -> LabelledTexts:
    """Train an encoder on labelled texts and have it label others.

    Parameters
    ----------
    checkpoint
        Folder, or name on the hub, of a model and its tokenizer.
    train, test
        One or more texts of each sample. Two are encoded as a pair; text beyond `TOKENS` is cut off.
    seed
        Seed of the head's weights, the order of samples and dropout. On one machine, equal seeds give equal labels.

    Raises
    ------
    OSError, ValueError
        If the checkpoint cannot be loaded or is no encoder, or there are fewer than two classes.
    """
    classes = sorted(set(labels))
    if len(classes) < 2:
        raise ValueError(f"its train split has {len(classes)} classes, a classifier needs two")
    import torch  # slow to import, and most runs train nothing
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DataCollatorWithPadding,
        PrinterCallback,
        Trainer,
        TrainingArguments,
        set_seed,
    )
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # a new head is wanted, and reported as a fault
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    rows = _encoded(tokenizer, train)
    for row, label in zip(rows, labels, strict=True):
        row["labels"] = classes.index(label)
    set_seed(seed)  # before the head is made
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=len(classes))
    with tempfile.TemporaryDirectory(prefix="variorum-") as folder:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=folder, num_train_epochs=EPOCHS, learning_rate=RATE, seed=seed,
                per_device_train_batch_size=BATCH, per_device_eval_batch_size=BATCH,
                save_strategy="no", logging_strategy="epoch", report_to=[], disable_tqdm=True, log_level="error",
                dataloader_pin_memory=torch.cuda.is_available(),
            ),
            train_dataset=cast(Any, rows),
            data_collator=DataCollatorWithPadding(tokenizer),
        )  # fmt: skip
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        losses = [float(entry["loss"]) for entry in trainer.state.log_history if "loss" in entry]
        if not test:
            return LabelledTexts([], losses)
        scores = np.asarray(trainer.predict(cast(Any, _encoded(tokenizer, test))).predictions)
    return LabelledTexts([classes[best] for best in scores.argmax(axis=1)], losses)


def _encoded(tokenizer: Any, texts: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Tokens of each sample. Two texts become a pair, whose longer one is cut; three or more are joined into one."""
    most = min(TOKENS, tokenizer.model_max_length)
    given = [tuple(each) if len(each) < 3 else ("\n".join(each),) for each in texts]
    return [dict(tokenizer(*each, truncation=True, max_length=most)) for each in given]
