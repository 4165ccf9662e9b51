"""The assignment of items to raters: ratings an item, and the stream that it is drawn from.

All items stand in one random order, that of the audit. Its first ones are a random sample of all,
whatever is chosen by the estimator besides, so ratings of these stand for the others; how likely an
item was among them is kept. `active` items are those that teach the estimator most.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from refless.extensions.serve.adjudication import TURN
from refless.extensions.serve.result import Task

WINDOW = 4  # items of the audit's order of which each rater is shown one
APART = 8  # items between the first and the second showing of one
AUDIT = "audit"
ACTIVE = "active"
REPEAT = "repeat"
GOLD = "gold"
DECIDE = "decide"
States = dict[tuple[int, int], str]  # the state of each item and round
OPEN = "open"
DONE = "done"
SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Pick:
    """An item that a rater is asked to rate.

    Attributes:
        item: its place in the audit's order; round: 1 where it is the second time, 2 to decide.
        stream: audit, active, repeat, gold or decide.
        probability: of having been drawn by now, for audit.
        sides: places of the item's texts as they are shown.
    """

    item: int
    round: int
    stream: str
    probability: float | None
    sides: tuple[int, ...]


@dataclass(slots=True)
class Assignment:
    """The state of every item, by its place in the audit's order. One thread changes it.

    Attributes:
        sizes: [n] texts of each item.
        active: places, the most telling first.
        practice, gold: places of items whose ratings are known, which no other stream shows; raters
            see the first ones before all else.
        decider: the rater who decides where others differ, and is asked nothing else.
        retired: places of texts of systems that were dropped, which nobody is asked about.
        blocks: number of what each text answers: one rater is asked about the texts of one, one
            after the other, so that ends at any time leave few of them half rated; () for none.
    """

    task: Task
    sizes: Sequence[int]
    active: tuple[int, ...] = ()
    practice: tuple[int, ...] = ()
    gold: tuple[int, ...] = ()
    decider: int | None = None
    retired: frozenset[int] = frozenset()
    blocks: Sequence[int] = ()
    _states_of: dict[int, States] = field(default_factory=dict)
    done: list[int] = field(default_factory=list)  # ratings of each item
    _skipped: list[int] = field(default_factory=list)
    _leases: dict[int, dict[int, float]] = field(default_factory=dict)
    _closed: int = 0  # all before it have their ratings
    _missing: int = 0  # ratings that items which are not for everybody still lack
    # shared items answered, by rater
    _common: dict[int, int] = field(default_factory=dict)
    # of items shown, by rater
    _states: dict[int, Counter[str]] = field(default_factory=dict)
    disputed: set[int] = field(default_factory=set)  # items on which raters differ
    standards: frozenset[int] = frozenset()  # practice and gold
    _unasked: frozenset[int] = frozenset()  # these, and those retired
    _shared_asked: int = 0  # of the first items, those that are asked about
    ratings: int = 0  # answers of all raters, without second ones
    rated: int = 0  # items with a rating
    _reached: int = 0  # the first items of the audit's order that were rated or skipped
    # items that the audit's stream showed
    _by_lot: set[int] = field(default_factory=set)
    shared: int = 0  # the first items, a random sample, which every rater is shown
    _block: dict[int, list[int]] = field(default_factory=dict)  # places by number
    # of the audit, by rater, and how long what answers the same is theirs; {} without blocks
    _latest: dict[int, tuple[int, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.shared = min(len(self.sizes), round(self.task.overlap * len(self.sizes)))
        self.done = [0] * len(self.sizes)
        self._skipped = [0] * len(self.sizes)
        self._closed = self.shared
        for place, block in enumerate(self.blocks):
            self._block.setdefault(block, []).append(place)
        self.standards = frozenset({*self.practice, *self.gold})
        self._unasked = self.standards | self.retired
        self._shared_asked = self._asked(self.shared)
        unshared = self._asked(len(self.sizes)) - self._shared_asked
        self._missing = self.task.per_item * unshared
        self._advance()

    def unknown(self, count: int) -> int:
        """So many of the first items have no known rating."""
        return count - sum(place < count for place in self.standards)

    def _asked(self, count: int) -> int:
        """So many of the first items are asked about."""
        return count - sum(place < count for place in self._unasked)

    @property
    def audited(self) -> int:
        """So many items, the first ones, are the sample: to the last one drawn at random."""
        last = self._reached
        while 0 < last < len(self.sizes) and last - 1 not in self._by_lot:
            last -= 1
        return self.unknown(last)

    def note(
        self,
        rater: int,
        item: int,
        turn: int,
        state: str,
        until: float,
        stream: str = AUDIT,
    ) -> None:
        """Takes in what was assigned, and what became of it."""
        states = self._states_of.setdefault(rater, {})
        before = states.get((item, turn), "")
        states[item, turn] = state
        counts = self._states.setdefault(rater, Counter())
        counts[before] -= 1
        counts[state] += 1
        newly_done = (state == DONE) - (before == DONE)
        if turn:
            return
        self.ratings += newly_done
        lacked = self._lacks(item)
        self.rated -= self.done[item] > 0
        self.done[item] += newly_done
        self.rated += self.done[item] > 0
        if stream == AUDIT:
            self._by_lot.add(item)
            if self.blocks:
                self._latest[rater] = (item, until)
        if item in self._unasked:
            return
        if item < self.shared:
            answered = (state != OPEN) - (before not in ("", OPEN))
            self._common[rater] = self._common.get(rater, 0) + answered
        else:
            lacks = self._lacks(item)
            self._missing += lacks - lacked
            self._closed = min(self._closed, item) if lacks else self._closed
        self._skipped[item] += (state == SKIPPED) - (before == SKIPPED)
        leases = self._leases.setdefault(item, {})
        leases.pop(rater, None)
        if state == OPEN:
            leases[rater] = until
        if not self._is_answered(item):
            self._reached = min(self._reached, item)
        self._advance()

    def _advance(self) -> None:
        """Moves on to the first item that is asked about and not answered."""
        while self._reached < len(self.sizes) and (
            self._reached in self._unasked or self._is_answered(self._reached)
        ):
            self._reached += 1

    def pick(self, rater: int, now: float) -> Pick | None:
        """The next item of this rater; None if there is none left.

        The rater's own seeded numbers decide, so that orders differ and can be told again.
        """
        states = self._states_of.get(rater, {})
        count = len(states)
        if rater == self.decider:
            undecided = [item for item in self.disputed if (item, TURN) not in states]
            return Pick(min(undecided), TURN, DECIDE, None, (0,)) if undecided else None
        if 0 < self.task.project.most_items <= count:
            return None
        rng = random.Random(f"{self.task.seed} {rater} {count}")  # noqa: S311 - an order
        chance = rng.random()
        coin = rng.random()
        unseen = [place for place in self.practice if (place, 0) not in states]
        if unseen:
            return self._pick_of(unseen[0], 0, GOLD, rng)
        unseen = [place for place in self.gold if (place, 0) not in states]
        if unseen and rng.random() < self.task.project.gold_share:
            return self._pick_of(rng.choice(unseen), 0, GOLD, rng)
        repeatable = self._repeatable(states) if chance < self.task.repeat else []
        if repeatable:
            return self._pick_of(rng.choice(repeatable), 1, REPEAT, rng)
        streams = (AUDIT, ACTIVE) if coin < self.task.audit else (ACTIVE, AUDIT)
        shares = rng.random() * self.left(rater) < self._unshared(rater)
        begun = self._begun(states, rater, now)
        for stream in streams:
            if stream == AUDIT and begun is not None:
                return self._pick_of(begun, 0, AUDIT, rng)
            places = self._audit() if stream == AUDIT else self.active
            free = [*self._free(places, states, rater, now, to_share=shares)]
            if free:
                item = rng.choice(free) if stream == AUDIT else free[0]
                return self._pick_of(item, 0, stream, rng)
        free = [*self._free(self._audit(), states, rater, now, to_share=True)]
        return self._pick_of(rng.choice(free), 0, AUDIT, rng) if free else None

    def shown(self, rater: int) -> int:
        """The number of items that this rater was shown, repeats included."""
        return len(self._states_of.get(rater, {}))

    def states(self, rater: int) -> Counter[str]:
        """The numbers of a rater's items that are open, done or skipped."""
        return self._states.get(rater, Counter())

    def left(self, rater: int) -> int:
        """Items that this rater may still be shown, shared with as many others as there are."""
        if rater == self.decider:
            return len(self.disputed)
        raters = max(1, len(self._states_of))
        common = self._unshared(rater)
        states = self.states(rater)
        limit = self.task.project.most_items or len(self.sizes)
        unanswered = max(0, limit - states[DONE] - states[SKIPPED])
        return min(common + -(-self._missing // raters), unanswered)

    def _unshared(self, rater: int) -> int:
        """Items for every rater that this one has not answered."""
        return self._shared_asked - self._common.get(rater, 0)

    def _lacks(self, item: int) -> int:
        if item in self._unasked:
            return 0
        return max(0, self.task.per_item - self.done[item])

    def _is_answered(self, item: int) -> bool:
        return self.done[item] > 0 or self._skipped[item] > 0

    def _audit(self) -> Iterator[int]:
        yield from range(self.shared)
        while self._closed < len(self.sizes) and not self._lacks(self._closed):
            self._closed += 1
        yield from range(self._closed, len(self.sizes))

    def _free(
        self,
        places: Sequence[int] | Iterator[int],
        states: States,
        rater: int,
        now: float,
        *,
        to_share: bool,
    ) -> Iterator[int]:
        """The first places that this rater may be shown, as many as the window holds.

        At most one has no answer yet, the last: so the sample has no gaps, and orders differ.
        Shared items that have their ratings are among them if `to_share`.
        """
        count = 0
        for item in places:
            if (item, 0) in states or item in self._unasked:
                continue
            is_due = to_share and item < self.shared
            if not (is_due or self._is_open(item, rater, now)):
                continue
            yield item
            count += 1
            if count == WINDOW or not self._is_answered(item):
                return

    def _begun(self, states: States, rater: int, now: float) -> int | None:
        """The next text that answers the same as the rater's latest; None if none is left."""
        if rater not in self._latest:
            return None
        latest, _ = self._latest[rater]
        left = (
            item
            for item in self._block[self.blocks[latest]]
            if (item, 0) not in states
            and item not in self._unasked
            and (item < self.shared or self._is_open(item, rater, now))
        )
        return next(left, None)

    def _is_open(self, item: int, rater: int, now: float) -> bool:
        """Whether an item lacks a rating that nobody is about to give, or will be asked for."""
        lacks = self.task.per_item - self.done[item]
        if lacks <= 0:
            return False
        last = now + self.task.project.lease  # even if a clock was ahead
        leases = self._leases.get(item, {})
        others = {name for name, until in leases.items() if now < until <= last}
        for name, (latest, until) in self._latest.items():
            is_theirs = self.blocks[latest] == self.blocks[item]
            is_next = is_theirs and (item, 0) not in self._states_of[name]
            if is_next and now < until <= last:
                others.add(name)
        others.discard(rater)
        return len(others) < lacks

    def _repeatable(self, states: States) -> list[int]:
        """Items that the rater rated long enough ago, and once."""
        rated = [
            item for (item, turn), state in states.items() if state == DONE and not turn
        ]
        return [
            item
            for item in rated[:-APART]
            if (item, 1) not in states and item not in self._unasked
        ]

    def _pick_of(self, item: int, turn: int, stream: str, rng: random.Random) -> Pick:
        sides = [*range(self.sizes[item])]
        rng.shuffle(sides)
        chance = None
        if stream == AUDIT:
            chance = self.unknown(item + 1) / self.unknown(len(self.sizes))
        return Pick(item, turn, stream, chance, tuple(sides))
