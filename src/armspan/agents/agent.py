"""The agent: choose an arm for a context, and learn from rewards that come at once, late or never."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from armspan import _html, _validate
from armspan._text import counted
from armspan._typing import FloatArray
from armspan.agents import container, files, lineage
from armspan.agents.answers import ArmKnowledge
from armspan.agents.arms import distinct
from armspan.agents.asking import Asking
from armspan.agents.explanation import Explanation, explained
from armspan.agents.held import first_bad
from armspan.agents.knowledge import arm_knowledge
from armspan.agents.learning import Learning
from armspan.agents.lineage import Delta
from armspan.agents.policies import described, loader
from armspan.agents.state import Statistics
from armspan.errors import InvalidParameter, NotApplicable
from armspan.kernels import agent_layout as layout

SINGLE = 1e-5
"""How far below 0 eigenvalues of sums in single precision may fall by rounding, relative to the largest."""


class Agent(Asking, Learning):
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

    # Keeping

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

    def _remembered(self, k: int) -> FloatArray:
        """Rows (m, 4 + d) of memory on arm k; with a window, of what is in it."""
        if self._state.window is not None:
            return self._state.window.remembered(self._state, k)
        rows = self._state.entries(k)
        return rows[rows[:, layout.SEEN] > 0]

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
            pulls, squares = _validate.real("prior.pulls", prior.pulls, at_least=0), float(prior.squares)
            if squares < 0 or (squares > 0 and not squares < self.settings.largest**2 * min(pulls, 1.0)):
                raise InvalidParameter(
                    f"prior.squares must be the sum of squared rewards, or NaN where it is not known, got {squares:g}"
                )
            return Statistics((gram + gram.T) / 2, moment, pulls, squares)
        if not isinstance(prior, tuple) or len(prior) != 2:
            raise InvalidParameter(f"prior must be statistics of an arm or a pair (X, rewards), got {prior!r:.60}")
        X, rewards = prior
        rows = self._inputs.batch(X, len(self.arms))
        if rows.ndim != 2:
            raise InvalidParameter(f"prior X must have shape (n, {self.settings.n_features}), got shape {rows.shape}")
        rows = self._with_intercept(rows)
        y = _validate.array("prior rewards", rewards, shape=(len(rows),))
        if not np.isfinite(rows).all():
            raise InvalidParameter(first_bad("prior X", rows))
        return Statistics(rows.T @ rows, rows.T @ y, float(len(rows)), float(y @ y))
