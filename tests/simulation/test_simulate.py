"""simulate: engines agree, nothing depends on workers or on how runs are split, and regret is what it says."""

import re
import threading
import tracemalloc
from collections import deque
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armspan.environments import BoxContexts, FiniteContexts, paper_1a, paper_1b, paper_1c
from armspan.errors import ArmspanError, Interrupted, InvalidParameter, NotApplicable
from armspan.kernels.linear import REBUILD
from armspan.policies import ContextUCB, Greedy, LinUCB, LinUCBd
from armspan.simulation import Result, concatenate, simulate
from armspan.simulation.engines.blocks import advance_all
from armspan.simulation.plan import LONGEST_BLOCK, as_checkpoints, pieces, python_pieces, segments
from tests import naive
from tests.strategies import environments

FOUR = [LinUCBd(), LinUCB(alpha=0.7), Greedy(), ContextUCB()]


@pytest.mark.long
@given(environments(), st.integers(1, 80), st.integers(0, 2**64 - 1))
def test_the_python_engine_makes_the_same_choices_as_the_cpu_engine(env: Any, horizon: int, seed: int) -> None:
    policies = FOUR if env.n_contexts else FOUR[:3]
    results = [simulate(env, policies, horizon=horizon, runs=2, seed=seed, engine=e) for e in ("python", "cpu")]
    np.testing.assert_allclose(results[0].pseudo_regret, results[1].pseudo_regret, atol=1e-9)
    np.testing.assert_allclose(results[0].regret, results[1].regret, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("env", [paper_1a(), paper_1b(), paper_1c(3)], ids=lambda env: env.name)
def test_engines_agree_over_a_longer_run(env: Any) -> None:
    policies = FOUR if env.n_contexts else FOUR[:3]
    python, cpu = (simulate(env, policies, horizon=900, runs=2, engine=engine) for engine in ("python", "cpu"))
    np.testing.assert_allclose(python.pseudo_regret, cpu.pseudo_regret, rtol=1e-9, atol=1e-9)


@given(environments(), st.integers(1, 3))
@settings(max_examples=12)
def test_workers_do_not_matter(env: Any, workers: int) -> None:
    """Over 20,001 steps, so that blocks differ and V⁻¹ is computed afresh twice."""
    one = simulate(env, FOUR[:3], horizon=20_001, runs=5, workers=1)
    other = simulate(env, FOUR[:3], horizon=20_001, runs=5, workers=workers)
    np.testing.assert_array_equal(one.pseudo_regret, other.pseudo_regret)
    np.testing.assert_array_equal(one.regret, other.regret)


def test_split_runs_concatenate_to_the_whole() -> None:
    options: dict[str, Any] = {"horizon": 20_001, "seed": 5}
    whole = simulate(paper_1a(), FOUR, runs=30, **options)
    parts = [simulate(paper_1a(), FOUR, runs=runs, **options) for runs in (range(7), [7], range(8, 30))]
    joined = concatenate(parts)
    assert list(joined.runs) == list(range(30))
    np.testing.assert_array_equal(joined.pseudo_regret, whole.pseudo_regret)
    np.testing.assert_array_equal(joined.regret, whole.regret)


def test_policies_do_not_disturb_each_other() -> None:
    together = simulate(paper_1a(), FOUR, horizon=500, runs=3)
    for p, policy in enumerate(FOUR):
        alone = simulate(paper_1a(), policy, horizon=500, runs=3)
        np.testing.assert_array_equal(alone.pseudo_regret[0], together.pseudo_regret[p])


def test_a_longer_horizon_begins_like_a_shorter_one() -> None:
    short = simulate(paper_1c(3), LinUCBd(), horizon=3001, runs=3, checkpoints=[1, 77, 3001])
    long = simulate(paper_1c(3), LinUCBd(), horizon=9000, runs=3, checkpoints=[1, 77, 3001])
    np.testing.assert_array_equal(short.regret, long.regret)


class Recorder:
    """A user's policy that pulls arms in turn and remembers what it saw."""

    seen: ClassVar[list["Recorder"]] = []

    def __init__(self, n_arms: int, n_features: int, seed: int) -> None:
        self.n_arms, self.n_features, self.seed, self.arms = n_arms, n_features, seed, [0]
        self.x: list[Any] = []
        self.rewards: list[float] = []
        Recorder.seen.append(self)

    def choose(self, x: Any) -> int:
        self.arms.append((self.arms[-1] + 1) % self.n_arms)
        self.x.append(x)
        return self.arms[-1]

    def update(self, arm: int, x: Any, reward: float) -> None:
        self.rewards.append(reward)


def test_regret_and_pseudo_regret_are_the_papers() -> None:
    Recorder.seen = []
    result = simulate(paper_1a(), Recorder, horizon=400, runs=1, checkpoints=range(1, 401))
    recorder = Recorder.seen[-1]
    table = paper_1a().features
    contexts = np.array([np.flatnonzero((table == x[:, None, :]).all(axis=(0, 2)))[0] for x in recorder.x])
    arms = np.array(recorder.arms[1:])
    means = naive.mean_rewards(paper_1a().features, paper_1a().theta)
    np.testing.assert_allclose(result.pseudo_regret[0, 0], naive.pseudo_regret(means, contexts, arms), atol=1e-10)
    expected = naive.regret(means, contexts, arms, np.array(recorder.rewards))
    np.testing.assert_allclose(result.regret[0, 0], expected, atol=1e-10)


def test_a_users_policy_runs_beside_the_compiled_ones_and_meets_the_same_contexts() -> None:
    Recorder.seen = []
    result = simulate(paper_1a(), [LinUCBd(), Recorder], horizon=50, runs=3, engine="cpu")
    assert result.policies == ("LinUCB-d", "Recorder")
    fresh = Recorder.seen[-3:]
    assert len({recorder.seed for recorder in fresh}) == 3
    block = paper_1a().stream(0, np.arange(3)).draw(0, 50)
    for run, recorder in enumerate(fresh):
        np.testing.assert_array_equal(recorder.x, block.x[block.contexts[run, :50]])


def test_a_policy_with_an_agent_method_works_too() -> None:
    class Family:
        name = "round robin"

        def agent(self, *, n_arms: int, n_features: int, seed: int) -> Recorder:
            return Recorder(n_arms, n_features, seed)

    assert simulate(paper_1a(), [Family()], horizon=5, runs=2).policies == ("round robin",)


class Walk:
    """A user's environment whose contexts depend on the step and on the generator that is handed in."""

    n_arms, n_features, feature_bound, parameter_bound, noise = 3, 2, 2.0, 1.0, 0.1

    def context(self, step: int, rng: np.random.Generator) -> Any:
        return np.array([1.0, np.sin(step)]) + 0.1 * rng.standard_normal((3, 2))

    def mean_rewards(self, x: Any) -> Any:
        return x @ [0.5, 0.5]


def test_a_users_environment_is_the_same_for_every_policy_engine_and_split() -> None:
    options: dict[str, Any] = {"horizon": 120, "seed": 3}
    whole = simulate(Walk(), FOUR[:3], runs=4, **options)
    naive_form = simulate(Walk(), FOUR[:3], runs=4, engine="python", **options)
    np.testing.assert_allclose(whole.pseudo_regret, naive_form.pseudo_regret, atol=1e-9)
    alone = simulate(Walk(), FOUR[2], runs=[2], **options)
    np.testing.assert_array_equal(alone.regret[0, 0], whole.regret[2, 2])


def test_a_shared_context_is_given_to_every_arm() -> None:
    class Shared(Walk):
        def context(self, step: int, rng: np.random.Generator) -> Any:
            return rng.random(2)

        def mean_rewards(self, x: Any) -> Any:
            assert x.shape == (3, 2)
            return x @ [0.5, 0.5] + np.arange(3)

    assert simulate(Shared(), Greedy(), horizon=10, runs=1).pseudo_regret.shape == (1, 1, 10)


def test_errors_in_a_users_code_come_out() -> None:
    class Broken(Recorder):
        def choose(self, x: Any) -> int:
            return 99

    with pytest.raises(InvalidParameter, match=r"Broken\.choose must return an arm from 0 to 1, got 99"):
        simulate(paper_1a(), Broken, horizon=10, runs=2)

    class NaNs(Walk):
        def context(self, step: int, rng: np.random.Generator) -> Any:
            return np.full((3, 2), np.nan if step == 7 else 1.0)

    with pytest.raises(InvalidParameter, match=r"context of step 7 must be finite, got nan at \[0, 0\]"):
        simulate(NaNs(), Greedy(), horizon=10, runs=1)


def test_a_users_policy_that_cannot_be_made_afresh_is_refused() -> None:
    class Bare:
        def choose(self, x: Any) -> int:
            return 0

        def update(self, arm: int, x: Any, reward: float) -> None:
            pass

    class Family:
        def agent(self, n_arms: int) -> Bare:
            return Bare()

    for policy, sentence in (
        (Bare(), "give the class, not an object, so that every run can start afresh: write Bare, not Bare(...)"),
        (Greedy(feature_bound=1.0).agent(2, 2), "give the policy, not its agent, so that every run can start afresh"),
        (Bare, "Bare must have an __init__ that takes n_arms, n_features and seed: "),
        (Family(), "Family must have a method agent that takes n_arms, n_features and seed: "),
    ):
        with pytest.raises(NotApplicable, match=re.escape(sentence)):
            simulate(paper_1a(), policy, horizon=10, runs=2)
    result = simulate(paper_1a(), lambda **sizes: Recorder(**sizes), horizon=5, runs=2)
    assert result.policies == ("<lambda>",)


def test_what_a_users_environment_does_not_know_must_be_given() -> None:
    class Bare:
        n_arms, n_features = 2, 1

        def context(self, step: int, rng: Any) -> Any:
            return [1.0]

        def mean_rewards(self, x: Any) -> Any:
            return [0.0, 1.0]

    with pytest.raises(NotApplicable, match="LinUCB-d needs feature_bound: give it to the policy, or to Bare"):
        simulate(Bare(), LinUCBd(), horizon=5, runs=1)
    simulate(Bare(), LinUCBd(feature_bound=1.0, parameter_bound=1.0), horizon=5, runs=1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"horizon": 0}, "horizon must be an integer from 1 to 4294967296, got 0"),
        ({"horizon": 2.5}, "horizon must be an integer from 1 to 4294967296, got 2.5"),
        ({"runs": 0}, "runs must be an integer from 1 to 4294967296, got 0"),
        ({"runs": []}, "runs must be >= 1, got an empty list"),
        ({"runs": [1, 1]}, "runs must be different from each other"),
        ({"runs": [-1]}, "runs must be an integer from 0 to 4294967295, got -1"),
        ({"seed": -3}, "seed must be an integer from 0 to 18446744073709551615, got -3"),
        ({"engine": "gpu"}, "engine must be one of auto, cpu, cuda, python, got 'gpu'"),
        ({"precision": "float16"}, "precision must be one of float64, float32, got 'float16'"),
        ({"engine": "cpu", "precision": "float32"}, "precision must be \"float64\" on the engine 'cpu', got 'float32'"),
        ({"workers": 0}, "workers must be an integer >= 1, got 0"),
        ({"checkpoints": [0, 5]}, "checkpoints must be from 1 to the horizon 10, got 0"),
        ({"checkpoints": [11]}, "checkpoints must be from 1 to the horizon 10, got 11"),
        ({"checkpoints": [1.5]}, "checkpoints must be a list of step numbers"),
        ({"policies": []}, "policies must name at least one policy, got none"),
        ({"policies": [7]}, "a policy must be one of armspan's"),
        ({"policies": LinUCBd}, "a policy must be an object, got the class; write LinUCBd()"),
        ({"policies": [LinUCB(alpha=lambda t: "x")]}, "alpha must give one number per step, got str"),
        ({"policies": [LinUCB(alpha=[1.0, 2.0])]}, "alpha must have one entry per step, got 2 entries for step 10"),
    ],
)
def test_bad_input(options: dict[str, Any], sentence: str) -> None:
    arguments: dict[str, Any] = {"policies": [LinUCBd()], "horizon": 10, "runs": 2} | options
    with pytest.raises(ArmspanError) as caught:
        simulate(paper_1a(), **arguments)
    assert str(caught.value).startswith(sentence)


