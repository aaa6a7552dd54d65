"""Random problems for hypothesis."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from armspan.environments import BoxContexts, FiniteContexts, Gaussian, MarkovContexts, Rademacher

Array = NDArray[np.float64]


@st.composite
def tables(draw: Any) -> tuple[Array, Array]:
    """Features (K, n, d) and theta (K, d), with a few features and arms alike so that ties occur."""
    K, n, d = draw(st.integers(2, 4)), draw(st.integers(1, 6)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    features, theta = rng.normal(size=(K, n, d)), rng.normal(size=(K, d))
    if draw(st.booleans()):
        features, theta = features.round(0), theta.round(0)
        features[0, 0, 0] = 1.0  # not all 0
    if draw(st.booleans()):
        features[1] = features[0]  # a context shared by two arms
    return features, theta


@st.composite
def environments(draw: Any) -> FiniteContexts | MarkovContexts | BoxContexts:
    """An environment of any kind."""
    features, theta = draw(tables())
    K, n, d = features.shape
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    noise = draw(st.sampled_from([Gaussian(0.0), Gaussian(0.7), Rademacher(0.5)]))
    kind = draw(st.sampled_from(["finite", "markov", "box"]))
    if kind == "finite":
        return FiniteContexts(features, theta, rng.dirichlet(np.ones(n)), noise)
    if kind == "markov":
        return MarkovContexts(features, theta, rng.dirichlet(np.ones(n), size=n), noise)
    return BoxContexts(rng.normal(size=(K, d)), -1.0, 1.0, gap=0.01, noise=noise)
