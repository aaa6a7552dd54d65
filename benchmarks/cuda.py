"""How fast the CUDA engine is, and how near to the CPU's results; python -m benchmarks.cuda writes benchmarks/cuda.md.

It needs an NVIDIA GPU, and takes some eight minutes on an H200 with 16 cores beside it. With names of parts, it
measures those alone and leaves the others on the page as they are: python -m benchmarks.cuda figure_1a agreement
"""

import datetime
import itertools
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numba
import numpy as np

from armspan import ContextUCB, Greedy, LinUCBd, Result, simulate
from armspan.environments import BoxContexts, Environment, FiniteContexts, paper_1a, paper_1c

FULL = 270_336
"""Runs that an H200 can have under way: 2,048 on each of its 132 multiprocessors."""
PRECISIONS = ("float64", "float32")
TITLES = {
    "figure_1a": "Figure 1a, 500,000 steps",
    "other_problems": "Other problems",
    "larger": "Larger problems",
    "long_sums": "Figure 1a, long after",
    "agreement": "Beside the CPU engine",
    "events": "Events",
}


HEAD = """# The CUDA engine, measured

Every chapter is made by `python -m benchmarks.cuda`, all together or one by one. Seconds are of a whole call of
`simulate`, including copies to the host; the best of up to five calls, after one that compiles. LinUCB-d unless another
policy is named."""


