"""Small simulations of every kind that the CUDA engine knows; run as a program, they go through the CUDA simulator."""

import sys
from typing import Any
from unittest.mock import patch

import numpy as np

from armspan import ContextUCB, Greedy, LinTS, LinUCBd, Result, simulate
from armspan.environments import Bernoulli, BoxContexts, FiniteContexts, MarkovContexts, Rademacher, paper_1a
from armspan.errors import Interrupted
from armspan.events.events import Events
from armspan.events.regions import Regions, regions_of
from armspan.simulation import runner

STEPS = 61
EVENTFUL = ("registers", "chain", "box")
SHORT: Any = {"horizon": 9, "runs": 1, "seed": 2, "checkpoints": [5, 9]}
"""A team of 32 threads is slow to simulate."""
TEAMED = [LinUCBd(), LinTS()]


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


def policies(name: str) -> list[Any]:
    return [LinUCBd(), Greedy(), LinTS()] + ([] if name == "box" else [ContextUCB()])


def run(name: str, engine: str, **options: Any) -> Result:
    usual: dict[str, Any] = {"horizon": STEPS, "runs": [4, 7, 2**31 + 5], "seed": 2**40 + 9}
    usual["checkpoints"] = [1, 2, 8, 9, 40, STEPS]
    return simulate(environments()[name], policies(name), engine=engine, **(usual | options))


def watched(name: str, engine: str) -> Events:
    """What happened in one run of one policy; in the box with given meta-contexts, for their search is slow here."""
    options: dict[str, Any] = {"horizon": 33, "runs": [7], "seed": 3, "checkpoints": [8, 33], "events": True}
    basis = np.zeros((2, 8), dtype=np.bool_)
    basis[0, :4:2] = basis[1, 4::2] = True
    balls = Regions(basis, 0.1, np.array([[[0.5, 0.1], [0.2, -0.6]], [[-0.5, 0.4], [0.3, 0.7]]]), 0.7)
    with patch.object(runner, "regions_of", (lambda env: balls) if name == "box" else regions_of):
        return simulate(environments()[name], LinUCBd(), engine=engine, **options).events["LinUCB-d"]


def main(path: str) -> None:
    """All cases on the CUDA engine, in launches of 4 or 8 steps, with V⁻¹ afresh every 16; results go to the file."""
    from armspan.kernels import cuda as kernels
    from armspan.kernels import cuda_team
    from armspan.simulation.engines import cuda, cuda_launch

    team: Any = cuda_team
    cuda_launch.FIRST_LAUNCH, cuda_launch.FEWEST, cuda_launch.LAUNCH_SECONDS, cuda_launch.STAGE = 200, 1, 0.0, 3
    kernels.REBUILD, kernels.FLUSH = 16, 8
    arrays: dict[str, Any] = {}
    for name in environments():
        result = run(name, "cuda")
        assert result.suboptimal_pulls is not None
        arrays |= {f"{name} pseudo_regret": result.pseudo_regret, f"{name} noise": result.noise}
        arrays[f"{name} suboptimal"] = result.suboptimal_pulls
    for name in EVENTFUL:
        events = watched(name, "cuda").arrays()
        arrays |= {f"{name} {part}": array for part, array in events.items()}
    cuda_launch.FULL = 1
    arrays["many"] = run("registers", "cuda").pseudo_regret
    kernels.MOST_SHARED = kernels.MOST_REGISTERS = 0
    kernels.kernel.cache_clear()
    arrays["from afar"] = run("registers", "cuda").pseudo_regret
    single = run("registers", "cuda", precision="float32")
    with patch.object(cuda_launch, "FIRST_LAUNCH", 10**6):
        arrays["single in one launch"] = run("registers", "cuda", precision="float32").pseudo_regret
    corner = np.array([1.3594946641428347, 1.5690490878809533])  # a box so small that in single precision it is a point
    narrow = BoxContexts(
        [[-1.217718263570188, 1.512720870788054], [0.8433422759475371, -1.5523636543091315]], corner, corner + 7.4e-8
    )
    arrays["narrow"] = simulate(narrow, LinUCBd(), engine="cuda", precision="float32", **SHORT).pseudo_regret
    arrays |= {
        "engine": np.array(single.engine),
        "single pseudo_regret": single.pseudo_regret,
        "single noise": single.noise,
    }
    cuda_launch.MOST_ALONE, team.REBUILD = 0, 4
    for name, env in team_environments().items():
        team = simulate(env, TEAMED, engine="cuda", **SHORT)
        assert team.suboptimal_pulls is not None
        arrays |= {f"{name} by a team": team.pseudo_regret, f"{name} pulls by a team": team.suboptimal_pulls}
    cuda_launch.MOST_ALONE, cuda.MOST_TOGETHER, told = 200, 2, []
    arrays["in two chunks"] = run("chain", "cuda", progress=lambda *now: told.append(now)).pseudo_regret
    arrays["progress"] = np.array(told[-1])
    arrays["stopped"] = np.array(stopped())
    np.savez(path, **arrays)


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
