"""Small simulations of every kind that the CUDA engine knows; run as a program, they go through the CUDA simulator."""

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, ClassVar, NamedTuple
from unittest.mock import patch

import numpy as np

from armspan import (
    BestFixedArm,
    ContextUCB,
    EpsilonGreedy,
    Greedy,
    GreedyFirst,
    LinTS,
    LinUCB,
    LinUCBd,
    Result,
    simulate,
)
from armspan.environments import Bernoulli, BoxContexts, FiniteContexts, MarkovContexts, Rademacher, paper_1a
from armspan.errors import Interrupted, NotApplicable
from armspan.events.events import Events
from armspan.events.regions import Regions, regions_of
from armspan.kernels._compile import inlined, kernel
from armspan.kernels.families import counts, linear, sampled
from armspan.kernels.family import Field
from armspan.kernels.gpu import forms
from armspan.kernels.life import live
from armspan.kernels.philox import HALF, POLICIES, unit, words
from armspan.policies import POLICIES as REGISTERED
from armspan.policies import Policy, optimistic
from armspan.simulation import runner
from armspan.simulation.engines import cuda, cuda_launch

STEPS = 25
EVENTFUL = ("registers", "chain", "box")
SHORT: Any = {"horizon": 6, "runs": 1, "seed": 2, "checkpoints": [3, 6]}
"""A team of 32 threads is slow to simulate."""
TEAMED = [LinUCBd(), LinTS()]
LEARNT = ("practical", "estimated")
BRIEF: Any = {"horizon": 8, "runs": [4, 2**31 + 5], "checkpoints": [1, 5, 8]}
"""For the generic kernel, which is run for everyone."""


def environments() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    features, theta = rng.uniform(size=(3, 5, 3)), rng.normal(size=(3, 3))
    moves = rng.dirichlet(np.ones(5), size=5)
    return {
        "registers": paper_1a(),
        "addresses": FiniteContexts(features, theta, probabilities=rng.dirichlet(np.ones(5)), noise=Rademacher(0.5)),
        "chain": MarkovContexts(features, theta, moves, noise=0.3),
        "box": BoxContexts(theta[:2, :2], -1.0, 1.0, gap=0.3),
        "clicks": FiniteContexts(features[:, :, :2] / 2, np.abs(theta[:, :2]) / 4, noise=Bernoulli()),
        "ties": FiniteContexts(np.ones((4, 2, 2)), np.ones((4, 2)) * np.arange(4)[:, None]),
    }


def team_environments() -> dict[str, Any]:
    """Four of those, and one with more arms than a team has threads."""
    rng = np.random.default_rng(6)
    crowd = FiniteContexts(rng.uniform(size=(35, 3, 2)), rng.normal(size=(35, 2)))
    return {name: environments()[name] for name in ("addresses", "chain", "box", "clicks")} | {"crowd": crowd}


def usual_policies(name: str) -> list[Any]:
    return [LinUCBd(), Greedy(), LinTS()] + ([] if name == "box" else [ContextUCB()])


def everyone(name: str) -> list[Any]:
    """All of the registry that GPUs run, some with other parameters, one that switches soon, and a family apart.

    But for the best fixed arm in the box, which takes a minute to find without numba.
    """
    env = environments()[name]
    kinds: Any = [kind for kind in REGISTERED.values() if name != "box" or kind is not BestFixedArm]
    shared = LinUCBd(shared=True, label="shared"), LinTS(shared=True, label="shared, sampled")
    learnt = [LinUCB(alpha=how, shared=one, label=f"{how} {one}") for how in LEARNT for one in (False, True)]
    lasting = LinUCB(alpha="practical", half_life=3.0), LinUCB(alpha=0.5, half_life=40.0)
    others = *shared, *learnt, *lasting, EpsilonGreedy(until_sure=True), GreedyFirst(t0=4, label="hasty"), Coin()
    return [policy for policy in (*(kind() for kind in kinds), *others) if runs_there(policy, env)]


def runs_there(policy: Any, env: Any) -> bool:
    try:
        policy.check(env, 1)
    except NotApplicable:
        return False
    return cuda_launch.problem_of(env, policy) is not None


