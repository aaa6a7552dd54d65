"""The growth verdict: does a regret curve stay constant, or grow like log t, √t or t? By a stated rule, or undecided.

The rule looks at the end of the mean pseudo-regret R(t), with T the last checkpoint.

- *constant*: of R(T), at most 1 % came after T/2.
- Otherwise compare the last two quadruplings of time, A = R(T/4) - R(T/16) and B = R(T) - R(T/4). Regret like t^γ
  has B/A = 4^γ and regret like log t has B/A = 1, so γ = log₄(B/A) decides: *logarithmic* within ¼ of 0,
  *square-root* within ¼ of ½, *linear* from ¾ on.
- *undecided* where the 95 % interval of the deciding number, from 2,000 bootstrap resamples of the runs (with more than
  500 runs, from the normal limit of their means, unless a few decide), is not within one verdict's range; where γ < -¼
  (flattening faster than a logarithm, but not flat yet); with fewer than 5 runs; and where T < 16, or no checkpoint is
  within a factor 1.5 of T/16, T/4 and T/2.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from armspan._typing import FloatArray, IntArray

RULE = (
    "The growth verdict looks at the end of the mean curve R(t). Constant: at most 1 % of R(T) came after T/2. "
    "Otherwise γ = log₄ of (R(T) − R(T/4)) / (R(T/4) − R(T/16)) decides: within ¼ of 0 logarithmic, within ¼ of ½ "
    "square-root, from ¾ on linear. Undecided where the 95 % interval over the runs is not within one range."
)
"""The rule in a few sentences, for pages."""
FLAT = 0.01
"""Growth over the last doubling, as a share of the regret, up to which a curve counts as constant."""
FEWEST_RUNS = 5
RESAMPLES = 2_000
MOST_KEPT = 500
"""Runs up to which resamples are drawn one by one, and kept for the next result with as many: 8 MB."""
FEW_DECISIVE, MOST_RESAMPLED = 50, 20_000
"""Beyond that, they are where as few runs as these decide, and with no more runs than these: seconds."""


@dataclass(frozen=True)
class Growth:
    """A verdict on one policy's curves.

    verdict : "constant", "logarithmic", "square-root", "linear" or "undecided".
    last_doubling : share of the mean regret at T that came after T/2, and its 95 % interval.
    exponent : γ = log₄(B/A), and its 95 % interval; nan where nothing was gained.
    reason : the verdict in a sentence.
    """

    verdict: str
    last_doubling: float
    last_doubling_interval: tuple[float, float]
    exponent: float
    exponent_interval: tuple[float, float]
    reason: str


def growth(checkpoints: IntArray, curves: FloatArray) -> Growth:
    """The verdict on curves (R, C) of pseudo-regret at checkpoints (C,)."""
    T = checkpoints[-1]
    sixteenth, quarter, half, end = (_at(checkpoints, curves, T / part) for part in (16, 4, 2, 1))
    gains = np.stack([quarter - sixteenth, end - quarter, end - half, end])  # (4, R)
    A, B, last, total = gains.mean(axis=1)
    share, gamma = float(_share(last, total)), float(_exponent(A, B))
    runs = curves.shape[0]
    blind = _blind(checkpoints, runs) if np.isfinite(gains).all() else "Not all of the regret is a finite number."
    if blind:
        unknown = (float("nan"), float("nan"))
        return Growth("undecided", share, unknown, gamma, unknown, blind)
    few = runs <= MOST_KEPT  # and no BLAS, which may round by the number of its threads
    resampled = np.einsum("gr,rs->gs", gains, _weights(runs)) if few else _resampled(gains)
    shares, gammas = _share(resampled[2], resampled[3]), _exponent(resampled[0], resampled[1])
    share_interval, gamma_interval = _interval(shares), _interval(gammas)
    verdict, reason = _decide(share, share_interval, gamma, gamma_interval)
    return Growth(verdict, share, share_interval, gamma, gamma_interval, reason)


def _resampled(gains: FloatArray) -> FloatArray:
    """Means (4, RESAMPLES) of resampled runs, drawn from the normal distribution which those of many runs have.

    Where a few runs have most of a gain, that is not so, and they are resampled one by one.
    """
    largest, runs = np.abs(gains).max(), gains.shape[1]
    if largest == 0:
        return np.zeros((4, RESAMPLES))
    gains = gains / largest  # of which only ratios count
    squares = np.maximum((gains**2).sum(axis=1), 1e-300)
    decisive = (gains.sum(axis=1) ** 2 / squares)[squares > 1e-300].min()  # as if so many runs had equal parts
    if decisive < FEW_DECISIVE and runs <= MOST_RESAMPLED:
        rng = np.random.default_rng(0)
        batches = np.array_split(np.arange(RESAMPLES), -(-RESAMPLES * runs // 1_000_000))
        return np.hstack([gains[:, rng.integers(runs, size=(part.size, runs))].mean(axis=2) for part in batches])
    mean = gains.mean(axis=1, keepdims=True)
    spread = np.einsum("gr,hr->gh", gains - mean, gains - mean) / runs**2
    values, vectors = np.linalg.eigh(spread)
    drawn = np.random.default_rng(0).standard_normal((4, RESAMPLES))
    return np.asarray(mean + np.einsum("gi,is->gs", vectors * np.sqrt(np.maximum(values, 0)), drawn))


@lru_cache(maxsize=4)
def _weights(runs: int) -> FloatArray:
    """The same resamples as weights (R, RESAMPLES) of the runs; many results have as many runs."""
    drawn = np.random.default_rng(0).integers(runs, size=(RESAMPLES, runs))
    weights = np.zeros((runs, RESAMPLES))
    np.add.at(weights, (drawn.T, np.arange(RESAMPLES)), 1 / runs)
    weights.flags.writeable = False
    return weights


def _blind(checkpoints: IntArray, runs: int) -> str:
    """Why these curves cannot tell, whatever they are; empty if they can."""
    T = checkpoints[-1]
    if runs < FEWEST_RUNS:
        return f"{runs} runs are too few to tell; give at least {FEWEST_RUNS}."
    if T < 16:
        return f"{T} steps are too few to tell; give at least 16."
    for part in (16, 4, 2):
        if np.abs(np.log(checkpoints * part / T)).min() > np.log(1.5):
            return f"There is no checkpoint near step {T / part:.0f}, where the verdict must look."
    return ""


def _decide(
    share: float, share_interval: tuple[float, float], gamma: float, gamma_interval: tuple[float, float]
) -> tuple[str, str]:
    last = f"{share:.2%} of the regret came in the last doubling of time"
    if share_interval[1] <= FLAT:
        return "constant", f"{last} (95 % interval up to {share_interval[1]:.2%}; up to {FLAT:.0%} counts as flat)."
    low, high = gamma_interval
    exponent = f"the exponent γ is {gamma:.2f} (95 % interval {low:.2f} to {high:.2f})"
    if share_interval[0] <= FLAT:
        return "undecided", f"{last} (95 % interval {share_interval[0]:.2%} to {share_interval[1]:.2%}), flat or not."
    for name, least, most in (("logarithmic", -0.25, 0.25), ("square-root", 0.25, 0.75), ("linear", 0.75, np.inf)):
        if low > least and high < most:
            return name, f"{last}, and {exponent}."
    if high < -0.25:
        return "undecided", f"{last}: the curve flattens faster than a logarithm but is not flat yet."
    return "undecided", f"{last}, and {exponent}: more runs or a longer horizon would tell."


def _at(checkpoints: IntArray, curves: FloatArray, t: float) -> FloatArray:
    """Each curve at step t, between checkpoints by a straight line over log t, before the first one over t."""
    right = int(np.searchsorted(checkpoints, t))
    if right == 0:
        return np.asarray(curves[:, 0] * (t / checkpoints[0]))
    low, high = np.log(checkpoints[right - 1]), np.log(checkpoints[right])
    weight = (np.log(t) - low) / (high - low)
    return np.asarray((1 - weight) * curves[:, right - 1] + weight * curves[:, right])


def _share(B: FloatArray, total: FloatArray) -> FloatArray:
    return np.divide(B, total, out=np.zeros_like(B), where=total > 0)


def _exponent(A: FloatArray, B: FloatArray) -> FloatArray:
    """log₄(B/A); -∞ where nothing is gained any more, and +∞ where something is gained for the first time."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return (np.log2(np.maximum(B, 0.0)) - np.log2(np.maximum(A, 0.0))) / 2


def _interval(values: FloatArray) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if known.size == 0:
        return float("nan"), float("nan")
    low, high = (round(q * (known.size - 1)) for q in (0.025, 0.975))
    ranked = np.partition(known, [low, high])  # a quarter of what np.quantile takes
    return float(ranked[low]), float(ranked[high])
