"""The problems of `python -m benchmarks.truth newcomers`: diverse or not as they say, and what audits say of them."""

from collections import Counter

import numpy as np
from benchmarks.truth.newcomers import FAMILIES
from benchmarks.truth.problems import Problem

from armspan.diversity.logged import Judged


def naive_diverse(problem: Problem, margin: float) -> bool:
    """One context after the other; S is the least eigenvalue of C⁻¹E[xxᵀ1], on the range of C."""
    K, d = problem.theta.shape
    assert problem.points is not None
    probs = np.full(len(problem.points), 1 / len(problem.points)) if problem.probs is None else problem.probs
    C, led, P = np.zeros((d, d)), np.zeros((K, d, d)), np.zeros(K)
    for x, p in zip(problem.points, probs, strict=True):
        C += p * np.outer(x, x)
        means = [float(x @ theta) for theta in problem.theta]
        for a in range(K):
            if means[a] - max(means[:a] + means[a + 1 :]) >= margin:
                P[a] += p
                led[a] += p * np.outer(x, x)
    assert np.linalg.cond(C) < 1e8
    S = [float(np.linalg.eigvals(np.linalg.solve(C, led[a])).real.min()) for a in range(K)]
    return bool(P.min() >= 0.015 / K) and min(S) >= 0.01 / (K * d)


def test_newcomers_are_diverse_or_not_as_they_say_and_seldom_called_so_wrongly() -> None:
    """One log of each family; an audit may err in one of them (with errors in 1 % of logs, 2 % of seeds have two)."""
    rng, said = np.random.default_rng(4), Counter[tuple[bool, str]]()
    for name, family in FAMILIES.items():
        K, d = family.sizes[0]
        while (problem := family.draw(K, d, rng)) is None:
            pass
        X, arms, rewards = problem.log("uniform", 1000, rng)
        found = Judged(X, arms, rewards, K, level=0.05)
        truth = problem.truth(found.margin).diverse
        assert truth is family.words.startswith("diverse:"), name
        assert naive_diverse(problem, found.margin) is truth, name
        said[truth, found.answer("diverse")] += 1
    assert said[False, "yes"] + said[True, "no"] <= 1
    assert said[True, "yes"] >= 1
