"""Sequences of operations on agents by chance, compared with sums and a Cholesky factor in long double."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import armspan
from armspan.agents import Agent
from benchmarks.adversary import Fault, Report, demand

POOL = 4
"""Agents of one sequence at most: copies, strangers, and copies of strangers."""
WIDTH_FACTOR, MEAN_FACTOR = 64.0, 16.0
"""Tolerances are factor · eps · κ, with κ = λ_max(V)/ridge the largest condition number that V can have had so far.

V⁻¹ begins as I/ridge, and what Sherman-Morrison loses while V is ill-conditioned stays until V⁻¹ is mended.

A sum of n terms is wrong by up to n·eps, and one Sherman-Morrison step by a few eps·κ relative to V⁻¹; errors of steps
have either sign. docs/agents.md promises widths to about 10·eps·κ after 3·10⁵ pulls (float32: 10⁻⁶·κ = 8·eps·κ). The
mean is xᵀV⁻¹Σyx, at most width·√Σy²: that is its scale. All rewards ever seen count in √Σy², for sums that cancel
leave their rounding behind.
"""
TIED, TIED_BESIDE = {"float64": 1e-9, "float32": 1e-4}, {"float64": 4e-12, "float32": 2e-5}
"""Relative to the index, and to the size of rewards: within this, arms may count as tied."""


@dataclass
class Seen:
    """One reward of an arm, and how much it counts."""

    x: Any
    y: Any
    weight: Any


@dataclass
class Model:
    """What an agent should hold: rewards of each arm by an id that copies share, and the ids of what it counts."""

    arms: dict[Hashable, dict[int, Seen]]
    rewards: set[int] = field(default_factory=set)
    decisions: set[int] = field(default_factory=set)
    removed: bool = False
    single: bool = False
    order: list[tuple[Hashable, int]] = field(default_factory=list)  # of the window
    learnt: int = 0
    steps: int = 0
    squares: float = 0.0  # of all rewards ever seen
    counts_decisions: bool = True
    family: frozenset[int] = frozenset()  # ids of all agents whose rewards it may hold

    def copy(self) -> "Model":
        """The same once more."""
        arms = {name: dict(seen) for name, seen in self.arms.items()}
        rest = self.removed, self.single, list(self.order), self.learnt, self.steps, self.squares
        return Model(arms, set(self.rewards), set(self.decisions), *rest, self.counts_decisions, self.family)

    @property
    def reward_size(self) -> float:
        """The root mean square of the rewards that count."""
        seen = [one for rewards in self.arms.values() for one in rewards.values()]
        weight = sum(one.weight for one in seen)
        return math.sqrt(sum(one.weight * one.y**2 for one in seen) / weight) if weight else 0.0

    def join(self, other: "Model") -> None:
        """All that two hold, what they share once."""
        for name, seen in other.arms.items():
            self.arms[name] = {**seen, **self.arms.get(name, {})}
        self.rewards |= other.rewards
        self.decisions |= other.decisions
        self.removed |= other.removed
        self.single |= other.single
        self.squares += other.squares
        self.counts_decisions &= other.counts_decisions
        self.family |= other.family


class Sequence:
    """One sequence: settings, a pool of agents with their models, and operations on them."""

    def __init__(self, seed: int, report: Report) -> None:
        self.rng, self.report, self.seed, self.ids, self.log = np.random.default_rng(seed), report, seed, 0, ""
        rng = self.rng
        self.d, self.K = int(rng.integers(1, 13)), int(rng.integers(1, 13))
        if rng.random() < 0.1:  # enough of both that arms which cannot win are skipped
            self.d, self.K = int(rng.integers(16, 25)), int(rng.integers(8, 13))
        self.dtype = str(rng.choice(["float64", "float64", "float32"]))
        self.intercept, self.epsilon = bool(rng.random() < 0.3), float(rng.choice([0.0, 0.0, 0.2, 1.0]))
        self.ties = str(rng.choice(["first", "random"]))
        self.bound = 10 ** rng.uniform(-3, 3)
        self.long = math.hypot(self.bound, self.intercept)
        self.forgetting: dict[str, Any] = {}
        if rng.random() < 0.3:
            half_life, window = float(rng.choice([0.5, 3.0, 32.0, 50.0, 200.0])), int(rng.choice([1, 5, 30, 100]))
            self.forgetting = {"half_life": half_life} if rng.random() < 0.5 else {"window": window}
        self.policy = self._policy()
        self.pool: list[tuple[Agent, Model]] = [self._fresh()]
        self.directions = self._directions()
        self.reward_scale = 10 ** rng.uniform(-13, 6)
        self.mixed = bool(rng.random() < 0.2)

    def _policy(self) -> Any:
        rng, l = self.rng, self.bound
        kind = rng.integers(3)
        if kind == 0:
            self.ridge = self.long**2
            return armspan.Greedy(feature_bound=l)
        bounds: dict[str, Any] = {"alpha": float(rng.choice([0.0, 0.5, 3.0]))}
        if rng.random() < 0.6:
            bounds = {"parameter_bound": 10 ** rng.uniform(-3, 3), "noise_scale": float(rng.choice([0.0, 0.5, 2.0]))}
        self.bounds = bounds
        if kind == 1 or rng.random() < 0.3:
            self.ridge = self.long**2
            return (armspan.LinUCBd if kind == 1 else armspan.LinUCB)(feature_bound=l, **bounds)
        lowest = -10 if self.dtype == "float64" else -3
        self.ridge = 10 ** rng.uniform(lowest + 0.01, 2) * self.long**2
        return armspan.LinUCB(feature_bound=l, ridge=self.ridge, **bounds)

    def _fresh(self) -> tuple[Agent, Model]:
        start = int(self.rng.integers(3))
        names = range(start, start + self.K)
        options: dict[str, Any] = {"intercept": self.intercept, "epsilon": self.epsilon, "ties": self.ties}
        options |= {"memory": int(self.rng.choice([0, 4, 256])), "dtype": self.dtype, "seed": int(self.rng.integers(9))}
        agent = self.policy.agent(arms=list(names), n_features=self.d, **options, **self.forgetting)
        return agent, Model(
            {name: {} for name in names}, single=self.dtype == "float32", family=frozenset([self._id()])
        )

    def _directions(self) -> Any:
        """Contexts that recur, of one of several kinds."""
        rng, d = self.rng, self.d
        rows: Any = rng.standard_normal((8, d))
        kind = rng.integers(6)
        if kind == 1:
            rows = np.eye(d)[rng.integers(d, size=8)]
        elif kind == 2:
            rows *= 10 ** rng.uniform(-3, 0, size=d)
        elif kind == 3:
            rows = rng.standard_normal(d) + 10 ** rng.uniform(-8, -1) * rows
        elif kind == 4:
            rows *= 10 ** rng.uniform(-3, 0, size=(8, 1))
        elif kind == 5:
            rows = np.abs(np.round(rows))
        return rows * (self.bound * (1 - 1e-12) / max(np.linalg.norm(rows, axis=1).max(), 1e-300))

    def _x(self) -> Any:
        """A context: one that recurs, or a fresh one."""
        rng = self.rng
        x = self.directions[rng.integers(8)].copy()
        if rng.random() < 0.3:
            x = x * rng.uniform(-1, 1, size=self.d)
        return x if rng.random() < 0.98 else 0.0 * x

    def _y(self) -> float:
        rng = self.rng
        scale = 10 ** rng.uniform(-13, 6) if self.mixed else self.reward_scale
        return float(scale * rng.choice([rng.standard_normal(), 1.0, 0.0, -1.0]))

    def _wide(self, x: Any) -> Any:
        x = np.asarray(x, dtype=np.longdouble)
        return np.append(x, np.longdouble(1)) if self.intercept else x

    def _id(self) -> int:
        self.ids += 1
        return self.ids

    # What a model does

    def _forget(self, model: Model) -> None:
        """The steps of a half-life: before a reward, when as many were learnt since the last step."""
        half_life = self.forgetting.get("half_life")
        if half_life is None:
            return
        every = max(int(half_life / 32), 1)
        if (model.steps + 1) * every <= model.learnt:
            model.steps += 1
            for name, seen in model.arms.items():
                factor = np.longdouble(0.5 ** (every / half_life))
                model.arms[name] = {key: Seen(one.x, one.y, one.weight * factor) for key, one in seen.items()}

    def _learn(self, model: Model, arm: Hashable, x: Any, y: float) -> None:
        self._forget(model)
        key = self._id()
        model.arms[arm][key] = Seen(self._wide(x), np.longdouble(y), np.longdouble(1))
        model.rewards.add(key)
        model.learnt += 1
        model.squares += y * y
        window = self.forgetting.get("window")
        if window is not None:
            model.order.append((arm, key))
            while len(model.order) > window:
                old, key = model.order.pop(0)
                del model.arms[old][key]

    def _truth(self, model: Model, rows: Any) -> tuple[Any, Any, Any, Any]:
        """Mean and width of every arm in long double, and how far off they may be."""
        eps = float(np.finfo(np.float32 if model.single else np.float64).eps)
        window = min(self.forgetting.get("window", 0), model.learnt)
        mean, width, off_mean, off_width = np.zeros((4, len(model.arms)), dtype=np.longdouble)
        d, now = self.d + self.intercept, np.zeros(len(model.arms))
        for k, seen in enumerate(model.arms.values()):
            x, ridge = self._wide(rows[k] if rows.ndim == 2 else rows), np.longdouble(self.ridge)
            X = np.array([one.x for one in seen.values()], dtype=np.longdouble).reshape(len(seen), d)
            w = np.array([one.weight for one in seen.values()], dtype=np.longdouble)
            y = np.array([one.y for one in seen.values()], dtype=np.longdouble)
            V, b = ridge * np.eye(d, dtype=np.longdouble) + (X * w[:, None]).T @ X, X.T @ (w * y)
            L = _cholesky(V)
            half = _forward(L, x)
            mean[k], width[k] = half @ _forward(L, b), np.sqrt(half @ half)
            values = np.linalg.eigvalsh(V.astype(np.float64))
            largest = max(float(values[-1]), self.ridge + window * self.long**2)  # what left may have been larger
            condition, now[k] = largest / self.ridge, values[-1] / max(values[0], self.ridge)
            off_width[k] = WIDTH_FACTOR * eps * condition * width[k]
            off_mean[k] = MEAN_FACTOR * eps * condition * width[k] * math.sqrt(model.squares)
        self.conditions = now
        return mean, width, off_mean, off_width

    # Operations

    def learn(self, agent: Agent, model: Model) -> None:
        """One reward, in one of the forms that update takes."""
        rng, names = self.rng, list(model.arms)
        arm, y = names[rng.integers(len(names))], self._y()
        x = self._x()
        form = rng.integers(5)
        if form == 0:
            agent.update(arm, x.tolist(), y)
        elif form == 1:
            rows = np.array([self._x() for _ in names])
            rows[names.index(arm)] = x
            agent.update(arm, rows, y)
        elif form == 2:
            agent.update(arm, np.repeat(x, 2)[::2], np.float64(y))
        else:
            agent.update(arm, x, y)
        self._learn(model, arm, x, y)

    def repeat(self, agent: Agent, model: Model) -> None:
        """One context many times."""
        names, x = list(model.arms), self._x()
        arm = names[self.rng.integers(len(names))]
        for _ in range(int(self.rng.integers(1, 120))):
            y = self._y()
            agent.update(arm, x, y)
            self._learn(model, arm, x, y)

    def batch(self, agent: Agent, model: Model) -> None:
        """Many rewards at once."""
        rng, names, n = self.rng, list(model.arms), int(self.rng.integers(1, 80))
        arms, X, y = [names[k] for k in rng.integers(len(names), size=n)], [self._x() for _ in range(n)], self._ys(n)
        rows = np.array(X)
        if rng.random() < 0.3:
            rows = np.array([[self._x() for _ in names] for _ in range(n)])
            rows[np.arange(n), [names.index(arm) for arm in arms]] = X
        agent.update(arms if rng.random() < 0.5 else np.array(arms), rows, y if rng.random() < 0.5 else np.array(y))
        for one in zip(arms, X, y, strict=True):
            self._learn(model, *one)

    def _ys(self, n: int) -> list[float]:
        return [self._y() for _ in range(n)]

    def choose(self, agent: Agent, model: Model) -> None:
        """A decision must be for an arm that has the best index, up to rounding."""
        rng, names = self.rng, list(model.arms)
        rows = np.array([self._x() for _ in names]) if rng.random() < 0.3 else self._x()
        only = None
        if rng.random() < 0.3:
            only = [names[k] for k in rng.choice(len(names), size=rng.integers(1, len(names) + 1), replace=False)]
        alpha, share = agent.alpha, agent.propensities(rows, only=only)
        demand(abs(share.sum() - 1) < 1e-12, f"propensities sum to {share.sum()}")
        demand((share >= 0).all(), f"propensities {share}")
        eligible = [name in only if only else True for name in names]
        demand(not share[np.invert(eligible)].any(), f"an arm that is not eligible has propensity: {share}")
        kind, propensity = rng.integers(4), math.nan
        if kind == 0:
            arm = agent.choose(rows, only=only)
        elif kind == 1:
            decision = agent.decide(rows, only=only)
            arm, propensity = decision.arm, decision.propensity
        elif kind == 2:
            decisions = agent.decide_many(rows[None], only=only)
            arm, propensity = decisions.arms[0], float(decisions.propensities[0])
        else:
            arm = agent.choose_many(rows[None], only=only)[0] if only else agent.choose(rows)
        model.decisions.add(self._id())
        k = names.index(arm)
        demand(eligible[k], f"arm {arm} is not eligible")
        demand(share[k] > 0, f"arm {arm} was chosen with propensity 0")
        mean, width, off_mean, off_width = self._truth(model, rows)
        index, off = mean + alpha * width, off_mean + alpha * off_width
        best = np.max(np.where(eligible, index - off, -np.inf))
        precision = "float32" if model.single else "float64"
        slack = TIED[precision] * max(abs(best), abs(index[k])) + TIED_BESIDE[precision] * model.reward_size
        is_best = bool(index[k] + off[k] >= best - slack)
        floor = self.epsilon / sum(eligible)
        if not math.isnan(propensity):
            same = abs(propensity - share[k]) < 1e-9
            clear = _gap(index, off, eligible) > 2 * slack
            demand(same or not clear, f"propensity {propensity}, and propensities() said {share[k]}")
            demand(propensity >= floor * (1 - 1e-9), f"propensity {propensity} is below ε/K = {floor}")
            demand(propensity <= floor * (1 + 1e-9) or is_best, f"propensity {propensity} for a worse arm")
        what = f"chose {arm} with index {index[k]:.17g}, and {best:.17g} was there (± {off[k]:.3g})"
        demand(is_best or self.epsilon, what)
        if self.ties == "first" and not self.epsilon and rows.ndim == 1 and "window" not in self.forgetting:
            twins = [name for name in names[:k] if not model.arms[name] and eligible[names.index(name)]]
            demand(model.arms[arm] or not twins, f"chose {arm}, and {twins} are before it and the same")

    def top(self, agent: Agent, model: Model) -> None:
        """The best arms in order."""
        n, x, alpha = int(self.rng.integers(1, len(model.arms) + 1)), self._x(), agent.alpha
        best = agent.top(x, n)
        model.decisions.add(self._id())
        mean, width, off_mean, off_width = self._truth(model, x)
        index, off = mean + alpha * width, off_mean + alpha * off_width
        order = [list(model.arms).index(arm) for arm in best]
        rest = [k for k in range(len(index)) if k not in order]
        demand(len(set(order)) == n, f"top gave {best}")
        for place, k in enumerate(order):
            later = [*order[place + 1 :], *rest]
            demand(all(index[k] + off[k] >= index[j] - off[j] for j in later), f"top gave {best} for {index}")

    def add_arm(self, agent: Agent, model: Model) -> None:
        """A new arm: unknown, like another one, with a log, or with another agent's statistics."""
        rng = self.rng
        name = int(rng.integers(30))
        if name in model.arms or len(model.arms) >= 12:
            return
        kind = 0 if "window" in self.forgetting else rng.integers(4)
        weight = float(rng.choice([1.0, 0.1, rng.uniform(0.01, 1)]))
        if kind == 0:
            agent.add_arm(name)
            model.arms[name] = {}
            return
        if kind == 1:
            like = list(model.arms)[rng.integers(len(model.arms))]
            agent.add_arm(name, like=like, weight=weight)
            seen = list(model.arms[like].values())
        elif kind == 2:
            X, y = np.array([self._x() for _ in range(int(rng.integers(1, 30)))]), []
            y = self._ys(len(X))
            agent.add_arm(name, prior=(X, y), weight=weight)
            seen = [Seen(self._wide(x), np.longdouble(one), np.longdouble(1)) for x, one in zip(X, y, strict=True)]
            model.squares += sum(one**2 for one in y)
        else:
            other, theirs = self.pool[rng.integers(len(self.pool))]
            arm = list(theirs.arms)[rng.integers(len(theirs.arms))]
            try:
                agent.add_arm(name, prior=other.statistics(arm), weight=weight)
            except armspan.ArmspanError as error:
                self.report.fault(self.seed, f"add_arm refused statistics of another agent: {error} [{self}]")
                return
            seen = list(theirs.arms[arm].values())
            model.squares += theirs.squares
            model.single |= theirs.single
        model.arms[name] = {self._id(): Seen(one.x, one.y, one.weight * np.longdouble(weight)) for one in seen}

    def remove_arm(self, agent: Agent, model: Model) -> None:
        """An arm goes, and in a window its rewards."""
        if len(model.arms) == 1:
            return
        name = list(model.arms)[self.rng.integers(len(model.arms))]
        agent.remove_arm(name)
        del model.arms[name]
        model.order = [entry for entry in model.order if entry[0] != name]
        model.removed = True

    def copy(self, agent: Agent, model: Model) -> None:
        """A relative, in the pool."""
        self._pool(agent.copy(), model.copy())

    def reload(self, agent: Agent, model: Model) -> None:
        """A loaded agent goes on bit for bit; it takes the place of the saved one, or joins the pool."""
        twin = Agent.from_bytes(agent.to_bytes())
        self._twins(agent, twin)
        theirs = set(model.decisions)
        for _ in range(3):
            x, y = self._x(), self._y()
            one, other = agent.choose(x), twin.choose(x)
            model.decisions.add(self._id())
            theirs.add(self._id())
            demand(one == other, f"a loaded agent chose {other}, the saved one {one}")
        if self.rng.random() < 0.3:
            for _ in range(int(self.rng.integers(1, 10))):
                x, y = self._x(), self._y()
                arm = list(model.arms)[self.rng.integers(len(model.arms))]
                agent.update(arm, x, y)
                twin.update(arm, x, y)
                self._learn(model, arm, x, y)
            self._twins(agent, twin)
            where = next(k for k, pair in enumerate(self.pool) if pair[0] is agent)
            model.decisions = theirs
            self.pool[where] = twin, model
        else:
            copy = model.copy()
            copy.decisions = theirs
            self._pool(twin, copy)

    def _twins(self, agent: Agent, twin: Agent) -> None:
        x = self._x()
        one, other = agent.scores(x), twin.scores(x)
        demand(np.array_equal(one.index, other.index) and one.arms == other.arms, "a loaded agent scores differently")
        demand(agent.rewards == twin.rewards and agent.decisions == twin.decisions, "a loaded agent counts differently")

    def stranger(self, _: Agent, __: Model) -> None:
        """An agent that has nothing in common with the others."""
        self._pool(*self._fresh())

    def _pool(self, agent: Agent, model: Model) -> None:
        if len(self.pool) == POOL:
            self.pool.pop(self.rng.integers(POOL))
        self.pool.append((agent, model))

    def merge(self, agent: Agent, model: Model) -> None:
        """With another of the pool, whole or by a delta: all that both hold, or refused and nothing changed."""
        other, theirs = self.pool[self.rng.integers(len(self.pool))]
        related, whole = model.family & theirs.family, self.rng.random() < 0.6
        if other is agent or self.forgetting or (related and (model.removed or theirs.removed)):
            return
        if set(model.arms) | set(theirs.arms) > set(range(40)):
            return
        self.report.count("merges")
        try:
            agent.merge(other if whole else other.delta())
        except armspan.ArmspanError:
            self.report.count("merges refused")
            demand(related or not whole, "strangers were not merged")
            return
        mine = len(model.decisions)
        model.join(theirs)
        if missing := [name for name in model.arms if name not in agent.arms]:
            self.report.fault(self.seed, f"a merge did not add new arms {missing}")
            for name in missing:
                demand(not model.arms.pop(name), f"and they had rewards: {missing}")
        right = len(model.decisions)
        if model.counts_decisions and agent.decisions != right:
            model.counts_decisions = False
            what = "lost" if agent.decisions < right else "counted twice"
            numbers = f"{mine} and {len(theirs.decisions)} became {agent.decisions}, not {right}"
            self.report.fault(
                self.seed, f"a merge {what} decisions: {numbers} ({'relatives' if related else 'strangers'})"
            )

    def check(self, agent: Agent, model: Model) -> None:
        """Counters, sums, means, widths, indices and α."""
        demand(list(agent.arms) == list(model.arms), f"arms {agent.arms}, not {list(model.arms)}")
        demand(agent.rewards == len(model.rewards), f"{agent.rewards} rewards, not {len(model.rewards)}")
        right = agent.decisions == len(model.decisions) or not model.counts_decisions
        demand(right, f"{agent.decisions} decisions, not {len(model.decisions)}")
        alpha = self._alpha(model, agent.decisions)
        demand(abs(agent.alpha - alpha) <= 1e-12 * alpha, f"alpha {agent.alpha}, not {alpha}")
        rows = np.array([self._x() for _ in model.arms]) if self.rng.random() < 0.3 else self._x()
        mean, width, off_mean, off_width = self._truth(model, rows)
        many = agent.scores_many(rows[None])
        for what, scores in (("scores", agent.scores(rows)), ("scores_many", many)):
            got = np.ravel(scores.mean), np.ravel(scores.width), np.ravel(scores.index)
            demand(all(np.isfinite(one).all() for one in got), f"{what} are not finite: {got}")
            for k, arm in enumerate(model.arms):
                self._near(f"{what}: mean of {arm}", got[0][k], mean[k], off_mean[k])
                self._near(f"{what}: width of {arm}", got[1][k], width[k], off_width[k])
                if self.conditions[k] < 100 and width[k] > 0 and not model.single:
                    error = float(abs(got[1][k] - width[k]) / width[k])
                    self.report.largest("relative error of a float64 width where V's condition is below 100", error)
                index, off = mean[k] + alpha * width[k], off_mean[k] + alpha * off_width[k]
                self._near(f"{what}: index of {arm}", got[2][k], index, off)
        if rows.ndim == 1:
            self._explained(agent, model, rows, mean, width, off_mean, off_width)
        for arm, seen in model.arms.items():
            pulls = float(sum(one.weight for one in seen.values()))
            got_pulls = agent.statistics(arm).pulls
            demand(abs(got_pulls - pulls) <= 1e-9 * max(pulls, 1), f"arm {arm} has {got_pulls} pulls, not {pulls}")

    def _explained(self, agent: Agent, model: Model, x: Any, *truth: Any) -> None:
        """An explanation has the mean and width of the scores, and no context more often than it was seen."""
        k = int(self.rng.integers(len(model.arms)))
        arm, seen = list(model.arms.items())[k]
        why = agent.explain(x, arm)
        mean, width, off_mean, off_width = (one[k] for one in truth)
        self._near(f"explain: mean of {arm}", why.mean, mean, off_mean)
        self._near(f"explain: width of {arm}", why.width, width, off_width)
        pulls: dict[bytes, float] = {}
        for one in seen.values():
            place = (one.x.astype(np.float64) + 0.0).tobytes()
            pulls[place] = pulls.get(place, 0.0) + float(one.weight)
        for row in why.evidence:
            most = pulls.get((row.x + 0.0).tobytes(), 0.0)
            demand(0 < row.pulls <= most * (1 + 1e-9), f"explain: {row.pulls} pulls of {row.x}, not {most}")

    def _near(self, what: str, got: Any, truth: Any, off: Any) -> None:
        error = abs(np.longdouble(got) - truth)
        if off > 0 and off < 0.1 * abs(truth):
            self.report.largest(f"{what.split(' of')[0]} error/tolerance", float(error / off))
        tiny = np.finfo(np.float64).tiny
        demand(
            error <= off + tiny, f"{what} is {got:.17g}, not {truth:.17g}: off by {error / (off + tiny):.3g} tolerances"
        )

    def _alpha(self, model: Model, decisions: int) -> float:
        """The schedule as docs/agents.md has it."""
        if isinstance(self.policy, armspan.Greedy):
            return 0.0
        if "alpha" in self.bounds:
            return float(self.bounds["alpha"])
        remembered = self.forgetting.get("window", max(self.forgetting.get("half_life", math.inf) / math.log(2), 1.0))
        t = min(max(decisions, len(model.rewards)) + 1, remembered)
        f = 1 + t * math.log(t) ** 2
        spread = math.sqrt((2 + self.d + self.intercept) * math.log(f))
        return float(self.long * self.bounds["parameter_bound"] + self.bounds["noise_scale"] * spread)

    def run(self) -> None:
        """Some dozens of operations, every few of them checked."""
        often = [self.learn] * 6 + [self.choose] * 5 + [self.batch] * 2 + [self.repeat]
        seldom = [
            self.top,
            self.add_arm,
            self.remove_arm,
            self.copy,
            self.reload,
            self.stranger,
            self.merge,
            self.merge,
        ]
        for _ in range(int(self.rng.integers(10, 80))):
            operations = often if self.rng.random() < 0.7 else seldom
            operation = operations[self.rng.integers(len(operations))]
            agent, model = self.pool[self.rng.integers(len(self.pool))]
            self.log = operation.__name__
            operation(agent, model)
            if self.rng.random() < 0.25:
                self.check(*self.pool[self.rng.integers(len(self.pool))])
        for agent, model in self.pool:
            self.check(agent, model)

    def __str__(self) -> str:
        made = f"K={self.K} d={self.d} {self.dtype} {self.forgetting or ''} ε={self.epsilon} ties={self.ties}"
        return f"{self.policy} {made}{' intercept' if self.intercept else ''}"


