"""Origins of outputs in a reader: the chains of `reporting.trace`, in a form in which nothing is repeated.

Values of results are left out, because the reader shows them beside the output. Not here: the chains (trace), how they
look (reader.js).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from benchmark_assets.reporting.trace import BRIEF, Key, Step

Packed: TypeAlias = list[Any]
"""A step: position of its kind, beginning of its version, calls, and versions of inputs that have changed since. Empty
parts at the end are left out. A call: position of its words, tokens in and out, cost in dollars."""


class Origins(NamedTuple):
    """Origins of outputs.

    - `kinds`: what many steps have in common: asset, beginning of the run, time, and pairs of an input and its version.
      The version is null if the input is another step of the chain.
    - `calls`: what many calls have in common, in words.
    - `steps`: packed steps by model and passage; the steps of a passage alone have the model ''.
    """

    kinds: list[Packed]
    calls: list[str]
    steps: dict[Key, list[Packed]]


def packed(chains: Mapping[Key, Iterable[Step]]) -> Origins:
    """Pack the chains that `trace.of_passages` returns."""
    kinds: dict[tuple[object, ...], int] = {}
    calls: dict[str, int] = {}
    in_chain = {key: {step.asset for step in chain} for key, chain in chains.items()}
    steps: dict[Key, list[Packed]] = {}
    for (model, passage), chain in chains.items():
        others = in_chain[model, passage] | in_chain.get(("", passage), set())
        for step in chain:
            kind = step.asset, step.run[:BRIEF], step.at, tuple(_inputs(step, others))
            asked = [
                [calls.setdefault(call.told, len(calls)), call.tokens_in, call.tokens_out, call.cost]
                for call in step.calls
            ]
            parts: Packed = [kinds.setdefault(kind, len(kinds)), step.version[:BRIEF], asked]
            parts.append({name: step.inputs[name] for name in step.changed})
            while not parts[-1] and len(parts) > 2:
                parts.pop()
            steps.setdefault((model, passage), []).append(parts)
    return Origins([list(kind) for kind in kinds], list(calls), steps)


def _inputs(step: Step, others: set[str]) -> Iterator[tuple[str, str | None]]:
    for name, version in step.inputs.items():
        yield name, None if name in others else version
