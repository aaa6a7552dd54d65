"""Numerical safety: many updates, ill-conditioned features, single precision."""

from typing import Any

import numpy as np
import pytest

from armspan import EpsilonGreedy, LinTS, LinUCB
from armspan.errors import InvalidParameter
from armspan.kernels import agent_layout as layout
from tests.strategies import Array
from tests.tolerance import rounding


def width_error(agent: Any, V: Array, rng: np.random.Generator) -> float:
    """The largest relative error of the width over 50 random x, against long doubles by elimination from V."""
    worst = 0.0
    for _ in range(50):
        x = rng.normal(size=len(V)) * np.sqrt(np.diag(V) / np.diag(V).max())
        truth = float(np.sqrt(x.astype(np.longdouble) @ solve(V, x)))
        worst = max(worst, abs(agent.scores(x).width[0] - truth) / truth)
    return worst


def solve(V: Any, x: Any) -> Any:
    """V⁻¹x in long doubles."""
    A, b = np.array(V, dtype=np.longdouble), np.array(x, dtype=np.longdouble)
    for i in range(len(b)):
        for j in range(i + 1, len(b)):
            factor = A[j, i] / A[i, i]
            A[j] -= factor * A[i]
            b[j] -= factor * b[i]
    for i in reversed(range(len(b))):
        b[i] = (b[i] - A[i, i + 1 :] @ b[i + 1 :]) / A[i, i]
    return b


def pull_often(agent: Any, contexts: Array, times: int) -> Array:
    """Pull arm 0 in each context in turn; returns V in long doubles."""
    for i in range(times):
        agent.update(0, contexts[i % len(contexts)], 0.5)
    rounds, rest = divmod(times, len(contexts))
    counts = np.full(len(contexts), rounds, dtype=np.longdouble)
    counts[:rest] += 1
    X = contexts.astype(np.longdouble)
    result: Array = agent.settings.ridge * np.eye(contexts.shape[1], dtype=np.longdouble) + (X * counts[:, None]).T @ X
    return result


def ill_conditioned(times: int) -> None:
    """Features of scales 1 to 10⁻⁴: condition number 10⁸ and more."""
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(97, 4)) * [1.0, 1e-1, 1e-3, 1e-4]
    agent = LinUCB(ridge=1e-9, alpha=1.0).agent(n_arms=1, n_features=4, memory=0)
    V = pull_often(agent, contexts, times)
    assert np.linalg.cond(V.astype(float)) > 1e8 / 2
    assert width_error(agent, V, rng) < 1e-8


def test_widths_after_many_ill_conditioned_updates() -> None:
    ill_conditioned(200_000)


@pytest.mark.slow
def test_widths_after_ten_million_ill_conditioned_updates() -> None:
    ill_conditioned(10_000_000)


@pytest.mark.long
def test_directions_that_were_never_seen_keep_their_width() -> None:
    """One direction 10⁶ times, in features that share it: condition number 10⁶, and the others are still unknown."""
    rng = np.random.default_rng(1)
    u = rng.normal(size=5)
    agent = LinUCB(ridge=1.0, alpha=1.0).agent(n_arms=1, n_features=5, memory=0)
    V = pull_often(agent, (u / np.linalg.norm(u))[None], 1_000_000)
    assert width_error(agent, V, rng) < 1e-8


def test_positive_definiteness_is_never_lost() -> None:
    """Nearly the same context again and again, with the least ridge allowed: widths stay numbers, and never grow."""
    for dtype in ("float64", "float32"):
        agent = LinUCB(ridge=3.01e-10 if dtype == "float64" else 3.01e-3, alpha=1.0).agent(1, 3, dtype=dtype)
        rng, base, x = np.random.default_rng(2), np.array([1.0, 1.0, 1.0]), np.array([1.0, -1.0, 0.5])
        last = np.inf
        for i in range(3000):
            agent.update(0, base + 1e-9 * rng.normal(size=3), 1.0)
            if i % 100 == 0:
                width = float(agent.scores(x).width[0])
                assert np.isfinite(width)
                assert 0 < width <= last * 1.5
                last = width
        inverse = agent._state.inverse(0)
        least, *_, most = np.linalg.eigvalsh(inverse)  # of condition 10¹³: its sign is known up to rounding alone
        assert least > -rounding(operations=10, epsilon=float(np.finfo(dtype).eps)) * most


