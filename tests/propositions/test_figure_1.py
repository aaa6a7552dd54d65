"""Section 6 and Figure 1: the paper's numbers, and what an independent program got for its curves."""

import numpy as np
import pytest

from armspan.environments import Environment, paper_1a, paper_1b
from armspan.experiments.survey import survey_1c
from armspan.policies import ContextUCB, Greedy, LinUCB, LinUCBd
from armspan.simulation import Result, simulate

STEPS = [1_923, 17_786, 164_439, 500_000]
# mean and sd over 100 runs, from an independent program, which printed them rounded
TABLE: dict[str, dict[str, list[tuple[float, float]]]] = {
    "1a": {
        "LinUCB-d": [(94, 14), (346, 60), (533, 101), (539, 103)],
        "greedy": [(149, 67), (1_349, 586), (12_434, 5_423), (37_799, 16_493)],
        "UCB per context": [(88, 19), (298, 60), (567, 91), (690, 103)],
    },
    "1b": {
        "LinUCB-d": [(14.7, 9.2), (15.6, 10.1), (15.6, 10.1), (15.6, 10.1)],
        "greedy": [(151, 33), (1_389, 331), (12_841, 3_104), (39_052, 9_445)],
        "UCB per context": [(85, 19), (300, 66), (603, 106), (743, 127)],
    },
}


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """The paper's size, on all cores."""

    def full_size(env: Environment) -> Result:
        checkpoints = sorted({*STEPS, 31_250, 125_000, 250_000})
        policies = [LinUCBd(), LinUCB(), Greedy(), ContextUCB()]
        return simulate(env, policies, horizon=500_000, runs=100, seed=0, checkpoints=checkpoints)

    return {"1a": full_size(paper_1a()), "1b": full_size(paper_1b())}


def test_section_6_lambda_0() -> None:
    assert paper_1a().lambda_0() == pytest.approx(0.00799, abs=5e-6)
    assert paper_1b().lambda_0() == pytest.approx(0.16917, abs=5e-6)


def test_section_6_rewards_and_bounds() -> None:
    a, b = paper_1a(), paper_1b()
    np.testing.assert_allclose(a.reward_table, [[0.76, 0.70, 0.50, 0.44], [0.54, 0.56, 0.64, 0.66]])
    assert list(a.best_arms) == [0, 0, 1, 1]
    assert a.gap == pytest.approx(0.14)
    assert b.gap == pytest.approx(0.12)
    assert a.feature_bound == pytest.approx(0.906, abs=5e-4)
    assert a.parameter_bound == pytest.approx(0.894, abs=5e-4)


@pytest.mark.parametrize("figure", ["1a", "1b"])
def test_figure_1_means_agree_with_an_independent_program(figure: str, results: dict[str, Result]) -> None:
    """24 comparisons at 4.5 standard errors: a correct program with another seed fails with probability 2e-4."""
    result = results[figure]
    columns = np.searchsorted(result.checkpoints, STEPS)
    for policy, entries in TABLE[figure].items():
        curves = result.curves(policy)[:, columns]
        for ours, (mean, sd) in zip(curves.T, entries, strict=True):
            error = np.hypot(ours.std(ddof=1), sd) / 10
            assert abs(ours.mean() - mean) < 4.5 * error + 0.5, (policy, ours.mean(), mean)


@pytest.mark.parametrize("figure", ["1a", "1b"])
def test_figure_1_spread_agrees_with_an_independent_program(figure: str, results: dict[str, Result]) -> None:
    """24 ratios of standard deviations, each from 100 runs, at 4.5 standard errors of a bootstrap of our runs."""
    result, rng = results[figure], np.random.default_rng(0)
    columns = np.searchsorted(result.checkpoints, STEPS)
    for policy, entries in TABLE[figure].items():
        curves = result.curves(policy)[:, columns]
        for ours, (_, sd) in zip(curves.T, entries, strict=True):
            resampled = ours[rng.integers(100, size=(1000, 100))].std(axis=1, ddof=1)
            error = np.sqrt(2) * np.log(resampled).std()  # theirs is as uncertain as ours
            assert abs(np.log(ours.std(ddof=1) / sd)) < 4.5 * error + 0.05, (policy, ours.std(ddof=1), sd)


@pytest.mark.parametrize("figure", ["1a", "1b"])
def test_figure_1_what_the_paper_concludes(figure: str, results: dict[str, Result]) -> None:
    result = results[figure]
    np.testing.assert_array_equal(result.curves("LinUCB-d"), result.curves("LinUCB"))
    assert result.growth("LinUCB-d").verdict == "constant"
    assert result.growth("greedy").verdict == "linear"
    assert result.growth("UCB per context").verdict == "logarithmic"


def test_figure_1b_diversity_lowers_regret(results: dict[str, Result]) -> None:
    assert results["1b"].curves("LinUCB-d")[:, -1].mean() < results["1a"].curves("LinUCB-d")[:, -1].mean() / 10


def test_figure_1c_few_draws_of_theta_are_diverse() -> None:
    """Shares of draws against an independent program's over 2,114 draws; 4 comparisons at 4.5 standard errors."""
    draws, theirs = 600, 2_114
    survey = survey_1c(draws, progress=lambda done, total: None)
    for share, expected in zip(survey.shares(), (0.23, 0.076, 0.011, 0.001), strict=True):
        error = np.sqrt(expected * (1 - expected) * (1 / draws + 1 / theirs))
        assert abs(share.share - expected) < 4.5 * error
        assert share.low <= share.share <= share.high
