"""The CUDA engine, on the CUDA simulator: no GPU is needed, and all its kernels run, slowly."""

import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan import ContextUCB, LinTS, LinUCBd, Result, simulate
from armspan.environments import FiniteContexts, paper_1a
from armspan.errors import NotApplicable
from armspan.events.regions import regions_of
from armspan.kernels import draws, linear
from armspan.kernels.gpu import form_of, forms
from armspan.kernels.single import in_single
from armspan.simulation.engines import cuda, cuda_launch
from tests.simulation import cuda_cases

ROOT = Path(__file__).parents[2]
LARGE = FiniteContexts(np.ones((50, 1, 30)), np.ones((50, 30)))
HUGE = FiniteContexts(np.ones((2000, 1, 200)), np.ones((2000, 200)))


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    path = tmp_path_factory.mktemp("cuda") / "results.npz"
    slow = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    counted = ["-m", "coverage", "run"] if "COVERAGE_RUN" in os.environ else []  # kernels as plain Python, all of them
    command = [sys.executable, "-W", "error", *counted, "-m", "tests.simulation.cuda_cases", str(path)]
    done = subprocess.run(command, cwd=ROOT, env=slow, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with np.load(path) as archive:
        yield dict(archive.items())


def assert_same(simulated: dict[str, Any], name: str, expected: Result) -> None:
    """The same choices, and the same noise."""
    np.testing.assert_allclose(simulated[f"{name} pseudo_regret"], expected.pseudo_regret, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(simulated[f"{name} suboptimal"], expected.suboptimal_pulls)
    np.testing.assert_allclose(simulated[f"{name} noise"], expected.noise, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(simulated[f"{name} switched"], np.array(list(expected.switched_at.values())))


@pytest.mark.parametrize("name", list(cuda_cases.environments()))
def test_the_same_choices_and_noise_as_on_the_cpu(simulated: dict[str, Any], name: str) -> None:
    assert_same(simulated, name, cuda_cases.run(name, "cpu"))


@pytest.mark.parametrize("name", list(cuda_cases.environments()))
def test_the_generic_kernel_runs_every_family_as_the_cpu_does(simulated: dict[str, Any], name: str) -> None:
    expected = cuda_cases.run(name, "cpu", cuda_cases.everyone(name), **cuda_cases.BRIEF)
    assert_same(simulated, f"{name} generic", expected)


def test_runs_switch_there_too(simulated: dict[str, Any]) -> None:
    assert any(simulated[f"{name} generic switched"].any() for name in cuda_cases.environments())


def test_the_generic_kernel_does_not_depend_on_how_long_launches_are(simulated: dict[str, Any]) -> None:
    np.testing.assert_array_equal(simulated["generic in one launch"], simulated["chain generic pseudo_regret"])


@pytest.mark.parametrize("name", ["registers", "box"])
def test_the_generic_kernel_in_single_precision_is_the_same_to_its_rounding(
    simulated: dict[str, Any], name: str
) -> None:
    single = "single generic" if name == "registers" else "single box generic"
    np.testing.assert_allclose(simulated[f"{single} noise"], simulated[f"{name} generic noise"], rtol=0, atol=1e-4)
    apart = np.abs(simulated[f"{single} pseudo_regret"] - simulated[f"{name} generic pseudo_regret"])
    assert (apart < 1e-4).mean() > 0.9


@pytest.mark.parametrize("name", cuda_cases.EVENTFUL)
def test_the_same_events_as_on_the_cpu(simulated: dict[str, Any], name: str) -> None:
    events = cuda_cases.watched(name, "cpu")
    for part, expected in events.arrays().items():
        np.testing.assert_allclose(simulated[f"{name} {part}"], expected, rtol=0, atol=1e-9)
    assert events.steps.sum() > 0


def test_large_tables_and_states_give_the_same(simulated: dict[str, Any]) -> None:
    np.testing.assert_allclose(simulated["from afar"], simulated["registers pseudo_regret"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(simulated["many"], simulated["registers pseudo_regret"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", list(cuda_cases.team_environments()))
def test_teams_make_the_same_choices(simulated: dict[str, Any], name: str) -> None:
    expected = simulate(cuda_cases.team_environments()[name], cuda_cases.TEAMED, engine="cpu", **cuda_cases.SHORT)
    assert_same(simulated, f"{name} by a team", expected)


def test_a_team_shares_what_it_needs_and_no_more() -> None:
    """V⁻¹, which is K·d² numbers, and little else; what does not fit is left to threads alone."""
    needed = 10 * 20 * 20 * 8
    assert needed < forms.layout(10, 20).bytes_shared(single=False) < 1.4 * needed < forms.MOST_SHARED


@given(K=st.integers(2, 100), d=st.integers(1, 40))
def test_a_team_has_room_for_every_entry_once(K: int, d: int) -> None:
    plan = forms.layout(K, d)
    places = plan.place(*np.ogrid[:K, :d, :d])
    flat = np.ravel_multi_index(np.broadcast_arrays(*places), plan.shape)
    assert np.unique(flat).size == K * d * d
    assert np.broadcast_to(places[1], (K, d, d)).max() < plan.rows
    assert np.broadcast_to(places[2], (K, d, d)).max() < forms.TEAM


@pytest.mark.parametrize(
    ("policy", "K", "d", "form"),
    [
        (LinUCBd(), 2, 2, "Registers"),
        (LinTS(), 10, 20, "Team"),
        (LinUCBd(), 10, 40, "Registers"),  # in the thread's own memory: too much for a team to share
        (LinUCBd(), 50, 30, "Generic"),
        (ContextUCB(), 2, 2, "Generic"),
    ],
)
def test_the_door_knows_the_form_and_what_a_run_carries(policy: Any, K: int, d: int, form: str) -> None:
    problem = cuda_launch.problem_of(FiniteContexts(np.ones((K, 3, d)), np.ones((K, d))), policy)
    assert problem is not None
    found, state = form_of(problem), problem.family.empty(1, **problem.sizes)
    assert type(found).__name__ == form
    problem.family.fresh(state, {"ridge": 2.0})
    learnt = sum(start.size for start in found.start(state))
    assert learnt == sum(np.prod(part.shape) for part in found.groups[0])
    assert found.bytes_per_run >= 8 * learnt
    blocks, threads = found.grid(1000)
    assert blocks * threads >= 1000


def test_events_of_what_only_the_generic_kernel_can_run_are_refused() -> None:
    problem = cuda_launch.problem_of(LARGE, LinUCBd(), watching=True)
    assert problem is not None
    with pytest.raises(NotApplicable, match='cannot count the events of this problem; engine "cpu" can'):
        form_of(problem)


def test_single_precision_is_the_same_to_its_rounding(simulated: dict[str, Any]) -> None:
    np.testing.assert_allclose(simulated["single noise"], simulated["registers noise"], rtol=0, atol=1e-4)
    apart = np.abs(simulated["single pseudo_regret"] - simulated["registers pseudo_regret"])
    assert (apart < 1e-4).mean() > 0.9  # indices come close to each other, so that rounding changes a choice at times


def test_single_precision_does_not_depend_on_how_long_launches_are(simulated: dict[str, Any]) -> None:
    np.testing.assert_array_equal(simulated["single in one launch"], simulated["single pseudo_regret"])


def test_single_precision_says_so_and_ends_where_a_gap_is_lost_to_rounding(simulated: dict[str, Any]) -> None:
    assert str(simulated["single engine"]) == "cuda, float32"
    assert np.isfinite(simulated["narrow"]).all()


def test_an_error_on_one_gpu_stops_the_others_and_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    class FailingChunk:
        def __init__(self, work: Any, rows: slice, policy: Any, gpu: int, **options: bool) -> None:
            made.append(gpu)
            error = type("LinkerError", (Exception,), {"__module__": "numba.cuda"})
            raise error("too much local data\nand more")

    memory = SimpleNamespace(get_memory_info=lambda: (1e5, 2e9))
    gpus = SimpleNamespace(gpus=[nullcontext()], current_context=lambda: memory, is_available=lambda: True)
    monkeypatch.setattr(cuda, "numba_cuda", lambda: gpus)
    monkeypatch.setattr(cuda, "Chunk", FailingChunk)
    with pytest.raises(NotApplicable, match='engine "cuda" failed: too much local data; engine "cpu" uses all cores'):
        simulate(paper_1a(), LinUCBd(), horizon=10, runs=1000, engine="cuda")
    assert made == [0]


def test_chunks_and_progress(simulated: dict[str, Any]) -> None:
    np.testing.assert_allclose(simulated["in two chunks"], simulated["chain pseudo_regret"], rtol=0, atol=1e-12)
    total = len(cuda_cases.usual_policies("chain")) * 3 * cuda_cases.STEPS
    assert simulated["progress"].tolist() == [total, total]


def test_a_stop_is_heard(simulated: dict[str, Any]) -> None:
    assert str(simulated["stopped"]).startswith("stopped with")


@pytest.mark.parametrize("gpus", [1, 2, 8])
@pytest.mark.parametrize("runs", [1, 7, 1 << 20, (1 << 21) + 1])
def test_chunks_hold_every_run_once(runs: int, gpus: int) -> None:
    parts = cuda.chunks(runs, gpus, cuda.MOST_TOGETHER)
    assert [part.start for part in parts] == [0, *[part.stop for part in parts[:-1]]]
    assert parts[-1].stop == runs
    assert len(parts) >= min(gpus, runs)
    assert max(part.stop - part.start for part in parts) <= cuda.MOST_TOGETHER


class OwnPolicy:
    def __init__(self, n_arms: int, n_features: int, seed: int) -> None:
        pass

    def choose(self, x: Any) -> int:
        return 0

    def update(self, arm: int, x: Any, reward: float) -> None:
        pass


class OwnEnvironment:
    n_arms, n_features = 2, 2

    def context(self, step: int, rng: np.random.Generator) -> Any:
        return rng.normal(size=(2, 2))

    def mean_rewards(self, x: Any) -> Any:
        return x[:, 0]


@pytest.mark.parametrize(
    ("env", "policy", "options", "reason"),
    [
        (paper_1a(), OwnPolicy, {}, "the policy OwnPolicy is not compiled for it"),
        (OwnEnvironment(), LinUCBd(feature_bound=1.0, parameter_bound=1.0), {}, "is not compiled for it"),
        (HUGE, LinUCBd(), {}, "what LinUCB-d learns of 2000 arms in finite contexts does not fit into its memory"),
    ],
)
def test_what_cannot_run_on_a_gpu_is_refused_in_a_sentence(
    env: Any, policy: Any, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(NotApplicable, match=f'engine "cuda" cannot be used here: .*{reason}; engine "cpu"'):
        simulate(env, policy, horizon=10, runs=2, engine="cuda", **options)


def test_without_a_gpu_a_sentence_says_what_to_install_or_to_use(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import cuda as numba_cuda

    monkeypatch.setattr(numba_cuda, "is_available", lambda: False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NotApplicable, match=r"needs an NVIDIA GPU, its driver, and `pip install armspan\[cuda\]`"):
        simulate(paper_1a(), LinUCBd(), horizon=10, runs=2, engine="cuda")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    with pytest.raises(NotApplicable, match="no NVIDIA GPU with a working driver was found; engine"):
        simulate(paper_1a(), LinUCBd(), horizon=10, runs=2, engine="cuda")


def test_auto_takes_a_gpu_for_large_work_only_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    monkeypatch.setattr(cuda, "missing", lambda: None)
    monkeypatch.setattr(cuda, "run_on_gpus", lambda work: taken.append(work.runs.size))
    small = simulate(paper_1a(), LinUCBd(), horizon=10, runs=2)
    large = simulate(paper_1a(), LinUCBd(), horizon=2**32, runs=1, checkpoints=[1])
    assert (small.engine, large.engine, taken) == ("cpu", "cuda", [1])
    monkeypatch.setattr(cuda, "missing", lambda: "there is none")
    assert simulate(paper_1a(), LinUCBd(), horizon=10, runs=2).engine == "cpu"


def test_single_precision_has_no_double_in_it() -> None:
    """Every inner function: float32 in, float32 out, however its constants are written."""
    one, word = np.float32(1.5), np.float32(3e9)
    turn, gaussians, score = (plain(inner) for inner in (draws.turn, draws.gaussians, linear.score))
    assert {type(part) for part in turn(word)} == {np.float32}
    assert {type(part) for part in gaussians(-one, word, one)} == {np.float32}
    x, V, theta = np.ones((1, 2, 3), np.float32), np.ones((2, 3, 3), np.float32), np.ones((2, 3), np.float32)
    assert {type(part) for part in score(V, theta, 0, x, 0, 3)} == {np.float32}


def plain(inner: Any) -> Any:
    return in_single(inner.py_func)


def test_several_gpus_share_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of three waits for the others, so that all of them must be at work at once."""
    together, served = threading.Barrier(3, timeout=20), list[tuple[int, range]]()

    class FakeChunk:
        def __init__(self, work: Any, rows: slice, policy: Any, gpu: int, **options: bool) -> None:
            self.gpu, self.rows = gpu, range(rows.start, rows.stop)

        def run(self, curves: Any, suboptimal: Any) -> None:
            together.wait()
            served.append((self.gpu, self.rows))

    memory = SimpleNamespace(get_memory_info=lambda: (1e9, 2e9))
    gpus = SimpleNamespace(gpus=[nullcontext()] * 3, current_context=lambda: memory, is_available=lambda: True)
    monkeypatch.setattr(cuda, "numba_cuda", lambda: gpus)
    monkeypatch.setattr(cuda, "Chunk", FakeChunk)
    simulate(paper_1a(), LinUCBd(), horizon=10, runs=100, engine="cuda")
    assert sorted(gpu for gpu, _ in served) == [0, 1, 2]
    assert sorted(run for _, rows in served for run in rows) == list(range(100))


def test_chunks_fit_into_the_memory() -> None:
    """A thousand numbers a run or so: of 1 MB free, half is used."""
    work: Any = SimpleNamespace(
        env=paper_1a(), policies=[LinUCBd(), ContextUCB()], precision="float64", events={}, regions=None,
        checkpoints=np.arange(500), runs=np.arange(10**6), horizon=1000,
    )  # fmt: skip
    memory = SimpleNamespace(get_memory_info=lambda: (1e6, 2e6))
    gpus = SimpleNamespace(gpus=[nullcontext()], current_context=lambda: memory)
    assert 50 < cuda._runs_that_fit(work, gpus) < 62
    work.regions = regions_of(paper_1a())  # and V of two arms at every checkpoint
    assert 8 < cuda._runs_that_fit(work, gpus) < 12