def test_progress_is_told_from_the_calling_thread_and_reaches_the_end() -> None:
    calls: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        assert threading.current_thread() is threading.main_thread()
        calls.append((done, total))

    simulate(paper_1a(), FOUR, horizon=5000, runs=10, progress=progress)
    assert calls[-1] == (4 * 5000 * 10, 4 * 5000 * 10)
    assert calls == sorted(calls)


def test_ctrl_c_keeps_the_finished_runs() -> None:
    class Stops(Recorder):
        def choose(self, x: Any) -> int:
            if len(Recorder.seen) > 5:  # one agent is made to try out the policy, then one for each run
                raise KeyboardInterrupt
            return super().choose(x)

    Recorder.seen = []
    with pytest.raises(Interrupted, match=r"stopped with \d of 50 runs finished") as caught:
        simulate(paper_1a(), Stops, horizon=20_000, runs=50, checkpoints=[1, 20_000])
    partial = caught.value.partial
    assert isinstance(partial, Result)
    assert list(partial.runs) == list(range(partial.runs.size))
    assert partial.runs.size == 4
    whole = simulate(paper_1a(), Recorder, horizon=20_000, runs=partial.runs.size, checkpoints=[1, 20_000])
    np.testing.assert_array_equal(partial.pseudo_regret, whole.pseudo_regret)
    assert not isinstance(caught.value, Exception)


