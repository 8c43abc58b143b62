"""The queue of a group: how many parts of updates are under way at once.

Named in deploy/dagster.yaml. Here: the limit. Not here: what a part is (planning), sending runs to workers (workers).
"""

import dagster as dg
from dagster._core.run_coordinator.queued_run_coordinator import RunQueueConfig

PART_TAG = "variorum/part"
"""Tag of a part's runs. It is the same for all attempts, and for all planners, so that no part runs twice at once."""


class PartQueue(dg.QueuedRunCoordinator):
    """`QueuedRunCoordinator` whose `max_concurrent_runs` limits the number of parts instead of runs.

    A part starts runs in its own process, and Dagster would count these, too: a worker that has ended a part would then
    wait until other workers have asked their models. The limit must not exceed the number of processes of all workers,
    because a part that waits too long at the broker counts as lost.
    """

    def get_run_queue_config(self) -> RunQueueConfig:
        """The limits: that of parts, and those for runs with other tags."""
        limits = super().get_run_queue_config()
        parts = {"key": PART_TAG, "limit": limits.max_concurrent_runs}
        return limits._replace(max_concurrent_runs=-1, tag_concurrency_limits=[*limits.tag_concurrency_limits, parts])
