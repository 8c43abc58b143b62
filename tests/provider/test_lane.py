"""The lane: how many calls are admitted at a time, and that nobody is forgotten."""

import asyncio
import random
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.provider.lane import START, Lane


def succeed(lane: Lane, calls: int) -> None:
    for _ in range(calls):
        lane.succeeded()


async def turns(count: int = 5) -> None:
    """Let every task that can go on do so."""
    for _ in range(count):
        await asyncio.sleep(0)


def throttle(lane: Lane, calls: int) -> None:
    for _ in range(calls):
        lane.throttled(0)


def test_the_limit_doubles_with_as_many_successes_as_it_allows() -> None:
    lane = Lane(50)
    limits = [lane.limit]
    for _ in range(3):
        succeed(lane, lane.limit - 1)
        assert lane.limit == limits[-1]
        lane.succeeded()
        limits.append(lane.limit)
    assert limits == [8, 16, 32, 50]


def test_the_limit_halves_where_everything_is_throttled() -> None:
    lane = Lane(64)
    succeed(lane, 8)
    limits = [lane.limit]
    for _ in range(5):
        throttle(lane, lane.limit)
        limits.append(lane.limit)
    assert limits == [16, 8, 4, 2, 1, 1]


def test_after_the_first_throttle_the_limit_grows_by_one_call() -> None:
    lane = Lane(64)
    throttle(lane, 8)
    limits = [lane.limit]
    for _ in range(3):
        succeed(lane, lane.limit)
        limits.append(lane.limit)
    assert limits == [4, 5, 6, 7]


@pytest.mark.parametrize("most", [START, 500])
@pytest.mark.parametrize("successes", [0, 1000])
def test_where_three_calls_in_ten_are_throttled_the_limit_stands_near_five(most: int, successes: int) -> None:
    lane, limits = Lane(most), []
    succeed(lane, successes)
    chance = random.Random(1)
    for _ in range(20_000):
        lane.throttled(0) if chance.random() < 0.3 else lane.succeeded()
        limits.append(lane.limit)
    settled = limits[10_000:]
    assert 4 <= sum(settled) / len(settled) <= 6


@pytest.mark.parametrize(
    ("throttled", "limit"),
    # half of the share that was throttled is lost, the share that succeeded gained: 8·(1 - s/2) + (1 - s)
    [(1, 8), (2, 7), (4, 6), (6, 5), (8, 4)],
)
@given(data=st.data())
def test_a_round_loses_half_of_the_share_that_was_throttled_in_any_order(
    throttled: int, limit: int, data: st.DataObject
) -> None:
    lane = Lane(64)
    for event in data.draw(st.permutations([True] * throttled + [False] * (8 - throttled))):
        assert lane.limit == 8
        lane.throttled(0) if event else lane.succeeded()
    assert lane.limit == limit


@given(st.integers(1, 40), st.lists(st.booleans() | st.just(None)))
def test_the_limit_is_never_below_one_nor_above_the_most(most: int, events: list[bool | None]) -> None:
    lane = Lane(most)
    for event in events:
        if event is None:
            succeed(lane, lane.limit)
        elif event:
            lane.succeeded()
        else:
            throttle(lane, 1)
        assert 1 <= lane.limit <= most


def test_nobody_is_admitted_during_a_pause_and_everybody_afterwards() -> None:
    async def main() -> None:
        lane = Lane(4)
        for _ in range(4):
            await lane.enter()
        admitted: list[float] = []

        async def call() -> None:
            await lane.enter()
            admitted.append(time.monotonic())
            lane.leave()

        waiting = [asyncio.create_task(call()) for _ in range(2)]
        await turns()
        opens = time.monotonic() + 0.05
        lane.throttled(0.05)
        lane.throttled(0.01)  # a shorter pause does not end the longer one
        for _ in range(4):
            lane.leave()
        waiting.append(asyncio.create_task(call()))
        await turns(50)
        assert not admitted
        await asyncio.wait_for(asyncio.gather(*waiting), 5)
        assert len(admitted) == 3
        assert min(admitted) >= opens

    asyncio.run(main())


