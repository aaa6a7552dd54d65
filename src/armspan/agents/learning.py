"""How a tuned agent learns: one reward by a single quick call, and what that call leaves."""

import math
from typing import Any, cast

import numpy as np

from armspan import _validate
from armspan._interrupts import Uninterrupted
from armspan._typing import FloatArray, IntArray
from armspan.agents import batch
from armspan.agents.held import BAD_SHAPE, DOUBLES, REFUSED, Held, first_bad, ndarray
from armspan.agents.inputs import Sizes, too_long
from armspan.agents.state import State
from armspan.errors import InvalidParameter
from armspan.kernels import agent_calls, agent_learning
from armspan.kernels import agent_layout as layout

NUMBERS = frozenset({float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_})
"""Types of rewards that compiled code may be given as they are."""


class Learning(Held):
    """The learning of a tuned agent; `armspan.Agent` has its parameters."""

    def update(self, arm: Any, x: Any, reward: Any, mark: None = None) -> None:  # by position too: that is faster
        """Learn the reward of an arm that was chosen for x, whenever it comes.

        Several rewards may be learnt in one call. Either all of them are learnt or, if anything is wrong with one,
        none.

        Parameters
        ----------
        arm : hashable, or a list of n names
            The arm that was chosen.
        x : (d,) or (K, d) array; for many (n, d) or (n, K, d)
            The context as it was given to `choose`, or the arm's own row of it.
        reward : float, or (n,) array
            The reward that came of it.
        mark : None
            Not used here, because every reward is learnt in the same way. Agents of some other policies need it.
        """
        if mark is not None:
            raise InvalidParameter(f"mark must be left out: any reward is learnt alike here, got {mark!r:.60}")
        code = BAD_SHAPE
        if self._quick and x.__class__ is ndarray and reward.__class__ in NUMBERS:
            _, place, whole, state = self._core
            try:
                k = place[arm]  # it may run code of the name's own, and so comes before x is looked at
                if x.dtype is DOUBLES:
                    learn = self._learners[x.ndim]
                    code = learn(whole, k, x, reward) if self._double else learn(whole, state.store, k, x, reward)
            except (*REFUSED, KeyError):  # or there is no such arm
                self._learner.compile_for(*self._knowledge(state), 0, x.copy(), 0.0)
            if code == 0:  # nearly always
                return
            if code == agent_calls.CROWDED:
                agent_learning.make_way(whole)
                code = self._learner(*self._knowledge(state), k, x, float(cast(float, reward)))
                if code == 0:
                    return
        self._update_slowly(code, arm, x, reward)

    # Inside

    def _update_slowly(self, code: int, arm: Any, x: Any, reward: Any) -> None:
        """What `update` leaves: refusals, input of other forms, batches, and work that is due now and then."""
        if code == agent_calls.DUE:  # it was learnt
            with self._closed(changed=True):
                if arm in self._state.place:
                    self._state.check(self._state.place[arm])
                self._compare_sizes(self._state)
            return
        if hasattr(reward, "__len__") and not isinstance(reward, str) and getattr(reward, "ndim", None) != 0:
            self._update_many(arm, x, reward)
            return
        with self._lock, Uninterrupted():
            reward = float(reward) if isinstance(reward, bool | np.bool_) else reward
            k, y = self._arm(arm), _validate.real("reward", reward)
            rows, per_arm = self._inputs.context(x, len(self.arms))
            self._learn(self._state, k, np.ascontiguousarray(rows[k * per_arm]), y)
            self._inputs.keep_names()

    def _learn(self, state: State, k: int, x: FloatArray, y: float) -> None:
        """Forget, and learn one reward of arm k for its own x (d,); the lock is held."""
        self._let_in(state, x[None])
        every, factor = self.settings.decay
        if every and (state.forgotten + 1) * every <= state.head[layout.REWARDS]:
            with self._closed():  # before the new reward, which counts in full until the next one comes
                state.forgotten += 1
                state.forget(factor)
        code = self._learn_held(state, k, x, y)
        if code == agent_calls.BUSY:
            with self._closed():
                state.check(k)
            code = self._learn_held(state, k, x, y)
        if code == agent_calls.NOT_FINITE:
            raise InvalidParameter(f"x and reward must be below {self.settings.largest:g}, got {y:g}")
        if code == 0 and not self.settings.forgets:
            return
        with self._closed():
            own = self._with_intercept(x[None])[0]
            if code == agent_calls.UNSOUND:  # V⁻¹ has become indefinite: learn into V, and V⁻¹ afresh from that
                batch.learn(state, own[None], np.array([k]), np.array([y]))
            if state.window is not None:
                state.window.slide(state, state.names[k], own, y)
                if code == agent_calls.DUE:
                    state.window.relearn(state, k)
                if self.settings.learnt and self._inputs.looks_at_sizes:
                    self._inputs.add_sizes(own[None])
            elif code == agent_calls.DUE:
                state.check(k)
                self._compare_sizes(state)

    def _learn_held(self, state: State, k: int, x: FloatArray, y: float) -> int:
        """One reward, for a context that has been looked at: it may be longer than the bound."""
        state.head[layout.LARGEST] = self.settings.largest
        try:
            while True:
                code = int(self._learner(*self._knowledge(state), k, x, y))
                if code != agent_calls.CROWDED:
                    return code
                agent_learning.make_way(state.whole)
        finally:
            state.allow(0.0)

    def _let_in(self, state: State, rows: FloatArray) -> None:
        """Refuse contexts (n, d) that are too long to be learnt, and look at V⁻¹ more often after long ones."""
        longest = math.sqrt(float(np.einsum("nd,nd->n", rows, rows).max()) + self.settings.intercept)
        if longest > self.settings.reach:
            raise InvalidParameter(too_long(longest, self.settings.reach, self.settings.dtype))
        state.allow(longest**2)

    def _update_many(self, arms: Any, X: Any, rewards: Any) -> None:
        with self._lock:
            rows = self._inputs.batch(X, len(self.arms))
            y = _validate.array("reward", rewards, shape=(len(rows),))
            if isinstance(arms, str) or not hasattr(arms, "__len__") or len(arms) != len(rows):
                raise InvalidParameter(f"arm must have {len(rows)} entries, one per reward, got {arms!r:.60}")
            _validate.unmasked("arm", arms)
            chosen = self._places(arms)
            if rows.ndim == 3:
                rows = rows[np.arange(len(rows)), chosen]
            rows = self._with_intercept(rows)
            if self.settings.forgets or len(rows) < 4 * len(self.arms):
                if not max(np.abs(rows).max(), np.abs(y).max()) < self.settings.largest / len(rows[0]):
                    raise InvalidParameter(first_bad("X", rows))
                plain = rows[:, : self.settings.n_features]
                with self._all_or_nothing() as state:
                    self._let_in(state, plain)
                    for k, x, reward in zip(chosen, plain, y, strict=True):
                        self._learn(state, int(k), np.ascontiguousarray(x), float(reward))
                self._learnt_many(rows)
                return
            seen, largest = batch.sums(rows, chosen, y, len(self.arms)), self.settings.largest**2
            if not all(np.abs(one.gram).max() < largest and np.abs(one.moment).max() < largest for one in seen):
                raise InvalidParameter(first_bad("X", rows))
            with self._all_or_nothing() as state:
                if sum(float(np.trace(one.gram)) for one in seen) > self.settings.reach**2:  # a row may be too long
                    self._let_in(state, rows[:, : self.settings.n_features])
                batch.learn(state, rows, chosen, y, seen)
            self._learnt_many(rows)

    def _learnt_many(self, rows: FloatArray) -> None:
        """A batch was good all over."""
        self._inputs.keep_names()
        if self.settings.learnt:
            self._inputs.add_sizes(rows)

    def _places(self, arms: Any) -> IntArray:
        """Rows of many arms."""
        K = len(self.arms)
        numbers = isinstance(arms, ndarray) and arms.dtype.kind in "iu" and self.arms == tuple(range(K))
        if numbers and arms.size and arms.min() >= 0 and arms.max() < K:
            return np.asarray(arms, dtype=np.int64)
        try:
            return np.fromiter(map(self._state.place.__getitem__, arms), np.int64, len(arms))
        except (KeyError, TypeError):
            return np.array([self._arm(arm) for arm in arms], dtype=np.int64)  # says which is unknown

    def _compare_sizes(self, state: State) -> None:
        """Warn where features of the contexts that are remembered differ much in size, if that matters."""
        if not self.settings.learnt:
            return
        seen = state.entries()
        if len(seen):
            self._inputs.compare_sizes(Sizes.of(seen[:, layout.FEATURES :], seen[:, layout.SEEN]))