def run(name: str, engine: str, policies: list[Any] | None = None, **options: Any) -> Result:
    usual: dict[str, Any] = {"horizon": STEPS, "runs": [4, 7, 2**31 + 5], "seed": 2**40 + 9}
    usual["checkpoints"] = [1, 2, 8, 9, 24, STEPS]
    return simulate(environments()[name], policies or usual_policies(name), engine=engine, **(usual | options))


def watched(name: str, engine: str) -> Events:
    """What happened in one run of one policy; in the box with given meta-contexts, for their search is slow here."""
    options: dict[str, Any] = {"horizon": 33, "runs": [7], "seed": 3, "checkpoints": [8, 33], "events": True}
    basis = np.zeros((2, 8), dtype=np.bool_)
    basis[0, :4:2] = basis[1, 4::2] = True
    balls = Regions(basis, 0.1, np.array([[[0.5, 0.1], [0.2, -0.6]], [[-0.5, 0.4], [0.3, 0.7]]]), 0.7)
    with patch.object(runner, "regions_of", (lambda env: balls) if name == "box" else regions_of):
        return simulate(environments()[name], LinUCBd(), engine=engine, **options).events["LinUCB-d"]


class CoinState(NamedTuple):
    """What a family has that is like none of the package: pulls and reward_sums (R, K)."""

    pulls: Any
    reward_sums: Any


@inlined
def nothing_of(K, d):  # type: ignore[no-untyped-def]
    return ()


@inlined
def of_run(state, r):  # type: ignore[no-untyped-def]
    return state.pulls[r], state.reward_sums[r]


@inlined
def toss(own, scratch, block, c, knobs, i, run, step, K, d):  # type: ignore[no-untyped-def]
    """With probability knobs[0] any arm, else the largest mean reward, of so many more pulls as knobs[1] says."""
    pulls, reward_sums = own
    chance, which, _, _ = words(block.seed, run, step, 0, POLICIES)
    a: Any = np.int64((which * np.uint64(K)) >> HALF)
    if unit(chance) >= knobs[0][i]:
        a = 0
        for k in range(1, K):
            if reward_sums[k] / (pulls[k] + knobs[1][i]) > reward_sums[a] / (pulls[a] + knobs[1][i]):
                a = k
    return a


@inlined
def note(own, scratch, a, x, c, y, d):  # type: ignore[no-untyped-def]
    own[0][a] += 1
    own[1][a] += y


@kernel
def advance_coin(block, knobs, marks, state, regret, curve, tally):  # type: ignore[no-untyped-def]
    live(block, knobs, marks, state, regret, curve, tally, 0, nothing_of, of_run, toss, note)


room: Any = ModuleType("armspan.kernels.families.coin")
room.FAMILY = replace(
    counts.FAMILY,
    name="coin",
    fields=(Field("pulls", "K", sums=True, dtype=np.int64), Field("reward_sums", "K", sums=True)),
    scratch=(),
    state=CoinState,
    choose=toss,
    learn=note,
    advance=lambda K, d: advance_coin,
    knobs=("epsilon", "more"),
)
sys.modules[room.__name__] = room


@dataclass(frozen=True, kw_only=True)
class Coin(Policy):
    """A policy of that family: it has two knobs, draws numbers of its own, and needs no scratch."""

    title: ClassVar[str] = "coin"
    family: ClassVar[str | None] = "coin"

    def knobs(self, env: Any) -> Mapping[str, Any]:
        return {"epsilon": lambda t: 1 / np.sqrt(t), "more": lambda t: 1.0 + 0.0 * t}

    def reference(self, env: Any) -> Any:
        raise NotImplementedError


def wait_for_threads() -> None:
    """The simulator asks its threads without a pause whether they live; so asked, they get the interpreter."""
    from numba.cuda.simulator import kernel as simulated

    def is_alive(thread: Any) -> bool:
        time.sleep(0)
        return threading.Thread.is_alive(thread)

    threads: Any = simulated.BlockThread
    threads.is_alive = is_alive


@contextmanager
def tidied_every(steps: int) -> Iterator[None]:
    """Linear families that compute V⁻¹ afresh so often."""
    often = (patch.object(home, "FAMILY", replace(home.FAMILY, every=steps)) for home in (linear, sampled))
    with next(often), next(often):
        yield


@contextmanager
def traced(name: str, names: tuple[str, ...] = EVENTFUL) -> Iterator[None]:
    """Coverage looks at those environments that have all kinds of contexts; it would take twice as long."""
    tracers = sys.gettrace(), threading.gettrace()
    if name not in names:
        sys.settrace(None)
        threading.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracers[0])
        threading.settrace(tracers[1])


