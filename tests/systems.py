"""Systems that tests put on trial: they translate by rule, fail where a file says so, and note what they are asked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmark_assets.translation.passage_questions import Output
from benchmark_assets.translation.systems import System, Systems
from resources.provider.provider import Provider
from resources.provider.registry import default_path
from resources.warehouse import Warehouse


class RuleSystem:
    """Turns a source into `model: source`; passages named in `failing` fail, for those in `silent` nothing comes."""

    def __init__(self, model: str, folder: Path) -> None:
        self._model, self._folder = model, folder

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        return dict.fromkeys(passages, self._model)

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        failing, silent = (self._named(file) for file in ("failing", "silent"))
        with (self._folder / "asked").open("a") as asked:
            for passage, text in sources.items():
                asked.write(f"{self._model}|{passage}\n")
                if passage in silent:
                    continue
                if passage in failing:
                    yield Output(passage, error="the provider said no")
                else:
                    yield Output(passage, f"{self._model}: {text}")

    def estimate(self, sources: Mapping[str, str]) -> None:
        return None

    def _named(self, file: str) -> list[str]:
        path = self._folder / file
        return path.read_text().split() if path.exists() else []


def provider(folder: Path) -> Provider:
    """The project's registry, with a ledger in `folder`."""
    return Provider(registry_path=str(default_path()), ledger_path=str(folder / "ledger.sqlite"))


def rule_systems(warehouse: Warehouse, folder: Path) -> "RuleSystems":
    """Rule systems that note in `folder` what they are asked."""
    return RuleSystems(warehouse=warehouse, provider=provider(folder), folder=str(folder))


class RuleSystems(Systems):
    """A rule system for any name. What they were asked is in the file `asked` of `folder`, one line a passage."""

    folder: str

    def known(self, models: Iterable[str]) -> set[str]:
        return set(models)

    def system(self, model: str) -> System:
        return RuleSystem(model, Path(self.folder))

    def asked(self) -> list[str]:
        """What was asked since the last call."""
        path = Path(self.folder) / "asked"
        lines = path.read_text().split() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines
