"""The agent: choose an arm for a context, and learn from rewards that come at once, late or never."""

import math
import threading
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import numpy as np

from armspan import _html, _validate
from armspan._interrupts import Uninterrupted
from armspan._text import counted
from armspan._typing import FloatArray, IntArray
from armspan.agents import batch, container, files, forks, lineage
from armspan.agents.answers import LIKELY, ArmKnowledge, Decision, Decisions, Exploration, Scores
from armspan.agents.arms import distinct, eligible, place_of
from armspan.agents.explanation import Explanation, explained
from armspan.agents.inputs import Inputs, Sizes, too_long
from armspan.agents.knowledge import arm_knowledge
from armspan.agents.lineage import Delta, Lineage
from armspan.agents.policies import described, loader
from armspan.agents.settings import Settings
from armspan.agents.state import SKETCHED_FROM, WIDE_FROM, State, Statistics
from armspan.errors import InvalidParameter, NotApplicable
from armspan.kernels import agent_calls, agent_choice, agent_learning, agent_scores
from armspan.kernels import agent_layout as layout
from armspan.kernels.choice import recurring, turn

SINGLE = 1e-5
"""How far below 0 eigenvalues of sums in single precision may fall by rounding, relative to the largest."""
ndarray, DOUBLES = np.ndarray, np.dtype(np.float64)  # looked up once, not every time
NUMBERS = frozenset({float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_})
"""Types of rewards that compiled code may be given as they are."""
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


