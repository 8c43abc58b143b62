"""A worker: takes parts of updates from the queue and carries them out, one after the other.

Here: the loop, and what becomes of a part that cannot be carried out. Not here: what a part is (planning), starting
workers (cli).
"""

import logging
from collections.abc import Callable
from contextlib import suppress

import dagster as dg

from benchmark_assets.automation.server import planning
from benchmark_assets.automation.server.queues import MOST, PartQueue, TakenPart
from benchmark_assets.automation.settling import EXECUTING, settle_the_dead
from resources.postgres.outages import OUTAGE, outlast
from resources.processes import PROCESS, process_tag
from resources.provider.provider import Provider
from resources.provider.registry import Registry

logger = logging.getLogger("variorum.workers")


class Worker:
    """A process that carries out parts.

    Parameters
    ----------
    url
        The database with the queue.
    locate
        Returns the code location. It is called again when the registry has changed.
    """

    def __init__(self, url: str, instance: dg.DagsterInstance, locate: Callable[[], dg.Definitions]) -> None:
        self._url, self._instance, self._locate, self._queue = url, instance, locate, PartQueue(url)
        self._definitions = locate()
        self._registry = self._read_registry()

    def work(self) -> None:
        """Carry out parts until interrupted."""
        outlast(self._url, self._queue.enter)
        try:
            while True:
                if not self.carry_out_next():
                    outlast(self._url, self._queue.wait)
        finally:
            with suppress(*OUTAGE):  # the lease expires by itself
                self._queue.leave()

    def carry_out_next(self) -> bool:
        """Carry out the next part; return whether there was one."""
        part = outlast(self._url, self._queue.take)
        if part is None:
            return False
        try:
            outcome = self._outcome(part)
        except KeyboardInterrupt:
            with suppress(*OUTAGE):
                self._queue.give_back(part.name)
            raise
        outlast(self._url, lambda: self._queue.finish(part.name, outcome))
        return True

    def _outcome(self, part: TakenPart) -> str:
        name = f"part {', '.join(part.units)}"
        logger.info("%s: begins", name)
        if part.taken > MOST:
            return planning.failed(f"{name}: not finished, because {MOST} workers ended meanwhile")

        def carry_out() -> str:
            self._settle(part)
            if (registry := self._read_registry()) != self._registry:
                self._definitions, self._registry = self._locate(), registry
            return planning.carried_out(self._definitions, self._instance, part.content)

        try:
            return outlast(self._url, carry_out)
        except Exception as fault:
            logger.exception("%s failed", name)
            return planning.failed(f"{name}: {fault}")

    def _settle(self, part: TakenPart) -> None:
        """Report runs as failed if their worker has ended, or if this process could not store their end because the
        database was away: the lease of this process would let them look alive."""
        if part.taken > 1:
            settle_the_dead(self._instance)
        for run in self._instance.get_runs(dg.RunsFilter(statuses=EXECUTING, tags={PROCESS: process_tag()})):
            self._instance.report_run_failed(run, "The run's process could not store how the run ended.")

    def _read_registry(self) -> Registry:
        provider: Provider = (self._definitions.resources or {})["provider"]
        return provider.registry()
