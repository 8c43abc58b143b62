"""A tiny BERT over single letters, which nobody has trained."""

from pathlib import Path

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def write_checkpoint(folder: Path) -> Path:
    """Write model and tokenizer as transformers saves them; return the folder."""
    import torch  # slow to import: only by the process that needs it
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    folder.mkdir(parents=True)
    vocabulary = folder / "vocab.txt"
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    vocabulary.write_text("\n".join(tokens), encoding="utf-8")
    BertTokenizerFast(str(vocabulary), model_max_length=512).save_pretrained(folder)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(tokens), hidden_size=256, num_hidden_layers=1, num_attention_heads=2, intermediate_size=256,
        initializer_range=0.1,
    )  # fmt: skip
    BertForMaskedLM(config).save_pretrained(folder)
    return folder
