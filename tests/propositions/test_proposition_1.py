"""Proposition 1: β_t(a) minimises the uncertainty βᵀN⁻¹β among all ways to write x as Xβ."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from armspan.policies.references.primal import PrimalArm
from tests import naive


def random_arm(rng: np.random.Generator, d: int, contexts: int, pulls: int) -> PrimalArm:
    arm = PrimalArm(d, float(rng.uniform(0.3, 2)))
    features = rng.normal(size=(contexts, d))
    for _ in range(pulls):
        c = int(rng.integers(contexts))
        arm.update(c, features[c], float(rng.normal()))
    return arm


@given(st.integers(1, 5), st.integers(1, 8), st.integers(0, 40), st.integers(0, 10**6))
@settings(max_examples=30)
def test_proposition_1_beta_minimises_uncertainty(d: int, contexts: int, pulls: int, seed: int) -> None:
    """Against a general-purpose solver, which knows nothing of the closed form."""
    rng = np.random.default_rng(seed)
    arm, x = random_arm(rng, d, contexts, pulls), rng.normal(size=d)
    beta = arm.estimate(x).beta
    np.testing.assert_allclose(arm.X @ beta, x, atol=1e-10)
    found = naive.minimise_beta(arm.X, arm.N, x)
    np.testing.assert_allclose(beta, found, rtol=1e-5, atol=1e-6 * np.abs(found).max())


@given(st.integers(1, 4), st.integers(0, 10**6))
def test_no_other_representation_is_less_uncertain(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arm, x = random_arm(rng, d, 6, 20), rng.normal(size=d)
    beta, _, width = arm.estimate(x)
    _, _, null = np.linalg.svd(arm.X)
    for direction in null[d:]:  # Xβ stays x along these
        other = beta + rng.normal() * direction
        np.testing.assert_allclose(arm.X @ other, x, atol=1e-9)
        assert np.sqrt(other @ (other / arm.N)) >= width - 1e-12
