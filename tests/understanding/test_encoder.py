import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark_assets.understanding.encoder import Encoder, fine_tune
from tests.understanding.checkpoints import write_checkpoint


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Of so small a model the threads would only wait for each other."""
    import torch  # slow to import: only by the process that needs it

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_checkpoint(tmp_path_factory.mktemp("encoder") / "tiny"))


def toy(seed: int, number: int) -> tuple[list[list[str]], list[str]]:
    """Texts that say their class by the letters that they are of."""
    chance = random.Random(seed)
    labels = [chance.choice(["early", "late"]) for _ in range(number)]
    letters = {"early": "abcde", "late": "vwxyz"}
    return [[" ".join(chance.choices(letters[label], k=6))] for label in labels], labels


def test_it_learns_classes_that_differ_by_their_letters(checkpoint: str) -> None:
    train, labels = toy(1, 200)
    test, gold = toy(2, 40)
    assert fine_tune(checkpoint, train, labels, test, seed=1) == gold


def test_equal_seeds_give_equal_labels_and_another_seed_gives_others(checkpoint: str) -> None:
    train, labels = toy(1, 4)
    test, _ = toy(2, 40)
    first, second, other = (fine_tune(checkpoint, train, labels, test, seed) for seed in (1, 1, 2))
    assert first == second
    assert first != other


def test_pairs_and_three_and_long_texts_are_encoded(checkpoint: str) -> None:
    texts = [["a", "b"], ["a", "b", "c"], ["a " * 600], ["a " * 600, "b " * 600]]
    assert set(fine_tune(checkpoint, texts, ["x", "y", "x", "y"], texts, seed=1)) <= {"x", "y"}
    assert fine_tune(checkpoint, [["a"]] * 2, ["x", "y"], [], seed=1) == []


def test_what_cannot_be_trained_is_refused(checkpoint: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the train split has 1"):
        fine_tune(checkpoint, [["a"]], ["x"], [["a"]], seed=1)
    with pytest.raises((OSError, ValueError)):
        fine_tune(str(tmp_path), [["a"], ["b"]], ["x", "y"], [["a"]], seed=1)


def test_a_checkpoint_that_changes_on_disk_is_another(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    encoder = Encoder(str(tmp_path), (1, 2))
    before = encoder.determinants
    assert before == encoder.determinants
    assert tmp_path.name in encoder.signature
    assert str(tmp_path) not in encoder.signature
    (tmp_path / "config.json").write_text('{"layers": 2}')
    assert encoder.determinants != before
    assert Encoder("name/on-the-hub", (1,)).determinants[-1] == []