class Page:
    """What is printed, and kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str = "") -> None:
        """Print and keep a line."""
        print(line, flush=True)
        self.lines.append(line)

    def table(self, *columns: str) -> None:
        """Begin a table."""
        self.say("| " + " | ".join(columns) + " |")
        self.say("|---" * len(columns) + "|")

    def row(self, *cells: object) -> None:
        """One more row."""
        self.say("| " + " | ".join(str(cell) for cell in cells) + " |")


def main(names: Sequence[str] = (), path: str | Path = Path(__file__).parent / "cuda.md") -> None:
    """The parts named, or all, to the file: one file, in which every part has a chapter."""
    parts = {part.__name__: part for part in (figure_1a, other_problems, larger, long_sums, agreement, events)}
    before = Path(path).read_text().split("\n## ") if Path(path).exists() else []
    chapters = {chapter.partition("\n")[0]: chapter.strip() for chapter in before[1:]}
    unknown = set(names) - set(parts)
    if unknown:
        raise SystemExit(f"parts must be among {', '.join(parts)}, got {sorted(unknown)[0]}")
    for name in names or parts:
        page = Page()
        page.say(f"\n## {TITLES[name]}\n\n*{card()}*\n")
        parts[name](page)
        chapters[TITLES[name]] = "\n".join(page.lines).strip().removeprefix("## ")
        known = [chapters[title] for title in TITLES.values() if title in chapters]
        Path(path).write_text("\n\n## ".join([HEAD, *known]) + "\n")


def card() -> str:
    """Where and when."""
    gpu = _gpu()
    name = gpu.name.decode() if isinstance(gpu.name, bytes) else gpu.name
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, numba {numba.__version__}"
    versions += f", numba-cuda {version('numba-cuda')}, driver's CUDA {'.'.join(map(str, _driver_version()))}"
    return f"{datetime.date.today()}, {name}, {versions}"


def _driver_version() -> tuple[int, int]:
    from numba.cuda.cudadrv.driver import driver

    module: Any = driver
    return module.get_version()


def _gpu() -> Any:
    from numba import cuda

    module: Any = cuda
    return module.get_current_device()


def timed(
    env: Environment, policy: Any, horizon: int, runs: int, precision: str, *, curve: bool = False, events: bool = False
) -> float:
    """Seconds of a simulation, the best of five; of fewer where they take long."""
    options: dict[str, Any] = {"runs": runs, "engine": "cuda", "precision": precision, "events": events}
    simulate(env, policy, horizon=64, checkpoints=[64], **options)
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        simulate(env, policy, horizon=horizon, checkpoints=None if curve else [horizon], **options)
        best = min(best, time.perf_counter() - start)
        if best > 1:
            break
    return best


def figure_1a(page: Page, horizon: int = 500_000) -> None:
    """Few runs and many, with and without curves."""
    page.table("runs", "precision", "seconds, final regret only", "with 250 checkpoints", "billion steps/s", "goal")
    goals = {(100, "float64"): "0.45 s", (100, "float32"): "0.2 s", (FULL, "float64"): "40", (FULL, "float32"): "100"}
    for runs in (100, FULL):
        for precision in PRECISIONS:
            end = timed(paper_1a(), LinUCBd(), horizon, runs, precision)
            curve = timed(paper_1a(), LinUCBd(), horizon, runs, precision, curve=True)
            more = f"{curve:.3f} ({curve / end - 1:+.1%})"
            page.row(
                f"{runs:,}", precision, f"{end:.3f}", more, f"{runs * horizon / end / 1e9:.2f}", goals[runs, precision]
            )


def other_problems(page: Page) -> None:
    """Continuous contexts at the size of the goal, and the other policy."""
    page.table("problem", "policy", "precision", "runs x steps", "seconds", "billion steps/s")
    for precision in PRECISIONS:
        for env, policy, runs, horizon in (
            (paper_1c(), LinUCBd(), 100_000, 500_000),
            (paper_1a(), ContextUCB(), FULL, 100_000),
        ):
            taken = timed(env, policy, horizon, runs, precision)
            size = f"{runs:,} x {horizon:,}"
            page.row(env.name, policy.name, precision, size, f"{taken:.2f}", f"{runs * horizon / taken / 1e9:.2f}")


def larger(page: Page) -> None:
    """Problems whose state does not fit into registers: a team of 32 threads for each run."""
    gpu = _gpu()
    cycles = gpu.MULTIPROCESSOR_COUNT * gpu.CLOCK_RATE * 1e3
    page.say("Peak: multiply-adds of all lanes (64 per multiprocessor in double precision, 128 in single) at the")
    page.say(
        "highest clock; counted are those of estimates and their update, K(d² + 4d)/2 + 5d²/2 per step, not random"
    )
    page.say(
        "numbers. Same choices: the share of 64 runs that take the CPU engine's choices throughout 20,000 steps.\n"
    )
    page.table("K, d", "contexts", "precision", "runs x steps", "million steps/s", "share of peak", "same choices")
    for (K, d), boxed in itertools.product(((10, 20), (5, 12), (40, 6)), (False, True)):
        env = larger_problem(K, d, boxed=boxed)
        reference = simulate(env, LinUCBd(), horizon=20_000, runs=64, seed=1, engine="cpu")
        for precision in PRECISIONS:
            runs, horizon = 65_536, 5_000
            taken = timed(env, LinUCBd(), horizon, runs, precision)
            rate, work = runs * horizon / taken, K * (d * d + 4 * d) / 2 + 5 * d * d / 2
            share = rate * work / (cycles * (64 if precision == "float64" else 128))
            size, kind = f"{runs:,} x {horizon:,}", "in a box" if boxed else "40 that recur"
            same = same_choices(reference, env, LinUCBd(), precision)
            page.row(f"{K}, {d}", kind, precision, size, f"{rate / 1e6:,.0f}", f"{share:.1%}", same)


def larger_problem(K: int, d: int, *, boxed: bool) -> Environment:
    """A problem with random parameters."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(K, d)) / np.sqrt(d)
    return BoxContexts(theta, -1.0, 1.0) if boxed else FiniteContexts(rng.normal(size=(K, 40, d)) / np.sqrt(d), theta)


def same_choices(reference: Result, env: Environment, policy: Any, precision: str) -> str:
    """The share of runs whose regret is the reference's at all checkpoints."""
    size: dict[str, Any] = {"horizon": reference.horizon, "runs": reference.runs.tolist(), "seed": reference.seed}
    ours = simulate(env, policy, engine="cuda", precision=precision, **size)
    apart = np.abs(ours.pseudo_regret - reference.pseudo_regret).max(axis=(0, 2))
    return f"{(apart < 1e-3).mean():.2%}"


