"""A command: counts the passages of a home."""

import click

from benchmark_assets.cli.deployment import Deployment


@click.command()
def greet() -> None:
    """Count the passages of the home."""
    click.echo(f"{len(Deployment().warehouse.read('source_text'))} passages")
