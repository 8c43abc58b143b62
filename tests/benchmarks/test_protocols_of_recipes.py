"""A recipe with a protocol: its prompt is fetched, stored and used, and the project's own wording stands apart."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmark_assets.benchmarks.protocols import literal, template
from benchmark_assets.benchmarks.recipe import PublishedText
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from tests.benchmarks.mirror import serving
from tests.benchmarks.recipes import COMMIT, change, digests, publish, write_recipe
from tests.benchmarks.test_limits import registry
from tests.processes import here
from tests.provider.server import Server

PROMPT = "Put what follows into English, for $5 a {word}. Answer with a JSON object.\n"


def test_a_model_is_asked_as_the_paper_asks_and_pays_once_for_each_wording(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VARIORUM_MODELS", str(registry(tmp_path / "models.yaml", server.url)))
    home, published, recipe = tmp_path / "home", tmp_path / "published", tmp_path / "recipe"
    mirror = publish(published)
    write_recipe(recipe, published)
    (published / "prompt.txt").write_text(PROMPT, encoding="utf-8")
    (recipe / "prompts.sha256").write_text(digests(published, ["prompt.txt"]))
    mirror.folders[f"/people/prompts/{COMMIT}/"] = published
    about = {"repository": "people/prompts", "commit": COMMIT, "files": "prompts.sha256", "licence": "CC0-1.0",
             "terms": "Everything is allowed.", "required": False}  # fmt: skip
    protocol = {
        "role": "translate", "subjects": ["tiny"], "source": "prompts", "name": "small", "reader": "object", "tries": 2,
        "system": {"file": "prompt.txt", "stripped": True}, "user": {"text": "{passages}", "braces": "single"},
        "batch_tokens": 4, "sampling": {"temperature": 0.7},
    }  # fmt: skip
    sources = yaml.safe_load((recipe / "recipe.yaml").read_text())["sources"]
    change(recipe / "recipe.yaml", {"sources": {**sources, "prompts": about}, "protocols": [protocol]})
    with serving(mirror):
        said = here(home, "add", str(recipe), "--no-update", "--base", mirror.url).stdout
    assert "tiny: asked as the paper asks" in said
    server.configure(prefix="A translation, in English: ", keep_bodies=True)

    def asked() -> list[dict[str, Any]]:
        return [each.body for each in server.log() if each.keys and each.body]

    first = here(home, "evaluate", "ours", "--on", "small", "--accept").stdout
    bodies = asked()
    assert {body["messages"][0]["content"] for body in bodies} == {PROMPT.strip()}
    assert {body["temperature"] for body in bodies} == {0.7}
    assert "ours: 3 of 3 passages translated" in first
    calls = DuckDBWarehouse(path=str(home / "variorum.duckdb")).read("study_call").filter(study="model_output")
    assert calls["prompt"].str.starts_with("small v1 ").all()

    assert (
        "needs your consent" in here(home, "evaluate", "ours", "--on", "small", "--protocol", "variorum", code=1).stderr
    )
    assert asked() == bodies
    own = here(home, "evaluate", "ours", "--on", "small", "--protocol", "variorum", "--accept").stdout
    assert "translate v1" in own
    assert len(asked()) > len(bodies)
    again = here(home, "evaluate", "ours", "--on", "small", "--protocol", "paper", "--accept").stdout
    assert f"asked: 0 calls, 0.0000 dollars; reused: {len(bodies)} replies of the ledger" in again

    change(recipe / "recipe.yaml", {"version": 2, "protocols": [protocol, {**protocol, "role": "align"}]})
    with serving(mirror):
        said = here(home, "add", str(recipe), "--no-update", "--base", mirror.url).stdout
    assert said.count("tiny: asked as the paper asks") == 1
    assert DuckDBWarehouse(path=str(home / "variorum.duckdb")).read("own_wording").is_empty()


def test_texts_are_read_from_files_and_literals_and_their_fields_named(tmp_path: Path) -> None:
    program = (
        'import os\nos.abort()\nPROMPTS = {"system": "Say {{yes}} for $1 to {who}.", "n": 1 + 1}\nLABELS = {"A": -1}\n'
    )
    (tmp_path / "task.py").write_text(program)
    text = PublishedText(file="task.py", literal="PROMPTS.system", braces="single")
    assert template(text, tmp_path) == ("Say {yes} for $$1 to ${who}.", ["who"])
    assert literal(tmp_path / "task.py", "LABELS") == {"A": -1}
    for name in ("PROMPTS.user", "PROMPTS.n", "NOTHING", "os"):
        with pytest.raises(BadInput, match="is no literal of this file"):
            literal(tmp_path / "task.py", name)
    (tmp_path / "ask.py").write_text(
        "def ask(word, texts):\n    prompt = (\n        f'{word.upper()}: {{x}} '\n"
        "        f'{join(texts, by=2)}$'\n    )\n"
        "    return f'{word!r}'\n"
    )
    names = {"word.upper()": "word", "join(texts, by=2)": "texts"}
    asked = PublishedText(file="ask.py", literal="ask.prompt", braces="single", expressions=names)
    assert template(asked, tmp_path) == ("${word}: {x} ${texts}$$", ["word", "texts"])
    (tmp_path / "page.txt").write_text("{a: 1} {{text}} {{pair}}")
    assert template(PublishedText(file="page.txt", braces="double"), tmp_path) == (
        "{a: 1} ${text} ${pair}",
        ["text", "pair"],
    )
