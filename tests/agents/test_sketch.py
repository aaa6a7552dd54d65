"""Sketches of V⁻¹ in single precision: never out of date, never wrong by more than they say, and never noticed."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armspan
from armspan import LinUCB
from armspan._typing import FloatArray
from armspan.kernels import agent_layout as layout
from armspan.kernels import triangles
from armspan.kernels.sketch import SMALLEST_RIDGE, draw_sketch, narrow_row, sketch_size, sketched_form


@armspan.kernels._compile.exact_kernel
def drawn(store: Any, sketch: Any, x: Any, singles: Any) -> Any:
    """The form of arm 1, after its sketch was drawn."""
    draw_sketch(store, sketch, np.uint64(1), np.uint64(x.shape[1]))
    narrow_row(x, 0, singles, 1)
    return sketched_form(sketch, np.uint64(1), singles, 1)


def sketches(agent: Any) -> Any:
    """An agent's sketches (K, ...)."""
    whole, K, width = agent._state.whole, len(agent.arms), int(agent._state.head[layout.SKETCH])
    return whole[len(whole) - K * width // 2 :].view(np.float32).reshape(K, width)


def tiled(A: FloatArray) -> FloatArray:
    """A sketch as the module says that it is: roots, and then for every eight rows the tiles up to the diagonal."""
    d = len(A)
    size = -(-d // 8) * 8
    wide, roots = np.zeros((size, size)), np.zeros(size)
    wide[:d, :d], roots[:d] = np.tril(A) - np.diag(np.diag(A)) / 2, np.sqrt(np.diag(A))
    tiles = [wide[i : i + 8, j : j + 8].ravel() for i in range(0, size, 8) for j in range(0, i + 8, 8)]
    return np.concatenate([roots, *tiles])


def assert_up_to_date(agent: Any) -> int:
    """Sketches that count are those of today's V⁻¹; returns how many there are."""
    inside, count = agent._state, 0
    for k in range(len(agent.arms)):
        if inside.arms[k, layout.MODE] == layout.SKETCHED:
            expected, count = tiled(inside.inverse(k)), count + 1
            np.testing.assert_allclose(sketches(agent)[k], expected, rtol=2e-5, atol=1e-30)
    return count


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 70), st.floats(-8, 4), st.floats(-4, 4), st.floats(0, 8))
def test_a_form_is_never_wrong_by_more_than_it_says(
    seed: int, d: int, size: float, length: float, spread: float
) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(d, d)) * 10.0 ** rng.uniform(-spread, 0, size=d)
    A = 10.0**size * (root @ root.T)
    x = 10.0**length * rng.normal(size=(1, d)) / math.sqrt(d)
    store, sketch = np.zeros((2, d * (d + 2))), np.full((2, sketch_size(d)), 0, dtype=np.float32)
    store[1, d : d + d * (d + 1) // 2] = A[np.tril_indices(d)]
    A = triangles.unpacked(store[1, d : d + d * (d + 1) // 2], d)
    form, error = drawn(store, sketch, x, np.zeros((2, -(-d // 8) * 8), dtype=np.float32))
    wide = np.longdouble(x[0])
    assert abs(wide @ A.astype(np.longdouble) @ wide - form) <= error
    largest = (np.abs(x[0]) @ np.sqrt(np.diag(A))) ** 2
    assert error <= 1e-5 * largest + 1e-24  # and it says little


def within_one(x: FloatArray) -> FloatArray:
    """Contexts (..., d), none longer than 1."""
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1.0) * (1 - 1e-12)


def twins(policy: Any, K: int, d: int, **options: Any) -> tuple[Any, Any]:
    """An agent with sketches, and one without."""
    sketched, plain = policy.agent(K, d, **options), policy.agent(K, d, **options)
    assert sketched._state.head[layout.SKETCH] > 0
    plain._state.head[layout.SKETCH] = 0
    return sketched, plain


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    K=st.integers(2, 12),
    d=st.sampled_from([24, 25, 32, 47, 65, 130]),
    own=st.booleans(),
    alpha=st.sampled_from([0.0, 0.3, 2.0, "practical"]),
    ridge=st.sampled_from([1e-10, 1e-6, 1.0, 100.0]),
    grid=st.booleans(),
)
def test_choices_are_the_same_without_them(
    seed: int, K: int, d: int, own: bool, alpha: Any, ridge: float, grid: bool
) -> None:
    """Also where many arms are tied or nearly so, as contexts on a grid make them."""
    rng = np.random.default_rng(seed)
    pair = twins(LinUCB(alpha=alpha, ridge=ridge), K, d, seed=seed)
    theta = rng.normal(size=(K, d)) / np.sqrt(d)
    log = within_one(rng.normal(size=(2 * d * K, d)))
    arms = rng.integers(K, size=len(log))
    for agent in pair:
        agent.update(arms, log, np.einsum("nd,nd->n", log, theta[arms]))
    for t in range(60):
        x = (
            rng.integers(-1, 2, size=(K, d) if own else d).astype(float)
            if grid
            else rng.normal(size=(K, d) if own else d)
        )
        x = within_one(x) * 10.0 ** rng.integers(-6, 1)
        chosen = {agent.choose(x) for agent in pair}
        assert len(chosen) == 1
        arm = chosen.pop()
        for agent in pair:
            agent.update(arm, x, t % 3 / 2)
    assert_up_to_date(pair[0])


@pytest.mark.parametrize("options", [{}, {"window": 300}, {"half_life": 200.0}], ids=["all", "window", "half-life"])
def test_they_are_never_out_of_date(options: dict[str, Any], tmp_path: Path) -> None:
    """Whatever writes V⁻¹: single rewards, many, arms that come and go, files, merging, windows, repair."""
    rng, d = np.random.default_rng(7), 27
    agent: Any = LinUCB(alpha=1.0, ridge=1e-3).agent(arms=["a", "b", "c"], n_features=d, **options)

    def live(steps: int) -> None:
        for _ in range(steps):
            x = within_one(rng.normal(size=(len(agent.arms), d)))
            agent.update(agent.choose(x), x, float(rng.normal()))

    seen = 0
    for _ in range(3):
        live(150)
        seen += assert_up_to_date(agent)
        agent.update(["a", "b", "a"] * 40, within_one(rng.normal(size=(120, d))), rng.normal(size=120))
        seen += assert_up_to_date(agent)
        agent.add_arm(f"new {seen}")
        live(40)
        agent.remove_arm(f"new {seen}")
        seen += assert_up_to_date(agent)
        agent.save(tmp_path / "agent")
        agent = armspan.load_agent(tmp_path / "agent")
        seen += assert_up_to_date(agent)
        live(20)
        seen += assert_up_to_date(agent)
        if not options:
            agent.merge(agent.copy())
            assert_up_to_date(agent)
    assert seen > 10


@pytest.mark.parametrize(
    ("d", "own", "used"),
    [(23, True, False), (24, True, True), (24, False, False), (64, False, False), (65, False, True)],
)
def test_they_are_used_where_they_pay(d: int, own: bool, used: bool) -> None:
    rng = np.random.default_rng(3)
    agent: Any = LinUCB(alpha=1.0, feature_bound=1.0).agent(4, d)
    agent.update(np.arange(4 * d) % 4, within_one(rng.normal(size=(4 * d, d))), rng.normal(size=4 * d))
    agent.choose(within_one(rng.normal(size=(4, d) if own else d)))
    assert (assert_up_to_date(agent) > 0) == used


@pytest.mark.parametrize("bound", [1e-6, 1.0, 1e6])
def test_contexts_beyond_single_precision_are_chosen_for_without(bound: float) -> None:
    """There the sketches' bound would not hold."""
    rng = np.random.default_rng(1)
    pair = twins(LinUCB(alpha=1.0, ridge=bound**2, feature_bound=bound), 5, 26)
    log, arms = bound * within_one(rng.normal(size=(400, 26))), rng.integers(5, size=400)
    for agent in pair:
        agent.update(arms, log, log @ np.ones(26) / bound)
    for scale in (1e-30, 1e-9, 1e-4, 1.0):
        for _ in range(30):
            x = bound * scale * within_one(rng.normal(size=(5, 26)))
            assert len({agent.choose(x) for agent in pair}) == 1


def test_a_tiny_ridge_has_none() -> None:
    """V⁻¹ may then be too large for single precision."""
    tiny: Any = LinUCB(alpha=1.0, ridge=SMALLEST_RIDGE / 2, feature_bound=1e-6).agent(3, 26)
    assert tiny._state.head[layout.SKETCH] == 0
