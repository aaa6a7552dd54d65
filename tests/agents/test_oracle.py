"""The agent against the obvious one: any order of rewards, batches, added and removed arms, merges and saves."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import armspan
from tests.agents.oracle import Oracle
from tests.strategies import Array

POLICY = armspan.LinUCB(ridge=0.7, alpha=0.9)


class Life(RuleBasedStateMachine):
    """One agent's life beside the oracle's."""

    @initialize(d=st.sampled_from([1, 2, 3, 5, 9, 17]), arms=st.integers(1, 4), seed=st.integers(0, 10**6))
    def begin(self, d: int, arms: int, seed: int) -> None:
        self.d, self.rng, self.next = d, np.random.default_rng(seed), arms
        self.agent: Any = POLICY.agent(arms=[f"arm {k}" for k in range(arms)], n_features=d, memory=6)
        self.oracle = Oracle(list(self.agent.arms), d, 0.7, 0.9)
        self.waiting: list[tuple[str, Array]] = []

    def context(self) -> Array:
        return np.round(self.rng.normal(size=self.d), 1)

    @rule()
    def choose(self) -> None:
        x = self.context()
        arm = self.agent.choose(x)
        means, widths = self.oracle.scores(x)
        index = means + 0.9 * widths
        assert index[self.oracle.arms.index(arm)] >= index.max() - 1e-9
        self.waiting.append((arm, x))

    @rule()
    def choose_with_own_features(self) -> None:
        x = self.rng.normal(size=(len(self.agent.arms), self.d))
        arm = self.agent.choose(x)
        self.agent.update(arm, x, 0.5)
        self.oracle.update(arm, x[self.oracle.arms.index(arm)], 0.5)

    @precondition(lambda self: self.waiting)
    @rule(which=st.integers(0, 10**6), many=st.booleans())
    def rewards_come_late(self, which: int, many: bool) -> None:
        """In any order; those of arms that are gone come to nothing."""
        batch = self.waiting if many else [self.waiting[which % len(self.waiting)]]
        self.waiting = [] if many else [entry for entry in self.waiting if entry is not batch[0]]
        batch = [(arm, x) for arm, x in batch if arm in self.agent.arms]
        rewards = self.rng.normal(size=len(batch))
        for (arm, x), reward in zip(batch, rewards, strict=True):
            self.oracle.update(arm, x, reward)
        if len(batch) == 1:
            self.agent.update(batch[0][0], batch[0][1], rewards[0])
        elif batch:
            self.agent.update([arm for arm, _ in batch], np.array([x for _, x in batch]), rewards)

    @rule(n=st.integers(1, 40))
    def learn_a_log(self, n: int) -> None:
        arms = [self.agent.arms[k] for k in self.rng.integers(len(self.agent.arms), size=n)]
        X, rewards = self.rng.normal(size=(n, self.d)), self.rng.normal(size=n)
        self.agent.update(arms, X, rewards)
        for arm, x, reward in zip(arms, X, rewards, strict=True):
            self.oracle.update(arm, x, reward)

    @precondition(lambda self: len(self.agent.arms) < 6)
    @rule()
    def add_arm(self) -> None:
        self.next += 1
        self.agent.add_arm(f"arm {self.next}")
        self.oracle.add_arm(f"arm {self.next}")

    @precondition(lambda self: len(self.agent.arms) > 1)
    @rule(which=st.integers(0, 100))
    def remove_arm(self, which: int) -> None:
        gone = self.agent.arms[which % len(self.agent.arms)]
        self.agent.remove_arm(gone)
        self.oracle.remove_arm(gone)

    @rule(n=st.integers(0, 12))
    def merge(self, n: int) -> None:
        other, theirs = (
            POLICY.agent(arms=["arm 0", "guest"], n_features=self.d),
            Oracle(["arm 0", "guest"], self.d, 0.7, 0.9),
        )
        for _ in range(n):
            x, arm = self.context(), ("arm 0", "guest")[self.rng.integers(2)]
            other.update(arm, x, 1.0)
            theirs.update(arm, x, 1.0)
        self.agent.merge(other)
        self.oracle.merge(theirs)

    @rule()
    def save_and_load(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.agent.save(Path(folder) / "agent")
            self.agent = armspan.load_agent(Path(folder) / "agent")

    @invariant()
    def they_agree(self) -> None:
        if not hasattr(self, "agent"):
            return
        assert self.agent.arms == tuple(self.oracle.arms)
        x = self.context()
        scores, (means, widths) = self.agent.scores(x), self.oracle.scores(x)
        np.testing.assert_allclose(scores.mean, means, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(scores.width, widths, rtol=1e-8, atol=1e-9)
        why = self.agent.explain(x, self.agent.arms[-1])
        assert abs(sum(row.mean_part for row in why.evidence) + why.other_mean - means[-1]) < 1e-7
        parts = sum(row.variance_part for row in why.evidence) + why.prior_variance + why.other_variance
        np.testing.assert_allclose(parts, widths[-1] ** 2, rtol=1e-7, atol=1e-9)


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