def main(path: str) -> None:
    """All cases on the CUDA engine, in launches of 4 or 8 steps, with V⁻¹ afresh every 16; results go to the file."""
    from armspan.kernels.gpu import registers

    wait_for_threads()
    cuda_launch.FIRST_LAUNCH, cuda_launch.FEWEST, cuda_launch.LAUNCH_SECONDS, cuda_launch.STAGE = 200, 1, 0.0, 3
    registers.FLUSH = 8
    forms.THREADS, forms.WARP = 4, 2  # the simulator starts a thread for each, whether it has a run or not
    optimistic.LOOKED_AT = 10  # drawing contexts is slow without numba
    arrays: dict[str, Any] = {}
    with tidied_every(16):
        for name in environments():
            with traced(name):
                arrays |= results(name, run(name, "cuda"))
        for name in EVENTFUL:
            events = watched(name, "cuda").arrays()
            arrays |= {f"{name} {part}": array for part, array in events.items()}
        with traced("no more"), patch.object(forms, "FULL", 1):
            arrays["many"] = run("registers", "cuda").pseudo_regret
            registers.MOST_SHARED = registers.MOST_REGISTERS = 0
            registers.kernel.cache_clear()
            arrays["from afar"] = run("registers", "cuda").pseudo_regret
            arrays |= results("single", run("registers", "cuda", precision="float32"))
            with patch.object(cuda_launch, "FIRST_LAUNCH", 10**6):
                arrays["single in one launch"] = run("registers", "cuda", precision="float32").pseudo_regret
        corner = np.array([1.3594946641428347, 1.5690490878809533])  # so small a box is a point in single precision
        narrow = BoxContexts(
            [[-1.217718263570188, 1.512720870788054], [0.8433422759475371, -1.5523636543091315]],
            corner,
            corner + 7.4e-8,
        )
        arrays["narrow"] = simulate(narrow, LinUCBd(), engine="cuda", precision="float32", **SHORT).pseudo_regret
        arrays["in two chunks"], arrays["progress"] = in_two_chunks()
        arrays["stopped"] = np.array(stopped())
    with tidied_every(8), patch.dict(forms.FAST, clear=True):
        for name in environments():
            with traced(name, ("chain",)):
                arrays |= results(f"{name} generic", run(name, "cuda", everyone(name), **BRIEF))
        single: Any = {"precision": "float32"} | BRIEF
        with traced("no more"), patch.object(cuda_launch, "FIRST_LAUNCH", 10**6):
            arrays |= results("single generic", run("registers", "cuda", everyone("registers"), **single))
            arrays |= results("single box generic", run("box", "cuda", everyone("box"), **single))
            arrays["generic in one launch"] = run("chain", "cuda", everyone("chain"), **BRIEF).pseudo_regret
    with tidied_every(4), patch.object(forms, "MOST_ALONE", 0):
        for name, env in team_environments().items():
            with traced(name, ("box", "crowd")):
                arrays |= results(f"{name} by a team", simulate(env, TEAMED, engine="cuda", **SHORT))
    np.savez(path, **arrays)


def results(name: str, result: Result) -> dict[str, Any]:
    """What is compared."""
    assert result.suboptimal_pulls is not None
    return {
        f"{name} pseudo_regret": result.pseudo_regret,
        f"{name} noise": result.noise,
        f"{name} suboptimal": result.suboptimal_pulls,
        f"{name} switched": np.array(list(result.switched_at.values())),
        f"{name} engine": np.array(result.engine),
    }


def in_two_chunks() -> tuple[Any, Any]:
    """Pseudo-regret where the memory has room for two of three runs, and the last that was told of the progress."""
    told: list[tuple[int, int]] = []
    with patch.object(cuda, "MOST_TOGETHER", 2):
        result = run("chain", "cuda", progress=lambda done, total: told.append((done, total)))
    return result.pseudo_regret, np.array(told[-1])


def stopped() -> str:
    """What is said when the user stops it."""

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    try:
        run("chain", "cuda", progress=stop)
    except Interrupted as error:
        return str(error)
    return "nothing"


if __name__ == "__main__":
    main(sys.argv[1])