def test_single_precision_keeps_to_its_bound() -> None:
    """Width's relative error below 10⁻⁶ times the condition number, after 10⁵ updates."""
    rng = np.random.default_rng(3)
    contexts = rng.normal(size=(50, 6)) * [1, 1, 1, 0.3, 0.3, 0.1]
    agent = LinUCB(ridge=1.0, alpha=1.0).agent(n_arms=1, n_features=6, memory=0, dtype="float32")
    V = pull_often(agent, contexts, 100_000)
    assert agent._state.store.dtype == np.float32
    assert width_error(agent, V, rng) < 1e-6 * np.linalg.cond(V.astype(float))


@pytest.mark.parametrize("seed", range(6))
def test_single_precision_keeps_to_its_bound_where_contexts_point_one_way(seed: int) -> None:
    """10⁻⁵ times the condition number: V itself is summed in single precision, and what is rare is lost in the sums."""
    rng = np.random.default_rng(seed)
    d, ridge, scatter = int(rng.integers(2, 7)), float(rng.uniform(0.03, 0.5)), float(10 ** rng.uniform(-4, -1))
    main = rng.normal(size=d)
    rare = np.where(rng.random((10_000, 1)) < 0.05, scatter, 0.0) * rng.normal(size=(10_000, d))
    contexts = 0.9 * main / np.linalg.norm(main) + rare / np.sqrt(d)
    agent = LinUCB(ridge=ridge, alpha=1.0).agent(1, d, memory=0, dtype="float32")
    for x in contexts:
        agent.update(0, x, 0.5)
    V = ridge * np.eye(d) + contexts.T @ contexts
    assert width_error(agent, V, rng) < 1e-5 * np.linalg.cond(V)


def test_few_pulls_are_as_exact_as_many() -> None:
    """The mode for arms with few pulls, and the change to the other."""
    rng = np.random.default_rng(4)
    agent = LinUCB(ridge=0.3, alpha=1.0).agent(n_arms=1, n_features=31, memory=0)
    V, b = 0.3 * np.eye(31), np.zeros(31)
    for i in range(60):
        x, y = rng.normal(size=31), float(rng.normal())
        agent.update(0, x, y)
        V, b = V + np.outer(x, x), b + y * x
        scores, probe = agent.scores(x), np.linalg.solve(V, x)
        assert scores.width[0] == pytest.approx(np.sqrt(x @ probe), rel=1e-10)
        assert scores.mean[0] == pytest.approx(probe @ b, rel=1e-9, abs=1e-10)
        assert (agent._state.arms[0, layout.MODE] >= 0) == (i + 1 < 16)


@pytest.mark.parametrize(
    ("dtype", "ridge", "tolerance"),
    [("float64", 1.0, 1e-9), ("float64", 1e-4, 1e-5), ("float64", 1e-10, 0.1), ("float32", 1.0, 0.05)],
)
def test_one_direction_again_and_again_is_known_as_well_as_it_was_seen(
    dtype: str, ridge: float, tolerance: float
) -> None:
    """V⁻¹ must hold 1/ridge and 1/n side by side: where that is more than rounding allows it is mended now and then."""
    agent, x = LinUCB(ridge=ridge, alpha=1.0, feature_bound=1.0).agent(1, 2, dtype=dtype), np.array([0.6, 0.3])
    for n in range(1, 40_001):
        agent.update(0, x, 1.0)
        if n in (5_000, 20_000, 40_000):
            exact = np.sqrt(x @ x / (ridge + n * (x @ x)))
            assert agent.scores(x).width[0] == pytest.approx(exact, rel=tolerance)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ridge": 1e-11}, r"ridge must be at least 1e-10·feature_bound² = 1e-10 in float64, got 1e-11"),
        ({"ridge": 1e-4, "dtype": "float32"}, r"ridge must be at least 0.001·feature_bound² = 0.001 in float32"),
        (
            {"feature_bound": 1e-30, "ridge": 1e-30, "dtype": "float32"},
            r"ridge must be from 1e-12 to 1e\+12 in float32",
        ),
        ({"feature_bound": 1e30, "ridge": 1e60, "dtype": "float32"}, r"ridge must be from 1e-12 to 1e\+12 in float32"),
        ({"feature_bound": 1e-155, "ridge": 1.0}, r"feature_bound must be from 1e-50 to 1e\+50, got 1e-155"),
        ({"ridge": 1e-200}, r"ridge must be from 1e-100 to 1e\+100, got 1e-200"),
    ],
)
def test_ridges_and_bounds_beyond_what_numbers_can_hold_are_refused(options: dict[str, Any], words: str) -> None:
    dtype, bound = options.pop("dtype", "float64"), options.pop("feature_bound", 1.0)
    with pytest.raises(InvalidParameter, match=words):
        LinUCB(alpha=1.0, feature_bound=bound, **options).agent(1, 2, dtype=dtype)


