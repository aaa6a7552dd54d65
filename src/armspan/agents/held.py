"""What a tuned agent holds, and how its calls take turns: what asking and learning both rest on."""

import threading
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from armspan._interrupts import Uninterrupted
from armspan._typing import FloatArray
from armspan.agents import forks
from armspan.agents.arms import distinct, eligible, place_of
from armspan.agents.inputs import Inputs
from armspan.agents.lineage import Lineage
from armspan.agents.settings import Settings
from armspan.agents.state import SKETCHED_FROM, WIDE_FROM, State
from armspan.errors import InvalidParameter
from armspan.kernels import agent_calls, agent_choice, agent_learning
from armspan.kernels import agent_layout as layout

ndarray, DOUBLES = np.ndarray, np.dtype(np.float64)  # looked up once, not every time
BAD_SHAPE = agent_calls.BAD_SHAPE
REFUSED = (TypeError, OverflowError)
"""What is raised where code is not compiled yet, a context has not one or two axes, or a reward is too large."""
CHOOSERS: Any = (
    (WIDE_FROM, agent_choice.choose_wide),
    (SKETCHED_FROM, agent_choice.choose_by_sketches),
    (agent_choice.FOURS_FROM, agent_choice.choose_by_fours),
    (0, agent_choice.choose),
)
"""The kernels that choose in double precision, and from how many features on each pays."""


class Held:
    """What a tuned agent holds: its settings and one state, which calls change one at a time."""

    def __init__(
        self,
        settings: Settings,
        arms: Sequence[Hashable],
        *,
        policy: Any = None,
        feature_names: Sequence[Any] | None = None,
    ) -> None:
        self.settings, self.policy = settings, policy
        self._inputs = Inputs(settings, feature_names)
        self._lock = threading.RLock()
        self._double = settings.dtype == "float64"
        self._chooser: Any = agent_choice.choose_single
        if self._double:
            self._chooser = next(chooser for least, chooser in CHOOSERS if settings.width >= least)
        self._learner: Any = agent_learning.learn if self._double else agent_learning.learn_single
        self._choosers, self._learners = self._chooser.codes, self._learner.codes
        self._plain = settings.schedule is None
        self._quick = not settings.forgets  # that is more than one step
        try:
            state = State(settings, distinct(arms))
            state.lineage = Lineage()
            self._use(state)
            forks.remember(self)
        except (MemoryError, OverflowError):
            raise InvalidParameter(
                f"arms and n_features must fit into memory, got {settings.n_features:,} features"
            ) from None

    def _use(self, state: State) -> None:
        """Go on with this state, in one step; whoever still works with the one before finds it closed."""
        self._core = state.names, state.place, state.whole, state

    @property
    def _state(self) -> State:
        return self._core[3]

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """Names of the arms, in order."""
        return self._state.names

    @property
    def feature_names(self) -> tuple[Any, ...] | None:
        """Names of the features, if they were given or a context had some."""
        return self._inputs.feature_names

    @property
    def decisions(self) -> int:
        """How many decisions have been made."""
        return int(self._state.head[layout.DECISIONS])

    @property
    def rewards(self) -> int:
        """How many rewards have been learnt."""
        return int(self._state.head[layout.REWARDS])

    @property
    def too_long(self) -> int:
        """How many contexts have been longer than feature_bound."""
        return self._inputs.too_long

    @property
    def nbytes(self) -> int:
        """Bytes of everything that it has learnt."""
        return sum(part.nbytes for part in self._knowledge(self._state))

    # Inside

    def _after_fork(self) -> None:
        self._lock = threading.RLock()
        self._state.lineage = self._state.lineage.branched(self._state)

    @contextmanager
    def _closed(self, *, changed: bool = False) -> Iterator[None]:
        """No other thread chooses or learns meanwhile, and no Ctrl-C breaks in; calls that come now wait.

        changed : whether the call that needs it has changed something already.
        """
        with self._lock, Uninterrupted(changed=changed):
            head = self._state.head
            head[layout.CLOSED] += 1.0
            try:
                yield
            finally:
                head[layout.CLOSED] -= 1.0 if self._state.head is head else 0.0
                self._state.recount()
                if self._state.head is not head:
                    self._state.head[layout.CLOSED] = 0.0

    @contextmanager
    def _all_or_nothing(self) -> Iterator[State]:
        """A copy of the state to change, which takes its place in the end unless an error or Ctrl-C comes before."""
        with Uninterrupted() as hold, self._closed():
            state = self._state.copy()
            yield state
            hold.abandoned = hold.pending
            if not hold.abandoned:
                self._use(state)

    def _knowledge(self, state: State) -> tuple[Any, ...]:
        """The arrays that kernels are given: one, or in single precision two."""
        return (state.whole,) if self._double else (state.whole, state.store)

    def _with_intercept(self, rows: FloatArray) -> FloatArray:
        if not self.settings.intercept:
            return rows
        return np.concatenate([rows, np.ones((*rows.shape[:-1], 1))], axis=-1)

    def _eligible(self, only: Sequence[Hashable] | None) -> Any:
        return eligible(self._state.place, only)

    def _arm(self, name: Hashable) -> int:
        return place_of(self._state.place, name)


def first_bad(name: str, rows: FloatArray) -> str:
    """What is wrong with rows that kernels could not work with."""
    bad = np.argwhere(~np.isfinite(rows))
    if not len(bad):
        return f"{name} must be small enough that sums of squares are finite numbers"
    where = tuple(int(i) for i in bad[0])
    return f"{name} must be finite, got {rows[where]} at {list(where)}"