def test_a_place_that_grows_is_given_to_who_waits() -> None:
    async def main() -> None:
        lane = Lane(16)
        for _ in range(8):
            await lane.enter()
        waiting = [asyncio.create_task(lane.enter()) for _ in range(10)]
        await turns()
        assert lane.in_flight == 8
        succeed(lane, 8)
        await turns()
        assert lane.in_flight == 16
        assert sum(task.done() for task in waiting) == 8
        lane.leave()
        lane.leave()
        await asyncio.wait_for(asyncio.gather(*waiting), 5)

    asyncio.run(main())


def test_a_waiter_that_is_cancelled_in_a_pause_leaves_its_place_to_the_next() -> None:
    async def main() -> None:
        lane = Lane(1)
        await lane.enter()
        cancelled, following = asyncio.create_task(lane.enter()), asyncio.create_task(lane.enter())
        await turns()
        lane.throttled(0.02)
        lane.leave()
        await turns()
        cancelled.cancel()
        await asyncio.wait_for(following, 0.5)

    asyncio.run(main())


PLANS = st.lists(
    st.tuples(
        st.integers(0, 5),  # turns before it comes
        st.integers(0, 5),  # turns inside
        st.none() | st.integers(0, 12),  # turns until it is cancelled
        st.sampled_from(["succeeded", "throttled", "failed"]),
    ),
    max_size=40,
)


@given(st.integers(1, 10), PLANS)
def test_whatever_happens_everyone_is_served_and_none_stays_inside(
    most: int, plans: list[tuple[int, int, int | None, str]]
) -> None:
    async def main() -> None:
        lane, served = Lane(most), 0

        async def call(before: int, inside: int, end: str) -> None:
            nonlocal served
            await turns(before)
            await lane.enter()
            assert lane.in_flight <= most
            try:
                await turns(inside)
                if end == "succeeded":
                    lane.succeeded()
                elif end == "throttled":
                    lane.throttled(0)
            finally:
                lane.leave()
            served += 1

        async def cancel(task: "asyncio.Task[None]", after: int) -> None:
            await turns(after)
            task.cancel()

        tasks, cancelling = [], []
        for before, inside, cancelled, end in plans:
            tasks.append(asyncio.create_task(call(before, inside, end)))
            if cancelled is not None:
                cancelling.append(asyncio.create_task(cancel(tasks[-1], cancelled)))
        for _ in range(1000):
            if all(task.done() for task in (*tasks, *cancelling)):
                break
            await asyncio.sleep(0)
        assert all(task.done() for task in tasks), "a caller waits for a free place"
        assert lane.in_flight == 0
        assert served == sum(not task.cancelled() for task in tasks)
        assert all(task.cancelled() or task.exception() is None for task in tasks)

    asyncio.run(main())


def test_throttles_with_pauses_and_cancellations_leave_nobody_behind() -> None:
    async def main(seed: int) -> None:
        chance, lane, served = random.Random(seed), Lane(6), 0

        async def call() -> None:
            nonlocal served
            await asyncio.sleep(chance.uniform(0, 0.02))
            await lane.enter()
            try:
                await turns(chance.randrange(6))
                if chance.random() < 0.1:
                    lane.throttled(chance.uniform(0, 0.002))
                else:
                    lane.succeeded()
            finally:
                lane.leave()
            served += 1

        tasks = [asyncio.create_task(call()) for _ in range(150)]
        cancelled = chance.sample(tasks, 40)
        for task in cancelled:
            await asyncio.sleep(0.0005)
            task.cancel()
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)
        assert served == sum(not task.cancelled() for task in tasks) >= 110
        assert lane.in_flight == 0
        assert 1 <= lane.limit <= 6

    for seed in range(3):
        asyncio.run(main(seed))
