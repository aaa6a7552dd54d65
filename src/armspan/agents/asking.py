"""What a tuned agent is asked: which arm, with what probability, and how good it thinks each one is."""

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray
from armspan.agents import batch
from armspan.agents.answers import LIKELY, Decision, Decisions, Exploration, Scores
from armspan.agents.held import BAD_SHAPE, DOUBLES, REFUSED, Held, first_bad, ndarray
from armspan.errors import InvalidParameter, NotApplicable
from armspan.kernels import agent_choice, agent_scores
from armspan.kernels import agent_layout as layout
from armspan.kernels.choice import recurring, turn


class Asking(Held):
    """The questions of a tuned agent; `armspan.Agent` has its parameters."""

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

    # Inside

    def _looked_at(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and width (n, K) for many contexts, whose names are not yet kept; the agent is closed."""
        rows = self._inputs.batch(X, len(self.arms))
        mean, width = batch.look(self._state, self._with_intercept(rows))
        if not (np.isfinite(mean).all() and np.isfinite(width).all()):
            raise InvalidParameter(first_bad("X", rows))
        return mean, width

    def _shares(self, index: FloatArray, eligible: Any) -> FloatArray:
        """The probability (n, K) of each arm by its index (n, K)."""
        index, epsilon = np.where(eligible, index, -np.inf), self.settings.epsilon
        best = index.max(axis=1, keepdims=True)
        within, unit = self._state.head[[layout.TIED_WITHIN, layout.UNIT]]
        finite = np.where(np.isfinite(best), best, 0.0)
        tied = index >= np.where(np.isfinite(best), finite - within * (unit + np.abs(finite)), best)
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
