"""Fitted classifiers as experts of EXP4: their advice is theirs, and what does not fit is refused in a sentence."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from armspan import EXP4, EXP4P, EpochGreedy, simulate
from armspan.environments import Bernoulli, RewardTable
from armspan.errors import InvalidParameter, NotApplicable

RNG = np.random.default_rng(4)
X = RNG.normal(size=(60, 2))
RIGHT = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)
ENV = RewardTable(X, np.where(np.arange(3)[:, None] == RIGHT, 0.9, 0.1), noise=Bernoulli())


def fitted(features: Any = X, arms: Any = RIGHT) -> Any:
    return LogisticRegression().fit(features, arms)


def test_its_advice_is_what_it_holds_to_be_probable() -> None:
    expert = fitted()
    agent = EXP4(experts=[expert], horizon=100, gamma=0.3).agent(3, 2)
    advice = (expert.predict_proba(X[:1])[0] + np.full(3, 1 / 3)) / 2  # the uniform expert is added
    np.testing.assert_allclose(agent.propensities(X[0]), 0.7 * advice + 0.3 / 3)


def test_one_that_sees_the_rows_of_all_arms() -> None:
    rows = RNG.normal(size=(40, 3, 2))
    expert = fitted(rows.reshape(40, 6), rows[:, :, 0].argmax(axis=1))
    agent = EXP4(experts=[expert], horizon=100, gamma=0.3).agent(3, 2)
    advice = (expert.predict_proba(rows[:1].reshape(1, 6))[0] + np.full(3, 1 / 3)) / 2
    np.testing.assert_allclose(agent.propensities(rows[0]), 0.7 * advice + 0.3 / 3)


def test_classes_may_be_some_of_the_arms() -> None:
    expert = fitted(X, np.where(X[:, 0] > 0, 2, 0))
    first, second, third = EXP4(experts=[expert], horizon=100, gamma=0.1).agent(3, 2).propensities(X[0])
    assert second == pytest.approx(0.9 * (1 / 3) / 2 + 0.1 / 3)
    assert first + second + third == pytest.approx(1)


@pytest.mark.long
@pytest.mark.parametrize("kind", [EXP4, EXP4P])
def test_a_good_classifier_is_soon_followed(kind: Any) -> None:
    good, bad = simulate(ENV, [kind(experts=[fitted(), 0]), kind()], horizon=600, runs=2).pseudo_regret[:, :, -1]
    assert (good < bad).all()


@pytest.mark.parametrize(
    ("expert", "words"),
    [
        (LogisticRegression(), r"experts\[0\] must be a classifier that has been fitted"),
        (fitted(np.ones((60, 5)) * RIGHT[:, None]), r"experts\[0\] must be fitted to 2 or 6 features, got one of 5"),
        (fitted(X, RIGHT + 1), r"experts\[0\] must have classes that are arms, 0 to 2"),
        (fitted(X, np.array(["a", "b", "c"])[RIGHT]), r"experts\[0\] must have classes that are arms, 0 to 2"),
    ],
)
def test_what_does_not_fit_is_refused(expert: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        simulate(ENV, EXP4(experts=[expert]), horizon=10, runs=1)


def test_an_oracle_of_ones_own_has_no_agent() -> None:
    with pytest.raises(NotApplicable, match="has no agent with an oracle of its own; leave oracle out, or simulate it"):
        EpochGreedy(oracle=Ridge()).agent(2, 2)