def _gap(index: Any, off: Any, eligible: Any) -> float:
    """How clearly the best arm is best."""
    order = sorted((k for k, one in enumerate(eligible) if one), key=lambda k: -index[k])
    if len(order) == 1:
        return math.inf
    first, second = order[:2]
    return float(index[first] - off[first] - index[second] - off[second])


def _cholesky(V: Any) -> Any:
    """L with LLᵀ = V."""
    L = np.zeros_like(V)
    for j in range(len(V)):
        column = V[j:, j] - L[j:, :j] @ L[j, :j]
        L[j:, j] = column / np.sqrt(column[0])
    return L


def _forward(L: Any, b: Any) -> Any:
    """L⁻¹b."""
    z = np.zeros_like(b)
    for j in range(len(b)):
        z[j] = (b[j] - L[j, :j] @ z[:j]) / L[j, j]
    return z


def attack(seed: int, report: Report) -> None:
    """One sequence; a fault says after what and with which settings it came."""
    sequence = Sequence(seed, report)
    try:
        sequence.run()
    except Exception as error:
        kind = "" if isinstance(error, Fault) else f"{type(error).__name__}: "
        raise Fault(f"{kind}{error} [after {sequence.log}; {sequence}]") from error


def run(n: int, seed: int) -> Report:
    """Sequences with these seeds."""
    report = Report("sequences")
    for one in range(seed, seed + n):
        report.attack(one, attack, one, report)
    return report
