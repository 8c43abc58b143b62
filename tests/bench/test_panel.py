"""How long a panel takes over as many outputs as the audit had it judge, and what a second look costs.

The figure is printed beside its target; what is asked is asserted.
"""

import time
from pathlib import Path

import pytest

from benchmark_assets.adjudication.panel import Item, panel, votes
from benchmark_assets.corpus.description import Audit
from resources.provider.provider import Provider
from tests.adjudication.test_panel import JUDGES, write_judges
from tests.provider.server import serve

pytestmark = pytest.mark.bench

ITEMS, IN_FLIGHT, LATENCY = 1203, 64, 1.0
FILLER = "et cetera " * 30  # so that a text is as long as a passage


def test_three_judges_take_little_longer_than_their_calls(tmp_path: Path) -> None:
    with serve(answer="judge", latency=LATENCY) as server:
        registry = tmp_path / "models.yaml"
        write_judges(registry, server.url, endpoints={"server": {"url": server.url, "in_flight": IN_FLIGHT}})
        provider = Provider(registry_path=str(registry), ledger_path=str(tmp_path / "ledger.sqlite"))
        seated = panel(provider, "tiny", Audit(judges=JUDGES), ("la", "en"), "ours")
        references = {name: f"{name} {FILLER}" for name in ("harrow", "lindqvist", "okafor")}
        work = [
            (seated, Item("ours", f"tiny/d:{number}", FILLER, references, f"Candidate {number}. {FILLER}"))
            for number in range(ITEMS)
        ]
        ideal = ITEMS * len(JUDGES) * LATENCY / IN_FLIGHT
        begun = time.perf_counter()
        given = votes(provider, work, "run")
        seconds = time.perf_counter() - begun
        assert len(server.log()) == ITEMS * len(JUDGES)
        assert all(vote.judgement for own in given for vote in own)

        server.clear()
        begun = time.perf_counter()
        assert votes(provider, work, "again") == given
        again = time.perf_counter() - begun
        assert server.log() == []

        changed = work[600][1]._replace(candidate=f"Another candidate. {FILLER}")
        votes(provider, [*work[:600], (seated, changed), *work[601:]], "again")
        assert sorted(seen.model for seen in server.log()) == sorted(JUDGES)
    print(
        f"\n{ITEMS} outputs, {len(JUDGES)} judges, {IN_FLIGHT} in flight, {LATENCY:g} s: {seconds:.1f} s, "
        f"{seconds / ideal:.2f} times the ideal (wanted: 1.2 or less); {again:.1f} s and no call again"
    )
