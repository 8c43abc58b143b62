"""How outputs were made, from the warehouse's records. Which rows are apart is tested with the leaderboard."""

from pathlib import Path

from benchmark_assets.reporting.comparability import made
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.reporting.report.made import SECRET, put

PROMPT = "translate v1 0123abcd"


def test_prompts_and_settings_are_those_with_which_outputs_were_made(tmp_path: Path) -> None:
    warehouse = DuckDBWarehouse(path=str(tmp_path / "variorum.duckdb"))
    later = "translate v2 89abcdef"
    cool, warm = (f'{{"model": "x", "temperature": {each}, "max_tokens": 100}}' for each in (0, 1))
    put(warehouse, "study_call", [
        {"study": "model_output", "model": "asked", "passage": "a/1", "prompt": PROMPT, "settings": cool},
        {"study": "model_output", "model": "asked", "passage": "a/2", "prompt": later, "settings": warm},
        {"study": "model_output", "model": "older", "passage": "a/1", "prompt": None, "settings": None},
        {"study": "judge_vote", "model": "theirs", "passage": "a/1", "prompt": "judge v1 0123abcd", "settings": cool},
    ])  # fmt: skip
    stated = f'{{"temperature": 0.5, "reasoning_effort": "none", "seed": true, "top_p": "{SECRET}", "note": 5}}'
    put(warehouse, "imported_file", [
        {"model": "theirs", "corpus": "a", "settings": stated}, {"model": "mine", "corpus": "b", "settings": "{}"},
    ])  # fmt: skip
    put(warehouse, "published_output", [{"model": "theirs", "corpus": "a", "prompt": PROMPT, "benchmark": "small"}])
    rows = made(warehouse)
    assert rows.rows() == [
        ("a", "asked", "evaluated", f"{PROMPT} and {later}", "max_tokens 100, temperature 0 or 1", None),
        ("a", "older", "evaluated", None, None, None),
        ("a", "theirs", "published", PROMPT, "effort none, temperature 0.5", "small"),
        ("b", "mine", "imported", None, None, None),
    ]  # fmt: skip
