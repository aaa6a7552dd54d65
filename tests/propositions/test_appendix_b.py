"""Appendix B: LinUCB-d and LinUCB with ridge l² give the same r̂ and σ̂ at every step, hence the same pulls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan.environments import paper_1a, paper_1b, paper_1c
from armspan.policies import LinUCB, LinUCBd
from armspan.policies.references.primal import Primal
from armspan.simulation import simulate
from armspan.theory import as_schedule
from tests import naive
from tests.strategies import Array, environments, tables


@given(tables(), st.integers(0, 10**6))
def test_appendix_b_step_by_step(table: tuple[Array, Array], seed: int) -> None:
    """The package's primal form, the oracle's primal form and ridge regression, on one stream of rewards."""
    features, _ = table
    K, n, d = features.shape
    rng = np.random.default_rng(seed)
    l = float(np.linalg.norm(features, axis=2).max())
    ours = Primal(n_arms=K, n_features=d, l=l, alpha=as_schedule(1.0))
    oracle, ridge = naive.NaiveLinUCBd(features, l, lambda t: 1.0), naive.NaiveLinUCB(K, d, l**2)
    for _ in range(30):
        c, y = int(rng.integers(n)), float(rng.normal())
        x = features[:, c]
        estimates = [arm.estimate(x[a]) for a, arm in enumerate(ours.arms)]
        mean, width = np.array([e.mean for e in estimates]), np.array([e.width for e in estimates])
        for other in (oracle.estimates(c)[:2], ridge.estimates(x)):
            np.testing.assert_allclose(mean, other[0], atol=1e-9)
            np.testing.assert_allclose(width, other[1], atol=1e-9)
        a = int(np.argmax(mean + width))
        ours.update(a, x, c, y)
        oracle.update(a, c, y)
        ridge.update(a, x[a], y)


def test_appendix_b_identical_curves_in_the_papers_problems() -> None:
    for env in (paper_1a(), paper_1b(), paper_1c(3)):
        result = simulate(env, [LinUCBd(), LinUCB(), LinUCB(ridge=env.feature_bound**2)], horizon=20_000, runs=10)
        np.testing.assert_array_equal(result.pseudo_regret[0], result.pseudo_regret[1])
        np.testing.assert_array_equal(result.pseudo_regret[0], result.pseudo_regret[2])


@pytest.mark.long
@given(environments())
def test_appendix_b_primal_and_dual_pull_the_same_arms(env: object) -> None:
    """engine="python" runs LinUCB-d in its primal form and LinUCB by regression; engine="cpu" runs the dual form."""
    naive_form = simulate(env, [LinUCBd(), LinUCB()], horizon=60, runs=2, engine="python")
    compiled = simulate(env, [LinUCBd(), LinUCB()], horizon=60, runs=2, engine="cpu")
    for p in range(2):
        np.testing.assert_allclose(naive_form.pseudo_regret[p], compiled.pseudo_regret[0], atol=1e-9)
        np.testing.assert_allclose(compiled.pseudo_regret[p], compiled.pseudo_regret[0], atol=0)
