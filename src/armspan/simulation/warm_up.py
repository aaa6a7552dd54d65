"""Compile ahead of time what an application or an experiment will use, for example in a container image."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armspan import environments
from armspan._typing import FloatArray, Progress
from armspan.agents import Agent
from armspan.agents.state import SKETCHED_FROM, WIDE_FROM
from armspan.kernels import _compile
from armspan.kernels._compile import Compiled
from armspan.kernels.agent_choice import FOURS_FROM
from armspan.kernels.linear import REBUILD
from armspan.policies import ContextUCB, Greedy, LinTS, LinUCBd
from armspan.simulation.runner import simulate


@dataclass(frozen=True)
class WarmUp:
    """What was compiled.

    Attributes
    ----------
    compiled : tuple
        The kernels that were not yet in the cache, each with its seconds.
    seconds : float
        How long all of it took.
    folder : str or None
        The cache's folder, if there is one.
    """

    compiled: tuple[Compiled, ...]
    seconds: float
    folder: str | None


def warm_up(progress: Progress | None = None) -> WarmUp:
    """Compile all that agents and simulations use on a CPU into the cache on disk, so that later processes start fast.

    The cache is found through NUMBA_CACHE_DIR, XDG_CACHE_HOME or the home folder, which later processes must share.

    Parameters
    ----------
    progress : function, optional
        Called as progress(done, total), in steps of about equal work.

    Returns
    -------
    WarmUp
        What was compiled, and how long it took.
    """
    start, steps = time.perf_counter(), STEPS
    with _compile.recorded() as compiled:
        for number, step in enumerate(steps):
            if progress is not None:
                progress(number, len(steps))
            step()
    if progress is not None:
        progress(len(steps), len(steps))
    return WarmUp(tuple(compiled), time.perf_counter() - start, _compile._FOLDER)


def _agent(d: int = 2, **options: Any) -> Agent:
    return LinUCBd(feature_bound=100.0, parameter_bound=1.0).agent(n_arms=2, n_features=d, seed=0, **options)


def _choose(*shape: int) -> Callable[[], None]:
    """Decisions for contexts of this shape: there are kernels for few, more and many features."""

    def step() -> None:
        _agent(shape[-1]).choose(np.ones(shape))

    return step


def _update() -> None:
    _agent().update(0, np.ones(2), 1.0)


def _update_rows() -> None:
    _agent().update(0, np.ones((2, 2)), 1.0)


def _ask(agent: Agent) -> None:
    """All that can be asked of an agent that has learnt something."""
    agent.decide(np.ones(2), only=[0])
    agent.choose_many(np.ones((4, 2)))
    agent.explain(np.ones(2), 0)
    agent.scores(np.ones(2))
    agent.diversity()
    agent.statistics(0)


def _much() -> None:
    """Batches, a memory that is full, another arm."""
    agent = _agent(memory=2)
    for value in range(8):
        agent.update(0, np.array([1.0, value]), 1.0)
    agent.update(np.zeros(8, dtype=np.int64), np.ones((8, 2)), np.ones(8))
    agent.add_arm(2, like=0)
    _ask(agent)


def _any_family() -> None:
    for policy in (LinTS(scale=1.0), ContextUCB(alpha=1.0)):
        agent = policy.agent(n_arms=2, n_features=2, seed=0)
        agent.update(agent.decide(np.ones(2)).arm, np.ones(2), 1.0)


def _single() -> None:
    agent = _agent(dtype="float32")
    for x in (np.ones(2), np.ones((2, 2))):
        agent.update(0, x, 1.0)
        agent.choose(x)
    _ask(agent)


def _window() -> None:
    for dtype in ("float64", "float32"):
        agent = _agent(window=1, dtype=dtype)
        agent.update(0, np.ones(2), 1.0)
        agent.update(0, np.ones(2), 1.0)


def _simulation(d: int) -> Callable[[], None]:
    """Simulations with d features, for which kernels are made if d is small."""

    def step() -> None:
        rng = np.random.default_rng(0)
        env = environments.FiniteContexts(rng.random((2, 3, d)), rng.random((2, d)))
        simulate(env, [LinUCBd(), ContextUCB(), LinTS()], horizon=64, runs=33, workers=1, engine="cpu")

    return step


class _Own:
    """An environment as users write them."""

    n_arms, n_features, feature_bound, parameter_bound, noise = 2, 2, 2.0, 1.0, 1.0

    def context(self, step: int, rng: np.random.Generator) -> FloatArray:
        return rng.random((2, 2))

    def mean_rewards(self, x: FloatArray) -> FloatArray:
        return x[:, 0]


def _other_worlds() -> None:
    for env in (environments.paper_1b(), environments.paper_1c(0), _Own()):
        simulate(env, Greedy(), horizon=8, runs=1, engine="cpu")
    simulate(environments.paper_1a(), LinUCBd(), horizon=8, runs=1, engine="python")
    simulate(environments.paper_1a(), LinUCBd(), horizon=2 * REBUILD, runs=1, engine="cpu")


def _events() -> None:
    simulate(environments.paper_1a(), LinUCBd(), horizon=8, runs=1, engine="cpu", events=True)


STEPS: tuple[Callable[[], None], ...] = (
    *(
        _choose(*one_row_per_arm, d)
        for d in (2, FOURS_FROM, SKETCHED_FROM, WIDE_FROM)
        for one_row_per_arm in ((), (2,))
    ),
    _update,
    _update_rows,
    _much,
    _single,
    _window,
    _any_family,
    *(_simulation(d) for d in (2, 3, 4, 5)),
    _other_worlds,
    _events,
)
