"""`make quick` runs the tests of the rooms that a change reaches."""

from tests.quick import layers, reached, unplaced


def test_a_change_reaches_its_room_and_the_layers_above() -> None:
    order = [{"resources"}, {"corpus"}, {"alignment", "metrics"}, {"cli"}]
    assert reached(["docs/a.md", "tests/corpus/test_a.py"], order) == (set(), set())
    assert reached(["benchmark_assets/cli/a.py"], order) == ({"cli"}, set())
    assert reached(["benchmark_assets/metrics/a.py"], order) == ({"metrics"}, {"cli"})
    above = {"corpus", "alignment", "cli"}
    assert reached(["resources/a.py", "benchmark_assets/metrics/a.py"], order) == ({"resources", "metrics"}, above)


def test_what_no_room_holds_is_named() -> None:
    files = ["tests/support.py", "prompts/judge.yaml", "README.md", "tests/cli/test_a.py", "resources/keys.py"]
    assert unplaced(files) == ["prompts/judge.yaml", "tests/support.py"]


def test_the_layers_are_those_that_import_linter_keeps() -> None:
    assert layers()[:2] == [{"resources"}, {"partitions"}]
    assert {"alignment", "metrics"} in layers()
