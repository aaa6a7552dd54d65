"""How fast the CUDA engine is, and how near to the CPU's results; python -m benchmarks.cuda writes benchmarks/cuda.md.

It needs an NVIDIA GPU, and takes some three minutes on an H200.
"""

import datetime
import platform
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np

from armspan import ContextUCB, LinUCBd, simulate
from armspan.environments import BoxContexts, Environment, FiniteContexts, paper_1a, paper_1c

FULL = 270_336
"""Runs that an H200 can have under way: 2,048 on each of its 132 multiprocessors."""
PRECISIONS = ("float64", "float32")


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


def main(path: str | Path = Path(__file__).parent / "cuda.md") -> None:
    """All of it, to the file."""
    page = Page()
    card(page)
    for part in (figure_1a, figure_1c, agreement, larger):
        part(page)
        Path(path).write_text("\n".join(page.lines).rstrip() + "\n")


def card(page: Page) -> None:
    """Where and when."""
    gpu = _gpu()
    name = gpu.name.decode() if isinstance(gpu.name, bytes) else gpu.name
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, numba {numba.__version__}"
    page.say("# The CUDA engine, measured\n")
    page.say(f"{datetime.date.today()}, {name}, {versions}. `python -m benchmarks.cuda` made this page.\n")
    page.say(
        "Seconds are of a whole call of `simulate`, copies to the host and all, the better of two, after one short call"
    )
    page.say("that compiles. LinUCB-d unless another policy is named.\n")


def _gpu() -> Any:
    from numba import cuda

    module: Any = cuda
    return module.get_current_device()


def timed(env: Environment, policy: Any, horizon: int, runs: int, precision: str, *, curve: bool = False) -> float:
    """Seconds of a simulation, the better of two; of one where that is long enough."""
    options: dict[str, Any] = {"runs": runs, "engine": "cuda", "precision": precision}
    simulate(env, policy, horizon=64, checkpoints=[64], **options)
    best = np.inf
    for _ in range(2):
        start = time.perf_counter()
        simulate(env, policy, horizon=horizon, checkpoints=None if curve else [horizon], **options)
        best = min(best, time.perf_counter() - start)
        if best > 5:
            break
    return best


def figure_1a(page: Page, horizon: int = 500_000) -> None:
    """Few runs and many, with and without curves."""
    page.say(f"## Figure 1a, {horizon:,} steps\n")
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
    page.say()


def figure_1c(page: Page) -> None:
    """Continuous contexts at the size of the goal, and the other policy."""
    page.say("## Other problems\n")
    page.table("problem", "policy", "precision", "runs x steps", "seconds", "billion steps/s")
    for precision in PRECISIONS:
        for env, policy, runs, horizon in (
            (paper_1c(), LinUCBd(), 100_000, 500_000),
            (paper_1a(), ContextUCB(), FULL, 100_000),
        ):
            taken = timed(env, policy, horizon, runs, precision)
            size = f"{runs:,} x {horizon:,}"
            page.row(env.name, policy.name, precision, size, f"{taken:.2f}", f"{runs * horizon / taken / 1e9:.2f}")
    page.say()


def larger(page: Page) -> None:
    """Problems whose state does not fit into registers: a team of 32 threads for each run."""
    gpu = _gpu()
    cycles = gpu.MULTIPROCESSOR_COUNT * gpu.CLOCK_RATE * 1e3
    page.say("## Larger problems\n")
    page.say("Peak: multiply-adds of all lanes (64 a multiprocessor in double precision, 128 in single) at the highest")
    page.say(
        "clock; counted are those of estimates and their update, K(d² + 4d)/2 + 5d²/2 a step, not random numbers.\n"
    )
    page.table("K, d", "contexts", "precision", "runs x steps", "seconds", "million steps/s", "share of peak")
    rng = np.random.default_rng(0)
    for K, d in ((10, 20),):
        theta = rng.normal(size=(K, d)) / np.sqrt(d)
        table = FiniteContexts(rng.normal(size=(K, 40, d)) / np.sqrt(d), theta)
        box = BoxContexts(theta, -1.0, 1.0)
        for env, kind in ((table, "40 that recur"), (box, "in a box")):
            for precision in PRECISIONS:
                runs, horizon = 65_536, 5_000
                taken = timed(env, LinUCBd(), horizon, runs, precision)
                rate, work = runs * horizon / taken, K * (d * d + 4 * d) / 2 + 5 * d * d / 2
                share = rate * work / (cycles * (64 if precision == "float64" else 128))
                size = f"{runs:,} x {horizon:,}"
                page.row(f"{K}, {d}", kind, precision, size, f"{taken:.2f}", f"{rate / 1e6:,.0f}", f"{share:.1%}")
    page.say()


def agreement(page: Page, runs: int = 4000) -> None:
    """The same choices as the CPU's, and the same distribution of the final regret."""
    from scipy.stats import ks_2samp

    page.say("## Beside the CPU engine\n")
    page.say(
        f"The same seed: the share of {runs:,} runs with the same choices throughout 10,000 steps. Other seeds: final"
    )
    page.say(
        "regret after the full length, and the p-value of the two-sample Kolmogorov-Smirnov test against the CPU's.\n"
    )
    page.table("problem", "precision", "same choices", "final regret, CPU", "GPU", "p-value")
    for env, horizon in ((paper_1a(), 500_000), (paper_1c(), 100_000)):
        same = simulate(env, LinUCBd(), horizon=10_000, runs=runs, seed=1, engine="cpu")
        other = simulate(env, LinUCBd(), horizon=horizon, runs=runs, seed=2, engine="cpu", checkpoints=[horizon])
        for precision in PRECISIONS:
            ours = simulate(env, LinUCBd(), horizon=10_000, runs=runs, seed=1, engine="cuda", precision=precision)
            apart = np.abs(ours.pseudo_regret - same.pseudo_regret).max(axis=(0, 2))
            options: dict[str, Any] = {"seed": 3, "engine": "cuda", "precision": precision, "checkpoints": [horizon]}
            far = simulate(env, LinUCBd(), horizon=horizon, runs=runs, **options)
            here, there = other.pseudo_regret[0, :, -1], far.pseudo_regret[0, :, -1]
            share = f"{(apart < 1e-3).mean():.2%}"
            page.row(env.name, precision, share, _spread(here), _spread(there), f"{ks_2samp(here, there).pvalue:.2f}")
    page.say()


def _spread(values: Any) -> str:
    return f"{values.mean():,.1f} ± {values.std() / np.sqrt(values.size):.1f}"


if __name__ == "__main__":
    main()
