"""The next unit of each rater."""

import math
from collections import Counter
from dataclasses import replace
from itertools import chain
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.extensions.serve.assignment import (
    ACTIVE,
    AUDIT,
    DONE,
    OPEN,
    REPEAT,
    SKIPPED,
    Assignment,
)
from refless.extensions.serve.project import Project
from refless.extensions.serve.result import Task

TASK = Task(overlap=0.0, repeat=0.0, project=Project(lease=10.0))


def answered(
    one: Assignment, rater: int, now: float = 0.0, state: str = DONE
) -> int | None:
    """Asks the rater once, who answers at once: which item it was."""
    pick = one.pick(rater, now)
    if pick is None:
        return None
    one.note(rater, pick.item, pick.round, OPEN, now + 10)
    one.note(rater, pick.item, pick.round, state, now + 10)
    return pick.item


def everything(one: Assignment, rater: int) -> list[int]:
    found = []
    while (item := answered(one, rater)) is not None:
        found.append(item)
    return found


def test_each_item_once_to_one_rater() -> None:
    one = Assignment(TASK, [1] * 30)
    assert sorted(everything(one, 1)) == [*range(30)]
    assert everything(one, 2) == []


def test_orders_differ_by_rater_and_come_again() -> None:
    """A seed tells a rater's order again; other raters, and another seed, have another."""
    asked = replace(TASK, per_item=9)
    one, again, other = (
        Assignment(replace(asked, seed=seed), [1] * 30) for seed in (0, 0, 5)
    )
    orders = [everything(one, rater) for rater in (1, 2, 3)]
    assert orders == [everything(again, rater) for rater in (1, 2, 3)]
    assert len({*map(tuple, orders)}) == 3
    assert orders[1] != [everything(other, rater) for rater in (1, 2)][1]


@pytest.mark.parametrize("per_item", [1, 2])
def test_every_answer_of_the_audit_is_in_the_sample(per_item: int) -> None:
    """However many raters and ratings an item: after each answer, nobody else being asked."""
    one = Assignment(replace(TASK, per_item=per_item), [1] * 30)
    for k in range(20):
        answered(one, k % 3)
        assert one.audited == one.rated


def test_lease_keeps_others_away_until_it_ends() -> None:
    one = Assignment(TASK, [1])
    pick = one.pick(1, 0.0)
    assert pick is not None
    one.note(1, pick.item, 0, OPEN, 10.0)
    assert one.pick(2, 9.0) is None
    assert one.pick(2, 11.0) is not None
    one.note(1, pick.item, 0, DONE, 10.0)  # who comes back late has rated all the same
    assert one.pick(2, 12.0) is None


def test_undone_rating_opens_the_item_again() -> None:
    one = Assignment(TASK, [1] * 5)
    items = everything(one, 1)
    one.note(1, items[0], 0, OPEN, 5.0)
    assert one.pick(2, 4.0) is None
    found = one.pick(2, 6.0)
    assert found is not None
    assert found.item == items[0]


def test_skipped_items_are_for_others() -> None:
    one = Assignment(TASK, [1] * 3)
    for _ in range(3):
        answered(one, 1, state=SKIPPED)
    assert one.audited == 3
    assert sorted(everything(one, 2)) == [0, 1, 2]


def test_active_items_come_in_their_order() -> None:
    one = Assignment(replace(TASK, audit=0.0), [1] * 20, active=(7, 3, 11))
    assert [answered(one, 1) for _ in range(3)] == [7, 3, 11]
    pick = one.pick(1, 0.0)
    assert pick is not None
    assert (pick.stream, pick.probability is None) == (AUDIT, False)


