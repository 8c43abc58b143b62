"""Long YAML files. Faults of short ones: tests/provider/test_registry.py."""

import os
import time
from pathlib import Path

import pytest
from pydantic import BaseModel

from resources import yaml_files
from resources.errors import BadInput


class Texts(BaseModel):
    """A file of many keys."""

    texts: dict[str, int]


@pytest.mark.proof
def test_a_file_of_many_keys_is_read_in_linear_time(tmp_path: Path, full: bool) -> None:
    path, keys = tmp_path / "texts.yaml", 60_000 if full else 2000
    lines = [f"  doc:{number}: {number}\n" for number in range(keys)]
    path.write_text("texts:\n" + "".join(lines))
    begun = time.process_time()
    assert len(yaml_files.read(path, Texts, "correct it").texts) == keys
    seconds = time.process_time() - begun
    print(f"\n{keys} keys: {seconds:.2f} s")
    assert not full or seconds < 5

    path.write_text("texts:\n" + "".join([*lines, lines[7]]))
    with pytest.raises(BadInput, match=f"line {keys + 2}: .*'doc:7' occurs twice"):
        yaml_files.read(path, Texts, "correct it")


def test_every_edit_of_a_file_is_read_even_one_that_keeps_its_length_and_time(tmp_path: Path) -> None:
    path = tmp_path / "texts.yaml"
    for number in (*range(10), *range(10)):
        path.write_text(f"texts: {{a: {number}}}")
        if number % 2:
            os.utime(path, (1_000_000_000, 1_000_000_000))
        assert yaml_files.read(path, Texts, "correct it").texts == {"a": number}
        assert yaml_files.read(path, Texts, "correct it").texts == {"a": number}