def agreement(page: Page, runs: int = 4000, others: int = 2000) -> None:
    """The same choices as the CPU's, and the same distribution of the final regret."""
    from scipy.stats import ks_2samp

    page.say(
        f"The same seed: the share of {runs:,} runs with the same choices throughout 10,000 steps. Other seeds: final"
    )
    page.say(
        f"regret of {others:,} runs, and the p-value of the two-sample Kolmogorov-Smirnov test against the CPU's.\n"
    )
    page.table("problem", "policy", "precision", "same choices", "steps", "final regret, CPU", "GPU", "p-value")
    for env, policy, horizon in (
        (paper_1a(), LinUCBd(), 500_000),
        (paper_1a(), ContextUCB(), 500_000),
        (paper_1a(), Greedy(), 500_000),
        (paper_1c(), LinUCBd(), 500_000),
    ):
        same = simulate(env, policy, horizon=10_000, runs=runs, seed=1, engine="cpu")
        other = simulate(env, policy, horizon=horizon, runs=others, seed=2, engine="cpu", checkpoints=[horizon])
        for precision in PRECISIONS:
            share = same_choices(same, env, policy, precision)
            options: dict[str, Any] = {"seed": 3, "engine": "cuda", "precision": precision, "checkpoints": [horizon]}
            far = simulate(env, policy, horizon=horizon, runs=others, **options)
            here, there = other.pseudo_regret[0, :, -1], far.pseudo_regret[0, :, -1]
            p = f"{ks_2samp(here, there).pvalue:.2f}"
            page.row(env.name, policy.name, precision, share, f"{horizon:,}", _spread(here), _spread(there), p)


def events(page: Page, runs: int = 50_000, horizon: int = 100_000) -> None:
    """What counting the proof's events costs, and whether the counts are the CPU's."""
    page.say(f"{runs:,} runs of {horizon:,} steps in double precision, with events and without. Same counts: the share")
    page.say("of 200 runs over 10,000 steps whose steps, pulls and misses are the CPU engine's.\n")
    page.table("problem", "seconds", "with events", "same counts")
    for env in (paper_1a(), paper_1c()):
        size: dict[str, Any] = {"horizon": 10_000, "runs": 200, "seed": 1, "events": True}
        here, there = (simulate(env, LinUCBd(), engine=e, **size).events["LinUCB-d"] for e in ("cpu", "cuda"))
        same = np.ones(200, dtype=np.bool_)
        for name in ("steps", "pulls", "misses", "basis_pulls"):
            apart = here.arrays()[name] != there.arrays()[name]
            same &= ~apart.reshape(200, -1).any(axis=1)
        plain = timed(env, LinUCBd(), horizon, runs, "float64")
        counted = timed(env, LinUCBd(), horizon, runs, "float64", events=True)
        page.row(env.name, f"{plain:.2f}", f"{counted:.2f}", f"{same.mean():.1%}")


def long_sums(page: Page, horizon: int = 8_000_000, runs: int = 2000) -> None:
    """Whether single precision still adds up after many steps."""
    page.say(f"{runs:,} runs of {horizon:,} steps, the same seed: do long sums in single precision still add up?\n")
    page.table("policy", "precision", "mean regret after 1/8 of the steps", "after all")
    for policy in (LinUCBd(), ContextUCB()):
        for precision in PRECISIONS:
            options: dict[str, Any] = {"engine": "cuda", "precision": precision, "checkpoints": [horizon // 8, horizon]}
            result = simulate(paper_1a(), policy, horizon=horizon, runs=runs, seed=5, **options)
            page.row(policy.name, precision, *(_spread(column) for column in result.pseudo_regret[0].T))


def _spread(values: Any) -> str:
    return f"{values.mean():,.1f} ± {values.std() / np.sqrt(values.size):.1f}"


if __name__ == "__main__":
    main(sys.argv[1:])
