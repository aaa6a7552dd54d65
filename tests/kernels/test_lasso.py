"""The LASSO by coordinate descent is scikit-learn's, also where features are nearly the same."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from armspan.kernels.families.lasso import fit


@pytest.mark.parametrize("correlation", [0.0, 0.9, 0.99, 0.999])
def test_it_is_found_whatever_the_correlation(correlation: float) -> None:
    rng = np.random.default_rng(6)
    for penalty in (0.02, 0.1, 0.5):
        X = np.sqrt(correlation) * rng.normal(size=(100, 1)) + np.sqrt(1 - correlation) * rng.normal(size=(100, 30))
        y = X[:, :5] @ rng.normal(size=5) + 0.5 * rng.normal(size=100)
        beta, rest = np.zeros((1, 30)), (X.T @ y)[None]
        fit((X.T @ X)[None], beta, rest, 0, 100 * penalty / 2, 30)
        wanted = Lasso(alpha=penalty / 2, fit_intercept=False, tol=1e-14, max_iter=10**6).fit(X, y).coef_
        np.testing.assert_allclose(beta[0], wanted, rtol=0, atol=1e-6)
        np.testing.assert_allclose(rest[0], X.T @ (y - X @ beta[0]), rtol=0, atol=1e-6)
