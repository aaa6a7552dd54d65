"""Faults that were found in other packages (numbered as in our survey of them): none of them is here."""

import numpy as np
import pytest

from armspan import Greedy, LinUCB, LinUCBd
from tests import naive


def test_1_an_untried_arm_has_the_width_of_the_ridge() -> None:
    """V⁻¹ begins as I/ridge, not ridge·I: at ridge 0.1 an untried arm scores 3.16, above a played one."""
    agent = LinUCB(ridge=0.1, alpha=1.0).agent(n_arms=2, n_features=1)
    assert agent.scores([1.0]).width[0] == pytest.approx(1 / np.sqrt(0.1))
    agent.update(0, [1.0], 1.0)
    assert agent.choose([1.0]) == 1


def test_2_the_bonus_of_an_untried_arm_has_the_intercept_in_it() -> None:
    agent = LinUCB(ridge=1.0, alpha=2.0).agent(n_arms=2, n_features=2, intercept=True)
    assert agent.scores([0.0, 0.0]).width[1] == pytest.approx(1.0)
    for _ in range(20):
        agent.update(0, [0.0, 0.0], 1.0)
    assert agent.choose([0.0, 0.0]) == 1


@pytest.mark.long
def test_3_widths_shrink_with_every_pull_and_update_works() -> None:
    agent = LinUCB(ridge=1.0, alpha=1.0).agent(n_arms=1, n_features=1)
    for _ in range(20_000):
        agent.update(0, [1.0], 1.0)
    assert agent.scores([1.0]).width[0] == pytest.approx(1 / np.sqrt(20_001), rel=1e-9)


def test_4_untried_arms_have_a_bonus_and_no_width_becomes_zero_in_silence() -> None:
    agent = LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(n_arms=3, n_features=4)
    assert (agent.scores(np.full(4, 0.5)).width == pytest.approx(1.0)) is True
    with pytest.raises(ValueError, match="x must be finite"):
        agent.scores([np.nan] * 4)


def test_5_the_ridge_does_not_grow() -> None:
    agent = LinUCB(ridge=0.5, alpha=1.0).agent(n_arms=1, n_features=2)
    for _ in range(10_000):
        agent.update(0, [1.0, 0.0], 0.0)
    assert agent.scores([0.0, 1.0]).width[0] == pytest.approx(1 / np.sqrt(0.5), rel=1e-9)
    np.testing.assert_allclose(agent.statistics(0).gram, [[10_000, 0], [0, 0]])


def test_6_exploration_is_on_by_default_and_ties_are_fair() -> None:
    """4,000 decisions among 4 tied arms; shares within 4.5 standard deviations of a quarter."""
    agent = LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(n_arms=4, n_features=2)
    assert agent.alpha == pytest.approx(1.0)
    chosen = np.bincount([agent.choose([0.3, 0.4]) for _ in range(4000)], minlength=4)
    assert np.abs(chosen / 4000 - 0.25).max() < 4.5 * np.sqrt(0.25 * 0.75 / 4000)


def test_7_no_policy_sticks_to_the_first_arm() -> None:
    agent = Greedy(feature_bound=1.0).agent(n_arms=3, n_features=1)
    for _ in range(30):
        arm = agent.choose([1.0])
        agent.update(arm, [1.0], float(arm))
    assert len({agent.choose([0.0]) for _ in range(50)}) == 3


def test_8_an_arm_that_was_not_pulled_learns_nothing() -> None:
    """No reward is filled in where the log has another arm."""
    agent = LinUCB(ridge=1.0, alpha=1.0).agent(n_arms=2, n_features=2)
    agent.update([0] * 50, np.ones((50, 2)), np.full(50, 3.0))
    assert agent.statistics(1).pulls == 0
    assert agent.scores([1.0, 1.0]).mean[1] == 0


def test_9_alpha_comes_from_the_bounds_the_features_and_the_step() -> None:
    agent = LinUCBd(feature_bound=2.0, parameter_bound=0.7, noise_scale=0.4).agent(n_arms=2, n_features=5)
    for t in (1, 2, 3, 4):
        assert agent.alpha == pytest.approx(naive.alpha(t, 5, 2.0, 0.7, 0.4))
        agent.choose(np.ones(5))


def test_10_collinear_and_badly_scaled_features_keep_widths_positive() -> None:
    for ridge, scales in ((1.0, [1.0, 1.0, 1.0]), (1e4, [1.0, 1e3, 1e6])):
        agent = LinUCB(ridge=ridge, alpha=1.0).agent(n_arms=1, n_features=3)
        rng = np.random.default_rng(0)
        for _ in range(5000):
            agent.update(0, (rng.normal() + 1e-8 * rng.normal(size=3)) * scales, 1.0)
            x = rng.normal(size=3)
        width = agent.scores(x).width[0]
        V = ridge * np.eye(3) + agent.statistics(0).gram
        scale = np.sqrt(np.diag(V))
        truth = np.sqrt((x / scale) @ np.linalg.solve(V / np.outer(scale, scale), x / scale))
        assert width == pytest.approx(truth, rel=1e-3)
        assert width > 0
