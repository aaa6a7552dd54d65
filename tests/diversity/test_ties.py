"""The problems of `python -m benchmarks.truth ties`: their truth is what a slow, obvious computation says."""

import numpy as np
import pytest
from benchmarks.truth.ties import problems
from benchmarks.truth.ties.families import FAMILIES
from benchmarks.truth.ties.problems import LOGGERS, Listed, Problem

from tests.diversity.naive_truth import is_diverse, shares_and_spreads
from tests.tolerance import assert_close, rounding


def naive_truth(problem: Problem, margin: float) -> tuple[bool, list[float], list[float]]:
    assert isinstance(problem.contexts, Listed)
    P, S = shares_and_spreads(problem.contexts.points, problem.contexts.probs, problem.theta, margin)
    return is_diverse(P, S, problem.theta.shape[1]), P, S


@pytest.mark.parametrize("family", ["tie-finite", "rare-extreme", "diverse-finite"])
def test_the_truth_is_the_naive_one(family: str) -> None:
    """At the margin aimed at, where the weak arms fail, and at smaller and larger ones."""
    problem = FAMILIES[family].draw(3, 3, np.random.default_rng(1))
    assert problem is not None
    assert problem.truth(problem.margin).diverse is not bool(problem.weak)
    for factor in (0.5, 1.0, 5.0, 20.0):
        truth = problem.truth(factor * problem.margin)
        diverse, P, S = naive_truth(problem, factor * problem.margin)
        assert truth.diverse == diverse
        assert_close(truth.P, P)
        condition = float(np.linalg.cond(problem.full.X)) ** 2
        np.testing.assert_allclose(truth.S, S, atol=rounding(condition=condition))


def test_all_families_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """At their first size a problem that is diverse or not, as the family says, and a log of it."""
    monkeypatch.setattr(problems, "SAMPLE", problems.ROUGH)
    assert len({family.words for family in FAMILIES.values()}) == len(FAMILIES)
    for number, (name, family) in enumerate(FAMILIES.items()):
        K, d = family.sizes[0]
        rng = np.random.default_rng(2)
        problem = family.draw(K, d, rng)
        assert problem is not None, name
        assert problem.truth(problem.margin).diverse is name.startswith("diverse") is not bool(problem.weak), name
        X, arms, rewards = problem.log(LOGGERS[number % len(LOGGERS)], 200, rng)
        assert X.shape == (200, d)
        assert set(arms) <= set(range(K))
        assert np.isfinite(rewards).all()
