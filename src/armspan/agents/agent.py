"""The agent: choose an arm for a context, learn from rewards that come at once, late or never."""

import threading
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray, IntArray
from armspan.agents import batch
from armspan.agents.answers import ArmKnowledge, Decision, Exploration, Scores
from armspan.agents.explanation import Explanation, explained
from armspan.agents.inputs import Inputs
from armspan.agents.knowledge import arm_knowledge
from armspan.agents.settings import Settings
from armspan.agents.state import State, Statistics
from armspan.agents.window import Window
from armspan.errors import InvalidParameter, NotApplicable
from armspan.kernels import agent as kernels
from armspan.kernels import agent_layout as layout
from armspan.kernels.choice import ROUNDING

ndarray = np.ndarray  # looked up once, not every time
choose_one: Any = kernels.choose
learn_one: Any = kernels.learn
BAD_SHAPE = kernels.BAD_SHAPE


class Agent:
    """A policy plus what it has learnt. Made by `policy.agent(...)`.

    Contexts are x (d,) that all arms share, or (K, d) with a row an arm, in the order of `arms`; lists, NumPy arrays,
    pandas and polars rows and mappings from feature names will do. `choose` and `update` may be called from several
    threads: each is one indivisible step.
    """

    def __init__(
        self,
        settings: Settings,
        arms: Sequence[Hashable],
        *,
        policy: Any = None,
        feature_names: Sequence[Any] | None = None,
    ) -> None:
        self.settings, self.policy = settings, policy
        self._inputs = Inputs(settings.n_features, settings.largest, feature_names)
        self._lock = threading.RLock()
        self._window = None if settings.window is None else Window(settings.window, settings.width)
        self._forgotten = 0
        self._plain = settings.epsilon == 0 and settings.schedule is None and settings.dtype == "float64"
        self._double = settings.dtype == "float64"
        self._quick = self._double and not settings.forgets  # forgetting is more than one step, and wants the lock
        try:
            self._use(State(settings, _distinct(arms)))
        except (MemoryError, OverflowError):
            raise InvalidParameter("arms and n_features must fit into memory, and do not") from None

    def _use(self, state: State) -> None:
        """Go on with this state; whoever still works with the one before finds it closed."""
        self._state = state
        self._core = state.names, state.place, state.whole

    # Choosing

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """Names of the arms, in order."""
        return self._state.names

    @property
    def feature_names(self) -> tuple[Any, ...] | None:
        """Names of the features, where they were given or a frame has told them."""
        return self._inputs.feature_names

    @property
    def decisions(self) -> int:
        """How many arms were chosen."""
        return int(self._state.head[layout.DECISIONS])

    @property
    def rewards(self) -> int:
        """How many rewards were learnt."""
        return int(self._state.head[layout.REWARDS])

    @property
    def alpha(self) -> float:
        """α_t of the next decision."""
        return float(self._alphas(1)[0])

    @property
    def nbytes(self) -> int:
        """Bytes of all that was learnt."""
        return sum(part.nbytes for part in self._state.parts)

    def choose(self, x: Any, *, only: Sequence[Hashable] | None = None) -> Any:
        """The arm for this context: the one with the largest mean + α_t·width.

        only : names of the arms that are eligible; all, if left out.
        """
        if only is None and self._plain and x.__class__ is ndarray:
            names, _, whole = self._core
            try:
                k = choose_one(whole, x)
            except TypeError:  # it is not contiguous, or not of doubles
                k = BAD_SHAPE
            if k >= 0:
                return names[k]
        return self.decide(x, only=only).arm

    def decide(self, x: Any, *, only: Sequence[Hashable] | None = None) -> Decision:
        """`choose`, with the probability that this arm had."""
        with self._lock:
            rows, per_arm = self._inputs.context(x, len(self.arms))
            eligible, propensity = self._eligible(only), np.empty(len(self.arms))
            self._set_alpha()
            head, arms, room, _ = self._state.parts
            k = kernels.draw(head, arms, room, rows, per_arm, eligible, self.settings.epsilon, propensity)
            return Decision(self.arms[k], float(propensity[k]))

    def propensities(self, x: Any, *, only: Sequence[Hashable] | None = None) -> FloatArray:
        """The probability (K,) of each arm, were this context to be decided now. Decides nothing."""
        with self._lock:
            scores, eligible = self.scores(x), self._eligible(only)
            index = np.where(eligible, scores.index, -np.inf)
            tied = index >= index.max() - ROUNDING * (1 + abs(index.max()))
            if self.settings.ties == "first":
                tied = np.arange(tied.size) == np.argmax(tied)
            return (1 - self.settings.epsilon) * tied / tied.sum() + self.settings.epsilon * eligible / eligible.sum()

    def choose_many(self, X: Any) -> list[Any]:
        """The arms for contexts (n, d) or (n, K, d), all with what is known now; t goes on from one to the next."""
        with self._lock:
            index = self.scores_many(X).index
            return [self.arms[k] for k in batch.pick(self._state, index, self._eligible(None), self.settings.epsilon)]

    def scores(self, x: Any) -> Scores:
        """Mean, width and index of every arm for one context. Decides nothing."""
        with self._lock:
            rows, per_arm = self._inputs.context(x, len(self.arms))
            mean, width = np.empty(len(self.arms)), np.empty(len(self.arms))
            head, arms, room, _ = self._state.parts
            kernels.look(head, arms, room, self._with_intercept(rows), np.int64(per_arm), mean, width)
            return Scores(self.arms, mean, width, mean + self.alpha * width)

    def scores_many(self, X: Any) -> Scores:
        """Mean, width and index (n, K) of every arm for many contexts."""
        with self._closed():
            rows = self._inputs.batch(X, len(self.arms))
            mean, width = batch.look(self._state, self._with_intercept(rows))
            if not (np.isfinite(mean).all() and np.isfinite(width).all()):
                raise InvalidParameter(_first_bad("X", rows))
            return Scores(self.arms, mean, width, mean + self._alphas(len(rows))[:, None] * width)

    # Learning

    def update(self, arm: Any, x: Any, reward: Any) -> None:
        """Learn the reward of an arm that was chosen for x, whenever it comes.

        x : as it was given to choose, or the arm's own row of it. Or many at once: arm a sequence of n names, x (n, d)
        or (n, K, d), reward (n,); they are learnt all or, if anything is wrong with them, not at all.
        """
        code = BAD_SHAPE
        if self._quick and x.__class__ is ndarray:
            _, place, whole = self._core
            try:
                code = learn_one(whole, place[arm], x, reward)
            except (TypeError, KeyError):  # it is not contiguous, or a batch, or the arm is unknown
                code = BAD_SHAPE
            if code == 0:  # nearly always
                return
        self._update_slowly(code, arm, x, reward)

    # Arms

    def add_arm(
        self,
        name: Hashable,
        prior: Statistics | tuple[Any, Any] | None = None,
        *,
        like: Hashable | None = None,
        weight: float = 1.0,
    ) -> None:
        """A new arm, at the end of the order.

        prior : what is known of it: statistics of another agent's arm, or a log (X, rewards). like : an arm of this
        agent to begin as. weight : how much of either counts.
        """
        if self._window is not None and (prior is not None or like is not None):
            raise NotApplicable(
                "an agent with a window has no warm start: it knows what is in its window, nothing else"
            )
        if prior is not None and like is not None:
            raise InvalidParameter("add_arm must be given prior or like, not both")
        if not 0 < _validate.real("weight", weight, above=0) <= 1:
            raise InvalidParameter(f"weight must be in (0, 1], got {weight:g}")
        if weight != 1 and prior is None and like is None:
            raise InvalidParameter("weight must come with prior or like: there is nothing to weigh")
        with self._closed():
            seen = self.statistics(like) if like is not None else self._as_statistics(prior)
            names = _distinct([*self.arms, name])
            state = self._state.with_names(names, np.append(np.arange(len(self.arms)), -1))
            if seen is not None:
                state.add(len(names) - 1, Statistics(weight * seen.gram, weight * seen.moment, weight * seen.pulls))
            self._use(state)

    def remove_arm(self, name: Hashable) -> None:
        """Forget an arm and all that was learnt of it."""
        with self._closed():
            gone = self._arm(name)
            if len(self.arms) == 1:
                raise InvalidParameter("remove_arm must leave at least one arm")
            rows = np.delete(np.arange(len(self.arms)), gone)
            if self._window is not None:
                self._window.drop(name)
            self._use(self._state.with_names([self.arms[row] for row in rows], rows))

    def statistics(self, arm: Hashable) -> Statistics:
        """What was seen of an arm: Σxxᵀ, Σ yx and the pulls, without the ridge."""
        with self._closed():
            return self._state.statistics(self._arm(arm))

    def merge(self, other: "Agent") -> None:
        """Learn all that another agent has learnt, as if this one had seen it, to rounding; new arms are added."""
        if not isinstance(other, Agent):
            raise InvalidParameter(f"other must be an agent, got {other!r:.60}")
        if other is self:
            raise InvalidParameter("other must be another agent, got the same")
        mine, theirs = self.settings, other.settings
        if mine.forgets or theirs.forgets:
            raise NotApplicable("agents that forget cannot be merged: what one has forgotten the other cannot know")
        for what in ("n_features", "ridge", "intercept"):
            if getattr(mine, what) != getattr(theirs, what):
                values = f"{getattr(mine, what)!r} and {getattr(theirs, what)!r}"
                raise InvalidParameter(f"other must have the same {what}, got {values}")
        if self.feature_names and other.feature_names and self.feature_names != other.feature_names:
            raise InvalidParameter("other must have the same feature_names, in the same order")
        first, second = sorted((self, other), key=id)
        with first._closed(), second._closed():
            names = [*self.arms, *(name for name in other.arms if name not in self._state.place)]
            rows = [*range(len(self.arms)), *[-1] * (len(names) - len(self.arms))]
            state = self._state.with_names(names, np.array(rows))
            for k, name in enumerate(other.arms):
                state.add(state.place[name], other._state.statistics(k))
            for counter in (layout.DECISIONS, layout.REWARDS):
                state.head[counter] += other._state.head[counter]
            if len(state.memory):
                batch.merge_memory(state, other._state)
            self._use(state)

    # Understanding

    def explain(self, x: Any, arm: Hashable) -> Explanation:
        """Which past contexts the arm's estimate for x rests on; mean and width are those of `scores`."""
        with self._closed():
            k = self._arm(arm)
            rows, per_arm = self._inputs.context(x, len(self.arms))
            return explained(self._state, k, self._with_intercept(rows)[k * per_arm], self._remembered(k))

    def exploration(self, x: Any, *, only: Sequence[Hashable] | None = None) -> Exploration:
        """Whether a decision for x among the eligible arms would explore."""
        with self._lock:
            scores, eligible = self.scores(x), self._eligible(only)
        index, mean = (np.where(eligible, values, -np.inf) for values in (scores.index, scores.mean))
        chosen, greedy = int(np.argmax(index)), int(np.argmax(mean))
        lower = 2 * mean[greedy] - index[greedy]
        reach = [scores.arms[k] for k in np.flatnonzero(index > lower) if k != greedy]
        return Exploration(chosen != greedy or bool(reach), scores.arms[chosen], scores.arms[greedy], tuple(reach))

    def diversity(self) -> tuple[ArmKnowledge, ...]:
        """How well each arm is known: λ_min(V), how it grows, and the direction in which least was seen."""
        with self._closed():
            names = [*(self.feature_names or range(self.settings.n_features)), "intercept"]
            return tuple(arm_knowledge(self._state, k, names) for k in range(len(self.arms)))

    def get_params(self) -> dict[str, Any]:
        """What the agent was made with."""
        names = ("seed", "intercept", "epsilon", "ties", "memory", "half_life", "window", "dtype")
        params = {"arms": list(self.arms), "n_features": self.settings.n_features, "feature_names": self.feature_names}
        return params | {name: getattr(self.settings, name) for name in names}

    def __repr__(self) -> str:
        policy = "" if self.policy is None else f" of {_described(self.policy)}"
        sizes = f"{len(self.arms)} arms, {self.settings.n_features} features"
        return f"<Agent{policy}: {sizes}, {self.decisions:,} decisions, {self.rewards:,} rewards>"

    def save(self, path: Any) -> None:
        """Write one file, whole or not at all; `armspan.load_agent` reads it."""
        from armspan.agents.files import save

        with self._closed():
            for k in np.flatnonzero(self._state.arms[:, layout.MODE] >= (self.settings.width + 1) // 2):
                self._state.check(int(k))  # another thread has filled its room and waits for us
            save(self, self._state, self._window, path)

    # Inside

    @contextmanager
    def _closed(self) -> Iterator[None]:
        """No other thread chooses or learns meanwhile; calls that come now wait."""
        with self._lock:
            head = self._state.head
            head[layout.CLOSED] += 1.0
            try:
                yield
            finally:
                head[layout.CLOSED] -= 1.0 if self._state.head is head else 0.0
                if self._state.head is not head:
                    self._state.head[layout.CLOSED] = 0.0

    def _update_slowly(self, code: int, arm: Any, x: Any, reward: Any) -> None:
        """What `update` leaves: refusals, input of other forms, batches, and work that is due now and then."""
        if code == kernels.DUE:
            self._learnt(arm, x, reward, code)
            return
        if hasattr(reward, "__len__") and not isinstance(reward, str):
            self._update_many(arm, x, reward)
            return
        with self._lock:
            reward = float(reward) if isinstance(reward, bool | np.bool_) else reward
            k, y = self._arm(arm), _validate.real("reward", reward)
            rows, per_arm = self._inputs.context(x, len(self.arms))
            own = np.ascontiguousarray(rows[k * per_arm])
            code = self._learn_held(k, own, y)
            if code == kernels.BUSY:
                with self._closed():
                    self._state.check(k)
                code = self._learn_held(k, own, y)
            if code == kernels.NOT_FINITE:
                raise InvalidParameter(f"x and reward must be below {self.settings.largest:g}, got {reward!r:.40}")
            if code == kernels.UNSOUND:
                self._learn_unsound(k, self._with_intercept(rows)[k * per_arm], y)
            self._learnt(arm, own, y, code)

    def _learn_held(self, k: int, x: FloatArray, y: float) -> int:
        """Learn a reward while the lock is held."""
        if self._double:
            return int(learn_one(self._state.whole, k, x, y))
        return int(kernels.learn_single(self._state.whole, self._state.room, k, x.reshape(1, -1), y))

    def _learn_unsound(self, k: int, x: FloatArray, y: float) -> None:
        """Learn where V⁻¹ is no longer positive definite by rounding: into V, and V⁻¹ afresh from that."""
        with self._closed():
            batch.learn(self._state, x[None], np.array([k]), np.array([y]))

    def _learnt(self, arm: Hashable, x: Any, reward: float, code: int) -> None:
        """After a reward: V⁻¹ afresh where that is due, and forgetting."""
        with self._closed():
            state = self._state
            every, factor = self.settings.decay
            while every and (self._forgotten + 1) * every <= self.rewards:
                self._forgotten += 1
                state.forget(factor)
            due = code == kernels.DUE and arm in state.place
            if self._window is not None:
                rows, per_arm = self._inputs.context(x, len(self.arms))
                own = self._with_intercept(rows)[self._arm(arm) * per_arm]
                self._window.slide(state, arm, own, float(reward))
                if due:
                    self._window.relearn(state, state.place[arm])
            elif due:
                state.check(state.place[arm])

    def _remembered(self, k: int) -> FloatArray:
        """Rows (m, 4 + d) of memory on arm k; with a window, of what is in it."""
        if self._window is not None:
            return self._window.remembered(self._state, k)
        rows = self._state.entries(k)
        return rows[rows[:, layout.SEEN] > 0]

    def _update_many(self, arms: Any, X: Any, rewards: Any) -> None:
        with self._lock:
            rows = self._inputs.batch(X, len(self.arms))
            y = _validate.array("reward", rewards, shape=(len(rows),))
            if isinstance(arms, str) or not hasattr(arms, "__len__") or len(arms) != len(rows):
                raise InvalidParameter(f"arm must have {len(rows)} entries, one a reward, got {arms!r:.60}")
            chosen = self._places(arms)
            if rows.ndim == 3:
                rows = rows[np.arange(len(rows)), chosen]
            rows = self._with_intercept(rows)
            if self.settings.forgets or len(rows) < 4 * len(self.arms):
                if not max(np.abs(rows).max(), np.abs(y).max()) < self.settings.largest / len(rows[0]):
                    raise InvalidParameter(_first_bad("X", rows))
                plain = rows[:, : self.settings.n_features]
                for k, x, reward in zip(chosen, plain, y, strict=True):
                    self._update_slowly(BAD_SHAPE, self.arms[k], x, float(reward))
                return
            seen, largest = batch.sums(rows, chosen, y, len(self.arms)), self.settings.largest**2
            if not all(np.abs(one.gram).max() < largest and np.abs(one.moment).max() < largest for one in seen):
                raise InvalidParameter(_first_bad("X", rows))
            with self._closed():
                batch.learn(self._state, rows, chosen, y, seen)

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

    def _as_statistics(self, prior: Statistics | tuple[Any, Any] | None) -> Statistics | None:
        if prior is None:
            return None
        d = self.settings.width
        if isinstance(prior, Statistics):
            gram = _validate.array("prior.gram", prior.gram, shape=(d, d))
            moment = _validate.array("prior.moment", prior.moment, shape=(d,))
            if not np.allclose(gram, gram.T) or np.linalg.eigvalsh(gram)[0] < -1e-9 * np.trace(gram):
                raise InvalidParameter("prior.gram must be a sum of xxᵀ: symmetric, with no eigenvalue below 0")
            return Statistics((gram + gram.T) / 2, moment, _validate.real("prior.pulls", prior.pulls, at_least=0))
        if not isinstance(prior, tuple) or len(prior) != 2:
            raise InvalidParameter(f"prior must be statistics of an arm or a pair (X, rewards), got {prior!r:.60}")
        X, rewards = prior
        rows = self._inputs.batch(X, len(self.arms))
        if rows.ndim != 2:
            raise InvalidParameter(f"prior X must have shape (n, {self.settings.n_features}), got shape {rows.shape}")
        rows = self._with_intercept(rows)
        y = _validate.array("prior rewards", rewards, shape=(len(rows),))
        if not np.isfinite(rows).all():
            raise InvalidParameter(_first_bad("prior X", rows))
        return Statistics(rows.T @ rows, rows.T @ y, float(len(rows)))

    def _with_intercept(self, rows: FloatArray) -> FloatArray:
        if not self.settings.intercept:
            return rows
        return np.concatenate([rows, np.ones((*rows.shape[:-1], 1))], axis=-1)

    def _eligible(self, only: Sequence[Hashable] | None) -> Any:
        eligible = np.full(len(self.arms), only is None, dtype=np.bool_)
        if only is not None and (isinstance(only, str) or not isinstance(only, Iterable)):
            raise InvalidParameter(f"only must be a sequence of arms, got {only!r:.60}")
        for name in () if only is None else only:
            eligible[self._arm(name)] = True
        if not eligible.any():
            raise InvalidParameter("only must name at least one arm, got none")
        return eligible

    def _arm(self, name: Hashable) -> int:
        try:
            return self._state.place[name]
        except (KeyError, TypeError):
            known = ", ".join(map(str, self.arms[:8])) + (", …" if len(self.arms) > 8 else "")
            raise InvalidParameter(f"arm must be one of {known}, got {name!r:.60}") from None

    def _alphas(self, n: int) -> FloatArray:
        """α_t of the next n decisions."""
        head = self._state.head
        t = max(head[layout.DECISIONS], head[layout.REWARDS]) + 1.0 + np.arange(n)
        t = np.minimum(t, head[layout.LONGEST])
        if self.settings.schedule is not None:
            return self.settings.schedule(t.astype(np.int64))
        return self.settings.bias + self.settings.scale * np.sqrt(np.log(1.0 + t * np.log(t) ** 2))

    def _set_alpha(self) -> None:
        """A schedule that only Python knows is written where kernels look for α."""
        if self.settings.schedule is not None:
            self._state.head[layout.BIAS], self._state.head[layout.SCALE] = self.alpha, 0.0


def _described(policy: Any) -> str:
    """A policy by what was given to it."""
    values = ((field.name, getattr(policy, field.name)) for field in fields(policy))
    given = ", ".join(f"{name}={value!r:.20}" for name, value in values if value is not None)
    return f"{type(policy).__name__}({given})"


def _distinct(arms: Sequence[Hashable]) -> list[Hashable]:
    names = list(arms)
    try:
        different = len(set(names)) == len(names)
    except TypeError:
        raise InvalidParameter("arms must be hashable names") from None
    if not names or not different:
        raise InvalidParameter(f"arms must be different names, at least one, got {names!r:.60}")
    return names


def _first_bad(name: str, rows: FloatArray) -> str:
    bad = np.argwhere(~np.isfinite(rows))
    if not len(bad):
        return f"{name} must be small enough that sums of squares are finite numbers"
    where = tuple(int(i) for i in bad[0])
    return f"{name} must be finite, got {rows[where]} at {list(where)}"
