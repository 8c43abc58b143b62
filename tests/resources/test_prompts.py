"""Prompts: what is rendered, what the hash covers, which files are refused; and the prompts that are shipped."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from resources.errors import BadInput
from resources.home import PROJECT
from resources.prompts import Prompt, load

GOOD: dict[str, Any] = {
    "name": "ask",
    "version": 1,
    "variables": ["tone", "items"],
    "system": "Be $tone.",
    "user": "${tone}ly, for $$5: $items",
}


def write(folder: Path, content: bytes | dict[str, Any]) -> Path:
    path = folder / "ask.yaml"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def prompt(**changes: Any) -> Prompt:
    return Prompt.model_validate(GOOD | changes)


def test_a_prompt_renders_to_a_system_and_a_user_message(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    assert load("ask", tmp_path).render(tone="kind", items="one") == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "kindly, for $5: one"},
    ]


def test_an_empty_system_template_gives_no_system_message(tmp_path: Path) -> None:
    write(tmp_path, GOOD | {"system": ""})
    assert [each["role"] for each in load("ask", tmp_path).render(tone="kind", items="one")] == ["user"]


@given(st.text(), st.text())
def test_values_come_through_literally(tone: str, items: str) -> None:
    assert [each["content"] for each in prompt().render(tone=tone, items=items)] == [
        f"Be {tone}.",
        f"{tone}ly, for $5: {items}",
    ]


def test_a_value_that_looks_like_a_placeholder_is_not_filled() -> None:
    assert prompt().render(tone="$items", items="${tone} $ $$")[1]["content"] == "$itemsly, for $5: ${tone} $ $$"


@pytest.mark.parametrize(
    ("values", "key", "problem"),
    [
        ({"tone": "kind"}, "items", "has no value"),
        ({"tone": "kind", "items": "", "length": "5"}, "length", "is not a variable"),
    ],
)
def test_values_must_be_the_declared_variables(values: dict[str, str], key: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem) as caught:
        prompt().render(**values)
    assert (caught.value.where, caught.value.key) == ("prompt ask", key)


def test_the_hash_refuses_a_value_of_no_variable() -> None:
    with pytest.raises(BadInput, match=r"length: is not a variable.*tone, items"):
        prompt().digest(length="5")


@pytest.mark.parametrize(
    "changes",
    [{"version": 2}, {"name": "beg"}, {"system": "Be very $tone."}, {"user": "$items, ${tone}ly"}, {"system": ""}],
)
def test_the_hash_changes_with_what_the_file_says(changes: dict[str, Any]) -> None:
    assert prompt(**changes).digest(tone="kind") != prompt().digest(tone="kind")


def test_the_hash_covers_the_values_that_are_given_and_no_others() -> None:
    one = prompt()
    assert one.digest(tone="kind") == prompt().digest(tone="kind")
    assert len({one.digest(), one.digest(tone="kind"), one.digest(tone="curt"), one.digest(items="kind")}) == 4
    assert len(bytes.fromhex(one.digest())) == 16


def test_the_hash_tells_a_placeholder_from_text_that_looks_like_one() -> None:
    one = prompt()
    assert one.digest(items="$items") != one.digest()
    assert one.digest(items="x") != prompt(user="${tone}ly, for $$5: $$items").digest(items="x")
    assert one.digest() != prompt(user="${tone}ly, for $$5: $$items").digest()


def test_the_hash_tells_where_the_system_message_ends() -> None:
    assert prompt(system="$tone", user="a$items").digest() != prompt(system="${tone}a", user="$items").digest()


def test_the_hash_stays_the_same_from_run_to_run() -> None:
    # A change here makes every output of every prompt due again.
    assert prompt().digest(tone="kind") == "8befdc1b3fa8cdfad471fd205411e574"


@pytest.mark.parametrize(
    ("content", "key", "problem"),
    [
        (b"", "", "valid dictionary"),
        (b"name: ask\nuser: [a\n", "line 3", "is not YAML"),
        ("user: f\u00e9lis".encode("latin-1"), "", "is not YAML in UTF-8"),
        (GOOD | {"role": "judge"}, "role", "not permitted"),
        ({key: GOOD[key] for key in GOOD if key != "system"}, "system", "required"),
        (GOOD | {"system": None}, "system", "valid string"),
        (GOOD | {"user": ""}, "user", "at least 1"),
        (GOOD | {"version": 0}, "version", "greater than or equal to 1"),
        (GOOD | {"version": "1"}, "version", "valid integer"),
        (GOOD | {"version": True}, "version", "valid integer"),
        (GOOD | {"variables": "items"}, "variables", "valid tuple"),
        (GOOD | {"name": "beg"}, "name", "is 'beg', but the file is ask.yaml"),
        (GOOD | {"system": "Be $tone, $friend."}, "system", "$friend is not declared"),
        (GOOD | {"variables": ["tone", "items", "length"]}, "variables", "'length' is not used"),
        (GOOD | {"variables": ["tone", "items", "two words"]}, "variables", "'two words' is not used"),
        (GOOD | {"variables": ["tone", "items", "tone"]}, "variables", "'tone' is declared twice"),
        (GOOD | {"user": "$items\n${tone} for 5 $ each"}, "user", "line 2 has a $"),
        (GOOD | {"user": "$items ${tone"}, "user", "line 1 has a $"),
        (GOOD | {"user": "$items $tone $5"}, "user", "line 1 has a $"),
    ],
)
def test_a_faulty_prompt_is_told_by_file_and_key(
    tmp_path: Path, content: bytes | dict[str, Any], key: str, problem: str
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(BadInput) as caught:
        load("ask", tmp_path)
    assert (caught.value.where, caught.value.key) == (str(path), key)
    assert problem in caught.value.problem
    assert caught.value.remedy


@pytest.mark.parametrize("name", ["beg", "", "../outside", "ask.yaml"])
def test_a_prompt_that_does_not_exist_is_told_with_those_that_do(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.yaml").write_text("name: outside")
    folder = tmp_path / "prompts"
    folder.mkdir()
    write(folder, GOOD)
    with pytest.raises(BadInput, match=r"no such prompt; use ask"):
        load(name, folder)


def test_a_prompt_that_is_a_folder_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "ask.yaml").mkdir()
    with pytest.raises(BadInput, match="cannot be read"):
        load("ask", tmp_path)


@pytest.mark.parametrize("name", sorted(path.stem for path in (PROJECT / "prompts").glob("*.yaml")))
def test_every_shipped_prompt_is_sound_and_listed(name: str) -> None:
    assert load(name).name == name
    assert f"| `{name}` |" in (PROJECT / "prompts" / "README.md").read_text()


def test_the_translation_prompt_sends_the_passages_and_nothing_else_as_the_user() -> None:
    passages = json.dumps({"ep1:1": "Ave, $amice."})
    system, user = load("translate").render(source_language="Latin", target_language="English", passages=passages)
    assert user == {"role": "user", "content": passages}
    assert "from Latin into English" in system["content"]
    assert "JSON" in system["content"], "endpoints refuse JSON mode where no message names it"
    assert "$" not in system["content"]


def test_an_edited_prompt_needs_a_new_version() -> None:
    # Where this fails, raise `version` in prompts/translate.yaml and put the new hash here.
    assert (
        load("translate").digest(source_language="Latin", target_language="English")
        == "0f1f78fa0d4f823c5dcd9730970a785f"
    )


def test_the_example_in_the_translation_prompt_is_json() -> None:
    text = yaml.safe_load((PROJECT / "prompts" / "translate.yaml").read_text())["system"]
    example = next(line for line in text.splitlines() if "{" in line)
    assert set(json.loads(example[example.index("{") :])) == {"a:1", "a:2"}
