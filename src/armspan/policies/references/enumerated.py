"""ILTCB and RandomizedUCB in NumPy: distributions over an enumerated class Π of policies, by importance weights.

Of a context only what each policy would do there matters, so rows in which all policies do the same are one row.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.errors import InvalidParameter


def acted(name: str, policy: Any, x: FloatArray) -> int:
    """The arm that a policy takes for features x (K, d): a fixed one, the greedy one of a θ, or what it returns."""
    if isinstance(policy, int):
        return policy
    if not callable(policy):
        return int(np.einsum("kd,kd->k", policy, x).argmax())
    arm = policy(x)
    if not (isinstance(arm, int | np.integer) and 0 <= arm < len(x)):
        raise InvalidParameter(f"{name} must return an arm from 0 to {len(x) - 1}, got {arm!r:.60}")
    return int(arm)


class History:
    """What N policies would have done and earned.

    actions : (n, N) the arms of all policies, one row for each kind of context. counts : (n,) how often it came.
    earned : (N,) Σ y·1[π(x) = a]/p of every policy.
    """

    def __init__(self, n_arms: int, policies: Sequence[Any], reward_range: tuple[float, float]) -> None:
        self.K, self._policies, (self._low, self._high) = n_arms, policies, reward_range
        self._rows: dict[bytes, int] = {}
        self._actions: list[IntArray] = []
        self._counts: list[float] = []
        self.steps, self.earned = 0, np.zeros(len(policies))

    def act(self, x: FloatArray) -> IntArray:
        """The arms (N,) of all policies."""
        return np.array([acted(f"policies[{j}]", policy, x) for j, policy in enumerate(self._policies)])

    def add(self, actions: IntArray, arm: int, p: float, reward: float) -> None:
        """Learn the reward of an arm that was drawn with probability p where policies act so."""
        row = self._rows.setdefault(actions.tobytes(), len(self._rows))
        if row == len(self._counts):
            self._actions.append(actions)
            self._counts.append(0.0)
        self._counts[row] += 1
        self.steps += 1
        self.earned += (reward - self._low) / (self._high - self._low) / p * (actions == arm)

    @property
    def actions(self) -> IntArray:
        return np.array(self._actions, dtype=np.int64).reshape(len(self._actions), len(self._policies))

    @property
    def shares(self) -> FloatArray:
        """How often each row of actions came, as parts of 1."""
        return np.array(self._counts) / max(self.steps, 1)

    def regrets(self) -> FloatArray:
        """R̂eg (N,) of every policy: how much less than the best it would have earned per step."""
        return np.asarray((self.earned.max() - self.earned) / max(self.steps, 1))


def spread(Q: FloatArray, actions: IntArray, K: int, mu: float) -> FloatArray:
    """Q^μ (n, K): the probability (1 - Kμ)Σ_{π(x)=a}Q(π) + μ of each arm, for actions (n, N)."""
    result = np.full((len(actions), K), mu)
    for a in range(K):
        result[:, a] += (1 - K * mu) * ((actions == a) @ Q)
    return result


def inverse_powers(
    Q: FloatArray, actions: IntArray, shares: FloatArray, K: int, mu: float
) -> tuple[FloatArray, FloatArray]:
    """V_π = Ê[1/Q^μ(π(x)|x)] and S_π, the same with squares, both (N,)."""
    taken = np.take_along_axis(spread(Q, actions, K, mu), actions, axis=1)
    return shares @ (1 / taken), shares @ (1 / taken**2)


def solve_op(
    actions: IntArray, shares: FloatArray, regrets: FloatArray, K: int, mu: float, Q: FloatArray | None = None
) -> tuple[FloatArray, int]:
    """Weights Q (N,) that solve (OP) of Agarwal et al. (2014), and in how many steps of coordinate descent.

    ΣQ <= 1, ΣQ(π)b_π <= 2K, and V_π <= 2K + b_π for every π, where b_π = R̂eg(π)/(100μ). Q : where to start, else 0.
    """
    b = regrets / (100 * mu)
    Q = np.zeros(len(regrets)) if Q is None else Q.copy()
    steps = 0
    while True:
        load = Q @ (2 * K + b)
        if load > 2 * K:
            Q *= 2 * K / load
        V, S = inverse_powers(Q, actions, shares, K, mu)
        D = V - 2 * K - b
        worst = int(D.argmax())
        if D[worst] <= 0:
            return Q, steps
        Q[worst] += (V[worst] + D[worst]) / (2 * (1 - K * mu) * S[worst])
        steps += 1


class ILTCBReference:
    """Algorithm 1 of Agarwal et al. (2014); epochs end at steps 1, 2, 4, 8, ….

    mark : the probabilities (K,) when the arm was chosen whose reward is learnt next; None means those of now.
    """

    learns_late: ClassVar[bool] = True
    mark: FloatArray | None = None

    def __init__(
        self, *, n_arms: int, policies: Sequence[Any], reward_range: tuple[float, float], delta: float
    ) -> None:
        self.history, self._delta = History(n_arms, policies, reward_range), delta
        self.Q, self.mu, self.best = np.zeros(len(policies)), 1 / (2 * n_arms), 0

    def probabilities(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """Q̃^μ (K,), where Q̃ is Q and what it lacks to 1 on the best policy so far."""
        return self._drawn_from(self.history.act(x))

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        actions = self.history.act(x)
        p = self._drawn_from(actions) if self.mark is None else self.mark
        self.history.add(actions, arm, float(p[arm]), reward)
        if self.history.steps & (self.history.steps - 1) == 0:
            self._end_epoch()

    def _drawn_from(self, actions: IntArray) -> FloatArray:
        whole = self.Q.copy()
        whole[self.best] += max(1 - self.Q.sum(), 0.0)
        return np.asarray(spread(whole, actions[None], self.history.K, self.mu)[0])

    def _end_epoch(self) -> None:
        past, tau = self.history, self.history.steps
        N, K = len(self.Q), past.K
        self.mu = min(1 / (2 * K), math.sqrt(math.log(16 * tau**2 * N / self._delta) / (K * tau)))
        self.Q, _ = solve_op(past.actions, past.shares, past.regrets(), K, self.mu, self.Q)
        self.best = int(past.earned.argmax())


class CuttingPlanes:
    """Minimises cost·P over distributions P (N,) and the half-spaces added so far, by the dual simplex method.

    Rows of the table are the basic variables', its columns P, then the slack of each half-space, then their values.
    """

    def __init__(self, cost: FloatArray) -> None:
        first = int(cost.argmin())
        self._N, self._basis = len(cost), [first]
        self._table = np.ones((1, len(cost) + 1))
        self._cost = np.append(cost - cost[first], -cost[first])

    def minimiser(self) -> FloatArray:
        """The distribution P (N,) over the policies."""
        values = np.zeros(max(self._N, max(self._basis) + 1))
        values[self._basis] = self._table[:, -1]
        P = np.maximum(values[: self._N], 0.0)
        return np.asarray(P / P.sum())

    def add(self, normal: FloatArray, limit: float) -> bool:
        """Add normal·P <= limit, and find the minimiser again; false where nothing is left."""
        size = np.abs(normal).max()
        row = np.concatenate([normal / size, np.zeros(self._table.shape[1] - self._N - 1), [1.0, limit / size]])
        self._table = np.insert(self._table, -1, 0.0, axis=1)
        self._cost = np.insert(self._cost, -1, 0.0)
        row -= row[self._basis] @ self._table
        self._table = np.vstack([self._table, row])
        self._basis.append(row.size - 2)
        while self._table[:, -1].min() < -1e-12:
            leaves = int(self._table[:, -1].argmin())
            down = self._table[leaves, :-1]
            able = np.flatnonzero(down < -1e-12)
            if not able.size:
                return False
            enters = int(able[np.argmin(self._cost[able] / -down[able])])
            self._pivot(leaves, enters)
        return True

    def _pivot(self, leaves: int, enters: int) -> None:
        self._table[leaves] /= self._table[leaves, enters]
        others = np.arange(len(self._table)) != leaves
        self._table[others] -= np.outer(self._table[others, enters], self._table[leaves])
        self._cost -= self._cost[enters] * self._table[leaves]
        self._basis[leaves] = enters


def worst_mixture(V: FloatArray, regrets: FloatArray, K: int, kappa: float) -> tuple[float, FloatArray, float]:
    """The distribution Q over policies with the largest ΣQ(π)V_π - max(4K, κ(ΣQ(π)R̂eg(π))²): that, Q and the max.

    At a fixed ΣQ·R̂eg a best Q has two policies. Along such a pair the difference is concave: it is largest at an end,
    where κs² passes 4K, or where the slope of V is that of κs².
    """
    left, right = np.triu_indices(len(V))
    width, rise = regrets[right] - regrets[left], V[right] - V[left]
    with np.errstate(divide="ignore", invalid="ignore"):
        kink = (math.sqrt(4 * K / kappa) - regrets[left]) / width if kappa > 0 else np.zeros(width.size)
        flat = (rise / width / (2 * kappa) - regrets[left]) / width if kappa > 0 else np.zeros(width.size)
    best, Q, limit = -math.inf, np.zeros(len(V)), 0.0
    for part in (np.zeros(width.size), np.ones(width.size), kink, flat):
        part = np.clip(np.nan_to_num(part, nan=0.0), 0.0, 1.0)
        limits = np.maximum(4 * K, kappa * (regrets[left] + part * width) ** 2)
        over = V[left] + part * rise - limits
        at = int(over.argmax())
        if over[at] > best:
            best, limit, Q = float(over[at]), float(limits[at]), np.zeros(len(V))
            Q[left[at]] += 1 - part[at]
            Q[right[at]] += part[at]
    return best, Q, limit


def solve_randomized(
    actions: IntArray, shares: FloatArray, regrets: FloatArray, K: int, mu: float, kappa: float
) -> FloatArray:
    """P (N,) with the least ΣP(π)R̂eg(π) such that for all Q: ΣQ(π)V_π <= max(4K, κ(ΣQ(π)R̂eg(π))²) + K.

    V_π = Ê[1/((1 - Kμ)P(π(x)|x) + μ)] is convex in P: where a Q is violated, its tangent cuts P off. What is left
    contains all solutions without the slack K, so P costs no more than the best of those.
    """
    planes = CuttingPlanes(regrets)
    while True:
        P = planes.minimiser()
        taken = np.take_along_axis(spread(P, actions, K, mu), actions, axis=1)
        over, Q, limit = worst_mixture(shares @ (1 / taken), regrets, K, kappa)
        if over <= K:
            return P
        steep = (shares[:, None] / taken**2) * Q  # (n, N)
        slope = np.zeros(len(P))
        for a in range(K):
            slope -= (1 - K * mu) * (steep * (actions == a)).sum(axis=1) @ (actions == a)
        if not planes.add(slope, float(limit - Q @ (shares @ (1 / taken)) + slope @ P)):
            return P


class RandomizedUCBReference:
    """Algorithm 2 of Dudík et al. (2011): another program, solved at every step. mark : as above."""

    learns_late: ClassVar[bool] = True
    mark: FloatArray | None = None

    def __init__(
        self, *, n_arms: int, policies: Sequence[Any], reward_range: tuple[float, float], delta: float
    ) -> None:
        self.history, self._delta = History(n_arms, policies, reward_range), delta
        self.P: FloatArray | None = None

    def constants(self, t: int) -> tuple[float, float]:
        """C_t = 2 log(Nt/δ) and μ_t = min(1/(2K), √(C_t/(2Kt)))."""
        K, C = self.history.K, 2 * math.log(len(self.history.earned) * t / self._delta)
        return C, min(1 / (2 * K), math.sqrt(C / (2 * K * t)))

    def probabilities(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """(1 - Kμ_t)P + μ_t of every arm."""
        return self._drawn_from(self.history.act(x))

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        actions = self.history.act(x)
        p = self._drawn_from(actions) if self.mark is None else self.mark
        self.history.add(actions, arm, float(p[arm]), reward)
        self.P = None

    def _drawn_from(self, actions: IntArray) -> FloatArray:
        past, t = self.history, self.history.steps + 1
        mu = self.constants(t)[1]
        if self.P is None:
            kappa = (t - 1) / (180 * self.constants(t - 1)[0]) if t > 1 else 0.0
            self.P = solve_randomized(past.actions, past.shares, past.regrets(), past.K, mu, kappa)
        return np.asarray(spread(self.P, actions[None], past.K, mu)[0])
