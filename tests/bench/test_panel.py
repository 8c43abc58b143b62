"""How long a panel takes over as many outputs as the audit had it judge, and what a second look costs.

The figure is printed beside its target; what is asked is asserted.
"""

import time
from pathlib import Path

import pytest

from benchmark_assets.adjudication.panel import panel
from benchmark_assets.corpus.description import Audit
from benchmark_assets.studies.study import ask_about
from benchmark_assets.translation.systems import language_names
from resources.provider.provider import Provider
from tests.adjudication.test_panel import JUDGES, write_judges
from tests.provider.server import serve

pytestmark = pytest.mark.bench

IN_FLIGHT = 64
FILLER = "et cetera " * 30  # so that a text is as long as a passage


def test_three_judges_take_little_longer_than_their_calls(tmp_path: Path, full: bool) -> None:
    items, latency = (1203, 1.0) if full else (12, 0.0)
    with serve(answer="judge", latency=latency) as server:
        registry = tmp_path / "models.yaml"
        write_judges(registry, server.url, endpoints={"server": {"url": server.url, "in_flight": IN_FLIGHT}})
        provider = Provider(registry_path=str(registry), ledger_path=str(tmp_path / "ledger.sqlite"))
        seated = panel(provider, "tiny", Audit(judges=JUDGES), language_names("la", "en"), "ours")
        references = {name: f"{name} {FILLER}" for name in ("harrow", "lindqvist", "okafor")}
        work = [
            item
            for number in range(items)
            for item in seated.items("ours", f"tiny/d:{number}", FILLER, references, f"Candidate {number}. {FILLER}")
        ]
        ideal = items * len(JUDGES) * latency / IN_FLIGHT
        begun = time.perf_counter()
        given = ask_about(provider, "panel", work, "run")
        seconds = time.perf_counter() - begun
        assert len(server.log()) == items * len(JUDGES)
        assert all(vote.value for _, vote in given)

        server.clear()
        begun = time.perf_counter()
        assert ask_about(provider, "panel", work, "again") == given
        again = time.perf_counter() - begun
        assert server.log() == []

        half = items // 2
        changed = seated.items("ours", f"tiny/d:{half}", FILLER, references, f"Another candidate. {FILLER}")
        ask_about(
            provider, "panel", [*work[: half * len(JUDGES)], *changed, *work[(half + 1) * len(JUDGES) :]], "again"
        )
        assert sorted(seen.model for seen in server.log()) == sorted(JUDGES)
    print(
        f"\n{items} outputs, {len(JUDGES)} judges, {IN_FLIGHT} in flight, {latency:g} s: {seconds:.1f} s; the "
        f"calls alone take {ideal:.1f} s (wanted: 1.2 times that or less); {again:.1f} s and no call again"
    )