def test_memory_does_not_grow_with_the_horizon() -> None:
    env = BoxContexts(np.random.default_rng(0).normal(size=(3, 3)), -1, 1)

    def peak(horizon: int) -> int:
        tracemalloc.start()
        simulate(env, LinUCBd(), horizon=horizon, runs=2, checkpoints=[horizon], workers=1)
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return result

    peak(20_000)
    assert peak(400_000) < 1.5 * peak(20_000)


def test_checkpoints_are_about_200_on_a_log_scale() -> None:
    marks = as_checkpoints(None, 500_000)
    assert 190 <= marks.size <= 240
    assert (marks[0], marks[-1]) == (1, 500_000)
    assert {31_250, 125_000, 250_000} <= set(marks)
    assert np.all(np.diff(np.log(marks[marks > 100])) < 0.06)
    assert list(as_checkpoints(None, 1)) == [1]


@given(st.integers(1, 5000), st.integers(1, 64).map(lambda half: 2 * half), st.data())
def test_segments_cover_every_step_and_checkpoint_once(horizon: int, block: int, data: Any) -> None:
    marks = np.unique(data.draw(st.lists(st.integers(1, horizon), min_size=1, max_size=20)))
    steps, found = 0, []
    for first, size, ends, columns in segments(horizon, marks, block):
        assert first == steps
        assert first % 2 == 0
        assert ends[-1] == size
        found += list(first + ends[: columns.stop - columns.start])
        steps += size
    assert steps == horizon
    assert found == list(marks)