@pytest.mark.parametrize(
    ("length", "dtype", "tolerance"),
    [(500.0, "float64", 1e-5), (1e4, "float64", 1e-3), (9e4, "float64", 0.1), (9.0, "float32", 0.1)],
)
def test_long_contexts_are_learnt_as_well_where_no_bound_is_known(length: float, dtype: str, tolerance: float) -> None:
    """V⁻¹ is looked at more often after the first one; mean and width were wrong by any factor once."""
    agent, x = LinUCB(ridge=1.0, alpha=1.0).agent(1, 2, dtype=dtype), length * np.array([0.8, 0.6])
    for _ in range(20_000):
        agent.update(0, x, 1.0)
    scores = agent.scores(x)
    assert scores.width[0] == pytest.approx(1 / np.sqrt(20_000 + length**-2), rel=tolerance)
    assert scores.mean[0] == pytest.approx(1.0, rel=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("window", [None, 5])
def test_contexts_too_long_for_the_ridge_are_not_learnt(dtype: str, window: int | None) -> None:
    reach = {"float64": 1e5, "float32": 1e3**0.5}[dtype]
    agent = LinUCB(ridge=1.0, alpha=1.0).agent(2, 2, dtype=dtype, window=window)
    short, long = np.array([0.9 * reach, 0.0]), np.array([1.1 * reach, 0.0])
    agent.update(0, short, 1.0)
    assert agent.choose(long) == 1  # about which nothing is known
    for arms, X, rewards in (
        (0, long, 1.0),
        ([0, 1], np.array([short, long]), [1.0, 1.0]),
        ([0, 1] * 10, np.array([short, long] * 10), [1.0] * 20),
    ):
        with pytest.raises(InvalidParameter, match=rf"x must be at most .* long .* in {dtype}, got length"):
            agent.update(arms, X, rewards)
    assert agent.rewards == 1


@pytest.mark.parametrize("policy", [LinTS(ridge=1e-12), EpsilonGreedy(ridge=1e-12)])
def test_agents_without_a_tuned_form_refuse_what_their_ridge_cannot_hold(policy: Any) -> None:
    """Widths were 20 % wrong after 20,000 rewards; a simulation refuses such a ridge."""
    agent = policy.agent(2, 2)
    with pytest.raises(InvalidParameter, match=r"x must be at most 0\.001 long"):
        agent.update(0, [0.6, 0.3], 1.0)
    agent.update(0, [0.0006, 0.0003], 1.0)
    assert agent.rewards == 1


def test_what_a_window_takes_back_leaves_no_rounding_behind() -> None:
    """Four rewards of an arm at a time in four dimensions, so that each is most of what is known of some direction."""
    rng, ridge = np.random.default_rng(0), 0.45
    last: list[tuple[int, Array]] = []
    agent = LinUCB(alpha=1.0, ridge=ridge, feature_bound=21.0).agent(2, 4, window=8, dtype="float32")
    for t in range(3000):
        x = rng.uniform(-10, 10, 4)
        agent.update(t % 2, x, 1.0)
        last = [*last[-7:], (t % 2, x)]
        if t % 100 == 99:
            query = rng.normal(size=4)
            for arm, width in enumerate(agent.scores(query).width):
                own = np.array([x for k, x in last if k == arm])
                exact = query @ np.linalg.solve(ridge * np.eye(4) + own.T @ own, query)
                assert width == pytest.approx(np.sqrt(exact), rel=2e-4)
