"""Fine-tuned encoders: any checkpoint with a classification head, trained as DharmaBench trains its encoders.

Here: training and prediction with transformers' Trainer. Not here: the choice of tasks (encoder_fits) and seeds (the
registry).
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
        return SIGNATURE, self.checkpoint, stats

    @property
    def signature(self) -> str:
        """Signature of the answers: the checkpoint (its name on the hub or its folder's name) and the training."""
        local = Path(self.checkpoint).is_dir()
        return f"checkpoint {Path(self.checkpoint).name if local else self.checkpoint}, {SIGNATURE}"


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

    logging.disable_progress_bar()
    logging.set_verbosity_error()  # suppresses the warning that the head is new
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    rows = _encoded(tokenizer, train)
    for row, label in zip(rows, labels, strict=True):
        row["labels"] = classes.index(label)
    set_seed(seed)  # before the head's weights are drawn
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=len(classes))
    with tempfile.TemporaryDirectory(prefix="variorum-") as folder:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=folder, num_train_epochs=EPOCHS, learning_rate=RATE, seed=seed,
                per_device_train_batch_size=BATCH, per_device_eval_batch_size=BATCH,
                save_strategy="no", logging_strategy="no", report_to=[], disable_tqdm=True, log_level="error",
                dataloader_pin_memory=torch.cuda.is_available(),
            ),
            train_dataset=cast(Any, rows),
            data_collator=DataCollatorWithPadding(tokenizer),
        )  # fmt: skip
        trainer.remove_callback(PrinterCallback)
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