@given(st.integers(1, 3000), st.integers(1, 10**6), st.integers(2, 300), st.integers(1, 300), st.integers(1, 9))
def test_chunks_cover_every_run_once(runs: int, horizon: int, n_arms: int, n_features: int, workers: int) -> None:
    block, chunks, _ = pieces(runs, horizon, n_arms, n_features, 2, workers)
    assert [run for chunk in chunks for run in range(chunk.start, chunk.stop)] == list(range(runs))
    assert len(chunks) >= min(workers, runs)
    assert 64 <= block <= LONGEST_BLOCK
    assert REBUILD % block == 0  # so that V⁻¹ is computed afresh at the same steps whatever the blocks are
    assert max(chunk.stop - chunk.start for chunk in chunks) <= max(1, -(-runs // (2 * workers)) + 1)
    assert python_pieces(runs).chunks == [slice(run, run + 1) for run in range(runs)]


@given(st.integers(1, 3000), st.integers(1, 10**6), st.integers(1, 9), st.integers(2, 32), st.data())
def test_chunks_are_made_of_whole_groups_where_that_pays(
    runs: int, horizon: int, workers: int, together: int, data: Any
) -> None:
    least = data.draw(st.integers(1, together))
    chunks = pieces(runs, horizon, 2, 2, 1, workers, (together, least)).chunks
    assert [run for chunk in chunks for run in range(chunk.start, chunk.stop)] == list(range(runs))
    groups, each = -(-runs // together), -(-runs // workers)
    if each >= least and each * workers >= least * groups:  # a group takes as long as `least` runs alone
        assert all(chunk.start % together == 0 for chunk in chunks)
        assert len(chunks) >= min(workers, groups)
    else:
        assert chunks == pieces(runs, horizon, 2, 2, 1, workers).chunks


def test_the_last_chunks_take_turns_so_that_threads_finish_together() -> None:
    def lived(name: str) -> Iterator[None]:
        for _ in range(2):
            advanced.append(name)
            yield

    for last, order in ((0, "aabbccddee"), (2, "aabbcdecde"), (4, "abcdeabcde")):
        advanced: list[str] = []
        advance_all(SimpleNamespace(stopped=False), deque(lived(name) for name in "abcde"), last)  # type: ignore[arg-type]
        assert "".join(advanced) == order


def test_long_chunks_are_finished_one_after_the_other_so_that_ctrl_c_keeps_them() -> None:
    """In turns, all would be unfinished nearly until the end; that is no loss where chunks take seconds."""
    assert pieces(100, 500_000, 2, 2, 1, 2, (32, 10)).in_turns
    assert not pieces(100, 500_000, 2, 2, 1, 1, (32, 10)).in_turns
    assert not pieces(8, 10**6, 20, 60, 1, 2).in_turns


def test_blocks_are_longer_where_contexts_recur() -> None:
    """A block of contexts that do not recur holds features: 4 MiB of them at most, unless 64 steps are more."""
    assert pieces(512, 10**6, 2, 2, 1, 16, (32, 10), recurring=True).block == 8192
    block, chunks, _ = pieces(512, 4000, 10, 10, 1, 16)
    assert block * max(chunk.stop - chunk.start for chunk in chunks) * 10 * 10 * 8 <= 2**22
    assert pieces(9, 100, 300, 300, 1, 1).block == 64


def test_threads_share_what_depends_on_the_step_alone() -> None:
    """α_t is computed once for each block of steps, however many chunks of runs there are."""
    asked = []

    def alpha(t: Any) -> Any:
        asked.append((int(t[0]), int(t[-1])))
        return np.sqrt(np.log(t + 1.0))

    policy = LinUCB(alpha=alpha)
    expected = simulate(paper_1a(), policy, horizon=20_000, runs=1, workers=1).pseudo_regret
    asked.clear()
    found = simulate(paper_1a(), policy, horizon=20_000, runs=9, workers=3).pseudo_regret
    np.testing.assert_array_equal(found[:, :1], expected)
    assert len(set(asked)) >= 3
    assert len([block for block in asked if block[1] > 1]) <= 2 * len(set(asked))


@pytest.mark.long
def test_contexts_that_a_users_code_keeps_do_not_change() -> None:
    """Blocks of continuous contexts use the same memory again."""

    class Keeper(Recorder):
        def choose(self, x: Any) -> int:
            kept.append((x, x.copy()))
            return 0

    kept: list[Any] = []
    simulate(BoxContexts(np.eye(2), -1, 1), Keeper, horizon=200, runs=1)
    assert len(kept) >= 200
    for x, then in kept:
        np.testing.assert_array_equal(x, then)


def test_very_long_runs_are_not_kept_waiting_for_their_group() -> None:
    assert pieces(100, 10**9, 2, 2, 1, 2, (32, 10)).chunks == [slice(run, run + 1) for run in range(100)]


@pytest.mark.long
def test_a_users_policy_cannot_change_what_the_others_meet() -> None:
    class Vandal(Recorder):
        def choose(self, x: Any) -> int:
            with pytest.raises(ValueError, match="read-only"):
                x *= 0
            return 0

    alone = simulate(paper_1a(), LinUCBd(), horizon=100, runs=2)
    beside = simulate(paper_1a(), [Vandal, LinUCBd()], horizon=100, runs=2)
    np.testing.assert_array_equal(alone.pseudo_regret[0], beside.pseudo_regret[1])


def test_a_singular_regression_is_survived() -> None:
    """Collinear features and next to no ridge: V is singular to rounding, and no NaN comes of it. Less is refused."""
    direction = np.ones((3, 4, 1)) * np.arange(1, 5)[None, :, None] * np.ones(3)
    env = FiniteContexts(direction, [[0.3, 0.1, 0.2], [0.1, 0.1, 0.1], [0.2, 0.0, 0.0]])
    least = 1e-6 * env.feature_bound**2
    result = simulate(env, LinUCB(ridge=least, alpha=1.0), horizon=40_000, runs=5)
    assert np.isfinite(result.regret).all()
    with pytest.raises(InvalidParameter, match=r"ridge must be at least 1e-06·l² = 4.8e-05, .* got 1e-13"):
        simulate(env, LinUCB(ridge=1e-13, alpha=1.0), horizon=10, runs=1)


@pytest.mark.parametrize("bound", [1e200, 1e-155])
def test_bounds_whose_squares_are_no_numbers_are_refused(bound: float) -> None:
    with pytest.raises(InvalidParameter, match="feature_bound must be from 1e-50 to 1e"):
        LinUCBd(feature_bound=bound)
    env = FiniteContexts(1e-160 * np.ones((2, 2, 1)), [[0.1], [0.2]])
    with pytest.raises(InvalidParameter, match="feature_bound must be from 1e-50 to 1e"):
        simulate(env, LinUCBd(), horizon=10, runs=1)


def test_same_names_are_numbered() -> None:
    result = simulate(paper_1a(), [Greedy(), Greedy(), Greedy(label="other")], horizon=5, runs=1)
    assert result.policies == ("greedy", "greedy (2)", "other")


def test_an_environment_without_noise_or_reward_runs() -> None:
    env = FiniteContexts(np.ones((2, 1, 1)), np.zeros((2, 1)), noise=0.0)
    assert not simulate(env, FOUR, horizon=50, runs=2).regret.any()
