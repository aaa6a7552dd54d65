"""Bad environments are refused in one sentence that names parameter, domain and value."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import armspan
import armspan.environments as E  # noqa: N812
from armspan.errors import ArmspanError, InvalidParameter, NotApplicable

GOOD = np.ones((2, 3, 2)), np.array([[1.0, 2.0], [3.0, 4.0]])
HOLE = np.ones((2, 3, 2))
HOLE[1, 2, 0] = np.nan
DRIFTING = E.DriftingContexts([np.eye(2), -np.eye(2)], 10)
BY_ARM = "(arms, contexts, features)"
THETA = "theta must be an array of numbers of shape (arms, features)"
UNEVEN = "rows of unequal length: row 0 has"
ERGODIC = "transition must be ergodic, but "
CYCLE = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]

CASES: list[tuple[Callable[[], Any], str]] = [
    (lambda: E.FiniteContexts(np.ones(3), GOOD[1]), f"features must have shape {BY_ARM}, got shape (3,)"),
    (lambda: E.FiniteContexts(np.ones((2, 0, 2)), GOOD[1]), "features must not be empty, got shape (2, 0, 2)"),
    (lambda: E.FiniteContexts("abc", GOOD[1]), f"features must be an array of numbers of shape {BY_ARM}, got 'abc'"),
    (lambda: E.FiniteContexts(np.ones((2, 3)), GOOD[1]), "theta must have shape (2, 3), got shape (2, 2)"),
    (lambda: E.BoxContexts([1.0, 2.0]), "theta must have shape (arms, features), got shape (2,)"),
    (lambda: E.BoxContexts([[1, 2, 3], [4, 5, 6], [7, 8]]), f"{THETA}, got {UNEVEN} 3 entries, row 2 has 2"),
    (lambda: E.BoxContexts([[1, 2], [3, [4]]]), f"{THETA}, got [[1, 2], [3, [4]]]"),
    (lambda: E.BoxContexts([[1, 2], 3]), f"{THETA}, got [[1, 2], 3]"),
    (lambda: E.FiniteContexts([[[1.0], [2.0, 3.0]]], GOOD[1]), "features must be an array of numbers"),
    (lambda: E.FiniteContexts(HOLE, GOOD[1]), "features must be finite, got nan at [1, 2, 0]"),
    (lambda: E.FiniteContexts(GOOD[0], [[1.0, np.inf], [1, 1]]), "theta must be finite, got inf at [0, 1]"),
    (lambda: E.FiniteContexts(GOOD[0], [[1.0, 2.0]]), "theta must have shape (2, 2), got shape (1, 2)"),
    (lambda: E.FiniteContexts(np.ones((1, 3, 2)), [[1, 2]]), "features must have at least 2 arms"),
    (lambda: E.FiniteContexts(0 * GOOD[0], GOOD[1]), "features must not all be 0 in the contexts that arrive"),
    (
        lambda: E.FiniteContexts(GOOD[0] * 1e-200, GOOD[1]),
        "features must be large enough that their squares are not 0 in the contexts that arrive, got at most 1e-200",
    ),
    (lambda: E.DelayedRewards(E.paper_1a(), mean=np.inf), "mean must be finite and >= 0, got inf"),
    (lambda: E.DelayedRewards(E.paper_1a(), mean=-np.inf), "mean must be >= 0, got -inf"),
    (lambda: E.FiniteContexts(*GOOD, [0.5, 0.5]), "probabilities must have shape (3,), got shape (2,)"),
    (lambda: E.FiniteContexts(*GOOD, [0.5, 0.7, -0.2]), "probabilities must be >= 0, got -0.2 at [2]"),
    (lambda: E.FiniteContexts(*GOOD, [0.5, 0.5, 0.5]), "probabilities must sum to 1, got 1.5"),
    (lambda: E.FiniteContexts(*GOOD, noise=-1), "noise must be >= 0, got -1"),
    (lambda: E.FiniteContexts(*GOOD, noise="loud"), "noise must be >= 0, got 'loud'"),
    (lambda: E.Gaussian(np.inf), "noise scale must be finite and >= 0, got inf"),
    (
        lambda: E.MarkovContexts(*GOOD, np.eye(3)),
        ERGODIC + "context 1 cannot be reached from context 0",
    ),
    (lambda: E.MarkovContexts(*GOOD, CYCLE), ERGODIC + "it has period 3"),
    (
        lambda: E.MarkovContexts(*GOOD, [[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]]),
        ERGODIC + "it has period 2",
    ),
    (
        lambda: E.MarkovContexts(*GOOD, [[1, 0, 0], [1, 0, 0], [0, 0.5, 0.5]]),
        ERGODIC + "context 1 cannot",
    ),
    (
        lambda: E.MarkovContexts(*GOOD, [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]]),
        ERGODIC + "context 0 cannot",
    ),
    (lambda: E.FiniteContexts(GOOD[0] * 1e200, GOOD[1]), "features and theta must be small enough"),
    (lambda: E.FiniteContexts(GOOD[0].astype(complex), GOOD[1]), "features must be an array of numbers"),
    (lambda: E.FiniteContexts([[[10**400]]], GOOD[1]), "features must be an array of numbers"),
    (lambda: E.FiniteContexts(*GOOD, noise=10**400), "noise must be >= 0, got 1000"),
    (lambda: E.BoxContexts(GOOD[1], low=[[1.0], [2.0, 3.0]]), "low must be an array of numbers of shape (2,)"),
    (lambda: E.MarkovContexts(*GOOD, np.ones((3, 3))), "transition must sum to 1 in row 0, got 3"),
    (lambda: E.MarkovContexts(*GOOD, np.eye(2)), "transition must have shape (3, 3), got shape (2, 2)"),
    (lambda: E.BoxContexts([[1.0, 2.0]]), "theta must have at least 2 arms"),
    (lambda: E.BoxContexts(GOOD[1], low=1, high=1), "low must be < high, got 1 and 1 for feature 0"),
    (lambda: E.BoxContexts(GOOD[1], low=[0, 1, 2]), "low must have shape (2,), got shape (3,)"),
    (lambda: E.BoxContexts(GOOD[1], gap=-0.1), "gap must be >= 0, got -0.1"),
    (lambda: E.BoxContexts(GOOD[1], gap=100), "gap must be below 7, the largest lead in this box, got 100"),
    (lambda: E.BoxContexts(GOOD[1], gap=6.99), "gap must be reached by at least 0.001 of the draws, got 6.99"),
    (lambda: E.paper_1c(-1), "seed must be an integer >= 0, got -1"),
    (lambda: E.paper_1a().sample(2.5), "size must be an integer >= 1, got 2.5"),  # type: ignore[arg-type]
    (lambda: E.paper_1c(0).sample(-1), "size must be an integer >= 1, got -1"),
    (lambda: E.paper_1a().sample(3, seed=-1), "seed must be an integer from 0 to 18446744073709551615, got -1"),
    (lambda: DRIFTING.parameters(0), "steps must be a list of integers >= 1, got array(0)"),
    (lambda: DRIFTING.parameters([1, 0]), "steps must be a list of integers >= 1, got array([1, 0])"),
    (lambda: DRIFTING.parameters([1.5]), "steps must be a list of integers >= 1, got array([1.5])"),
    (lambda: E.diversity_dial(1.5), "level must be from 0 to 1, got 1.5"),
    (lambda: E.diversity_dial(-0.5), "level must be >= 0, got -0.5"),
]


@pytest.mark.parametrize(("make", "sentence"), CASES)
def test_refused_in_one_sentence(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        make()
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, ArmspanError)


def test_an_object_that_is_no_environment() -> None:
    with pytest.raises(NotApplicable, match="int lacks n_arms, n_features, context, mean_rewards"):
        E.as_environment(3)


def test_a_periodic_chain_with_one_self_loop_is_ergodic() -> None:
    env = E.MarkovContexts(*GOOD, [[0.1, 0.9, 0], [0, 0, 1], [1, 0, 0]])
    np.testing.assert_allclose(env.probabilities @ env.transition, env.probabilities)


def test_probabilities_may_be_off_by_rounding() -> None:
    assert E.FiniteContexts(*GOOD, np.full(3, 1 / 3)).probabilities.sum() == pytest.approx(1, abs=1e-15)


class Own:
    """A user's environment."""

    n_arms, n_features = 2, 1

    def context(self, step: int, rng: np.random.Generator) -> Any:
        return np.ones((2, 1))

    def mean_rewards(self, x: Any) -> Any:
        x *= 0.0
        return x[:, 0]


def test_a_class_is_no_environment_and_a_context_is_not_changed() -> None:
    with pytest.raises(NotApplicable, match=r"env must be an environment, not a class; write Own\(…\)"):
        armspan.simulate(Own, [armspan.RandomChoice()], horizon=2, runs=1)
    with pytest.raises(ValueError, match="read-only"):
        armspan.simulate(Own(), [armspan.RandomChoice()], horizon=2, runs=1)