def test_streams_have_their_shares() -> None:
    """800 picks with a share of .25 for the audit: 200 expected, standard deviation 12."""
    one = Assignment(
        replace(TASK, audit=0.25), [1] * 2000, active=tuple(range(2000))[::-1]
    )
    counts: Counter[str] = Counter()
    for _ in range(800):
        pick = one.pick(1, 0.0)
        assert pick is not None
        counts[pick.stream] += 1
        one.note(1, pick.item, 0, DONE, 0.0)
    assert abs(counts[AUDIT] - 200) < 4 * 12
    assert counts[AUDIT] + counts[ACTIVE] == 800


def test_repeats_are_of_old_items_and_no_ratings_of_others() -> None:
    one = Assignment(replace(TASK, repeat=0.5), [1] * 40)
    shown = []
    while (pick := one.pick(1, 0.0)) is not None:
        one.note(1, pick.item, pick.round, DONE, 0.0)
        shown.append(pick)
    again = [k for k, pick in enumerate(shown) if pick.stream == REPEAT]
    assert len(again) > 5
    for k in again:
        before = [earlier.item for earlier in shown[:k] if earlier.round == 0]
        assert shown[k].item in before[:-8]
    assert len({(pick.item, pick.round) for pick in shown}) == len(shown)


def test_answers_to_one_item_go_to_one_rater() -> None:
    """Two raters who take turns are each asked both answers; only the last item may be half."""
    one = Assignment(
        replace(TASK, audit=1.0), [1] * 20, blocks=[k // 2 for k in range(20)]
    )
    asked: dict[int, set[int]] = {}
    latest: dict[int, int] = {}
    for k in range(12):
        rater = k % 2
        if rater in latest:
            one.note(rater, latest[rater], 0, DONE, 10.0)
        pick = one.pick(rater, 0.0)
        assert pick is not None
        one.note(rater, pick.item, 0, OPEN, 10.0)
        latest[rater] = pick.item
        asked.setdefault(pick.item // 2, set()).add(rater)
    assert sorted(asked) == [*range(6)]
    assert all(len(raters) == 1 for raters in asked.values())


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_audited_items_are_a_random_sample(share: float) -> None:
    """Half of the items, those that are preferred, are half of the first ones that are answered.

    Those of the audit's stream alone are no such sample, as what is preferred is gone. By two
    raters, after 40 answers; 400 seeds, each with a share of standard deviation .14 at most.
    """
    import random

    runs = 400
    told = 0.0
    naive = 0.0
    for seed in range(runs):
        liked = random.Random(seed).sample(range(100), 50)
        one = Assignment(
            replace(TASK, seed=seed, overlap=share), [1] * 100, active=tuple(liked)
        )
        lot = []
        for k in range(40):
            pick = one.pick(k % 2, 0.0)
            assert pick is not None
            one.note(k % 2, pick.item, pick.round, DONE, 0.0, pick.stream)
            lot += [pick.item] if pick.stream == AUDIT else []
        told += sum(item in liked for item in range(one.audited)) / max(1, one.audited)
        naive += sum(item in liked for item in lot) / len(lot)
    error = 0.14 / math.sqrt(runs)
    assert abs(told / runs - 0.5) < 3.5 * error
    assert naive / runs < 0.5 - 3.5 * error


def test_shared_items_are_a_share_of_what_each_is_shown() -> None:
    """Of raters who stop early, too, most ratings are of new items; each shares with others."""
    one = Assignment(replace(TASK, overlap=0.1, audit=1.0), [1] * 150)
    items: list[list[int | None]] = [[], [], [], []]
    for k in range(48):
        items[k // 12].append(answered(one, k // 12))
    counts = Counter(chain(*items))
    assert len(counts) >= 40
    assert sorted(counts) == [*range(len(counts))]  # no gaps
    for shown in items[1:]:
        assert 1 <= sum(counts[item] > 1 for item in shown) <= 3


def test_shared_items_are_not_left_for_the_end() -> None:
    """Two raters of 200 items: those that both are shown lie around the middle of each order."""
    one = Assignment(replace(TASK, overlap=0.2, audit=1.0), [1] * 200)
    orders: list[list[int | None]] = [[], []]
    for _ in range(120):
        for rater in (0, 1):
            orders[rater].append(answered(one, rater))
    for own, other in (orders, orders[::-1]):
        second = [k for k in range(120) if own[k] is not None and own[k] in other[:k]]
        assert len(second) < 40
        assert 40 < fmean(second) < 80


def test_shared_items_are_for_everybody() -> None:
    one = Assignment(replace(TASK, overlap=0.2), [1] * 20)
    for rater in range(1, 6):
        assert {*range(4)} <= {*everything(one, rater)}
    assert one.left(6) == 4


ACTS = st.lists(
    st.tuples(
        st.integers(1, 3), st.integers(0, 9), st.sampled_from([OPEN, DONE, SKIPPED])
    ),
    max_size=60,
)


@given(
    acts=ACTS,
    per_item=st.integers(1, 2),
    retired=st.frozensets(st.integers(0, 9), max_size=9),
)
def test_counts_kept_along_the_way_are_those_of_counting_anew(
    acts: list[tuple[int, int, str]], per_item: int, retired: frozenset[int]
) -> None:
    """Counts of units left, rated and answered, and how far the random sample reaches.

    Nobody is asked about what is retired, and the sample goes on beyond it.
    """
    task = replace(TASK, overlap=0.3, per_item=per_item)
    one = Assignment(task, [1] * 10, retired=retired)
    state: dict[tuple[int, int], str] = {}
    for rater, item, what in acts:
        one.note(rater, item, 0, what, 0.0, (AUDIT, ACTIVE)[item % 2])
        state[rater, item] = what
    done = [0] * 10
    answered = [False] * 10
    for (_, item), what in state.items():
        done[item] += what == DONE
        answered[item] |= what != OPEN
    asked = {*range(10)} - retired
    missing = sum(max(0, per_item - done[item]) for item in asked if item > 2)
    raters = max(1, len({who for who, _ in state}))
    for who in (1, 2, 3):
        shared = asked & {0, 1, 2}
        unanswered = sum(state.get((who, item), OPEN) == OPEN for item in shared)
        others = sum(state.get((who, item), OPEN) == OPEN for item in range(10))
        assert one.left(who) == min(unanswered + math.ceil(missing / raters), others)
        mine = Counter(what for (rater, _), what in state.items() if rater == who)
        assert [one.states(who)[what] for what in (OPEN, DONE, SKIPPED)] == [
            mine[what] for what in (OPEN, DONE, SKIPPED)
        ]
    assert (one.ratings, one.rated) == (sum(done), sum(n > 0 for n in done))
    picks = filter(None, (one.pick(who, 20.0) for who in (1, 2, 3)))
    assert {pick.item for pick in picks} <= asked
    passed = [answered[item] or item in retired for item in range(10)]
    reached = [*passed, False].index(False)
    noted = {item for _, item in state if item % 2 == 0}
    by_lot = [i + 1 for i in range(reached) if i in noted or reached == 10]
    assert one.audited == max(by_lot, default=0)


def test_a_clock_that_was_ahead_keeps_no_item() -> None:
    """A lease of somebody who was asked a year ahead of now holds no longer than any other."""
    one = Assignment(Task(overlap=0.0, repeat=0.0), [1] * 3)
    year = 365 * 24 * 3600.0
    for item in range(3):
        one.note(1, item, 0, OPEN, year + 900)
    assert one.pick(2, year) is None
    assert one.pick(2, 0.0) is not None


def test_nobody_has_more_to_go_than_there_are_items() -> None:
    """Of 60 items, two ratings each, a rater alone rates each once: 60, not 108."""
    one = Assignment(Task(per_item=2, overlap=0.1), [1] * 60)
    assert one.left(1) == 60
    for item in range(10):
        one.note(1, item, 0, DONE, 0.0)
    assert one.left(1) == 50
