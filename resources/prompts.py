"""Prompts: one YAML file each, with name, version and declared variables, rendered to chat messages.

Here: reading, checking, rendering and hashing templates. Not here: the values of variables (callers), sending
(resources.provider).
"""

import hashlib
import json
from pathlib import Path
from string import Template

from pydantic import Field

from resources import yaml_files
from resources.errors import BadInput, one_of
from resources.frozen import Frozen
from resources.home import PROJECT


class Prompt(Frozen):
    """Templates of a system and a user message, with `$name` placeholders as in string.Template.

    Parameters
    ----------
    name, version
        Name of the prompt, and a number that is incremented with every change.
    variables
        Names of the placeholders, each used in `system` or `user`.
    system, user
        The templates. If `system` is empty, no system message is sent.
    """

    name: str
    version: int = Field(ge=1, strict=True)
    variables: tuple[str, ...]
    system: str
    user: str = Field(min_length=1)

    def render(self, /, **values: str) -> list[dict[str, str]]:
        """Render the messages, system first. Values are inserted literally, including any `$`.

        Raises
        ------
        BadInput
            If the values do not match the declared variables.
        """
        self._refuse_unknown(values)
        missing = [name for name in self.variables if name not in values]
        if missing:
            raise BadInput(f"prompt {self.name}", ", ".join(missing), "has no value", "give every variable a value")
        user = {"role": "user", "content": Template(self.user).substitute(values)}
        if not self.system:
            return [user]
        return [{"role": "system", "content": Template(self.system).substitute(values)}, user]

    @property
    def label(self) -> str:
        """Name, version and the first 8 digits of the hash, such as 'translate v1 0123abcd'."""
        return f"{self.name} v{self.version} {self.digest()[:8]}"

    def digest(self, /, **values: str) -> str:
        """Hash of the name, the version and the templates with these values filled in: 32 hexadecimal digits.

        Variables without a value stay placeholders. To get the same hash for all items, omit the variables whose values
        differ between items.

        Raises
        ------
        BadInput
            For a value whose name is not a declared variable.
        """
        self._refuse_unknown(values)
        # NUL, which no text contains, marks a placeholder, so that neither the value "$passages" nor an escaped
        # "$$passages" in the template is mistaken for one.
        filled = {name: f"\0{name}" for name in self.variables} | values
        texts = [Template(template).substitute(filled) for template in (self.system, self.user)]
        return hashlib.blake2b(json.dumps([self.name, self.version, *texts]).encode(), digest_size=16).hexdigest()

    def _refuse_unknown(self, values: dict[str, str]) -> None:
        unknown = [name for name in values if name not in self.variables]
        if unknown:
            remedy = f"use only {', '.join(self.variables)}"
            raise BadInput(f"prompt {self.name}", ", ".join(unknown), "is not a variable of this prompt", remedy)


def load(name: str, folder: Path = PROJECT / "prompts") -> Prompt:
    """Read the prompt `<folder>/<name>.yaml` and check it.

    Raises
    ------
    BadInput
        If there is no such file, it is not a YAML mapping, a key is wrong, missing or unknown, the prompt's name
        differs from the file's name, or placeholders and declared variables differ.
    """
    path = folder / f"{name}.yaml"
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    # Checks the listing, not the path, so that a name cannot lead out of the folder.
    if name not in names:
        raise BadInput(path, "", "no such prompt", f"use {one_of(names)}")
    prompt = yaml_files.read(path, Prompt, "see prompts/README.md")
    if prompt.name != name:
        raise BadInput(
            path, "name", f"is {prompt.name!r}, but the file is {path.name}", "rename the prompt or the file"
        )
    _check_placeholders(prompt, path)
    return prompt


def _check_placeholders(prompt: Prompt, path: Path) -> None:
    used: set[str] = set()
    for key, text in (("system", prompt.system), ("user", prompt.user)):
        for match in Template.pattern.finditer(text):
            if match["invalid"] is not None:
                line = text.count("\n", 0, match.start()) + 1
                raise BadInput(
                    path, key, f"line {line} has a $ that begins no placeholder", "write $$ for a dollar sign"
                )
        used.update(names := Template(text).get_identifiers())
        if undeclared := [name for name in names if name not in prompt.variables]:
            raise BadInput(path, key, f"${undeclared[0]} is not declared", "add it to `variables`, or write $$")
    for name in prompt.variables:
        if name not in used:
            raise BadInput(path, "variables", f"{name!r} is not used", "remove it, or use it in a template")
        if prompt.variables.count(name) > 1:
            raise BadInput(path, "variables", f"{name!r} is declared twice", "declare it once")