class Agent:
    """A policy plus what it has learnt. `policy.agent(...)` makes one; you need not call this class yourself.

    A context is x (d,), shared by all arms, or (K, d) with one row per arm in the order of `arms`. Lists, NumPy arrays,
    rows of pandas and polars, and mappings from feature names all work. `choose` and `update` may be called from
    several threads: each call is atomic.

    Parameters
    ----------
    settings : Settings
        How the agent chooses and learns.
    arms : list
        Names of the arms, all different and hashable.
    policy : Policy, optional
        The policy that made it.
    feature_names : list, optional
        Names of the features, in order. If left out, the first context that has names sets them.
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

    # Choosing

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
    def alpha(self) -> float:
        """α_t of the next decision."""
        return float(self._alphas(self._steps(1))[0])

    @property
    def noise(self) -> float:
        """σ̂, how far rewards lie from their predictions; 0 until enough of them have come."""
        errors, left = self._state.head[[layout.ERRORS, layout.LEFT]]
        if not self.settings.learnt:
            raise NotApplicable('noise must be learnt to be known: the policy needs alpha="practical"')
        return math.sqrt(max(errors, 0.0) / left) if left > 0 else 0.0

    @property
    def nbytes(self) -> int:
        """Bytes of everything that it has learnt."""
        return sum(part.nbytes for part in self._knowledge(self._state))

    def choose(self, x: Any, *, only: Sequence[Hashable] | None = None) -> Any:
        """Choose the arm with the largest mean + α_t·width for this context.

        Parameters
        ----------
        x : (d,) or (K, d) array
            The context: features that all arms share, or one row per arm.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out.

        Returns
        -------
        hashable
            The name of the chosen arm.
        """
        if only is None and self._plain and x.__class__ is ndarray and x.dtype is DOUBLES:
            names, _, whole, state = self._core
            try:
                choose = self._choosers[x.ndim]
                k = choose(whole, x) if self._double else choose(whole, state.store, x)
            except REFUSED:
                k = self._chooser.late(BAD_SHAPE, *self._knowledge(state), x.copy())
            if k >= 0:
                return names[k]
        return self.decide(x, only=only).arm

    def decide(self, x: Any, *, only: Sequence[Hashable] | None = None) -> Decision:
        """Choose an arm, as `choose` does, and give the probability with which it was chosen.

        Parameters
        ----------
        x : (d,) or (K, d) array
            The context, as in `choose`.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out.

        Returns
        -------
        Decision
            The arm and its propensity, which a log needs if it is to be evaluated later.
        """
        with self._lock:
            rows, per_arm = self._inputs.context(x, len(self.arms))
            eligible, propensity = self._eligible(only), np.empty(len(self.arms))
            self._set_alpha()
            head, arms, store, _ = self._state.parts
            k = agent_choice.draw(head, arms, store, rows, per_arm, eligible, propensity)
            self._inputs.keep_names()
            return Decision(self.arms[k], float(propensity[k]))

    def propensities(self, x: Any, *, only: Sequence[Hashable] | None = None) -> FloatArray:
        """The probability of each arm if a decision were made for this context now. Nothing is decided.

        Parameters
        ----------
        x : (d,) or (K, d) array
            The context, as in `choose`.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out.

        Returns
        -------
        (K,) array
            Probabilities, in the order of `arms`.
        """
        with self._lock:
            eligible = self._eligible(only)
            return self._shares(self._in_turn(self.scores(x).index[None], eligible), eligible)[0]

    def _shares(self, index: FloatArray, eligible: Any) -> FloatArray:
        """The probability (n, K) of each arm by its index (n, K)."""
        index, epsilon = np.where(eligible, index, -np.inf), self.settings.epsilon
        best = index.max(axis=1, keepdims=True)
        within, unit = self._state.head[[layout.TIED_WITHIN, layout.UNIT]]
        tied = index >= best - within * (unit + np.abs(best))
        if self.settings.ties == "first":
            tied = np.arange(index.shape[1]) == np.argmax(tied, axis=1)[:, None]
        share = (1 - epsilon) * tied / tied.sum(axis=1, keepdims=True)
        return np.asarray(share + epsilon * eligible / eligible.sum())

    def _in_turn(self, index: FloatArray, eligible: Any, *, counts: bool = False) -> FloatArray:
        """Index (n, K) by which arms that must be pulled are taken first, one in each row. Changes index."""
        head, pulls = self._state.head, self._state.arms[:, layout.PULLS]
        if not self.settings.learnt:
            return index
        unknown = (pulls < layout.UNKNOWN) & eligible
        waiting = np.flatnonzero((pulls == 0) & eligible & (np.arange(len(pulls)) >= head[layout.FORCED]))
        rows = min(len(index), len(waiting))
        index[np.arange(rows), waiting[:rows]] = agent_choice.FIRST_OF_ALL
        for row in range(rows, len(index)) if unknown.any() else ():  # those of which no reward came
            step = recurring(int(head[layout.DECISIONS]) + row, float(head[layout.LONGEST]), len(pulls))
            again = turn(step, len(pulls))
            if again < len(pulls) and unknown[again]:
                index[row, again] = agent_choice.FIRST_OF_ALL
        if counts:
            pulls[waiting[:rows]] = layout.ASKED
        return index

    def choose_many(self, X: Any, *, only: Sequence[Hashable] | None = None) -> list[Any]:
        """Choose an arm for each of many contexts, all with what is known now; t advances from one to the next.

        Parameters
        ----------
        X : (n, d) or (n, K, d) array
            The contexts.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out.

        Returns
        -------
        list
            The name of the arm for each context.
        """
        return self.decide_many(X, only=only).arms

    def decide_many(self, X: Any, *, only: Sequence[Hashable] | None = None) -> Decisions:
        """Choose an arm for each of many contexts, as `choose_many` does, with the probability of each choice.

        Parameters
        ----------
        X : (n, d) or (n, K, d) array
            The contexts.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out.

        Returns
        -------
        Decisions
            The arms and their propensities (n,).
        """
        with self._lock:
            eligible = self._eligible(only)
            with self._closed():
                mean, width = self._looked_at(X)
            alphas = self._alphas(self._steps(len(mean)))
            self._inputs.keep_names()
            index = self._index(mean, width, alphas[:, None])
            index = self._in_turn(index, eligible, counts=True)
            share = self._shares(index, eligible)
            chosen = batch.pick(self._state, index, eligible)
            return Decisions([self.arms[k] for k in chosen], share[np.arange(len(chosen)), chosen])

    def top(self, x: Any, n: int, *, only: Sequence[Hashable] | None = None) -> list[Any]:
        """The n arms with the largest index for this context, best first. It counts as one decision and ignores ε.

        Parameters
        ----------
        x : (d,) or (K, d) array
            The context, as in `choose`.
        n : int
            How many arms to return.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out.

        Returns
        -------
        list
            Names of the arms.
        """
        with self._lock:
            eligible = self._eligible(only)
            _validate.whole("n", n, at_least=1, at_most=int(eligible.sum()))
            index = self._in_turn(self.scores(x).index[None], eligible, counts=True)[0]
            order = np.random.default_rng([self.settings.seed, self.decisions]).permutation(len(index))
            order = np.arange(len(index)) if self.settings.ties == "first" else order
            best = order[np.argsort(-np.where(eligible, index, -np.inf)[order], kind="stable")][:n]
            self._state.head[layout.DECISIONS] += 1.0
            return [self.arms[k] for k in best]

    def scores(self, x: Any) -> Scores:
        """Mean, width and index of every arm for one context. Nothing is decided.

        Parameters
        ----------
        x : (d,) or (K, d) array
            The context, as in `choose`.

        Returns
        -------
        Scores
            One entry per arm.
        """
        with self._lock:
            rows, per_arm = self._inputs.context(x, len(self.arms))
            mean, width = np.empty(len(self.arms)), np.empty(len(self.arms))
            head, arms, store, _ = self._state.parts
            agent_scores.look(head, arms, store, self._with_intercept(rows), np.int64(per_arm), mean, width)
            index = self._index(mean, width, self.alpha)
            self._inputs.keep_names()
            return Scores(self.arms, mean, width, index)

    def scores_many(self, X: Any) -> Scores:
        """Mean, width and index of every arm for many contexts, each as if it came next. Nothing is decided.

        Parameters
        ----------
        X : (n, d) or (n, K, d) array
            The contexts.

        Returns
        -------
        Scores
            One row per context, one column per arm.
        """
        with self._closed():
            mean, width = self._looked_at(X)
            index = self._index(mean, width, self.alpha)
            self._inputs.keep_names()
            return Scores(self.arms, mean, width, index)

    # Learning

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

    # Arms

    def add_arm(
        self,
        name: Hashable,
        prior: Statistics | tuple[Any, Any] | None = None,
        *,
        like: Hashable | None = None,
        weight: float = 1.0,
    ) -> None:
        """Add an arm at the end of the order.

        Parameters
        ----------
        name : hashable
            The name of the new arm.
        prior : Statistics or (X, rewards), optional
            What is known about it: statistics of another agent's arm, or a log of contexts and rewards.
        like : hashable, optional
            An arm of this agent that the new one starts from.
        weight : float, default 1
            How much the prior or the other arm counts.
        """
        if self.settings.window is not None and (prior is not None or like is not None):
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
            names = distinct([*self.arms, name])
            state = self._state.with_more([name])
            if seen is not None:
                state.lineage = state.lineage.changed()
                state.add(len(names) - 1, seen.weighed(weight))
            self._use(state)

    def remove_arm(self, name: Hashable) -> None:
        """Forget an arm and everything that was learnt about it.

        Parameters
        ----------
        name : hashable
            The arm.
        """
        with self._closed():
            gone = self._arm(name)
            if len(self.arms) == 1:
                raise InvalidParameter("remove_arm must leave at least one arm")
            rows = np.delete(np.arange(len(self.arms)), gone)
            state = self._state.with_names([self.arms[row] for row in rows], rows)
            state.lineage = state.lineage.changed(name)
            self._use(state)

    def statistics(self, arm: Hashable) -> Statistics:
        """What an arm has seen: Σxxᵀ, Σyx and the number of pulls, without the ridge.

        Parameters
        ----------
        arm : hashable
            The arm.

        Returns
        -------
        Statistics
            Sums that can be added up, and passed to another agent's `add_arm`.
        """
        with self._closed():
            return self._state.statistics(self._arm(arm))

    def merge(self, other: "Agent | Delta") -> None:
        """Learn what another agent has learnt, as if this one had seen it (up to rounding). New arms are added.

        Relatives (copies, agents loaded from one file, forked processes) may be merged again: what both hold counts
        once. If what they share cannot be told apart, as when one comes back from another process and both have learnt
        in the meantime, the merge is refused and nothing changes. A `delta` can always be told apart.

        Parameters
        ----------
        other : Agent or Delta
            The other agent, or what its `delta` returned.
        """
        if not isinstance(other, Agent | Delta):
            raise InvalidParameter(f"other must be an agent or a delta, got {other!r:.60}")
        if other is self:
            raise InvalidParameter("other must be another agent, got the same")
        self._check_like(other)
        if isinstance(other, Delta):
            with self._closed():
                self._use(lineage.told(self._state, other))
            return
        first, second = sorted((self, other), key=id)
        with first._closed(), second._closed():
            self._use(lineage.joined(self._state, other._state))

    def copy(self) -> "Agent":
        """Copy the agent. From now on the copy learns separately, but `merge` knows that the two are relatives.

        Returns
        -------
        Agent
            The copy.
        """
        with self._closed():
            state = self._state.copy()
            state.lineage = self._state.lineage.branched(state)
        twin = Agent(self.settings, self.arms[:1], policy=self.policy, feature_names=self.feature_names)
        twin._use(state)
        return twin

    __copy__ = copy

    def __deepcopy__(self, _: Any) -> "Agent":
        return self.copy()

    def delta(self) -> Delta:
        """What has been learnt since the last delta, or since the agent was made, loaded or copied.

        Pass it to another agent's `merge`. Workers that report regularly send one delta each time, and the agent that
        they report to merges these in order.

        Returns
        -------
        Delta
            An object to pickle, send and merge.
        """
        if self.settings.forgets:
            raise NotApplicable("an agent that forgets has no delta: what it has forgotten is not new")
        with self._closed():
            delta = lineage.reported(self._state, self._shape)
            self._state.lineage = replace(self._state.lineage, reported=delta.now)
            return delta

    @property
    def _shape(self) -> dict[str, Any]:
        """What agents must have in common to be merged."""
        settings = self.settings
        same = {name: getattr(settings, name) for name in ("n_features", "ridge", "intercept")}
        return {**same, "feature_names": self.feature_names}

    def _check_like(self, other: "Agent | Delta") -> None:
        if self.settings.forgets or (isinstance(other, Agent) and other.settings.forgets):
            raise NotApplicable("agents that forget cannot be merged: what one has forgotten the other cannot know")
        mine, theirs = self._shape, other._shape if isinstance(other, Agent) else other.shape
        for what in ("n_features", "ridge", "intercept"):
            if mine[what] != theirs[what]:
                raise InvalidParameter(f"other must have the same {what}, got {mine[what]!r} and {theirs[what]!r}")
        if mine["feature_names"] and theirs["feature_names"] and mine["feature_names"] != theirs["feature_names"]:
            raise InvalidParameter("other must have the same feature_names, in the same order")

    # Understanding

    def explain(self, x: Any, arm: Hashable) -> Explanation:
        """Which past contexts the arm's estimate for x rests on. Mean and width are those of `scores`.

        Parameters
        ----------
        x : (d,) or (K, d) array
            The context, as in `choose`.
        arm : hashable
            The arm.

        Returns
        -------
        Explanation
            The past contexts with their weights; it prints as a table.
        """
        with self._closed():
            k = self._arm(arm)
            rows, per_arm = self._inputs.context(x, len(self.arms))
            return explained(self._state, k, self._with_intercept(rows)[k * per_arm], self._remembered(k))

    def exploration(self, x: Any, *, only: Sequence[Hashable] | None = None) -> Exploration:
        """Whether a decision for x would explore. Nothing is decided.

        Parameters
        ----------
        x : (d,) or (K, d) array
            The context, as in `choose`.
        only : list, optional
            Names of the arms that may be chosen; all of them if left out.

        Returns
        -------
        Exploration
            The arm that would be chosen, the one with the largest mean, and the arms whose intervals overlap.
        """
        with self._lock:
            eligible = self._eligible(only)
            scores = self.scores(x)
            order = self._in_turn(scores.index[None].copy(), eligible)[0]
            share = self._shares(order[None], eligible)[0]
        index, mean = (np.where(eligible, values, -np.inf) for values in (scores.index, scores.mean))
        chosen, greedy = int(np.argmax(np.where(eligible, order, -np.inf))), int(np.argmax(mean))
        lower = 2 * mean[greedy] - index[greedy]
        reach = [scores.arms[k] for k in np.flatnonzero(index > lower) if k != greedy]
        strays = float(share[mean < mean[greedy]].sum())
        explores = chosen != greedy or bool(reach) or strays > LIKELY
        return Exploration(explores, scores.arms[chosen], scores.arms[greedy], tuple(reach), strays)

    def diversity(self) -> tuple[ArmKnowledge, ...]:
        """How well each arm is known: λ_min(V), how it grows, and the direction that has been seen least.

        Returns
        -------
        tuple of ArmKnowledge
            One entry per arm.
        """
        with self._closed():
            names = [*(self.feature_names or range(self.settings.n_features)), "intercept"]
            return tuple(arm_knowledge(self._state, k, names) for k in range(len(self.arms)))

    def eigenvalues(self) -> dict[Hashable, float]:
        """λ_min(V) of each arm: the number that `diversity` gives, but faster and without words.

        Returns
        -------
        dict
            The eigenvalues by the names of the arms.
        """
        with self._closed():
            grams = np.array([self._state.gram(k) for k in range(len(self.arms))], dtype=np.float64)
            return dict(zip(self.arms, np.linalg.eigvalsh(grams)[:, 0].tolist(), strict=True))

    def get_params(self) -> dict[str, Any]:
        """The options that the agent was made with.

        Returns
        -------
        dict
            The agent's options, by name.
        """
        names = ("seed", "intercept", "epsilon", "ties", "memory", "half_life", "window", "dtype")
        params = {"arms": list(self.arms), "n_features": self.settings.n_features, "feature_names": self.feature_names}
        return params | {name: getattr(self.settings, name) for name in names}

    def __repr__(self) -> str:
        policy = "" if self.policy is None else f" of {described(self.policy)}"
        sizes = f"{counted(len(self.arms), 'arm')}, {counted(self.settings.n_features, 'feature')}"
        counts = f"{counted(self.decisions, 'decision')}, {counted(self.rewards, 'reward')}"
        return f"<Agent{policy}: {sizes}, {counts}>"

    def _repr_html_(self) -> str:
        names = [*(self.feature_names or range(self.settings.n_features)), "intercept"]
        with self._closed():
            shown = [arm_knowledge(self._state, k, names) for k in range(min(len(self.arms), _html.MOST_ROWS))]
        rows = [[str(one.arm), f"{one.pulls:,.5g}", f"{one.eigenvalue:.4g}", one.words] for one in shown]
        head = ("arm", "pulls", "λ_min(V)", "where least is known")
        return _html.shown(repr(self).strip("<>"), head, rows, len(self.arms) - len(rows))

    def save(self, path: Any) -> None:
        """Write the agent to one file, whole or not at all; `armspan.load_agent` reads it.

        Parameters
        ----------
        path : str or path
            The file. An older one with this name stays in place until the new one is complete.
        """
        container.save(self.to_bytes(), path)

    def to_bytes(self) -> bytes:
        """What `save` writes, as bytes."""
        with self._closed():
            for k in np.flatnonzero(self._state.arms[:, layout.MODE] >= (self.settings.width + 1) // 2):
                self._state.check(int(k))  # another thread has filled its store and waits for us
            return files.encoded(self._state, self.policy, self.feature_names)

    @staticmethod
    def from_bytes(content: bytes) -> "Agent":
        """The agent that `to_bytes` was called on. It reads the same as `armspan.load_agent`, just as safely.

        Parameters
        ----------
        content : bytes
            What `to_bytes` returned.
        """
        agent: Agent = loader()(content)
        return agent

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return loader(), (self.to_bytes(),)

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

    def _looked_at(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and width (n, K) for many contexts, whose names are not yet kept; the agent is closed."""
        rows = self._inputs.batch(X, len(self.arms))
        mean, width = batch.look(self._state, self._with_intercept(rows))
        if not (np.isfinite(mean).all() and np.isfinite(width).all()):
            raise InvalidParameter(_first_bad("X", rows))
        return mean, width

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

    def _compare_sizes(self, state: State) -> None:
        """Warn where features of the contexts that are remembered differ much in size, if that matters."""
        if not self.settings.learnt:
            return
        seen = state.entries()
        if len(seen):
            self._inputs.compare_sizes(Sizes.of(seen[:, layout.FEATURES :], seen[:, layout.SEEN]))

    def _knowledge(self, state: State) -> tuple[Any, ...]:
        """The arrays that kernels are given: one, or in single precision two."""
        return (state.whole,) if self._double else (state.whole, state.store)

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

    def _remembered(self, k: int) -> FloatArray:
        """Rows (m, 4 + d) of memory on arm k; with a window, of what is in it."""
        if self._state.window is not None:
            return self._state.window.remembered(self._state, k)
        rows = self._state.entries(k)
        return rows[rows[:, layout.SEEN] > 0]

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
                    raise InvalidParameter(_first_bad("X", rows))
                plain = rows[:, : self.settings.n_features]
                with self._all_or_nothing() as state:
                    self._let_in(state, plain)
                    for k, x, reward in zip(chosen, plain, y, strict=True):
                        self._learn(state, int(k), np.ascontiguousarray(x), float(reward))
                self._learnt_many(rows)
                return
            seen, largest = batch.sums(rows, chosen, y, len(self.arms)), self.settings.largest**2
            if not all(np.abs(one.gram).max() < largest and np.abs(one.moment).max() < largest for one in seen):
                raise InvalidParameter(_first_bad("X", rows))
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

    def _as_statistics(self, prior: Statistics | tuple[Any, Any] | None) -> Statistics | None:
        if prior is None:
            return None
        d = self.settings.width
        if isinstance(prior, Statistics):
            gram = _validate.array("prior.gram", prior.gram, shape=(d, d))
            moment = _validate.array("prior.moment", prior.moment, shape=(d,))
            if not np.allclose(gram, gram.T) or np.linalg.eigvalsh(gram)[0] < -SINGLE * (
                np.trace(gram) + self.settings.ridge
            ):
                raise InvalidParameter("prior.gram must be a sum of xxᵀ: symmetric, with no eigenvalue below 0")
            pulls = _validate.real("prior.pulls", prior.pulls, at_least=0)
            return Statistics((gram + gram.T) / 2, moment, pulls, float(prior.squares))
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
        return Statistics(rows.T @ rows, rows.T @ y, float(len(rows)), float(y @ y))

    def _with_intercept(self, rows: FloatArray) -> FloatArray:
        if not self.settings.intercept:
            return rows
        return np.concatenate([rows, np.ones((*rows.shape[:-1], 1))], axis=-1)

    def _eligible(self, only: Sequence[Hashable] | None) -> Any:
        return eligible(self._state.place, only)

    def _arm(self, name: Hashable) -> int:
        return place_of(self._state.place, name)

    def _steps(self, n: int) -> FloatArray:
        """t of the next n decisions."""
        decisions, rewards, longest = self._state.head[[layout.DECISIONS, layout.REWARDS, layout.LONGEST]]
        return np.minimum(np.maximum(decisions + np.arange(n), rewards) + 1.0, longest)

    def _alphas(self, t: FloatArray) -> FloatArray:
        """α_t of these steps (n,)."""
        if self.settings.schedule is not None:
            steps, which = np.unique(t.astype(np.int64), return_inverse=True)  # with a window the last one repeats
            return self.settings.schedule(steps)[which]
        if self.settings.learnt:
            return self.settings.scale * self.noise * np.sqrt(np.log(t + 1.0))
        return self.settings.bias + self.settings.scale * np.sqrt(np.log(1.0 + t * np.log(t) ** 2))

    def _index(self, mean: FloatArray, width: FloatArray, alpha: Any) -> FloatArray:
        """What arms are compared by; see `agent_scores.exploration`."""
        beta = float(self._state.head[layout.UNIT]) / self.settings.width if self.settings.learnt else 0.0
        return np.asarray(mean + alpha * width + beta * width**2)

    def _set_alpha(self) -> None:
        """A schedule that only Python knows is written where kernels look for α."""
        if self.settings.schedule is not None:
            self._state.head[layout.BIAS], self._state.head[layout.SCALE] = self.alpha, 0.0


def _first_bad(name: str, rows: FloatArray) -> str:
    bad = np.argwhere(~np.isfinite(rows))
    if not len(bad):
        return f"{name} must be small enough that sums of squares are finite numbers"
    where = tuple(int(i) for i in bad[0])
    return f"{name} must be finite, got {rows[where]} at {list(where)}"
