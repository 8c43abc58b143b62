"""Pages of the site that are made from the program when it is built: tables and columns, and commands. Corrections of
the theme's HTML for screen readers.

Not here: pages that people write, and the site's settings (mkdocs.yml).
"""

from collections.abc import Iterator

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from benchmark_assets.cli import SECTIONS, main
from benchmark_assets.cli.later import loaded
from resources import catalogue


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages to the site."""
    for name, lines in (("tables", tables()), ("commands", commands())):
        files.append(File.generated(config, f"reference/{name}.md", content="\n".join(lines)))
    return files


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make empty headings of tables plain cells: a heading without words is read aloud as one."""
    return html.replace("<th></th>", "<td></td>")


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:
    """Name the search dialog on the pages of the documentation."""
    return _with_named_search(output)


def on_post_template(output_content: str, *, template_name: str, config: MkDocsConfig) -> str:
    """Name the search dialog on the theme's own pages, such as that of a missing page."""
    return _with_named_search(output_content)


def tables() -> Iterator[str]:
    """Every table, view and column of the warehouse, from the catalogue."""
    yield "# Tables and columns\n"
    yield "Keys are in bold. Every table also has a fingerprint, the run that wrote a row, and the time.\n"
    for name, table in sorted(catalogue.declared().items()):
        if name.startswith("package_"):  # files that a package assembles
            continue
        yield f"## {name}\n\n{table.meaning}\n\n| column | type | meaning |\n|---|---|---|"
        for column in table.columns.values():
            if column.name in catalogue.PROVENANCE or column.between:
                continue
            shown = f"**{column.name}**" if column.name in table.key else column.name
            meaning = " ".join(column.meaning.split()).replace("|", "\\|")
            yield f"| {shown} | {column.type}{', with an interval' if column.interval else ''} | {meaning} |"
        yield ""


def commands() -> Iterator[str]:
    """Every command with its help, by section."""
    yield "# Commands\n"
    yield "`variorum COMMAND --help` prints the same. For completion in bash, add "
    yield '`eval "$(_VARIORUM_COMPLETE=bash_source variorum)"` to ~/.bashrc (`zsh_source`, `fish_source` likewise).\n'
    for title, listed in SECTIONS.items():
        yield f"## {title}\n"
        for name in listed:
            yield from _helps(["variorum", name], loaded(main.commands[name]))


def _with_named_search(html: str) -> str:
    """Name the theme's search dialog for screen readers."""
    return html.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def _helps(path: list[str], command: click.Command) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name, sub in command.commands.items():
            yield from _helps([*path, name], loaded(sub))
        return
    with click.Context(command, info_name=" ".join(path)) as context:
        yield f"### {' '.join(path)}\n\n```text\n{command.get_help(context)}\n```\n"
