"""The problems of `python -m benchmarks.truth newcomers`: diverse or not as they say, and what audits say of them."""

from collections import Counter

import numpy as np
from benchmarks.truth.newcomers import FAMILIES
from benchmarks.truth.problems import Problem

from armspan.diversity.judged import Judged
from tests.diversity.naive_truth import is_diverse, shares_and_spreads


def naive_diverse(problem: Problem, margin: float) -> bool:
    assert problem.points is not None
    probs = np.full(len(problem.points), 1 / len(problem.points)) if problem.probs is None else problem.probs
    P, S = shares_and_spreads(problem.points, probs, problem.theta, margin)
    return is_diverse(P, S, problem.theta.shape[1])


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
