"""Names of classes stand once in the project."""

import re
from collections import defaultdict

from resources.home import PROJECT

CLASS = re.compile(r"^ *class (\w+)[(:\[]", re.MULTILINE)


def test_a_class_name_stands_in_one_module_only() -> None:
    modules = defaultdict[str, set[str]](set)
    for room in ("benchmark_assets", "resources"):
        for file in (PROJECT / room).rglob("*.py"):
            for name in CLASS.findall(file.read_text(encoding="utf-8")):
                modules[name].add(str(file.relative_to(PROJECT)))
    assert len(modules) > 300
    assert {name: sorted(places) for name, places in modules.items() if len(places) > 1} == {}
