"""Prompts: a YAML file each, with name, version and declared variables, rendered to the messages of a chat.

Here: reading, checking, rendering and hashing templates. Not here: what is put into them (the systems and judges that
ask), sending them (resources.provider).
"""

import hashlib
import json
from pathlib import Path
from string import Template

from pydantic import BaseModel, ConfigDict, Field

from resources import yaml_files
from resources.errors import BadInput
from resources.home import PROJECT


class Prompt(BaseModel):
    """A template of a system and a user message, with `$name` placeholders as string.Template has them.

    Parameters
    ----------
    name, version
        What it is called, and the number that its author raises with every change.
    variables
        Names of the placeholders, each used in `system` or `user`.
    system, user
        The templates. Where `system` is empty, no system message is sent.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    version: int = Field(ge=1, strict=True)
    variables: tuple[str, ...]
    system: str
    user: str = Field(min_length=1)

    def render(self, /, **values: str) -> list[dict[str, str]]:
        """The messages, system first; values are put in literally, whatever `$` they contain.

        Raises
        ------
        BadInput
            Where the values are not exactly the declared variables.
        """
        self._refuse_unknown(values)
        missing = [name for name in self.variables if name not in values]
        if missing:
            raise BadInput(f"prompt {self.name}", ", ".join(missing), "has no value", "give every variable one")
        user = {"role": "user", "content": Template(self.user).substitute(values)}
        if not self.system:
            return [user]
        return [{"role": "system", "content": Template(self.system).substitute(values)}, user]

    def digest(self, /, **values: str) -> str:
        """Hash of name, version and the template with these values in it: 32 hexadecimal digits.

        Variables that are not given stay placeholders, so that the hash covers everything except the items.

        Raises
        ------
        BadInput
            For a value that belongs to no variable.
        """
        self._refuse_unknown(values)
        # A character that no text has marks a placeholder, so that neither a value that reads "$passages" nor an
        # escaped "$$passages" in the template looks like one.
        filled = {name: f"\0{name}" for name in self.variables} | values
        texts = [Template(template).substitute(filled) for template in (self.system, self.user)]
        return hashlib.blake2b(json.dumps([self.name, self.version, *texts]).encode(), digest_size=16).hexdigest()

    def _refuse_unknown(self, values: dict[str, str]) -> None:
        unknown = [name for name in values if name not in self.variables]
        if unknown:
            raise BadInput(
                f"prompt {self.name}", ", ".join(unknown), "is no variable of it", f"it has {list(self.variables)}"
            )


def load(name: str, folder: Path = PROJECT / "prompts") -> Prompt:
    """Read the prompt `<folder>/<name>.yaml` and check it.

    Raises
    ------
    BadInput
        Where there is no such file, it is no YAML mapping, has a wrong, missing or unknown key or another name than its
        file, or where placeholders and declared variables are not the same.
    """
    path = folder / f"{name}.yaml"
    known = sorted(each.stem for each in folder.glob("*.yaml"))
    # The listing decides, not the path, so that a name cannot lead out of the folder.
    if name not in known:
        raise BadInput(path, "", "is no prompt", f"use one of {known}")
    prompt = yaml_files.read(path, Prompt, "see prompts/README.md")
    if prompt.name != name:
        raise BadInput(path, "name", f"is {prompt.name!r} in the file of {name!r}", "name prompt and file alike")
    _check_placeholders(prompt, path)
    return prompt


def _check_placeholders(prompt: Prompt, path: Path) -> None:
    used: set[str] = set()
    for key, text in (("system", prompt.system), ("user", prompt.user)):
        for match in Template.pattern.finditer(text):
            if match["invalid"] is not None:
                line = text.count("\n", 0, match.start()) + 1
                raise BadInput(path, key, f"line {line} has a $ that begins no placeholder", "write $$ for a dollar")
        names = Template(text).get_identifiers()
        for name in names:
            if name not in prompt.variables:
                raise BadInput(path, key, f"${name} is not declared", "add it to `variables`, or write $$ for a dollar")
        used.update(names)
    for name in prompt.variables:
        if name not in used:
            raise BadInput(path, "variables", f"{name!r} is used nowhere", "remove it, or put it into a template")
        if prompt.variables.count(name) > 1:
            raise BadInput(path, "variables", f"{name!r} is declared twice", "declare it once")
